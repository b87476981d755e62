package claims

import (
	"context"
	"fmt"
	"math/big"
)

func init() {
	const needs = "needs DPBench's histograms, which are not ours to ship; docs/evaluate.md says how to get them, and what optratio evaluate prints with them"
	entries = append(entries,
		Entry{
			Source: PF, Version: "main", Item: "Section 6, mode",
			Statement: "HEPTH, mode, 1024 bins: at ε = 0.04 the ratio of expected errors is 1.84, permute-and-flip's error is about 5.4, and the exponential mechanism needs 1.27 times the ε",
			Check:     notCheckable(needs),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 6, median",
			Statement: "HEPTH, median, 1024 bins: at ε = 0.01 the ratio of expected errors is 1.93, permute-and-flip's error is about 13.7, and the exponential mechanism needs 1.19 times the ε",
			Check:     notCheckable(needs),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 6, ratio over ε",
			Statement: "On HEPTH the ratio of expected errors goes from one at small ε to two at large ε, for both tasks",
			Note:      "The limit for small ε needs no data, as both mechanisms then choose uniformly; that for large ε is two wherever the best bin is unique (next entry but one).",
			Check:     notCheckable(needs),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 6, c·exp(-ε)",
			Statement: "For larger ε both mechanisms' expected errors on HEPTH behave approximately as c·exp(-ε) for some c",
			Note:      "On any scores whose best is unique the errors behave as c·exp(-gε/2Δ), where g is the distance of the second best score from the best (next entry). That is exp(-ε) only where g = 2Δ.",
			Check:     notCheckable(needs),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 6, large ε",
			Statement: "As ε grows, permute-and-flip's expected error becomes half the exponential mechanism's, and the ε that it saves becomes constant",
			Note: "Where the best score is unique, g above the second: the ratio tends to 2 and the ε saved to (2Δ/g) ln 2. With n* best candidates the ratio tends to 1 + 1/n* instead. For every loss that is 0 for the best alone both errors are sums of terms p_r, times 1/n* " +
				"and 1/(n*+1) in the limit.",
			Check: largeEpsilon(1),
		},
		Entry{
			Source: PF, Version: "main", Item: "Figure 3(c), text",
			Statement: "At the ε at which the exponential mechanism's expected error is 50, permute-and-flip's is close to half of it on all five data sets",
			Check:     notCheckable(needs),
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Appendix G",
			Statement: "On each of five data sets the improvement increases with ε, and is close to a factor of two for the range of ε that offers reasonable utility",
			Check:     notCheckable(needs),
		},
	)
}

// largeEpsilon checks, on vectors with the given number of best candidates and the second best a step below, that the ratio of errors tends to two, and that
// the exponential mechanism at ε + ln 2 per step has permute-and-flip's error at ε in the limit.
func largeEpsilon(best int) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
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
		return t.conclude(ctx, "four score vectors with a unique best and the second a step of 2Δ below, e^ε = 2^20, 2^40, 2^80, exact: the ratio is within e^-ε · 32 of 2, and so is the saving of ln 2", fmt.Sprintf("%d comparisons", t.checked))
	}
}
