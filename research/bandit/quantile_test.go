package bandit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// density returns the density of the mechanism at x.
func density(cells []cell, x float64) float64 {
	total, at := 0.0, 0.0
	for _, c := range cells {
		total += c.weight
		if c.from <= x && x < c.to {
			at += c.weight / (c.to - c.from)
		}
	}
	return at / total
}

// Replacing one value changes no density by more than e^ε, for random data with ties and values at the ends.
func TestQuantilesArePrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		n, epsilon, q := 1+rng.IntN(12), 0.2+2*rng.Float64(), rng.Float64()
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(rng.IntN(9)) / 8
		}
		other := slices.Clone(values)
		other[rng.IntN(n)] = float64(rng.IntN(9)) / 8
		slices.Sort(values)
		slices.Sort(other)
		a, b := quantileCells(values, 0, 1, q, epsilon), quantileCells(other, 0, 1, q, epsilon)
		for i := range 64 {
			x := (float64(i) + 0.5) / 64
			assert.LessOrEqual(t, math.Abs(math.Log(density(a, x)/density(b, x))), epsilon+1e-9, "trial %d, %v %v at %v", trial, values, other, x)
		}
	}
}

// By hand: values 0.2 and 0.6, median, ε = 2 ln 2. Utilities between them are -1, 0, -1; lengths 0.2, 0.4, 0.4; factors 1/2, 1, 1/2.
func TestQuantileByHand(t *testing.T) {
	cells := quantileCells([]float64{0.2, 0.6}, 0, 1, 0.5, 2*math.Ln2)
	want := []float64{0.1, 0.4, 0.2}
	for i, c := range cells { // the middle one, of the best utility, has factor 1
		assert.InDelta(t, want[i], c.weight, 1e-15)
	}
	rng, inside := rand.New(rand.NewPCG(3, 4)), 0.0
	for range 20_000 {
		if x := privateQuantile([]float64{0.6, 0.2}, 0, 1, 0.5, 2*math.Ln2, rng); 0.2 <= x && x < 0.6 {
			inside++
		}
	}
	assert.InDelta(t, 4.0/7, inside/20_000, 5*math.Sqrt(4.0/7*3/7/20_000))
}

// At a large ε it is the quantile, whatever underflows.
func TestQuantileWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i) / 1000
	}
	assert.InDelta(t, 0.1, privateQuantile(values, 0, 1, 0.1, 1e6, rng), 0.002)
	assert.InDelta(t, 0.25, privateQuantile(make([]float64, 1000), 0, 1, 0.9, 1e6, rng), 1, "all values at an end")
}
