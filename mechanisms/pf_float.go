package mechanisms

import (
	"math"

	"optratio/internal/arith"
)

// The parameters of permuteAndFlipFloat; its doc comment says why they suffice.
const (
	pfNodes = 36    // Gauss–Legendre nodes
	pfReach = 40.0  // the integrand is followed while Π (1 - t w_s) may exceed e^-pfReach
	pfLight = 0.125 // factors 1 - t w with t w at most this are multiplied by power sums
	pfTerms = 20    // how many power sums
)

// permuteAndFlipFloat is permuteAndFlip in float64 for any number of candidates, in O(n): for each
// weight w_r
//
//	w_r ∫_0^T g(t)/(1 - t w_r) dt,  g(t) = Π_s (1 - t w_s),  T = min(1, 40/S),  S = Σ_s w_s,
//
// by Gauss–Legendre quadrature at 36 nodes common to all r. Every term is positive.
//
// Errors relative to the probability, whose integral is at least 1/(S+1) because
// 1 - tw >= (1-t)^w: what lies beyond T is below e^{-T(S-1)}(S+1)/(S-1) < 1e-16. On the Bernstein
// ellipse with ρ = 6 around [0,T] the integrand is at most e^{S|t|} <= e^{82}, so that quadrature
// errs by less than e^{82}·6^{-70}·5·T/2 (Trefethen, Approximation Theory and Approximation
// Practice, 2013, Thm. 19.3), 2e-17 of the integral. Where T w <= 1/8, ln(1 - t w) = -Σ_j (t w)^j/j is cut after 20 terms, which sums to
// less than 40·8^{-20}. What remains is rounding.
func permuteAndFlipFloat(_ arith.Field[float64], weights []float64, counts []int) []float64 {
	u, g := permuteAndFlipNodes(weights, counts)
	p := make([]float64, len(weights))
	for r, w := range weights {
		rest, sum := 1-w, 0.0
		for i := range pfNodes {
			sum += g[i] / (rest + float64(u[i]*w))
		}
		p[r] = w * sum
	}
	return p
}

// permuteAndFlipNodes returns 1 - t at the nodes t of the integral, and the product over all weights there times the node's own weight.
func permuteAndFlipNodes(weights []float64, counts []int) (u, g [pfNodes]float64) {
	var total compensated
	for i, w := range weights {
		total.add(float64(counts[i]) * w)
	}
	end := min(1, pfReach/total.value())

	var power [pfTerms]compensated // Σ w^{j+1} over the light weights
	var heavy []int
	for i, w := range weights {
		if end*w > pfLight {
			heavy = append(heavy, i)
			continue
		}
		term := float64(counts[i]) * w
		for j := range power {
			power[j].add(term)
			if term *= w; term < 1e-23 { // of an exponent that is known to 1e-16
				break
			}
		}
	}

	x, weight := legendre(pfNodes)
	var t [pfNodes]float64 // nodes
	for i := range pfNodes {
		// 1 - x is the mirror image of x, and that is where small ones are accurate.
		t[i] = end * x[i]
		u[i] = (1 - end) + float64(end*x[pfNodes-1-i])
		exponent := 0.0
		for j := pfTerms - 1; j >= 0; j-- {
			exponent = t[i] * (exponent + power[j].value()/float64(j+1))
		}
		g[i] = end * weight[i] * math.Exp(-exponent)
		for _, s := range heavy {
			factor := (1 - weights[s]) + float64(u[i]*weights[s])
			if counts[s] > 1 {
				factor = math.Pow(factor, float64(counts[s]))
			}
			g[i] *= factor
		}
	}

	return u, g
}

// compensated is a sum with its rounding errors carried along (Neumaier 1974), each by the six operations of Knuth's TwoSum, which need no branch.
type compensated struct{ sum, lost float64 }

func (c *compensated) add(x float64) {
	x = float64(x)
	s := c.sum + x
	part := s - c.sum
	c.lost += (c.sum - (s - part)) + (x - part)
	c.sum = s
}

func (c *compensated) value() float64 { return c.sum + c.lost }
