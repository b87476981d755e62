package mechanisms

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// scattered returns scores and sensitivities of a kind: at random; a small grid with ties, zeros and collinear points; an arc, all of which is on the hull; one
// straight line; nearly one straight line, nearer than float64 tells.
func scattered(rng *rand.Rand, kind, n int) *Instance {
	in := &Instance{}
	for range n {
		q, d := big.NewRat(rng.Int64N(100_000), 7), big.NewRat(1+rng.Int64N(5000), 3)
		switch kind {
		case 1:
			q, d = big.NewRat(rng.Int64N(6), 2), big.NewRat(rng.Int64N(4), 3)
		case 2:
			x := rng.Int64N(400)
			q, d = big.NewRat(x*(800-x), 900), big.NewRat(x, 7)
		case 3:
			q = new(big.Rat).Mul(d, big.NewRat(11, 3))
		case 4:
			q = new(big.Rat).Mul(d, big.NewRat(11, 3))
			q.Add(q, big.NewRat(rng.Int64N(9), 1<<62))
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	return in
}

// depthsOfAllPairs is the definition of gem's depths: max_b (q_b - q_a)/(Δ_a + Δ_b), nil for candidates that are never taken.
func depthsOfAllPairs(in *Instance) []*big.Rat {
	out := make([]*big.Rat, len(in.Scores))
	for a, q := range in.Scores {
		out[a] = new(big.Rat)
		for b, other := range in.Scores {
			gap, sum := new(big.Rat).Sub(other, q), new(big.Rat).Add(in.Sensitivities[a], in.Sensitivities[b])
			if sum.Sign() == 0 && gap.Sign() > 0 {
				out[a] = nil
				break
			}
			if sum.Sign() > 0 && gap.Quo(gap, sum).Cmp(out[a]) > 0 {
				out[a] = gap
			}
		}
	}
	return out
}

func TestNormalisedDepthsAreThoseOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for trial := range 200 {
		in := scattered(rng, trial%5, 1+rng.IntN(50))
		depths, keep := in.normalisedDepths()
		i := 0
		for a, want := range depthsOfAllPairs(in) {
			if want == nil {
				require.NotContains(t, keep, a)
				continue
			}
			require.Equal(t, a, keep[i])
			require.Zero(t, want.Cmp(depths[i]), "trial %d, candidate %d: %s, want %s", trial, a, depths[i], want)
			i++
		}
		require.Len(t, depths, i)
	}
}

// Gem's exponents are those of the least enclosure over all pairs. A candidate whose terms nothing tells apart gets every vertex of the hull.
func TestGEMExponentsAreThoseOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	const prec = 100
	for trial := range 60 {
		in := scattered(rng, trial%3, 1+rng.IntN(50))
		in.Epsilon = decimalEps(t, "0.7")
		eps, ln := in.Epsilon.Value(prec+32), number.LogRat(big.NewRat(int64(20*len(in.Scores)), 1), prec+32)
		for _, m := range []*gem{plainGEM, modifiedGEM} {
			classes, _, _ := in.choices(true)
			got, err := gemExponents(m, enclosedCalculus(prec+32), in, classes, ratOne)
			require.NoError(t, err)
			for a, ca := range classes {
				want, never := number.FromInt(0, prec+32), false
				for b, cb := range classes {
					if pair, ok := m.pair(ca.q, ca.d, cb.q, cb.d); ok && a != b {
						if never = never || pair.never; !pair.never {
							want = want.Min(ln.Mul(number.FromRat(pair.power, prec+32)).Sub(eps.Mul(number.FromRat(pair.gap, prec+32))))
						}
					}
				}
				require.Equal(t, never, got[a] == nil)
				if !never {
					_, meet := got[a].Intersect(want)
					require.True(t, meet && got[a].RelWidth() < 0x1p-100, "trial %d: %v, want %v", trial, got[a], want)
				}
			}
		}
	}
	in := scattered(rng, 2, 40)
	classes, _, _ := in.choices(true)
	e := exactEnvelope(classes)
	for a := range classes {
		if near, never := e.minima(a, 1, 3, func(int, int, int) (int, bool) { return 0, false }); !never && classes[a].d.Sign() > 0 {
			assert.Equal(t, e.hull, near)
		}
	}
}

// A wrong proposal in float64 costs time and changes nothing.
func TestProposalsDoNotDecide(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	in := scattered(rng, 2, 60)
	classes, _, _ := in.choices(true)
	e := exactEnvelope(classes)
	exact := func(a, l, r int) (int, bool) {
		slope := func(b int) *big.Rat {
			sum := new(big.Rat).Add(classes[a].d, classes[b].d)
			return sum.Quo(new(big.Rat).Sub(classes[a].q, classes[b].q), sum)
		}
		return slope(l).Cmp(slope(r)), true
	}
	for a := range classes {
		want, never := e.minima(a, 1, 0, exact)
		for _, slope := range []float64{1e9, -1e9, math.NaN(), math.Inf(1)} {
			got, same := e.minima(a, 1, slope, exact)
			require.Equal(t, want, got)
			require.Equal(t, never, same)
		}
	}
}
