package evaluate

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// The oracles are written from the definitions, in rational arithmetic, and share nothing with the package or the mechanisms.

// itemsOf lists the bin of each item.
func itemsOf(counts []int64) []int {
	var out []int
	for bin, x := range counts {
		for range x {
			out = append(out, bin)
		}
	}
	return out
}

// medianByCounting is the median's score from its definition, in O(n·N): A and B are counted item by item.
func medianByCounting(counts []int64) []int64 {
	items := itemsOf(counts)
	n := int64(len(items))
	scores := make([]int64, len(counts))
	for r := range counts {
		upTo, below := int64(0), int64(0)
		for _, bin := range items {
			if bin <= r {
				upTo++
			}
			if bin < r {
				below++
			}
		}
		scores[r] = -slices.Max([]int64{0, n - 2*upTo, 2*below - n + 1})
	}
	return scores
}

// errorsByExpansion returns the exact expected errors of the exponential mechanism and of permute-and-flip where a candidate d below the
// best has the weight w^d: for permute-and-flip by expanding Π_{s≠r} (1 - t p_s) in powers of t, which is divided out of the whole product
// candidate by candidate, and integrating term by term (McKenna & Sheldon 2020, App. E). O(n²).
func errorsByExpansion(scores []int64, w *big.Rat) (em, pf *big.Rat) {
	best := slices.Max(scores)
	weights := make([]*big.Rat, len(scores))
	total := new(big.Rat)
	product := []*big.Rat{big.NewRat(1, 1)}
	for r, q := range scores {
		weights[r] = big.NewRat(1, 1)
		for range best - q {
			weights[r].Mul(weights[r], w)
		}
		total.Add(total, weights[r])
		next := make([]*big.Rat, len(product)+1)
		for j := range next {
			next[j] = new(big.Rat)
			if j < len(product) {
				next[j].Add(next[j], product[j])
			}
			if j > 0 {
				next[j].Sub(next[j], new(big.Rat).Mul(weights[r], product[j-1]))
			}
		}
		product = next
	}
	em, pf = new(big.Rat), new(big.Rat)
	for r, q := range scores {
		gap := new(big.Rat).SetInt64(best - q)
		em.Add(em, new(big.Rat).Mul(gap, new(big.Rat).Quo(weights[r], total)))
		// rest(t)·(1 - t p_r) = product(t), from the lowest power on
		sum, coefficient := new(big.Rat), new(big.Rat)
		for j := range scores {
			coefficient = new(big.Rat).Add(product[j], new(big.Rat).Mul(weights[r], coefficient))
			sum.Add(sum, new(big.Rat).Mul(coefficient, big.NewRat(1, int64(j+1))))
		}
		pf.Add(pf, sum.Mul(sum, weights[r]).Mul(sum, gap))
	}
	return em, pf
}

// randomCounts returns a histogram of n bins, some of them empty, some alike.
func randomCounts(rng *rand.Rand, n, most int) []int64 {
	out := make([]int64, n)
	for i := range out {
		if rng.IntN(4) > 0 {
			out[i] = int64(rng.IntN(most + 1))
		}
	}
	return out
}
