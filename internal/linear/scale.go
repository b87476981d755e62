package linear

import "math"

// scaling holds powers of two: row i is multiplied by row[i], x_j is col[j] times the scaled
// variable, costs are multiplied by cost. Scaling and its inverse are exact but for underflow.
type scaling struct {
	row, col []float64
	cost     float64
}

// scalePasses is the number of alternating sweeps of the geometric scaling.
const scalePasses = 4

// finest is the least tolerance for the numbers of a scaled program, whose entries are about 1 and whose costs are at most about 1:
// below lie rounding errors.
const finest = 1e-14

// span is the range of the numbers that were included in it.
type span struct{ least, most float64 }

var emptySpan = span{math.Inf(1), 0}

// include widens the range to a number >= 0; zeros do not count.
func (s *span) include(a float64) {
	if a != 0 {
		s.least, s.most = min(s.least, a), max(s.most, a)
	}
}

// center sets a factor to what brings the geometric mean of the range's ends to 1; an empty range leaves it.
func (s *span) center(factor *float64) {
	if s.most > 0 {
		*factor = 1 / math.Sqrt(s.least*s.most)
	}
}

// newScaling finds geometric scale factors: alternately each row and column is divided
// by the root of its least times its largest entry; at the end all factors are rounded to powers of two.
func newScaling(m *Model) *scaling {
	rows, cols := m.Rows(), m.Cols()
	sc := &scaling{row: make([]float64, rows), col: make([]float64, cols)}
	for i := range sc.row {
		sc.row[i] = 1
	}
	for j := range sc.col {
		sc.col[j] = 1
	}
	across := make([]span, rows)
	for range scalePasses {
		for i := range across {
			across[i] = emptySpan
		}
		for j := range cols {
			for p := m.Start[j]; p < m.Start[j+1]; p++ {
				across[m.Index[p]].include(math.Abs(m.Value[p]) * sc.col[j])
			}
		}
		for i := range across {
			across[i].center(&sc.row[i])
		}
		for j := range cols {
			down := emptySpan
			for p := m.Start[j]; p < m.Start[j+1]; p++ {
				down.include(math.Abs(m.Value[p]) * sc.row[m.Index[p]])
			}
			down.center(&sc.col[j])
		}
	}
	for i := range sc.row {
		sc.row[i] = powerOfTwo(sc.row[i])
	}
	biggest := 0.0
	for j := range sc.col {
		sc.col[j] = powerOfTwo(sc.col[j])
		biggest = max(biggest, math.Abs(m.Cost[j])*sc.col[j])
	}
	_, e := math.Frexp(biggest)
	sc.cost = math.Ldexp(1, -e)
	return sc
}

// powerOfTwo rounds a positive number to a power of two within [2^-40, 2^40].
func powerOfTwo(f float64) float64 {
	part, e := math.Frexp(f)
	if part < math.Sqrt2/2 {
		e--
	}
	return math.Ldexp(1, min(max(e, -40), 40))
}

// objective takes a scaled objective value back.
func (sc *scaling) objective(v float64) float64 { return v / sc.cost }

// newSimplex loads a scaled copy of the model.
func newSimplex(m *Model, sc *scaling, feasible, optimal float64) *simplex {
	rows, cols := m.Rows(), m.Cols()
	total := rows + cols
	s := &simplex{rows: rows, cols: cols, total: total, scale: sc}
	s.start = make([]int, cols+1)
	s.index = m.Index
	s.value = make([]float64, len(m.Value))
	s.rowStart = make([]int, rows+1)
	s.rowIndex = make([]int32, len(m.Value))
	s.rowValue = make([]float64, len(m.Value))
	copy(s.start, m.Start)
	for j := range cols {
		for p := s.start[j]; p < s.start[j+1]; p++ {
			s.value[p] = m.Value[p] * sc.col[j] * sc.row[m.Index[p]]
			s.rowStart[m.Index[p]+1]++
		}
	}
	for i := range rows {
		s.rowStart[i+1] += s.rowStart[i]
	}
	fill := append([]int(nil), s.rowStart[:rows]...)
	for j := range cols {
		for p := s.start[j]; p < s.start[j+1]; p++ {
			i := m.Index[p]
			s.rowIndex[fill[i]], s.rowValue[fill[i]] = int32(j), s.value[p]
			fill[i]++
		}
	}
	all := func() []float64 { return make([]float64, total) }
	s.trueLower, s.trueUpper, s.trueCost = all(), all(), all()
	s.feasible, s.optimal = all(), all()
	for v := range total {
		var factor float64 // true value = factor · scaled value
		if v < cols {
			factor = sc.col[v]
			s.trueLower[v], s.trueUpper[v] = m.ColLower[v]/factor, m.ColUpper[v]/factor
			s.trueCost[v] = m.Cost[v] * factor * sc.cost
		} else {
			factor = 1 / sc.row[v-cols]
			s.trueLower[v], s.trueUpper[v] = m.RowLower[v-cols]/factor, m.RowUpper[v-cols]/factor
		}
		s.feasible[v] = max(feasible/factor, finest)
		s.optimal[v] = max(optimal*factor*sc.cost, finest)
	}
	s.lower, s.upper, s.cost = append([]float64(nil), s.trueLower...), append([]float64(nil), s.trueUpper...), append([]float64(nil), s.trueCost...)
	s.status, s.place = make([]VarStatus, total), make([]int32, total)
	s.head = make([]int32, 0, rows)
	s.x, s.d, s.weight, s.y = all(), all(), all(), make([]float64, rows)
	s.barred, s.listed = make([]bool, total), make([]bool, total)
	s.column, s.rho, s.side, s.row = newSparse(rows), newSparse(rows), newSparse(rows), newSparse(total)
	return s
}
