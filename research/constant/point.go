package constant

import "math"

// Point is the dual point
//
//	y(q) = Y[τ][min(I, k-D)],
//
// D being the greatest depth of q and τ the depths of its second to S-th best candidate, cut at J, which also stands for candidates that are not there; y = 0 where the second
// best is at J or below. Tops τ are in the lexicographic order of tops.
type Point struct {
	S, J, I int
	// Most is the largest n that the point is for, 0 if it is for all.
	Most int
	Y    [][]float64
}

// tops lists the nondecreasing sequences of length l of the numbers 0 to j.
func tops(l, j int) (list [][]int) {
	var extend func(head []int)
	extend = func(head []int) {
		if len(head) == l {
			list = append(list, head)
			return
		}
		from := 0
		if len(head) > 0 {
			from = head[len(head)-1]
		}
		for v := from; v <= j; v++ {
			extend(append(head[:len(head):len(head)], v))
		}
	}
	extend(nil)
	return list
}

// term is one kind of score vector with a top: (n)_c / weight ways to choose the top, and x^{n-c} for the others at depths above cut, x = d - cut, if no depth is above d.
type term struct {
	chosen, cut int
	weight      float64
}

// mostTied bounds how many candidates beyond the s-th may share its depth; vectors with more are left out, which makes a point's value smaller.
const mostTied = 12

// terms lists the kinds of score vectors with a top.
func terms(top []int, j int) (list []term) {
	last := top[len(top)-1]
	weight, best, run, above := 1.0, 1, 0, 1 // above counts the candidates above last
	for i, v := range top {
		if v < last || last == j && v < j {
			above++
		}
		if v == 0 {
			best++
			continue
		}
		if i > 0 && top[i-1] == v {
			run++
		} else {
			run = 1
		}
		if v < last {
			weight *= float64(run)
		}
	}
	if last == 0 {
		above = 0
	} else {
		for i := 2; i <= best; i++ {
			weight *= float64(i)
		}
	}
	if last == j {
		return []term{{above, j - 1, weight}}
	}
	for m := 1; m <= len(top)+1-above+mostTied; m++ {
		weight *= float64(m)
		if m >= len(top)+1-above {
			list = append(list, term{above + m, last, weight})
		}
	}
	return list
}

// target is an n, which need not be whole, and a k at which the value of a point is asked for; for an infinite k n/k tends to mu. Values are divided by n(n-1)k^(n-2).
type target struct{ n, k, mu float64 }

// count is the number of vectors of a kind with the greatest depth k - r, or with last those with at most that depth.
func (t target) count(e term, r int, last bool) float64 {
	c := float64(r + e.cut)
	if math.IsInf(t.k, 1) {
		x := math.Pow(t.mu, float64(e.chosen-2)) * math.Exp(-t.mu*c) / e.weight
		if last {
			return x
		}
		return x * -math.Expm1(-t.mu)
	}
	others := t.n - float64(e.chosen)
	if others < 0 {
		return 0
	}
	x := 1 / e.weight
	for i := 2; i < e.chosen; i++ {
		x *= (t.n - float64(i)) / t.k
	}
	at := max(0, t.k-c)
	all := math.Pow(at/t.k, others)
	if !last {
		all -= math.Pow(max(0, at-1)/t.k, others)
	}
	return x * all
}

// weights returns by how much a point's value grows with each of its numbers.
func (p *Point) weights(t target) [][]float64 {
	var w [][]float64
	for _, top := range tops(p.S-1, p.J) {
		row := make([]float64, p.I+1)
		if top[0] < p.J {
			for _, e := range terms(top, p.J) {
				for r := range row {
					row[r] += t.count(e, r, r == p.I)
				}
			}
		}
		w = append(w, row)
	}
	return w
}
