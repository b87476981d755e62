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
	top    []float64 // largest entry of a column now
	byCol  buckets   // columns by entries left
	byRow  buckets
	mult   []float64 // multipliers of the current step by row
	touch  []bool
}

// buckets are doubly linked lists of items by count.
type buckets struct {
	head, next, prev []int32
	count            []int32 // -1: not in a list
	least            int
}

func newBuckets(n int) buckets {
	b := buckets{head: make([]int32, n+1), next: make([]int32, n), prev: make([]int32, n), count: make([]int32, n)}
	for i := range b.head {
		b.head[i] = -1
	}
	for i := range b.count {
		b.count[i] = -1
	}
	return b
}

// move puts item i into the list of the given count; a negative count only takes it out.
func (b *buckets) move(i int32, count int) {
	if c := b.count[i]; c >= 0 {
		if p := b.prev[i]; p >= 0 {
			b.next[p] = b.next[i]
		} else {
			b.head[c] = b.next[i]
		}
		if q := b.next[i]; q >= 0 {
			b.prev[q] = b.prev[i]
		}
	}
	b.count[i] = int32(count)
	if count < 0 {
		return
	}
	b.prev[i], b.next[i] = -1, b.head[count]
	if q := b.head[count]; q >= 0 {
		b.prev[q] = i
	}
	b.head[count] = i
	b.least = min(b.least, count)
}

// kernel eliminates what the peeling left. Columns that turn out dependent stay without a pivot.
func (e *elimination) kernel() {
	n := e.n
	k := &kernel{
		e: e, colIdx: make([][]int32, n), colVal: make([][]float64, n), rowIdx: make([][]int32, n),
		size: make([]float64, n), top: make([]float64, n), byCol: newBuckets(n), byRow: newBuckets(n),
		mult: make([]float64, n), touch: make([]bool, n),
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
	}
	for j := range int32(n) {
		if e.rowOf[j] < 0 && len(k.colIdx[j]) > 0 {
			k.top[j] = maxAbs(k.colVal[j])
			k.byCol.move(j, len(k.colIdx[j]))
		}
		if e.colOf[j] < 0 && len(k.rowIdx[j]) > 0 {
			k.byRow.move(j, len(k.rowIdx[j]))
		}
	}
	for {
		i, j, ok := k.choose()
		if !ok {
			break
		}
		k.eliminate(i, j)
	}
}

// search is the state of looking for a pivot: the best entry so far, its Markowitz cost (r-1)(c-1) for r entries in its row and c in
// its column, and how many rows and columns were looked at.
type search struct {
	row, col int32
	cost     float64
	found    bool
	looked   int
}

func (s *search) offer(row, col int32, cost float64) {
	s.row, s.col, s.cost, s.found = row, col, cost, true
}

// enough counts a row or column that was looked at, and reports whether no more need be.
func (s *search) enough() bool {
	s.looked++
	return s.found && s.looked >= pivotSearch
}

// choose finds a pivot of small Markowitz cost among those large enough in their column. Columns and rows with few entries come
// first: an entry of a column with count entries costs at least (count-1)² where no row has fewer.
func (k *kernel) choose() (row, col int32, ok bool) {
	s := &search{cost: math.Inf(1)}
	n := len(k.byCol.head) - 1
	for count := min(k.byCol.first(n), k.byRow.first(n)); count <= n; count++ {
		c := float64(count)
		if s.found && s.cost <= (c-1)*(c-1) || k.searchColumns(s, count) {
			break
		}
		if s.found && s.cost <= (c-1)*c || k.searchRows(s, count) {
			break
		}
	}
	return s.row, s.col, s.found
}

// first returns the least count, from 1 to n, of which there may be an item.
func (b *buckets) first(n int) int {
	b.least = max(b.least, 1)
	for b.least < n && b.head[b.least] < 0 {
		b.least++
	}
	return b.least
}

// searchColumns looks at the columns with count entries and reports whether the search has seen enough. Columns
// without an entry large enough are taken out for good.
func (k *kernel) searchColumns(s *search, count int) (enough bool) {
	for j := k.byCol.head[count]; j >= 0; {
		following := k.byCol.next[j]
		big := k.top[j]
		if big <= pivotRelative*k.size[j] {
			k.discard(j)
			j = following
			continue
		}
		for p, i := range k.colIdx[j] {
			if math.Abs(k.colVal[j][p]) < pivotThreshold*big {
				continue
			}
			if cost := float64(count-1) * float64(len(k.rowIdx[i])-1); cost < s.cost {
				s.offer(i, j, cost)
			}
		}
		if s.enough() {
			return true
		}
		j = following
	}
	return false
}

// searchRows looks at the rows with count entries and reports whether the search has seen enough. Rows without an entry large enough in its
// column are not looked at again before their pattern changes; their columns are.
func (k *kernel) searchRows(s *search, count int) (enough bool) {
	for i := k.byRow.head[count]; i >= 0; {
		following := k.byRow.next[i]
		fit := false
		for _, j := range k.rowIdx[i] {
			cost := float64(count-1) * float64(len(k.colIdx[j])-1)
			if fit && cost >= s.cost || !k.stable(i, j) {
				continue
			}
			if fit = true; cost < s.cost {
				s.offer(i, j, cost)
			}
		}
		if !fit {
			k.byRow.move(i, -1)
		}
		if s.enough() {
			return true
		}
		i = following
	}
	return false
}

// stable reports whether entry (i, j) is large enough in its column for a pivot.
func (k *kernel) stable(i, j int32) bool {
	v := math.Abs(k.colVal[j][slices.Index(k.colIdx[j], i)])
	return v >= pivotThreshold*k.top[j] && v > pivotRelative*k.size[j]
}

// discard takes a column that is numerically zero out of the kernel.
func (k *kernel) discard(j int32) {
	for _, i := range k.colIdx[j] {
		k.dropFromRow(i, j)
	}
	k.colIdx[j], k.colVal[j] = nil, nil
	k.byCol.move(j, -1)
}

func (k *kernel) dropFromRow(i, j int32) {
	row := k.rowIdx[i]
	last := len(row) - 1
	row[slices.Index(row, j)] = row[last]
	k.rowIdx[i] = row[:last]
	if len(k.rowIdx[i]) == 0 {
		k.byRow.move(i, -1)
	} else {
		k.byRow.move(i, len(k.rowIdx[i]))
	}
}

// eliminate pivots on (i, j) and updates the remaining columns.
func (k *kernel) eliminate(i, j int32) {
	e := k.e
	d := k.colVal[j][slices.Index(k.colIdx[j], i)]
	e.pivot(i, j, d)
	k.byCol.move(j, -1)
	k.byRow.move(i, -1)
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
		k.byRow.move(r, len(k.rowIdx[r]))
	}
	k.colIdx[c], k.colVal[c], k.top[c] = idx, val, maxAbs(val)
	if len(idx) == 0 {
		k.byCol.move(c, -1)
	} else {
		k.byCol.move(c, len(idx))
	}
}
