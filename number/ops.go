package number

import "math/big"

// Add returns x + y.
func (x Interval) Add(y Interval) Interval {
	e := newEnds(max(x.Prec(), y.Prec()))
	addEnd(&e[0], x.lo, y.lo)
	addEnd(&e[1], x.hi, y.hi)
	return e.interval()
}

// Sub returns x - y, taking x and y for different numbers: x.Sub(x) is [-w, w] with
// w the width of x.
func (x Interval) Sub(y Interval) Interval {
	e := newEnds(max(x.Prec(), y.Prec()))
	subEnd(&e[0], x.lo, y.hi)
	subEnd(&e[1], x.hi, y.lo)
	return e.interval()
}

// addEnd sets z to a + b rounded in z's mode; a and b have at most z's precision.
func addEnd(z, a, b *big.Float) {
	if farApart(z, a, b) {
		a, b = stickyPair(z, a, b)
	}
	z.Add(a, b)
}

// subEnd sets z to a - b rounded in z's mode; a and b have at most z's precision.
func subEnd(z, a, b *big.Float) {
	if farApart(z, a, b) {
		a, b = stickyPair(z, a, b)
	}
	z.Sub(a, b)
}

// farApart reports whether the exponents of a and b are so far apart that the smaller one matters by
// its sign alone. big.Float would align the two in full, in space and time that grow with the
// difference of the exponents: gigabytes for e^(2^30) - 1.
func farApart(z, a, b *big.Float) bool {
	d := a.MantExp(nil) - b.MantExp(nil)
	limit := 2*int(z.Prec()) + 64
	return (d > limit || d < -limit) && a.Sign() != 0 && b.Sign() != 0 && !a.IsInf() && !b.IsInf()
}

// stickyPair replaces the smaller one of a and b by a number of the same sign whose exponent is 2·prec + 2
// below the larger one's. Either is less than half the distance from the larger one, which has
// at most prec bits, to its neighbors, so that the rounded sum and difference stay the same.
func stickyPair(z, a, b *big.Float) (*big.Float, *big.Float) {
	sticky := func(small, large *big.Float) *big.Float {
		s := new(big.Float).SetPrec(1)
		setPow2(s, small.Signbit(), large.MantExp(nil)-2*int(z.Prec())-2)
		return s
	}
	if a.MantExp(nil) > b.MantExp(nil) {
		return a, sticky(b, a)
	}
	return sticky(a, b), b
}

// Neg returns -x, exactly.
func (x Interval) Neg() Interval {
	e := newEnds(x.Prec())
	e[0].Neg(x.hi)
	e[1].Neg(x.lo)
	return e.interval()
}

// abs returns |x|, exactly.
func (x Interval) abs() Interval {
	switch {
	case x.lo.Sign() >= 0:
		return x
	case x.hi.Sign() <= 0:
		return x.Neg()
	}
	e := newEnds(x.Prec())
	e[1].Neg(x.lo)
	if x.hi.Cmp(&e[1]) > 0 {
		e[1].Set(x.hi)
	}
	return e.interval()
}

// Min returns the enclosure of min(x, y), exactly.
func (x Interval) Min(y Interval) Interval {
	return samePrec(lesser(x.lo, y.lo), lesser(x.hi, y.hi), max(x.Prec(), y.Prec()))
}

// Max returns the enclosure of max(x, y), exactly.
func (x Interval) Max(y Interval) Interval {
	return samePrec(greater(x.lo, y.lo), greater(x.hi, y.hi), max(x.Prec(), y.Prec()))
}

func lesser(a, b *big.Float) *big.Float {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}

func greater(a, b *big.Float) *big.Float {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// Mul returns x · y: two multiplications unless both operands change sign, then four.
func (x Interval) Mul(y Interval) Interval {
	e := newEnds(max(x.Prec(), y.Prec()))
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		mulEnd(&e[0], x.lo, y.lo)
		mulEnd(&e[1], x.hi, y.hi)
		return e.interval()
	}
	a, b, c, d := mulEnds(x, y)
	mulEnd(&e[0], a, b)
	mulEnd(&e[1], c, d)
	r := e.interval()
	if straddles(x) && straddles(y) {
		f := newEnds(r.Prec())
		mulEnd(&f[0], x.hi, y.lo)
		mulEnd(&f[1], x.lo, y.lo)
		r = Hull(r, f.interval())
	}
	return r
}

func straddles(x Interval) bool { return x.lo.Sign() < 0 && x.hi.Sign() > 0 }

// mulEnds returns a, b, c, d such that the product of x and y is [a·b, c·d] if not
// both straddle 0. If both do, it is the hull of that with [x.hi·y.lo, x.lo·y.lo].
func mulEnds(x, y Interval) (a, b, c, d *big.Float) {
	switch {
	case x.lo.Sign() >= 0:
		switch {
		case y.lo.Sign() >= 0:
			return x.lo, y.lo, x.hi, y.hi
		case y.hi.Sign() <= 0:
			return x.hi, y.lo, x.lo, y.hi
		}
		return x.hi, y.lo, x.hi, y.hi
	case x.hi.Sign() <= 0:
		switch {
		case y.lo.Sign() >= 0:
			return x.lo, y.hi, x.hi, y.lo
		case y.hi.Sign() <= 0:
			return x.hi, y.hi, x.lo, y.lo
		}
		return x.lo, y.hi, x.lo, y.lo
	case y.lo.Sign() >= 0:
		return x.lo, y.hi, x.hi, y.hi
	case y.hi.Sign() <= 0:
		return x.hi, y.lo, x.lo, y.lo
	}
	return x.lo, y.hi, x.hi, y.hi
}

// mulEnd sets z to a·b rounded in z's mode, where 0·∞ = 0.
func mulEnd(z, a, b *big.Float) {
	if a.Sign() == 0 || b.Sign() == 0 {
		z.SetInt64(0)
		return
	}
	z.Mul(a, b)
}

// Quo returns x / y, and the whole line if y holds 0.
func (x Interval) Quo(y Interval) Interval {
	prec := max(x.Prec(), y.Prec())
	switch {
	case y.lo.Sign() > 0:
	case y.hi.Sign() < 0:
		x, y = x.Neg(), y.Neg()
	default:
		return wholeLine(prec)
	}
	// y > 0, so the quotient grows with x, and with y where x < 0. A divisor is
	// infinite only where the dividend is a finite end.
	e := newEnds(prec)
	if x.lo.Sign() >= 0 {
		quoEnd(&e[0], x.lo, y.hi)
	} else {
		quoEnd(&e[0], x.lo, y.lo)
	}
	if x.hi.Sign() >= 0 {
		quoEnd(&e[1], x.hi, y.lo)
	} else {
		quoEnd(&e[1], x.hi, y.hi)
	}
	return e.interval()
}

func quoEnd(z, a, b *big.Float) {
	if a.Sign() == 0 {
		z.SetInt64(0)
		return
	}
	z.Quo(a, b)
}

// inv returns 1 / x, and the whole line if x holds 0.
func (x Interval) inv() Interval { return FromInt(1, x.Prec()).Quo(x) }

// Pow returns x^n by repeated squaring, with 0^0 = 1. Negative n inverts, so that x
// holding 0 gives the whole line.
func (x Interval) Pow(n int) Interval {
	if n < 0 {
		return x.pow(-uint(n)).inv() // the magnitude is taken as unsigned, so the least int is no exception
	}
	return x.pow(uint(n))
}

func (x Interval) pow(n uint) Interval {
	switch {
	case n == 0:
		return FromInt(1, x.Prec())
	case n%2 == 0 || x.lo.Sign() >= 0:
		return x.abs().powNonneg(n)
	case x.hi.Sign() <= 0:
		return x.Neg().powNonneg(n).Neg()
	}
	// An odd power grows with x: the ends come from the two halves.
	zero := FromInt(0, x.Prec())
	below := Interval{x.lo, zero.hi}.Neg().powNonneg(n).Neg()
	above := Interval{zero.lo, x.hi}.powNonneg(n)
	return Interval{below.lo, above.hi}
}

// powNonneg returns x^n for x >= 0 and n >= 1.
func (x Interval) powNonneg(n uint) Interval {
	var r Interval
	for started := false; ; {
		if n&1 == 1 {
			if started {
				r = r.Mul(x)
			} else {
				r, started = x, true
			}
		}
		if n >>= 1; n == 0 {
			return r
		}
		x = x.Mul(x)
	}
}

// Accumulator is a running sum in fixed storage: one rounding of either end for each
// Add, two for each AddMul, and no allocation once its mantissas have grown.
type Accumulator struct {
	sum, term ends
}

// NewAccumulator returns an accumulator that holds 0 and has prec bits, or later
// those of the most precise interval that went into it.
func NewAccumulator(prec uint) *Accumulator {
	checkPrec(prec)
	a := new(Accumulator)
	a.sum, a.term = *newEnds(prec), *newEnds(prec)
	return a
}

func (a *Accumulator) grow(prec uint) {
	if prec > a.sum[0].Prec() {
		for i := range 2 {
			a.sum[i].SetPrec(prec)
			a.term[i].SetPrec(prec)
		}
	}
}

// Add adds x.
func (a *Accumulator) Add(x Interval) {
	a.grow(x.Prec())
	a.add(x)
}

func (a *Accumulator) add(x Interval) {
	addEnd(&a.sum[0], &a.sum[0], x.lo)
	addEnd(&a.sum[1], &a.sum[1], x.hi)
	a.sum.interval()
}

// AddMul adds x · y.
func (a *Accumulator) AddMul(x, y Interval) {
	a.grow(max(x.Prec(), y.Prec()))
	if straddles(x) && straddles(y) {
		a.add(x.Mul(y))
		return
	}
	l, m, u, v := mulEnds(x, y)
	mulEnd(&a.term[0], l, m)
	mulEnd(&a.term[1], u, v)
	a.add(a.term.interval())
}

// Value returns the sum so far; the accumulator can go on.
func (a *Accumulator) Value() Interval {
	e := newEnds(a.sum[0].Prec())
	e[0].Set(&a.sum[0])
	e[1].Set(&a.sum[1])
	return e.interval()
}
