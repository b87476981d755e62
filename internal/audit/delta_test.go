package audit

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// atDelta is a δ as a target.
func atDelta(delta *big.Rat) map[verify.Property]*big.Rat {
	return map[verify.Property]*big.Rat{verify.ApproximateDP: delta}
}

// hockeyStick is the least δ at which two laws are (ε,δ)-close, one way: Σ max(0, p - e^ε p').
func hockeyStick(p, o []float64, eps float64) float64 {
	sum := 0.0
	for r := range p {
		sum += max(0, p[r]-math.Exp(eps)*o[r])
	}
	return sum
}

// trueDelta is the greatest over all pairs of the domain that a sampler is asked about, either way.
func trueDelta(t *testing.T, o Options, l law) (most float64) {
	require.NoError(t, o.complete())
	space, dom, err := o.sampleDomain()
	require.NoError(t, err)
	at := func(q inquiry.Vector) []float64 {
		x := make([]float64, len(q))
		for r, s := range space.Scores(q) {
			x[r], _ = s.Float64()
		}
		return l(x)
	}
	for q, near := range dom.Neighbors {
		p, other := at(q), at(near)
		most = max(most, hockeyStick(p, other, o.Epsilon.Float()), hockeyStick(other, p, o.Epsilon.Float()))
	}
	return most
}

// sparseLaw is the first of some queries that is above a threshold of 0, or none, with Laplace noise of scale 2/ε on the threshold and of 1/ε on every query,
// half of what it takes: the midpoint rule over the threshold.
func sparseLaw(eps float64) law {
	above := func(v float64) float64 { // Pr[noise > v/ε]
		if v > 0 {
			return math.Exp(-v) / 2
		}
		return 1 - math.Exp(v)/2
	}
	return func(q []float64) []float64 {
		const steps = 400
		p := make([]float64, len(q)+1)
		for i := range steps {
			u := (float64(i) + 0.5) / steps
			threshold := math.Log(2*min(u, 1-u)) * 2 / eps
			if u > 0.5 {
				threshold = -threshold
			}
			rest := 1.0
			for r, x := range q {
				hit := above((threshold - x) * eps)
				p[r] += rest * hit / steps
				rest *= 1 - hit
			}
			p[len(q)] += rest / steps
		}
		return p
	}
}

// truncatedLaw is the exponential mechanism that never takes what has a probability below 0.05.
func truncatedLaw(eps float64) law {
	return func(q []float64) []float64 {
		p, total := softmaxLaw(eps, 1)(q), 0.0
		for r := range p {
			if p[r] < 0.05 {
				p[r] = 0
			}
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p
	}
}

// gaussian adds discrete Gaussian noise to a count, which is returned.
type gaussian struct {
	law []float64 // of the noise, from -60 on
	rng *rand.Rand
}

func newGaussian(sigma float64, seed uint64) *gaussian {
	g, total := &gaussian{rng: rand.New(rand.NewPCG(seed, 9))}, 0.0
	for x := -60.0; x <= 60; x++ {
		g.law = append(g.law, math.Exp(-x*x/(2*sigma*sigma)))
		total += g.law[len(g.law)-1]
	}
	for i := range g.law {
		g.law[i] /= total
	}
	return g
}

func (g *gaussian) Values(q inquiry.Vector, samples int64) ([]float64, string, error) {
	var out []float64
	for x, c := range multinomial(g.rng, samples, g.law) {
		out = append(out, slices.Repeat([]float64{float64(x-60) + float64(q[0])}, int(c))...)
	}
	g.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, "", nil
}

// deltaCase is a mechanism whose least δ at ε = 1 is computed.
type deltaCase struct {
	name    string
	options Options
	subject func(seed uint64) sampler
	truth   float64
	least   float64 // part of the truth that the median reaches
}

func deltaCases(t *testing.T, budget int64) []deltaCase {
	counts := func(name, outcomes string, n int, l law, least float64) deltaCase {
		o := samplerOptions(t, "1", budget)
		o.N, o.Outcomes = n, outcomes
		return deltaCase{name, o, func(seed uint64) sampler { return newLawSampler(l, seed) }, trueDelta(t, o, l), least}
	}
	o := samplerOptions(t, "1", budget)
	o.Outcomes, o.Pairs = Real, [][2][]*big.Rat{{{big.NewRat(0, 1)}, {big.NewRat(1, 1)}}}
	g := newGaussian(1, 0).law
	return []deltaCase{
		{"gaussian", o, func(seed uint64) sampler { return binnedOf(newGaussian(1, seed)) }, hockeyStick(g[1:], g[:len(g)-1], 1), 0.85},
		counts("sparse vector", Labels, 2, sparseLaw(1), 0.7),
		counts("truncated", Index, 3, truncatedLaw(1), 0.8),
		counts("private", Index, 3, softmaxLaw(1, 1), 0),
	}
}

// TestDeltaOfSamplers: the bound comes close to the least δ, which is computed, and refutes what is claimed below it alone.
func TestDeltaOfSamplers(t *testing.T) {
	for _, c := range deltaCases(t, 200_000) {
		var bounds []float64
		for i := range uint64(runs(3)) {
			c.options.Seed = firstSeed() + 100 + i
			for _, claim := range []float64{c.truth * 1.0001, c.truth / 2} {
				c.options.Targets = atDelta(new(big.Rat).SetFloat64(claim))
				r, err := draw(c.name, c.subject(c.options.Seed), c.options)
				require.NoError(t, err)
				res := r.Find(verify.ApproximateDP)
				require.False(t, r.LowerBound.IsValid())
				require.Nil(t, r.Find(verify.DP))
				require.LessOrEqual(t, r.Samples, c.options.Budget)
				bounds = append(bounds, r.DeltaBound.Float64())
				if claim > c.truth || c.truth == 0 {
					assert.Equal(t, verify.Undecided, res.Verdict, "%s: %v", c.name, res)
				} else {
					assert.Equal(t, verify.Violated, res.Verdict, "%s: %v", c.name, res)
					require.NotNil(t, r.Witness)
				}
				t.Log(c.name, res.Verdict, res.Reason, res.Attained)
			}
		}
		t.Logf("%s: δ = %.5g, bounds %.5g", c.name, c.truth, bounds)
		require.LessOrEqual(t, slices.Max(bounds), c.truth)
		require.GreaterOrEqual(t, median(bounds), c.least*c.truth, c.name)
	}
}

// TestDeltaIsRarelyExceeded: in many audits with few samples and a confidence of a half, so that a correction that is lost shows, fewer than half of the bounds exceed δ.
func TestDeltaIsRarelyExceeded(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	for _, c := range deltaCases(t, 5000) {
		above, audits := 0, runs(60) // at a rate of 2/3 more than half exceed it, 99 times of 100
		for i := range uint64(audits) {
			c.options.Seed, c.options.Confidence, c.options.Targets = firstSeed()+i, big.NewRat(1, 2), atDelta(new(big.Rat).SetFloat64(c.truth))
			r, err := draw(c.name, c.subject(c.options.Seed), c.options)
			require.NoError(t, err)
			if r.Find(verify.ApproximateDP).Verdict == verify.Violated {
				above++
			}
		}
		t.Logf("%s: %d of %d bounds exceed δ = %.4g", c.name, above, audits, c.truth)
		assert.LessOrEqual(t, above, audits/2)
	}
}

// TestDeltaBetsAreFair: what a bet of a given number of draws reaches is enumerated over all counts: it exceeds p - e^ε p' with probability alpha at most, and not never.
func TestDeltaBetsAreFair(t *testing.T) {
	for _, alpha := range []*big.Rat{big.NewRat(1, 20), big.NewRat(1, 2)} {
		const n, m = 30, 24
		limits := map[[2]int64]float64{}
		for x := range int64(n + 1) {
			for y := range int64(m + 1) {
				w := newWealthOf(leastDelta, epsilon(t, "0.5"), nil, alpha, true)
				w.open(0.7, 0.1, 1, ratio{5, 4}, n)
				w.settle(counts{n, x, m, y})
				limits[[2]int64{x, y}] = w.value(w.bound()).Float64()
			}
		}
		level, _ := alpha.Float64()
		for _, p := range []float64{0.3, 0.5, 0.8, 1} {
			for _, o := range []float64{0, 0.05, 0.2} {
				delta, exceeds := max(0, p-math.Exp(0.5)*o), 0.0
				for at, limit := range limits {
					if limit > delta {
						exceeds += choose(n, at[0], p) * choose(m, at[1], o)
					}
				}
				assert.LessOrEqual(t, exceeds, level+1e-12, "p = %v, p' = %v", p, o)
				if level == 0.5 && p < 1 && o > 0 && delta > 0.2 {
					assert.Greater(t, exceeds, 0.02, "p = %v, p' = %v", p, o)
				}
			}
		}
	}
}

// TestDeltaAfterEpsilon: what is asked for beside ε is bet on afterwards, also where ε was refuted early.
func TestDeltaAfterEpsilon(t *testing.T) {
	for _, until := range []bool{false, true} {
		o := samplerOptions(t, "1", 50_000)
		o.Properties, o.UntilRefuted, o.Targets = []verify.Property{verify.DP, verify.ZCDP, verify.ApproximateDP}, until, atDelta(big.NewRat(1, 10))
		r, err := draw("truncated", newLawSampler(truncatedLaw(1), 1), o)
		require.NoError(t, err)
		for _, p := range []verify.Property{verify.DP, verify.ApproximateDP} {
			require.Equal(t, verify.Violated, r.Find(p).Verdict, "%v", r.Find(p))
		}
		require.Greater(t, r.LowerBound.Float64(), 1.0)
		require.Greater(t, r.DeltaBound.Float64(), 0.1)
		require.Contains(t, r.Find(verify.ZCDP).Reason, "ρ is at least ")
	}
}
