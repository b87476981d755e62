package certificate

import (
	"math/big"

	"optratio/number/interval"
)

// ring is the arithmetic in which the bounds are worked out: exact for rational z, and
// enclosing otherwise. Its numbers are immutable.
type ring[T any] interface {
	rat(r *big.Rat) T
	int(i *big.Int) T
	add(a, b T) T
	sub(a, b T) T
	scale(a T, i *big.Int) T // i·a
	z(a T) T                 // z·a
	min(a, b T) T
	max(a, b T) T

	// nonneg reports whether a >= 0 is certain.
	nonneg(a T) bool
	// repair returns the least weight θ in [0, 1] with (1-θ)·a + θ·p >= 0, or an enclosure of it. Where
	// p > 0 is not certain, it is 1, or an enclosure with 1 as its upper end.
	repair(a, p T) value

	value(a T) value
	// bounds returns an enclosure for deciding what is far from equality.
	bounds(a T) interval.Interval
}

// scaled is the number num/(d·a^e), with d and a belonging to its ring.
type scaled struct {
	num *big.Int
	e   int
}

// exact is the ring of the numbers num/(d·a^e) for z = b/a. It holds every number whose
// denominator divides d, and all that follows from those by its operations, so that nothing is
// ever reduced to lowest terms.
type exact struct {
	a, b, d *big.Int
	powers  []*big.Int // of a
	cost    *effort    // of what is reduced to lowest terms
}

func newExact(z *big.Rat, d *big.Int, cost *effort) *exact {
	return &exact{a: z.Denom(), b: z.Num(), d: d, powers: []*big.Int{big.NewInt(1)}, cost: cost}
}

func (x *exact) power(e int) *big.Int {
	for len(x.powers) <= e {
		x.powers = append(x.powers, new(big.Int).Mul(x.powers[len(x.powers)-1], x.a))
	}
	return x.powers[e]
}

func (x *exact) rat(r *big.Rat) scaled {
	q, rem := new(big.Int).QuoRem(x.d, r.Denom(), new(big.Int))
	if rem.Sign() != 0 {
		panic("certificate: the common denominator is none")
	}
	return scaled{q.Mul(q, r.Num()), 0}
}

func (x *exact) int(i *big.Int) scaled { return scaled{new(big.Int).Mul(i, x.d), 0} }

// align returns the numerators of a and b over their common denominator d·a^e.
func (x *exact) align(a, b scaled) (p, q *big.Int, e int) {
	switch {
	case a.e == b.e:
		return a.num, b.num, a.e
	case a.num.Sign() == 0:
		return a.num, b.num, b.e
	case b.num.Sign() == 0:
		return a.num, b.num, a.e
	case a.e < b.e:
		return new(big.Int).Mul(a.num, x.power(b.e-a.e)), b.num, b.e
	}
	return a.num, new(big.Int).Mul(b.num, x.power(a.e-b.e)), a.e
}

func (x *exact) add(a, b scaled) scaled {
	p, q, e := x.align(a, b)
	return scaled{new(big.Int).Add(p, q), e}
}

func (x *exact) sub(a, b scaled) scaled {
	p, q, e := x.align(a, b)
	return scaled{new(big.Int).Sub(p, q), e}
}

func (x *exact) scale(a scaled, i *big.Int) scaled { return scaled{new(big.Int).Mul(a.num, i), a.e} }

func (x *exact) z(a scaled) scaled {
	if a.num.Sign() == 0 {
		return a
	}
	return scaled{new(big.Int).Mul(a.num, x.b), a.e + 1}
}

func (x *exact) min(a, b scaled) scaled {
	if p, q, _ := x.align(a, b); p.Cmp(q) <= 0 {
		return a
	}
	return b
}

func (x *exact) max(a, b scaled) scaled {
	if p, q, _ := x.align(a, b); p.Cmp(q) >= 0 {
		return a
	}
	return b
}

func (x *exact) nonneg(a scaled) bool { return a.num.Sign() >= 0 }

func (x *exact) repair(a, p scaled) value {
	switch {
	case a.num.Sign() >= 0:
		return exactly(new(big.Rat))
	case p.num.Sign() <= 0:
		return exactly(big.NewRat(1, 1))
	}
	s, t, _ := x.align(a, p)
	if x.cost.reduce(s.BitLen(), t.BitLen()) != nil {
		return exactly(big.NewRat(1, 1))
	}
	return exactly(new(big.Rat).SetFrac(new(big.Int).Neg(s), new(big.Int).Sub(t, s)))
}

func (x *exact) value(a scaled) value {
	return exactly(new(big.Rat).SetFrac(a.num, new(big.Int).Mul(x.d, x.power(a.e))))
}

func (x *exact) bounds(a scaled) interval.Interval {
	const prec = 64
	den := interval.FromBig(x.d, prec).Mul(interval.FromBig(x.power(a.e), prec))
	return interval.FromBig(a.num, prec).Quo(den)
}

// enclosing is the ring of intervals with ends of prec bits.
type enclosing struct {
	zz   interval.Interval
	prec uint
}

func (x enclosing) rat(r *big.Rat) interval.Interval { return interval.FromRat(r, x.prec) }
func (x enclosing) int(i *big.Int) interval.Interval { return interval.FromBig(i, x.prec) }

func (enclosing) add(a, b interval.Interval) interval.Interval { return a.Add(b) }
func (enclosing) sub(a, b interval.Interval) interval.Interval { return a.Sub(b) }
func (enclosing) min(a, b interval.Interval) interval.Interval { return a.Min(b) }
func (enclosing) max(a, b interval.Interval) interval.Interval { return a.Max(b) }

func (x enclosing) scale(a interval.Interval, i *big.Int) interval.Interval {
	return a.Mul(interval.FromBig(i, x.prec))
}

func (x enclosing) z(a interval.Interval) interval.Interval { return a.Mul(x.zz) }

func (enclosing) nonneg(a interval.Interval) bool { return a.Lo().Sign() >= 0 }

func (x enclosing) repair(a, p interval.Interval) value {
	// -s/(t-s) falls with s and with t, where s < 0 < t.
	weight := func(s, t *big.Float) interval.Interval {
		u, v := interval.Point(s), interval.Point(t)
		return u.Neg().Quo(v.Sub(u))
	}
	zero, one := interval.FromInt(0, x.prec), interval.FromInt(1, x.prec)
	least, most := zero, zero
	switch {
	case a.Lo().Sign() >= 0:
	case p.Lo().Sign() <= 0 || a.Lo().IsInf():
		most = one
	default:
		most = weight(a.Lo(), p.Lo()).Min(one)
	}
	if a.Hi().Sign() < 0 && p.Hi().Sign() > 0 && !p.Hi().IsInf() {
		least = weight(a.Hi(), p.Hi()).Max(zero)
	}
	return enclosed(interval.New(least.Lo(), most.Hi()))
}

func (enclosing) value(a interval.Interval) value              { return enclosed(a) }
func (enclosing) bounds(a interval.Interval) interval.Interval { return a }
