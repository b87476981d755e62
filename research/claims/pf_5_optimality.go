package claims

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/mechanisms/totals"
	"optratio/number/interval"
	"optratio/verify"
)

func init() {
	register(PF, map[string]check{
		"Proposition 6 | main":                           pareto(pf),
		"Lemma 6 | supplement":                           lemmaSix,
		"Proposition 6 and Theorem 3, as printed | main": withoutPrivacy,
		"Section 5, many Pareto optima | main":           manyPareto,
		"Theorem 3 | main":                               optimalFrom("21/8", "0.9625"),
		"Threshold of Theorem 3 | main":                  thresholdValue,
		"Section 5, size of the program | main":          programSize,
		"Figure 2, text: above the threshold | main":     figureTwoAbove,
		"Figure 2, text: largest value | main":           figureTwoLargest,
		"Figure 2, text: k | main":                       figureTwoDepth,
		"Figure 2, text: n | main":                       figureTwoCandidates,
		"Figure 2, text: exponential mechanism | main":   figureTwoExponential,
		"Figure 2, text: small ε | main":                 figureTwoSmall,
		"Appendix D, program | supplement":               programOfAppendixD([2]int{3, 2}, [2]int{3, 3}),
		"Appendix D, symmetry | supplement":              symmetryIsFree,
		"Appendix D, relaxed program | supplement":       relaxed,
		"Appendix D, Equations 10 and 11 | supplement":   dualRecurrence("21/8", "4", "20"),
		"Lemma 7 | supplement":                           lemmaSeven,
	})
}

// Proposition 6 and Lemma 6 are decided on these lattices.
var (
	paretoSizes = [][2]int{{3, 2}, {3, 3}, {4, 2}}
	paretoZ     = []*big.Rat{rat(10, 11), rat(2, 3), rat(1, 3)}
)

const paretoDomain = "Q(3,2), Q(3,3), Q(4,2), e^ε = 11/10, 3/2, 3: exact linear programs over all tables with the rows of Appendix D"

// noWorse returns the program whose points have no larger error at any score vector than a mechanism, with the mechanism's own table.
func noWorse(n, k int, z *big.Rat, m mechanisms.Weighted) (*program, []*big.Rat) {
	p := newProgram(n, k, z, lp.Paper)
	x := p.table(m)
	for i := range p.vars.Lattice.Len() {
		at := p.errors(i)
		p.rows = append(p.rows, inequality{upper: value(at, x), at: at})
	}
	return p, x
}

// pareto checks that no table has a smaller total error and at no score vector a larger one.
func pareto(m mechanisms.Weighted) check {
	return func(t *tally) Finding {
		for _, s := range paretoSizes {
			for _, z := range paretoZ {
				p, x := noWorse(s[0], s[1], z, m)
				least, _ := p.minimise(t.ctx, p.total())
				own := value(p.total(), x)
				t.expect(least.Cmp(own) == 0, "Q(%d,%d), e^ε = %s: a mechanism that errs more at no score vector has total error %s, this one %s", s[0], s[1], new(big.Rat).Inv(z).RatString(), short(least, 8), short(own, 8))
			}
		}
		return t.finding(paretoDomain, "gain 0 in all of them")
	}
}

func lemmaSix(t *tally) Finding {
	for _, s := range [][2]int{{3, 2}, {4, 1}, {3, 3}} {
		for _, z := range paretoZ {
			p, x := noWorse(s[0], s[1], z, pf)
			for j, v := range p.vars.Depth {
				if v == 0 {
					continue
				}
				least, _ := p.minimise(t.ctx, map[int32]*big.Rat{int32(j): rat(1, 1)})
				t.expect(least.Cmp(x[j]) == 0, "Q(%d,%d), e^ε = %s: %s can be %s, permute-and-flip's is %s", s[0], s[1], new(big.Rat).Inv(z).RatString(), p.name(int32(j)), short(least, 8), short(x[j], 8))
			}
		}
	}
	return t.finding(fmt.Sprintf("Q(3,2), Q(4,1), Q(3,3), e^ε = 11/10, 3/2, 3: %d exact linear programs", t.checked), "")
}

// alwaysBest takes one of the best candidates, each with the same probability.
func alwaysBest() mechanisms.Mechanism {
	return mechanisms.FromRational(mechanisms.Info{Name: "always-best", Claim: "none", Uniform: true, ShiftInvariant: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		best, out := int64(0), make([]*big.Rat, len(in.Scores))
		for _, q := range in.Scores {
			if q.Cmp(in.Best()) == 0 {
				best++
			}
		}
		for r, q := range in.Scores {
			out[r] = new(big.Rat)
			if q.Cmp(in.Best()) == 0 {
				out[r] = rat(1, best)
			}
		}
		return out, nil
	})
}

func withoutPrivacy(t *tally) Finding {
	regular := suite{mechanism: alwaysBest(), properties: []verify.Property{verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum}, lattices: [][2]int{{2, 3}, {3, 3}}, exps: []string{"21/8"}}.check(t)
	if regular.Verdict != Holds {
		return t.undecided("the mechanism that never errs was not found regular: " + regular.Witness)
	}
	total := new(big.Rat)
	for _, depths := range boxes(3, 3) {
		p := atDepths(rat(8, 21), depths)
		x := distribution(pf, p)
		for r, v := range depths {
			total.Add(total, mul(x[r], rat(int64(v), 1)))
		}
	}
	t.expect(total.Sign() <= 0, "always taking a best candidate is symmetric, shift-invariant and monotone and has total error 0 over Q(3,3); permute-and-flip's is positive at e^ε = 21/8")
	return t.finding(regular.Domain, "")
}

func manyPareto(t *tally) Finding {
	p := newProgram(3, 3, rat(2, 3), lp.Full)
	least, _ := p.minimise(t.ctx, p.total())
	own := value(p.total(), p.table(pf))
	first := pareto(pf)(&tally{ctx: t.ctx})
	t.expect(less(least, own) && first.Verdict == Holds, "the least total error is %s, permute-and-flip's %s", least.RatString(), own.RatString())
	return t.finding("Q(3,3), e^ε = 3/2, exact: permute-and-flip and the optimum of the program with all rows", fmt.Sprintf("total errors %s and %s", own.RatString(), least.RatString()))
}

// ratios returns the ratios of permute-and-flip and the exponential mechanism to the optimum of the program, exact where that is asked for and e^ε is rational.
func ratios(ctx context.Context, n, k int, e mechanisms.Epsilon, o totals.Objective, exact bool) (flip, exp lp.Rated) {
	a := must(lp.Ratio(ctx, lp.Request{N: n, K: k, Epsilon: e, Objective: o, Method: lp.Enumerated, Exact: exact, Gap: rat(1, 1000000)}))
	if a.Undecided != "" {
		panic(fmt.Sprintf("n = %d, k = %d: %s", n, k, a.Undecided))
	}
	return a.Mechanisms[0], a.Mechanisms[1]
}

// optimalFrom checks that permute-and-flip is optimal at a rational e^ε, by exact programs, and at a decimal ε on many more lattices by the criterion that docs/results/threshold.md proves.
func optimalFrom(exp, eps string) check {
	return func(t *tally) Finding {
		sizes := [][2]int{{2, 3}, {3, 2}, {3, 4}, {4, 3}, {5, 2}}
		for _, s := range sizes {
			flip, _ := ratios(t.ctx, s[0], s[1], fromExp(exp), totals.Paper, true)
			ratio, ok := flip.Ratio.Rat()
			t.expect(ok && ratio.Cmp(rat(1, 1)) == 0, "Q(%d,%d), e^ε = %s: permute-and-flip's ratio is %s", s[0], s[1], exp, flip.Ratio)
		}
		e := must(mechanisms.ParseEpsilon(eps))
		const most = 40
		for n := 1; n <= most; n++ {
			for k := 1; k <= most; k++ {
				t.expect(lp.PermuteAndFlipOptimal(n, k, totals.Paper, e), "Q(%d,%d), ε = %s: permute-and-flip is not optimal", n, k, eps)
			}
		}
		return t.finding(fmt.Sprintf("%s at e^ε = %s by exact linear programs; n, k <= %d at ε = %s by the criterion z + … + z^k <= 1; for k = 0 there is no error", names(sizes), exp, most, eps), "")
	}
}

func thresholdValue(t *tally) Finding {
	// x² - 3x + 1 has its larger root at (3+√5)/2, and rises beyond 3/2.
	at := func(eps *big.Rat) interval.Interval {
		x := interval.ExpRat(eps, precision)
		return x.Mul(x).Sub(x.Mul(enclose(rat(3, 1)))).Add(enclose(rat(1, 1)))
	}
	t.atMost(at(rat(955, 1000)), enclose(new(big.Rat)), "the threshold is below 0.955")
	t.atMost(enclose(new(big.Rat)), at(rat(965, 1000)), "the threshold is above 0.965")
	return t.finding("enclosed", "between 0.955 and 0.965")
}

func programSize(t *tally) Finding {
	small, large := lattice.Variables(4, 4), lattice.Variables(20, 20)
	t.expect(small.Cmp(big.NewInt(95)) == 0, "%s variables at n = k = 4", small)
	t.expect(large.Cmp(big.NewInt(1e11)) > 0, "%s variables at n = k = 20", large)
	a := must(lp.Ratio(t.ctx, lp.Request{N: 1000, K: 10, Epsilon: fromExp("3/2"), Method: lp.ClosedForm, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}}))
	high, _ := a.Mechanisms[0].Ratio.Upper()
	t.expect(high != nil && high.Cmp(rat(1000001, 1000000)) < 0, "n = 1000, k = 10: the ratio is only known to be %s", a.Mechanisms[0].Ratio)
	return t.finding("number of orbit variables", fmt.Sprintf("%s at n = k = 4, %s at n = k = 20; yet permute-and-flip's ratio at n = 1000, k = 10, e^ε = 3/2 is below 1 + 10^-6 by a closed form", small, large))
}

// drawn are the lattices of figure 2.
var drawn = [][2]int{{3, 4}, {4, 4}, {5, 4}, {6, 4}, {4, 2}, {4, 6}, {4, 8}}

func figureTwoAbove(t *tally) Finding {
	for _, s := range drawn {
		for _, eps := range []string{"0.9625", "1", "2", "10"} {
			e := must(mechanisms.ParseEpsilon(eps))
			for _, o := range []totals.Objective{totals.Paper, totals.Box} {
				t.expect(lp.PermuteAndFlipOptimal(s[0], s[1], o, e), "Q(%d,%d), ε = %s, objective %s: permute-and-flip is not optimal", s[0], s[1], eps, o)
			}
		}
	}
	for _, s := range drawn[:2] {
		flip, _ := ratios(t.ctx, s[0], s[1], fromExp("21/8"), totals.Box, true)
		ratio, ok := flip.Ratio.Rat()
		t.expect(ok && ratio.Cmp(rat(1, 1)) == 0, "Q(%d,%d), e^ε = 21/8: %s", s[0], s[1], flip.Ratio)
	}
	return t.finding(names(drawn)+", ε = 0.9625, 1, 2, 10 and both objectives by the exact criterion, two of them also by exact linear programs", "")
}

// largest returns bounds of permute-and-flip's largest ratio over a grid of ε.
func largest(ctx context.Context, n, k int, o totals.Objective) (low, high *big.Rat, at string) {
	low, high = rat(1, 1), rat(1, 1)
	for _, eps := range []string{"0.3", "0.35", "0.4", "0.45", "0.5", "0.55"} {
		e := must(mechanisms.ParseEpsilon(eps))
		flip, _ := ratios(ctx, n, k, e, o, false)
		l, _ := flip.Ratio.Lower()
		h, _ := flip.Ratio.Upper()
		if less(low, l) {
			low, at = l, eps
		}
		high = larger(high, h)
	}
	return low, high, at
}

const figureGrid = "ε = 0.3, 0.35, …, 0.55, certified enclosures"

func figureTwoLargest(t *tally) Finding {
	var seen []string
	for _, o := range []totals.Objective{totals.Paper, totals.Box} {
		most, least, where := rat(1, 1), rat(1, 1), ""
		for _, s := range [][2]int{{4, 4}, {4, 8}, {5, 4}} {
			low, high, at := largest(t.ctx, s[0], s[1], o)
			most = larger(most, high)
			if less(least, low) {
				least, where = low, fmt.Sprintf("n = %d, k = %d, ε = %s", s[0], s[1], at)
			}
		}
		t.expect(rat(1005, 1000).Cmp(least) <= 0 && most.Cmp(rat(1015, 1000)) < 0, "objective %s: between %s and %s", o, decimals(least, 6), decimals(most, 6))
		seen = append(seen, fmt.Sprintf("%s with the %s objective (%s)", decimals(least, 5), o, where))
	}
	return t.finding("n = 4, k = 4, 8 and n = 5, k = 4, "+figureGrid+": the largest rounds to 1.01", strings.Join(seen, ", "))
}

func figureTwoDepth(t *tally) Finding {
	var seen []string
	var before *big.Rat
	for _, k := range []int{2, 4, 6, 8} {
		low, high, _ := largest(t.ctx, 4, k, totals.Box)
		if before != nil {
			t.expect(less(before, low), "k = %d: %s, before it %s", k, decimals(low, 6), decimals(before, 6))
		}
		before = high
		seen = append(seen, fmt.Sprintf("k = %d: %s", k, decimals(low, 5)))
	}
	return t.finding("n = 4, box objective, largest ratio over "+figureGrid, strings.Join(seen, ", "))
}

func figureTwoCandidates(t *tally) Finding {
	var seen []string
	least, most := rat(1, 1), new(big.Rat) // of the excess over 1
	for n := 3; n <= 6; n++ {
		low, high, _ := largest(t.ctx, n, 4, totals.Box)
		seen = append(seen, fmt.Sprintf("n = %d: %s", n, decimals(low, 5)))
		low, high = sub(low, rat(1, 1)), sub(high, rat(1, 1))
		least = smaller(least, low)
		most = larger(most, high)
	}
	t.expect(most.Cmp(mul(rat(2, 1), least)) <= 0, "the largest excesses over 1 are between %s and %s", decimals(least, 3), decimals(most, 3))
	return t.finding("k = 4, n = 3, …, 6, box objective, largest ratio over "+figureGrid, strings.Join(seen, ", "))
}

func figureTwoExponential(t *tally) Finding {
	var seen []string
	for _, k := range []int{2, 8} {
		var before, last *big.Rat
		for _, eps := range []string{"0.01", "0.1", "0.3", "1", "3", "10"} {
			e := must(mechanisms.ParseEpsilon(eps))
			_, exp := ratios(t.ctx, 4, k, e, totals.Box, false)
			low, _ := exp.Ratio.Lower()
			if before != nil {
				t.expect(less(before, low), "k = %d: at ε = %s the ratio is %s, before it %s", k, eps, decimals(low, 6), decimals(before, 6))
			}
			before, _ = exp.Ratio.Upper()
			last = low
			if eps == "1" || eps == "10" {
				seen = append(seen, fmt.Sprintf("k = %d, ε = %s: %s", k, eps, decimals(low, 4)))
			}
		}
		t.expect(k == 2 || rat(19, 10).Cmp(last) < 0 && before.Cmp(rat(2, 1)) < 0, "k = %d, ε = 10: %s", k, decimals(last, 6))
	}
	return t.finding("n = 4, k = 2, 8, box objective, ε = 0.01, 0.1, 0.3, 1, 3, 10, certified enclosures: rising, and above 1.9 at k = 8, ε = 10", strings.Join(seen, ", "))
}

func figureTwoSmall(t *tally) Finding {
	var seen []string
	for _, k := range []int{2, 8} {
		before := rat(2, 1)
		for _, eps := range []string{"0.1", "0.01", "0.001"} {
			e := must(mechanisms.ParseEpsilon(eps))
			flip, exp := ratios(t.ctx, 4, k, e, totals.Paper, false)
			high, _ := exp.Ratio.Upper()
			own, _ := flip.Ratio.Upper()
			t.expect(less(high, before) && own.Cmp(high) <= 0, "k = %d, ε = %s: %s for the exponential mechanism, %s for permute-and-flip", k, eps, decimals(high, 7), decimals(own, 7))
			before = high
		}
		t.expect(less(before, rat(1001, 1000)), "k = %d, ε = 0.001: %s", k, decimals(before, 7))
		seen = append(seen, fmt.Sprintf("k = %d, ε = 0.001: at most %s", k, decimals(before, 6)))
	}
	return t.finding("n = 4, k = 2, 8, ε = 0.1, 0.01, 0.001, certified enclosures", strings.Join(seen, ", "))
}
