package mechanisms

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

var softmax = exponentialAs(epsDP("em", "exponential mechanism", "McSherry & Talwar 2007"))

// Exponential returns the registered mechanism em, as PermuteAndFlip does pf.
func Exponential() Mechanism { return softmax }

// exponentialAs is the mechanism under the description info.
func exponentialAs(info Info) *weighted {
	w := newWeighted(info, exponential[*big.Rat], exponential[number.Interval], exponential[float64], exponential[arith.RatFunc])
	w.tries, w.offEach = enclosedCandidates, 0x1p-52 // a few operations a candidate, and a plain sum
	return w
}

// exponential returns w_r / Σ_s counts_s w_s for each weight w_r.
func exponential[T any](f arith.Field[T], weights []T, counts []int) []T {
	total := f.Zero()
	for i, w := range weights {
		total = f.Add(total, f.Mul(f.FromInt(int64(counts[i])), w))
	}
	p := make([]T, len(weights))
	for i, w := range weights {
		p[i] = f.Quo(w, total)
	}
	return p
}
