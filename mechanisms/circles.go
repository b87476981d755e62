package mechanisms

import (
	"math"
	"slices"
)

// circles bounds how often pairwise comparisons of three candidates a, b, c run in a circle. Candidate x beats y iff E_x - E_y > g_xy = (q_y - q_x)/w_xy,
// for independent exponential E of rate 1.
type circles struct {
	most  float64 // of the probability C of a circle, over all scores
	slope float64 // of the speed at which ln(1-C) rises where no g_xy moves faster than 1
}

// The suprema are bounded box by box in two of the three leads; the third follows from the other two, as Σ w_xy g_xy = 0. docs/results/unequal.md, Theorem 4, says why
// the bound of a box is one.
const (
	circleReach  = 11.0 // where some lead exceeds it, the probability and each density are below e^-11 = 1.7e-5
	circleFar    = 60.0 // leads below -circleFar are treated as one box
	circleAllow  = 2e-3 // and 1/100: by how much a bound may exceed the largest value found, unless the box is as small as
	circleSide   = 1e-4 // or, with leads below -circleFar,
	circleLoose  = 1e-2
	circleMargin = 1e-9 // more than all roundings of a bound: some fifty of numbers up to 1, and arguments of exponentials off by 1e-13
)

// newCircles returns the bounds for the weights w_ab, w_bc, w_ca: none negative, each at most the sum of the others, not all 0.
func newCircles(w [3]float64) circles {
	for w[2] < max(w[0], w[1]) {
		w = [3]float64{w[1], w[2], w[0]}
	}
	out := circles{circleAllow, circleAllow}
	for _, w := range [][3]float64{w, {w[1], w[0], w[2]}} { // either direction of the circle
		out.most = boundCircles(w, out.most, circleBox.most)
		out.slope = boundCircles(w, out.slope, circleBox.slope)
	}
	return circles{out.most + circleMargin, out.slope + circleMargin}
}

// boundCircles returns a bound, at least least, of the supremum of what bounds it in each box.
func boundCircles(w [3]float64, least float64, bound func(circleBox) float64) float64 {
	found, proved := 0.0, least
	var refine func(x, y [2]float64)
	refine = func(x, y [2]float64) {
		box := newCircleBox(w, x, y)
		inside := newCircleBox(w, [2]float64{x[1], x[1]}, [2]float64{y[1], y[1]})
		found = max(found, bound(inside))
		here := bound(box)
		wide, high := x[1]-max(x[0], -circleFar), y[1]-max(y[0], -circleFar)
		smallest := circleSide
		if min(x[0], y[0]) < -circleFar {
			smallest = circleLoose
		}
		switch {
		case here <= max(proved, found*(1+1.0/100)+circleAllow), max(wide, high) < smallest:
			proved = max(proved, here)
		case wide > high:
			middle := x[0] + (x[1]-x[0])/2
			refine([2]float64{middle, x[1]}, y)
			refine([2]float64{x[0], middle}, y)
		default:
			middle := y[0] + (y[1]-y[0])/2
			refine(x, [2]float64{middle, y[1]})
			refine(x, [2]float64{y[0], middle})
		}
	}
	edges := []float64{math.Inf(-1), -circleFar, -circleReach, -3, -1, 0, 1, 3, circleReach}
	for i := range edges[1:] {
		for j := range edges[1:] {
			refine([2]float64{edges[i], edges[i+1]}, [2]float64{edges[j], edges[j+1]})
		}
	}
	return proved
}

// circleBox holds leads g_ab, g_bc, g_ca from low to high.
type circleBox struct{ w, low, high [3]float64 }

func newCircleBox(w [3]float64, x, y [2]float64) circleBox {
	third := func(i int) float64 {
		sum := 0.0
		for k, g := range []float64{x[i], y[i]} {
			if w[k] > 0 { // 0·∞ is 0: that lead does not count
				sum += w[k] * g
			}
		}
		return -sum / w[2]
	}
	return circleBox{w, [3]float64{x[0], y[0], third(1)}, [3]float64{x[1], y[1], third(0)}}
}

// most bounds the probability that a beats b beats c beats a, which falls with each lead: at the low ends, 1 - f_a - f_b - f_c.
func (b circleBox) most() float64 {
	g := b.low
	if !(g[0]+g[1]+g[2] < 0) {
		return 0
	}
	nobody := 1.0
	for i := range g {
		nobody -= winsBoth(g[i], -g[(i+2)%3])
	}
	return max(0, nobody)
}

// winsBoth returns the probability that a candidate beats two others with these leads over it: ∫ (1-u e^x)(1-u e^y) du over u up to where a factor is 0.
func winsBoth(x, y float64) float64 {
	top := max(0, x, y)
	if math.IsInf(top, 1) {
		return 0
	}
	p, q := math.Exp(x-top), math.Exp(y-top)
	return math.Exp(-top) * (1 - (p+q)/2 + p*q/3)
}

// density bounds ρ_i = -∂C/∂g_i from above or below. With x, y, z the leads i, i+1, i+2 it is e^{-|x|} (K(z + max(x,0)) - K(max(-x,0) - y)), where that is positive:
// one of E_a, E_b exceeds the other by x, the smaller one is e, and E_c is in between.
func (b circleBox) density(i int, above bool) float64 {
	at, far := b.low, max(math.Abs(b.low[i]), math.Abs(b.high[i]))
	if above {
		far = max(0, b.low[i], -b.high[i])
	} else {
		at = b.high
	}
	x, y, z := at[i], at[(i+1)%3], at[(i+2)%3]
	return math.Exp(-far) * max(0, circleK(z+max(x, 0))-circleK(max(-x, 0)-y))
}

// circleK returns K(α) = ∫₀^∞ e^{-2e} Pr[E > e + α] de.
func circleK(alpha float64) float64 {
	if alpha >= 0 {
		return math.Exp(-alpha) / 3
	}
	return 0.5 - math.Exp(2*alpha)/6
}

// slope bounds Σ ρ_i v_i/(1-C) over |v_i| <= 1 with Σ w_i v_i = 0: a convex function of v with the bounds of ρ_i, greatest at a vertex, where two are ±1.
func (b circleBox) slope() float64 {
	fastest := 0.0
	var low, high [3]float64
	for i := range 3 {
		low[i], high[i] = b.density(i, false), b.density(i, true)
	}
	for k := range 3 {
		i, j := (k+1)%3, (k+2)%3
		for _, s := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			rest := -(b.w[i]*s[0] + b.w[j]*s[1])
			if math.Abs(rest) > b.w[k]*(1+1e-12) {
				continue
			}
			v := [3]float64{}
			v[i], v[j], v[k] = s[0], s[1], 1
			if b.w[k] > 0 {
				v[k] = rest / b.w[k]
			}
			sum := 0.0
			for m, x := range v {
				sum += max(low[m]*x, high[m]*x)
			}
			fastest = max(fastest, sum)
		}
	}
	return fastest / (1 - b.most())
}

// circlesOf returns bounds for candidates of these sensitivities in ascending order: of the probability that nobody beats all others, by the sum over all triples, and of the
// slope, which is known for three candidates.
func circlesOf(deltas []float64) circles {
	type triple [3]float64
	known, out := map[triple]circles{}, circles{0, 1}
	for i, a := range deltas {
		for j, b := range deltas[:i] {
			for _, c := range deltas[:j] {
				if a == c { // all three equal: comparisons at one scale do not run in circles
					continue
				}
				// Bounds depend on quotients alone.
				key := triple{a / a, b / a, c / a}
				t, ok := known[key]
				if !ok {
					t = newCircles([3]float64{key[0] + key[1], key[1] + key[2], key[2] + key[0]})
					known[key] = t
				}
				out.most += t.most
				out.slope = t.slope
			}
		}
	}
	if len(deltas) > 3 || len(deltas) == 3 && deltas[1] == 0 { // with two public candidates the leads need not satisfy Σ w_xy g_xy = 0
		out.slope = 1
	}
	out.most = min(out.most, 1)
	return out
}

// distinct returns how many different numbers there are.
func distinct(sorted []float64) int { return len(slices.Compact(slices.Clone(sorted))) }
