package stopping

import (
	"math/big"
)

// The closed forms of the theorems look at one pair of ranks, 1 and l+1. They
// are right where that pair is the worst of all, which the sources claim for
// the p-mix of the secretary rule from n = 7 on. Each returns a rational for
// the law q of the p-mix (or r of the rule itself), and is compared with the
// maximum over all pairs by TightEps, TightDelta and LargestP.

// ClosedFormExpEps returns max(1, (q_1-δ)/q_{l+1}), the e^ε of Theorem 3 (4.2
// in the newer version of Grining, Klonowski & Sulkowska), nil for +∞.
func ClosedFormExpEps(q []*big.Rat, l int, delta *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	excess := new(big.Rat).Sub(q[0], delta)
	switch {
	case excess.Cmp(q[l]) <= 0:
		return one
	case q[l].Sign() == 0:
		return nil
	}
	return excess.Quo(excess, q[l])
}

// ClosedFormDelta returns max(0, q_1 - e^ε q_{l+1}), the δ of Corollary 2.
func ClosedFormDelta(q []*big.Rat, l int, e *big.Rat) *big.Rat {
	d := new(big.Rat).Mul(e, q[l])
	if d.Sub(q[0], d); d.Sign() < 0 {
		return new(big.Rat)
	}
	return d
}

// ClosedFormP returns the largest p of Corollary 3 for the rule with law r.
func ClosedFormP(r []*big.Rat, l int, e, delta *big.Rat) *big.Rat {
	d := new(big.Rat).Mul(e, r[l])
	return mixLimit(d.Sub(r[0], d), delta, e, len(r))
}

// Difference returns Σ_{k=1}^{n} (-1)^{k-1} C(n-1,k-1) q_k, which is 0 for the outcome law
// of every stopping rule over n >= 2 candidates. The chance of final rank k given
// relative rank j at time i is a polynomial in k of degree i-1, at most n-2
// before the last time; at time n everything is taken, which gives the
// constant 1/n; and the (n-1)-th difference of a polynomial of degree n-2 is 0.
func Difference(q []*big.Rat) *big.Rat {
	n := int64(len(q))
	sum := new(big.Rat)
	for k, x := range q {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(n-1, int64(k)))
		term.Mul(term, x)
		if k%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}
