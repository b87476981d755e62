package lp

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// The registered mechanism against the definition with a finite set of offsets, which is exact where scores are multiples of 1/parts.
func TestExtendedIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, e := range []string{"3/2", "4"} {
		eps, err := number.ParseExp(e)
		require.NoError(t, err)
		for _, c := range []struct{ n, k, step, parts int }{{1, 2, 1, 2}, {2, 3, 1, 3}, {3, 2, 1, 4}, {3, 2, 2, 3}} {
			m := Extended(c.k, c.step)
			at := func(parts int, scores []int) []*big.Rat {
				// scores in parts of a step, and 2Δ = step steps
				in := &mechanisms.Instance{Sensitivities: []*big.Rat{big.NewRat(int64(c.step), 2)}, Epsilon: eps}
				for _, q := range scores {
					in.Scores = append(in.Scores, big.NewRat(int64(q), int64(parts)))
				}
				p, err := m.Exact(in)
				require.NoError(t, err)
				return p
			}
			table := func(depths []int) []*big.Rat {
				scores := make([]int, len(depths))
				for r, v := range depths {
					scores[r] = -v
				}
				return at(1, scores)
			}
			for range 20 {
				scores := make([]int, c.n)
				for r := range scores {
					scores[r] = rng.IntN((c.k*c.step+2)*c.parts) - c.parts
				}
				got, want := at(c.parts, scores), extended(table, c.k*c.step, c.parts, scores)
				for r := range want {
					require.Zero(t, got[r].Cmp(want[r]), "%v: %v, want %v", scores, got, want)
				}
			}
		}
	}
}

// On the lattice it attains the optimum at dp, also where e^ε is irrational, and is private beyond it.
func TestExtendedAttainsTheOptimum(t *testing.T) {
	for _, e := range []string{"0.5", "1.1"} {
		eps, err := number.ParseEpsilon(e)
		require.NoError(t, err)
		m, err := mechanisms.Lookup("lp-extended")
		require.NoError(t, err)
		a, err := Ratio(context.Background(), Request{
			N: 3, K: 3, Epsilon: eps, Level: DP, Method: methodLP, Mechanisms: []mechanisms.Mechanism{m},
		})
		require.NoError(t, err)
		require.Empty(t, a.Undecided)
		lo, _ := a.Mechanisms[0].Ratio.Lower()
		hi, _ := a.Mechanisms[0].Ratio.Upper()
		assert.Positive(t, lo.Cmp(big.NewRat(99_999_999, 100_000_000)), "%s", a.Mechanisms[0].Ratio)
		assert.Negative(t, hi.Cmp(big.NewRat(100_000_001, 100_000_000)), "%s", a.Mechanisms[0].Ratio)
		// Random neighbors, scores in fifths of Δ, Δ = 1: every probability within a factor e^ε, decided with an enclosure of it.
		rng := rand.New(rand.NewPCG(41, 42))
		factor, _ := eps.ExpNeg(big.NewRat(-1, 1), 192).Lo().Rat(nil)
		for range 300 {
			p, q := &mechanisms.Instance{Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: eps}, &mechanisms.Instance{}
			for range 3 {
				x := int64(rng.IntN(50))
				p.Scores = append(p.Scores, big.NewRat(x, 5))
				q.Scores = append(q.Scores, big.NewRat(x+int64(rng.IntN(11)-5), 5))
			}
			q.Sensitivities, q.Epsilon = p.Sensitivities, p.Epsilon
			x, err := m.Exact(p)
			require.NoError(t, err)
			y, err := m.Exact(q)
			require.NoError(t, err)
			for r := range x {
				assert.LessOrEqual(t, x[r].Cmp(new(big.Rat).Mul(factor, y[r])), 0, fmt.Sprint(p.Scores, q.Scores))
			}
		}
		// The sampler has the same distribution.
		in := &mechanisms.Instance{Scores: []*big.Rat{new(big.Rat), big.NewRat(-7, 3), big.NewRat(-1, 2)}, Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: eps}
		want, err := m.Float(in)
		require.NoError(t, err)
		draw, err := mechanisms.Draws(m, in, rand.NewPCG(1, 1))
		require.NoError(t, err)
		counts := make([]float64, 3)
		const runs = 40_000
		for range runs {
			counts[draw()]++
		}
		chi := 0.0
		for r, w := range want {
			chi += (counts[r] - runs*w) * (counts[r] - runs*w) / (runs * w)
		}
		assert.Less(t, chi, 20.0) // 2 degrees of freedom: 5e-5
	}
	_, err := Extended(20, 1).Exact(mechanisms.OnLattice(make([]int, 12), mustExp(t, "2")))
	assert.ErrorIs(t, err, mechanisms.ErrInstance)
}

func mustExp(t *testing.T, s string) number.Epsilon {
	t.Helper()
	e, err := number.ParseExp(s)
	require.NoError(t, err)
	return e
}
