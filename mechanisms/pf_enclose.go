package mechanisms

import (
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/quadrature"
	"optratio/number"
)

// manyCandidates is the number above which enclosures of permute-and-flip come from quadrature.
const manyCandidates = 300

// permuteAndFlipEnclosed encloses what permuteAndFlip does: by its O(n²) body for few candidates, and by
// permuteAndFlipByRule for many, so accurately that its errors are below 2^-prec.
func permuteAndFlipEnclosed(f arith.Field[number.Interval], weights []number.Interval, counts []int) []number.Interval {
	n, prec := 0, f.One().Prec()
	for i, w := range weights {
		n, prec = n+counts[i], max(prec, w.Prec())
	}
	if n <= manyCandidates {
		return permuteAndFlip(f, weights, counts)
	}
	reach := float64(0.7*float64(prec)) + 10 // e^{-0.7} < 1/2
	// The exponent of the bound on the ellipse, at most 49/24 reach, and the bits are paid for by 2 ln 6 = 3.58 a node.
	nodes := int((float64(2.05*reach)+float64(0.7*float64(prec))+20)/3.58) + 2
	work := prec + uint(math.Ilogb(float64(n))) + 24
	p := permuteAndFlipByRule(quadrature.Legendre(nodes, work), reach, work, weights, counts)
	for i := range p {
		p[i] = p[i].SetPrec(prec)
	}
	return p
}

// timesHeavy multiplies g by (1 - t w)^count at the nodes, where 1 - t is distance; rest is 1 - w.
func timesHeavy(g, distance []number.Interval, rest, w number.Interval, count int) {
	for i := range g {
		factor := rest.Add(distance[i].Mul(w))
		if count > 1 {
			factor = factor.Pow(count)
		}
		g[i] = g[i].Mul(factor)
	}
}

// permuteAndFlipByRule encloses permute-and-flip in O(n) by the integral w_r ∫_0^1 g_r(t) dt, g_r = Π_{s≠r} (1 - t w_s), whatever the
// rule, the reach > 0 and the bits of series: they only decide how wide the result is. With S the largest that Σ w may be, T = min(1, reach/S), and
// 0 <= g_r <= 1 on [0,1],
//
//	0 <= ∫_T^1 g_r dt <= ∫_T^∞ e^{-t(Σw-1)} dt = e^{-T(Σw-1)}/(Σw-1),
//
// and the rule is applied on [0,T], with |g_r| <= Π (1 + |t| w_s) <= e^{S T (1+a)/2}, a = (ρ+1/ρ)/2 = 37/12, on the Bernstein ellipse with
// ρ = 6, whose points have |t| <= T (1+a)/2.
//
// A weight with x = T w <= 2^-e, e >= 4, is light and takes K = ⌈bits/e⌉ terms of series in place of as many factors and quotients as there are nodes: with τ = t/T
//
//	ln Π (1 - t w_s) = -Σ_k τ^k Σ_s x_s^k/k,   1/(1 - t w_r) = Σ_k x_r^k τ^k,
//
// products and sums over light weights s, where what is left out is between 0 and 2^-bits/15 for each s, and between 0 and 2^-bits·16/15 for r.
func permuteAndFlipByRule(rule *quadrature.Rule, reach float64, bits uint, weights []number.Interval, counts []int) []number.Interval {
	nodes, work := len(rule.X), rule.X[0].Prec()
	zero, one := number.FromInt(0, work), number.FromInt(1, work)
	total := number.NewAccumulator(work)
	for i, w := range weights {
		total.AddMul(w, number.FromInt(int64(counts[i]), work))
	}
	sum := total.Value()
	_, most := sum.Float64()
	end := number.FromFloat(min(1, reach/most), work)

	ellipse := number.Exp(sum.Mul(end).Mul(number.FromRat(big.NewRat(49, 24), work))) // (1+37/12)/2
	missed := rule.Error(ellipse, 6).Mul(end)
	slack := number.Hull(missed.Neg(), missed)
	if reach < most {
		less := sum.Sub(one)
		slack = slack.Add(number.Hull(zero, number.Exp(end.Mul(less).Neg()).Quo(less)))
	}

	// 1 - t w = (1-w) + (1-t) w, 1-t = (1-T) + T(1-τ): nothing cancels.
	distance := make([]number.Interval, nodes)
	g := make([]number.Interval, nodes)
	for i := range nodes {
		distance[i] = one.Sub(end).Add(end.Mul(rule.Rest[i]))
		g[i] = end.Mul(rule.Weight[i])
	}
	x, terms, light := make([]number.Interval, len(weights)), make([]int, len(weights)), int64(0) // terms is 0 for a weight that is not light
	var power []*number.Accumulator                                                               // Σ x^k over the light ones, k from 1
	for s, w := range weights {
		x[s] = w.Mul(end)
		if terms[s] = seriesTerms(x[s].Hi(), bits); terms[s] == 0 {
			timesHeavy(g, distance, one.Sub(w), w, counts[s])
			continue
		}
		light += int64(counts[s])
		y := number.FromInt(int64(counts[s]), work)
		for len(power) < terms[s] {
			power = append(power, number.NewAccumulator(work))
		}
		for k := range terms[s] {
			y = y.Mul(x[s])
			power[k].Add(y)
		}
	}
	epsilon := number.Hull(zero, number.Point(new(big.Float).SetPrec(work).SetMantExp(big.NewFloat(1), -int(bits)))) // [0, 2^-bits]
	omitted := epsilon.Mul(number.FromRat(big.NewRat(light, 15), work))
	moments := make([]*number.Accumulator, max(1, len(power))) // Σ g τ^k over the nodes
	for k := range moments {
		moments[k] = number.NewAccumulator(work)
	}
	for i := range nodes {
		sum := zero
		for k := len(power); k > 0; k-- {
			sum = sum.Add(power[k-1].Value().Quo(number.FromInt(int64(k), work))).Mul(rule.X[i])
		}
		g[i] = g[i].Mul(number.Exp(sum.Add(omitted).Neg()))
		y := g[i]
		for k := range moments {
			moments[k].Add(y)
			y = y.Mul(rule.X[i])
		}
	}
	slack = slack.Add(epsilon.Mul(moments[0].Value()).Mul(number.FromRat(big.NewRat(16, 15), work)))
	values := make([]number.Interval, len(moments))
	for k, m := range moments {
		values[k] = m.Value()
	}
	p := make([]number.Interval, len(weights))
	for r, w := range weights {
		sum := zero
		if terms[r] == 0 {
			rest, all := one.Sub(w), number.NewAccumulator(work)
			for i := range nodes {
				all.Add(g[i].Quo(rest.Add(distance[i].Mul(w))))
			}
			sum = all.Value()
		}
		for k := terms[r]; k > 0; k-- {
			sum = sum.Mul(x[r]).Add(values[k-1])
		}
		p[r] = w.Mul(sum.Add(slack))
	}
	return p
}

// lightBits is the least e of a light weight.
const lightBits = 4

// seriesTerms returns the least K with 2^{-eK} <= 2^-bits, where 2^-e is the least power of two above x >= 0, and 0 where e < lightBits.
func seriesTerms(x *big.Float, bits uint) int {
	if x.Sign() == 0 {
		return 1
	}
	e := -x.MantExp(nil)
	if x.IsInf() || e < lightBits {
		return 0
	}
	return (int(bits) + e - 1) / e
}
