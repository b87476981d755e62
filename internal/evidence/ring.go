package evidence

import (
	"math/big"

	"optratio/number"
)

// Ring is the arithmetic in which the bounds are worked out: exact for rational z, and
// enclosing otherwise. Its numbers are immutable.
type Ring[T any] interface {
	Rat(r *big.Rat) T
	Int(i *big.Int) T
	Add(a, b T) T
	Sub(a, b T) T
	Scale(a T, i *big.Int) T // i·a
	Z(a T) T                 // z·a
	Min(a, b T) T
	Max(a, b T) T

	// Nonneg reports whether a >= 0 is certain.
	Nonneg(a T) bool
	// Repair returns the least weight θ in [0, 1] with (1-θ)·a + θ·p >= 0, or an enclosure of it. Where
	// p > 0 is not certain, it is 1, or an enclosure with 1 as its upper end.
	Repair(a, p T) number.Number

	Value(a T) number.Number
	// Bounds returns an enclosure for deciding what is far from equality.
	Bounds(a T) number.Interval
}

// Scaled is the number num/(d·a^e), with d and a belonging to its ring.
type Scaled struct {
	num *big.Int
	e   int
}

// Exact is the ring of the numbers num/(d·a^e) for z = b/a. It holds every number whose
// denominator divides d, and all that follows from those by its operations, so that nothing is
// ever reduced to lowest terms.
type Exact struct {
	a, b, d *big.Int
	powers  []*big.Int // of a
	cost    *Effort    // of what is reduced to lowest terms
}

func NewExact(z *big.Rat, d *big.Int, cost *Effort) *Exact {
	return &Exact{a: z.Denom(), b: z.Num(), d: d, powers: []*big.Int{big.NewInt(1)}, cost: cost}
}

func (x *Exact) power(e int) *big.Int {
	for len(x.powers) <= e {
		x.powers = append(x.powers, new(big.Int).Mul(x.powers[len(x.powers)-1], x.a))
	}
	return x.powers[e]
}

func (x *Exact) Rat(r *big.Rat) Scaled {
	q, rem := new(big.Int).QuoRem(x.d, r.Denom(), new(big.Int))
	if rem.Sign() != 0 {
		panic("certificate: the common denominator is none")
	}
	return Scaled{q.Mul(q, r.Num()), 0}
}

func (x *Exact) Int(i *big.Int) Scaled { return Scaled{new(big.Int).Mul(i, x.d), 0} }

// align returns the numerators of a and b over their common denominator d·a^e.
func (x *Exact) align(a, b Scaled) (p, q *big.Int, e int) {
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

func (x *Exact) Add(a, b Scaled) Scaled {
	p, q, e := x.align(a, b)
	return Scaled{new(big.Int).Add(p, q), e}
}

func (x *Exact) Sub(a, b Scaled) Scaled {
	p, q, e := x.align(a, b)
	return Scaled{new(big.Int).Sub(p, q), e}
}

func (x *Exact) Scale(a Scaled, i *big.Int) Scaled { return Scaled{new(big.Int).Mul(a.num, i), a.e} }

func (x *Exact) Z(a Scaled) Scaled {
	if a.num.Sign() == 0 {
		return a
	}
	return Scaled{new(big.Int).Mul(a.num, x.b), a.e + 1}
}

func (x *Exact) Min(a, b Scaled) Scaled {
	if p, q, _ := x.align(a, b); p.Cmp(q) <= 0 {
		return a
	}
	return b
}

func (x *Exact) Max(a, b Scaled) Scaled {
	if p, q, _ := x.align(a, b); p.Cmp(q) >= 0 {
		return a
	}
	return b
}

func (x *Exact) Nonneg(a Scaled) bool { return a.num.Sign() >= 0 }

func (x *Exact) Repair(a, p Scaled) number.Number {
	switch {
	case a.num.Sign() >= 0:
		return number.Exact(new(big.Rat))
	case p.num.Sign() <= 0:
		return number.Exact(big.NewRat(1, 1))
	}
	s, t, _ := x.align(a, p)
	x.cost.reduce(s.BitLen(), t.BitLen())
	return number.Exact(new(big.Rat).SetFrac(new(big.Int).Neg(s), new(big.Int).Sub(t, s)))
}

func (x *Exact) Value(a Scaled) number.Number {
	return number.Exact(new(big.Rat).SetFrac(a.num, new(big.Int).Mul(x.d, x.power(a.e))))
}

func (x *Exact) Bounds(a Scaled) number.Interval {
	const prec = 64
	den := number.FromBig(x.d, prec).Mul(number.FromBig(x.power(a.e), prec))
	return number.FromBig(a.num, prec).Quo(den)
}

// Enclosing is the ring of intervals with ends of prec bits.
type Enclosing struct {
	Zz   number.Interval
	Prec uint
}

func (x Enclosing) Rat(r *big.Rat) number.Interval { return number.FromRat(r, x.Prec) }
func (x Enclosing) Int(i *big.Int) number.Interval { return number.FromBig(i, x.Prec) }

func (Enclosing) Add(a, b number.Interval) number.Interval { return a.Add(b) }
func (Enclosing) Sub(a, b number.Interval) number.Interval { return a.Sub(b) }
func (Enclosing) Min(a, b number.Interval) number.Interval { return a.Min(b) }
func (Enclosing) Max(a, b number.Interval) number.Interval { return a.Max(b) }

func (x Enclosing) Scale(a number.Interval, i *big.Int) number.Interval {
	return a.Mul(number.FromBig(i, x.Prec))
}

func (x Enclosing) Z(a number.Interval) number.Interval { return a.Mul(x.Zz) }

func (Enclosing) Nonneg(a number.Interval) bool { return a.Lo().Sign() >= 0 }

func (x Enclosing) Repair(a, p number.Interval) number.Number {
	// -s/(t-s) falls with s and with t, where s < 0 < t.
	weight := func(s, t *big.Float) number.Interval {
		u, v := number.Point(s), number.Point(t)
		return u.Neg().Quo(v.Sub(u))
	}
	zero, one := number.FromInt(0, x.Prec), number.FromInt(1, x.Prec)
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
	return number.Enclosed(number.NewInterval(least.Lo(), most.Hi()))
}

func (Enclosing) Value(a number.Interval) number.Number    { return number.Enclosed(a) }
func (Enclosing) Bounds(a number.Interval) number.Interval { return a }
