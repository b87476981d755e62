package mechanisms

import (
	"math/big"

	"optratio/internal/arith"
)

var flip = permuteAndFlipAs(epsDP("pf", "permute-and-flip", "McKenna & Sheldon 2020, Alg. 1"))

// PermuteAndFlip returns the registered mechanism pf. Theorems about it are applied to this value alone, not to others of
// that name.
func PermuteAndFlip() Mechanism { return flip }

// permuteAndFlipAs is the mechanism under the description info.
func permuteAndFlipAs(info Info) *weighted {
	return newWeighted(info, permuteAndFlip[*big.Rat], permuteAndFlipEnclosed, permuteAndFlipFloat, permuteAndFlip[arith.RatFunc])
}

// permuteAndFlip returns, for each weight w_r,
//
//	w_r ∫₀¹ Π_{s≠r} (1 - t w_s) dt = w_r Σ_j c_j/(j+1),  Σ_j c_j u^j = Π_{s≠r} ((1-w_s) + w_s u),
//
// the product running over all candidates but one of weight w_r. With
// independent uniform arrival times t, candidate r is taken iff its coin shows
// heads and no earlier one's did (McKenna & Sheldon 2020, Lemma 1); u = 1 - t
// makes every coefficient nonnegative, so nothing cancels in any arithmetic:
// the sum is E[1/(J+1)] for J the number of other heads. O(n²) operations.
func permuteAndFlip[T any](f arith.Field[T], weights []T, counts []int) []T {
	n := 0
	for _, c := range counts {
		n += c
	}
	inverse := make([]T, n)
	for j := range inverse {
		inverse[j] = f.Quo(f.One(), f.FromInt(int64(j+1)))
	}
	p := make([]T, len(weights))
	leaveOneOut(len(weights), []T{f.One()},
		func(product []T, i int) []T { return times(f, product, weights[i], counts[i]) },
		func(i int, product []T) {
			sum := f.Zero()
			for j, c := range times(f, product, weights[i], counts[i]-1) {
				sum = f.Add(sum, f.Mul(c, inverse[j]))
			}
			p[i] = f.Mul(weights[i], sum)
		})
	return p
}

// times returns the coefficients of product · ((1-w) + w u)^count, as a fresh slice where count > 0.
func times[T any](f arith.Field[T], product []T, w T, count int) []T {
	if count == 0 {
		return product
	}
	rest := f.Sub(f.One(), w)
	out := make([]T, len(product), len(product)+count)
	copy(out, product)
	for range count {
		out = append(out, f.Mul(w, out[len(out)-1]))
		for j := len(out) - 2; j > 0; j-- {
			out[j] = f.Add(f.Mul(rest, out[j]), f.Mul(w, out[j-1]))
		}
		out[0] = f.Mul(rest, out[0])
	}
	return out
}
