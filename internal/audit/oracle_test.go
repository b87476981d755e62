package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// oracleSamples is how many samples one Clopper–Pearson test needs that knows the pair and the event: half of them at either, for
// frequencies that are as expected, and a level of 5 % for both limits together.
func oracleSamples(p, o, eps float64) float64 {
	lo, hi := 2.0, 1e9
	for hi > max(1.001*lo, lo+1.5) {
		n := math.Round(math.Sqrt(lo * hi))
		a, b := n*p, n*o
		low, high := mathext.InvRegIncBeta(a, n-a+1, 0.025), mathext.InvRegIncBeta(b+1, n-b, 0.975)
		if math.Log(low/high) > eps {
			hi = n
		} else {
			lo = n
		}
	}
	return 2 * hi
}

// laplaceMax is report noisy max with Laplace noise of a scale, by the trapezoidal rule.
func laplaceMax(scale float64) law {
	return func(q []float64) []float64 {
		top := slices.Max(q)
		out := make([]float64, len(q))
		total := 0.0
		for x := -60 * scale; x < 40*scale; x += scale / 40 {
			for r := range q {
				d := (x - (q[r] - top)) / scale
				f := math.Exp(-math.Abs(d))
				for s := range q {
					if s != r {
						e := (x - (q[s] - top)) / scale
						if e < 0 {
							f *= math.Exp(e) / 2
						} else {
							f *= 1 - math.Exp(-e)/2
						}
					}
				}
				out[r] += f
			}
		}
		for _, x := range out {
			total += x
		}
		for r := range out {
			out[r] /= total
		}
		return out
	}
}

// oracle finds the fewest samples over all pairs of the lattice and events that hold one candidate or all but one.
func oracle(l law, n, k int, eps float64) float64 {
	best := math.Inf(1)
	for q := range inquiry.Grid(n, k, 2) {
		x := make([]float64, n)
		for r := range q {
			x[r] = float64(q[r])
		}
		p := l(x)
		for step := range inquiry.Steps(false, slices.Repeat([]int64{1}, n), rand.New(rand.NewPCG(1, 1))) {
			y := slices.Clone(x)
			for r := range y {
				y[r] += float64(step[r])
			}
			o := l(y)
			for r := range p {
				for _, e := range [][2]float64{{p[r], o[r]}, {o[r], p[r]}, {1 - p[r], 1 - o[r]}, {1 - o[r], 1 - p[r]}} {
					if e[1] > 1e-9 && math.Log(e[0]/e[1]) > eps+0.01 {
						best = min(best, oracleSamples(e[0], e[1], eps))
					}
				}
			}
		}
	}
	return best
}

// noisyExponential is noisyValue with exponential noise: no value lies below the best score.
type noisyExponential struct{ noisyValue }

func (s *noisyExponential) Values(q inquiry.Vector, samples int64) ([]float64, string, error) {
	s.asked += samples
	out := make([]float64, samples)
	for i := range out {
		out[i] = math.Inf(-1)
		for _, x := range q {
			out[i] = max(out[i], float64(x)/fractions+s.rng.ExpFloat64()*2/s.eps)
		}
	}
	return out, "", nil
}

// An audit that ends with the refutation needs at most three times what an oracle does that knows where to look.
func TestSamplesToRefuteNearTheOracle(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	const eps = 0.5
	value := math.Inf(1) // of values below v, all scores raised by 1
	for v := -8.0; v <= 0; v += 0.05 {
		value = min(value, oracleSamples(math.Pow(math.Exp(v*eps/2)/2, 3), math.Pow(math.Exp((v-1)*eps/2)/2, 3), eps))
	}
	below := math.Inf(1) // of values below v of exponential noise
	for v := 1.0; v <= 8; v += 0.05 {
		p, o := math.Pow(1-math.Exp(-v*eps/2), 3), math.Pow(1-math.Exp(-(v-1)*eps/2), 3)
		if math.Log(p/max(o, 1e-9)) > eps+0.01 {
			below = min(below, oracleSamples(p, max(o, 1e-9), eps))
		}
	}
	for _, c := range []struct {
		name    string
		sampler func(seed uint64) sampler
		real    bool
		oracle  float64
	}{
		{"exponential mechanism without its factor 2", func(seed uint64) sampler { return newLawSampler(softmaxLaw(eps, 2), seed) }, false, oracle(softmaxLaw(eps, 2), 3, 2, eps)},
		{"noisy max with half its noise", func(seed uint64) sampler { return newLawSampler(laplaceMax(1/eps), seed) }, false, oracle(laplaceMax(1/eps), 3, 2, eps)},
		{"noisy max that returns its value, Laplace noise", func(seed uint64) sampler {
			return binnedOf(&noisyValue{eps, rand.New(rand.NewPCG(seed, 1)), 0, false})
		}, true, value},
		{"noisy max that returns its value, exponential noise", func(seed uint64) sampler {
			return binnedOf(&noisyExponential{noisyValue{eps, rand.New(rand.NewPCG(seed, 1)), 0, false}})
		}, true, below},
	} {
		var needed []float64
		for i := range uint64(runs(1)) {
			seed := firstSeed() + i
			o := samplerOptions(t, "0.5", 1_000_000)
			o.Seed, o.UntilRefuted = seed, true
			if c.real {
				o.Outcomes = Real
			}
			r, err := draw(c.name, c.sampler(seed), o)
			require.NoError(t, err)
			require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "%s: %v", c.name, r.LowerBound)
			needed = append(needed, float64(r.Samples))
		}
		t.Logf("%s: oracle %.0f, median %v, %.1f times, of %v", c.name, c.oracle, median(needed), median(needed)/c.oracle, needed)
	}
}

// draw audits a sampler that counts vectors in units of the space that its options make.
func draw(name string, s sampler, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.sampleDomain()
	if err != nil {
		return nil, err
	}
	return o.statistics(context.Background(), name, s, space, dom)
}
