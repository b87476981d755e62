package figures

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// at returns a series' value at x, of the panel with the given number.
func at(t *testing.T, f *Figure, panel int, name string, x float64) float64 {
	t.Helper()
	for _, s := range f.each()[panel].Series {
		for i := range s.X {
			if s.Name == name && s.X[i] == x {
				return s.Y[i]
			}
		}
	}
	assert.Failf(t, "no such point", "%s at %v", name, x)
	return math.NaN()
}

// TestBimodalScenarios: errors of scenarios 1 to 3 as research/docs/scenarios.md has them.
func TestBimodalScenarios(t *testing.T) {
	f := drawn(t, "het-1", "mechanism", "rnm-exponential,gem,mgem,rs,rnmh,uniform", "eps", "1,2")
	for _, c := range []struct {
		scenario int
		name     string
		eps      float64
		want     float64
	}{
		{1, "gem", 1, 3.45}, {2, "mgem", 1, 3.45}, {2, "rs", 1, 2.41}, {2, "rnmh", 1, 3.45}, {1, "uniform", 1, 2}, {1, "rs", 1, 0.88}, {1, "rnmh", 1, 0.097},
		{3, "gem", 2, 1.090}, {3, "rs", 2, 1.244}, {3, "mgem", 2, 1.436}, {3, "rnm", 2, 0.983},
	} {
		assert.InDelta(t, c.want, at(t, f, 2+c.scenario, c.name, c.eps), 0.006, "scenario %d, %s", c.scenario, c.name)
	}
	top := f.each()[0].Series[0]
	assert.Equal(t, []float64{1, -1}, []float64{top.Y[0], top.Y[99]})
	assert.InDelta(t, 1.8, top.Upper[0]-top.Y[0], 1e-12)
}

// TestGainsOfTwoCandidates: random stopping gains where the better candidate is the more sensitive one, more so for small γ.
func TestGainsOfTwoCandidates(t *testing.T) {
	weak, strong := drawn(t, "het-2", "points", "5", "gamma", "0.5").each()[0].Cells, drawn(t, "het-2", "points", "5", "gamma", "0.001").each()[0].Cells
	assert.Positive(t, strong.Z[0][4])
	assert.Negative(t, strong.Z[4][0])
	assert.Less(t, weak.Z[0][2], strong.Z[0][2])
}

// TestShareOfHighScores: in scenario 2 random stopping is better than a blind choice with up to 43 high scores, and worse with more.
func TestShareOfHighScores(t *testing.T) {
	f := drawn(t, "het-13", "mechanism", "rs,uniform", "share", "43,44")
	assert.Less(t, at(t, f, 1, "rs", 43), at(t, f, 1, "uniform", 43))
	assert.Greater(t, at(t, f, 1, "rs", 44), at(t, f, 1, "uniform", 44))
	assert.InDelta(t, 4*0.57, at(t, f, 1, "uniform", 43), 1e-9) // (1-(-1))² for 57 of 100
}

// TestPolarisedScenarios: at ε = 2 in scenario 7 the adaptive choice is far better than report noisy max.
func TestPolarisedScenarios(t *testing.T) {
	f := drawn(t, "het-7", "draws", "2000", "trials", "10", "mechanism", "rnm-exponential,combined-gem", "eps", "2")
	assert.InDelta(t, 14.6, at(t, f, 2, "combined-gem", 2), 1)
	assert.InDelta(t, 21.6, at(t, f, 2, "rnm", 2), 1)
	assert.Len(t, f.each()[0].Series, 3)
}
