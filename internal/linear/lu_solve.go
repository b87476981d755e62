package linear

import "math"

// sparse is a vector with the positions of its entries. Every nonzero is
// listed; a listed entry may be zero.
type sparse struct {
	val []float64
	idx []int32
}

func newSparse(n int) sparse { return sparse{val: make([]float64, n)} }

// clear sets the vector to zero.
func (v *sparse) clear() {
	if len(v.idx)*4 > len(v.val) {
		clear(v.val)
	} else {
		for _, i := range v.idx {
			v.val[i] = 0
		}
	}
	v.idx = v.idx[:0]
}

// set copies w into v.
func (v *sparse) set(w *sparse) {
	v.clear()
	for _, i := range w.idx {
		v.val[i] = w.val[i]
	}
	v.idx = append(v.idx, w.idx...)
}

// gather rebuilds the list of entries from the values.
func (v *sparse) gather() {
	v.idx = v.idx[:0]
	for i, x := range v.val {
		if x != 0 {
			v.idx = append(v.idx, int32(i))
		}
	}
}

// unitVector makes v the unit vector of position r.
func (v *sparse) unitVector(r int32) {
	v.clear()
	v.val[r] = 1
	v.idx = append(v.idx, r)
}

// sweep solves with one triangular factor: positions in the order of the elimination that order gives, from the first entry of v on, each divided by diag where
// not nil, then subtracted along t. place says where in the order a position is.
func (f *LU) sweep(v *sparse, t *triangle, diag []float64, order, place []int32) {
	first := len(order)
	for _, r := range v.idx {
		first = min(first, int(place[r]))
	}
	v.idx = v.idx[:0]
	for _, r := range order[first:] {
		if r >= 0 && v.val[r] != 0 {
			f.step(v, t, diag, r)
		}
	}
}

// sweepBack is sweep in the opposite order.
func (f *LU) sweepBack(v *sparse, t *triangle, diag []float64, order, place []int32) {
	last := -1
	for _, r := range v.idx {
		last = max(last, int(place[r]))
	}
	v.idx = v.idx[:0]
	for ; last >= 0; last-- {
		if r := order[last]; r >= 0 && v.val[r] != 0 {
			f.step(v, t, diag, r)
		}
	}
}

// step finishes position r of a triangular solve.
func (f *LU) step(v *sparse, t *triangle, diag []float64, r int32) {
	x := v.val[r]
	if math.Abs(x) <= f.drop {
		v.val[r] = 0
		return
	}
	if diag != nil {
		x /= diag[r]
		v.val[r] = x
	}
	v.idx = append(v.idx, r)
	b, e := t.begin[r], t.end[r]
	index, value := t.index[b:e], t.value[b:e]
	for p, i := range index {
		v.val[i] -= float64(x * value[p])
	}
}

// solve overwrites v, by row, with B⁻¹ v: position r of the result belongs to the column that is pivoted on row r.
// With keep, v is a column that a following update brings in.
func (f *LU) solve(v *sparse, keep bool) {
	f.sweep(v, &f.lower, nil, f.lowerOrder, f.lowerPlace)
	for t, r := range f.etaRow {
		sum := 0.0
		for p := f.etaStart[t]; p < f.etaStart[t+1]; p++ {
			sum += float64(f.etaValue[p] * v.val[f.etaIndex[p]])
		}
		if sum != 0 {
			if v.val[r] == 0 {
				v.idx = append(v.idx, r)
			}
			v.val[r] -= sum
		}
	}
	if keep {
		f.spike.set(v)
	}
	f.sweepBack(v, &f.cols, f.diag, f.order, f.place)
}

// solveTransposed overwrites v, by pivot row of the column, with B⁻ᵀ v, by row. With keep, v is the unit
// vector of the pivot that a following update replaces.
func (f *LU) solveTransposed(v *sparse, keep bool) {
	f.sweep(v, &f.rows, f.diag, f.order, f.place)
	if keep {
		f.unit.set(v)
	}
	for t := len(f.etaRow) - 1; t >= 0; t-- {
		x := v.val[f.etaRow[t]]
		if x == 0 {
			continue
		}
		for p := f.etaStart[t]; p < f.etaStart[t+1]; p++ {
			i := f.etaIndex[p]
			if v.val[i] == 0 {
				v.idx = append(v.idx, i)
			}
			v.val[i] -= float64(x * f.etaValue[p])
		}
	}
	f.sweepBack(v, &f.lowerT, nil, f.lowerOrder, f.lowerPlace)
}

// Solve computes B⁻¹ b: dst by column and b by row, both of length n; they may be the same slice.
// It panics on other lengths.
func (f *LU) Solve(dst, b []float64) {
	f.plain(dst, b)
	v := &f.whole
	copy(v.val, b)
	f.undropped(v, f.solve)
	for r, j := range f.colOf {
		dst[j] = v.val[r]
	}
}

// SolveTransposed computes B⁻ᵀ c: dst by row and c by column, both of length n; they may be the same slice.
// It panics on other lengths.
func (f *LU) SolveTransposed(dst, c []float64) {
	f.plain(dst, c)
	v := &f.whole
	for r, j := range f.colOf {
		v.val[r] = c[j]
	}
	f.undropped(v, f.solveTransposed)
	copy(dst, v.val)
}

// undropped solves without setting small entries to zero.
func (f *LU) undropped(v *sparse, solve func(v *sparse, keep bool)) {
	drop := f.drop
	f.drop = 0
	v.gather()
	solve(v, false)
	f.drop = drop
}

func (f *LU) plain(dst, src []float64) {
	if len(dst) != f.n || len(src) != f.n {
		panic("linear: vector length does not match the factorisation")
	}
}
