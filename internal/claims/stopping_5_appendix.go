package claims

import (
	"context"
	"fmt"
	"math/big"

	rules "optratio/mechanisms/stopping"
	"optratio/number/interval"
)

func init() {
	const printed = "For every k the optimal rule takes the k-th best with probability r_{k,n} = (t_n-1)/n · (Σ_{i=t_n}^{n-k+1} C(n-k,i-1)/C(n-1,i-1)/(i-1) + 1/(n-1))"
	const step = "With r_{k,n} the probability of taking the k-th best, r_{k+1,n} = r_{k,n} - (t_n-1)/n · C(n-t_n+1,k)/(k C(n-1,k)) for every k in {1, …, n-1}"
	const inherits = "Right for k >= 2, and for the expression that the theorem before it prints. At k = 1 that expression is not the probability of taking the best: see there. The true r_{1,n} - r_{2,n} is smaller by (t_n-1)/(n(n-1))."
	const linear = "If k = k(n) is linear in n, r_{k,n} ~ 1/(en)"
	const ratios = "lim r_{k,n}/r_{k+1,n} >= lim r_{k+1,n}/r_{k+2,n} for every k in {1, …, n-2}"
	const ratiosNote = "True at each of these n, not only in the limit, and for a_k. The source's proof takes r_{k,n} ~ a_k/e for all k = o(n), which fails beyond 2.18 ln n, and cites the exact formula for it where the asymptotic one is meant."
	const bounded = "For constant l and k in {2, …, n-l}, lim r_{k,n}/r_{k+l,n} < 1/a_{l+1}"
	const boundedNote = "For constant k the limit is a_k/a_{k+l}, less than a_1/a_{l+1} = 1/a_{l+1} as a_k/a_{k+1} decreases. Where k → ∞ the limit is at most (1-1/e)^{-l}, and a_{l+1} < (1-1/e)^l (e-1)/(l+1). The proof cites the exact formula where the asymptotic one is meant."
	entries = append(entries,
		Entry{Source: Stopping, Version: "older", Item: "Theorem 4", Statement: printed, Note: noteBestLast + " The proof takes (t_n-1)/(n-1) for the probability that the best came before t_n, given that the k-th best comes last: at k = 1 it is 0.", Check: lawIs(1, printedLaw)},
		Entry{Source: Stopping, Version: "newer", Item: "Theorem 5.1", Statement: printed, Note: noteBestLast + " The source refers to Rogerson (1987) for a slightly different formulation.", Check: lawIs(1, printedLaw)},
		Entry{Source: Stopping, Version: "older", Item: "Lemma 4", Statement: step, Note: inherits, Check: recurrence(1)},
		Entry{Source: Stopping, Version: "newer", Item: "Lemma 3", Statement: step, Note: inherits, Check: recurrence(1)},
		Entry{
			Source: Stopping, Version: "both", Item: "Corollary 4",
			Statement: "r_{k,n} is non-increasing in k",
			Note:      "r_k - r_{k+1} is a nonnegative product for k >= 2, and r_1 - r_2 = (t_n-1)(n-t_n)/(n(n-1)).",
			Check:     nonincreasing(false),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Corollary 5",
			Statement: "r_{k,n} = r_{1,n} - (t_n-1)/n · Σ_{s=1}^{k-1} C(n-t_n+1,s)/(s C(n-1,s)) for every k",
			Note:      "It sums Lemma 4 from k = 1 on: with the probability r_{1,n} of taking the best, which Fact 2 gives rightly, the right side is too small by (t_n-1)/(n(n-1)) for every k >= 2. True with that added, or started at r_{2,n}.",
			Check:     fromTheBest(false),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Theorem 5, constant k",
			Statement: "For every constant k, r_{k,n} ~ a_k/e",
			Check:     followsLaw(constantRanks, one, limitLaw),
		},
		Entry{
			Source: Stopping, Version: "older", Item: "Theorem 5, k = o(n)",
			Statement: "For every function k(n) = o(n), r_{k,n} ~ a_k/e",
			Note:      "The proof's bounds are r_{1,n} less a sum, both of which tend to 1/e as k grows: that they are ~ their limits says nothing of their difference. See Fact 2 for what is true.",
			Check:     followsLaw(sublinearRanks, one, limitLaw),
		},
		Entry{
			Source: Stopping, Version: "newer", Item: "Theorem 5.2",
			Statement: "For every k = k(n) = o(n), r_{k,n} ~ a_k/e",
			Note:      "Right for constant k. See Fact 2 for what is true beyond k = 2.18 ln n.",
			Check:     followsLaw(sublinearRanks, one, limitLaw),
		},
		Entry{Source: Stopping, Version: "older", Item: "Lemma 5", Statement: linear, Check: flatTail},
		Entry{Source: Stopping, Version: "newer", Item: "Lemma 4", Statement: linear, Check: flatTail},
		Entry{
			Source: Stopping, Version: "older", Item: "Lemma 6",
			Statement: "For every k in {1, …, n} the limit of r_{k,n}/((1-1/e)^k + 1/(en)) is at most 1",
			Check:     belowSum,
		},
		Entry{Source: Stopping, Version: "older", Item: "Lemma 7", Statement: ratios, Note: ratiosNote, Check: ratiosFall},
		Entry{Source: Stopping, Version: "newer", Item: "Lemma 5", Statement: ratios, Note: ratiosNote, Check: ratiosFall},
		Entry{
			Source: Stopping, Version: "both", Item: "Proof of Lemma 7 (newer: 5)",
			Statement: "With β_k = (1-1/e)^k/k and f(k) = β_k²/(β_k - β_{k+1}): β_s >= f(s) - f(s+1) for all s >= 1, and a_k >= f(k)",
			Note:      "With x = 1 - 1/e and y = 1/e, f(s) = β_s (s+1)/(1+ys), and (β_s - f(s) + f(s+1))/β_s is x²s over (s+1)(1+ys)(1+y(s+1)), which is positive.",
			Check:     telescopingBound,
		},
		Entry{Source: Stopping, Version: "older", Item: "Theorem 6", Statement: bounded, Note: boundedNote, Check: boundedRatios},
		Entry{Source: Stopping, Version: "newer", Item: "Theorem 5.3", Statement: bounded, Note: boundedNote, Check: boundedRatios},
		Entry{
			Source: Own, Item: "Law of the secretary rule",
			Statement: "Uniformly in k = 1, …, n, the optimal secretary rule takes the k-th best of n with probability r_{k,n} ~ a_k/e + 1/(en), a_k = Σ_{s>=k} (1-1/e)^s/s",
			Note:      "What is true in place of Fact 2, Theorem 5 (5.2) and Corollary 1 of Grining et al.; proof in docs/stopping.md.",
			Check:     uniformLaw(1),
		},
	)
}

// stepDown is (t-1)/n · C(n-t+1,k)/(k C(n-1,k)).
func stepDown(n, t, k int) *big.Rat {
	ratio := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-t+1), int64(k)), new(big.Int).Binomial(int64(n-1), int64(k)))
	return mul(rat(int64(t-1), int64(n)*int64(k)), ratio)
}

// recurrence checks Lemma 4 for k >= from.
func recurrence(from int) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for n := 3; n <= 32; n++ {
			tn := leastThreshold(n)
			law, err := playedLaw(n, tn)
			if err != nil {
				return Finding{}, err
			}
			for k := from; k < n; k++ {
				got := sub(law[k-1], stepDown(n, tn, k))
				t.expect(got.Cmp(law[k]) == 0, "n = %d, k = %d: r_{%d} - … = %s, and r_{%d} = %s", n, k, k, got.RatString(), k+1, law[k].RatString())
			}
		}
		return t.finding("n = 3, …, 32, exact, with the probabilities found by following the rule", "")
	}
}

// fromTheBest checks Corollary 5, with the missing term added where corrected is set.
func fromTheBest(corrected bool) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for _, n := range append([]int{7}, span(3, 32)...) {
			tn := leastThreshold(n)
			law, err := playedLaw(n, tn)
			if err != nil {
				return Finding{}, err
			}
			r := law[0]
			for k := 2; k <= n; k++ {
				r = sub(r, stepDown(n, tn, k-1))
				if corrected && k == 2 {
					r = add(r, rat(int64(tn-1), int64(n)*int64(n-1)))
				}
				t.expect(r.Cmp(law[k-1]) == 0, "n = %d, k = %d: %s, and the rule takes that rank with probability %s, %s more", n, k, r.RatString(), law[k-1].RatString(), sub(law[k-1], r).RatString())
			}
		}
		return t.finding("n = 3, …, 32, all k, exact, with the probabilities found by following the rule", "")
	}
}

func flatTail(ctx context.Context) (Finding, error) {
	var t tally
	worst := 0.0
	for _, n := range []int{4000, 20_000} {
		law, err := enclosedLaw(ctx, n)
		if err != nil {
			return Finding{}, err
		}
		for _, share := range []float64{0.05, 0.2, 0.5, 0.8, 1} {
			k := int(share * float64(n))
			off := law[k-1].Mul(interval.ExpRat(one, precision)).Mul(enclose(rat(int64(n), 1))).Sub(enclose(one)).Abs()
			near, _ := off.Cmp(enclose(rat(5, int64(n))))
			t.expect(near < 0, "n = %d, k = %d: r_k·en is off 1 by %.2g", n, k, off.Near())
			worst = max(worst, off.Near())
		}
	}
	return t.finding("n = 4000 and 20000, k/n = 0.05, 0.2, 0.5, 0.8, 1: within 5/n, enclosed", fmt.Sprintf("r_k·en is within %.1g of 1", worst))
}

func belowSum(ctx context.Context) (Finding, error) {
	var t tally
	x := enclose(one).Sub(interval.ExpRat(rat(-1, 1), precision))
	seen := ""
	for _, n := range []int{100, 500, 2000, 10_000} {
		law, err := enclosedLaw(ctx, n)
		if err != nil {
			return Finding{}, err
		}
		floor := interval.ExpRat(rat(-1, 1), precision).Quo(enclose(rat(int64(n), 1)))
		power, most := enclose(one), enclose(new(big.Rat))
		for k := 1; k <= n; k++ {
			power = power.Mul(x)
			most = most.Max(law[k-1].Quo(power.Add(floor)))
		}
		below, _ := most.Cmp(enclose(add(one, rat(2, int64(n)))))
		t.expect(below < 0, "n = %d: %.6f", n, most.Near())
		seen += fmt.Sprintf("%.6f at n = %d; ", most.Near(), n)
	}
	return t.finding("the maximum over all k is below 1 + 2/n at n = 100, 500, 2000, 10⁴, enclosed", "maximum "+seen[:len(seen)-2])
}

// uniformLaw checks that max over k of |r_k/(a_k/e + floor/(en)) - 1| is below 4/n^{1/2} at some n.
func uniformLaw(floor int64) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		x := enclose(one).Sub(interval.ExpRat(rat(-1, 1), precision))
		inv := interval.ExpRat(rat(-1, 1), precision)
		seen := ""
		for _, n := range []int{100, 1000, 10_000} {
			law, err := enclosedLaw(ctx, n)
			if err != nil {
				return Finding{}, err
			}
			a, err := rules.AsymptoticEnclosure(1, precision+64)
			if err != nil {
				return Finding{}, err
			}
			last := inv.Mul(enclose(rat(floor, int64(n))))
			power, most := x, enclose(new(big.Rat))
			for k := 1; k <= n; k++ {
				// where the differences have no digits left, a_k is between 0 and its upper bound
				a = a.Max(enclose(new(big.Rat)))
				most = most.Max(law[k-1].Quo(a.Mul(inv).Add(last)).Sub(enclose(one)).Abs())
				a = a.Sub(power.Quo(enclose(rat(int64(k), 1))))
				power = power.Mul(x)
			}
			near, ok := most.Sqr().Mul(enclose(rat(int64(n), 1))).Cmp(enclose(rat(16, 1)))
			t.expect(ok && near < 0, "n = %d: off by %.4f of it", n, most.Near())
			seen += fmt.Sprintf("%.4f at n = %d, ", most.Near(), n)
		}
		return t.finding("the largest relative difference over all k is below 4/√n at n = 100, 1000, 10⁴, enclosed", seen[:len(seen)-2])
	}
}

// coefficients returns enclosures of a_1, …, a_most.
func coefficients(most int) ([]interval.Interval, error) {
	var out []interval.Interval
	for k := 1; k <= most; k++ {
		a, err := rules.AsymptoticEnclosure(k, precision)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func ratiosFall(ctx context.Context) (Finding, error) {
	var t tally
	for n := 5; n <= largestExact; n++ {
		r, err := exactLaw(ctx, n)
		if err != nil {
			return Finding{}, err
		}
		for k := 1; k+2 <= n; k++ {
			t.expect(mul(r[k-1], r[k+1]).Cmp(mul(r[k], r[k])) >= 0, "n = %d, k = %d", n, k)
		}
	}
	a, err := coefficients(202)
	if err != nil {
		return Finding{}, err
	}
	for k := range 200 {
		c, ok := a[k].Mul(a[k+2]).Cmp(a[k+1].Sqr())
		t.expect(ok && c > 0, "a_%d/a_%d against a_%d/a_%d", k+1, k+2, k+2, k+3)
	}
	return t.finding(fmt.Sprintf("r_k/r_{k+1} >= r_{k+1}/r_{k+2} for n = 5, …, %d and all k, exact; a_k/a_{k+1} > a_{k+1}/a_{k+2} for k <= 200, enclosed", largestExact), "")
}

func telescopingBound(ctx context.Context) (Finding, error) {
	var t tally
	a, err := coefficients(200)
	if err != nil {
		return Finding{}, err
	}
	x := enclose(one).Sub(interval.ExpRat(rat(-1, 1), precision))
	beta := func(k int) interval.Interval { return x.Pow(k).Quo(enclose(rat(int64(k), 1))) }
	f := func(k int) interval.Interval { return beta(k).Sqr().Quo(beta(k).Sub(beta(k + 1))) }
	for s := 1; s <= 200; s++ {
		c, ok := beta(s).Cmp(f(s).Sub(f(s + 1)))
		t.expect(ok && c > 0, "s = %d: β_s = %.6g, f(s) - f(s+1) = %.6g", s, beta(s).Near(), f(s).Sub(f(s+1)).Near())
		c, ok = a[s-1].Cmp(f(s))
		t.expect(ok && c > 0, "k = %d: a_k = %.6g, f(k) = %.6g", s, a[s-1].Near(), f(s).Near())
	}
	return t.finding("s, k = 1, …, 200, enclosed", "")
}

func boundedRatios(ctx context.Context) (Finding, error) {
	var t tally
	a, err := coefficients(120)
	if err != nil {
		return Finding{}, err
	}
	for l := 1; l <= 20; l++ {
		for k := 2; k+l <= len(a); k++ {
			c, ok := a[k-1].Mul(a[l]).Cmp(a[k+l-1])
			t.expect(ok && c < 0, "k = %d, l = %d: a_k/a_{k+l} = %.6g, 1/a_{l+1} = %.6g", k, l, a[k-1].Quo(a[k+l-1]).Near(), a[l].Inv().Near())
		}
	}
	return t.finding("a_k/a_{k+l} < 1/a_{l+1} for l <= 20, k + l <= 120, enclosed", "")
}
