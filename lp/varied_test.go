package lp_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/lp"
	"optratio/lp/heterogeneous"
	"optratio/lp/linear"
	"optratio/lp/variant"
	"optratio/mechanisms"
)

// asked returns the answer to a request at e^ε, with permute-and-flip and the exponential mechanism rated.
func asked(t *testing.T, e string, r lp.Request) *lp.Answer {
	t.Helper()
	var err error
	r.Epsilon, err = mechanisms.ParseExp(e)
	require.NoError(t, err)
	for _, name := range []string{"pf", "em", "geo"} {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		r.Mechanisms = append(r.Mechanisms, m)
	}
	r.Solver, r.Gap = linear.Embedded{}, big.NewRat(1, 1e9)
	a, err := lp.Ratio(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	return a
}

// The general program and the chain form are two routes to the same optimum, at every level and both objectives.
func TestTwoRoutesToOneOptimum(t *testing.T) {
	for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 3}, {4, 2}, {3, 4}} {
		var depths []*big.Rat
		for v := range size[1] + 1 {
			depths = append(depths, big.NewRat(int64(v), 1))
		}
		same, err := variant.Losses(depths)
		require.NoError(t, err)
		for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
			for _, level := range []lp.Level{lp.Paper, lp.DP, lp.Monotone, lp.Full} {
				for _, e := range []string{"5/4", "8/5"} {
					r := lp.Request{N: size[0], K: size[1], Objective: o, Level: level, Method: lp.Enumerated}
					want := asked(t, e, r)
					r.Loss = same
					got := asked(t, e, r)
					name := fmt.Sprint(size, o, level, e)
					assert.Equal(t, want.Optimum, got.Optimum, name)
					assert.Equal(t, want.Mechanisms, got.Mechanisms, name)
				}
			}
		}
	}
}

// Equal sensitivities on a grid of integers, mechanisms shift-invariant: the same question to the program over all score vectors.
// There a vector counts for its shifts within the grid, which is the box objective.
func TestResolutionsAgreeWithTheGridProgram(t *testing.T) {
	for _, c := range []struct{ n, k, l int }{{2, 2, 1}, {2, 2, 2}, {2, 2, 3}, {3, 1, 2}, {3, 2, 2}, {3, 1, 3}, {3, 1, 4}} {
		for _, e := range []string{"3/2", "4"} {
			got := asked(t, e, lp.Request{N: c.n, K: c.k, Step: c.l, Objective: lattice.Box, Level: lp.DP})
			// scores in steps of the lattice: 2Δ = L
			grid := heterogeneous.Grid{From: new(big.Rat), Step: big.NewRat(1, 1), Steps: c.k * c.l, ShiftInvariant: true}
			for range c.n {
				grid.Sensitivities = append(grid.Sensitivities, big.NewRat(int64(c.l), 2))
			}
			want, err := heterogeneous.Solve(context.Background(), heterogeneous.Request{
				Grid: grid, Epsilon: got.Request.Epsilon, Mechanisms: got.Request.Mechanisms, Solver: linear.Embedded{},
			})
			require.NoError(t, err)
			require.Empty(t, want.Undecided)
			a, _ := want.Optimum.Rat()
			b, _ := got.Optimum.Rat()
			require.NotNil(t, a)
			require.NotNil(t, b)
			assert.Zero(t, a.Cmp(b.Mul(b, big.NewRat(int64(c.l), 1))), "%v e^ε = %s: %s, %s", c, e, a, b)
			for i, m := range want.Mechanisms {
				assert.InDelta(t, m.Ratio.Float64(), got.Mechanisms[i].Ratio.Float64(), 1e-12, m.Name)
			}
		}
	}
}
