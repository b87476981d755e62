package lp

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// TestNearTablesLeadToTheSameOptimum: where solving starts decides how long it takes, not what comes out, however good or bad the table.
func TestNearTablesLeadToTheSameOptimum(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, q := range []Request{
		{N: 4, K: 4, Worst: true}, {N: 3, K: 3, Worst: true, Level: Full, Loss: Loss{kind: "top1"}},
		{N: 4, K: 2, Step: 2, Level: DP}, {N: 3, K: 2, Step: 2, Level: Full, Loss: Loss{kind: "square"}}, {N: 3, K: 2, Step: 3, Worst: true, Level: DP},
	} {
		q.Epsilon = eps
		solve := func(near func(p *program) []float64) *proof {
			p, err := newTestTable(q)
			require.NoError(t, err)
			require.Nil(t, p.Near, "too small")
			p.Near = near(p)
			s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
			require.NoError(t, err)
			require.Empty(t, s.Undecided)
			require.True(t, s.exact())
			return s
		}
		cold := solve(func(*program) []float64 { return nil })
		warm := solve((*program).near)
		odd := solve(func(p *program) []float64 {
			x := p.near()
			for j := range x {
				x[j] *= 1 + float64(j%3)
			}
			return x
		})
		for _, s := range []*proof{warm, odd} {
			assert.Equal(t, cold.low().RatString(), s.low().RatString(), "%+v", q)
		}
		assert.Less(t, warm.Pivots, cold.Pivots, "%+v", q)
	}
	large, err := newTestTable(Request{N: 5, K: 4, Step: 2, Epsilon: eps, Level: DP})
	require.NoError(t, err)
	assert.NotNil(t, large.Near)
}
