package variant

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/number"
)

// TestNearTablesLeadToTheSameOptimum: where solving starts decides how long it takes, not what comes out, however good or bad the table.
func TestNearTablesLeadToTheSameOptimum(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, q := range []Question{
		{N: 4, K: 4, Worst: true}, {N: 3, K: 3, Worst: true, Neighbors: true, Monotone: true, Loss: Top1()},
		{N: 4, K: 2, L: 2, Neighbors: true}, {N: 3, K: 2, L: 2, Neighbors: true, Monotone: true, Loss: Square()}, {N: 3, K: 2, L: 3, Worst: true, Neighbors: true},
	} {
		q.Epsilon = eps
		solve := func(near func(p *Program) []float64) *Solution {
			p, err := New(q)
			require.NoError(t, err)
			require.Nil(t, p.tabled().Near, "too small")
			p.table.Near = near(p)
			s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
			require.NoError(t, err)
			require.Empty(t, s.Undecided)
			require.True(t, s.Optimum.Exact())
			return s
		}
		cold := solve(func(*Program) []float64 { return nil })
		warm := solve((*Program).near)
		odd := solve(func(p *Program) []float64 {
			x := p.near()
			for j := range x {
				x[j] *= 1 + float64(j%3)
			}
			return x
		})
		for _, s := range []*Solution{warm, odd} {
			assert.Equal(t, cold.Optimum.Low.RatString(), s.Optimum.Low.RatString(), "%+v", q)
		}
		assert.Less(t, warm.Pivots, cold.Pivots, "%+v", q)
	}
	large, err := New(Question{N: 5, K: 4, L: 2, Epsilon: eps, Neighbors: true})
	require.NoError(t, err)
	assert.NotNil(t, large.tabled().Near)
}
