package mechanisms

import (
	"math"
	"math/big"

	"optratio/internal/arith"
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
	c := enclosedCalculus(work)
	p := permuteAndFlipByRule(c, c.rule(nodes), reach, work, weights, counts)
	for i := range p {
		p[i] = p[i].SetPrec(prec)
	}
	return p
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
func permuteAndFlipByRule[T any](c calculus[T], rule *rule[T], reach float64, bits uint, weights []T, counts []int) []T {
	total := c.account()
	for i, w := range weights {
		total.Add(c.Mul(w, c.FromInt(int64(counts[i]))))
	}
	sum := total.Value()
	most := c.upper(sum)
	end := c.interval(number.FromFloat(min(1, reach/most), c.prec))

	onEllipse := c.exp(c.Mul(c.Mul(sum, end), c.FromRat(big.NewRat(49, 24)))) // (1+37/12)/2
	slack := c.miss(c.Mul(c.Mul(onEllipse, rule.missed[6]), end))
	if reach < most {
		less := c.Sub(sum, c.One())
		slack = c.Add(slack, c.upTo(c.Quo(c.exp(c.Neg(c.Mul(end, less))), less)))
	}

	// 1 - t w = (1-w) + (1-t) w, 1-t = (1-T) + T(1-τ): nothing cancels.
	distance, g := make([]T, len(rule.x)), make([]T, len(rule.x))
	for i := range g {
		distance[i] = c.Add(c.Sub(c.One(), end), c.Mul(end, rule.rest[i]))
		g[i] = c.Mul(end, rule.weight[i])
	}
	x, terms, light := make([]T, len(weights)), make([]int, len(weights)), int64(0) // terms is 0 for a weight that is not light
	var power []account[T]                                                          // Σ x^k over the light ones, k from 1
	for s, w := range weights {
		x[s] = c.Mul(w, end)
		if terms[s] = seriesTerms(c.upper(x[s]), bits); terms[s] == 0 {
			multiply(c, g, distance, w, counts[s])
			continue
		}
		light += int64(counts[s])
		y := c.FromInt(int64(counts[s]))
		for len(power) < terms[s] {
			power = append(power, c.account())
		}
		for k := range terms[s] {
			y = c.Mul(y, x[s])
			power[k].Add(y)
		}
	}
	series := make([]T, len(power))
	for k := range power {
		series[k] = c.Quo(power[k].Value(), c.FromInt(int64(k+1)))
	}
	epsilon := c.upTo(c.interval(number.Point(new(big.Float).SetPrec(c.prec).SetMantExp(big.NewFloat(1), -int(bits)))))
	omitted := c.Mul(epsilon, c.FromRat(big.NewRat(light, 15)))
	for i, at := range rule.x {
		sum := c.Zero()
		for k := len(series) - 1; k >= 0; k-- {
			sum = c.Mul(c.Add(sum, series[k]), at)
		}
		g[i] = c.Mul(g[i], c.exp(c.Neg(c.Add(sum, omitted))))
	}
	values := powerMoments(c, g, rule.x, max(1, len(power)))
	slack = c.Add(slack, c.Mul(c.Mul(epsilon, values[0]), c.FromRat(big.NewRat(16, 15))))
	p := make([]T, len(weights))
	for r, w := range weights {
		sum := c.Zero()
		if terms[r] == 0 {
			rest, all := c.Sub(c.One(), w), c.account()
			for i := range g {
				all.Add(c.Quo(g[i], c.Add(rest, c.Mul(distance[i], w))))
			}
			sum = all.Value()
		}
		for k := terms[r]; k > 0; k-- {
			sum = c.Add(c.Mul(sum, x[r]), values[k-1])
		}
		p[r] = c.Mul(w, c.Add(sum, slack))
	}
	return p
}

// multiply multiplies g by (1 - w + d w)^count at every node, d being the distance of t from 1 there.
func multiply[T any](c calculus[T], g, distance []T, w T, count int) {
	rest := c.Sub(c.One(), w)
	for i := range g {
		factor := c.Add(rest, c.Mul(distance[i], w))
		if count > 1 {
			factor = arith.Pow(c.Field, factor, count)
		}
		g[i] = c.Mul(g[i], factor)
	}
}

// powerMoments returns Σ_i g_i x_i^k for k = 0, …, count-1.
func powerMoments[T any](c calculus[T], g, x []T, count int) []T {
	sums := make([]account[T], count)
	for k := range sums {
		sums[k] = c.account()
	}
	for i, y := range g {
		for k := range sums {
			sums[k].Add(y)
			y = c.Mul(y, x[i])
		}
	}
	values := make([]T, count)
	for k, m := range sums {
		values[k] = m.Value()
	}
	return values
}

// lightBits is the least e of a light weight.
const lightBits = 4

// seriesTerms returns the least K with 2^{-eK} <= 2^-bits, where 2^-e is the least power of two above x >= 0, and 0 where e < lightBits.
func seriesTerms(x float64, bits uint) int {
	if x == 0 {
		return 1
	}
	_, e := math.Frexp(x)
	if -e < lightBits || math.IsInf(x, 1) {
		return 0
	}
	return (int(bits) - e - 1) / -e
}

// permuteAndFlipFloat is permuteAndFlip in float64: by its body for few candidates, and by 36 nodes to the reach 40 for many. Every term is positive.
//
// Errors of the rule relative to the probability, whose integral is at least 1/(S+1) because
// 1 - tw >= (1-t)^w: what lies beyond T is below e^{-T(S-1)}(S+1)/(S-1) < 1e-16. On the ellipse the integrand is at most e^{82}, so that
// quadrature errs by less than e^{82}·6^{-70}·5·T/2, 2e-17 of the integral. Series leave out 2^-60. What remains is rounding.
func permuteAndFlipFloat(f arith.Field[float64], weights []float64, counts []int) []float64 {
	n := 0
	for _, count := range counts {
		n += count
	}
	if n <= 32 {
		return permuteAndFlip(f, weights, counts)
	}
	c := floatCalculus()
	return permuteAndFlipByRule(c, c.rule(36), 40, 60, weights, counts)
}
