package lp

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	gonum "gonum.org/v1/gonum/optimize/convex/lp"

	"optratio/internal/clp"
	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/number"
)

// The program over orbits has the optimum of the program over all score vectors,
// at every level and for both objectives.
func TestSymmetricProgramEqualsUnreduced(t *testing.T) {
	slowtest.Only(t)
	for _, s := range [][2]int{{2, 1}, {2, 3}, {3, 1}, {3, 2}, {3, 3}, {4, 2}} {
		for _, level := range []Level{Paper, DP, Monotone, Full} {
			for _, o := range []Prior{{}, Box()} {
				if level == Full && s[0]*s[1] > 8 && o.box() {
					continue
				}
				t.Run(fmt.Sprint(s, level, o), func(t *testing.T) {
					e := expEps(t, 5, 4)
					z, _ := e.Z()
					want := solveRational(t, unreduced(s[0], s[1], o, level, z, false))
					got := exactOptimum(t, s[0], s[1], o, level, e)
					assert.Zero(t, want.Cmp(got), "unreduced %s, by orbits %s", want.RatString(), got.RatString())
				})
			}
		}
	}
}

// The two solvers, gonum's simplex and the exact path agree.
func TestSolversAgree(t *testing.T) {
	solvers := []linear.Solver{linear.Embedded{}}
	if clp.Available {
		s, err := clp.New()
		require.NoError(t, err)
		solvers = append(solvers, s)
	}
	for _, s := range [][2]int{{3, 1}, {3, 2}, {3, 3}, {4, 2}} {
		for _, ab := range [][2]int64{{6, 5}, {3, 2}, {2, 1}} {
			e := expEps(t, ab[0], ab[1])
			z, _ := e.Z()
			exact := exactOptimum(t, s[0], s[1], Prior{}, Paper, e)
			want, _ := exact.Float64()
			r := unreduced(s[0], s[1], Prior{}, Paper, z, false)
			m := r.Model()
			require.NoError(t, m.Check())
			for _, solver := range solvers {
				result, err := solver.Solve(context.Background(), m, linear.Options{})
				require.NoError(t, err)
				require.Equal(t, linear.Optimal, result.Outcome)
				assert.InEpsilon(t, want, result.Objective, 1e-9, solver.Name())
				again, err := r.Optimize(context.Background(), result.Basis, solver)
				require.NoError(t, err)
				assert.Zero(t, exact.Cmp(again.Objective), solver.Name())
			}
			if m.Cols() <= 60 {
				assert.InEpsilon(t, want, gonumOptimum(t, m), 1e-7)
			}
		}
	}
}

// gonumOptimum brings a model of equations and rows >= 0 into gonum's standard form.
func gonumOptimum(t *testing.T, m *linear.Model) float64 {
	slack := 0
	for i := range m.RowLower {
		if m.RowLower[i] != m.RowUpper[i] {
			slack++
		}
	}
	a := mat.NewDense(m.Rows(), m.Cols()+slack, nil)
	c := make([]float64, m.Cols()+slack)
	copy(c, m.Cost)
	for j := range m.Cost {
		for p := m.Start[j]; p < m.Start[j+1]; p++ {
			a.Set(int(m.Index[p]), j, m.Value[p])
		}
	}
	at := m.Cols()
	for i := range m.RowLower {
		if m.RowLower[i] != m.RowUpper[i] {
			a.Set(i, at, -1)
			at++
		}
	}
	value, _, err := gonum.Simplex(c, a, m.RowLower, 1e-12, nil)
	require.NoError(t, err)
	return value
}

// Reference values that were computed independently with an exact rational LP solver.
func TestExactReferences(t *testing.T) {
	for _, c := range []struct {
		n, k  int
		a, b  int64
		level Level
		ratio string
	}{
		{3, 4, 5, 4, Paper, "600471190/597437277"},
		{3, 4, 5, 4, DP, "600471190/597437277"},
		{3, 4, 5, 4, Monotone, "43670632000/43463494901"},
		{3, 4, 5, 4, Full, "43670632000/43463494901"},
		{4, 4, 3, 2, Paper, "631372127360/626346334019"},
		{3, 3, 3, 2, Paper, "40832/40581"},
		{3, 3, 3, 2, DP, "1856/1845"},
		{3, 3, 3, 2, Monotone, "1856/1845"},
		{3, 3, 3, 2, Full, "1856/1845"},
		{4, 4, 2, 1, Paper, "1"},
	} {
		e := expEps(t, c.a, c.b)
		z, _ := e.Z()
		ratio := flipTotalExact(c.n, c.k, Prior{}, z)
		ratio.Quo(ratio, exactOptimum(t, c.n, c.k, Prior{}, c.level, e))
		assert.Equal(t, c.ratio, ratio.RatString(), "%+v", c)
	}
	// The mean optimum at (4,4), e^ε = 3/2.
	want, _ := new(big.Rat).SetString("626346334019/2210794560")
	got := exactOptimum(t, 4, 4, Prior{}, Paper, expEps(t, 3, 2))
	assert.Zero(t, want.Cmp(got), got.RatString())
}

// More constraints only raise the optimum.
func TestLevelsAreOrdered(t *testing.T) {
	for _, s := range [][2]int{{3, 2}, {3, 3}, {3, 4}, {4, 3}} {
		for _, ab := range [][2]int64{{6, 5}, {3, 2}} {
			e := expEps(t, ab[0], ab[1])
			var v [4]*big.Rat
			for l := Paper; l <= Full; l++ {
				v[l] = exactOptimum(t, s[0], s[1], Prior{}, l, e)
			}
			for _, pair := range [][2]Level{{Paper, DP}, {Paper, Monotone}, {DP, Full}, {Monotone, Full}} {
				assert.LessOrEqual(t, v[pair[0]].Cmp(v[pair[1]]), 0, "%v at %v", pair, s)
			}
			z, _ := e.Z()
			assert.LessOrEqual(t, v[Full].Cmp(flipTotalExact(s[0], s[1], Prior{}, z)), 0)
		}
	}
}

// Near e^ε = 1 permute-and-flip's basis and the optimal one differ by violations of (e^ε - 1)³ and less, which no
// fixed precision shows.
func TestExactOptimaNearZeroEpsilon(t *testing.T) {
	for _, e := range []string{"1000001/1000000", "1000000000001/1000000000000", "1000000000000000000000000000001/1000000000000000000000000000000"} {
		eps, err := number.ParseExp(e)
		require.NoError(t, err)
		for _, s := range [][2]int{{3, 3}, {4, 2}, {5, 3}} {
			low := new(big.Rat)
			for _, level := range []Level{Paper, DP, Monotone, Full} {
				got := exactOptimum(t, s[0], s[1], Prior{}, level, eps)
				if level != DP {
					assert.GreaterOrEqual(t, got.Cmp(low), 0, "%v %v: more constraints only raise the optimum", e, s)
					low = got
				}
			}
			z, _ := eps.Z()
			assert.Equal(t, 1, flipTotalExact(s[0], s[1], Prior{}, z).Cmp(low), "permute-and-flip is not optimal here")
		}
	}
}
