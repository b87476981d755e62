package audit

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// noisyArgMaxLaw is the candidate with the largest of all scores after Laplace noise of scale 2/ε has been added to each, by the midpoint rule
// over the distribution of the winner's noisy score.
func noisyArgMaxLaw(eps float64) law {
	const steps = 1000
	return func(q []float64) []float64 {
		scale := 2 / eps
		p := make([]float64, len(q))
		below := func(v float64) float64 {
			if v < 0 {
				return math.Exp(v) / 2
			}
			return 1 - math.Exp(-v)/2
		}
		total := 0.0
		for r := range q {
			sum := 0.0
			for i := range steps { // quantiles of the noise of candidate r
				u := (float64(i) + 0.5) / steps
				x := math.Log(2 * min(u, 1-u))
				if u > 0.5 {
					x = -x
				}
				all := 1.0
				for s := range q {
					if s != r {
						all *= below((q[r]-q[s])/scale + x)
					}
				}
				sum += all
			}
			p[r] = sum / steps
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p
	}
}

// plainSearch is the lower bound on ε of a search that knows nothing of scores: half of the budget goes in equal parts to pairs of vectors about all scores
// being equal, in the patterns of Ding et al. 2018, and chooses one and the best union of candidates in the order of their ratios; the other half is drawn there,
// and bounds the ratio by two Clopper–Pearson limits.
func plainSearch(t *testing.T, s *lawSampler, n int, budget int64) float64 {
	patterns := [][]int64{}
	for up := 1; up <= n; up++ { // so many rise, and the others fall or stay
		for _, others := range []int64{-1, 0} {
			patterns = append(patterns, slices.Concat(slices.Repeat([]int64{1}, up), slices.Repeat([]int64{others}, n-up)))
		}
	}
	sample := func(q inquiry.Vector, draws int64) []int64 {
		scaled := make(inquiry.Vector, len(q))
		for r := range q {
			scaled[r] = q[r] * fractions
		}
		got, _, err := s.Sample(scaled, draws)
		require.NoError(t, err)
		return got
	}
	best, value := [2]inquiry.Vector{}, 0.0
	var event []bool
	each := budget / 2 / int64(2*len(patterns))
	for _, p := range patterns {
		q := [2]inquiry.Vector{make(inquiry.Vector, n), p}
		got := [2][]int64{sample(q[0], each), sample(q[1], each)}
		for way := range 2 {
			own, near := got[way], got[1-way]
			order := make([]int, n)
			for r := range order {
				order[r] = r
			}
			slices.SortFunc(order, func(a, b int) int { return -cmp.Compare(own[a]*(near[b]+1), own[b]*(near[a]+1)) })
			x, y, in := int64(0), int64(0), make([]bool, n)
			for _, r := range order[:n-1] {
				x, y, in[r] = x+own[r], y+near[r], true
				if v := math.Log(float64(x+1) / float64(y+1)); v > value {
					best, value, event = [2]inquiry.Vector{q[way], q[1-way]}, v, slices.Clone(in)
				}
			}
		}
	}
	half, limit := budget/4, func(n, x int64) float64 { return mathext.InvRegIncBeta(float64(x), float64(n-x)+1, 1.0/40) } // the lower one of Clopper & Pearson (1934)
	low := limit(half, hitsOf(sample(best[0], half), event))
	high := 1 - limit(half, half-hitsOf(sample(best[1], half), event))
	return math.Log(low / high)
}

// TestSpreadOfTheBound: over six seeds bounds stay within a tenth of their median, and the median is above a plain search's.
func TestSpreadOfTheBound(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		n      int
		eps    string
		budget int64
		law    law
	}{
		{"em", 3, "1", 100_000, softmaxLaw(1, 1)},
		{"noisy arg max", 5, "1", 1_000_000, noisyArgMaxLaw(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bounds, plain []float64
			known := map[string][]float64{}
			for i := range uint64(runs(6)) {
				o := samplerOptions(t, c.eps, c.budget)
				o.N, o.Seed = c.n, firstSeed()+i
				subject := newLawSampler(c.law, firstSeed()+i)
				subject.known = known
				r, err := draw(c.name, subject, o)
				require.NoError(t, err)
				bounds = append(bounds, r.LowerBound.Float64())
				t.Logf("%v %v", r.LowerBound, r.Find(verify.DP).Attained)
			}
			slices.Sort(bounds)
			for i := range uint64(runs(6)) {
				subject := newLawSampler(c.law, 7000+firstSeed()+i)
				subject.known = known
				plain = append(plain, plainSearch(t, subject, c.n, c.budget))
			}
			slices.Sort(plain)
			t.Logf("%s: a plain search: median %v: %.4f", c.name, median(plain), plain)
			t.Logf("%s: %v to %v, median %v: %v", c.name, bounds[0], bounds[len(bounds)-1], median(bounds), bounds)
			for _, b := range bounds {
				require.InDelta(t, 1, b/median(bounds), 0.1)
			}
			require.Greater(t, median(bounds), median(plain))
		})
	}
}

// Where q and q' are d neighbors apart, ρ-zCDP says d²ρ of them (Bun & Steinke 2016, Prop. 27), as ε-DP says dε.
func TestClaimsAtADistance(t *testing.T) {
	d, p, o := big.NewRat(3, 1), 0.6, 0.01
	w := newWealthOf(divergence, epsilon(t, "1"), nil, big.NewRat(1, 20), true)
	said := 0
	for i, l := range w.levels {
		want := concentrated(new(big.Rat).Mul(l.value, big.NewRat(9, 1)), steepest(p, o), p, o)
		require.Equal(t, want, w.claims(d, p, o)[i])
		if !math.IsInf(want.c, 1) {
			said++
		}
	}
	require.Greater(t, said, 10)
	w = newWealth(epsilon(t, "1"), big.NewRat(1, 20), true)
	for i, l := range w.levels[:w.claimed] {
		eps, _ := l.value.Float64()
		require.InEpsilon(t, math.Exp(3*eps), w.claims(d, p, o)[i].c, 1e-12)
	}
}
