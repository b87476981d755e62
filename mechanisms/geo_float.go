package mechanisms

import (
	"fmt"
	"math"

	"optratio/internal/arith"
	"optratio/number"
)

// floatLevel is a level in float64: the place of φ, the weight z^c and the number of candidates.
type floatLevel struct {
	fraction      int
	weight, count float64
}

// geometricWork bounds levels times terms of geometricSums.
const geometricWork = 4e9

// geometricSums is geometricNoisyMax in float64 for any number of candidates and ε > 0: the sum over j term by term, every term positive, in
// O(terms · levels). Levels are ordered by fraction.
//
// With S the sum of all weights the integral is at least 1/(S+1), so that what is left where z^j (S+1) < 1e-8, which is z^j
// but for less than S z^{2j}, is known to 1e-16 of it. Terms with a product below e^-745 are 0. Within a fraction
// of more than one candidate the integral over u is by 36-node Gauss–Legendre quadrature on pieces where the exponent S u changes
// by at most 40, as in permuteAndFlipFloat.
func geometricSums(_ arith.Field[float64], _ float64, weights []float64, all []level, epsilon number.Epsilon) ([]float64, error) {
	p, levels, eps := make([]float64, len(all)), make([]floatLevel, len(all)), epsilon.Float()
	for i, l := range all {
		levels[i] = floatLevel{fraction: l.fraction, weight: weights[i], count: float64(l.count)}
	}
	var total compensated
	for _, l := range levels {
		total.Add(l.count * l.weight)
	}
	sum := total.Value() + 1
	last := math.Ceil(math.Log(1e8*sum) / eps)
	first := max(0, math.Floor(math.Log(sum/1000)/eps)-1) // before it, products are below e^-745
	if (last-first)*float64(len(levels)) > geometricWork {
		return nil, fmt.Errorf("%w: geometric noisy max with %d different scores at epsilon %.3g takes too long in float64", ErrNoAnswer, len(levels), eps)
	}
	above := make([]float64, len(levels)+1)
	for j := first; j < last; j++ {
		tau, next := math.Exp(-eps*j), math.Exp(-eps*(j+1))
		// above[i] is the logarithm of Π_{levels from i on} (1 - τ w)
		for i := len(levels) - 1; i >= 0; i-- {
			above[i] = above[i+1] + float64(levels[i].count*math.Log1p(-tau*levels[i].weight))
		}
		below := 0.0 // logarithm of Π_{levels before the fraction} (1 - τ z w)
		for from := 0; from < len(levels); {
			to := from + 1
			for to < len(levels) && levels[to].fraction == levels[from].fraction {
				to++
			}
			if outside := below + above[to]; outside > -745 {
				withinFraction(p[from:to], levels[from:to], next, -tau*math.Expm1(-eps), outside)
			}
			for _, l := range levels[from:to] {
				below += float64(l.count * math.Log1p(-next*l.weight))
			}
			from = to
		}
	}
	rest := math.Exp(-eps * last)
	for i, l := range levels {
		p[i] = l.weight * (p[i] + rest)
	}
	return p, nil
}

// withinFraction adds e^outside ∫ Π_{s≠r} (1 - u w_s) du over [start, start+length] to p_r, the product over the levels given.
func withinFraction(p []float64, levels []floatLevel, start, length, outside float64) {
	if len(levels) == 1 && levels[0].count == 1 {
		p[0] += float64(length * math.Exp(outside))
		return
	}
	mass := 0.0
	for _, l := range levels {
		mass += float64(l.count * l.weight)
	}
	rule := floatRule(36)
	pieces := math.Ceil(mass * length / 40)
	width := length / max(1, pieces)
	for at := start; at < start+float64(length*(1-1e-9)); at += width {
		for i := range rule.x {
			u, exponent := at+float64(width*rule.x[i]), outside
			for _, l := range levels {
				exponent += float64(l.count * math.Log1p(-u*l.weight))
			}
			if exponent < -745 {
				continue
			}
			g := width * rule.weight[i] * math.Exp(exponent)
			for r, l := range levels {
				p[r] += g / (1 - float64(u*l.weight))
			}
		}
	}
}
