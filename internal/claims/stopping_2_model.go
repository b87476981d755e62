package claims

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	rules "optratio/mechanisms/stopping"
	"optratio/number/arith"
	"optratio/number/interval"
)

// The statements of Grining, Klonowski & Sulkowska are about the law of the rank of the candidate that is taken: r for the optimal secretary rule M*,
// q for its p-mix with the blind choice. Files stopping_2 to stopping_5 follow the sections of the source.

func init() {
	const floor = "For k >= 2 the last candidate is taken, whoever it is, where the best of the others came before t_n: r_{k,n} >= (t_n-1)/(n(n-1)) ~ 1/(en) for every k. As a_k <= e(1-1/e)^k/k, the ratio of r_{k,n} to a_k/e is at least " +
		"(t_n-1)k/(n(n-1)) · (1-1/e)^{-k}, which tends to infinity for k = ⌈√n⌉ and, by the same bound, wherever k exceeds (ln n)/-ln(1-1/e) = 2.18 ln n. "
	entries = append(entries,
		Entry{
			Source: Stopping, Version: "both", Item: "Definitions 1 and 2",
			Statement: "A stopping time decides at each time from the order of the candidates seen so far; an optimal one has the largest probability of taking a member of a given set",
			Check:     notCheckable("definitions; the ledger takes rules that look at relative ranks only, whose law of ranks is the same for every order of preference, which the source's proofs use without saying so"),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Definition 3",
			Statement: "Among all stopping times M*, which passes t_n - 1 candidates, then takes the first that is better than all before it, and the last one if there is none, has the largest probability of taking the best",
			Check:     secretaryRuleIsOptimal(leastThreshold),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Fact 1",
			Statement: "The threshold t_n of the optimal rule is the least t with 1/t + 1/(t+1) + … + 1/(n-1) <= 1, and t_n ~ n/e",
			Note:      "ln(n/t) <= 1/t + … + 1/(n-1) <= ln((n-1)/(t-1)) gives n/e <= t_n < (n-1)/e + 2, hence the limit.",
			Check:     thresholdNearNOverE,
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Fact 2, all k",
			Statement: "For every k the optimal rule takes the k-th best with probability r_{k,n} = (t_n-1)/n · (Σ_{i=t_n}^{n-k+1} C(n-k,i-1)/C(n-1,i-1)/(i-1) + 1/(n-1))",
			Note:      noteBestLast + " Fact 2 itself prints the probability of the best without that term.",
			Check:     lawIs(1, printedLaw),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Fact 2, the best",
			Statement: "The optimal rule takes the best with probability (t_n-1)/n · Σ_{i=t_n}^n 1/(i-1), which tends to 1/e ≈ 0.37",
			Note:      "At n = 2, where t_2 = 1, the expression is 0 times 1/0; the probability is 1/2.",
			Check:     bestIsTakenWith(printedSuccess),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Fact 2, limit for constant k",
			Statement: "For every constant k, r_{k,n} ~ a_k/e, a_k = Σ_{s>=k} (1-1/e)^s/s",
			Note:      "r_{1,n} tends to 1/e, and r_{k,n} - r_{k+1,n} to (1-1/e)^k/(ke): for k = 1 by the recurrence of Lemma 4 (newer: 3) with its error of order 1/n, for k >= 2 by the recurrence itself.",
			Check:     followsLaw(constantRanks, one, limitLaw),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Fact 2, limit for k = o(n)",
			Statement: "For every function k(n) = o(n), r_{k,n} ~ a_k/e, a_k = Σ_{s>=k} (1-1/e)^s/s",
			Note:      floor + "For constant k it is right.",
			Check:     followsLaw(sublinearRanks, one, limitLaw),
		},
		Entry{
			Source: Stopping, Version: "both", Item: "Definitions 4 and 5",
			Statement: "(ε, δ)-differential privacy, of a mechanism and of a stopping time with respect to a metric on orders of preference",
			Check:     notCheckable("definitions"),
		},
		Entry{
			Source: Stopping, Version: "newer", Item: "Definition 6",
			Statement: "The least number of swaps of elements at most l apart that turn one order into another is a function d_l from pairs of orders to [0, ∞)",
			Note:      "Swaps of neighbours are allowed for every l, and produce every order.",
			Check:     everyOrderIsReached(rules.AtMost),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Definition 6",
			Statement: "The least number of swaps of elements at least l apart that turn one order into another is a function d_l from pairs of orders to [0, ∞)",
			Note:      "For 2l > n an element in the middle has nobody to swap with, and most orders cannot be reached. The newer version says \"at most l apart\", which the older one's proofs and discussion use too: a slip.",
			Check:     everyOrderIsReached(rules.AtLeast),
		},
		Entry{
			Source: Stopping, Version: "newer", Item: "Example 1",
			Statement: "From (n, 2, …, n-1, 1) to (1, …, n) it takes 2n-3 swaps at most 1 apart, those of a printed product, and one swap of elements n-1 apart",
			Check:     exampleOne(rules.AtMost, func(n int) int { return 2*n - 3 }, newerProduct),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Example 1",
			Statement: "From (n, 2, …, n-1, 1) to (1, …, n) it takes n-1 swaps of neighbours, (1 2)∘(1 3)∘…∘(1 n), and one swap of elements n-1 apart",
			Note: "With swaps at most 1 apart d_1 is 2n-3, as the newer version has it; with swaps at least 1 apart, which is what the older Definition 6 says, it is 1. The product is a cycle of all n elements, and " +
				"one swap is what is needed.",
			Check: inSomeReading(func(reading rules.Reading) func(context.Context) (Finding, error) {
				return exampleOne(reading, func(n int) int { return n - 1 }, olderProduct)
			}),
		},
		Entry{
			Source: Stopping, Version: "newer", Item: "Fact 3",
			Statement: "For l in {1, …, n-1} orders of n candidates with d_l are a metric space",
			Note:      "A swap of two places undoes itself, and sequences of swaps can be joined.",
			Check:     isMetric(rules.AtMost),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Fact 3",
			Statement: "For l in {1, …, n-1} orders of n candidates with d_l, of swaps at least l apart, are a metric space",
			Note:      "Where 2l > n some distances are infinite; where 2l <= n it is a metric. Right with \"at most l apart\", as in the newer version.",
			Check:     isMetric(rules.AtLeast),
		},
		Entry{
			Source: Stopping, Version: "newer", Item: "Text after Fact 3",
			Statement: "d_{n-1} is the strongest of these metrics: orders that differ by any one swap are neighbours, under d_1 only those that differ by a swap of neighbouring elements",
			Check:     strongest(rules.AtMost),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Text after Fact 3",
			Statement: "d_{n-1} is the strongest of these metrics: orders that differ by any one swap are neighbours, under d_1 only those that differ by a swap of neighbouring elements",
			Note:      "With the older Definition 6, swaps at least l apart, it is the other way round: d_1 has all swaps and d_{n-1} only that of the first and the last. Right with \"at most\".",
			Check:     strongest(rules.AtLeast),
		},
	)
}

const noteBestLast = "Right for k >= 2. At k = 1 it is too large by (t_n-1)/(n(n-1)): the last term is for orders in which the k-th best comes last and the best came before t_n, which at k = 1 is impossible."

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

var one = rat(1, 1)

// playedLaw returns the law of the rule that passes t-1 candidates, found by following the rule from time to time, not by a formula.
func playedLaw(n, t int) ([]*big.Rat, error) {
	rule, err := rules.ThresholdRule(n, t)
	if err != nil {
		return nil, err
	}
	return rule.Law(), nil
}

// exactLaw returns r_{.,n} exactly, by the recurrence from the worst rank up.
func exactLaw(ctx context.Context, n int) ([]*big.Rat, error) {
	return rules.SecretaryLaw[*big.Rat](ctx, arith.Rat{}, n)
}

// enclosedLaw returns enclosures of r_{.,n}.
func enclosedLaw(ctx context.Context, n int) ([]interval.Interval, error) {
	return rules.SecretaryLaw[interval.Interval](ctx, arith.Interval{Prec: precision}, n)
}

func secretaryRuleIsOptimal(threshold func(n int) int) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for n := 1; n <= 40; n++ {
			payoff := make([]*big.Rat, n)
			for k := range payoff {
				payoff[k] = new(big.Rat)
			}
			payoff[0] = one
			best, _, err := rules.Best(payoff)
			if err != nil {
				return Finding{}, err
			}
			law, err := playedLaw(n, threshold(n))
			if err != nil {
				return Finding{}, err
			}
			t.expect(law[0].Cmp(best) == 0, "n = %d: %s, and %s is possible", n, law[0].RatString(), best.RatString())
		}
		return t.finding("n = 1, …, 40, exact: dynamic programming over all rules", "")
	}
}

func thresholdNearNOverE(ctx context.Context) (Finding, error) {
	var t tally
	invE := interval.ExpRat(rat(-1, 1), precision)
	sizes := []int{1000, 10_000, 100_000, 1_000_000}
	for n := 2; n < 400; n++ {
		sizes = append(sizes, n)
	}
	seen := ""
	for _, n := range sizes {
		tn, err := rules.Threshold(n)
		if err != nil {
			return Finding{}, err
		}
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
func lawIs(from int, formula func(n, t, k int) *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		ranks := map[int]bool{}
		var sums []string
		for _, n := range append([]int{4, 3}, span(5, 32)...) {
			tn := leastThreshold(n)
			law, err := playedLaw(n, tn)
			if err != nil {
				return Finding{}, err
			}
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

func bestIsTakenWith(formula func(n, t int) *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for n := 3; n <= 40; n++ {
			tn := leastThreshold(n)
			law, err := playedLaw(n, tn)
			if err != nil {
				return Finding{}, err
			}
			got := formula(n, tn)
			t.expect(got.Cmp(law[0]) == 0, "n = %d: %s, and the rule takes the best with probability %s", n, got.RatString(), law[0].RatString())
		}
		const large = 10_000
		law, err := enclosedLaw(ctx, large)
		if err != nil {
			return Finding{}, err
		}
		off := law[0].Sub(interval.ExpRat(rat(-1, 1), precision)).Abs()
		near, _ := off.Cmp(interval.FromRat(rat(1, large), precision))
		t.expect(near < 0, "n = %d: %v", large, law[0].Near())
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
func limitLaw(_, k int) (interval.Interval, error) {
	a, err := rules.AsymptoticEnclosure(k, precision)
	return a.Mul(interval.ExpRat(rat(-1, 1), precision)), err
}

// followsLaw checks that p·r_{k,n} + (1-p)/n is asymptotically p times a law, along sequences k = k(n). It holds to 2 % at n = 10⁵ in what is called "holds"; what is
// called "refuted" is a ratio beyond 2 that has grown from each n to the next, which the entry's note continues to infinity.
func followsLaw(sequences []rankSequence, p *big.Rat, law func(n, k int) (interval.Interval, error)) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		sizes := []int{100, 1000, 10_000, 100_000}
		laws := make([][]interval.Interval, len(sizes))
		for i, n := range sizes {
			var err error
			if laws[i], err = enclosedLaw(ctx, n); err != nil {
				return Finding{}, err
			}
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
				limit, err := law(n, k)
				if err != nil {
					return Finding{}, err
				}
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
				return Finding{Verdict: Refuted, Domain: "k = " + s.name + mixed + ", enclosed", Witness: "the ratio of the two sides is " + strings.Join(shown, ", ")}, nil
			}
			off := math.Abs(last.Near() - 1)
			near, worst = near && off < 0.02, max(worst, off)
		}
		domain := fmt.Sprintf("k = %s%s; n = 10², 10³, 10⁴, 10⁵, enclosed", strings.Join(names, ", "), mixed)
		if !near {
			return Finding{Verdict: Undecided, Domain: domain, Witness: fmt.Sprintf("the ratio is still %.2g from 1", worst)}, nil
		}
		return Finding{Verdict: Holds, Domain: domain, Witness: fmt.Sprintf("the ratio of the two sides is within %.1g of 1 at n = 10⁵", worst)}, nil
	}
}
