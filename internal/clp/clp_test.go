//go:build clp && cgo

package clp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

var inf = math.Inf(1)

// dense builds a program from rows of coefficients.
func dense(cost []float64, colBounds, rowBounds [][2]float64, a [][]float64) *linear.Model {
	m := &linear.Model{}
	for _, b := range rowBounds {
		m.AddRow(b[0], b[1])
	}
	for j, c := range cost {
		var index []int32
		var value []float64
		for i := range a {
			if a[i][j] != 0 {
				index = append(index, int32(i))
				value = append(value, a[i][j])
			}
		}
		m.AddCol(c, colBounds[j][0], colBounds[j][1], index, value)
	}
	return m
}

func mustSolve(t testing.TB, m *linear.Model, o linear.Options) *linear.Result {
	t.Helper()
	s, err := New()
	require.NoError(t, err)
	r, err := s.Solve(context.Background(), m, o)
	require.NoError(t, err)
	return r
}

// checkResult compares the parts of an optimal result with each other, with
// sums of its own: reduced costs, objective, and the dual
// objective, in which every multiplier counts with the bound its sign points to.
func checkResult(t testing.TB, m *linear.Model, r *linear.Result) {
	t.Helper()
	objective, dual := 0.0, 0.0
	largest := 0.0
	for _, c := range m.Cost {
		largest = max(largest, math.Abs(c))
	}
	count := func(d, lower, upper float64) {
		b := lower
		if d < 0 {
			b = upper
		}
		if math.IsInf(b, 0) {
			if !(math.Abs(d) <= 1e-10*largest) {
				t.Errorf("multiplier %g points to no bound", d)
			}
		} else if d != 0 {
			dual += d * b
		}
	}
	for j, c := range m.Cost {
		objective += c * r.X[j]
		d := c
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			d -= m.Value[k] * r.Duals[m.Index[k]]
		}
		count(d, m.ColLower[j], m.ColUpper[j])
	}
	for i, y := range r.Duals {
		count(y, m.RowLower[i], m.RowUpper[i])
	}
	assert.InDelta(t, objective, r.Objective, 1e-9*(1+math.Abs(objective)))
	assert.InDelta(t, objective, dual, 1e-9*(1+math.Abs(objective)), "primal and dual objective")
}

// Every program here was solved by hand. Degenerate ones have a unique optimal
// point; where duals are given they are unique too.
func TestSmallPrograms(t *testing.T) {
	const lo, up, ba, fr = linear.AtLower, linear.AtUpper, linear.Basic, linear.Free
	box := func(n int, l, u float64) [][2]float64 {
		b := make([][2]float64, n)
		for i := range b {
			b[i] = [2]float64{l, u}
		}
		return b
	}
	for _, test := range []struct {
		name     string
		m        *linear.Model
		outcome  linear.Outcome
		x, duals []float64
		col, row []linear.VarStatus
	}{
		{"both row directions", // min x + 2y: x + y >= 2, x - y <= 1
			dense([]float64{1, 2}, box(2, 0, 10), [][2]float64{{2, inf}, {-inf, 1}}, [][]float64{{1, 1}, {1, -1}}),
			linear.Optimal, []float64{1.5, 0.5}, []float64{1.5, -0.5}, []linear.VarStatus{ba, ba}, []linear.VarStatus{lo, up}},
		{"ranged row at lower", // min x: 2 <= x + y <= 5, y <= 1
			dense([]float64{1, 0}, [][2]float64{{0, inf}, {0, 1}}, [][2]float64{{2, 5}}, [][]float64{{1, 1}}),
			linear.Optimal, []float64{1, 1}, []float64{1}, []linear.VarStatus{ba, up}, []linear.VarStatus{lo}},
		{"ranged row at upper", // min -x: 2 <= x + y <= 5, y >= 1
			dense([]float64{-1, 0}, [][2]float64{{0, inf}, {1, 7}}, [][2]float64{{2, 5}}, [][]float64{{1, 1}}),
			linear.Optimal, []float64{4, 1}, []float64{-1}, []linear.VarStatus{ba, lo}, []linear.VarStatus{up}},
		{"equality of negative price", // min -3x: x + y = 4, y >= 0
			dense([]float64{-3, 0}, box(2, 0, inf), [][2]float64{{4, 4}}, [][]float64{{1, 1}}),
			linear.Optimal, []float64{4, 0}, []float64{-3}, []linear.VarStatus{ba, lo}, []linear.VarStatus{up}},
		{"free columns", // min x: x - y >= -1, x + y >= -3, both free
			dense([]float64{1, 0}, box(2, -inf, inf), [][2]float64{{-1, inf}, {-3, inf}}, [][]float64{{1, -1}, {1, 1}}),
			linear.Optimal, []float64{-2, -1}, []float64{0.5, 0.5}, []linear.VarStatus{ba, ba}, []linear.VarStatus{lo, lo}},
		{"free column left nonbasic", // min x: x >= 1 as a row, y free and nowhere
			dense([]float64{1, 0}, box(2, -inf, inf), [][2]float64{{1, inf}}, [][]float64{{1, 0}}),
			linear.Optimal, []float64{1, 0}, []float64{1}, []linear.VarStatus{ba, fr}, []linear.VarStatus{lo}},
		{"upper bounded below nothing", // min -x: x <= 3, no lower bound, idle row
			dense([]float64{-1}, [][2]float64{{-inf, 3}}, [][2]float64{{-inf, inf}}, [][]float64{{1}}),
			linear.Optimal, []float64{3}, []float64{0}, []linear.VarStatus{up}, []linear.VarStatus{ba}},
		{"fixed column", // min x + y: x = 2, x + y >= 5
			dense([]float64{1, 1}, [][2]float64{{2, 2}, {0, inf}}, [][2]float64{{5, inf}}, [][]float64{{1, 1}}),
			linear.Optimal, []float64{2, 3}, []float64{1}, nil, []linear.VarStatus{lo}},
		{"infeasible rows", // x + y <= 1 and x + y >= 2
			dense([]float64{1, 1}, box(2, 0, inf), [][2]float64{{-inf, 1}, {2, inf}}, [][]float64{{1, 1}, {1, 1}}),
			linear.Infeasible, nil, nil, nil, nil},
		{"infeasible against bounds", // x >= 5 as a row, x <= 4
			dense([]float64{0}, box(1, 0, 4), [][2]float64{{5, inf}}, [][]float64{{1}}),
			linear.Infeasible, nil, nil, nil, nil},
		{"infeasible and dual infeasible", // min -y: x <= -1, x >= 0, y free of rows
			dense([]float64{0, -1}, box(2, 0, inf), [][2]float64{{-inf, -1}}, [][]float64{{1, 0}}),
			linear.Infeasible, nil, nil, nil, nil},
		{"unbounded", // min -x - y: x - y <= 1
			dense([]float64{-1, -1}, box(2, 0, inf), [][2]float64{{-inf, 1}}, [][]float64{{1, -1}}),
			linear.Unbounded, nil, nil, nil, nil},
		{"unbounded free column", // min x, an idle row
			dense([]float64{1}, box(1, -inf, inf), [][2]float64{{-inf, 1}}, [][]float64{{1}}),
			linear.Unbounded, nil, nil, nil, nil},
		{"no rows", dense([]float64{1, -1}, box(2, -2, 3), nil, nil),
			linear.Optimal, []float64{-2, 3}, []float64{}, []linear.VarStatus{lo, up}, []linear.VarStatus{}},
		{"no rows, unbounded", dense([]float64{1, -1}, box(2, -inf, inf), nil, nil),
			linear.Unbounded, nil, nil, nil, nil},
		{"no columns", dense(nil, nil, [][2]float64{{-1, 1}}, [][]float64{{}}),
			linear.Optimal, []float64{}, []float64{0}, []linear.VarStatus{}, []linear.VarStatus{ba}},
		{"no columns, infeasible", dense(nil, nil, [][2]float64{{1, 2}}, [][]float64{{}}),
			linear.Infeasible, nil, nil, nil, nil},
		{"nothing", &linear.Model{}, linear.Optimal, []float64{}, []float64{}, []linear.VarStatus{}, []linear.VarStatus{}},
		{"empty column", // min x - y: y in no row, x >= 1
			dense([]float64{1, -1}, box(2, 0, 5), [][2]float64{{1, inf}}, [][]float64{{1, 0}}),
			linear.Optimal, []float64{1, 5}, []float64{1}, []linear.VarStatus{ba, up}, []linear.VarStatus{lo}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := mustSolve(t, test.m, linear.Options{})
			require.Equal(t, test.outcome, r.Outcome)
			assert.Len(t, r.X, test.m.Cols())
			assert.Len(t, r.Duals, test.m.Rows())
			if r.Outcome != linear.Optimal {
				return
			}
			assert.InDeltaSlice(t, test.x, r.X, 1e-12)
			if test.duals != nil {
				assert.InDeltaSlice(t, test.duals, r.Duals, 1e-12)
			}
			if test.col != nil {
				assert.Equal(t, test.col, r.Basis.Col)
			}
			if test.row != nil {
				assert.Equal(t, test.row, r.Basis.Row)
			}
			require.NoError(t, r.Basis.Check(test.m))
			checkResult(t, test.m, r)
			again := mustSolve(t, test.m, linear.Options{Basis: r.Basis})
			assert.Zero(t, again.Pivots, "pivots from the returned basis")
			assert.Equal(t, r.Basis, again.Basis)
		})
	}
}
