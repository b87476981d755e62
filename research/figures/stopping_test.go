package figures

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/slowtest"
)

// TestStoppingCurves: the closed forms of the source with a_2 = 1/e and a_3 = a_2 - (1-1/e)²/2, and exact values for 100 candidates.
func TestStoppingCurves(t *testing.T) {
	slowtest.Only(t)
	f := drawn(t, "stopping-2", "points", "26")
	for name, p := range map[string]float64{"p = 0.2": 0.2, "p = 1": 1} {
		s := series(t, f, name)
		for i, eps := range s.X {
			assert.InDelta(t, max(p/math.E*(1-math.Exp(eps-1)), 0), s.Y[i], 1e-12)
		}
	}
	f = drawn(t, "stopping-3", "points", "26")
	s := series(t, f, "l = 2")
	a3 := 1/math.E - math.Pow(1-1/math.E, 2)/2
	assert.InDelta(t, (1-a3*math.Exp(s.X[5]))/math.E, s.Y[5], 1e-12)
	assert.InDelta(t, 0.1447, drawn(t, "stopping-5", "points", "3", "n", "12").each()[0].Series[0].Y[2], 1e-4) // (1 - √e/e)/e

	f = drawn(t, "stopping-4", "n", "100", "points", "101")
	limit, exact := series(t, f, limitName), series(t, f, "exact for n = 100")
	assert.InDelta(t, 0.9724, limit.Y[len(limit.Y)-1], 5e-5)
	assert.InDelta(t, 0.9522, exact.Y[len(exact.Y)-1], 5e-5)

	f = drawn(t, "stopping-6", "n", "100", "eps-range", "0.5:1.1", "points", "601")
	limit, exact = series(t, f, limitName), series(t, f, "exact for n = 100")
	assert.InDelta(t, 0.3454, limit.Y[0], 5e-5)
	assert.InDelta(t, 0.382, exact.Y[0], 5e-4)
	for i, eps := range limit.X {
		assert.Equal(t, eps > 0.8539, limit.Y[i] == 1, "p = 1 from ε = 0.8539 on, not from 0.8")
	}
}
