package pairwise

import (
	"math"
	"math/bits"
	"slices"
)

// circles bounds how often pairwise comparisons of three candidates a, b, c run in a circle. Candidate x beats y iff E_x - E_y > g_xy = (q_y - q_x)/w_xy,
// for independent exponential E of rate 1.
type circles struct {
	most  float64 // of the probability C of a circle, over all scores
	slope float64 // of the speed at which ln(1-C) rises where no g_xy moves faster than 1
}

// The suprema are bounded box by box in two of the three leads; the third follows from the other two, as Σ w_xy g_xy = 0. research/docs/unequal.md, Theorem 4, says why
// the bound of a box is one.
const (
	circleReach     = 11.0 // where some lead exceeds it, the probability and each density are below e^-11 = 1.7e-5
	circleFar       = 60.0 // leads below -circleFar are treated as one box
	circleAllow     = 2e-3 // and 1/100: by how much a bound may exceed the largest value found, unless the box is as small as
	circleAllowMany = 5e-3 // the same for more than three candidates
	circleSide      = 1e-4 // or, with leads below -circleFar,
	circleLoose     = 1e-2
	// circleMargin is more than all roundings of a bound. Each is a sum of less than 30 terms of at most 1, divided by 1 - C > 1/2; a term is off by 2^-34 at
	// most: by its exponentials, which circleExp bounds, and by their arguments, sums of leads that are off by 2^-44. The third lead and the speeds, where
	// rounding may be magnified, are widened by circleWiden (weights are rounded quotients, off by 2^-50).
	circleMargin = 1e-8
	circleWiden  = 0x1p-47
)

// circleExp returns e^x for x <= 0 with a relative error of at most 2^-35, or 0 where it is below 2^-80: a Taylor polynomial at x/2^12, then 12 squarings, in operations
// whose relative error is 2^-53. The polynomial is off by less than 2^-80 for its degree and by 20 roundings, and each squaring doubles the relative error and adds one
// rounding: 2^12 (20 + 1) 2^-53 in all.
func circleExp(x float64) float64 {
	if !(x > -56) {
		return 0
	}
	x /= 1 << 12 // at least -2^-6
	e := 1.0
	for i := 9.0; i >= 1; i-- {
		e = 1 + float64(e*(x/i))
	}
	for range 12 {
		e *= e
	}
	return e
}

// newCircles returns the bounds for the weights w_ab, w_bc, w_ca: none negative, each at most the sum of the others, not all 0. That of the slope is of what speed
// bounds, circleBox.slope or circleBox.opens.
func newCircles(w [3]float64, allow float64, speed func(circleBox) float64) circles {
	for w[2] < max(w[0], w[1]) {
		w = [3]float64{w[1], w[2], w[0]}
	}
	out := circles{allow, allow}
	for _, w := range [][3]float64{w, {w[1], w[0], w[2]}} { // either direction of the circle
		out.most = boundCircles(w, allow, out.most, circleBox.most)
		out.slope = boundCircles(w, allow, out.slope, speed)
	}
	return circles{out.most + circleMargin, out.slope + circleMargin}
}

// boundCircles returns a bound, at least least, of the supremum of what bounds it in each box.
func boundCircles(w [3]float64, allow, least float64, bound func(circleBox) float64) float64 {
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
		case here <= max(proved, float64(found*(1+1.0/100))+allow), max(wide, high) < smallest:
			proved = max(proved, here)
		case wide > high:
			middle := x[0] + float64((x[1]-x[0])/2)
			refine([2]float64{middle, x[1]}, y)
			refine([2]float64{x[0], middle}, y)
		default:
			middle := y[0] + float64((y[1]-y[0])/2)
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
				sum += float64(w[k] * g)
			}
		}
		return -sum / w[2]
	}
	// w[2] is the largest weight, so that the third lead is off by no more than this.
	wide := func(i int) float64 {
		off := 0.0
		for k, g := range []float64{x[i], y[i]} {
			if w[k] > 0 && !math.IsInf(g, 0) { // an infinite one makes the third infinite
				off += float64(circleWiden * math.Abs(g))
			}
		}
		return off
	}
	low, high := third(1)-wide(1), third(0)+wide(0)
	return circleBox{w, [3]float64{x[0], y[0], low}, [3]float64{x[1], y[1], high}}
}

// most bounds the probability that a beats b beats c beats a, which falls with each lead: at the low ends, 1 - f_a - f_b - f_c.
func (b circleBox) most() float64 {
	g := b.low
	if !(g[0]+g[1]+g[2] < 0) {
		return 0
	}
	nobody := 1.0
	for i := range g {
		nobody -= winsOver(g[i], -g[(i+2)%3], math.Inf(-1))
	}
	return max(0, nobody)
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
	return circleExp(-far) * max(0, circleK(z+max(x, 0))-circleK(max(-x, 0)-y))
}

// circleK returns K(α) = ∫₀^∞ e^{-2e} Pr[E > e + α] de.
func circleK(alpha float64) float64 {
	if alpha >= 0 {
		return circleExp(-alpha) / 3
	}
	return 0.5 - circleExp(2*alpha)/6
}

// fastest bounds Σ ρ_i v_i over |v_i| <= 1 with Σ w_i v_i = 0, for ρ_i from low to high: a convex function of v, greatest at a vertex, where two are ±1.
func (b circleBox) fastest(low, high [3]float64) float64 {
	fastest := 0.0
	for k := range 3 {
		i, j := (k+1)%3, (k+2)%3
		for _, s := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			// The third speed, and how much it may be off: where its weight is small, by any amount.
			rest, off := -(float64(b.w[i]*s[0]) + float64(b.w[j]*s[1])), float64(circleWiden*(b.w[i]+b.w[j]))
			if math.Abs(rest) > float64(b.w[k]*(1+circleWiden))+off {
				continue
			}
			slow, fast := -1.0, 1.0
			if b.w[k] > 0 {
				slow, fast = max(slow, (rest-off)/b.w[k]-circleWiden), min(fast, (rest+off)/b.w[k]+circleWiden)
			}
			part := func(m int, v float64) float64 { return max(float64(low[m]*v), float64(high[m]*v)) }
			sum := part(i, s[0]) + part(j, s[1]) + max(part(k, slow), part(k, fast))
			fastest = max(fastest, sum)
		}
	}
	return fastest
}

// slope bounds the speed at which ln(1-C) rises.
func (b circleBox) slope() float64 {
	var low, high [3]float64
	for i := range 3 {
		low[i], high[i] = b.density(i, false), b.density(i, true)
	}
	return b.fastest(low, high) / (1 - min(b.most(), 3.0/16)) // Theorem 5
}

// opens bounds Σ ρ_i max(v_i, 0), the speed at which comparisons that close the circle are turned so that they open it.
func (b circleBox) opens() float64 {
	var high [3]float64
	for i := range 3 {
		high[i] = b.density(i, true)
	}
	return b.fastest([3]float64{}, high)
}

// circlesOf returns bounds for candidates of these sensitivities in ascending order: of the probability that nobody beats all others, and of the slope. For more than three
// candidates the former is the sum over all triples, or where that is less over all sets of four, divided by n-3; the latter the sum of the speeds at which circles
// of three open, over the least probability that somebody does beat all others.
func circlesOf(deltas []float64) circles {
	known := map[[3]float64]circles{}
	triple := func(a, b, c float64) circles { // descending
		if a == c { // all three equal: comparisons at one scale do not run in circles
			return circles{}
		}
		allow, speed := circleAllow, circleBox.slope
		if len(deltas) > 3 {
			allow, speed = circleAllowMany, circleBox.opens
		}
		key := [3]float64{1, b / a, c / a} // bounds depend on quotients alone
		t, ok := known[key]
		if !ok {
			t = newCircles([3]float64{key[0] + key[1], key[1] + key[2], key[2] + key[0]}, allow, speed)
			t.most = min(t.most, 3.0/16) // Theorem 5
			known[key] = t
		}
		return t
	}
	out := circles{}
	for i, a := range deltas {
		for j, b := range deltas[:i] {
			for _, c := range deltas[:j] {
				t := triple(a, b, c)
				out.most += t.most
				out.slope += t.slope
			}
		}
	}
	out.most = min(out.most, fours(deltas, triple), 1)
	if len(deltas) > 3 {
		out.slope /= max(0, 1-out.most)
		out.slope *= 1 + circleMargin // for the sums
	}
	if deltas[1] == 0 || !(out.slope < 1) { // with two public candidates the leads need not satisfy Σ w_xy g_xy = 0
		out.slope = 1
	}
	return out
}

// fours returns the sum over all sets of four, divided by n-3; or 1 where there are too many different ones.
func fours(deltas []float64, triple func(a, b, c float64) circles) float64 {
	n := len(deltas)
	if n < 4 || n > fourMany {
		return 1
	}
	var sets [][4]float64
	for set := range 1 << n {
		if bits.OnesCount(uint(set)) != 4 {
			continue
		}
		var four [4]float64
		for i, at := 0, 0; i < n; i++ {
			if set>>i&1 == 1 {
				four[at] = deltas[i]
				at++
			}
		}
		for i, largest := 0, four[3]; i < 4; i++ {
			four[i] /= largest
		}
		sets = append(sets, four)
	}
	bounds := map[[4]float64]float64{}
	for _, four := range sets {
		bounds[four] = 0 // of equal ones
	}
	if len(bounds) > fourSets {
		return 1
	}
	for four := range bounds {
		if four[0] < 1 {
			c := circlesOfFour{deltas: four}
			for other := range 4 {
				rest := slices.Delete(slices.Clone(four[:]), other, other+1)
				c.triples[other] = triple(rest[2], rest[1], rest[0])
			}
			bounds[four] = c.bound()
		}
	}
	sum := 0.0
	for _, four := range sets {
		sum += bounds[four]
	}
	return sum / float64(n-3) * (1 + circleMargin)
}

// distinct returns how many different numbers there are.
func distinct(sorted []float64) int { return len(slices.Compact(slices.Clone(sorted))) }
