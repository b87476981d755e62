package inquiry

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// ring is the real number t whose rational functions the probabilities are. Two of these
// are compared exactly, because the nature of t is known: for rational ε != 0 it is e^{-ε·unit}, for
// rational z != 1 it may be ln z, both transcendental (Lindemann 1882); otherwise it is
// a real root of a rational number.
type ring struct {
	at     func(prec uint) number.Interval
	degree int      // 0: t is transcendental; otherwise t^degree = power,
	power  *big.Rat // and x^degree - power is irreducible over the rationals

	positive bool     // t > 0
	exponent *big.Rat // t = e^-exponent, where that is known to be rational

	known map[string]*Value // functions of t, by their coefficients: one that is met again is the same Value
}

// key returns a text that equal functions share and others do not.
func key(f arith.RatFunc) string {
	var b []byte
	for _, p := range [][]*big.Int{f.Num, f.Den} {
		b = binary.AppendUvarint(b, uint64(len(p)))
		for _, c := range p {
			words := c.Bits()
			b = binary.AppendVarint(b, int64(c.Sign()*len(words)))
			for _, w := range words {
				b = binary.AppendUvarint(b, uint64(w))
			}
		}
	}
	return string(b)
}

// remembering returns f with its values kept.
func remembering[T any](f func(prec uint) T) func(prec uint) T {
	known := map[uint]T{}
	return func(prec uint) T {
		v, ok := known[prec]
		if !ok {
			v = f(prec)
			known[prec] = v
		}
		return v
	}
}

// exponentialRing is t = e^{-ε/parts}; nil where ε = 0 or is not set. A rational t has degree 1.
func exponentialRing(eps number.Epsilon, parts int64) *ring {
	if eps.IsZero() || eps.Check() != nil {
		return nil
	}
	unit := big.NewRat(1, parts)
	r := &ring{positive: true, at: remembering(func(prec uint) number.Interval { return eps.ExpNeg(unit, prec) })}
	z, ok := eps.Z()
	if !ok {
		r.exponent = new(big.Rat).Mul(eps.Eps(), unit)
		return r
	}
	// t^parts = z. x^d - a is irreducible for a > 0 iff a is no p-th power for any prime
	// p that divides d (Lang, Algebra, VI.9.1; the other case there has a < 0).
	r.degree, r.power = int(parts), z
	for p := 2; p <= r.degree; p++ {
		for r.degree%p == 0 {
			root := arith.Root(r.power, int64(p))
			if root == nil {
				break
			}
			r.degree, r.power = r.degree/p, root
		}
	}
	return r
}

// logarithmRing is t = ln z, for rational z = e^-ε; nil for others and for ε = 0.
func logarithmRing(eps number.Epsilon) *ring {
	z, ok := eps.Z()
	if !ok || eps.IsZero() {
		return nil
	}
	return &ring{at: remembering(func(prec uint) number.Interval { return number.LogRat(z, prec) })}
}

// mostBits is the precision up to which the sign of a function of t is looked for.
const mostBits = 1 << 20

// sign returns the sign of f(t), for an f without a pole at t. That mostBits do not decide it (ok is false) does not
// happen where the coefficients of f have a modest number of digits: a t that is too near 0 to be enclosed is
// positive, and the lowest terms decide.
func (r *ring) sign(f arith.RatFunc) (s int, ok bool) {
	if r.degree > 0 && r.vanishes(f.Num) {
		return 0, true
	}
	if r.positive {
		if s, ok := f.SignNear0(r.at(64).Hi()); ok {
			return s, true
		}
	}
	return f.SignUpTo(mostBits, r.at)
}

// vanishes reports whether the polynomial p is 0 at the algebraic t: whether
// x^degree - power, its minimal polynomial, divides p.
func (r *ring) vanishes(p []*big.Int) bool {
	rest := make([]*big.Rat, r.degree)
	for i := range rest {
		rest[i] = new(big.Rat)
	}
	scale := big.NewRat(1, 1)
	for i, c := range p {
		if i > 0 && i%r.degree == 0 {
			scale = new(big.Rat).Mul(scale, r.power)
		}
		term := new(big.Rat).SetInt(c)
		rest[i%r.degree].Add(rest[i%r.degree], term.Mul(term, scale))
	}
	for _, c := range rest {
		if c.Sign() != 0 {
			return false
		}
	}
	return true
}

var (
	// Between0 is the ratio of two numbers that may both be 0.
	Between0 = &Value{inexact: true, known: true, hi: math.Inf(1), box: func(prec uint) number.Interval { return from(number.FromInt(0, prec)) }}
	// Infinite is the ratio of a number that is not 0 to 0, of which no other one is known not to be smaller.
	Infinite = &Value{inexact: true, known: true, lo: math.Inf(1), hi: math.Inf(1)}
)

// from is any number from the lower end of x on.
func from(x number.Interval) number.Interval {
	return number.NewInterval(x.Lo(), new(big.Float).SetInf(false))
}

// Quotient returns p/q, whose signs are known to be positive; with q = 0 it is infinite. It is not worked out to be compared.
func Quotient(p, q *Value, qZero bool) *Value {
	switch {
	case qZero:
		return Infinite
	case p == q:
		return One
	}
	plo, phi := p.Floats()
	qlo, qhi := q.Floats()
	r := &Value{num: p, den: q, inexact: p.inexact || q.inexact, ring: cmp.Or(p.ring, q.ring), known: true, lo: max(0, down(plo/qhi)), hi: math.Inf(1)}
	if qlo > 0 {
		r.hi = Up(phi / qlo)
	}
	return r
}

// Times returns the product of two quotients, or numbers that are not negative.
func (v *Value) Times(w *Value) *Value {
	if v == Infinite || w == Infinite {
		return Infinite
	}
	vNum, vDen := v.quotient()
	wNum, wDen := w.quotient()
	lo, hi := v.Floats()
	wlo, whi := w.Floats()
	return &Value{
		num: vNum.Mul(wNum), den: vDen.Mul(wDen), inexact: v.inexact || w.inexact, ring: cmp.Or(v.ring, w.ring),
		known: true, lo: max(0, down(lo*wlo)), hi: Up(hi * whi),
	}
}

// quotient returns v as num/den.
func (v *Value) quotient() (num, den *Value) {
	if v.den == nil {
		return v, One
	}
	return v.num, v.den
}

// Log returns ln v, and v itself where it is rational.
func (v *Value) Log() (number.Number, *big.Rat) {
	if v == Infinite {
		return number.Infinity(), nil
	}
	if f, ok := v.form(); ok && v.rat == nil {
		power, is := monomial(f.Num, f.Den)
		if v = function(f, v.ring); is && v.rat == nil && v.ring.exponent != nil {
			e := new(big.Rat).SetInt64(-int64(power))
			return number.Exact(e.Mul(e, v.ring.exponent)), nil
		}
	}
	switch {
	case v.rat == nil:
		return number.Enclosed(number.Log(v.Narrow())), nil
	case v.rat.Cmp(big.NewRat(1, 1)) == 0:
		return number.Int(0), v.rat
	}
	return number.Enclosed(number.LogRat(v.rat, 160)), v.rat
}

// monomial reports whether num/den is t^power.
func monomial(num, den []*big.Int) (power int, ok bool) {
	lone := func(p []*big.Int) bool {
		for _, c := range p[:len(p)-1] {
			if c.Sign() != 0 {
				return false
			}
		}
		return p[len(p)-1].Cmp(big.NewInt(1)) == 0
	}
	if len(num) == 0 || !lone(num) || !lone(den) {
		return 0, false
	}
	return len(num) - len(den), true
}
