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
// neighboring values: an interval is drawn by its length times that factor, and a point in it uniformly (Smith 2011, Alg. 2). With grid >= 2 only so many evenly spaced points,
// the ends among them, are candidates, as in the exponential mechanism for finite sets. Values are sorted in place.
func privateQuantile(values []float64, low, high, q, epsilon float64, grid int, rng *rand.Rand) float64 {
	slices.Sort(values)
	cells := quantileCells(values, low, high, q, epsilon, grid)
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

// cell is an interval, or a point, and its share of the probability, up to a common factor.
type cell struct{ from, to, weight float64 }

func quantileCells(sorted []float64, low, high, q, epsilon float64, grid int) (cells []cell) {
	target := q * float64(len(sorted))
	var distances []float64
	nearest := math.Inf(1)
	note := func(from, to, size float64, below int) {
		d := math.Abs(float64(below) - target)
		cells, distances = append(cells, cell{from, to, size}), append(distances, d)
		if size > 0 {
			nearest = min(nearest, d)
		}
	}
	if grid >= 2 {
		below := 0
		for i := range grid {
			x := low + (high-low)*float64(i)/float64(grid-1)
			for below < len(sorted) && sorted[below] < x {
				below++
			}
			note(x, x, 1, below)
		}
	} else {
		from := low
		for i, x := range sorted {
			note(from, x, x-from, i)
			from = x
		}
		note(from, high, high-from, len(sorted))
	}
	for i, d := range distances { // relative to the best one that there is, so that not all vanish
		cells[i].weight *= math.Exp(-epsilon * (d - nearest) / 2)
	}
	return cells
}
