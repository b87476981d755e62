package bandit

import (
	"math/bits"
)

// counter releases private running sums of a stream of numbers.
type counter interface {
	// add takes the next number and returns the private sum of all so far.
	add(x float64) float64
}

// release publishes a sum under noise: it returns the value plus Laplace noise of the given scale. Everything that a counter makes known
// goes through it; the sums of releases, and their order, depend on the number of items alone.
type release func(value, scale float64) float64

// tree is the binary mechanism for streams of at most horizon numbers (Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011, Section 4). It releases the sums over
// dyadic intervals, each when the interval is full, and the sum of the first t numbers is that of one interval for each 1 in the binary form of t.
//
// Privacy. Every number lies in at most L = ⌊log₂ horizon⌋ + 1 intervals, one of each length. Replacing one number by another, both from a range of the given
// width, changes each of these sums by at most the width; with noise of scale L·width/ε on every sum the whole sequence of releases is ε-DP.
//
// The error of the t-th sum has mean 0 and variance popcount(t)·2(L·width/ε)².
type tree struct {
	publish     release
	scale       float64
	t           int
	sums, noisy []float64 // of the full interval of each length 2^i that ends last
}

func newTree(horizon int, width, epsilon float64, publish release) *tree {
	levels := treeLevels(horizon)
	return &tree{publish: publish, scale: float64(levels) * width / epsilon, sums: make([]float64, levels), noisy: make([]float64, levels)}
}

// treeLevels is L, the number of different lengths of intervals.
func treeLevels(horizon int) int { return bits.Len(uint(horizon)) }

func (c *tree) add(x float64) float64 {
	c.t++
	i := bits.TrailingZeros(uint(c.t))
	for j := range i {
		x += c.sums[j]
		c.sums[j], c.noisy[j] = 0, 0
	}
	c.sums[i] = x
	c.noisy[i] = c.publish(x, c.scale)
	total := 0.0
	for _, s := range c.noisy {
		total += s
	}
	return total
}

// hybrid is the hybrid mechanism for streams of unknown length (Chan, Shi & Song 2011, Section 5). The logarithmic mechanism releases, at t = 1, 2, 4, …, the sum since the last such time;
// between 2^k and 2^{k+1} a binary mechanism for the 2^k - 1 numbers there adds what has come since 2^k.
//
// Privacy. Every number is in one sum of the logarithmic mechanism, and in at most one binary mechanism. Either has ε/2: noise of scale 2·width/ε for the former and of
// 2·k·width/ε for the latter, so that all releases together are ε-DP, towards replacing one number by another of a range of the given width.
//
// The error of the t-th sum has mean 0 and variance (k+1)·2(2·width/ε)² + popcount(t - 2^k)·2(2·k·width/ε)², k = ⌊log₂ t⌋: the logarithmic mechanism's noise adds up.
type hybrid struct {
	publish        release
	width, epsilon float64
	t              int
	base           float64 // the private sum at the last power of two
	since          float64 // the sum of what has come since
	within         *tree
}

func newHybrid(width, epsilon float64, publish release) *hybrid {
	return &hybrid{publish: publish, width: width, epsilon: epsilon}
}

func (c *hybrid) add(x float64) float64 {
	c.t++
	c.since += x
	if c.t&(c.t-1) != 0 {
		return c.base + c.within.add(x)
	}
	c.base += c.publish(c.since, 2*c.width/c.epsilon)
	c.since = 0
	c.within = newTree(c.t-1, c.width, c.epsilon/2, c.publish)
	return c.base
}
