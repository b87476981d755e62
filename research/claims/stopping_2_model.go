package claims

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"optratio/mechanisms/secretary"
	"optratio/number/arith"
	"optratio/number/interval"
)

// The statements of Grining, Klonowski & Sulkowska are about the law of the rank of the candidate that is taken: r for the optimal secretary rule M*,
// q for its p-mix with the blind choice. Files stopping_2 to stopping_5 follow the sections of the source.

func init() {
	register(Stopping, map[string]check{
		"Definitions 1 and 2 | both":          notCheckable("definitions; the ledger takes rules that look at relative ranks only, whose law of ranks is the same for every order of preference, which the source's proofs use without saying so"),
		"Definition 3 | both":                 secretaryRuleIsOptimal(leastThreshold),
		"Fact 1 | both":                       thresholdNearNOverE,
		"Fact 2, all k | both":                lawIs(1, printedLaw),
		"Fact 2, the best | both":             bestIsTakenWith(printedSuccess),
		"Fact 2, limit for constant k | both": followsLaw(constantRanks, one, limitLaw),
		"Fact 2, limit for k = o(n) | both":   followsLaw(sublinearRanks, one, limitLaw),
		"Definitions 4 and 5 | both":          notCheckable("definitions"),
		"Definition 6 | newer":                everyOrderIsReached(secretary.AtMost),
		"Definition 6 | older":                everyOrderIsReached(secretary.AtLeast),
		"Example 1 | newer":                   exampleOne(secretary.AtMost, func(n int) int { return 2*n - 3 }, newerProduct),
		"Example 1 | older": inSomeReading(func(reading secretary.Reading) check {
			return exampleOne(reading, func(n int) int { return n - 1 }, olderProduct)
		}),
		"Fact 3 | newer":            isMetric(secretary.AtMost),
		"Fact 3 | older":            isMetric(secretary.AtLeast),
		"Text after Fact 3 | newer": strongest(secretary.AtMost),
		"Text after Fact 3 | older": strongest(secretary.AtLeast),
	})
}

// printedLaw is the formula of Fact 2 and of Theorem 4 (5.1 in the newer version), for n >= 3.
func printedLaw(n, t, k int) *big.Rat {
	total := rat(1, int64(n-1))
	for i := t; i <= n-k+1; i++ {
		term := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-k), int64(i-1)), new(big.Int).Binomial(int64(n-1), int64(i-1)))
		total = add(total, mul(term, rat(1, int64(i-1))))
	}
	return mul(rat(int64(t-1), int64(n)), total)
}

// printedSuccess is the probability of taking the best, Fact 2, for n >= 3.
func printedSuccess(n, t int) *big.Rat {
	total := new(big.Rat)
	for i := t; i <= n; i++ {
		total = add(total, rat(1, int64(i-1)))
	}
	return mul(rat(int64(t-1), int64(n)), total)
}

// leastThreshold is Fact 1's t_n, by adding up.
func leastThreshold(n int) int {
	total, t := new(big.Rat), n
	for t > 1 {
		total = add(total, rat(1, int64(t-1)))
		if total.Cmp(one) > 0 {
			break
		}
		t--
	}
	return t
}

// playedLaw returns the law of the rule that passes t-1 candidates, found by following the rule from time to time, not by a formula.
func playedLaw(n, t int) []*big.Rat {
	return must(secretary.ThresholdRule(n, t)).Law()
}

// exactLaw returns r_{.,n} exactly, by the recurrence from the worst rank up.
func exactLaw(ctx context.Context, n int) []*big.Rat {
	return must(secretary.SecretaryLaw[*big.Rat](ctx, arith.Rat{}, n))
}

// enclosedLaw returns enclosures of r_{.,n}.
func enclosedLaw(ctx context.Context, n int) []interval.Interval {
	return must(secretary.SecretaryLaw[interval.Interval](ctx, arith.Interval{Prec: precision}, n))
}

func secretaryRuleIsOptimal(threshold func(n int) int) check {
	return func(t *tally) Finding {
		for n := 1; n <= 40; n++ {
			payoff := make([]*big.Rat, n)
			for k := range payoff {
				payoff[k] = new(big.Rat)
			}
			payoff[0] = one
			best, _, err := secretary.Best(payoff)
			ensure(err)
			law := playedLaw(n, threshold(n))
			t.expect(law[0].Cmp(best) == 0, "n = %d: %s, and %s is possible", n, law[0].RatString(), best.RatString())
		}
		return t.finding("n = 1, …, 40, exact: dynamic programming over all rules", "")
	}
}

func thresholdNearNOverE(t *tally) Finding {
	invE := interval.ExpRat(rat(-1, 1), precision)
	sizes := []int{1000, 10_000, 100_000, 1_000_000}
	for n := 2; n < 400; n++ {
		sizes = append(sizes, n)
	}
	seen := ""
	for _, n := range sizes {
		tn := must(secretary.Threshold(n))
		if n <= 400 {
			t.expect(tn == leastThreshold(n), "n = %d: %d by adding up, %d by the library", n, leastThreshold(n), tn)
		}
		below, _ := invE.Mul(interval.FromInt(int64(n), precision)).Cmp(interval.FromInt(int64(tn), precision))
		above, _ := interval.FromInt(int64(tn), precision).Cmp(invE.Mul(interval.FromInt(int64(n-1), precision)).Add(interval.FromInt(2, precision)))
		t.expect(below < 0 && above < 0, "n = %d: t_n = %d", n, tn)
		if n == 1_000_000 {
			seen = fmt.Sprintf("t_n = %d at n = 10⁶", tn)
		}
	}
	return t.finding("t_n by adding up for n <= 400; n/e <= t_n < (n-1)/e + 2, enclosed, for these n and for n = 10³, 10⁴, 10⁵, 10⁶", seen)
}

// lawIs checks that a formula gives the law of the secretary rule for k >= from.
func lawIs(from int, formula func(n, t, k int) *big.Rat) check {
	return func(t *tally) Finding {
		ranks := map[int]bool{}
		var sums []string
		for _, n := range append([]int{4, 3}, span(5, 32)...) {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
			total := new(big.Rat)
			for k := 1; k <= n; k++ {
				got := law[k-1]
				if k >= from {
					got = formula(n, tn, k)
				}
				total = add(total, got)
				if !t.expect(got.Cmp(law[k-1]) == 0, "n = %d, k = %d: %s, and the rule takes that rank with probability %s", n, k, got.RatString(), law[k-1].RatString()) && got.Cmp(law[k-1]) != 0 {
					ranks[k] = true
				}
			}
			if total.Cmp(one) != 0 && len(sums) < 2 {
				sums = append(sums, fmt.Sprintf("%s at n = %d", total.RatString(), n))
			}
		}
		if t.witness != "" {
			t.witness += fmt.Sprintf("; the printed values sum to %s; ranks where it fails for some n: %s", strings.Join(sums, ", "), list(ranks, 32))
		}
		return t.finding("n = 3, …, 32 and all k, exact, against the law found by following the rule", "")
	}
}

// span returns from, …, to.
func span(from, to int) []int {
	var out []int
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// list writes the members of a set of numbers from 1 to most.
func list(set map[int]bool, most int) string {
	var parts []string
	for k := 1; k <= most; k++ {
		if set[k] {
			parts = append(parts, fmt.Sprint(k))
		}
	}
	return strings.Join(parts, ", ")
}

func bestIsTakenWith(formula func(n, t int) *big.Rat) check {
	return func(t *tally) Finding {
		for n := 3; n <= 40; n++ {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
			got := formula(n, tn)
			t.expect(got.Cmp(law[0]) == 0, "n = %d: %s, and the rule takes the best with probability %s", n, got.RatString(), law[0].RatString())
		}
		const large = 10_000
		law := enclosedLaw(t.ctx, large)
		off := law[0].Sub(interval.ExpRat(rat(-1, 1), precision)).Abs()
		t.expect(below(off, interval.FromRat(rat(1, large), precision)), "n = %d: %v", large, law[0].Near())
		return t.finding("n = 3, …, 40, exact, against the law found by following the rule; within 1/n of 1/e, enclosed, at n = 10⁴", fmt.Sprintf("%.8f at n = 10⁴", law[0].Near()))
	}
}

// A sequence of ranks, one for each n.
type rankSequence struct {
	name string
	at   func(n int) int
}

func constant(k int) rankSequence {
	return rankSequence{fmt.Sprint(k), func(int) int { return k }}
}

var (
	constantRanks  = []rankSequence{constant(1), constant(2), constant(3), constant(5), constant(10)}
	sublinearRanks = append([]rankSequence{
		{"⌈√n⌉", func(n int) int { return int(math.Ceil(math.Sqrt(float64(n)))) }},
		{"⌈3 ln n⌉", func(n int) int { return int(math.Ceil(3 * math.Log(float64(n)))) }},
	}, constantRanks...)
)

// limitLaw is a_k/e, what the source says that r_{k,n} is asymptotically equal to.
func limitLaw(_, k int) interval.Interval {
	return must(secretary.AsymptoticEnclosure(k, precision)).Mul(interval.ExpRat(rat(-1, 1), precision))
}

// followsLaw checks that p·r_{k,n} + (1-p)/n is asymptotically p times a law, along sequences k = k(n). It holds to 2 % at n = 10⁵ in what is called "holds"; what is
// called "refuted" is a ratio beyond 2 that has grown from each n to the next, which the entry's note continues to infinity.
func followsLaw(sequences []rankSequence, p *big.Rat, law func(n, k int) interval.Interval) check {
	return func(t *tally) Finding {
		sizes := []int{100, 1000, 10_000, 100_000}
		laws := make([][]interval.Interval, len(sizes))
		for i, n := range sizes {
			laws[i] = enclosedLaw(t.ctx, n)
		}
		var names []string
		mixed := "" // what the domain says of p
		if p.Cmp(one) < 0 {
			mixed = ", p = " + p.RatString()
		}
		near, worst := true, 0.0
		two := interval.FromInt(2, precision)
		for _, s := range sequences {
			names = append(names, s.name)
			ratios := make([]interval.Interval, len(sizes))
			var shown []string
			for i, n := range sizes {
				k := s.at(n)
				limit := law(n, k)
				q := laws[i][k-1].Mul(interval.FromRat(p, precision)).Add(interval.FromRat(quo(sub(one, p), rat(int64(n), 1)), precision))
				ratios[i] = q.Quo(limit.Mul(interval.FromRat(p, precision)))
				shown = append(shown, fmt.Sprintf("%.4g at n = 10^%d, k = %d", ratios[i].Near(), i+2, k))
			}
			grows := true
			for i := range ratios[1:] {
				c, ok := ratios[i].Cmp(ratios[i+1])
				grows = grows && ok && c < 0
			}
			last := ratios[len(ratios)-1]
			if c, ok := last.Cmp(two); grows && ok && c > 0 {
				return Finding{Verdict: Refuted, Domain: "k = " + s.name + mixed + ", enclosed", Witness: "the ratio of the two sides is " + strings.Join(shown, ", ")}
			}
			off := math.Abs(last.Near() - 1)
			near, worst = near && off < 0.02, max(worst, off)
		}
		domain := fmt.Sprintf("k = %s%s; n = 10², 10³, 10⁴, 10⁵, enclosed", strings.Join(names, ", "), mixed)
		if !near {
			return Finding{Verdict: Undecided, Domain: domain, Witness: fmt.Sprintf("the ratio is still %.2g from 1", worst)}
		}
		return Finding{Verdict: Holds, Domain: domain, Witness: fmt.Sprintf("the ratio of the two sides is within %.1g of 1 at n = 10⁵", worst)}
	}
}
