package verify

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// Scores too deep for polynomials to be at hand from the start: permute-and-flip is private with equality all the same, between the
// lower candidate's e^{-ε·1500}/2 and e^{-ε·1501}/2, and tightness is exact.
func TestTiesOfDeepScoresAreDecided(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	claim := Claim{Mechanism: mechanisms.PermuteAndFlip(), Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: eps}
	for _, vector := range [][]*big.Rat{{big.NewRat(0, 1), big.NewRat(-3000, 1)}, {big.NewRat(0, 1), big.NewRat(-1, 1), big.NewRat(-3000, 1)}} {
		r, err := Scores(t.Context(), claim, [][]*big.Rat{vector}, false, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		assert.Equal(t, Proved, r.Properties[0].Verdict, r.Properties[0].Reason)
		assert.Equal(t, number.Exact(big.NewRat(1, 2)), r.Properties[0].TightEps)
	}
}
