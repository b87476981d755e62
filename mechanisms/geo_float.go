package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
)

// floatLevel is a level in float64: the place of φ, the weight z^c and the number of candidates.
type floatLevel struct {
	fraction      int
	weight, count float64
}

// geometricWork bounds levels times terms of geometricFloat.
const geometricWork = 4e9

// geometricFloat is geometricNoisyMax in float64 for any number of candidates: the sum over j term by term, every term positive, in
// O(terms · levels). Levels are ordered by fraction.
//
// With S the sum of all weights the integral is at least 1/(S+1), so that what is left where z^j (S+1) < 1e-8, which is z^j
// but for less than S z^{2j}, is known to 1e-16 of it. Terms with a product below e^-745 are 0. Within a fraction
// of more than one candidate the integral over u is by 36-node Gauss–Legendre quadrature on pieces where the exponent S u changes
// by at most 40, as in permuteAndFlipFloat.
func geometricFloat(eps float64, levels []floatLevel, n int) ([]float64, error) {
	p := make([]float64, len(levels))
	if eps == 0 {
		for i := range p {
			p[i] = 1 / float64(n)
		}
		return p, nil
	}
	var total compensated
	for _, l := range levels {
		total.add(l.count * l.weight)
	}
	sum := total.value() + 1
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
			above[i] = above[i+1] + levels[i].count*math.Log1p(-tau*levels[i].weight)
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
				below += l.count * math.Log1p(-next*l.weight)
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
		p[0] += length * math.Exp(outside)
		return
	}
	mass := 0.0
	for _, l := range levels {
		mass += l.count * l.weight
	}
	x, weight := legendre(pfNodes)
	pieces := math.Ceil(mass * length / pfReach)
	width := length / max(1, pieces)
	for at := start; at < start+length*(1-1e-9); at += width {
		for i := range pfNodes {
			u, exponent := at+width*x[i], outside
			for _, l := range levels {
				exponent += l.count * math.Log1p(-u*l.weight)
			}
			if exponent < -745 {
				continue
			}
			g := width * weight[i] * math.Exp(exponent)
			for r, l := range levels {
				p[r] += g / (1 - u*l.weight)
			}
		}
	}
}

// FloatScores takes scores and the sensitivity as the numbers that they are in binary: whether two depths differ by an integer is
// decided exactly.
func (g *geometric) FloatScores(in *FloatInstance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	best, _ := in.best()
	step := 2 * in.largest()
	at := make([]place, len(in.Scores))
	for r, q := range in.Scores {
		at[r] = steps(best, q, step)
	}
	// φ = 1 - rest/step, and 0 where the rest is 0: in its ascending order rests fall.
	members, group := classes(len(at), func(a, b int) int {
		if (at[a].rest == 0) != (at[b].rest == 0) {
			return cmp.Compare(at[a].rest, at[b].rest)
		}
		return cmp.Or(at[b].compareRest(at[a]), cmp.Compare(at[a].whole, at[b].whole))
	})
	flat := make([]floatLevel, len(members))
	for k, alike := range members {
		here := at[alike[0]]
		flat[k] = floatLevel{weight: math.Exp(-in.Epsilon * here.whole), count: float64(len(alike))}
		if k > 0 {
			flat[k].fraction = flat[k-1].fraction
			if at[members[k-1][0]].compareRest(here) != 0 {
				flat[k].fraction++
			}
		}
	}
	p, err := geometricFloat(in.Epsilon, flat, len(at))
	if err != nil {
		return nil, err
	}
	return scatter(group, p), nil
}

// place is a depth as ⌈d⌉ steps and the remainder by the step; exact holds the remainder where rest is not it.
type place struct {
	whole, rest float64
	exact       *big.Rat
}

// compareRest compares the remainders exactly. Rounding keeps their order, but may make them equal.
func (p place) compareRest(q place) int {
	if p.rest != q.rest || p.exact == nil && q.exact == nil {
		return cmp.Compare(p.rest, q.rest)
	}
	return p.remainder().Cmp(q.remainder())
}

func (p place) remainder() *big.Rat {
	if p.exact != nil {
		return p.exact
	}
	return new(big.Rat).SetFloat64(p.rest)
}

// steps returns the place of q.
func steps(best, q, step float64) (p place) {
	gap := best - q
	part := gap + q // Knuth's two-sum: what rounding lost is (best - part) - (q - (part - gap)); NaN where gap overflows
	if lost := (best - part) - (q - (part - gap)); lost == 0 {
		p.rest = math.Mod(gap, step)
		p.whole = math.Round((gap - p.rest) / step)
	} else {
		exact := new(big.Rat).Sub(new(big.Rat).SetFloat64(best), new(big.Rat).SetFloat64(q))
		size := new(big.Rat).SetFloat64(step)
		quotient := new(big.Rat).Quo(exact, size)
		floor := new(big.Int).Quo(quotient.Num(), quotient.Denom())
		p.whole, _ = new(big.Float).SetInt(floor).Float64()
		p.exact = exact.Sub(exact, size.Mul(size, new(big.Rat).SetInt(floor)))
		p.rest, _ = p.exact.Float64()
	}
	if p.rest > 0 {
		p.whole++
	}
	return p
}

// relativeError is that of sums of logarithms, which grow with the number of candidates.
func (g *geometric) relativeError(in *FloatInstance) float64 {
	return 1e-11 + 0x1p-50*float64(len(in.Scores))
}
