package linear

import (
	"math"
	"slices"
)

// LU is a sparse factorisation B = L U of a square matrix up to row and
// column permutations, with Forrest–Tomlin updates for replaced columns.
//
// Pivots are named by their row. L has unit diagonal; column r of L holds the
// multipliers of the elimination step that pivoted on row r, row i of L the same numbers
// by row. U is kept by columns and by rows, its diagonal apart. Both storages of both factors exist so
// that every solve can follow the sparsity of its right-hand side.
//
// An LU is not safe for concurrent use: its solves share work space.
//
// Sources: Suhl & Suhl, "Computing sparse LU factorizations for large-scale linear programming
// bases" (ORSA J. Computing 2, 1990); Forrest & Tomlin, "Updated triangular factors of
// the basis to maintain sparsity in the product form simplex method" (Math. Programming 2, 1972).
type LU struct {
	n     int
	colOf []int32 // row of a pivot -> its column, at the time of the factorisation

	lower, lowerT triangle // L by columns and by rows, without the diagonal
	lowerOrder    []int32  // pivot rows in the order of elimination
	lowerPlace    []int32  // pivot row -> its place there

	diag  []float64 // diagonal of U, by pivot row
	cols  triangle  // U by columns: cols of pivot r lists the rows above
	rows  triangle  // U by rows: row r lists the pivots to the right
	order []int32   // pivot rows in the triangular order of U; -1 where an update moved the pivot to the end
	place []int32   // pivot row -> its place in order

	// Row transformations of the updates: row etaRow[t] loses its product with the entries
	// etaStart[t]:etaStart[t+1].
	etaRow   []int32
	etaStart []int32
	etaIndex []int32
	etaValue []float64

	drop   float64 // entries of this size or less are set to zero by the sparse solves
	spike  sparse  // L⁻¹ a of the column that an update will bring in
	unit   sparse  // U⁻ᵀ e of the pivot that an update will replace
	whole  sparse  // a right-hand side whose entries are not listed beforehand
	factor int     // entries of L and U after the factorisation
}

// triangle stores lists of (index, value) per pivot row in one arena.
type triangle struct {
	begin, end, limit []int32
	index             []int32
	value             []float64
}

func (t *triangle) at(r int32) ([]int32, []float64) {
	b, e := t.begin[r], t.end[r]
	return t.index[b:e], t.value[b:e]
}

// remove deletes index i from list r; it must be there.
func (t *triangle) remove(r, i int32) {
	b, e := t.begin[r], t.end[r]
	for p := b; p < e; p++ {
		if t.index[p] == i {
			e--
			t.index[p], t.value[p] = t.index[e], t.value[e]
			t.end[r] = e
			return
		}
	}
	panic("linear: entry missing from its triangle")
}

// insert adds (i, v) to list r, moving the list to the end of the arena when it is full.
func (t *triangle) insert(r, i int32, v float64) {
	if t.end[r] == t.limit[r] {
		b, e := t.begin[r], t.end[r]
		size := e - b
		t.begin[r] = int32(len(t.index))
		t.index = append(t.index, t.index[b:e]...)
		t.value = append(t.value, t.value[b:e]...)
		t.end[r] = t.begin[r] + size
		for range size + 4 {
			t.index = append(t.index, 0)
			t.value = append(t.value, 0)
		}
		t.limit[r] = int32(len(t.index))
	}
	p := t.end[r]
	t.index[p], t.value[p] = i, v
	t.end[r]++
}

// replace gives list r new room of the given size at the end of the arena, empty.
func (t *triangle) replace(r int32, size int) {
	t.begin[r] = int32(len(t.index))
	t.end[r] = t.begin[r]
	for range size {
		t.index = append(t.index, 0)
		t.value = append(t.value, 0)
	}
	t.limit[r] = int32(len(t.index))
}

// newTriangle sorts triplets into lists by key; index and key are pivot rows.
func newTriangle(n int, key, index []int32, value []float64) triangle {
	t := triangle{
		begin: make([]int32, n), end: make([]int32, n), limit: make([]int32, n),
		index: make([]int32, len(index)), value: make([]float64, len(value)),
	}
	for _, k := range key {
		t.limit[k]++
	}
	sum := int32(0)
	for r := range t.limit {
		t.begin[r], t.end[r] = sum, sum
		sum += t.limit[r]
		t.limit[r] = sum
	}
	for p, k := range key {
		q := t.end[k]
		t.index[q], t.value[q] = index[p], value[p]
		t.end[k]++
	}
	return t
}

// Singular says what a matrix lacks: replacing the k-th of the dependent
// columns by the unit column of the k-th of the uncovered rows gives a matrix that is
// not singular.
type Singular struct {
	Cols []int // dependent columns
	Rows []int // uncovered rows
}

func (s *Singular) Error() string { return "singular basis matrix" }

const (
	pivotThreshold = 0.1   // least size of a pivot within its column of the remaining matrix
	pivotRelative  = 1e-12 // least size of a pivot after elimination against its column's largest original entry
)

// Factorize computes the factors of the n by n matrix whose column j has the
// entries value[start[j]:start[j+1]] in the rows index[start[j]:start[j+1]],
// every row at most once. The arguments are not kept. A singular matrix gives
// a nil LU and what to replace.
//
// Columns and then rows with one entry are pivoted first, without arithmetic; the rest is
// eliminated column by column, those with few entries first, with threshold pivoting. Whether a matrix is
// singular is judged in floating point: an eliminated column is called
// dependent where nothing above 1e-12 of its largest entry remains.
func Factorize(n int, start []int, index []int32, value []float64) (*LU, *Singular) {
	e := newElimination(n, start, index, value)
	e.peelColumns()
	e.peelRows()
	if len(e.pivotRows) < n {
		e.kernel()
	}
	if len(e.pivotRows) < n {
		s := &Singular{}
		for j, r := range e.rowOf {
			if r < 0 {
				s.Cols = append(s.Cols, j)
			}
		}
		for i, j := range e.colOf {
			if j < 0 {
				s.Rows = append(s.Rows, i)
			}
		}
		return nil, s
	}
	return e.finish(), nil
}

// elimination is the state of a factorisation.
type elimination struct {
	n     int
	start []int
	index []int32
	value []float64

	byRow    []int32 // columns of each row
	rowStart []int32
	colCount []int32 // entries of a column in rows not yet pivoted
	rowCount []int32 // entries of a row in columns not yet pivoted

	rowOf, colOf []int32 // -1 where not yet pivoted
	pivotRows    []int32
	diag         []float64

	lRow, lPivot []int32 // entry (row, pivot row) of L
	lValue       []float64
	uRow, uCol   []int32 // entry (pivot row, column) of U
	uValue       []float64
}

func newElimination(n int, start []int, index []int32, value []float64) *elimination {
	e := &elimination{n: n, start: start, index: index, value: value}
	nonzeros := start[n]
	e.colCount, e.rowCount = make([]int32, n), make([]int32, n)
	e.rowOf, e.colOf = make([]int32, n), make([]int32, n)
	e.diag = make([]float64, n)
	e.pivotRows = make([]int32, 0, n)
	e.rowStart = make([]int32, n+1)
	e.byRow = make([]int32, nonzeros)
	e.uRow, e.uCol = make([]int32, 0, nonzeros), make([]int32, 0, nonzeros)
	e.uValue = make([]float64, 0, nonzeros)
	for j := range n {
		e.rowOf[j], e.colOf[j] = -1, -1
		for p := start[j]; p < start[j+1]; p++ {
			if value[p] != 0 {
				e.colCount[j]++
				e.rowCount[index[p]]++
			}
		}
	}
	for i := range n {
		e.rowStart[i+1] = e.rowStart[i] + e.rowCount[i]
	}
	fill := append([]int32(nil), e.rowStart[:n]...)
	for j := range n {
		for p := start[j]; p < start[j+1]; p++ {
			if i := index[p]; value[p] != 0 {
				e.byRow[fill[i]] = int32(j)
				fill[i]++
			}
		}
	}
	return e
}

func (e *elimination) rowCols(i int32) []int32 { return e.byRow[e.rowStart[i]:e.rowStart[i+1]] }

// pivot records the pivot (i, j); above it, column j's entries in pivoted rows belong to U.
func (e *elimination) pivot(i, j int32, v float64) {
	e.rowOf[j], e.colOf[i], e.diag[i] = i, j, v
	e.pivotRows = append(e.pivotRows, i)
}

// upper moves the entries of column j in rows that are already pivoted to U.
func (e *elimination) upper(j int32) {
	for p := e.start[j]; p < e.start[j+1]; p++ {
		if i := e.index[p]; e.value[p] != 0 && e.colOf[i] >= 0 {
			e.uRow = append(e.uRow, i)
			e.uCol = append(e.uCol, j)
			e.uValue = append(e.uValue, e.value[p])
		}
	}
}

// peelColumns pivots on columns with one entry left: nothing is eliminated.
func (e *elimination) peelColumns() {
	var queue []int32
	for j, c := range e.colCount {
		if c == 1 {
			queue = append(queue, int32(j))
		}
	}
	for h := 0; h < len(queue); h++ {
		j := queue[h]
		if e.colCount[j] != 1 {
			continue // its last row was taken by another column
		}
		for p := e.start[j]; p < e.start[j+1]; p++ {
			i := e.index[p]
			if e.value[p] == 0 {
				continue
			}
			if e.rowCount[i]--; e.colOf[i] >= 0 {
				continue
			}
			e.upper(j)
			e.pivot(i, j, e.value[p])
			for _, c := range e.rowCols(i) {
				if e.colCount[c]--; e.colCount[c] == 1 {
					queue = append(queue, c)
				}
			}
		}
	}
}

// peelRows pivots on rows with one entry left: their columns go to L as they are.
func (e *elimination) peelRows() {
	var queue []int32
	for i, c := range e.rowCount {
		if c == 1 && e.colOf[i] < 0 {
			queue = append(queue, int32(i))
		}
	}
	for h := 0; h < len(queue); h++ {
		i := queue[h]
		if e.rowCount[i] != 1 {
			continue // its last column was taken by another row
		}
		open := slices.IndexFunc(e.rowCols(i), func(j int32) bool { return e.rowOf[j] < 0 })
		j := e.rowCols(i)[open]
		e.upper(j)
		rows, values := e.index[e.start[j]:e.start[j+1]], e.value[e.start[j]:e.start[j+1]]
		d := values[slices.Index(rows, i)]
		e.pivot(i, j, d)
		for p, r := range rows {
			if values[p] == 0 || e.colOf[r] >= 0 {
				continue
			}
			e.lRow = append(e.lRow, r)
			e.lPivot = append(e.lPivot, i)
			e.lValue = append(e.lValue, values[p]/d)
			if e.rowCount[r]--; e.rowCount[r] == 1 {
				queue = append(queue, r)
			}
		}
	}
}

// finish sorts the entries of the factors into their final storage.
func (e *elimination) finish() *LU {
	n := e.n
	uPivot := make([]int32, len(e.uCol))
	for p, j := range e.uCol {
		uPivot[p] = e.rowOf[j]
	}
	f := &LU{
		n: n, colOf: e.colOf, diag: e.diag,
		lower:      newTriangle(n, e.lPivot, e.lRow, e.lValue),
		lowerT:     newTriangle(n, e.lRow, e.lPivot, e.lValue),
		lowerOrder: append([]int32(nil), e.pivotRows...),
		cols:       newTriangle(n, uPivot, e.uRow, e.uValue),
		rows:       newTriangle(n, e.uRow, uPivot, e.uValue),
		order:      e.pivotRows,
		place:      make([]int32, n),
		etaStart:   []int32{0},
		factor:     len(e.lRow) + len(e.uRow) + n,
	}
	f.spike, f.unit, f.whole = newSparse(n), newSparse(n), newSparse(n)
	for k, r := range f.order {
		f.place[r] = int32(k)
	}
	f.lowerPlace = slices.Clone(f.place)
	return f
}

// maxAbs returns the largest absolute value, 0 for none.
func maxAbs(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}
