//go:build clp

package clp

import (
	"math"
	"slices"

	"optratio/lp/linear"
)

// scaled is a program in units in which CLP works well:
//
//	A' = R A S,  x = B S x',  rows' = R rows / B,  columns' = columns / (B S),  cost' = C S cost
//
// with diagonal R, S and numbers B, C that are all powers of two, so that
// nothing is rounded on the way there and back (but for numbers that leave the
// range of float64). Infinite bounds are ±MaxFloat64, as CLP has them.
type scaled struct {
	cost               []float64
	colLower, colUpper []float64
	rowLower, rowUpper []float64
	start              []int
	index              []int32
	value              []float64

	rowExp, colExp    []int // R and S as exponents of two
	costExp, boundExp int   // C and B

	// program is what was scaled: the program given or, with relaxed set, a
	// copy without the bounds that are too far out to be told from infinity.
	program *linear.Model
	relaxed bool
	wide    bool // bounds beyond 2^wideBound in scaled units, kept or not
}

// CLP's dual simplex puts variables without bounds between artificial ones at
// ±1e10. Real bounds further out confuse it.
const wideBound = 33

// Entries of A within 2^±comfortable, and bounds whose largest is, are left
// alone: CLP's own scaling deals with them.
const comfortable = 20

// Bounds up to 2^hugeBound are finite to CLP; somewhere beyond they are not.
const hugeBound = 60

// balancePasses is how often rows and columns take turns; the gain of
// geometric balancing is in the first few.
const balancePasses = 6

// scale returns m in balanced units.
func scale(m *linear.Model) *scaled {
	rows, cols := m.Rows(), m.Cols()
	p := &scaled{
		cost: make([]float64, cols), colLower: make([]float64, cols), colUpper: make([]float64, cols),
		rowLower: make([]float64, rows), rowUpper: make([]float64, rows),
		start: make([]int, cols+1), index: m.Index, value: make([]float64, len(m.Value)),
		rowExp: make([]int, rows), colExp: make([]int, cols),
	}
	copy(p.start, m.Start)
	if slices.ContainsFunc(m.Value, func(v float64) bool { return v != 0 && outside(exponent(v)) }) {
		p.balance(m)
	}
	largestCost := math.MinInt
	small, large := math.MaxInt, math.MinInt // of bounds other than 0 and ±Inf
	widen := func(b float64, e int) {
		if b != 0 && !math.IsInf(b, 0) {
			small, large = min(small, exponent(b)+e), max(large, exponent(b)+e)
		}
	}
	for j, c := range m.Cost {
		if c != 0 {
			largestCost = max(largestCost, exponent(c)+p.colExp[j])
		}
		widen(m.ColLower[j], -p.colExp[j])
		widen(m.ColUpper[j], -p.colExp[j])
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			p.value[k] = math.Ldexp(m.Value[k], p.colExp[j]+p.rowExp[m.Index[k]])
		}
	}
	for i, e := range p.rowExp {
		widen(m.RowLower[i], e)
		widen(m.RowUpper[i], e)
	}
	if largestCost != math.MinInt {
		p.costExp = -largestCost
	}
	if large != math.MinInt {
		p.boundExp = boundScale(small, large)
		p.wide = large-p.boundExp > wideBound
	}
	p.relax(m)
	m = p.program
	for j := range cols {
		p.cost[j] = math.Ldexp(m.Cost[j], p.colExp[j]+p.costExp)
		p.colLower[j] = bound(m.ColLower[j], -p.colExp[j]-p.boundExp)
		p.colUpper[j] = bound(m.ColUpper[j], -p.colExp[j]-p.boundExp)
	}
	for i := range rows {
		p.rowLower[i] = bound(m.RowLower[i], p.rowExp[i]-p.boundExp)
		p.rowUpper[i] = bound(m.RowUpper[i], p.rowExp[i]-p.boundExp)
	}
	return p
}

// relax sets program and relaxed. In scaled units it drops upper bounds above
// 2^hugeBound and moves those below -2^hugeBound up to there, lower bounds likewise: sooner or
// later CLP takes such numbers for infinite. Whatever is infeasible after that is infeasible.
func (p *scaled) relax(m *linear.Model) {
	p.program = m
	// nearer returns x or, if that is too far from 0, how far a bound on that side may be.
	nearer := func(x, drop float64, shift int) float64 {
		switch {
		case x == 0 || math.IsInf(x, 0) || exponent(x)+shift <= hugeBound:
			return x
		case x > 0 == (drop > 0):
			p.relaxed = true
			return drop
		default:
			p.relaxed = true
			return math.Copysign(math.Ldexp(1, hugeBound-shift), x)
		}
	}
	without := func(lower, upper []float64, shift func(int) int) (l, u []float64) {
		l, u = slices.Clone(lower), slices.Clone(upper)
		for i := range l {
			l[i], u[i] = nearer(l[i], math.Inf(-1), shift(i)), nearer(u[i], math.Inf(1), shift(i))
		}
		return l, u
	}
	q := *m
	q.ColLower, q.ColUpper = without(m.ColLower, m.ColUpper, func(j int) int { return -p.colExp[j] - p.boundExp })
	q.RowLower, q.RowUpper = without(m.RowLower, m.RowUpper, func(i int) int { return p.rowExp[i] - p.boundExp })
	if p.relaxed {
		p.program = &q
	}
}

// balance chooses R and S: first such that in every row and every column the
// geometric mean of the largest and the smallest entry is near 1, at last such
// that the largest entry of every column is in [1/2, 1).
func (p *scaled) balance(m *linear.Model) {
	type entry struct {
		row, col int32
		log      float64
	}
	var entries []entry // but zeros
	for j := range m.Cols() {
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			if v := m.Value[k]; v != 0 {
				entries = append(entries, entry{m.Index[k], int32(j), math.Log2(math.Abs(v))})
			}
		}
	}
	r, s := newRanges(m.Rows()), newRanges(m.Cols())
	for range balancePasses {
		for _, e := range entries {
			r.widen(e.row, e.log+s.middle[e.col])
		}
		r.settle()
		for _, e := range entries {
			s.widen(e.col, e.log+r.middle[e.row])
		}
		s.settle()
	}
	for i, x := range r.middle {
		p.rowExp[i] = int(math.Round(x))
	}
	for j := range m.Cols() {
		// In the end no entry may exceed 1: CLP refuses entries above
		// 1e20, while those below 1e-20 only drop out.
		largest := math.MinInt
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			if m.Value[k] != 0 {
				largest = max(largest, exponent(m.Value[k])+p.rowExp[m.Index[k]])
			}
		}
		if largest != math.MinInt {
			p.colExp[j] = -largest
		}
	}
}

// ranges are the ranges of the logarithms in each row or each column.
type ranges struct {
	low, high []float64
	middle    []float64 // minus the middle of each range, 0 for an empty one
}

func newRanges(n int) *ranges {
	r := &ranges{make([]float64, n), make([]float64, n), make([]float64, n)}
	r.settle()
	return r
}

func (r *ranges) widen(i int32, x float64) { r.low[i], r.high[i] = min(r.low[i], x), max(r.high[i], x) }

// settle computes the middles and makes all ranges empty again.
func (r *ranges) settle() {
	for i := range r.middle {
		r.middle[i] = 0
		if r.low[i] <= r.high[i] {
			r.middle[i] = -(r.low[i] + r.high[i]) / 2
		}
		r.low[i], r.high[i] = math.Inf(1), math.Inf(-1)
	}
}

func outside(e int) bool { return e < -comfortable || e > comfortable }

// exponent returns e with |x| in [2^(e-1), 2^e), 0 for 0.
func exponent(x float64) int {
	_, e := math.Frexp(x)
	return e
}

// boundScale chooses B for bounds whose exponents run from small to large:
// the large ones near 1 if they are uncomfortable, but not at the price of the
// small ones sinking below 1.
func boundScale(small, large int) int {
	switch {
	case !outside(large):
		return 0
	case large < 0:
		return large
	default:
		return min(large, max(0, small))
	}
}

// bound scales a bound by 2^e; infinite ones become ±MaxFloat64.
func bound(x float64, e int) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, math.Ldexp(x, e)))
}

// finest is the finest tolerance in scaled units that is worth asking for:
// well above the rounding errors of a solve.
const finest = 1e-11

const defaultTolerance = 1e-9

// tolerances returns the primal and the dual tolerance of o in scaled units.
func (p *scaled) tolerances(o linear.Options) (feasible, optimal float64) {
	in := func(t float64, exp int) float64 {
		if t == 0 {
			t = defaultTolerance
		}
		return max(min(t, math.Ldexp(t, exp)), min(t, finest))
	}
	return in(o.Feasible, -p.boundExp), in(o.Optimal, p.costExp)
}

// unscale turns column values and row duals of the scaled program into those
// of the program, in place.
func (p *scaled) unscale(x, y []float64) {
	for j := range x {
		x[j] = math.Ldexp(x[j], p.colExp[j]+p.boundExp)
	}
	for i := range y {
		y[i] = math.Ldexp(y[i], p.rowExp[i]-p.costExp)
	}
}
