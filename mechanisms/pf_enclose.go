package mechanisms

import (
	"math"
	"math/big"

	"optratio/internal/quadrature"
	"optratio/number/arith"
	"optratio/number/interval"
)

// manyCandidates is the number above which enclosures of permute-and-flip come from quadrature.
const manyCandidates = 300

// permuteAndFlipEnclosed encloses what permuteAndFlip does: by its O(n²) body for few candidates, and by
// permuteAndFlipByRule for many, so accurately that its errors are below 2^-prec.
func permuteAndFlipEnclosed(f arith.Field[interval.Interval], weights []interval.Interval, counts []int) []interval.Interval {
	n, prec := 0, f.One().Prec()
	for i, w := range weights {
		n, prec = n+counts[i], max(prec, w.Prec())
	}
	if n <= manyCandidates {
		return permuteAndFlip(f, weights, counts)
	}
	reach := 0.7*float64(prec) + 10 // e^{-0.7} < 1/2
	// The exponent of the bound on the ellipse, at most 49/24 reach, and the bits are paid for by 2 ln 6 = 3.58 a node.
	nodes := int((2.05*reach+0.7*float64(prec)+20)/3.58) + 2
	p := permuteAndFlipByRule(quadrature.Legendre(nodes, prec+uint(math.Ilogb(float64(n)))+24), reach, weights, counts)
	for i := range p {
		p[i] = p[i].SetPrec(prec)
	}
	return p
}

// permuteAndFlipByRule encloses permute-and-flip in O(n) by the integral w_r ∫_0^1 g_r(t) dt, g_r = Π_{s≠r} (1 - t w_s), whatever the
// rule and the reach > 0: they only decide how wide the result is. With S the largest that Σ w may be, T = min(1, reach/S), and
// 0 <= g_r <= 1 on [0,1],
//
//	0 <= ∫_T^1 g_r dt <= ∫_T^∞ e^{-t(Σw-1)} dt = e^{-T(Σw-1)}/(Σw-1),
//
// and the rule is applied on [0,T], with |g_r| <= Π (1 + |t| w_s) <= e^{S T (1+a)/2}, a = (ρ+1/ρ)/2 = 37/12, on the Bernstein ellipse with
// ρ = 6, whose points have |t| <= T (1+a)/2. Weights that are small beside the precision have one factor together, Π (1 - t w_s) >= 1 - Σ w_s, and probabilities
// from w_r ∫ g dt to w_r/(1-w_r) ∫ g dt with g = Π (1 - t w_s) over all of them.
func permuteAndFlipByRule(rule *quadrature.Rule, reach float64, weights []interval.Interval, counts []int) []interval.Interval {
	nodes, work := len(rule.X), rule.X[0].Prec()
	zero, one := interval.FromInt(0, work), interval.FromInt(1, work)
	total := interval.NewAccumulator(work)
	for i, w := range weights {
		total.AddMul(w, interval.FromInt(int64(counts[i]), work))
	}
	sum := total.Value()
	_, most := sum.Float64()
	end := interval.FromFloat(min(1, reach/most), work)

	ellipse := interval.Exp(sum.Mul(end).Mul(interval.FromRat(big.NewRat(49, 24), work))) // (1+37/12)/2
	missed := rule.Error(ellipse, 6).Mul(end)
	slack := interval.Hull(missed.Neg(), missed)
	if reach < most {
		less := sum.Sub(one)
		slack = slack.Add(interval.Hull(zero, interval.Exp(end.Mul(less).Neg()).Quo(less)))
	}

	tiny := new(big.Float).SetMantExp(big.NewFloat(1), -int(work))
	// 1 - t w = (1-w) + (1-t) w, 1-t = (1-T) + T(1-x): nothing cancels.
	distance := make([]interval.Interval, nodes)
	g := make([]interval.Interval, nodes)
	for i := range nodes {
		distance[i] = one.Sub(end).Add(end.Mul(rule.Rest[i]))
		g[i] = end.Mul(rule.Weight[i])
	}
	small := func(w interval.Interval) bool { return w.Hi().Cmp(tiny) < 0 }
	together := interval.NewAccumulator(work)
	for s, w := range weights {
		if small(w) {
			together.AddMul(w, interval.FromInt(int64(counts[s]), work))
			continue
		}
		rest := one.Sub(w)
		for i := range nodes {
			factor := rest.Add(distance[i].Mul(w))
			if counts[s] > 1 {
				factor = factor.Pow(counts[s])
			}
			g[i] = g[i].Mul(factor)
		}
	}
	all, others := interval.NewAccumulator(work), interval.Hull(one.Sub(together.Value()), one)
	for i := range nodes {
		g[i] = g[i].Mul(others)
		all.Add(g[i])
	}
	whole := all.Value().Add(slack)
	p := make([]interval.Interval, len(weights))
	for r, w := range weights {
		if small(w) {
			p[r] = w.Mul(whole).Mul(interval.Hull(one, one.Quo(one.Sub(w))))
			continue
		}
		rest, sum := one.Sub(w), interval.NewAccumulator(work)
		for i := range nodes {
			sum.Add(g[i].Quo(rest.Add(distance[i].Mul(w))))
		}
		p[r] = w.Mul(sum.Value().Add(slack))
	}
	return p
}
