package heterogeneous

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// geometricPair is the probability that geometric noisy max with steps of D takes the worse of two candidates j below:
// z^{j/D}/2 where D divides j, z^{⌈j/D⌉}/(1+z) elsewhere.
func geometricPair(z *big.Rat, d, j int) *big.Rat {
	if j%d == 0 {
		return new(big.Rat).Quo(pow(z, j/d), big.NewRat(2, 1))
	}
	return new(big.Rat).Quo(pow(z, j/d+1), new(big.Rat).Add(z, big.NewRat(1, 1)))
}

// research/docs/resolution.md: geometric noisy max for the sum of the two sensitivities attains the two-candidate optima at e^ε = 5/4, 2 and 4, but not every
// optimum: with squared errors, sensitivities 1 and 2 and a small ε something is better.
func TestGeometricNoiseForTwoCandidates(t *testing.T) {
	for _, c := range []struct {
		a, b string
		d    int
	}{{"1", "1", 2}, {"1", "2", 3}, {"1", "4", 5}} {
		for _, e := range []string{"5/4", "2", "4"} {
			z := new(big.Rat).Inv(rat(e))
			a := solveWith(t, Request{Grid: grid(6, true, c.a, c.b), Epsilon: exp(t, e)}, "geo-pair")
			got, ok := a.Optimum.Rat()
			require.True(t, ok)
			ratio, exact := a.Mechanisms[0].Ratio.Rat()
			assert.True(t, exact && ratio.Cmp(big.NewRat(1, 1)) == 0, "%+v, e^ε = %s: %s", c, e, a.Mechanisms[0])
			assert.Equal(t, verify.Proved, a.Mechanisms[0].DP)
			assert.Zero(t, got.Cmp(differences(6, func(j int) *big.Rat { return geometricPair(z, c.d, j) })), "%+v, e^ε = %s", c, e)
		}
	}
	e := "11/10"
	z := new(big.Rat).Inv(rat(e))
	got := solved(t, Request{Grid: grid(6, true, "1", "2"), Epsilon: exp(t, e), Squared: true})
	geo := differences(6, func(j int) *big.Rat { return new(big.Rat).Mul(big.NewRat(int64(j), 1), geometricPair(z, 3, j)) })
	assert.Equal(t, "20766/5929", got.RatString())
	assert.Equal(t, "145760/41503", geo.RatString())
	assert.Equal(t, "1.00274", geo.Quo(geo, got).FloatString(5))
}

// Two candidates on the lattice of step Δ: permute-and-flip takes the worse one, j steps of Δ below, with probability z^{j/2}/2. It is
// more than twice the optimum at e^ε = 49 and never the optimum, while at e^ε = 49 it is optimal on the lattice of step 2Δ.
func TestPermuteAndFlipBetweenTheSteps(t *testing.T) {
	root := big.NewRat(1, 7)
	flip := differences(8, func(j int) *big.Rat { return new(big.Rat).Quo(pow(root, j), big.NewRat(2, 1)) })
	best := solved(t, Request{Grid: grid(8, true, "1", "1"), Epsilon: exp(t, "49")})
	assert.Zero(t, best.Cmp(differences(8, func(j int) *big.Rat { return geometricPair(pow(root, 2), 2, j) })))
	assert.Equal(t, "2.3691", flip.Quo(flip, best).FloatString(4))
	coarse := solved(t, Request{Grid: grid(4, true, "1/2", "1/2"), Epsilon: exp(t, "49")})
	assert.Zero(t, coarse.Cmp(differences(4, func(j int) *big.Rat { return new(big.Rat).Quo(pow(root, 2*j), big.NewRat(2, 1)) })))
}
