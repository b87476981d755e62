package claims

import (
	"fmt"
	"math/big"

	"optratio/number"
)

// Section 5 and the appendix: the law of the secretary rule.
func init() {
	register(Stopping, map[string]check{
		"Theorem 4 | older":             lawIs(1, printedLaw),
		"Theorem 5.1 | newer":           lawIs(1, printedLaw),
		"Lemma 4 | older":               recurrence(1),
		"Lemma 3 | newer":               recurrence(1),
		"Corollary 4 | both":            nonincreasing,
		"Corollary 5 | older":           fromTheBest(false),
		"Theorem 5, constant k | older": followsLaw(constantRanks, one, limitLaw),
		"Theorem 5, k = o(n) | older":   followsLaw(sublinearRanks, one, limitLaw),
		"Theorem 5.2 | newer":           followsLaw(sublinearRanks, one, limitLaw),
		"Lemma 5 | older":               over("n = 4000 and 20000, k/n = 0.05, 0.2, 0.5, 0.8, 1: r_k·en within 5/n of 1, enclosed", flatTail),
		"Lemma 4 | newer":               over("n = 4000 and 20000, k/n = 0.05, 0.2, 0.5, 0.8, 1: r_k·en within 5/n of 1, enclosed", flatTail),
		"Lemma 6 | older":               over("the maximum over all k is below 1 + 2/n at n = 100, 500, 2000, 10⁴, enclosed", belowSum),
		"Lemma 7 | older":               ratiosFall,
		"Lemma 5 | newer":               ratiosFall,
		"Proof of Lemma 7 (newer: 5) | both": over("s, k = 1, …, 200, enclosed", func(t *tally) {
			x := enclose(one).Sub(inverseE)
			beta := func(k int) number.Interval { return x.Pow(k).Quo(enclose(rat(int64(k), 1))) }
			f := func(k int) number.Interval { return beta(k).Pow(2).Quo(beta(k).Sub(beta(k + 1))) }
			for s := 1; s <= 200; s++ {
				t.expect(below(f(s).Sub(f(s+1)), beta(s)), "s = %d: β_s = %.6g, f(s) - f(s+1) = %.6g", s, beta(s).Near(), f(s).Sub(f(s+1)).Near())
				t.expect(below(f(s), coefficient(s)), "k = %d: f(k) = %.6g", s, f(s).Near())
			}
		}),
		"Theorem 6 | older":   boundedRatios,
		"Theorem 5.3 | newer": boundedRatios,
	})
}

// stepDown is (t-1)/n · C(n-t+1,k)/(k C(n-1,k)).
func stepDown(n, t, k int) *big.Rat {
	return mul(rat(int64(t-1), int64(n)*int64(k)), quo(binomial(n-t+1, k), binomial(n-1, k)))
}

// recurrence checks Lemma 4 for k >= from.
func recurrence(from int) check {
	return over("n = 3, …, 32, exact, with the probabilities found by following the rule", func(t *tally) {
		for n := 3; n <= 32; n++ {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
			for k := from; k < n; k++ {
				t.same(sub(law[k-1], stepDown(n, tn, k)), law[k], "n = %d: r_{%d}", n, k+1)
			}
		}
	})
}

// fromTheBest checks Corollary 5, with the missing term added where corrected is set.
func fromTheBest(corrected bool) check {
	return over("n = 3, …, 32, all k, exact, with the probabilities found by following the rule", func(t *tally) {
		for _, n := range append([]int{7}, span(3, 32)...) {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
			r := law[0]
			for k := 2; k <= n; k++ {
				if r = sub(r, stepDown(n, tn, k-1)); corrected && k == 2 {
					r = add(r, rat(int64(tn-1), int64(n)*int64(n-1)))
				}
				t.same(r, law[k-1], "n = %d, k = %d: that rank is taken", n, k)
			}
		}
	})
}

func flatTail(t *tally) {
	for _, n := range []int{4000, 20_000} {
		law := enclosedLaw(t.ctx, n)
		for _, share := range []float64{0.05, 0.2, 0.5, 0.8, 1} {
			k := int(share * float64(n))
			t.within(law[k-1].Quo(inverseE).Mul(enclose(rat(int64(n), 1))), enclose(one), rat(5, int64(n)), "n = %d, k = %d: r_k·en against 1", n, k)
		}
	}
}

func belowSum(t *tally) {
	for _, n := range []int{100, 500, 2000, 10_000} {
		floor := inverseE.Quo(enclose(rat(int64(n), 1)))
		power, most := enclose(one), enclose(zero)
		for _, r := range enclosedLaw(t.ctx, n) {
			power = power.Mul(enclose(one).Sub(inverseE))
			most = most.Max(r.Quo(power.Add(floor)))
		}
		t.expect(below(most, enclose(add(one, rat(2, int64(n))))), "n = %d: %.6f", n, most.Near())
		t.see("%.6f at n = %d", most.Near(), n)
	}
}

var ratiosFall = over(fmt.Sprintf("r_k/r_{k+1} >= r_{k+1}/r_{k+2} for n = 5, …, %d and all k, exact; a_k/a_{k+1} > a_{k+1}/a_{k+2} for k <= 200, enclosed", largestExact), func(t *tally) {
	for n := 5; n <= largestExact; n++ {
		r := exactLaw(t.ctx, n)
		for k := 1; k+2 <= n; k++ {
			t.expect(mul(r[k-1], r[k+1]).Cmp(mul(r[k], r[k])) >= 0, "n = %d, k = %d", n, k)
		}
	}
	for k := 1; k <= 200; k++ {
		t.expect(below(coefficient(k+1).Pow(2), coefficient(k).Mul(coefficient(k+2))), "a_%d/a_%d against a_%d/a_%d", k, k+1, k+1, k+2)
	}
})

var boundedRatios = over("a_k/a_{k+l} < 1/a_{l+1} for l <= 20, k + l <= 120, enclosed", func(t *tally) {
	for l := 1; l <= 20; l++ {
		for k := 2; k+l <= 120; k++ {
			t.expect(below(coefficient(k).Mul(coefficient(l+1)), coefficient(k+l)), "k = %d, l = %d", k, l)
		}
	}
})
