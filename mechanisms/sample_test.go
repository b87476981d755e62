package mechanisms

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"optratio/number"
)

// chiSquare returns the probability that counts of a sample from p look at least as unlike p as these,
// cells expecting less than 5 being put together.
func chiSquare(p []float64, counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	statistic, cells := 0.0, 0
	restExpected, restCount := 0.0, 0
	add := func(expected float64, count int) {
		statistic += (float64(count) - expected) * (float64(count) - expected) / expected
		cells++
	}
	for i, c := range counts {
		if e := p[i] * float64(total); e < 5 {
			restExpected += e
			restCount += c
		} else {
			add(e, c)
		}
	}
	switch {
	case restExpected >= 1:
		add(restExpected, restCount)
	case restCount > 6:
		return 0
	}
	if cells < 2 {
		return 1
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(statistic)
}

// All samplers against their pmf, on instances with ties, far losers, equal and different sensitivities, none at
// all, and either kind of ε. Seeds are fixed, so the outcome is; with 1e-5 as the limit an error of a few percent would show.
func TestSamplersFollowTheirPMF(t *testing.T) {
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	instances := []*Instance{
		{Scores: ratsOf(t, "0", "1", "0.4", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1.3")},
		{Scores: ratsOf(t, "0", "3", "1.5", "-40"), Sensitivities: ratsOf(t, "0.5"), Epsilon: ratio},
		{Scores: ratsOf(t, "0", "1", "0.4"), Sensitivities: ratsOf(t, "1", "0.5", "2"), Epsilon: decimalEps(t, "2")},
		{Scores: ratsOf(t, "0", "1", "1", "0.8", "0.5"), Sensitivities: ratsOf(t, "1", "0", "0", "2", "0"), Epsilon: ratio},
		{Scores: ratsOf(t, "7", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "0")},
	}
	for _, name := range Names() {
		m, ok := registry[name].(Sampler)
		if !ok {
			continue
		}
		for k, in := range instances {
			p, err := m.Float(in)
			require.NoError(t, err, name)
			draw, err := m.Draws(in, rand.NewPCG(20, uint64(k)))
			require.NoError(t, err, name)
			counts := make([]int, len(p))
			for range 2000 {
				counts[draw()]++
			}
			assert.Greater(t, chiSquare(p, counts), 1e-5, "%s, instance %d: %v for %v", name, k, counts, p)
			for i := range p {
				if p[i] == 0 {
					assert.Zero(t, counts[i], "%s took what it never may", name)
				}
			}
		}
		_, err := m.Draws(&Instance{Epsilon: ratio}, nil)
		assert.ErrorIs(t, err, ErrInstance, name)
	}
}

// The test must be able to fail: at another ε the same samples are rejected.
func TestChiSquareTellsDistributionsApart(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1", "0.4", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1.3")}
	draw, err := registry["pf"].(Sampler).Draws(in, rand.NewPCG(1, 2))
	require.NoError(t, err)
	counts := make([]int, 4)
	for range 6000 {
		counts[draw()]++
	}
	in.Epsilon = decimalEps(t, "2")
	p, err := registry["pf"].Float(in)
	require.NoError(t, err)
	assert.Less(t, chiSquare(p, counts), 1e-5)
	uniform, err := registry["uniform"].Float(in)
	require.NoError(t, err)
	assert.Less(t, chiSquare(uniform, counts), 1e-5)
}

func TestEverythingThatCanBeSampledIs(t *testing.T) {
	for _, name := range []string{"pf", "em", "rnm-laplace", "rnm-exponential", "rnm-gumbel", "krr", "uniform",
		"rnmh", "rnmh-laplace", "gem", "mgem", "combined-gem", "rs", "rs-log", "rs-tnb"} {
		_, ok := registry[name].(Sampler)
		assert.True(t, ok, name)
	}
}

// frequency asserts that trials heads of probability p are as frequent as they should be, to 5 standard deviations.
func frequency(t *testing.T, p float64, heads, trials int, msg string) {
	t.Helper()
	n := float64(trials)
	assert.InDelta(t, p*n, float64(heads), 5*math.Sqrt(n*p*(1-p))+1e-9, msg)
}

func TestCoins(t *testing.T) {
	d := dice{rand.NewPCG(3, 3)}
	const trials = 20000
	for _, x := range []string{"0", "0.001", "0.5", "1", "1.25", "3", "7.5"} {
		heads, lazily := 0, 0
		r := ratOf(t, x)
		f, _ := r.Float64()
		for range trials {
			if d.bernoulliExp(r) {
				heads++
			}
			if d.bernoulliEnclosed(func(prec uint) number.Interval { return number.ExpRat(new(big.Rat).Neg(r), prec) }) {
				lazily++
			}
		}
		frequency(t, math.Exp(-f), heads, trials, x)
		frequency(t, math.Exp(-f), lazily, trials, x)
	}
	third := 0
	for range trials {
		if d.bernoulli(big.NewInt(1), big.NewInt(3)) {
			third++
		}
	}
	frequency(t, 1./3, third, trials, "1/3")
	huge := new(big.Int).Lsh(big.NewInt(3), 200) // beyond a word
	third = 0
	for range trials {
		if d.bernoulli(new(big.Int).Lsh(big.NewInt(1), 200), huge) {
			third++
		}
	}
	frequency(t, 1./3, third, trials, "1/3 of big integers")
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	flip, heads := d.power(ratio, big.NewRat(5, 2)), 0
	for range trials {
		if flip() {
			heads++
		}
	}
	frequency(t, math.Pow(2./3, 2.5), heads, trials, "(2/3)^2.5")
}

// A coin that is decided by the last bits only: the enclosures must be refined until it is.
func TestLazyCoinsRefine(t *testing.T) {
	words := &script{words: []uint64{1 << 63, 0, 1 << 63, 0, 5}}
	half := new(big.Rat).Add(big.NewRat(1, 2), new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100)))
	deepest := uint(0)
	d := dice{words}
	assert.True(t, d.bernoulliEnclosed(func(prec uint) number.Interval {
		deepest = max(deepest, prec)
		return number.FromRat(half, prec)
	}), "0.5 drawn to 128 bits is below 0.5 + 2^-100")
	assert.GreaterOrEqual(t, deepest, uint(128))
	u := uniform{dice: dice{&script{words: []uint64{1 << 63, 0, 1}}}}
	lo, hi := u.bounds(100)
	assert.Equal(t, "0.5", lo.String())
	assert.Equal(t, -128, hi.Sub(hi, lo).MantExp(nil)-1)
	v := uniform{dice: dice{&script{words: []uint64{1 << 63, 0, 2}}}}
	assert.True(t, u.less(&v))
	assert.False(t, v.less(&u))
}

// script is a source of given words.
type script struct{ words []uint64 }

func (s *script) Uint64() uint64 {
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

func TestExponentialNoise(t *testing.T) {
	d := dice{rand.NewPCG(4, 4)}
	const trials, cells = 10000, 12
	counts, p := make([]int, cells), make([]float64, cells)
	for i := range p {
		p[i] = math.Exp(-float64(i)/3) - math.Exp(-float64(i+1)/3)
	}
	p[cells-1] = math.Exp(-float64(cells-1) / 3)
	for range trials {
		x := d.exponential()
		lo, hi := x.enclose(64).Float64()
		require.Less(t, hi-lo, 1e-14)
		counts[min(cells-1, int(3*lo))]++
	}
	assert.Greater(t, chiSquare(p, counts), 1e-5)
}

func TestStoppingTimes(t *testing.T) {
	d := dice{rand.NewPCG(5, 5)}
	for _, c := range []struct{ gamma, eta string }{{"0.3", "1"}, {"0.3", "0"}, {"0.2", "0.5"}, {"0.25", "-0.5"}, {"0.4", "3"}, {"0.4", "2.5"}} {
		gamma, eta := ratOf(t, c.gamma), ratOf(t, c.eta)
		g, _ := gamma.Float64()
		e, _ := eta.Float64()
		p := stoppingWeights(g, e, 400)
		counts := make([]int, len(p))
		for range 4000 {
			counts[d.stoppingTime(gamma, eta)]++
		}
		assert.Greater(t, chiSquare(p, counts), 1e-5, "%v", c)
	}
	assert.Equal(t, 1, d.stoppingTime(ratOne, ratOne))
}

func TestSecureSource(t *testing.T) {
	s := newSecure()
	seen := map[uint64]bool{}
	for range 1000 {
		seen[s.Uint64()] = true
	}
	assert.Len(t, seen, 1000)
	draw, err := registry["pf"].(Sampler).Draws(OnLattice([]int{0, 1}, decimalEps(t, "1")), nil)
	require.NoError(t, err)
	assert.Contains(t, []int{0, 1}, draw())
}

func BenchmarkSamplers(b *testing.B) {
	in := &Instance{Sensitivities: ratsOf(b, "1"), Epsilon: decimalEps(b, "1")}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		in.Scores = append(in.Scores, big.NewRat(rng.Int64N(20000), 1000))
	}
	for _, name := range []string{"pf", "em", "krr", "rnm-laplace", "rs"} {
		draw, err := registry[name].(Sampler).Draws(in, rand.NewPCG(1, 1))
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				draw()
			}
		})
	}
}
