package mechanisms

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"
)

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

// envelope is the upper convex hull of the points (Δ_b, q_b) of the classes of candidates. It has the same vertices as that of
// (Δ_b, u_b), u = scale·q - slope·Δ, whatever the slope and the scale > 0.
//
// (u_a - u_b)/(Δ_a + Δ_b) is minus the slope of the line from (-Δ_a, u_a) to (Δ_b, u_b). The first point lies left of
// all the others, so the steepest line touches the hull, at a vertex that binary search finds because slopes along the hull rise up to it and fall afterwards.
type envelope struct {
	classes []candidate
	exact   bool // whether it is proved to be the hull, and not that of rounded points
	hull    []int
	q, d    []float64 // of the classes, less some number, rounded
}

func newEnvelope(classes []candidate, q, d []float64, exact bool) *envelope {
	e := &envelope{classes: classes, exact: exact, q: q, d: d}
	order := everyone(len(classes))
	slices.SortFunc(order, func(i, j int) int {
		if d[i] != d[j] || !exact { // rounding keeps the order
			return cmp.Or(cmp.Compare(d[i], d[j]), cmp.Compare(q[j], q[i]))
		}
		return cmp.Or(classes[i].d.Cmp(classes[j].d), classes[j].q.Cmp(classes[i].q))
	})
	above := func(i, j int) bool { return d[i] == d[j] && (!exact || classes[i].d.Cmp(classes[j].d) == 0) }
	e.hull = upperHull(order, above, e.rightTurn)
	return e
}

// exactEnvelope is newEnvelope from the classes alone.
func exactEnvelope(classes []candidate) *envelope {
	q, d := make([]float64, len(classes)), make([]float64, len(classes))
	for i, x := range classes {
		q[i], _ = x.q.Float64()
		d[i], _ = x.d.Float64()
	}
	return newEnvelope(classes, q, d, true)
}

// rightTurn reports whether the line from i to j is steeper than that from j to k, which lies to the right. With the largest |q| and d of the three at most
// Q and D, each product in float64 is off by less than 2^-49 QD.
func (e *envelope) rightTurn(i, j, k int) bool {
	left, right := float64((e.q[j]-e.q[i])*(e.d[k]-e.d[j])), float64((e.q[k]-e.q[j])*(e.d[j]-e.d[i]))
	most := max(math.Abs(e.q[i]), math.Abs(e.q[j]), math.Abs(e.q[k])) * e.d[k]
	if !e.exact || most < math.MaxFloat64 && math.Abs(left-right) > float64(0x1p-47*most)+0x1p-900 {
		return left > right
	}
	steepness := func(i, j int) *big.Rat {
		rise, run := new(big.Rat).Sub(e.classes[j].q, e.classes[i].q), new(big.Rat).Sub(e.classes[j].d, e.classes[i].d)
		return rise.Quo(rise, run)
	}
	return steepness(i, j).Cmp(steepness(j, k)) > 0
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
		if e.classes[a].q.Cmp(e.classes[hull[0]].q) < 0 {
			return nil, true
		}
		hull = hull[1:] // without sensitivity, a is as good as its first vertex
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
