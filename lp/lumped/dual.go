package lumped

import (
	"math"

	"optratio/number/interval"
)

// certify returns a lower bound on Σ_m W(m) Σ_v v m_v x[m][v], whatever the finite y is: the dual function of the full program at
// y(m) = y[class of m], but for rounding. With z no more than e^{-ε}, along every sequence from its deep end
//
//	R_i = c_i + z λ_{i+1},  λ_i = max(0, R_i - y_i),  0 at the first position,
//
// all rounded down. These λ are multipliers like any others, and R_i - λ_i is at least R_i at the first position, min(R_i, y_i) elsewhere. The least of
// these at any position of a class is a multiplier y' of the class that is feasible, and Σ N(class) y'(class) is the bound. As R_i is no more than
// it is in exact arithmetic, nor is the bound. Chains that share a suffix share its λ.
func (p *program) certify(y []float64, z float64, prec uint) interval.Interval {
	lambda := make([]float64, len(p.visit))
	least := make([]float64, len(y))
	for c := range least {
		least[c] = math.Inf(1)
	}
	for i, c := range p.visit {
		r := float64(p.cost[i])
		if next := p.next[i]; next >= 0 {
			r = down(r + down(z*lambda[next]))
		}
		if p.first[i] {
			least[c] = min(least[c], r)
			continue
		}
		lambda[i] = max(0, down(r-y[c]))
		least[c] = min(least[c], r, y[c])
	}
	sum := interval.NewAccumulator(prec)
	for c, w := range p.weight {
		sum.AddMul(interval.FromBig(w, prec), interval.FromFloat(least[c], prec))
	}
	return interval.Point(sum.Value().Lo())
}

// down returns a number less than what was rounded to x.
func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
