package linear

import (
	"math"
	"slices"
)

// kernel is the part of a matrix that no triangular permutation reaches, under
// elimination. Columns carry values, rows only patterns.
type kernel struct {
	e      *elimination
	colIdx [][]int32
	colVal [][]float64
	rowIdx [][]int32
	size   []float64 // largest original entry of a column
	queue  [][]int32 // columns by the number of entries left; one whose number has changed since is in another list, too
	least  int       // no column has fewer entries
	mult   []float64 // multipliers of the current step by row
	touch  []bool
}

// kernel eliminates what the peeling left. Columns that turn out dependent stay without a pivot.
func (e *elimination) kernel() {
	n := e.n
	k := &kernel{
		e: e, colIdx: make([][]int32, n), colVal: make([][]float64, n), rowIdx: make([][]int32, n),
		size: make([]float64, n), queue: make([][]int32, n+1), mult: make([]float64, n), touch: make([]bool, n),
	}
	for j := range int32(n) {
		if e.rowOf[j] >= 0 {
			continue
		}
		e.upper(j)
		k.size[j] = maxAbs(e.value[e.start[j]:e.start[j+1]])
		for p := e.start[j]; p < e.start[j+1]; p++ {
			if i := e.index[p]; e.value[p] != 0 && e.colOf[i] < 0 {
				k.colIdx[j] = append(k.colIdx[j], i)
				k.colVal[j] = append(k.colVal[j], e.value[p])
				k.rowIdx[i] = append(k.rowIdx[i], j)
			}
		}
		k.enqueue(j)
	}
	for k.least = 1; k.least <= n; {
		last := len(k.queue[k.least]) - 1
		if last < 0 {
			k.least++
			continue
		}
		j := k.queue[k.least][last]
		k.queue[k.least] = k.queue[k.least][:last]
		if e.rowOf[j] < 0 && len(k.colIdx[j]) == k.least {
			k.pivot(j)
		}
	}
}

// enqueue lists a column by the number of its entries.
func (k *kernel) enqueue(j int32) {
	count := len(k.colIdx[j])
	k.queue[count] = append(k.queue[count], j)
	k.least = min(k.least, max(count, 1))
}

// pivot eliminates on a column: on that of its large entries which has the fewest others in its row. A column that is numerically zero is left out.
func (k *kernel) pivot(j int32) {
	big := maxAbs(k.colVal[j])
	if big <= pivotRelative*k.size[j] {
		for _, i := range k.colIdx[j] {
			k.dropFromRow(i, j)
		}
		k.colIdx[j], k.colVal[j] = nil, nil
		return
	}
	best := int32(-1)
	for p, i := range k.colIdx[j] {
		if math.Abs(k.colVal[j][p]) >= pivotThreshold*big && (best < 0 || len(k.rowIdx[i]) < len(k.rowIdx[best])) {
			best = i
		}
	}
	k.eliminate(best, j)
}

func (k *kernel) dropFromRow(i, j int32) {
	row := k.rowIdx[i]
	last := len(row) - 1
	row[slices.Index(row, j)] = row[last]
	k.rowIdx[i] = row[:last]
}

// eliminate pivots on (i, j) and updates the remaining columns.
func (k *kernel) eliminate(i, j int32) {
	e := k.e
	d := k.colVal[j][slices.Index(k.colIdx[j], i)]
	e.pivot(i, j, d)
	pattern := make([]int32, 0, len(k.colIdx[j]))
	for p, r := range k.colIdx[j] {
		if r == i {
			continue
		}
		m := k.colVal[j][p] / d
		e.lRow = append(e.lRow, r)
		e.lPivot = append(e.lPivot, i)
		e.lValue = append(e.lValue, m)
		k.mult[r] = m
		pattern = append(pattern, r)
		k.dropFromRow(r, j)
	}
	k.colIdx[j], k.colVal[j] = nil, nil
	for _, c := range k.rowIdx[i] {
		if c != j {
			k.update(i, c, pattern)
		}
	}
	k.rowIdx[i] = nil
	for _, r := range pattern {
		k.mult[r] = 0
	}
}

// update moves entry (i, c) to U and subtracts its multiples from column c.
func (k *kernel) update(i, c int32, pattern []int32) {
	e, idx, val := k.e, k.colIdx[c], k.colVal[c]
	p, last := slices.Index(idx, i), len(idx)-1
	u := val[p]
	idx[p], val[p] = idx[last], val[last]
	idx, val = idx[:last], val[:last]
	e.uRow = append(e.uRow, i)
	e.uCol = append(e.uCol, c)
	e.uValue = append(e.uValue, u)
	kept := 0
	tiny := 1e-16 * k.size[c]
	for p, r := range idx {
		v := val[p]
		if m := k.mult[r]; m != 0 {
			v -= float64(m * u)
			k.touch[r] = true
			if math.Abs(v) <= tiny {
				k.dropFromRow(r, c)
				continue
			}
		}
		idx[kept], val[kept] = r, v
		kept++
	}
	idx, val = idx[:kept], val[:kept]
	for _, r := range pattern {
		if k.touch[r] {
			k.touch[r] = false
			continue
		}
		v := -k.mult[r] * u
		if math.Abs(v) <= tiny {
			continue
		}
		idx, val = append(idx, r), append(val, v)
		k.rowIdx[r] = append(k.rowIdx[r], c)
	}
	k.colIdx[c], k.colVal[c] = idx, val
	k.enqueue(c)
}
