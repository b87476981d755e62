package figures

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number"
)

// drawnFrom computes a figure from a histogram that is given.
func drawnFrom(t *testing.T, name string, counts []int64, change map[string]string) (*Figure, error) {
	t.Helper()
	spec, err := Lookup(name)
	require.NoError(t, err)
	given := map[string]string{"histogram": "my.csv"}
	for k, v := range change {
		given[k] = v
	}
	a, err := spec.NewArgs(given, nil)
	require.NoError(t, err)
	a.ReadHistogram = func(path string) ([]int64, error) {
		if path != "my.csv" {
			return nil, errors.New("no file " + path)
		}
		return counts, nil
	}
	return spec.Draw(context.Background(), a)
}

// TestErrorCurvesAreExact compares points of the curves with certified expected errors, for every kind of score.
func TestErrorCurvesAreExact(t *testing.T) {
	counts := []int64{3, 9, 40, 7, 1, 0, 52, 5}
	for _, c := range []struct {
		figure, scores string
		scale          int64
		monotonic      bool
	}{{"pf-3a", "monotonic", 1, true}, {"pf-3a", "doubled", 2, false}, {"pf-3a", "plain", 1, false}, {"pf-3b", "", 1, false}} {
		change := map[string]string{"points": "4"}
		scores := evaluate.ModeScores(counts)
		if c.scores != "" {
			change["scores"] = c.scores
		} else {
			var err error
			scores, err = evaluate.MedianScores(counts)
			require.NoError(t, err)
		}
		for i := range scores {
			scores[i] *= c.scale
		}
		f, err := drawnFrom(t, c.figure, counts, change)
		require.NoError(t, err)
		p, err := evaluate.New(scores, big.NewRat(1, 1), c.monotonic)
		require.NoError(t, err)
		for _, name := range []string{"em", "pf"} {
			m, err := mechanisms.Lookup(name)
			require.NoError(t, err)
			s := series(t, f, name)
			for i, eps := range s.X {
				e, err := number.FromEpsilon(new(big.Rat).SetFloat64(eps))
				require.NoError(t, err)
				want, err := p.ExpectedError(m, e)
				require.NoError(t, err)
				assert.InDelta(t, 1, s.Y[i]/want.Float64(), 1e-12)
			}
		}
		em, pf := series(t, f, "em"), series(t, f, "pf")
		assert.InDelta(t, 1, em.Y[3], 1e-9, "the axis ends where em's error is 1")
		for i := range em.Y {
			assert.Greater(t, em.Y[i]/pf.Y[i], 1.0)
			assert.Less(t, em.Y[i]/pf.Y[i], 2.0)
		}
	}
}

func TestErrorBars(t *testing.T) {
	f := drawn(t, "pf-3c", "target", "20")
	for i, y := range series(t, f, "em").Y {
		assert.InDelta(t, 20, y, 1e-8)
		pf := series(t, f, "pf").Y[i]
		assert.Greater(t, pf, 10.0)
		assert.Less(t, pf, 20.0)
	}
	assert.Contains(t, f.Subtitle, "not the source's data")
	f, err := drawnFrom(t, "pf-7a", []int64{1, 2, 300}, nil)
	require.NoError(t, err)
	assert.NotContains(t, f.Subtitle, "Generated")
	assert.Contains(t, f.each()[0].X.Names[0], "my\nε = ")
	_, err = drawnFrom(t, "pf-7a", []int64{1, 2, 3}, nil)
	require.ErrorContains(t, err, "error is below 50 at every ε")
	_, err = drawnFrom(t, "pf-7a", []int64{1, 2, 300}, map[string]string{"bins": "2"})
	require.ErrorContains(t, err, "give a divisor of 3, the bins of my")
	_, err = drawnFrom(t, "pf-7a", nil, map[string]string{"histogram": "other.csv"})
	require.EqualError(t, err, "no file other.csv")
	_, err = drawnFrom(t, "pf-3a", []int64{1, 2, 300}, map[string]string{"histogram": "my.csv,my.csv"})
	require.ErrorContains(t, err, "give at most 1")
	_, err = drawnFrom(t, "pf-3a", []int64{1, 2, 300}, map[string]string{"scores": "tripled"})
	assert.ErrorContains(t, err, "give monotonic, doubled or plain")
}
