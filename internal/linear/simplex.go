package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// simplex is the state that the primal and the dual algorithm share: a
// program, a basis with its factors, and the values that belong to it.
//
// Variables are the columns 0..cols-1 and the row activities cols..cols+rows-1, tied by A x - r = 0; the
// column of row i's activity is therefore -e_i. head[r] is the basic variable pivoted on row r.
//
// The primal works with the true costs and may relax bounds, the dual works with the
// true bounds and may shift costs; each takes its changes back before it returns.
type simplex struct {
	rows, cols, total int

	start    []int // columns
	index    []int32
	value    []float64
	rowStart []int // the same by rows
	rowIndex []int32
	rowValue []float64

	trueLower, trueUpper, trueCost []float64
	lower, upper, cost             []float64
	feasible, optimal              float64 // tolerances of values and of reduced costs

	status []VarStatus
	head   []int32
	place  []int32 // basic variable -> row, -1 for nonbasic
	x, d   []float64
	y      []float64 // multipliers of the rows when d was last computed

	lu         *LU
	column     sparse    // B⁻¹ a of the entering variable
	rho        sparse    // B⁻ᵀ e of the leaving row
	row        sparse    // pivot row over all variables
	listed     []bool    // variables in row.idx
	side       sparse    // further solves
	weight     []float64 // devex weights of the primal, steepest-edge weights of the dual, by variable
	barred     []bool    // variables not to enter, or to leave, until the next pivot
	bars       []int32
	breaks     []breakpoint // of the primal ratio test
	candidates []candidate  // of the dual ratio test
	crossing   bool         // a crossover is looking for a basis: variables that a singular basis loses become loose
	loose      []int32      // nonbasic variables between their bounds
	patches    []int32      // row activities that stand in for variables lost then, at a bound
	moved      bool         // some bound or cost is not the true one
	perturb    float64      // size of the next perturbation
	repairs    int          // variables that singular bases lost
	stall      int          // degenerate steps of the primal in a row

	ctx    context.Context
	rng    *rand.Rand
	pivots int
	limit  int
	report func(Progress)
	unit   float64 // costs are multiplied by this power of two, so that the largest is about 1
}

// finest is the least tolerance, for entries and costs of the order of 1: below lie rounding errors.
const finest = 1e-14

// newSimplex loads a model.
func newSimplex(m *Model, feasible, optimal float64) *simplex {
	rows, cols := m.Rows(), m.Cols()
	total := rows + cols
	s := &simplex{rows: rows, cols: cols, total: total, start: m.Start, index: m.Index, value: m.Value}
	s.rowStart = make([]int, rows+1)
	s.rowIndex, s.rowValue = make([]int32, len(m.Value)), make([]float64, len(m.Value))
	for _, i := range m.Index {
		s.rowStart[i+1]++
	}
	for i := range rows {
		s.rowStart[i+1] += s.rowStart[i]
	}
	fill := slices.Clone(s.rowStart)
	for j := range cols {
		for p := s.start[j]; p < s.start[j+1]; p++ {
			i := m.Index[p]
			s.rowIndex[fill[i]], s.rowValue[fill[i]] = int32(j), s.value[p]
			fill[i]++
		}
	}
	_, e := math.Frexp(maxAbs(m.Cost))
	s.unit = math.Ldexp(1, -e)
	s.feasible, s.optimal = max(feasible, finest), max(optimal*s.unit, finest)
	all := func() []float64 { return make([]float64, total) }
	s.trueLower, s.trueUpper = slices.Concat(m.ColLower, m.RowLower), slices.Concat(m.ColUpper, m.RowUpper)
	s.trueCost = all()
	for j, c := range m.Cost {
		s.trueCost[j] = c * s.unit
	}
	s.lower, s.upper, s.cost = slices.Clone(s.trueLower), slices.Clone(s.trueUpper), slices.Clone(s.trueCost)
	s.status, s.place = make([]VarStatus, total), make([]int32, total)
	s.head = make([]int32, 0, rows)
	s.x, s.d, s.weight, s.y = all(), all(), all(), make([]float64, rows)
	s.barred, s.listed = make([]bool, total), make([]bool, total)
	s.column, s.rho, s.side, s.row = newSparse(rows), newSparse(rows), newSparse(rows), newSparse(total)
	return s
}

// verdict is how one run of an algorithm ended.
type verdict int8

const (
	done    verdict = iota // optimal for the bounds and costs the algorithm worked with
	noPoint                // no feasible point
	noBound                // objective unbounded
	stopped                // context or pivot limit
	trouble                // numerical trouble
	running                // not yet
)

// refactorEvery is the number of updates after which the factors are computed afresh.
const refactorEvery = 100

// scatter adds a multiple of the column of variable v to w.
func (s *simplex) scatter(v int32, factor float64, w []float64) {
	if int(v) >= s.cols {
		w[int(v)-s.cols] -= factor
		return
	}
	for p := s.start[v]; p < s.start[v+1]; p++ {
		w[s.index[p]] += float64(factor * s.value[p])
	}
}

// load computes s.column for the entering variable v.
func (s *simplex) load(v int32) {
	w := &s.column
	w.clear()
	if int(v) >= s.cols {
		i := v - int32(s.cols)
		w.val[i] = -1
		w.idx = append(w.idx, i)
	} else {
		for p := s.start[v]; p < s.start[v+1]; p++ {
			w.val[s.index[p]] = s.value[p]
			w.idx = append(w.idx, s.index[p])
		}
	}
	s.lu.solve(w, true)
}

// rest gives nonbasic variable v the value of the bound that its status names, after replacing a status that does not fit the bounds.
func (s *simplex) rest(v int32) {
	lo, up := s.lower[v], s.upper[v]
	switch {
	case math.IsInf(lo, -1) && math.IsInf(up, 1):
		s.status[v] = Free
	case math.IsInf(lo, -1):
		s.status[v] = AtUpper
	case math.IsInf(up, 1), lo == up:
		s.status[v] = AtLower
	case s.status[v] == Free:
		s.status[v] = AtLower
		if math.Abs(up) < math.Abs(lo) {
			s.status[v] = AtUpper
		}
	}
	switch s.status[v] {
	case AtLower:
		s.x[v] = lo
	case AtUpper:
		s.x[v] = up
	default:
		s.x[v] = 0
	}
}

// refactor computes the factors of the basis afresh, repairing it with row activities where it is singular.
func (s *simplex) refactor() {
	nonzeros := 0
	for _, v := range s.head {
		if v >= 0 && int(v) < s.cols {
			nonzeros += s.start[v+1] - s.start[v]
		} else {
			nonzeros++
		}
	}
	start := make([]int, 1, s.rows+1)
	index := make([]int32, 0, nonzeros)
	value := make([]float64, 0, nonzeros)
	for {
		start, index, value = start[:1], index[:0], value[:0]
		for _, v := range s.head {
			if v < 0 {
				// A column of zeros stands for a variable that is still to be found.
			} else if int(v) < s.cols {
				index = append(index, s.index[s.start[v]:s.start[v+1]]...)
				value = append(value, s.value[s.start[v]:s.start[v+1]]...)
			} else {
				index = append(index, v-int32(s.cols))
				value = append(value, -1)
			}
			start = append(start, len(index))
		}
		lu, lack := Factorize(s.rows, start, index, value)
		if lack == nil {
			lu.drop = 1e-14
			s.lu = lu
			break
		}
		s.repair(lack)
	}
	old := append([]int32(nil), s.head...)
	for r, j := range s.lu.colOf {
		v := old[j]
		s.head[r] = v
		s.place[v] = int32(r)
	}
}

// repair makes row activities basic in place of the variables for which a singular basis has no place.
func (s *simplex) repair(lack *Singular) {
	s.repairs += len(lack.Cols)
	for k, j := range lack.Cols {
		s.lose(s.head[j])
		in := int32(s.cols + lack.Rows[k])
		s.head[j] = in
		s.status[in] = Basic
		s.weight[in] = 1
		if s.crossing && (s.x[in] <= s.lower[in] || s.x[in] >= s.upper[in]) {
			s.patches = append(s.patches, in)
		}
	}
}

// lose makes a variable nonbasic that a singular basis has no place for, at the nearer bound or loose.
func (s *simplex) lose(v int32) {
	switch {
	case v < 0:
		return
	case s.crossing:
		s.loosen(v)
		return
	}
	s.place[v] = -1
	s.status[v] = AtLower
	if math.Abs(s.x[v]-s.upper[v]) < math.Abs(s.x[v]-s.lower[v]) {
		s.status[v] = AtUpper
	}
	s.rest(v)
}

// exactly switches off the dropping of tiny entries in sparse solves; the function that it returns switches it on again.
func (s *simplex) exactly() func() {
	drop := s.lu.drop
	s.lu.drop = 0
	return func() { s.lu.drop = drop }
}

// values computes the basic variables from the nonbasic ones, with one step of refinement.
func (s *simplex) values() {
	defer s.exactly()()
	for _, v := range s.head {
		s.x[v] = 0
	}
	for range 2 {
		w := &s.side
		clear(w.val)
		for v, x := range s.x {
			if x != 0 {
				s.scatter(int32(v), -x, w.val)
			}
		}
		w.gather()
		s.lu.solve(w, false)
		for _, r := range w.idx {
			s.x[s.head[r]] += w.val[r]
		}
		w.clear()
	}
}

// prices computes the reduced costs of the working costs, with one step of refinement.
func (s *simplex) prices() {
	defer s.exactly()()
	clear(s.y)
	for range 2 {
		s.reduced(s.cost, s.d)
	}
	s.clearBasic()
}

// reduced adds B⁻ᵀ (cost_B - Bᵀ y) to s.y and computes d = cost - [A, -I]ᵀ y. Those of basic variables are not
// exactly 0.
func (s *simplex) reduced(cost, d []float64) {
	w := &s.side
	clear(w.val)
	for r, v := range s.head {
		w.val[r] = cost[v] - s.dot(v)
	}
	w.gather()
	s.lu.solveTransposed(w, false)
	for _, i := range w.idx {
		s.y[i] += w.val[i]
	}
	w.clear()
	for v := range int32(s.total) {
		d[v] = cost[v] - s.dot(v)
	}
}

// clearBasic sets the reduced costs of basic variables to 0.
func (s *simplex) clearBasic() {
	for _, v := range s.head {
		s.d[v] = 0
	}
}

// dot returns y times the column of variable v.
func (s *simplex) dot(v int32) float64 {
	if int(v) >= s.cols {
		return -s.y[int(v)-s.cols]
	}
	b, e := s.start[v], s.start[v+1]
	value, sum := s.value[b:e], 0.0
	for p, i := range s.index[b:e] {
		sum += float64(s.y[i] * value[p])
	}
	return sum
}

// below returns by how much variable v lies outside its working bounds: positive below the
// lower, negative above the upper bound, 0 within the tolerance.
func (s *simplex) below(v int32) float64 {
	if e := s.lower[v] - s.x[v]; e > s.feasible {
		return e
	}
	if e := s.x[v] - s.upper[v]; e > s.feasible {
		return -e
	}
	return 0
}

// wrong returns by how much the reduced cost of nonbasic v violates its sign: positive where v should grow,
// negative where it should fall, 0 within the tolerance.
func (s *simplex) wrong(v int32) float64 {
	d := s.d[v]
	if math.Abs(d) <= s.optimal {
		return 0
	}
	switch s.status[v] {
	case AtLower:
		if d < 0 && s.lower[v] < s.upper[v] {
			return -d
		}
	case AtUpper:
		if d > 0 && s.lower[v] < s.upper[v] {
			return -d
		}
	case Free:
		return -d
	}
	return 0
}

// infeasible returns the sum of the primal violations beyond the tolerances.
func (s *simplex) infeasible() float64 {
	sum := 0.0
	for _, v := range s.head {
		sum += math.Abs(s.below(v))
	}
	return sum
}

// dualInfeasible returns the sum of the violations of the reduced costs beyond the tolerances.
func (s *simplex) dualInfeasible() float64 {
	sum := 0.0
	for v := range int32(s.total) {
		if s.status[v] != Basic {
			sum += math.Abs(s.wrong(v))
		}
	}
	return sum
}

// pivotRow computes row r of B⁻¹ [A, -I] over the nonbasic variables into s.row.
func (s *simplex) pivotRow(r int32) {
	s.rho.unitVector(r)
	s.lu.solveTransposed(&s.rho, true)
	out := &s.row
	for _, v := range out.idx {
		out.val[v] = 0
		s.listed[v] = false
	}
	out.idx = out.idx[:0]
	for _, i := range s.rho.idx {
		e := s.rho.val[i]
		if e == 0 {
			continue
		}
		b, f := s.rowStart[i], s.rowStart[i+1]
		value := s.rowValue[b:f]
		for p, j := range s.rowIndex[b:f] {
			if s.place[j] >= 0 {
				continue
			}
			if !s.listed[j] {
				s.listed[j] = true
				out.idx = append(out.idx, j)
			}
			out.val[j] += float64(e * value[p])
		}
		if v := int32(s.cols) + i; s.place[v] < 0 {
			s.listed[v] = true
			out.idx = append(out.idx, v)
			out.val[v] = -e
		}
	}
}

// exchange makes q basic on row r in the place of its basic variable, which gets status st. The factors are updated, or
// dropped where the update is not accurate; the result says whether they are still good.
func (s *simplex) exchange(r, q int32, st VarStatus) bool {
	p := s.head[r]
	s.head[r] = q
	s.place[q], s.place[p] = r, -1
	s.status[q], s.status[p] = Basic, st
	s.pivots++
	off := s.lu.update(r, s.column.val[r])
	return off <= badUpdate && s.lu.updates() < refactorEvery && s.lu.growth() < 3
}

// interrupted reports whether the limit of pivots is reached or the context has ended.
func (s *simplex) interrupted() bool {
	return s.limit > 0 && s.pivots >= s.limit || s.ctx.Err() != nil
}

// tell reports the progress to the caller, where that asked for it.
func (s *simplex) tell() {
	if s.report == nil {
		return
	}
	obj := 0.0
	for v, c := range s.trueCost {
		obj += float64(c * s.x[v])
	}
	s.report(Progress{s.pivots, obj / s.unit})
}

// restoreBounds takes relaxed bounds back and recomputes the values.
func (s *simplex) restoreBounds() {
	copy(s.lower, s.trueLower)
	copy(s.upper, s.trueUpper)
	s.moved = false
	for v := range int32(s.total) {
		if s.status[v] != Basic {
			s.rest(v)
		}
	}
	s.values()
}

// restoreCosts takes shifted costs back and recomputes the reduced costs.
func (s *simplex) restoreCosts() {
	copy(s.cost, s.trueCost)
	s.moved = false
	s.prices()
}
