package mechanisms

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Frequencies of 40000 draws against the probabilities, by Pearson's statistic: below 35 for 4 degrees of freedom in all but 5e-7 of cases. Seeded.
func TestFloatDraws(t *testing.T) {
	const draws = 40_000
	for _, c := range []struct {
		name   string
		params Params
		scores []float64
		each   []float64
	}{
		{"rs", Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rs", Params{Gamma: big.NewRat(1, 1)}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rs-log", Params{Gamma: big.NewRat(1, 100)}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 0, 0}},
		{"rs-tnb", Params{Eta: big.NewRat(-1, 2)}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rs-tnb", Params{Eta: big.NewRat(3, 1)}, []float64{1, 1, 1, 1, 0.9}, []float64{0, 0, 2, 0, 1}},
		{"rnm-laplace", Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rnmh", Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rnmh-laplace", Params{}, []float64{0.5, 0.5, 0.4, -1, 0.9}, []float64{0, 0, 2, 1, 1}},
		{"pf", Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1}},
	} {
		m := registry[c.name].(FloatScorer)
		in := &FloatInstance{Scores: c.scores, Sensitivities: c.each, Epsilon: 1.5, Params: c.params}
		p, err := m.FloatScores(in)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(1, 2))
		counts := make([]float64, len(p))
		for range draws {
			i, err := FloatDraw(m, in, rng)
			require.NoError(t, err)
			counts[i]++
		}
		statistic := 0.0
		for i, x := range p {
			if x == 0 {
				assert.Zero(t, counts[i], "%v", c)
				continue
			}
			statistic += (counts[i] - draws*x) * (counts[i] - draws*x) / (draws * x)
		}
		assert.Less(t, statistic, 35.0, "%v: %v against %v", c, counts, p)
		_, err = FloatDraw(m, &FloatInstance{Scores: []float64{math.NaN()}, Sensitivities: []float64{1}}, rng)
		assert.ErrorIs(t, err, ErrInstance)
	}
}

// By hand: geometric with γ = 1/4 has probabilities 1/4, 3/16, 9/64; the logarithmic law with γ = 1/2 has 1/(2 ln 2), 1/(8 ln 2), 1/(24 ln 2).
func TestStoppingLawDraws(t *testing.T) {
	const draws = 100_000
	for _, c := range []struct {
		law  stoppingLaw
		want []float64
	}{
		{stoppingLaw{0.25, 1}, []float64{0.25, 0.1875, 0.140625}},
		{stoppingLaw{0.5, 0}, []float64{1 / (2 * math.Ln2), 1 / (8 * math.Ln2), 1 / (24 * math.Ln2)}},
	} {
		rng, counts := rand.New(rand.NewPCG(3, 4)), map[int]float64{}
		for range draws {
			counts[c.law.draw(rng)]++
		}
		for i, p := range c.want {
			assert.InDelta(t, p, counts[i+1]/draws, 5*math.Sqrt(p/draws))
		}
	}
}
