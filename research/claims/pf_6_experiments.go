package claims

import (
	"fmt"
	"math/big"
)

func init() {
	const needs = "needs DPBench's histograms, which are not ours to ship (research/docs/figures.md says how to get them)"
	register(PF, map[string]check{
		"Section 6, mode | main":         notCheckable(needs),
		"Section 6, median | main":       notCheckable(needs),
		"Section 6, ratio over ε | main": notCheckable(needs),
		"Section 6, c·exp(-ε) | main":    notCheckable(needs),
		"Section 6, large ε | main":      largeEpsilon(1),
		"Figure 3(c), text | main":       notCheckable(needs),
		"Appendix G | supplement":        notCheckable(needs),
	})
}

// largeEpsilon checks, on vectors with the given number of best candidates and the second best a step below, that the ratio of errors tends to two, and that
// the exponential mechanism at ε + ln 2 per step has permute-and-flip's error at ε in the limit.
func largeEpsilon(best int) check {
	return func(t *tally) Finding {
		two := rat(2, 1)
		close := func(x, y *big.Rat, power uint) bool {
			d := sub(x, y)
			return d.Abs(d).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), power))) < 0
		}
		for _, others := range [][]int{{1}, {1, 1}, {1, 2, 5}, {1, 1, 3, 3, 7}} {
			depths := append(make([]int, best), others...)
			for _, s := range []int{20, 40, 80} {
				z := power(rat(1, 2), s)
				mean := func(m []*big.Rat) *big.Rat {
					total := new(big.Rat)
					for r, v := range depths {
						total.Add(total, mul(rat(int64(v), 1), m[r]))
					}
					return total
				}
				flip := mean(distribution(pf, atDepths(z, depths)))
				exp := mean(distribution(em, atDepths(z, depths)))
				later := mean(distribution(em, atDepths(quo(z, two), depths)))
				t.expect(close(quo(exp, flip), two, uint(s-5)), "depths %v, e^-ε = 2^-%d: ratio %s", depths, s, short(quo(exp, flip), 8))
				t.expect(close(quo(later, flip), rat(1, 1), uint(s-5)), "depths %v, e^-ε = 2^-%d: the exponential mechanism at ε + ln 2 has %s times permute-and-flip's error", depths, s, short(quo(later, flip), 8))
			}
		}
		return t.finding("four score vectors with a unique best and the second a step of 2Δ below, e^ε = 2^20, 2^40, 2^80, exact: the ratio is within e^-ε · 32 of 2, and so is the saving of ln 2", fmt.Sprintf("%d comparisons", t.checked))
	}
}
