package mechanisms

import (
	"math"
	"math/big"

	"optratio/number/arith"
	"optratio/number/interval"
)

// manyCandidates is the number above which enclosures of permute-and-flip come from quadrature.
const manyCandidates = 300

// permuteAndFlipEnclosed encloses what permuteAndFlip does: by its O(n²) body for few candidates, and for
// many in O(n) by the integral that permuteAndFlipFloat computes, with both errors enclosed. With S between
// enclosures of Σ w, T = min(1, R/S), and g_r = Π_{s≠r} (1 - t w_s), 0 <= g_r <= 1,
//
//	∫_T^1 g_r dt <= ∫_T^∞ e^{-t(S-1)} dt = e^{-T(S-1)}/(S-1),
//
// and M nodes on [0,T] err by at most (64/15) B ρ^{-2(M-1)}/(1-ρ^{-2}) T/2, where ρ = 6 and B = e^{S T (1+a)/2},
// a = (ρ+1/ρ)/2 = 37/12, bounds g_r on the ellipse (Trefethen 2013, Thm. 19.3).
func permuteAndFlipEnclosed(f arith.Field[interval.Interval], weights []interval.Interval, counts []int) []interval.Interval {
	n := 0
	for _, c := range counts {
		n += c
	}
	prec := f.One().Prec()
	for _, w := range weights {
		prec = max(prec, w.Prec())
	}
	if n <= manyCandidates {
		return permuteAndFlip(f, weights, counts)
	}
	work := prec + uint(math.Ilogb(float64(n))) + 24
	total := interval.NewAccumulator(work)
	for i, w := range weights {
		total.AddMul(w, interval.FromInt(int64(counts[i]), work))
	}
	sum := total.Value()
	reach := 0.7*float64(prec) + 10 // e^{-0.7} < 1/2
	_, most := sum.Float64()
	end := interval.FromFloat(min(1, reach/most), work)
	nodes := int((2.05*reach+0.7*float64(prec)+20)/3.58) + 2

	// errors, as an interval to be added to the quadrature
	ellipse := interval.Exp(sum.Mul(end).Mul(interval.FromRat(big.NewRat(49, 24), work))) // (1+37/12)/2
	rho := interval.FromInt(6, work).Pow(-2 * (nodes - 1))
	bound := ellipse.Mul(rho).Mul(end).Mul(interval.FromRat(big.NewRat(64*36, 15*35*2), work))
	slack := interval.Hull(bound.Neg(), bound)
	if reach < most {
		less := sum.Sub(interval.FromInt(1, work))
		tail := interval.Exp(end.Mul(less).Neg()).Quo(less)
		slack = slack.Add(interval.Hull(interval.FromInt(0, work), tail))
	}

	rule := enclosedRule(nodes, work)
	one := interval.FromInt(1, work)
	// 1 - t w = (1-w) + (1-t) w, 1-t = (1-T) + T(1-x): nothing cancels.
	distance := make([]interval.Interval, nodes)
	g := make([]interval.Interval, nodes)
	for i := range nodes {
		distance[i] = one.Sub(end).Add(end.Mul(rule.rest[i]))
		g[i] = end.Mul(rule.weight[i])
	}
	for s, w := range weights {
		rest := one.Sub(w)
		for i := range nodes {
			factor := rest.Add(distance[i].Mul(w))
			if counts[s] > 1 {
				factor = factor.Pow(counts[s])
			}
			g[i] = g[i].Mul(factor)
		}
	}
	p := make([]interval.Interval, len(weights))
	for r, w := range weights {
		rest, sum := one.Sub(w), interval.NewAccumulator(work)
		for i := range nodes {
			sum.Add(g[i].Quo(rest.Add(distance[i].Mul(w))))
		}
		p[r] = w.Mul(sum.Value().Add(slack)).SetPrec(prec)
	}
	return p
}
