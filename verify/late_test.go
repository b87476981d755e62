package verify

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
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
		r, err := Scores(t.Context(), claim, [][]*big.Rat{vector}, Linf, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		assert.Equal(t, Proved, r.Properties[0].Verdict, r.Properties[0].Reason)
		assert.Equal(t, number.Exact(big.NewRat(1, 2)), r.Properties[0].TightEps)
	}
}

// A function that is formed late decides as one that is at hand.
func TestLateFunctionsDecideAlike(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	ring := exponentialRing(eps, 1)
	f := arith.Poly{}
	rng := rand.New(rand.NewPCG(3, 4))
	formed := 0
	late := func(x arith.RatFunc) *Value {
		return lately(func(prec uint) number.Interval { return x.Eval(ring.at(prec)) }, ring, func() (arith.RatFunc, bool) {
			formed++
			return x, true
		})
	}
	random := func() arith.RatFunc {
		sum := f.FromRat(big.NewRat(int64(rng.IntN(3)), 1))
		for range 3 {
			sum = f.Add(sum, arith.Pow(f, f.Z(), rng.IntN(3)))
		}
		return sum
	}
	ties := 0
	for range 300 {
		a, b, c, d := random(), random(), random(), random()
		if rng.IntN(3) == 0 {
			c = f.Sub(f.Mul(a, d), b)
		}
		want, ok := function(f.Mul(a, d), ring).compare(function(f.Add(b, c), ring), 1024)
		require.True(t, ok)
		got, ok := late(a).mul(late(d)).compare(late(b).add(function(c, ring)), 1024)
		require.True(t, ok)
		assert.Equal(t, want, got)
		if want == 0 {
			ties++
		}
	}
	assert.Greater(t, ties, 50)
	assert.LessOrEqual(t, formed, 3*ties, "functions are formed where enclosures tie, and only there")
}
