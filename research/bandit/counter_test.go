package bandit

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// recorder is what a counter releases: values and scales.
type recorder struct{ values, scales []float64 }

func (r *recorder) publish(value, scale float64) float64 {
	r.values, r.scales = append(r.values, value), append(r.scales, scale)
	return value
}

var counters = map[string]func(horizon int, epsilon float64, publish release) counter{
	"tree": func(horizon int, epsilon float64, publish release) counter {
		return newTree(horizon, 2, epsilon, publish)
	},
	"hybrid": func(_ int, epsilon float64, publish release) counter { return newHybrid(2, epsilon, publish) },
}

// Without noise counters are exact.
func TestCountersAddUp(t *testing.T) {
	for name, make := range counters {
		c, sum := make(100, 1, new(recorder).publish), 0.0
		for i := range 100 {
			sum += float64(i * i)
			assert.InDelta(t, sum, c.add(float64(i*i)), 1e-9, "%s at %d", name, i+1)
		}
	}
}

// The privacy accounting, by definition: when one number changes by the width, what is released changes by at most ε in units of its noise, over all releases together; and by
// ε where the accounting says so.
func TestCountersArePrivate(t *testing.T) {
	const horizon, epsilon, width = 70, 0.75, 2.0
	for name, make := range counters {
		worst := 0.0
		for change := range horizon {
			var released [2]recorder
			for side := range released {
				c := make(horizon, epsilon, released[side].publish)
				for i := range horizon {
					x := float64(i % 2)
					if i == change && side == 1 {
						x -= width
					}
					c.add(x)
				}
			}
			cost := 0.0
			assert.Equal(t, released[0].scales, released[1].scales, "what is released when does not depend on the numbers")
			for i, v := range released[0].values {
				cost += math.Abs(v-released[1].values[i]) / released[0].scales[i]
			}
			assert.LessOrEqual(t, cost, epsilon*(1+1e-12), "%s: number %d", name, change)
			worst = max(worst, cost)
		}
		assert.InDelta(t, epsilon, worst, 1e-9, "%s wastes nothing", name)
	}
}

// Errors have mean 0 and the stated variance, also at the powers of two and beside them.
func TestCounterErrors(t *testing.T) {
	const streams, horizon, epsilon = 4000, 40, 0.5
	rng := rand.New(rand.NewPCG(1, 2))
	publish := func(value, scale float64) float64 { return value + laplace(scale, rng) }
	variance := map[string]func(t int) float64{
		"tree":   func(t int) float64 { return treeVariance(t, horizon, 2, epsilon) },
		"hybrid": func(t int) float64 { return hybridVariance(t, 2, epsilon) },
	}
	for name, make := range counters {
		sum, square := [horizon]float64{}, [horizon]float64{}
		for range streams {
			c := make(horizon, epsilon, publish)
			for i := range horizon {
				e := c.add(1) - float64(i+1)
				sum[i] += e
				square[i] += e * e
			}
		}
		for i := range horizon {
			want := variance[name](i + 1)
			assert.InDelta(t, 0, sum[i]/streams, 5*math.Sqrt(want/streams), "%s at %d", name, i+1)
			// A sum of Laplace variables has kurtosis at most 6.
			assert.InDelta(t, want, square[i]/streams, 5*want*math.Sqrt(5.0/streams), "%s at %d", name, i+1)
		}
	}
}

// treeVariance is the variance of the t-th sum's error.
func treeVariance(t, horizon int, width, epsilon float64) float64 {
	scale := float64(treeLevels(horizon)) * width / epsilon
	return float64(bits.OnesCount(uint(t))) * 2 * scale * scale
}

// hybridVariance is the variance of the t-th sum's error.
func hybridVariance(t int, width, epsilon float64) float64 {
	k := bits.Len(uint(t)) - 1
	scale := 2 * width / epsilon
	return float64(k+1)*2*scale*scale + treeVariance(t-1<<k, 1<<k-1, width, epsilon/2)
}

// By hand, width 1, ε = 1. Tree for 4 numbers: 3 levels, scale 3; at t = 3 two intervals: 2·2·9. Hybrid at t = 4: three sums of scale 2: 3·2·4; at t = 7, k = 2, besides, two
// intervals of a tree for 3 numbers at ε/2: 2 levels, scale 4, 2·2·16.
func TestVariancesByHand(t *testing.T) {
	assert.InDelta(t, 36, treeVariance(3, 4, 1, 1), 1e-12)
	assert.InDelta(t, 24, hybridVariance(4, 1, 1), 1e-12)
	assert.InDelta(t, 24+64, hybridVariance(7, 1, 1), 1e-12)
}

func TestLaplace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const draws = 200_000
	sum, absolute, far := 0.0, 0.0, 0.0
	for range draws {
		x := laplace(3, rng)
		sum += x
		absolute += math.Abs(x)
		if x > 6 {
			far++
		}
	}
	assert.InDelta(t, 0, sum/draws, 5*3*math.Sqrt(2.0/draws))
	assert.InDelta(t, 3, absolute/draws, 5*3/math.Sqrt(draws))
	assert.InDelta(t, math.Exp(-2)/2, far/draws, 5*math.Sqrt(math.Exp(-2)/2/draws))
}
