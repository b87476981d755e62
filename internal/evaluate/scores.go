package evaluate

import (
	"fmt"
	"math/big"

	"optratio/number"
)

// inputf is an error about a histogram, a quantile, scores or a target.
func inputf(format string, args ...any) error { return number.InputError(fmt.Sprintf(format, args...)) }

// MedianScores returns QuantileScores for P = 1/2.
func MedianScores(counts []int64) ([]int64, error) { return QuantileScores(counts, big.NewRat(1, 2)) }

// QuantileScores returns the score of each bin for selecting the P-quantile, 0 < P < 1. That is the bin r with B_r < P·N <= A_r, where N is the
// number of items, A_r how many are in bins <= r, and B_r how many in bins < r. With P = a/b in lowest terms and
// m = max(a, b-a) the score is
//
//	q_r = -⌈max(0, aN - bA_r, bB_r - aN + 1)/m⌉.
//
// For P = 1/2 that is a = 1, b = 2, m = 1: the score -max(0, N - 2A_r, 2B_r - N + 1) of the median (McKenna & Sheldon 2020, experiments).
//
// Sensitivity, for adding or removing one item: the new item adds a or a-b to aN - bA_r, and b-a or -a to bB_r - aN + 1, all at most m in absolute
// value. So the maximum divided by m changes by at most 1, and numbers that differ by at most 1 do so after rounding up: the sensitivity
// is 1. Scores are not monotonic: an item below the quantile raises the scores of bins below it and lowers those of bins above. Moving an
// item changes aN - bA_r and bB_r - aN + 1 by at most b <= 2m, so the sensitivity is then at most 2.
//
// What the score means: q_r = 0 iff r is the P-quantile, so by the sensitivity at least -q_r items must be added or removed before it
// is. For a bin that holds an item that many are enough, and for P = 1/2 for every bin. With u = aN - bA_r > 0 add them
// to r where m = b-a, and remove them from above r where m = a, after which aN still exceeds bA_r - a >= bB_r + b - a. With v = bB_r - aN + 1 > 0
// add them to r where m = a, and remove them from below r where m = b-a, after which bA_r - aN is still at least a.
//
// With no items at all every bin has the score -1. P is between 0 and 1, and b·N fits into 62 bits.
func QuantileScores(counts []int64, p *big.Rat) ([]int64, error) {
	if p.Sign() <= 0 || p.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, inputf("the quantile %s is not between 0 and 1", p.RatString())
	}
	total, err := Total(counts)
	if err != nil {
		return nil, err
	}
	if most := new(big.Int).Mul(p.Denom(), big.NewInt(max(total, 1))); most.BitLen() > 62 {
		return nil, inputf("the quantile %s of %d items: its denominator times their number exceeds 2^62", p.RatString(), total)
	}
	a, b := p.Num().Int64(), p.Denom().Int64()
	m := max(a, b-a)
	scores := make([]int64, len(counts))
	below := int64(0)
	for r, x := range counts {
		upTo := below + x
		distance := max(0, a*total-b*upTo, b*below-a*total+1)
		scores[r] = -((distance + m - 1) / m)
		below = upTo
	}
	return scores, nil
}

// Total returns the sum of the counts, which are not negative and at most MaxTotal together.
func Total(counts []int64) (int64, error) {
	total := int64(0)
	for i, x := range counts {
		if x < 0 {
			return 0, inputf("the count of bin %d is %d, want >= 0", i, x)
		}
		if x > MaxTotal-total {
			return 0, inputf("more than 2^60 items")
		}
		total += x
	}
	return total, nil
}

// MaxTotal is the largest number of items of a histogram.
const MaxTotal = 1 << 60

// Fold sums adjacent bins so that as many as bins remain, a divisor of the number there are.
func Fold(counts []int64, bins int) ([]int64, error) {
	if bins < 1 || len(counts)%bins != 0 {
		return nil, inputf("%d does not divide the %d bins there are; give a divisor", bins, len(counts))
	}
	width := len(counts) / bins
	out := make([]int64, bins)
	for i, x := range counts {
		out[i/width] += x
	}
	return out, nil
}
