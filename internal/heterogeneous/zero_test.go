package heterogeneous

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// A grid and ε are all that is required; what is missing is an error and nothing panics.
func TestZeroRequest(t *testing.T) {
	ctx, one := context.Background(), big.NewRat(1, 1)
	eps, err := number.ParseExp("2")
	require.NoError(t, err)
	grid := Grid{Sensitivities: []*big.Rat{one, big.NewRat(2, 1)}, From: new(big.Rat), Step: one, Steps: 2}
	a, err := Solve(ctx, Request{Grid: grid, Epsilon: eps, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}})
	require.NoError(t, err)
	assert.Empty(t, a.Undecided)
	assert.Equal(t, "pf", a.Mechanisms[0].Name)
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Grid: grid}, "epsilon is not set"},
		{Request{Epsilon: eps}, "0 sensitivities"},
		{Request{Epsilon: eps, Grid: Grid{Sensitivities: []*big.Rat{nil}}}, "sensitivity 0 is nil"},
	} {
		_, err := Solve(ctx, c.r)
		assert.ErrorContains(t, err, c.want)
	}
}

// TestNoNeighborsProveNothing: scores 0 and 4 are no neighbors where each may change by 1/2, and what was compared with nothing is not private for
// that; the best table takes the best candidate everywhere, and nothing is recommended.
func TestNoNeighborsProveNothing(t *testing.T) {
	half := big.NewRat(1, 2)
	eps, err := number.ParseExp("2")
	require.NoError(t, err)
	for _, invariant := range []bool{false, true} {
		a, err := Solve(context.Background(), Request{
			Grid:       Grid{Sensitivities: []*big.Rat{half, half}, From: new(big.Rat), Step: big.NewRat(4, 1), Steps: 1, ShiftInvariant: invariant},
			Epsilon:    eps,
			Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()},
		})
		require.NoError(t, err)
		assert.Equal(t, "0", a.Optimum.String())
		assert.Empty(t, a.Recommended)
		for _, m := range a.Mechanisms {
			assert.Equal(t, verify.Undecided, m.DP, m.Name)
			assert.False(t, m.TightEps.IsValid(), m.Name)
		}
	}
}
