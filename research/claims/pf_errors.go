package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/worst"
	"optratio/verify"
)

// Section 4 and its proofs, and section 6: errors of permute-and-flip and of the exponential mechanism.
func init() {
	const needs = "needs DPBench's histograms, which are not ours to ship (research/docs/figures.md says how to get them)"
	register(PF, map[string]check{
		"Proposition 1 | main":             utility(em, one),
		"Theorem 2 | main":                 dominates(pf, em, "permute-and-flip", "the exponential mechanism"),
		"Theorem 2, on the lattice | main": has(pf, [][2]int{{2, 8}, {3, 6}, {4, 4}, {6, 2}}, 2, "11/10, 2, 16", verify.DominatesEM, verify.DominatesEMMean),
		"Theorem 2, proof, f_r | supplement": forWeights(4, "exact", func(t *tally, p []*big.Rat) {
			flip, exp := distribution(pf, p), distribution(em, p)
			for r := 1; r < len(p); r++ {
				before, after := sub(flip[r-1], exp[r-1]), sub(flip[r], exp[r])
				t.expect(before.Cmp(after) <= 0, "weights %s: f_%d = %s, f_%d = %s", text(p), r, short(before), r+1, short(after))
			}
		}),
		"Corollary 1 | main":                utility(pf, one),
		"Abstract | main":                   ratioOfErrors(two),
		"Section 4.1, open question | main": ratioOfErrors(two),

		"Proposition 4 | main": worstScores,
		"Equations 7 and 8 | main": over("n = 1, …, 12, p = 10^-6, 1/20, …, 19/20, exact", func(t *tally) {
			for n := 1; n <= 12; n++ {
				for _, p := range append(fractions(20)[:19], rat(1, 1000000)) {
					w := oneBest(n, p)
					x, y := sub(one, distribution(em, w)[n-1]), sub(one, distribution(pf, w)[n-1])
					t.expect(x.Cmp(missEM(n, p)) == 0, "n = %d, p = %s: the exponential mechanism misses with probability %s", n, p.RatString(), x.RatString())
					t.expect(y.Cmp(missPF(n, p)) == 0, "n = %d, p = %s: permute-and-flip misses with probability %s", n, p.RatString(), y.RatString())
				}
			}
		}),
		"Proposition 4, proof, case 2 | supplement": over("p_1 and p_2 in 1/20, …, 1, a = 1, b = 0, 1, enclosed", caseTwo),
		"Proposition 4, proof, equalities | supplement": over("one instance of each, exact", func(t *tally) {
			p1, p2, a, b := rat(1, 4), rat(3, 4), one, one
			m := quo(add(p1, p2), two)
			level := func(p *big.Rat) *big.Rat { return add(mul(a, sub(one, p)), b) }
			left, right := mul(two, mul(m, level(m))), mul(add(p1, p2), add(level(p1), level(p2))) // times ln m
			t.expect(left.Cmp(right) == 0, "p_1 = 1/4, p_2 = 3/4, a = b = 1: %s ln m against %s ln m; and E = c[…] is negative at p = 1/2, n = 2, where c = (2Δ/ε) ln p < 0 and […] = %s", left.RatString(), right.RatString(), missPF(2, rat(1, 2)).RatString())
		}),
		"Proposition 4, proof, geometric sum | supplement": over("n = 1, …, 30, p = 1/7, …, 1, exact", func(t *tally) {
			for n := 1; n <= 30; n++ {
				for _, p := range fractions(7) {
					total := zero
					for i := range n {
						total = add(total, quo(sub(one, power(sub(one, p), i)), rat(int64(n), 1)))
					}
					t.same(total, missPF(n, p), "n = %d, p = %s", n, p.RatString())
				}
			}
		}),
		"Section 4.1, endpoints | main":        over("n = 2, 3, 10, 100; p = 1 exact, p = 2^-10, …, 2^-80 enclosed", endpoints),
		"Section 4.1, maximiser | main":        maximiser(10),
		"Proposition 5 | main":                 worstAtOneOverN(rat(1, 4)),
		"Proposition 5, factor of four | main": factorOfFour,
		"Section 4.1, ratio | main": over("n = 2, 3, 4, 10, 50; p = 2^-50, 1/1000, 1/50, …, 49/50, exact: at p = 2^-50 the ratio is within 2^-40 of 2", func(t *tally) {
			for _, n := range []int{2, 3, 4, 10, 50} {
				for _, p := range append(fractions(50)[:49], rat(1, 1000), rat(1, 1<<50)) {
					ratio := quo(missEM(n, p), missPF(n, p))
					t.expect(less(one, ratio) && less(ratio, two), "n = %d, p = %s: ratio %s", n, p.RatString(), short(ratio))
					t.expect(p.Cmp(rat(1, 1<<50)) > 0 || less(sub(two, ratio), rat(1, 1<<40)), "n = %d, p = 2^-50: ratio %s", n, short(ratio))
				}
			}
		}),
		"Section 4.1, ratio and n | main": over("p = 1/1000, 1/100, 1/10, …, 9/10; the ratio falls with n at each p, n = 2, …, 60, exact; at n = 200000 it is below 1.02, enclosed", ratioFalls),
		"Figure 1(c), text | main":        ratioOfWorst,

		"Section 6, mode | main":         notCheckable(needs),
		"Section 6, median | main":       notCheckable(needs),
		"Section 6, ratio over ε | main": notCheckable(needs),
		"Section 6, c·exp(-ε) | main":    notCheckable(needs),
		"Section 6, large ε | main":      largeEpsilon(1),
		"Figure 3(c), text | main":       notCheckable(needs),
		"Appendix G | supplement":        notCheckable(needs),
	})
}

// utility checks the bounds of Proposition 1 for a mechanism, with factor times ln n for the mean. The set of candidates that make up the tail changes only at
// their weights, so that t with e^-t/n equal to a weight are enough.
func utility(m weighted, factor *big.Rat) check {
	return forWeights(5, "means enclosed, tails exact", func(t *tally, p []*big.Rat) {
		x, n := distribution(m, p), rat(int64(len(p)), 1)
		t.atMost(meanError(p, x), enclose(factor).Mul(log(n)), "weights %s: mean error above %s ln n", text(p), factor.RatString())
		for _, most := range p {
			if bound := mul(n, most); bound.Cmp(one) <= 0 { // e^-t
				t.expect(tail(p, x, most).Cmp(bound) <= 0, "weights %s, e^-t = %s: tail %s", text(p), bound.RatString(), short(tail(p, x, most)))
			}
		}
	})
}

// dominates checks that one mechanism's tails and mean errors are at most another's.
func dominates(better, worse weighted, first, other string) check {
	return over("tails for n <= 6, exact, means for n <= 4, enclosed; "+wideDomain, func(t *tally) {
		for p := range vectors(t.ctx, 6) {
			x, y := distribution(better, p), distribution(worse, p)
			for _, most := range p {
				t.expect(tail(p, x, most).Cmp(tail(p, y, most)) <= 0, "weights %s: an error of (2Δ/ε) ln %s or more has probability %s with %s and %s with %s",
					text(p), inv(most).RatString(), short(tail(p, x, most)), first, short(tail(p, y, most)), other)
			}
			if len(p) <= 4 && text(x) != text(y) {
				t.atMost(meanError(p, x), meanError(p, y), "weights %s: mean error of %s above that of %s", text(p), first, other)
			}
		}
	})
}

// ratioOfErrors checks that the exponential mechanism's expected error is less than factor times permute-and-flip's wherever that is not 0, and comes within
// a thousandth of it.
func ratioOfErrors(factor *big.Rat) check {
	return over("n <= 5, "+wideDomain+", and 500 random vectors, n <= 10, enclosed", func(t *tally) {
		most := enclose(zero)
		try := func(p []*big.Rat) {
			if flip := meanError(p, distribution(pf, p)); flip.Lo().Sign() > 0 || flip.Hi().Sign() < 0 {
				ratio := meanError(p, distribution(em, p)).Quo(flip)
				t.atMost(enclose(one), ratio, "weights %s: ratio below 1", text(p))
				t.atMost(ratio, enclose(factor), "weights %s: ratio %.6f", text(p), ratio.Near())
				most = most.Max(ratio)
			}
		}
		for p := range vectors(t.ctx, 5) {
			try(p)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 500 {
			p := []*big.Rat{one}
			for range 1 + rng.IntN(9) {
				p = append(p, rat(1, 1+rng.Int64N(1<<rng.IntN(30))))
			}
			try(p)
		}
		t.atMost(enclose(mul(factor, rat(999, 1000))), most, "the largest ratio seen is %.6f", most.Near())
		t.see("largest ratio %.7f", most.Near())
	})
}

// missEM and missPF are the probabilities that the best of (p, …, p, 1) is not taken: equations 7 and 8 over (2Δ/ε) ln(1/p). Both rise with p.
func missEM(n int, p *big.Rat) *big.Rat {
	x := mul(rat(int64(n)-1, 1), p)
	return quo(x, add(one, x))
}

func missPF(n int, p *big.Rat) *big.Rat {
	return sub(one, quo(sub(one, power(sub(one, p), n)), mul(rat(int64(n), 1), p)))
}

// oneBest returns the weights (p, …, p, 1).
func oneBest(n int, p *big.Rat) []*big.Rat { return append(slices.Repeat([]*big.Rat{p}, n-1), one) }

// fractions are 1/parts, …, 1.
func fractions(parts int64) (out []*big.Rat) {
	for i := int64(1); i <= parts; i++ {
		out = append(out, rat(i, parts))
	}
	return out
}

// A peak encloses the largest value of ln(1/p) miss(p) over p in (0,1], in units of 2Δ/ε, and has a p near which it is attained.
type peak struct {
	value number.Interval
	at    float64
}

// peaks returns the peaks of the exponential mechanism and of permute-and-flip for n >= 2 candidates. With Δ = 1/2 and ε = 1 errors are in units of 2Δ/ε.
func peaks(n int) (exp, flip peak) {
	worst := must(worst.New(n, rat(1, 2)))
	of := func(m mechanisms.Mechanism) peak {
		most, gap, err := worst.Worst(m, epsilonOf("1"))
		ensure(err)
		low, _ := most.Lower()
		high, _ := most.Upper()
		return peak{number.Hull(enclose(low), enclose(high)), math.Exp(-gap.Float64())}
	}
	return of(em), of(pf)
}

// atPeaks is a check that looks at the peaks for several n.
func atPeaks(sizes []int, domain string, look func(t *tally, n int, exp, flip peak)) check {
	return over(domain, func(t *tally) {
		for _, n := range sizes {
			exp, flip := peaks(n)
			look(t, n, exp, flip)
		}
	})
}

var worstScores = atPeaks(span(2, 5), "n = 2, …, 5, weights from {1/1000, 1/8, …, 1} and 300 random vectors each, enclosed", func(t *tally, n int, exp, flip peak) {
	try := func(p []*big.Rat) {
		for _, c := range []struct {
			m    weighted
			most number.Interval
		}{{em, exp.value}, {pf, flip.value}} {
			x := meanError(p, distribution(c.m, p))
			t.atMost(x, number.Point(c.most.Lo()), "weights %s: an error of %.6f, at (c, …, c, 0) at most %.6f", text(p), x.Near(), c.most.Near())
		}
	}
	for p := range grid(n, append(fractions(8), rat(1, 1000))...) {
		try(p)
	}
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	for range 300 {
		p := oneBest(n, nil)
		for i := range n - 1 {
			p[i] = rat(1+rng.Int64N(1<<20), 1<<20)
		}
		try(p)
	}
})

func caseTwo(t *tally) {
	for i, p1 := range fractions(20) {
		for _, p2 := range fractions(20)[i+1:] {
			a1, a2 := enclose(p1).Mul(log(p1)), enclose(p2).Mul(log(p2))
			if holds, ok := a2.LessEq(a1); !ok || !holds {
				continue
			}
			for _, b := range []*big.Rat{zero, one} {
				b1, b2 := enclose(add(sub(one, p1), b)), enclose(add(sub(one, p2), b))
				left, right := a1.Add(a2).Mul(b1.Add(b2)).Mul(enclose(rat(1, 2))), a1.Mul(b2).Add(a2.Mul(b1))
				t.expect(below(left, right), "p_1 = %s, p_2 = %s, a = 1, b = %s: the left-hand side is %.5f, the right-hand side %.5f", p1.RatString(), p2.RatString(), b.RatString(), left.Near(), right.Near())
			}
		}
	}
}

func endpoints(t *tally) {
	for _, n := range []int{2, 3, 10, 100} {
		w, last := oneBest(n, one), enclose(one)
		for _, m := range []weighted{em, pf} {
			t.expect(tail(w, distribution(m, w), rat(1, 2)).Sign() == 0, "n = %d, p = 1: there is an error", n)
		}
		for s := 10; s <= 80; s += 10 {
			p := power(rat(1, 2), s)
			x, y := log(p).Neg().Mul(enclose(missEM(n, p))), log(p).Neg().Mul(enclose(missPF(n, p)))
			t.atMost(y, x, "n = %d, p = 2^-%d: permute-and-flip's error %.3g, the exponential mechanism's %.3g", n, s, y.Near(), x.Near())
			t.atMost(x, last, "n = %d, p = 2^-%d: the error %.3g is not falling", n, s, x.Near())
			last = x
		}
		t.atMost(last, enclose(rat(1, 1<<60)), "n = %d, p = 2^-80: the error is still %.3g", n, last.Near())
	}
}

// maximiser checks that n p is between 1/2 and 2 where the errors are largest, for n = 2, …, most: that larger values are attained there than anywhere outside.
func maximiser(most int) check {
	return atPeaks(span(2, most), fmt.Sprintf("n = 2, …, %d: n p in [1/2, 2] where the largest error is attained to 10^-7", most), func(t *tally, n int, exp, flip peak) {
		x, y := float64(n)*exp.at, float64(n)*flip.at
		t.expect(min(x, y) >= 0.5 && max(x, y) <= 2, "n = %d: n p is %.2f for the exponential mechanism and %.2f for permute-and-flip", n, x, y)
	})
}

// worstAtOneOverN checks that permute-and-flip and the exponential mechanism miss the best of (1/n, …, 1/n, 1) with at least the given
// probability, which Proposition 5 says with 1/4: the error is ln n units of 2Δ/ε then.
func worstAtOneOverN(least *big.Rat) check {
	return over("n = 2, …, 60, exact", func(t *tally) {
		for n := 2; n <= 60; n++ {
			p := oneBest(n, rat(1, int64(n)))
			flip, exp := sub(one, distribution(pf, p)[n-1]), sub(one, distribution(em, p)[n-1])
			t.expect(flip.Cmp(least) >= 0 && exp.Cmp(flip) >= 0, "n = %d: the best is missed with probability %s by permute-and-flip, %s by the exponential mechanism", n, short(flip), short(exp))
		}
	})
}

var factorOfFour = atPeaks([]int{2, 3, 4, 10, 100, 10000}, "n = 2, 3, 4, 10, 100, 10^4, enclosed", func(t *tally, n int, exp, flip peak) {
	for _, worst := range []peak{exp, flip} {
		factor := log(rat(int64(n), 1)).Quo(worst.value)
		t.atMost(factor, enclose(rat(4, 1)), "n = %d: ln n is %.3f times the worst error", n, factor.Near())
		t.see("n = %d: %.3f", n, factor.Near())
	}
})

var ratioOfWorst = over("n = 2, 3, 4, 5, 7, 10, 30, 100, …, 10^4, 10^6, enclosed", func(t *tally) {
	last := enclose(two)
	for _, n := range []int{2, 3, 4, 5, 7, 10, 30, 100, 1000, 10000, 1000000} {
		exp, flip := peaks(n)
		ratio := exp.value.Quo(flip.value)
		t.atMost(ratio, last, "n = %d: ratio %.5f, before it %.5f", n, ratio.Near(), last.Near())
		t.atMost(enclose(one), ratio, "n = %d: ratio %.5f", n, ratio.Near())
		t.see("n = %d: %.4f", n, ratio.Near())
		last = ratio
	}
})

// largeEpsilon checks, on vectors with the given number of best candidates and the second best a step below, that the ratio of errors tends to two, and that
// the exponential mechanism at ε + ln 2 per step has permute-and-flip's error at ε in the limit.
func largeEpsilon(best int) check {
	return over("four score vectors with a unique best and the second a step of 2Δ below, e^ε = 2^20, 2^40, 2^80, exact: the ratio is within e^-ε · 32 of 2, and so is the saving of ln 2", func(t *tally) {
		for _, others := range [][]int{{1}, {1, 1}, {1, 2, 5}, {1, 1, 3, 3, 7}} {
			depths := append(make([]int, best), others...)
			for _, s := range []int{20, 40, 80} {
				z := power(rat(1, 2), s)
				mean := func(m weighted, z *big.Rat) *big.Rat {
					total, x := zero, distribution(m, atDepths(z, depths))
					for r, v := range depths {
						total = add(total, mul(rat(int64(v), 1), x[r]))
					}
					return total
				}
				near := func(x, y *big.Rat) bool { d := sub(x, y); return less(d.Abs(d), power(rat(1, 2), s-5)) }
				flip, exp, later := mean(pf, z), mean(em, z), mean(em, quo(z, two))
				t.expect(near(quo(exp, flip), two), "depths %v, e^-ε = 2^-%d: ratio %s", depths, s, short(quo(exp, flip)))
				t.expect(near(quo(later, flip), one), "depths %v, e^-ε = 2^-%d: the exponential mechanism at ε + ln 2 has %s times permute-and-flip's error", depths, s, short(quo(later, flip)))
			}
		}
	})
}

// ratioFalls expects the ratio to fall with n, towards 1.
func ratioFalls(t *tally) {
	for _, p := range append(fractions(10)[:9], rat(1, 1000), rat(1, 100)) {
		last := two
		for n := 2; n <= 60; n++ {
			ratio := quo(missEM(n, p), missPF(n, p))
			t.expect(less(ratio, last), "p = %s: the ratio does not fall from n = %d to %d", p.RatString(), n-1, n)
			last = ratio
		}
		n := 200000
		miss := func(m weighted) number.Interval { // of each of n-1 candidates
			return m.WeightedEnclose([]number.Interval{enclose(one), enclose(p)}, []int{1, n - 1})[1]
		}
		t.atMost(miss(em).Quo(miss(pf)), enclose(rat(102, 100)), "p = %s, n = %d", p.RatString(), n)
	}
}
