package lumped

import (
	"math"

	"optratio/internal/arith"
	"optratio/internal/chain"
	"optratio/number"
)

// certify returns a lower bound on Σ_m W(m) Σ_v v m_v x[m][v], whatever the finite y is: the dual function of the full program at
// y(m) = y[class of m], rounded down. With z no more than e^{-ε}, chain.Dual has multipliers λ >= 0 that are admissible like any others; as everything is
// rounded down, what it has for a class is no more than what these λ give, and nor is the bound. Chains that share a suffix share its λ.
func (p *program) certify(y []float64, z float64, prec uint) number.Interval {
	lambda, dual := make([]float64, len(p.visit)), chain.NewDual(addDown, mulDown, z, y)
	for i, c := range p.visit {
		next := 0.0
		if n := p.next[i]; n >= 0 {
			next = lambda[n]
		}
		lambda[i] = dual.Visit(c, float64(p.cost[i]), next, p.first[i])
	}
	sum := number.NewAccumulator(prec)
	for c, w := range p.weight {
		sum.AddMul(arith.FromBig(w, prec), number.FromFloat(dual.Least[c], prec))
	}
	return number.Point(sum.Value().Lo())
}

// less returns a number less than what was rounded to x.
func less(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// addDown returns at most a + b, and nothing less where b = 0.
func addDown(a, b float64) float64 {
	if b == 0 {
		return a
	}
	return less(a + b)
}

// mulDown returns at most a · b, and 0 where that is 0.
func mulDown(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return less(a * b)
}
