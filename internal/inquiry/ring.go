package inquiry

import (
	"encoding/binary"
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
