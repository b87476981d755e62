//go:build clp && cgo

package clp

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
)

var z = math.Exp(-0.5)

// At epsilon = 0.5: the objective of permute-and-flip, that is of the starting
// basis, over the optimum.
func TestLatticeReferences(t *testing.T) {
	checkLattice(t, 4, 4, 1.008580322887, 1e-12)
	checkLattice(t, 6, 6, 1.009564488390, 1e-12)
	checkLattice(t, 7, 7, 1.0094058, 1e-7)
	if slowtest.Enabled {
		checkLattice(t, 8, 8, 1.00919474282, 1e-11)
	}
}

func checkLattice(t *testing.T, n, k int, ratio, digits float64) {
	m, start := latticeLP(n, k, z)
	require.NoError(t, start.Check(m))
	pf := stopped(t, m, start) // no pivot: where the basis stands
	r := mustSolve(t, m, linear.Options{Basis: start})
	require.Equal(t, linear.Optimal, r.Outcome)
	checkResult(t, m, r)
	assert.InDelta(t, ratio, pf.Objective/r.Objective, digits)
	assert.Zero(t, mustSolve(t, m, linear.Options{Basis: r.Basis}).Pivots)
	t.Logf("n=%d k=%d: %d rows, %d columns, %d pivots", n, k, m.Rows(), m.Cols(), r.Pivots)
}

// stopped evaluates a basis: the context has ended before the solve starts.
func stopped(t testing.TB, m *linear.Model, b *linear.Basis) *linear.Result {
	t.Helper()
	s, err := New()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := s.Solve(ctx, m, linear.Options{Basis: b})
	require.NoError(t, err)
	require.Contains(t, []linear.Outcome{linear.Stopped, linear.Optimal}, r.Outcome)
	require.Zero(t, r.Pivots)
	return r
}

// Where permute-and-flip is optimal (here e^eps = 3 > 2) its basis needs no pivot.
func TestOptimalStartNeedsNoPivot(t *testing.T) {
	m, start := latticeLP(5, 5, 1.0/3)
	r := mustSolve(t, m, linear.Options{Basis: start})
	assert.Equal(t, linear.Optimal, r.Outcome)
	assert.Zero(t, r.Pivots)
	assert.Equal(t, start.Col, r.Basis.Col)
}

// A ranged row 2 <= x + y <= 5 put at either bound, with x basic, moves x there.
func TestRowStatusDirections(t *testing.T) {
	m := dense([]float64{0, 0}, [][2]float64{{-inf, inf}, {1, 3}}, [][2]float64{{2, 5}}, [][]float64{{1, 1}})
	for _, test := range []struct {
		row, y linear.VarStatus
		x      []float64
	}{
		{linear.AtLower, linear.AtLower, []float64{1, 1}},
		{linear.AtUpper, linear.AtLower, []float64{4, 1}},
		{linear.AtLower, linear.AtUpper, []float64{-1, 3}},
		{linear.AtUpper, linear.AtUpper, []float64{2, 3}},
	} {
		b := &linear.Basis{Col: []linear.VarStatus{linear.Basic, test.y}, Row: []linear.VarStatus{test.row}}
		r := stopped(t, m, b)
		assert.Equal(t, test.x, r.X)
		assert.Equal(t, b, r.Basis)
	}
}

func TestSingularStartIsRepaired(t *testing.T) {
	// The first two columns are parallel, and basic together.
	m := dense([]float64{1, 1, 3}, [][2]float64{{0, inf}, {0, inf}, {0, inf}}, [][2]float64{{2, inf}, {3, inf}},
		[][]float64{{1, 2, 1}, {1, 2, 0}})
	b := &linear.Basis{
		Col: []linear.VarStatus{linear.Basic, linear.Basic, linear.AtLower},
		Row: []linear.VarStatus{linear.AtLower, linear.AtLower},
	}
	r := mustSolve(t, m, linear.Options{Basis: b})
	require.Equal(t, linear.Optimal, r.Outcome)
	assert.InDelta(t, 1.5, r.Objective, 1e-12)
	checkResult(t, m, r)
	require.NoError(t, stopped(t, m, b).Basis.Check(m))
	assert.Equal(t, []linear.VarStatus{linear.Basic, linear.Basic, linear.AtLower}, b.Col, "the caller's basis is not touched")
}

// Statuses that a variable cannot have mean the bound that it has.
func TestImpossibleStatuses(t *testing.T) {
	m := dense([]float64{1, -1, 1}, [][2]float64{{-inf, 4}, {1, inf}, {-inf, inf}}, [][2]float64{{-inf, inf}}, [][]float64{{1, 1, 1}})
	r := stopped(t, m, &linear.Basis{Col: []linear.VarStatus{linear.AtLower, linear.AtUpper, linear.AtUpper}, Row: []linear.VarStatus{linear.Basic}})
	assert.Equal(t, []float64{4, 1, 0}, r.X)
	assert.Equal(t, []linear.VarStatus{linear.AtUpper, linear.AtLower, linear.Free}, r.Basis.Col)
}

func TestRefusals(t *testing.T) {
	m := dense([]float64{1}, [][2]float64{{0, 1}}, [][2]float64{{0, 1}}, [][]float64{{1}})
	s, err := New()
	require.NoError(t, err)
	assert.True(t, Available)
	assert.Equal(t, "clp", s.Name())
	for name, o := range map[string]linear.Options{
		"negative":        {Feasible: -1},
		"nan":             {Optimal: math.NaN()},
		"limit":           {MaxPivots: -1},
		"short basis":     {Basis: &linear.Basis{}},
		"two basic":       {Basis: &linear.Basis{Col: []linear.VarStatus{linear.Basic}, Row: []linear.VarStatus{linear.Basic}}},
		"unknown status":  {Basis: &linear.Basis{Col: []linear.VarStatus{9}, Row: []linear.VarStatus{linear.Basic}}},
		"negative status": {Basis: &linear.Basis{Col: []linear.VarStatus{-1}, Row: []linear.VarStatus{linear.Basic}}},
	} {
		_, err := s.Solve(context.Background(), m, o)
		assert.Error(t, err, name)
	}
	m.Cost[0] = math.NaN()
	_, err = s.Solve(context.Background(), m, linear.Options{})
	assert.ErrorIs(t, err, linear.ErrModel)
}

// A power of two in front of the objective changes nothing but the units of the answer. CLP itself aborts the process at costs of 1e25.
func TestUnitOfCostsDoesNotMatter(t *testing.T) {
	for _, unit := range []int{-300, -100, -40, 40, 100, 300} {
		m := dense([]float64{math.Ldexp(1, unit), math.Ldexp(2, unit)}, [][2]float64{{0, 10}, {0, 10}}, [][2]float64{{2, inf}, {-inf, 1}}, [][]float64{{1, 1}, {1, -1}})
		r := mustSolve(t, m, linear.Options{})
		require.Equal(t, linear.Optimal, r.Outcome, "2^%d", unit)
		assert.InEpsilon(t, math.Ldexp(2.5, unit), r.Objective, 1e-12)
		assert.InEpsilonSlice(t, []float64{1.5, 0.5}, r.X, 1e-12)
		assert.InEpsilonSlice(t, []float64{math.Ldexp(1.5, unit), math.Ldexp(-0.5, unit)}, r.Duals, 1e-12)
	}
}

// A bound that is enormous beside the others does not drown them, or CLP is not asked: it takes bounds of 1e28 for infinite.
func TestOneHugeBound(t *testing.T) {
	for huge, want := range map[float64]linear.Outcome{1e9: linear.Optimal, 1e15: linear.Optimal, 1e20: linear.Failed, 1e40: linear.Failed, 1e300: linear.Failed} {
		m := dense([]float64{-1, -1, 0}, [][2]float64{{0, 1}, {0, huge}, {0, huge}}, [][2]float64{{-inf, 1.5}}, [][]float64{{1, 1, 0}})
		r := mustSolve(t, m, linear.Options{})
		require.Equal(t, want, r.Outcome, "%g", huge)
		if want == linear.Optimal {
			assert.InDelta(t, -1.5, r.Objective, 1e-9, "%g", huge)
		}
	}
}

// Numbers from the whole range of float64: whatever comes out (often Failed), the process
// lives, nothing boxed is called unbounded, and what is called optimal is finite.
func TestExtremesDoNotAbort(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	number := func(span float64) float64 {
		return math.Copysign(math.Pow(10, span*(2*rng.Float64()-1)), rng.Float64()-0.5)
	}
	count := map[linear.Outcome]int{}
	for trial := range 800 {
		span := []float64{5, 15, 30, 300}[trial%4]
		n := 1 + rng.IntN(5)
		cost, a := make([]float64, n), make([][]float64, n)
		colBounds, rowBounds := make([][2]float64, n), make([][2]float64, n)
		for i := range n {
			cost[i], a[i] = number(span), make([]float64, n)
			for j := range n {
				if rng.IntN(3) > 0 {
					a[i][j] = number(span)
				}
			}
			rowBounds[i] = [2]float64{-inf, number(span)}
			colBounds[i] = [2]float64{-math.Abs(number(span)), math.Abs(number(span))}
		}
		m := dense(cost, colBounds, rowBounds, a)
		r := mustSolve(t, m, linear.Options{})
		count[r.Outcome]++
		assert.NotEqual(t, linear.Unbounded, r.Outcome, "every column has bounds")
		if r.Outcome == linear.Optimal {
			assert.False(t, math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0))
		}
	}
	t.Log(count)
	assert.Greater(t, count[linear.Optimal], 200)
}

// Random programs with bounded, free and ranged parts: CLP and the embedded solver agree on the
// outcome and, where there is one, on the optimum, which its duals confirm.
func TestRandomProgramsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	count := map[linear.Outcome]int{}
	bounds := func() [2]float64 {
		lower, upper := float64(rng.IntN(9)-6), float64(rng.IntN(9)-2)
		if rng.IntN(3) == 0 {
			lower = -inf
		}
		if rng.IntN(3) == 0 {
			upper = inf
		}
		return [2]float64{min(lower, upper), max(lower, upper)}
	}
	for trial := range 400 {
		rows, cols := 1+rng.IntN(6), 1+rng.IntN(6)
		cost := make([]float64, cols)
		colBounds, rowBounds := make([][2]float64, cols), make([][2]float64, rows)
		for j := range cols {
			cost[j], colBounds[j] = float64(rng.IntN(7)-3), bounds()
		}
		a := make([][]float64, rows)
		for i := range rows {
			rowBounds[i], a[i] = bounds(), make([]float64, cols)
			for j := range cols {
				if rng.IntN(2) == 0 {
					a[i][j] = float64(rng.IntN(7) - 3)
				}
			}
		}
		m := dense(cost, colBounds, rowBounds, a)
		r := mustSolve(t, m, linear.Options{})
		other, err := linear.Embedded{}.Solve(context.Background(), m, linear.Options{})
		require.NoError(t, err)
		if count[r.Outcome]++; r.Outcome == linear.Failed {
			continue // as on few of those without a point
		}
		require.Equal(t, other.Outcome, r.Outcome, "trial %d", trial)
		if r.Outcome == linear.Optimal {
			assert.InDelta(t, r.Objective, other.Objective, 1e-9, "trial %d", trial)
			checkResult(t, m, r)
			assert.Zero(t, mustSolve(t, m, linear.Options{Basis: r.Basis}).Pivots, "trial %d", trial)
		}
	}
	for _, o := range []linear.Outcome{linear.Optimal, linear.Infeasible, linear.Unbounded} {
		assert.Greater(t, count[o], 40, "the generator covers %v: %v", o, count)
	}
	assert.Less(t, count[linear.Failed], 5)
}

func TestPivotLimit(t *testing.T) {
	m, start := latticeLP(6, 6, z)
	full := mustSolve(t, m, linear.Options{Basis: start})
	b, rounds := start, 0
	last := stopped(t, m, start).Objective
	for {
		r := mustSolve(t, m, linear.Options{Basis: b, MaxPivots: 25})
		require.LessOrEqual(t, r.Pivots, 25)
		assert.LessOrEqual(t, r.Objective, last*(1+1e-12), "the objective never rises from a feasible basis")
		b, last = r.Basis, r.Objective
		rounds++
		if r.Outcome == linear.Optimal {
			break
		}
		require.Equal(t, linear.Stopped, r.Outcome)
		require.Equal(t, 25, r.Pivots)
		require.Less(t, rounds, 40)
	}
	assert.Greater(t, rounds, 2)
	assert.InEpsilon(t, full.Objective, last, 1e-12)
}

func TestCancel(t *testing.T) {
	m, _ := latticeLP(8, 8, z) // started cold: tens of thousands of pivots
	s, err := New()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	reports, at := 0, 0
	r, err := s.Solve(ctx, m, linear.Options{Report: func(p linear.Progress) {
		reports++
		assert.GreaterOrEqual(t, p.Pivots, 0)
		if at == 0 && p.Pivots > 500 {
			at = p.Pivots
			cancel()
		}
	}})
	require.NoError(t, err)
	require.Equal(t, linear.Stopped, r.Outcome)
	assert.NoError(t, r.Basis.Check(m))
	assert.Positive(t, r.Pivots)
	assert.Positive(t, reports)
	require.Positive(t, at)
	assert.Less(t, r.Pivots-at, 2000, "a small part of the work, on any machine")
	t.Logf("cancelled at %d pivots, stopped at %d", at, r.Pivots)
}

// A panic in Report comes out of Solve with nothing left running.
func TestPanicInReport(t *testing.T) {
	m, _ := latticeLP(7, 7, z)
	before := runtime.NumGoroutine()
	assert.PanicsWithValue(t, "enough", func() {
		mustSolve(t, m, linear.Options{Report: func(linear.Progress) { panic("enough") }})
	})
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond) // one runs this condition
}

func TestConcurrentSolves(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	m, start := latticeLP(5, 5, z)
	want := mustSolve(t, m, linear.Options{Basis: start})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				r, err := s.Solve(context.Background(), m, linear.Options{Basis: start})
				assert.NoError(t, err)
				assert.Equal(t, want, r)
			}
		})
	}
	group.Wait()
}

// residentPages reads the resident set from Linux' proc file system.
func residentPages(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm")
	}
	pages, err := strconv.Atoi(string(bytes.Fields(data)[1]))
	require.NoError(t, err)
	return pages
}

// A model of this size takes some 80 kB in CLP: 500 lost ones would be 39 MB.
func TestNoLeak(t *testing.T) {
	m, start := latticeLP(5, 5, z)
	round := func() {
		for range 250 {
			mustSolve(t, m, linear.Options{Basis: start})
		}
		runtime.GC()
	}
	round()
	before := residentPages(t)
	round()
	round()
	grown := (residentPages(t) - before) * os.Getpagesize()
	t.Logf("grown by %d kB", grown>>10)
	assert.Less(t, grown, 12<<20)
}
