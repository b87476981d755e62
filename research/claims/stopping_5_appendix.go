package claims

import (
	"fmt"
	"math/big"

	"optratio/mechanisms/secretary"
	"optratio/number/interval"
)

func init() {
	register(Stopping, map[string]check{
		"Theorem 4 | older":                  lawIs(1, printedLaw),
		"Theorem 5.1 | newer":                lawIs(1, printedLaw),
		"Lemma 4 | older":                    recurrence(1),
		"Lemma 3 | newer":                    recurrence(1),
		"Corollary 4 | both":                 nonincreasing(false),
		"Corollary 5 | older":                fromTheBest(false),
		"Theorem 5, constant k | older":      followsLaw(constantRanks, one, limitLaw),
		"Theorem 5, k = o(n) | older":        followsLaw(sublinearRanks, one, limitLaw),
		"Theorem 5.2 | newer":                followsLaw(sublinearRanks, one, limitLaw),
		"Lemma 5 | older":                    flatTail,
		"Lemma 4 | newer":                    flatTail,
		"Lemma 6 | older":                    belowSum,
		"Lemma 7 | older":                    ratiosFall,
		"Lemma 5 | newer":                    ratiosFall,
		"Proof of Lemma 7 (newer: 5) | both": telescopingBound,
		"Theorem 6 | older":                  boundedRatios,
		"Theorem 5.3 | newer":                boundedRatios,
	})
}

// stepDown is (t-1)/n · C(n-t+1,k)/(k C(n-1,k)).
func stepDown(n, t, k int) *big.Rat {
	ratio := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-t+1), int64(k)), new(big.Int).Binomial(int64(n-1), int64(k)))
	return mul(rat(int64(t-1), int64(n)*int64(k)), ratio)
}

// recurrence checks Lemma 4 for k >= from.
func recurrence(from int) check {
	return func(t *tally) Finding {
		for n := 3; n <= 32; n++ {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
			for k := from; k < n; k++ {
				got := sub(law[k-1], stepDown(n, tn, k))
				t.expect(got.Cmp(law[k]) == 0, "n = %d, k = %d: r_{%d} - … = %s, and r_{%d} = %s", n, k, k, got.RatString(), k+1, law[k].RatString())
			}
		}
		return t.finding("n = 3, …, 32, exact, with the probabilities found by following the rule", "")
	}
}

// fromTheBest checks Corollary 5, with the missing term added where corrected is set.
func fromTheBest(corrected bool) check {
	return func(t *tally) Finding {
		for _, n := range append([]int{7}, span(3, 32)...) {
			tn := leastThreshold(n)
			law := playedLaw(n, tn)
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

func flatTail(t *tally) Finding {
	worst := 0.0
	for _, n := range []int{4000, 20_000} {
		law := enclosedLaw(t.ctx, n)
		for _, share := range []float64{0.05, 0.2, 0.5, 0.8, 1} {
			k := int(share * float64(n))
			off := law[k-1].Mul(interval.ExpRat(one, precision)).Mul(enclose(rat(int64(n), 1))).Sub(enclose(one)).Abs()
			t.expect(below(off, enclose(rat(5, int64(n)))), "n = %d, k = %d: r_k·en is off 1 by %.2g", n, k, off.Near())
			worst = max(worst, off.Near())
		}
	}
	return t.finding("n = 4000 and 20000, k/n = 0.05, 0.2, 0.5, 0.8, 1: within 5/n, enclosed", fmt.Sprintf("r_k·en is within %.1g of 1", worst))
}

func belowSum(t *tally) Finding {
	x := enclose(one).Sub(interval.ExpRat(rat(-1, 1), precision))
	seen := ""
	for _, n := range []int{100, 500, 2000, 10_000} {
		law := enclosedLaw(t.ctx, n)
		floor := interval.ExpRat(rat(-1, 1), precision).Quo(enclose(rat(int64(n), 1)))
		power, most := enclose(one), enclose(new(big.Rat))
		for k := 1; k <= n; k++ {
			power = power.Mul(x)
			most = most.Max(law[k-1].Quo(power.Add(floor)))
		}
		t.expect(below(most, enclose(add(one, rat(2, int64(n))))), "n = %d: %.6f", n, most.Near())
		seen += fmt.Sprintf("%.6f at n = %d; ", most.Near(), n)
	}
	return t.finding("the maximum over all k is below 1 + 2/n at n = 100, 500, 2000, 10⁴, enclosed", "maximum "+seen[:len(seen)-2])
}

// coefficients returns enclosures of a_1, …, a_most.
func coefficients(most int) []interval.Interval {
	var out []interval.Interval
	for k := 1; k <= most; k++ {
		a := must(secretary.AsymptoticEnclosure(k, precision))
		out = append(out, a)
	}
	return out
}

func ratiosFall(t *tally) Finding {
	for n := 5; n <= largestExact; n++ {
		r := exactLaw(t.ctx, n)
		for k := 1; k+2 <= n; k++ {
			t.expect(mul(r[k-1], r[k+1]).Cmp(mul(r[k], r[k])) >= 0, "n = %d, k = %d", n, k)
		}
	}
	a := coefficients(202)
	for k := range 200 {
		t.expect(below(a[k+1].Sqr(), a[k].Mul(a[k+2])), "a_%d/a_%d against a_%d/a_%d", k+1, k+2, k+2, k+3)
	}
	return t.finding(fmt.Sprintf("r_k/r_{k+1} >= r_{k+1}/r_{k+2} for n = 5, …, %d and all k, exact; a_k/a_{k+1} > a_{k+1}/a_{k+2} for k <= 200, enclosed", largestExact), "")
}

func telescopingBound(t *tally) Finding {
	a := coefficients(200)
	x := enclose(one).Sub(interval.ExpRat(rat(-1, 1), precision))
	beta := func(k int) interval.Interval { return x.Pow(k).Quo(enclose(rat(int64(k), 1))) }
	f := func(k int) interval.Interval { return beta(k).Sqr().Quo(beta(k).Sub(beta(k + 1))) }
	for s := 1; s <= 200; s++ {
		t.expect(below(f(s).Sub(f(s+1)), beta(s)), "s = %d: β_s = %.6g, f(s) - f(s+1) = %.6g", s, beta(s).Near(), f(s).Sub(f(s+1)).Near())
		t.expect(below(f(s), a[s-1]), "k = %d: a_k = %.6g, f(k) = %.6g", s, a[s-1].Near(), f(s).Near())
	}
	return t.finding("s, k = 1, …, 200, enclosed", "")
}

func boundedRatios(t *tally) Finding {
	a := coefficients(120)
	for l := 1; l <= 20; l++ {
		for k := 2; k+l <= len(a); k++ {
			t.expect(below(a[k-1].Mul(a[l]), a[k+l-1]), "k = %d, l = %d: a_k/a_{k+l} = %.6g, 1/a_{l+1} = %.6g", k, l, a[k-1].Quo(a[k+l-1]).Near(), a[l].Inv().Near())
		}
	}
	return t.finding("a_k/a_{k+l} < 1/a_{l+1} for l <= 20, k + l <= 120, enclosed", "")
}
