package proptest

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn runs a generator many times.
func drawn[T any](t *testing.T, g gopter.Gen, count int, visit func(T)) {
	t.Helper()
	const seed = 17
	t.Logf("seed %d", seed)
	p := gopter.DefaultGenParameters()
	p.Rng = rand.New(rand.NewSource(seed))
	for range count {
		r := g(p)
		v, ok := r.Retrieve()
		require.True(t, ok)
		visit(v.(T))
	}
}

// TestScoresAreWeightedToWhatGoesWrong: every kind of score vector that the documentation names comes up, and none that it does not.
func TestScoresAreWeightedToWhatGoesWrong(t *testing.T) {
	sizes, offsets := map[int]int{}, map[float64]int{}
	kinds := map[string]int{}
	const count = 20_000
	drawn(t, cases(), count, func(c Case) {
		q := slices.Clone(c.Scores)
		for r := range q {
			q[r] /= c.Sensitivity
		}
		n := len(q)
		sizes[n]++
		best, worst := slices.Max(q), slices.Min(q)
		require.LessOrEqual(t, best-worst, 256.0)
		require.LessOrEqual(t, best, 1000.0, "offsets are added to scores that are not positive")
		var gaps []float64
		for _, x := range q {
			require.Equal(t, x*16384, math.Round(x*16384))
			gaps = append(gaps, best-x)
		}
		slices.Sort(gaps)
		only := func(allowed ...float64) bool {
			return !slices.ContainsFunc(gaps, func(g float64) bool { return !slices.Contains(allowed, g) })
		}
		last := gaps[n-1]
		if n == 1 {
			offsets[best]++
			return
		}
		switch {
		case last == 0:
			kinds["tied"]++
			offsets[best]++
		case n > 2 && gaps[1] == 3 && last == 3:
			kinds["one leader"]++
			offsets[best]++
			if slices.Index(q, best) > 0 {
				kinds["leader not the first"]++
			}
		case only(0, 1./1024, 2./1024):
			kinds["near ties"]++
		case only(0, 2, 4, 6):
			kinds["lattice"]++
		case only(0, 1, 2, 3, 4, 5):
			kinds["half steps"]++
		case slices.Contains([]float64{256, 255, 216, 40, 39}, last):
			kinds[fmt.Sprint("gap ", last)]++
		default:
			require.Less(t, last, 16.0, "%v", q)
			kinds["anything"]++
		}
	})
	for n := 1; n <= 8; n++ {
		assert.Positive(t, sizes[n], n)
	}
	assert.Len(t, sizes, 8)
	frequent := func(n int, least, most float64) {
		share := float64(sizes[n]) / count
		assert.True(t, least < share && share < most, "%d candidates: %.3f", n, share)
	}
	frequent(1, 0.10, 0.14)
	frequent(2, 0.31, 0.40)
	frequent(3, 0.20, 0.27)
	frequent(4, 0.10, 0.14)
	frequent(5, 0.10, 0.14)
	assert.InDelta(t, 1.0/16, float64(sizes[6]+sizes[7]+sizes[8])/count, 0.01)
	for _, kind := range []string{"tied", "one leader", "near ties", "lattice", "half steps", "gap 256", "anything"} {
		assert.Greater(t, kinds[kind], count/100, kind)
	}
	for _, kind := range []string{"gap 255", "gap 216", "gap 40", "gap 39"} {
		assert.Greater(t, kinds[kind], count/500, kind)
	}
	assert.Greater(t, kinds["leader not the first"], kinds["one leader"]/2)
	for _, o := range []float64{0, 1, -7.5, 1000} {
		assert.Greater(t, offsets[o], 100, "%v", o) // of the tied, the single and those with one leader
	}
}

func TestEpsilonsAndSensitivities(t *testing.T) {
	seen, sensitivities := map[float64]int{}, map[float64]int{}
	const count = 10_000
	drawn(t, cases(), count, func(c Case) {
		seen[c.Epsilon]++
		sensitivities[c.Sensitivity]++
		require.True(t, 1.0/1024 <= c.Epsilon && c.Epsilon <= 16, c)
		require.True(t, c.Epsilon == 1.0/1024 || c.Epsilon*16 == math.Round(c.Epsilon*16), c)
		require.LessOrEqual(t, (slices.Max(c.Scores)-slices.Min(c.Scores))/c.Sensitivity, 256.0)
		for _, q := range c.Scores {
			require.Equal(t, q*16384, math.Round(q*16384))
		}
		require.False(t, c.Monotonic)
	})
	within := 0
	for e, times := range seen {
		if 1.0/16 <= e && e <= 4 {
			within += times
		}
	}
	assert.Greater(t, within, count*3/4)
	for _, e := range []float64{1.0 / 1024, 16, 1.0 / 16, 0.5, 1, 4, 3.9375} {
		assert.Positive(t, seen[e], "ε = %v", e)
		if e != 3.9375 {
			assert.Greater(t, seen[e], count/25, "ε = %v", e)
		}
	}
	assert.Len(t, seen, 66)
	assert.Len(t, sensitivities, 6)
	assert.Greater(t, sensitivities[1], count/4)
	for _, s := range []float64{0.5, 3, 0.125, 2, 100} {
		assert.Greater(t, sensitivities[s], count/10, "Δ = %v", s)
	}
}

func all(s gopter.Shrink) (values []any) {
	for v, ok := s(); ok; v, ok = s() {
		values = append(values, v)
	}
	return values
}

// TestCasesShrink: towards ε = 1, Δ = 1 with the scores in proportion, and fewer candidates; never to more.
func TestCasesShrink(t *testing.T) {
	c := Case{Scores: []float64{6, -3, 0.375}, Sensitivity: 3, Epsilon: 0.5}
	var texts []string
	for _, v := range all(shrinkCase(c)) {
		s := v.(Case)
		texts = append(texts, s.String())
		assert.LessOrEqual(t, len(s.Scores), 3)
		assert.NotEmpty(t, s.Scores)
	}
	assert.Equal(t, []string{
		"scores [6 -3 0.375], sensitivity 3, epsilon 1", "scores [2 -1 0.125], sensitivity 1, epsilon 0.5",
		"scores [-3 0.375], sensitivity 3, epsilon 0.5", "scores [6 0.375], sensitivity 3, epsilon 0.5", "scores [6 -3], sensitivity 3, epsilon 0.5",
	}, texts[:5])
	for _, v := range all(shrinkCase(Case{Scores: []float64{1, 2}, Sensitivity: 1, Epsilon: 1})) {
		s := v.(Case)
		assert.Equal(t, []float64{1, 1}, []float64{s.Sensitivity, s.Epsilon})
	}
	assert.Empty(t, all(shrinkCase(Case{Scores: []float64{0}, Sensitivity: 1, Epsilon: 1})))
}
