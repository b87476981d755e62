package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

func solve(t testing.TB, m *Model, o Options) *Result {
	t.Helper()
	res, err := Embedded{}.Solve(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// kkt returns the first violation, beyond tol, of the optimality conditions of res for m: feasibility, the signs
// of duals and reduced costs for the statuses of the basis, equal primal and dual objective.
func kkt(m *Model, res *Result, tol float64) error {
	if res.Outcome != Optimal {
		return fmt.Errorf("outcome %v", res.Outcome)
	}
	if err := res.Basis.Check(m); err != nil {
		return err
	}
	activity := make([]float64, m.Rows())
	objective := 0.0
	dual, size := 0.0, 1.0
	one := func(what string, i int, x, lo, up, d float64, st VarStatus) error {
		at := tol * (1 + math.Abs(x))
		switch {
		case x < lo-at || x > up+at:
			return fmt.Errorf("%s %d is %g outside [%g, %g]", what, i, x, lo, up)
		case st == Basic && math.Abs(d) > tol:
			return fmt.Errorf("basic %s %d has the multiplier %g", what, i, d)
		case st == AtLower && math.Abs(x-lo) > at || st == AtUpper && math.Abs(x-up) > at || st == Free && math.Abs(x) > at:
			return fmt.Errorf("%s %d with status %d is %g in [%g, %g]", what, i, st, x, lo, up)
		case lo == up:
		case st == AtLower && d < -tol || st == AtUpper && d > tol || st == Free && math.Abs(d) > tol:
			return fmt.Errorf("%s %d with status %d has the multiplier %g", what, i, st, d)
		}
		switch {
		case st == AtLower:
			dual += lo * d
			size += math.Abs(lo * d)
		case st == AtUpper:
			dual += up * d
			size += math.Abs(up * d)
		}
		return nil
	}
	for j := range m.Cols() {
		objective += m.Cost[j] * res.X[j]
		d := m.Cost[j]
		for p := m.Start[j]; p < m.Start[j+1]; p++ {
			activity[m.Index[p]] += m.Value[p] * res.X[j]
			d -= m.Value[p] * res.Duals[m.Index[p]]
		}
		if err := one("column", j, res.X[j], m.ColLower[j], m.ColUpper[j], d, res.Basis.Col[j]); err != nil {
			return err
		}
	}
	for i := range m.Rows() {
		if err := one("row", i, activity[i], m.RowLower[i], m.RowUpper[i], res.Duals[i], res.Basis.Row[i]); err != nil {
			return err
		}
	}
	if math.Abs(objective-res.Objective) > tol*(1+math.Abs(objective)) || math.Abs(objective-dual) > 10*tol*size {
		return fmt.Errorf("objectives: reported %g, primal %g, dual %g", res.Objective, objective, dual)
	}
	return nil
}

// randomProgram draws a program with every kind of bound. Entries are small integers where degenerate is set, so that
// ties abound. Feasible programs contain a random point; others may contain none.
func randomProgram(rng *rand.Rand, rows, cols int, degenerate, feasible bool) *Model {
	m := &Model{}
	number := func() float64 {
		if degenerate {
			return float64(rng.IntN(5) - 2)
		}
		return math.Ldexp(rng.NormFloat64(), rng.IntN(7)-3)
	}
	point := make([]float64, cols)
	for j := range point {
		point[j] = number()
	}
	bounds := func(x float64) (float64, float64) {
		lo, up := x-math.Abs(number()), x+math.Abs(number())
		switch rng.IntN(7) {
		case 0, 1:
			up = math.Inf(1)
		case 2:
			lo = math.Inf(-1)
		case 3:
			lo, up = math.Inf(-1), math.Inf(1)
		case 4:
			up = lo
			if feasible {
				lo, up = x, x
			}
		}
		return lo, up
	}
	density := min(1, 4/float64(rows))
	activity := make([]float64, rows)
	type column struct {
		idx []int32
		val []float64
	}
	columns := make([]column, cols)
	for j := range columns {
		for i := range rows {
			if v := number(); v != 0 && rng.Float64() < density {
				columns[j].idx = append(columns[j].idx, int32(i))
				columns[j].val = append(columns[j].val, v)
				activity[i] += v * point[j]
			}
		}
	}
	for i := range rows {
		lo, up := bounds(activity[i])
		if !feasible {
			lo, up = bounds(number())
		}
		m.AddRow(lo, up)
	}
	for j, c := range columns {
		lo, up := bounds(point[j])
		m.AddCol(number(), lo, up, c.idx, c.val)
	}
	if cols == 0 {
		m.Start = []int{0}
	}
	return m
}

// standard solves m by gonum's dense simplex on min c·x, A x = b, x >= 0.
func standard(m *Model) (Outcome, float64, error) {
	type col struct {
		cost float64
		idx  []int
		val  []float64
	}
	var cols []col
	b := make([]float64, m.Rows())
	constant := 0.0
	add := func(cost float64, idx []int, val []float64, lo, up float64) {
		shift := func(x float64) {
			constant += cost * x
			for p, i := range idx {
				b[i] -= val[p] * x
			}
		}
		negated := append([]float64(nil), val...)
		for p := range negated {
			negated[p] = -negated[p]
		}
		switch {
		case lo == up:
			shift(lo)
		case math.IsInf(lo, -1) && math.IsInf(up, 1):
			cols = append(cols, col{cost, idx, val}, col{-cost, idx, negated})
		case math.IsInf(lo, -1):
			shift(up)
			cols = append(cols, col{-cost, idx, negated})
		case math.IsInf(up, 1):
			shift(lo)
			cols = append(cols, col{cost, idx, val})
		default:
			shift(lo)
			row := len(b)
			b = append(b, up-lo)
			cols = append(cols,
				col{cost, append(append([]int(nil), idx...), row), append(append([]float64(nil), val...), 1)},
				col{0, []int{row}, []float64{1}})
		}
	}
	for j := range m.Cols() {
		var idx []int
		for _, i := range m.Index[m.Start[j]:m.Start[j+1]] {
			idx = append(idx, int(i))
		}
		add(m.Cost[j], idx, m.Value[m.Start[j]:m.Start[j+1]], m.ColLower[j], m.ColUpper[j])
	}
	for i := range m.Rows() {
		add(0, []int{i}, []float64{-1}, m.RowLower[i], m.RowUpper[i])
	}
	if len(cols) < len(b) || len(b) == 0 {
		return Failed, 0, errors.New("not a case for the dense solver")
	}
	a := mat.NewDense(len(b), len(cols), nil)
	c := make([]float64, len(cols))
	for j, k := range cols {
		c[j] = k.cost
		for p, i := range k.idx {
			a.Set(i, j, a.At(i, j)+k.val[p])
		}
	}
	opt, _, err := lp.Simplex(c, a, b, 0, nil)
	switch {
	case err == nil:
		return Optimal, opt + constant, nil
	case errors.Is(err, lp.ErrInfeasible):
		return Infeasible, 0, nil
	case errors.Is(err, lp.ErrUnbounded):
		return Unbounded, 0, nil
	}
	return Failed, 0, err
}

func TestTinyAgainstDenseSimplex(t *testing.T) {
	compared := map[Outcome]int{}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 10))
		m := randomProgram(rng, 1+rng.IntN(4), 1+rng.IntN(5), seed%2 == 0, seed%3 == 0)
		want, value, err := standard(m)
		if err != nil {
			want = Failed // the dense solver needs full rank
		}
		res := solve(t, m, Options{})
		if res.Outcome == Optimal {
			if err := kkt(m, res, 1e-8); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		if want == Failed {
			continue
		}
		if want == Unbounded && res.Outcome != Unbounded {
			// The dense simplex may say so of programs without a point, and says so of some that have an optimum:
			// there the conditions checked above are proof.
			if res.Outcome == Infeasible && hasPoint(t, m) || res.Outcome > Infeasible {
				t.Errorf("seed %d: %v, dense simplex unbounded", seed, res.Outcome)
			}
			continue
		}
		compared[want]++
		if res.Outcome != want {
			t.Errorf("seed %d: %v (%g), dense simplex %v (%g)", seed, res.Outcome, res.Objective, want, value)
		} else if want == Optimal && math.Abs(res.Objective-value) > 1e-7*(1+math.Abs(value)) {
			t.Errorf("seed %d: %.12g, dense simplex %.12g", seed, res.Objective, value)
		}
	}
	t.Logf("compared %v", compared)
	for _, o := range []Outcome{Optimal, Infeasible, Unbounded} {
		if compared[o] < 500 {
			t.Errorf("only %d comparisons with outcome %v", compared[o], o)
		}
	}
}

// elastic returns m with free slack at a price of 1 on every row, without costs: its optimum is 0 iff m has a point.
func elastic(m *Model) *Model {
	e := &Model{RowLower: m.RowLower, RowUpper: m.RowUpper}
	for j := range m.Cols() {
		e.AddCol(0, m.ColLower[j], m.ColUpper[j], m.Index[m.Start[j]:m.Start[j+1]], m.Value[m.Start[j]:m.Start[j+1]])
	}
	for i := range m.Rows() {
		e.AddCol(1, 0, math.Inf(1), []int32{int32(i)}, []float64{1})
		e.AddCol(1, 0, math.Inf(1), []int32{int32(i)}, []float64{-1})
	}
	return e
}

// hasPoint decides feasibility by the elastic program, whose answer is checked.
func hasPoint(t testing.TB, m *Model) bool {
	t.Helper()
	e := elastic(m)
	res := solve(t, e, Options{})
	if err := kkt(e, res, 1e-7); err != nil {
		t.Fatalf("elastic program: %v", err)
	}
	return res.Objective <= 1e-7
}

// An Optimal answer is checked by its conditions, Infeasible by the elastic program, Unbounded by the optimum within
// a huge box.
func TestRandomPrograms(t *testing.T) {
	seen := map[Outcome]int{}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 11))
		rows, cols := 1+rng.IntN(60), 1+rng.IntN(80)
		if seed%10 == 0 {
			rows, cols = 1+rng.IntN(200), 1+rng.IntN(300)
		}
		m := randomProgram(rng, rows, cols, seed%4 < 2, seed%4 != 3)
		if seed%5 == 0 { // large bounds instead of none: the dual flips them
			for j := range m.Cols() {
				m.ColLower[j], m.ColUpper[j] = max(m.ColLower[j], -1e3), min(m.ColUpper[j], 1e3)
			}
		}
		res := solve(t, m, Options{})
		seen[res.Outcome]++
		switch res.Outcome {
		case Optimal:
			if err := kkt(m, res, 1e-7); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		case Infeasible:
			if hasPoint(t, m) {
				t.Errorf("seed %d: called infeasible", seed)
			}
		case Unbounded:
			boxed := *m
			boxed.ColLower, boxed.ColUpper = append([]float64(nil), m.ColLower...), append([]float64(nil), m.ColUpper...)
			for j := range boxed.ColLower {
				boxed.ColLower[j], boxed.ColUpper[j] = max(boxed.ColLower[j], -1e6), min(boxed.ColUpper[j], 1e6)
			}
			far := solve(t, &boxed, Options{Feasible: 1e-6})
			if far.Outcome != Optimal || far.Objective > -1e3 {
				t.Errorf("seed %d: called unbounded, but %v with %g in a box", seed, far.Outcome, far.Objective)
			}
		default:
			t.Errorf("seed %d: %v", seed, res.Outcome)
		}
	}
	t.Logf("outcomes %v", seen)
	for _, o := range []Outcome{Optimal, Infeasible, Unbounded} {
		if seen[o] < 30 {
			t.Errorf("only %d programs ended %v", seen[o], o)
		}
	}
}
