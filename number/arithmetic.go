package number

import (
	"math"
	"math/big"
)

// boundsPrec is the precision in bits of operations on numbers with rational bounds.
const boundsPrec = 256

// Enclosure returns an interval around n: the one it was made of, or one with ends of prec bits. For an estimate, for +∞ and for no number that
// is the whole line.
func (n Number) Enclosure(prec uint) Interval {
	switch n.kind {
	case boxed:
		return n.box
	case exact:
		return FromRat(n.lo, prec)
	}
	x := wholeLine(prec)
	if n.lo != nil {
		x.lo = FromRat(n.lo, prec).lo
	}
	if n.hi != nil {
		x.hi = FromRat(n.hi, prec).hi
	}
	return x
}

// enclosures returns intervals around two numbers, at the larger precision of the two.
func enclosures(n, m Number) (x, y Interval) {
	prec := max(n.prec(), m.prec())
	return n.Enclosure(prec), m.Enclosure(prec)
}

func (n Number) prec() uint {
	switch n.kind {
	case boxed:
		return n.box.Prec()
	case bounded:
		return boundsPrec
	}
	return 1
}

// with returns what an operation makes of two exact numbers, or else what it makes of their enclosures.
func (n Number) with(m Number, rat func(z, a, b *big.Rat) *big.Rat, box func(x, y Interval) Interval) Number {
	if n.kind == exact && m.kind == exact {
		return exactly(rat(new(big.Rat), n.lo, m.lo))
	}
	return Enclosed(box(enclosures(n, m)))
}

// Add returns n + m.
func (n Number) Add(m Number) Number { return n.with(m, (*big.Rat).Add, Interval.Add) }

// Sub returns n - m.
func (n Number) Sub(m Number) Number { return n.with(m, (*big.Rat).Sub, Interval.Sub) }

// Mul returns n · m. Rational bounds times an exact number stay rational.
func (n Number) Mul(m Number) Number {
	switch {
	case n.kind == bounded && m.kind == exact:
		return n.times(m.lo)
	case n.kind == exact && m.kind == bounded:
		return m.times(n.lo)
	}
	return n.with(m, (*big.Rat).Mul, Interval.Mul)
}

func (n Number) times(r *big.Rat) Number {
	scaled := func(x *big.Rat) *big.Rat {
		if x == nil {
			return nil
		}
		return new(big.Rat).Mul(x, r)
	}
	switch {
	case r.Sign() == 0:
		return Int(0)
	case r.Sign() < 0:
		return Bounds(scaled(n.hi), scaled(n.lo))
	}
	return Bounds(scaled(n.lo), scaled(n.hi))
}

// Quo returns n / m. It panics where both are exact and m is 0.
func (n Number) Quo(m Number) Number { return n.with(m, (*big.Rat).Quo, Interval.Quo) }

// Min returns the smaller one of n and m.
func (n Number) Min(m Number) Number {
	return n.with(m, func(z, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) < 0 {
			return z.Set(b)
		}
		return z.Set(a)
	}, Interval.Min)
}

// Max returns the larger one of n and m.
func (n Number) Max(m Number) Number {
	return n.with(m, func(z, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) > 0 {
			return z.Set(b)
		}
		return z.Set(a)
	}, Interval.Max)
}

// Over returns the ratio n/m of two errors, which are numbers >= 0: 1 where both are exactly 0, +∞ where m alone is. Its
// bounds are the quotients of the bounds; of an estimate, it is an estimate, but for a ratio to 0.
func (n Number) Over(m Number) Number {
	lo, hi := n.Ends()
	least, most := m.Ends()
	switch {
	case !n.IsRigorous() || !m.IsRigorous():
		return n.estimatedOver(m)
	case n.IsInf() && !m.IsInf():
		return Infinity()
	case most != nil && most.Sign() == 0 && lo != nil && lo.Sign() > 0:
		return Infinity()
	case most != nil && most.Sign() == 0 && hi != nil && hi.Sign() == 0:
		return Int(1)
	}
	low := new(big.Rat)
	if lo != nil && lo.Sign() > 0 && most != nil && most.Sign() > 0 {
		low.Quo(lo, most)
	}
	if hi == nil || least == nil || least.Sign() <= 0 {
		return Bounds(low, nil)
	}
	return Bounds(low, new(big.Rat).Quo(hi, least))
}

func (n Number) estimatedOver(m Number) Number {
	f := n.Float64() / m.Float64()
	switch {
	case n.kind == none || m.kind == none:
		return Number{}
	case m.Float64() == 0 && n.Float64() == 0:
		return Int(1)
	case m.Float64() == 0:
		return Infinity()
	case math.IsNaN(f):
		return Number{}
	case n.kind == estimate:
		return Estimate(f, n.method)
	}
	return Estimate(f, m.method)
}

// Between returns a number that is at least low and at most high. It panics where these contradict each other.
func Between(low, high Number) Number {
	if low.kind == boxed || high.kind == boxed {
		x, y := enclosures(low, high)
		return Enclosed(NewInterval(x.lo, y.hi))
	}
	return Bounds(low.lo, high.hi)
}

// LessEq reports whether n <= m, and whether the two are known well enough to tell.
func (n Number) LessEq(m Number) (holds, ok bool) {
	if n.kind == boxed || m.kind == boxed {
		x, y := enclosures(n, m)
		return x.LessEq(y)
	}
	switch {
	case n.hi != nil && m.lo != nil && n.hi.Cmp(m.lo) <= 0:
		return true, true
	case n.lo != nil && m.hi != nil && n.lo.Cmp(m.hi) > 0:
		return false, true
	}
	return false, false
}

// Cmp compares n and m: -1, 0 or +1, and whether the two are known well enough to tell.
func (n Number) Cmp(m Number) (c int, ok bool) {
	less, known := n.LessEq(m)
	more, also := m.LessEq(n)
	switch {
	case known && !less:
		return 1, true
	case also && !more:
		return -1, true
	}
	return 0, known && also
}

// Within reports whether n >= 0 is known to a relative width: whether upper - lower <= gap·upper.
func (n Number) Within(gap *big.Rat) bool {
	lo, hi := n.Ends()
	if lo == nil || hi == nil {
		return false
	}
	width := new(big.Rat).Sub(hi, lo)
	return width.Cmp(new(big.Rat).Mul(gap, hi)) <= 0
}
