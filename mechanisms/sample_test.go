package mechanisms

import (
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
		m := registry[name]
		for k, in := range instances {
			p, err := m.Float(in)
			require.NoError(t, err, name)
			draw, err := Draws(m, in, rand.NewPCG(20, uint64(k)))
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
		_, err := Draws(m, &Instance{Epsilon: ratio}, nil)
		assert.ErrorIs(t, err, ErrInstance, name)
	}
}

// The test must be able to fail: at another ε the same samples are rejected.
func TestChiSquareTellsDistributionsApart(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1", "0.4", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1.3")}
	draw, err := Draws(registry["pf"], in, rand.NewPCG(1, 2))
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

// A draw within 2^-100 of the border of two candidates is decided by further words, against enclosures as narrow.
func TestDrawsRefine(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100))
	for _, c := range []struct {
		words []uint64
		want  int
	}{{[]uint64{1<<63 - 1}, 0}, {[]uint64{1 << 63, 0}, 0}, {[]uint64{1 << 63, 1<<28 - 1}, 0}, {[]uint64{1 << 63, 1 << 28}, 1}, {[]uint64{1<<63 + 1}, 1}} {
		m := FromRational(Info{Name: "nearly even"}, func(*Instance) ([]*big.Rat, error) {
			return []*big.Rat{new(big.Rat).Add(big.NewRat(1, 2), tiny), new(big.Rat).Sub(big.NewRat(1, 2), tiny)}, nil
		})
		source := &script{c.words}
		draw, err := Draws(m, OnLattice([]int{0, 1}, decimalEps(t, "1")), source)
		require.NoError(t, err)
		assert.Equal(t, c.want, draw(), "%v", c.words)
		assert.Empty(t, source.words, "%v", c.words)
	}
}

// Each border of two candidates is found by asking for the draws at 2^-60 on either side of it.
func TestDrawsAtTheBorders(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1", "0.4", "1", "-3"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1.3")}
	for _, name := range Names() {
		p, err := registry[name].Enclose(in, 128)
		require.NoError(t, err, name)
		border := number.FromInt(0, 128)
		for r, x := range p[:len(p)-1] {
			border = border.Add(x)
			u, _ := new(big.Float).SetMantExp(border.Mid(), 64).Uint64()
			draw, err := Draws(registry[name], in, &script{words: []uint64{u - 16, u + 16}})
			require.NoError(t, err, name)
			assert.Equal(t, r, draw(), name)
			assert.Equal(t, r+1, draw(), name)
		}
	}
}

// script is a source of given words.
type script struct{ words []uint64 }

func (s *script) Uint64() uint64 {
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

func TestSecureSource(t *testing.T) {
	s := newSecure()
	seen := map[uint64]bool{}
	for range 1000 {
		seen[s.Uint64()] = true
	}
	assert.Len(t, seen, 1000)
	draw, err := Draws(registry["pf"], OnLattice([]int{0, 1}, decimalEps(t, "1")), nil)
	require.NoError(t, err)
	assert.Contains(t, []int{0, 1}, draw())
}

func BenchmarkSamplers(b *testing.B) {
	in := &Instance{Sensitivities: ratsOf(b, "1"), Epsilon: decimalEps(b, "1")}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		in.Scores = append(in.Scores, big.NewRat(rng.Int64N(20000), 1000))
	}
	for _, name := range []string{"pf", "em", "krr", "geo"} {
		draw, err := Draws(registry[name], in, rand.NewPCG(1, 1))
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				draw()
			}
		})
	}
}
