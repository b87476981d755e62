package mechanisms

import (
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Concentration returns the tight ρ for which a mechanism at the parameter ε satisfies ρ-zCDP (Bun & Steinke 2016) for all real scores, neighbors
// that move each score by at most Δ, and any number n >= 2 of candidates: the greatest D_α/α over all of these and all orders α > 1. It is known for
// the exponential mechanism, permute-and-flip and geometric noisy max; ok is false for others. It does not decrease in ε. With z = e^{-ε}:
//
//	em   ε/(e^ε-1) - 1 - ln(ε/(e^ε-1))                                           (Harrison & Manurangsi 2026: any mechanism of range ε)
//	pf   max over u in [z, 1] of ε(1-u/2) + ln u + (1-u/2)ln(2-u) - (u/2)ln(2-z/u)
//	geo  ε(1-z)/(1+z)                                                            (any ε-DP mechanism)
//
// Two candidates attain each; proofs are in research/docs/zcdp.md. prec is the number of bits of the result that are to be right.
func Concentration(m Mechanism, eps number.Epsilon, prec uint) (rho number.Interval, ok bool) {
	if m != softmax && m != flip && m != geo {
		return rho, false
	}
	if eps.IsZero() {
		return number.FromInt(0, prec), true
	}
	more := prec + 64
	if e := eps.Value(64).Lo(); e.MantExp(nil) < 0 {
		more += 2 * uint(-e.MantExp(nil)) // the terms of order 1 and ε cancel
	}
	e := eps.Value(more)
	one := number.FromInt(1, more)
	switch m {
	case softmax:
		x := e.Quo(number.Expm1(e))
		return x.Sub(one).Sub(number.Log(x)).SetPrec(prec), true
	case geo:
		x := number.Expm1(e)
		return e.Mul(x).Quo(x.Add(number.FromInt(2, more))).SetPrec(prec), true
	}
	d := &flipDivergence{e: e, z: number.Exp(e.Neg()), one: one, two: number.FromInt(2, more)}
	return d.greatest().SetPrec(prec), true
}

// Profile returns the least δ at which a mechanism at the parameter ε is (t,δ)-DP for all real scores and neighbors of n >= 2 candidates, at a t >= 0; its precision is
// that of t. It is known for em, pf, geo and krr (research/docs/compose.md, Theorem 1); ok is false for others.
//
//	em   (1 - e^{(t-ε)/2})² / (1 - z)
//	pf   1 - e^{(t-ε)/2}
//	geo  (1 - e^{t-ε}) / (1 + z), and krr that over 1 + (n-1)z, z = e^{-ε}
func Profile(m Mechanism, eps number.Epsilon, n int, t number.Interval) (delta number.Interval, ok bool) {
	prec := t.Prec()
	e, zero, others := eps.Value(prec), number.FromInt(0, prec), int64(n-1)
	beyond := t.Sub(e)
	switch m {
	case softmax, flip:
		beyond = beyond.Quo(number.FromInt(2, prec))
	case geo:
		others = 1
	case response:
	default:
		return zero, false
	}
	delta = number.Expm1(beyond).Neg().Max(zero)
	switch m {
	case softmax:
		delta = delta.Mul(delta).Quo(number.Expm1(e.Neg()).Neg())
	case geo, response:
		delta = delta.Quo(number.FromInt(1, prec).Add(number.Exp(e.Neg()).Mul(number.FromInt(others, prec))))
	}
	return delta, true
}

// flipDivergence is the Kullback–Leibler divergence of permute-and-flip between two candidates' scores x/ε steps of 2Δ apart and a step less, as a function of
// u = e^{-x}, which is concave on [z, 1].
type flipDivergence struct{ e, z, one, two number.Interval }

// at returns the divergence, and its first two derivatives.
func (d *flipDivergence) at(u number.Interval) (value, slope, curve number.Interval) {
	half := u.Quo(d.two)
	v := d.z.Quo(u)
	lu, lv := number.Log(d.two.Sub(u)), number.Log(d.two.Sub(v))
	rest := d.one.Sub(half)
	value = d.e.Mul(rest).Add(number.Log(u)).Add(rest.Mul(lu)).Sub(half.Mul(lv))
	slope = d.one.Quo(u).Sub(d.e.Add(d.one).Add(lu).Add(lv).Add(v.Quo(d.two.Sub(v))).Quo(d.two))
	w := d.two.Sub(v)
	curve = u.Pow(2).Quo(d.two.Sub(u)).Sub(u.Mul(v).Quo(w)).Quo(d.two).Add(u.Mul(v).Quo(w.Pow(2))).Sub(d.one).Quo(u.Pow(2))
	return value, slope, curve
}

// greatest encloses the maximum: the value at any u is below it, and by concavity the tangent there is above it on [z, 1].
func (d *flipDivergence) greatest() number.Interval {
	u := number.Point(number.Exp(d.e.Quo(d.two).Neg()).Mid()) // about right for small ε
	if d.e.Lo().Cmp(big.NewFloat(4)) > 0 {
		u = number.Point(d.two.Quo(d.e.Add(number.FromFloat(1+2*math.Ln2, d.e.Prec()))).Mid()) // and for large ones
	}
	for range 12 { // Newton's method, on which no bound rests
		_, slope, curve := d.at(u)
		next := u.Sub(slope.Quo(curve))
		if !arith.IsFinite(next) || next.Lo().Cmp(d.z.Hi()) <= 0 || next.Hi().Cmp(d.one.Lo()) >= 0 {
			break
		}
		u = number.Point(new(big.Float).Copy(next.Mid()))
	}
	value, slope, _ := d.at(u)
	least := value.Max(number.FromInt(0, value.Prec()))
	return number.Hull(least, value.Add(arith.Abs(slope).Mul(d.one.Sub(d.z))))
}
