package bandit

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

// Frequencies of 40000 draws against the probabilities, by Pearson's statistic: below 35 for 4 degrees of freedom in all but 5e-7 of cases. Seeded.
func TestFloatDraws(t *testing.T) {
	const runs = 40_000
	for _, c := range []struct {
		name   string
		params mechanisms.Params
		scores []float64
		each   []float64
	}{
		{"rs", mechanisms.Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rs", mechanisms.Params{Gamma: big.NewRat(1, 1)}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 1, 1}},
		{"rs-log", mechanisms.Params{Gamma: big.NewRat(1, 100)}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1, 0.5, 2, 0, 0}},
		{"pf", mechanisms.Params{}, []float64{0, 1, 0.4, -1, 0.9}, []float64{1}},
	} {
		m, err := mechanisms.Lookup(c.name)
		require.NoError(t, err)
		q := &question{Scores: c.scores, Sensitivities: c.each, Epsilon: 1.5, Params: c.params}
		in, err := mechanisms.FromFloats(q.Scores, q.Sensitivities, q.Epsilon, q.Params)
		require.NoError(t, err)
		p, err := m.Float(in)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(1, 2))
		counts := make([]float64, len(p))
		for range runs {
			i, err := draw(m, q, rng)
			require.NoError(t, err)
			counts[i]++
		}
		statistic := 0.0
		for i, x := range p {
			if x == 0 {
				assert.Zero(t, counts[i], "%v", c)
				continue
			}
			statistic += (counts[i] - runs*x) * (counts[i] - runs*x) / (runs * x)
		}
		assert.Less(t, statistic, 35.0, "%v: %v against %v", c, counts, p)
	}
}

// By hand: geometric with γ = 1/4 has probabilities 1/4, 3/16, 9/64; the logarithmic law with γ = 1/2 has 1/(2 ln 2), 1/(8 ln 2), 1/(24 ln 2).
func TestStoppingLawDraws(t *testing.T) {
	const runs = 100_000
	for _, c := range []struct {
		gamma, eta float64
		want       []float64
	}{
		{0.25, 1, []float64{0.25, 0.1875, 0.140625}},
		{0.5, 0, []float64{1 / (2 * math.Ln2), 1 / (8 * math.Ln2), 1 / (24 * math.Ln2)}},
	} {
		rng, counts := rand.New(rand.NewPCG(3, 4)), map[int]float64{}
		for range runs {
			counts[draws(c.gamma, c.eta, rng)]++
		}
		for i, p := range c.want {
			assert.InDelta(t, p, counts[i+1]/runs, 5*math.Sqrt(p/runs))
		}
	}
}
