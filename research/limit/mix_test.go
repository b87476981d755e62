package limit

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/secretary"
	"optratio/number"
)

func epsilon(t testing.TB, text string) number.Epsilon {
	e, err := number.ParseEpsilon(text)
	require.NoError(t, err)
	return e
}

// The examples of the source: δ = 0.01 gives ε = 0.9724 at p = 1; ε = 0.5 and δ = 0.05 give p = 0.3454; δ = 0.05 and p = 1 give ε = 0.8539 (Section 4 of the newer version, l = 1).
func TestLimitExamples(t *testing.T) {
	one := big.NewRat(1, 1)
	assert.InDelta(t, 0.9724, must(Eps(one, big.NewRat(1, 100), 1)).Float64(), 5e-5)
	assert.InDelta(t, 0.3454, must(P(1, epsilon(t, "0.5"), big.NewRat(1, 20))).Float64(), 5e-5)
	assert.InDelta(t, 0.8539, must(Eps(one, big.NewRat(1, 20), 1)).Float64(), 5e-5)
	law := must(Law(one, 2))
	assert.InDelta(t, 1/math.E, law[0].Float64(), 1e-15)
	assert.InDelta(t, 1/math.E/math.E, law[1].Float64(), 1e-15)
}

// The three boundaries are one curve, and it is that of the law itself: the worst pair of the first 60 ranks of p·a_k/e, searched.
func TestLimitRegion(t *testing.T) {
	var limits []float64
	for k := range 70 {
		limits = append(limits, must(secretary.AsymptoticEnclosure(max(k, 1), 64)).Near())
	}
	for _, l := range []int{1, 2, 5} {
		for _, p := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 2), big.NewRat(1, 1)} {
			for _, text := range []string{"0", "0.3", "0.7", "1", "2.5"} {
				eps := epsilon(t, text)
				delta := must(Delta(p, l, eps))
				worst := 0.0
				q := func(k int) float64 {
					weight, _ := p.Float64()
					return weight * limits[k] / math.E
				}
				for i := 1; i <= 60; i++ {
					for j := max(1, i-l); j <= i+l; j++ {
						worst = max(worst, q(i)-math.Exp(eps.Float())*q(j))
					}
				}
				assert.InDelta(t, worst, delta.Float64(), 1e-13, "l = %d, p = %s, ε = %s", l, p.RatString(), text)
				if worst < 1e-13 {
					r, ok := delta.Rat()
					assert.True(t, ok && r.Sign() == 0)
					continue
				}
				// On the boundary: the least ε for this δ, and the largest p for both.
				inner, _ := delta.Lower()
				outer, _ := delta.Upper()
				for _, d := range []*big.Rat{inner, outer} {
					assert.InDelta(t, eps.Float(), must(Eps(p, d, l)).Float64(), 1e-12)
					weight, _ := p.Float64()
					assert.InDelta(t, weight, must(P(l, eps, d)).Float64(), 1e-12)
				}
			}
		}
	}
}

// The law of many candidates has its tight δ near the limit.
func TestLimitIsApproached(t *testing.T) {
	p, eps := big.NewRat(1, 2), epsilon(t, "0.3")
	law := must(secretary.SecretaryMixLaw(t.Context(), 5000, p))
	for _, l := range []int{1, 2, 5} {
		lo, _, _, err := secretary.TightDelta(law, l, eps)
		require.NoError(t, err)
		x, _ := lo.Float64()
		assert.InDelta(t, must(Delta(p, l, eps)).Float64(), x, 3e-4)
	}
}

// What is exact is said to be: ε = 1 is where l = 1 is free, p = 0 is the blind choice, and without δ the best p vanishes below that.
func TestLimitEnds(t *testing.T) {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	for _, c := range []struct {
		got  func() (interface{ Rat() (*big.Rat, bool) }, error)
		want *big.Rat
	}{
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return Delta(one, 1, epsilon(t, "1")) }, zero},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return P(1, epsilon(t, "1"), zero) }, one},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return P(1, epsilon(t, "0.999"), zero) }, zero},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return P(2, epsilon(t, "1"), one) }, one},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return Eps(zero, zero, 3) }, zero},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return Eps(one, big.NewRat(2, 5), 1) }, zero},
		{func() (interface{ Rat() (*big.Rat, bool) }, error) { return Delta(one, 40, epsilon(t, "8000")) }, zero},
	} {
		x, err := c.got()
		require.NoError(t, err)
		r, ok := x.Rat()
		assert.True(t, ok && r.Cmp(c.want) == 0)
	}
	assert.InDelta(t, 1, must(Eps(one, zero, 1)).Float64(), 1e-15)
	exp, err := number.ParseExp("2")
	require.NoError(t, err)
	assert.InDelta(t, (1-2/math.E)/math.E, must(Delta(one, 1, exp)).Float64(), 1e-15)
	_, err = Eps(one, zero, 0)
	assert.ErrorIs(t, err, secretary.ErrRange)
	_, err = P(1, exp, big.NewRat(2, 1))
	assert.ErrorIs(t, err, secretary.ErrRange)
}
