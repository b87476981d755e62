package optimum

import (
	"context"
	"fmt"
	"slices"
)

// colours divides the cells of a problem, inputs times outputs, and with them its inputs, so that the mean of a private mechanism over each class is private and no
// worse: into the coarsest equitable partition, which colour refinement finds (Grohe, Kersting, Mladenov & Selman, Dimension reduction via colour refinement, ESA 2014).
// Symmetries of the problem take no cell out of its class. The result numbers the class of each input and output.
func (q *program) colours(ctx context.Context) [][]int32 {
	if q.delta.Sign() == 0 && len(q.distances) > 0 && q.distances[0].Sign() == 0 {
		return q.apart() // inputs at distance 0 are tied cell by cell
	}
	looks := q.looks()
	colour := make([][]int32, len(looks))
	for x := range looks {
		colour[x] = slices.Clone(looks[x])
	}
	for count := 0; ; {
		next := q.refined(colour)
		if next == count {
			break
		}
		count = next
		if ctx.Err() != nil {
			return q.apart()
		}
	}
	if !q.equitable(looks, colour) {
		return q.apart()
	}
	return colour
}

// looks numbers the cells by loss, weight of the input, and whether they are forbidden.
func (q *program) looks() [][]int32 {
	p := q.problem
	ids, out := map[string]int32{}, make([][]int32, len(p.Inputs))
	for x, row := range p.Loss {
		for o, l := range row {
			text := l.RatString()
			if p.Prior != nil {
				text += " " + p.Prior[x].RatString()
			}
			if p.forbidden(x, o) {
				text += " forbidden"
			}
			out[x] = append(out[x], numbered(ids, text))
		}
	}
	return out
}

// numbered returns the number of a key: the next one where it is new.
func numbered[K comparable](ids map[K]int32, key K) int32 {
	id, known := ids[key]
	if !known {
		id = int32(len(ids))
		ids[key] = id
	}
	return id
}

// apart has a class for each cell.
func (q *program) apart() [][]int32 {
	n, m := len(q.problem.Inputs), len(q.problem.Outputs)
	colour := make([][]int32, n)
	for j := range n * m {
		colour[j/m] = append(colour[j/m], int32(j))
	}
	return colour
}

// scramble returns a number that depends on all bits of both.
func scramble(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// refined divides colours by those of the same input's cells and those that arcs lead to, and returns how many there are now. Classes that look the same only by chance,
// as sums of scrambled numbers are equal, are found out by equitable.
func (q *program) refined(colour [][]int32) int {
	sign := make([][]uint64, len(colour))
	for x, row := range colour {
		all := uint64(0)
		for _, c := range row {
			all += scramble(1, uint64(c))
		}
		for _, c := range row {
			sign[x] = append(sign[x], scramble(all, uint64(c)))
		}
	}
	for _, a := range q.arcs {
		above, below := colour[a.above], colour[a.below]
		kind := scramble(2, uint64(a.distance))
		if q.delta.Sign() > 0 { // events are about all outputs together
			for o := range above {
				kind += scramble(scramble(3, uint64(above[o])), uint64(below[o]))
			}
		}
		for o := range above {
			sign[a.above][o] += scramble(kind, uint64(below[o]))
			sign[a.below][o] += scramble(^kind, uint64(above[o]))
		}
	}
	ids := map[uint64]int32{}
	for x, row := range sign {
		for o, s := range row {
			colour[x][o] = numbered(ids, s)
		}
	}
	return len(ids)
}

// equitable reports whether all cells of a colour look the same and have as many cells of each colour beside them, at the same input and across arcs of each kind.
func (q *program) equitable(looks, colour [][]int32) bool {
	type side struct{ input, kind int32 }
	size, beside := map[int32]int{}, make([][]side, len(colour))
	for _, row := range colour {
		for _, c := range row {
			size[c]++
		}
	}
	for i, kind := range q.kinds(colour) {
		a := q.arcs[i]
		beside[a.above] = append(beside[a.above], side{int32(a.below), 2 * kind})
		beside[a.below] = append(beside[a.below], side{int32(a.above), 2*kind + 1})
	}
	rows, across := map[int32][]int32{}, map[int32][]uint64{} // of the first cell of each colour
	var own []uint64
	for x, row := range colour {
		sorted := slices.Sorted(slices.Values(row))
		for o, c := range row {
			if size[c] == 1 {
				continue
			}
			own = own[:0]
			for _, b := range beside[x] {
				own = append(own, uint64(b.kind)<<32|uint64(colour[b.input][o]))
			}
			slices.Sort(own)
			own = append(own, uint64(looks[x][o]))
			if rows[c] == nil {
				rows[c], across[c] = sorted, slices.Clone(own)
			} else if !slices.Equal(rows[c], sorted) || !slices.Equal(across[c], own) {
				return false
			}
		}
	}
	return true
}

// kinds numbers the arcs by distance and, where δ > 0, by the colours of the outputs at both ends.
func (q *program) kinds(colour [][]int32) []int32 {
	ids, kinds := map[string]int32{}, make([]int32, len(q.arcs))
	for i, a := range q.arcs {
		if kinds[i] = int32(a.distance); q.delta.Sign() == 0 {
			continue
		}
		kinds[i] = numbered(ids, fmt.Sprint(q.ends(a, colour)))
	}
	return kinds
}
