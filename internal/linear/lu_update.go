package linear

import "math"

// update replaces the column pivoted on row r by the one whose solve was called with
// keep last, after a transposed solve of r's unit vector with keep (Forrest–Tomlin): the column of U becomes
// the kept spike, moves to the end of the order, and row r is eliminated by one row transformation.
//
// alpha is entry r of B⁻¹ a as the caller sees it. The new diagonal entry must be
// alpha times the old one; update returns the relative difference, a measure of the accuracy of
// the factors. Where the new diagonal entry is zero it returns +Inf and leaves the factors as they are.
func (f *LU) update(r int32, alpha float64) float64 {
	old := f.diag[r]
	d := f.spike.val[r]
	for _, i := range f.unit.idx {
		if i != r {
			d += float64(f.unit.val[i] * old * f.spike.val[i])
		}
	}
	if d == 0 || math.IsNaN(d) || math.IsInf(d, 0) {
		return math.Inf(1)
	}
	for _, i := range f.unit.idx {
		if e := -f.unit.val[i] * old; i != r && e != 0 {
			f.etaIndex = append(f.etaIndex, i)
			f.etaValue = append(f.etaValue, e)
		}
	}
	f.etaRow = append(f.etaRow, r)
	f.etaStart = append(f.etaStart, int32(len(f.etaIndex)))

	right, _ := f.rows.at(r)
	for _, c := range right {
		f.cols.remove(c, r)
	}
	f.rows.end[r] = f.rows.begin[r]
	above, _ := f.cols.at(r)
	for _, i := range above {
		f.rows.remove(i, r)
	}
	f.cols.replace(r, len(f.spike.idx))
	for _, i := range f.spike.idx {
		if v := f.spike.val[i]; i != r && v != 0 {
			f.cols.insert(r, i, v)
			f.rows.insert(i, r, v)
		}
	}
	f.diag[r] = d
	f.order[f.place[r]] = -1
	f.place[r] = int32(len(f.order))
	f.order = append(f.order, r)
	return math.Abs(d-float64(alpha*old)) / math.Abs(d)
}

// updates returns the number of updates since the factorisation.
func (f *LU) updates() int { return len(f.etaRow) }

// growth returns the entries that the updates added, in units of those of the fresh factors.
func (f *LU) growth() float64 {
	added := len(f.etaIndex) + (len(f.cols.index) + len(f.lower.index) + f.n - f.factor)
	return float64(added) / float64(f.factor)
}
