package bandit

import (
	"math"
	"math/rand/v2"
	"slices"
)

// laplace draws Laplace noise.
func laplace(scale float64, rng *rand.Rand) float64 {
	if rng.Uint64()&1 == 1 {
		scale = -scale
	}
	return scale * rng.ExpFloat64()
}

// privateQuantile returns the q-quantile of values, which lie in [low, high], by the exponential mechanism: it is ε-DP towards replacing one value by another.
//
// The utility of a point x is -|#{values < x} - q·n|, which such a replacement changes by at most 1, so a point has density proportional to e^{ε·utility/2} on [low, high]. The utility is constant between
// neighboring values: an interval is drawn by its length times that factor, and a point in it uniformly (Smith 2011, Alg. 2). Values are sorted in place.
func privateQuantile(values []float64, low, high, q, epsilon float64, rng *rand.Rand) float64 {
	slices.Sort(values)
	cells := quantileCells(values, low, high, q, epsilon)
	total := 0.0
	for _, c := range cells {
		total += c.weight
	}
	u := rng.Float64() * total
	at := slices.IndexFunc(cells, func(c cell) bool { u -= c.weight; return u < 0 })
	if at < 0 { // rounding
		at = len(cells) - 1
	}
	c := cells[at]
	return c.from + rng.Float64()*(c.to-c.from)
}

// cell is an interval and its share of the probability, up to a common factor.
type cell struct{ from, to, weight float64 }

func quantileCells(sorted []float64, low, high, q, epsilon float64) (cells []cell) {
	distance := func(below int) float64 { return math.Abs(float64(below) - q*float64(len(sorted))) }
	from, nearest := low, math.Inf(1)
	for i := range len(sorted) + 1 {
		to := high
		if i < len(sorted) {
			to = sorted[i]
		}
		if cells = append(cells, cell{from, to, to - from}); to > from {
			nearest = min(nearest, distance(i))
		}
		from = to
	}
	for i := range cells { // relative to the best one that there is, so that not all vanish
		cells[i].weight *= math.Exp(-epsilon * (distance(i) - nearest) / 2)
	}
	return cells
}
