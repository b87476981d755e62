package lp

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMixtureIsJustEnough: the mixture with permute-and-flip satisfies every row, a hair less of it does not, and the upper bound is its
// objective.
func TestMixtureIsJustEnough(t *testing.T) {
	const seed = 8
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	f := exactNumbers{}
	mixed := 0
	for _, level := range []Level{Paper, DP, Monotone, Full} {
		for _, s := range [][2]int{{3, 2}, {3, 3}, {4, 2}} {
			e := expEps(t, 5, 4)
			z, _ := e.Z()
			p := newProgram(t, s[0], s[1], Prior{}, level, e)
			flip := point(p, f, z, nil)
			for range 5 {
				injection := make([]*big.Rat, p.variables())
				for j := range injection {
					if rng.IntN(3) == 0 {
						injection[j] = big.NewRat(rng.Int64N(50)-10, 10)
					}
				}
				u := point(p, f, z, injection)
				theta, ok := mixture(p, f, z, u, flip)
				require.True(t, ok)
				at := func(theta *big.Rat) (mix []*big.Rat) {
					for j := range u {
						d := new(big.Rat).Sub(flip[j], u[j])
						mix = append(mix, d.Add(d.Mul(d, theta), u[j]))
					}
					return mix
				}
				holds := func(u []*big.Rat) bool {
					return p.strict(func(c cut) bool { return slackOf(p, f, z, u, c).Sign() >= 0 })
				}
				mix := at(theta)
				require.True(t, holds(mix), "θ = %v", theta)
				if theta.Sign() > 0 {
					mixed++
					require.False(t, holds(at(new(big.Rat).Mul(theta, big.NewRat(999999999, 1000000000)))))
				}
				upper, ok := upperBound(p, f, z, &proposal{Injection: injection}, flip)
				require.True(t, ok)
				assert.Zero(t, upper.Cmp(objective(p, f, mix)))
			}
		}
	}
	assert.Greater(t, mixed, 30)
}

// TestNothingToMixWith: at ε = 0 permute-and-flip is not strictly inside, and a point that violates a row has no repair.
func TestNothingToMixWith(t *testing.T) {
	e := expEps(t, 1, 1)
	p := newProgram(t, 3, 2, Prior{}, Paper, e)
	one := big.NewRat(1, 1)
	f := exactNumbers{}
	flip := point(p, f, one, nil)
	injection := make([]*big.Rat, p.variables())
	for j := range injection {
		injection[j] = big.NewRat(1, 1)
	}
	theta, ok := mixture(p, f, one, point(p, f, one, injection), flip)
	assert.False(t, ok, "%v", theta)
	_, ok = upperBound(p, f, one, &proposal{Injection: injection}, flip)
	assert.False(t, ok)
	theta, ok = mixture(p, f, one, flip, flip)
	assert.True(t, ok && theta.Sign() == 0)
}
