package mechanisms

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// byDefinition returns (max q - q_r)/w_r with w_r = Δ_r + max_{s≠r} Δ_s, or with scales that are 1/64 less where short is set.
func byDefinition(in *Instance, short bool) []*big.Rat {
	each := in.EachSensitivity()
	best := slices.MaxFunc(in.Scores, (*big.Rat).Cmp)
	out := make([]*big.Rat, len(each))
	for r := range each {
		others := slices.Delete(slices.Clone(each), r, r+1)
		w := new(big.Rat).Add(each[r], slices.MaxFunc(others, (*big.Rat).Cmp))
		if short {
			w.Sub(w, big.NewRat(1, 64))
		}
		out[r] = w.Quo(new(big.Rat).Sub(best, in.Scores[r]), w)
	}
	return out
}

// docs/results/unequal.md, Theorem 6: between neighbors no difference of two partner depths changes by more than 1. All corners of the box of neighbors are tried,
// and some others. With scales that are 1/64 less it is not so.
func TestPartnerDepthsMoveByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	attained, violated, changed := 0, 0, 0
	for range 600 {
		in := unequal(t, rng)
		if in.Sensitivity().Sign() == 0 {
			continue
		}
		scaled, _, err := registry["pf-partner"].(*overDepths).rescale(in)
		require.NoError(t, err)
		here := byDefinition(in, false)
		for r, d := range scaled.Depths() {
			require.Zero(t, d.Cmp(here[r]))
		}
		n := len(in.Scores)
		for corner := range 1<<n + 8 {
			near := neighbor(in, rng)
			if corner < 1<<n {
				for r, d := range in.EachSensitivity() {
					near.Scores[r] = new(big.Rat).Add(in.Scores[r], d)
					if corner>>r&1 == 1 {
						near.Scores[r].Sub(in.Scores[r], d)
					}
				}
			}
			if bestOf(in) != bestOf(near) {
				changed++
			}
			change := widest(here, byDefinition(near, false)).Cmp(ratOne)
			require.LessOrEqual(t, change, 0, "%v and %v at %v", in.Scores, near.Scores, in.Sensitivities)
			if change == 0 {
				attained++
			}
			if widest(byDefinition(in, true), byDefinition(near, true)).Cmp(ratOne) > 0 {
				violated++
			}
		}
	}
	assert.Greater(t, attained, 500)
	assert.Greater(t, violated, 500)
	assert.Greater(t, changed, 500, "neighbors with another best candidate")
}

func bestOf(in *Instance) int {
	best := 0
	for r, q := range in.Scores {
		if q.Cmp(in.Scores[best]) > 0 {
			best = r
		}
	}
	return best
}

// No candidate's scale can be smaller: where all others but the most sensitive partner are far below, the candidate's probability falls by the
// factor e^ε, as nearly as one likes, when the two part by the sum of their sensitivities.
func TestPartnerScalesAreLeast(t *testing.T) {
	for _, deltas := range [][]string{{"1", "1", "4"}, {"2", "3", "4", "5"}, {"0", "1", "7"}} {
		n := len(deltas)
		for r := range n - 1 {
			in := &Instance{Epsilon: decimalEps(t, "0.7"), Sensitivities: ratsOf(t, deltas...)}
			near := *in
			for s, d := range in.Sensitivities {
				q, move := big.NewRat(-1000, 1), new(big.Rat)
				switch s {
				case r:
					q, move = big.NewRat(-3, 1), new(big.Rat).Neg(d)
				case n - 1: // the most sensitive one
					q, move = new(big.Rat), d
				}
				in.Scores = append(in.Scores, q)
				near.Scores = append(near.Scores, new(big.Rat).Add(q, move))
			}
			for _, name := range []string{"pf-partner", "geo-partner"} {
				p, err := registry[name].Enclose(in, 200)
				require.NoError(t, err)
				q, err := registry[name].Enclose(&near, 200)
				require.NoError(t, err)
				assert.InDelta(t, 0.7, math.Log(p[r].Quo(q[r]).Near()), 1e-12, "%s, candidate %d of %v", name, r, deltas)
			}
		}
	}
}

// By hand: Δ = (1,2,4) has the scales 5, 6, 6. At scores -5, 0, -12 the depths are 1, 0, 2, with e^ε = 2 the acceptance probabilities 1/2, 1, 1/4:
// the first is taken with probability ½∫(1-t)(1-t/4) dt = 11/48.
func TestPartnerByHand(t *testing.T) {
	two, err := ParseExp("2")
	require.NoError(t, err)
	in := &Instance{Scores: ratsOf(t, "-5", "0", "-12"), Sensitivities: ratsOf(t, "1", "2", "4"), Epsilon: two}
	p, err := registry["pf-partner"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "11/48", p[0].RatString())
	assert.Equal(t, "2/3", p[1].RatString()) // ∫(1-t/2)(1-t/4) dt = 1 - 3/8 + 1/24
	p, err = registry["geo-partner"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "11/48", p[0].RatString(), "the same where depths are integers")
}
