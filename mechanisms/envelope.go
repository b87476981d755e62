package mechanisms

import (
	"cmp"
	"math"
	"slices"
)

// normalisedScores returns min_b [(u_a - u_b)/(Δ_a + Δ_b)], u = scale·q - slope·Δ, for every candidate a in
// O(n log n).
//
// The quotient is minus the slope of the line from (-Δ_a, u_a) to (Δ_b, u_b). The first point lies left of
// all the others, so the steepest line touches the upper convex hull of the points (Δ_b, u_b), at a vertex
// that binary search finds because slopes along the hull rise up to it and fall afterwards.
// Points with Δ = 0 are compared to candidates with Δ_a = 0 apart, by score alone.
//
// Rounding may move the hull and the search by a vertex whose value differs by rounding; the
// value is computed from differences of scores and of sensitivities, as the formula says.
func normalisedScores(in *FloatInstance, scale, slope float64) []float64 {
	n := len(in.Scores)
	d, u := make([]float64, n), make([]float64, n)
	order := make([]int, n)
	bestFixed := math.Inf(-1) // the best score without sensitivity
	for i, q := range in.Scores {
		d[i] = in.sensitivity(i)
		u[i] = scale*q - slope*d[i]
		order[i] = i
		if d[i] == 0 {
			bestFixed = max(bestFixed, q)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(d[i], d[j]), cmp.Compare(u[j], u[i])) })
	var hull []int
	for k, i := range order {
		if k > 0 && d[order[k-1]] == d[i] {
			continue // below a point of the same sensitivity
		}
		for len(hull) > 1 && !rightTurn(d, u, hull[len(hull)-2], hull[len(hull)-1], i) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, i)
	}
	value := func(a, b int) float64 {
		sum := d[a] + d[b]
		if sum == 0 {
			return 0 // the best of both has the value 0, the others are dealt with below
		}
		return (scale*(in.Scores[a]-in.Scores[b]) - slope*(d[a]-d[b])) / sum
	}
	out := make([]float64, n)
	for a := range out {
		if d[a] == 0 && in.Scores[a] < bestFixed {
			out[a] = math.Inf(-1)
			continue
		}
		first := 0
		if d[a] == 0 && d[hull[0]] == 0 {
			first = 1
		}
		lo, hi := first, len(hull)-1 // the minimum is at lo..hi
		for lo < hi {
			middle := (lo + hi) / 2
			if value(a, hull[middle+1]) < value(a, hull[middle]) {
				lo = middle + 1
			} else {
				hi = middle
			}
		}
		for h := max(first, lo-2); h <= min(len(hull)-1, lo+2); h++ {
			out[a] = min(out[a], value(a, hull[h]))
		}
	}
	return out
}

// rightTurn reports whether the path through the points i, j, k turns clockwise at j.
func rightTurn(d, u []float64, i, j, k int) bool {
	return (u[j]-u[i])*(d[k]-d[j]) > (u[k]-u[j])*(d[j]-d[i])
}
