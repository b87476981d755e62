package lp

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// For two candidates Theorem 4 of research/docs/approximate.md has the optimum: Pr[error >= 2 steps] is a weight times max(0, z²/2 - δ(z + z²)), which is 0 iff
// δ >= z/(2(1+z)) = 1/(2(e+1)) = 0.134470710684997… at ε = 1. The deltas are that number rounded up and down.
func TestOptimumOfExactlyZero(t *testing.T) {
	tail, err := ParseLoss("tail:2")
	require.NoError(t, err)
	for _, worst := range []bool{false, true} {
		for _, c := range []struct {
			delta string
			zero  bool
		}{
			{"134470710684/1000000000000", false},
			{"134470710685/1000000000000", true},
			{"134470710684997/1000000000000000", false},
			{"134470710684998/1000000000000000", true},
			{"1/5", true},
			{"1/2", true},
			{"1/10", false},
		} {
			s := approximately(t, Request{N: 2, K: 2, Epsilon: epsilon(t, "1"), Loss: tail, Worst: worst}, c.delta)
			assert.Equal(t, c.zero, s.exact() && s.low().Sign() == 0, "δ = %s: %s, %s", c.delta, s.low(), s.high())
			assert.Equal(t, c.zero, s.low().Sign() == 0)
		}
	}
	geometric, err := ParsePrior("geometric:1/3")
	require.NoError(t, err)
	s := approximately(t, Request{N: 3, K: 3, Epsilon: epsilon(t, "1"), Loss: tail, Prior: geometric}, "3/10")
	assert.True(t, s.exact() && s.low().Sign() == 0)
	s.eachVector(func(depths []int, pmf []*big.Rat) {
		for r, v := range depths {
			assert.True(t, v < 2 || pmf[r].Sign() == 0, "%v %v", depths, pmf)
		}
	})
}

// At ε beyond what floating-point solvers see, too, the optimum is settled, from bases at moderate z; two candidates have the sum of Theorem 4.
func TestHardlyAnyNoise(t *testing.T) {
	slowtest.Only(t)
	for _, n := range []int{2, 3, 4} {
		for _, step := range []int{1, 2} {
			for _, eps := range []string{"20", "45", "120", "700"} {
				for _, delta := range []string{"1/10", "1/1000000", "3/5"} {
					t.Run(fmt.Sprint(n, step, eps, delta), func(t *testing.T) {
						q := Request{N: n, K: 2, Step: step, Epsilon: epsilon(t, eps)}
						s := approximately(t, q, delta)
						if n > 2 || step > 1 {
							return
						}
						z := q.Epsilon.ExpNeg(big.NewRat(1, 1), 256)
						low, _ := z.Lo().Rat(nil)
						high, _ := z.Hi().Rat(nil)
						at := func(z *big.Rat) *big.Rat { // 2/5 (a_1 + 2 a_2)
							d, _ := new(big.Rat).SetString(delta)
							sum, tail := new(big.Rat), new(big.Rat)
							power := big.NewRat(1, 1)
							for v := int64(1); v <= 2; v++ {
								power = new(big.Rat).Mul(power, z)
								tail.Add(tail, power)
								a := new(big.Rat).Mul(power, big.NewRat(1, 2))
								if a.Sub(a, new(big.Rat).Mul(d, tail)).Sign() > 0 {
									sum.Add(sum, a.Mul(a, big.NewRat(2*v, 5)))
								}
							}
							return sum
						}
						assert.LessOrEqual(t, s.low().Cmp(at(high)), 0)
						assert.GreaterOrEqual(t, s.high().Cmp(at(low)), 0)
					})
				}
			}
		}
	}
}

// Without a δ the same: e^ε = 10^300, exactly, and ε = 5000.
func TestHardlyAnyNoiseWithoutDelta(t *testing.T) {
	slowtest.Only(t)
	for _, q := range []Request{
		{N: 3, K: 3, Step: 2, Epsilon: exp(t, "1"+fmt.Sprintf("%0300d", 0)), Level: DP},
		{N: 3, K: 2, Step: 2, Epsilon: epsilon(t, "5000"), Level: Full},
	} {
		p, err := newTestTable(q)
		require.NoError(t, err)
		s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.Empty(t, s.Undecided)
		assert.Positive(t, s.low().Sign())
	}
}
