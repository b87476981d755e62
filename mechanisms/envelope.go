package mechanisms

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"
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
func normalisedScores(in *floatInstance, scale, slope float64) []float64 {
	n := len(in.Scores)
	d, u := make([]float64, n), make([]float64, n)
	order := make([]int, n)
	bestFixed := math.Inf(-1) // the best score without sensitivity
	for i, q := range in.Scores {
		d[i] = in.sensitivity(i)
		u[i] = float64(scale*q) - float64(slope*d[i])
		order[i] = i
		if d[i] == 0 {
			bestFixed = max(bestFixed, q)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(d[i], d[j]), cmp.Compare(u[j], u[i])) })
	hull := upperHull(order, func(i, j int) bool { return d[i] == d[j] },
		func(i, j, k int) bool { return (u[j]-u[i])*(d[k]-d[j]) > (u[k]-u[j])*(d[j]-d[i]) })
	value := func(a, b int) float64 {
		sum := d[a] + d[b]
		if sum == 0 {
			return 0 // the best of both has the value 0, the others are dealt with below
		}
		return (float64(scale*(in.Scores[a]-in.Scores[b])) - float64(slope*(d[a]-d[b]))) / sum
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
		lo := first + sort.Search(len(hull)-1-first, func(h int) bool { return value(a, hull[first+h+1]) >= value(a, hull[first+h]) })
		for h := max(first, lo-2); h <= min(len(hull)-1, lo+2); h++ {
			out[a] = min(out[a], value(a, hull[h]))
		}
	}
	return out
}

// upperHull returns the vertices of the upper convex hull of points from left to right, given in that order and the highest one first
// among those above each other. It leaves out points on the edges.
func upperHull(order []int, above func(i, j int) bool, rightTurn func(i, j, k int) bool) (hull []int) {
	for n, i := range order {
		if n > 0 && above(order[n-1], i) {
			continue
		}
		for len(hull) > 1 && !rightTurn(hull[len(hull)-2], hull[len(hull)-1], i) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, i)
	}
	return hull
}

// envelope is the upper convex hull of the points (Δ_b, q_b) of the classes of candidates, which is exact. It has the same vertices as that of
// (Δ_b, u_b), u = scale·q - slope·Δ, whatever the slope and the scale > 0.
type envelope struct {
	classes []candidate
	hull    []int
	q, d    []float64 // of the classes, rounded
}

func newEnvelope(classes []candidate) *envelope {
	e := &envelope{classes: classes}
	order := make([]int, len(classes))
	for i, c := range classes {
		order[i] = i
		q, _ := c.q.Float64()
		d, _ := c.d.Float64()
		e.q, e.d = append(e.q, q), append(e.d, d)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(classes[i].d.Cmp(classes[j].d), classes[j].q.Cmp(classes[i].q)) })
	steepness := func(i, j int) *big.Rat {
		rise, run := new(big.Rat).Sub(classes[j].q, classes[i].q), new(big.Rat).Sub(classes[j].d, classes[i].d)
		return rise.Quo(rise, run)
	}
	e.hull = upperHull(order, func(i, j int) bool { return classes[i].d.Cmp(classes[j].d) == 0 },
		func(i, j, k int) bool { return steepness(i, j).Cmp(steepness(j, k)) > 0 })
	return e
}

// minima returns classes b among which (u_a - u_b)/(Δ_a + Δ_b) is least, beside the 0 of b = a; never where a class without sensitivity has a better
// score than a, which has none either. Proved tells which of the classes left and right is the better one for a, if it can: -1 for
// the left one. It decides; scale and slope are for proposals in float64.
//
// The values along the hull fall strictly up to the minimum, which at most two vertices share, and rise strictly afterwards. So
// everything left of an edge along which they are proved to fall is out, and everything right of one along which they rise.
func (e *envelope) minima(a int, scale, slope float64, proved func(a, left, right int) (better int, ok bool)) (b []int, never bool) {
	hull := e.hull
	if e.classes[a].d.Sign() == 0 {
		if a != hull[0] {
			return nil, true
		}
		hull = hull[1:] // without sensitivity, a is its first vertex
	}
	if len(hull) == 0 {
		return nil, false
	}
	value := func(b int) float64 {
		return (float64(scale*(e.q[a]-e.q[b])) - float64(slope*(e.d[a]-e.d[b]))) / (e.d[a] + e.d[b])
	}
	stays := func(h int) bool { // not proved to fall from vertex h to the next one
		better, ok := proved(a, hull[h], hull[h+1])
		return !ok || better <= 0
	}
	last := len(hull) - 1
	from := sort.Search(last, func(h int) bool { return value(hull[h+1]) >= value(hull[h]) })
	if from > 0 && stays(from-1) || from < last && !stays(from) {
		from = sort.Search(last, stays)
	}
	to := from
	for to < last {
		if better, ok := proved(a, hull[to], hull[to+1]); ok && better < 0 {
			break
		}
		to++
	}
	return hull[from : to+1], false
}
