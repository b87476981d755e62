package stopping

import (
	"fmt"
	"math"
	"math/big"
)

// LawBound returns an upper bound for the probability of taking the best under
// (ε, 0)-privacy in d_l, whatever the rule, even one that sees all candidates at once:
//
//	1 / Σ_{k=1}^{n} z^{⌈(k-1)/l⌉},   z = e^{-ε}
//
// since q_k >= z^{⌈(k-1)/l⌉} q_1. It tends to (1-z)/(1-z+lz). For stopping rules it is never attained
// where l = 1, 0 < z < 1 and n >= 2: the only law that attains it is geometric, and its Difference is not 0.
// It makes Theorem 3.1 of Grining, Klonowski & Sulkowska (newer version) quantitative.
// e is e^ε >= 1; a smaller e gives a smaller bound.
func LawBound(n, l int, e *big.Rat) (*big.Rat, error) {
	if err := checkCandidates(n); err != nil {
		return nil, err
	}
	if err := CheckDistance(n, l); err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	if e.Cmp(one) < 0 {
		return nil, fmt.Errorf("e^ε: %w, need at least 1", ErrRange)
	}
	// In units of z^steps the sum is an integer combination of powers of e.
	steps := (n - 2 + l) / l // ⌈(n-1)/l⌉
	sum, power := new(big.Rat), big.NewRat(1, 1)
	rest := n - 1 - (max(steps, 1)-1)*l // ranks in the last, perhaps shorter, block
	for s := steps; s >= 1; s-- {
		size := l
		if s == steps {
			size = rest
		}
		sum.Add(sum, new(big.Rat).Mul(power, big.NewRat(int64(size), 1)))
		power = new(big.Rat).Mul(power, e)
	}
	sum.Add(sum, power)
	return power.Quo(power, sum), nil
}

// ConstantRate returns the limit, for many candidates, of the success of the
// rule that waits until the fraction 1-ζ of all candidates has passed, ζ = e^{-ε/l}, and at the fraction
// x from there on takes relative rank j with probability (1-(1-ζ)/x)^{j-1}:
//
//	(1-ζ)(1 - e^{-ζ/(1-ζ)})
//
// Its arrivals of relative rank j are taken at rate y^{j-1}/x, y = 1-(1-ζ)/x, together 1/(1-ζ) at all times; and the
// final rank of what is taken at x is geometric, ζ^{k-1}(1-ζ), for every x, by
// Σ_j C(k-1,j-1) (yx)^{j-1} (1-x)^{k-j} = (1-x+yx)^{k-1} = ζ^{k-1}. So it is private even if the time of the
// choice is published. It is exact in that limit, an estimate for a given n.
func ConstantRate(eps float64, l int) float64 {
	z := math.Exp(-eps / float64(l))
	return (1 - z) * -math.Expm1(-z/(1-z))
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
