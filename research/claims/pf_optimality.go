package claims

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Section 5 with figure 2, and appendix D: optimality, and the linear programs.
func init() {
	register(PF, map[string]check{
		"Proposition 6 | main": pareto(pf),
		"Lemma 6 | supplement": onLattices([][2]int{{3, 2}, {4, 1}, {3, 3}}, "11/10, 3/2, 3", "exact linear programs", func(t *tally, n, k int, z *big.Rat) {
			p, x := noWorse(n, k, z, pf)
			for j, v := range p.vars.Depth {
				if v > 0 {
					least, _ := p.minimise(t.ctx, map[int32]*big.Rat{int32(j): one})
					t.same(least, x[j], "Q(%d,%d), e^ε = %s: the least %s", n, k, inv(z).RatString(), p.name(int32(j)))
				}
			}
		}),
		"Proposition 6 and Theorem 3, as printed | main": all(has(alwaysBest(), [][2]int{{2, 3}, {3, 3}}, 1, "21/8", verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum),
			over("its total error is 0", func(t *tally) {
				p := newProgram(3, 3, rat(8, 21), lp.Paper)
				t.expect(value(p.total(), p.table(pf)).Sign() <= 0, "always taking a best candidate is symmetric, shift-invariant and monotone and has total error 0 over Q(3,3); permute-and-flip's is positive at e^ε = 21/8")
			})),
		"Section 5, many Pareto optima | main": all(pareto(pf), over("Q(3,3), e^ε = 3/2, exact: permute-and-flip and the optimum of the program with all rows", func(t *tally) {
			least, own := newProgram(3, 3, rat(2, 3), lp.Full).optimum(t)
			t.expect(less(least, own), "the least total error is %s, permute-and-flip's %s", least.RatString(), own.RatString())
			t.see("total errors %s and %s", own.RatString(), least.RatString())
		})),
		"Theorem 3 | main": optimalFrom("21/8", "0.9625"),
		"Threshold of Theorem 3 | main": over("enclosed: between 0.955 and 0.965", func(t *tally) {
			at := func(eps *big.Rat) number.Interval { // x² - 3x + 1 has its larger root at (3+√5)/2, and rises beyond 3/2
				x := number.ExpRat(eps, precision)
				return x.Mul(x).Sub(x.Mul(enclose(rat(3, 1)))).Add(enclose(one))
			}
			t.atMost(at(rat(955, 1000)), enclose(zero), "the threshold is below 0.955")
			t.atMost(enclose(zero), at(rat(965, 1000)), "the threshold is above 0.965")
		}),
		"Section 5, size of the program | main": over("95 orbit variables at n = k = 4, more than 10^11 at n = k = 20; yet a closed form has the ratio at n = 1000, k = 10, e^ε = 3/2", func(t *tally) {
			t.expect(lattice.Variables(4, 4).Cmp(big.NewInt(95)) == 0, "%s variables at n = k = 4", lattice.Variables(4, 4))
			t.expect(lattice.Variables(20, 20).Cmp(big.NewInt(1e11)) > 0, "%s variables at n = k = 20", lattice.Variables(20, 20))
			a := must(lp.Ratio(t.ctx, lp.Request{N: 1000, K: 10, Epsilon: expOf(rat(3, 2)), Method: "closed-form", Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}}))
			high, _ := a.Mechanisms[0].Ratio.Upper()
			t.expect(high != nil && high.Cmp(rat(1000001, 1000000)) < 0, "n = 1000, k = 10: the ratio is only known to be %s", a.Mechanisms[0].Ratio)
		}),
		"Figure 2, text: above the threshold | main": over(names(drawn)+", ε = 0.9625, 1, 2, 10 and both objectives by the exact criterion, two of them also by exact linear programs", func(t *tally) {
			for _, s := range drawn {
				for _, eps := range []string{"0.9625", "1", "2", "10"} {
					for _, o := range []lp.Prior{{}, lp.Box()} {
						t.expect(flipOptimal(t.ctx, s[0], s[1], o, epsilonOf(eps)), "Q(%d,%d), ε = %s, objective %s: permute-and-flip is not optimal", s[0], s[1], eps, o)
					}
				}
			}
			for _, s := range drawn[:2] {
				t.isOptimal(s, rat(21, 8), lp.Box())
			}
		}),
		"Figure 2, text: largest value | main":         over("n = 4, k = 4, 8 and n = 5, k = 4, "+figureGrid+": the largest rounds to 1.01", figureTwoLargest),
		"Figure 2, text: k | main":                     over("n = 4, box objective, largest ratio over "+figureGrid, figureTwoDepth),
		"Figure 2, text: n | main":                     over("k = 4, n = 3, …, 6, box objective, largest ratio over "+figureGrid, figureTwoCandidates),
		"Figure 2, text: exponential mechanism | main": over("n = 4, k = 2, 8, box objective, ε = 0.01, 0.1, 0.3, 1, 3, 10, certified enclosures: rising, and above 1.9 at k = 8, ε = 10", figureTwoExponential),
		"Figure 2, text: small ε | main":               over("n = 4, k = 2, 8, ε = 0.1, 0.01, 0.001, certified enclosures", figureTwoSmall),

		"Appendix D, program | supplement": programOfAppendixD([2]int{3, 2}, [2]int{3, 3}),
		"Appendix D, symmetry | supplement": onLattices([][2]int{{2, 3}, {3, 2}, {3, 3}}, "21/8, 3/2", "exact linear programs", func(t *tally, n, k int, z *big.Rat) {
			want, _ := newProgram(n, k, z, lp.Paper).optimum(t)
			t.same(unreduced(t.ctx, n, k, z), want, "Q(%d,%d), e^ε = %s: the optimum with all variables", n, k, inv(z).RatString())
			x, y := distribution(pf, atDepths(rat(2, 3), []int{2, 8, 0})), distribution(pf, atDepths(rat(2, 3), []int{0, 8, 2}))
			t.same(x[0], y[2], "x_1(-2,-8,0) and x_3(0,-8,-2)")
		}),
		"Appendix D, relaxed program | supplement": onLattices([][2]int{{3, 2}, {3, 3}, {4, 2}}, "21/8, 2, 3/2", "exact linear programs", func(t *tally, n, k int, z *big.Rat) {
			p := relaxedProgram(n, k, z)
			x := p.table(pf)
			t.expect(len(p.rows) == len(p.vars.Orbit), "Q(%d,%d): %d constraints for %d variables", n, k, len(p.rows), len(p.vars.Orbit))
			for _, row := range p.rows {
				t.same(value(row.at, x), row.lower, "Q(%d,%d): permute-and-flip in a constraint", n, k)
			}
			loose, own := p.optimum(t)
			tight, _ := newProgram(n, k, z, lp.Paper).optimum(t)
			t.expect(less(loose, own) || tight.Cmp(own) == 0, "Q(%d,%d), z = %s: permute-and-flip is optimal for the relaxed program, but not for the full one", n, k, z.RatString())
		}),
		"Appendix D, Equations 10 and 11 | supplement": dualRecurrence("21/8, 4, 20"),
		"Lemma 7 | supplement": over("e^ε = 11/10, …, 20, among them two rationals 10^-9 apart with the threshold between them, exact", func(t *tally) {
			for _, x := range rats("11/10", "2", "13/5", "2.618033988", "2.618033989", "21/8", "3", "20") {
				const terms = 12 // and the exact remainder: Σ_{k>m} k z^k = z^m (m z/(1-z) + z/(1-z)²)
				closed, z, total := quo(x, power(sub(one, x), 2)), inv(x), zero
				for k := 1; k <= terms; k++ {
					total = add(total, mul(rat(int64(k), 1), power(z, k)))
				}
				total = add(total, mul(power(z, terms), add(mul(rat(terms, 1), quo(z, sub(one, z))), closed)))
				t.same(total, closed, "e^ε = %s: the sum", x.RatString())
				above := add(sub(mul(x, x), mul(rat(3, 1), x)), one).Sign() >= 0 // x is at least the larger root, as x > 1
				t.expect(above == (closed.Cmp(one) <= 0), "e^ε = %s: the sum is %s", x.RatString(), short(closed))
			}
		}),
	})
}

// optimum returns the least total error, and permute-and-flip's.
func (p *program) optimum(t *tally) (least, flip *big.Rat) {
	least, _ = p.minimise(t.ctx, p.total())
	return least, value(p.total(), p.table(pf))
}

// noWorse returns the program whose points have no larger error at any score vector than a mechanism, with the mechanism's own table.
func noWorse(n, k int, z *big.Rat, m weighted) (*program, []*big.Rat) {
	p := newProgram(n, k, z, lp.Paper)
	x := p.table(m)
	for i := range p.vars.Lattice.Len() {
		at := p.errors(i)
		p.rows = append(p.rows, inequality{upper: value(at, x), at: at})
	}
	return p, x
}

// pareto checks that no table has a smaller total error and at no score vector a larger one.
func pareto(m weighted) check {
	return onLattices([][2]int{{3, 2}, {3, 3}, {4, 2}}, "11/10, 3/2, 3", "exact linear programs over all tables with the rows of Appendix D", func(t *tally, n, k int, z *big.Rat) {
		p, x := noWorse(n, k, z, m)
		least, _ := p.optimum(t)
		t.same(least, value(p.total(), x), "Q(%d,%d), e^ε = %s: the least total error of a mechanism that errs more at no score vector", n, k, inv(z).RatString())
	})
}

// alwaysBest takes one of the best candidates, each with the same probability.
func alwaysBest() mechanisms.Mechanism {
	return mechanisms.FromRational(mechanisms.Info{Name: "always-best", Claim: "none", Uniform: true, ShiftInvariant: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return shared(len(in.Scores), func(r int) bool { return in.Scores[r].Cmp(in.Best()) == 0 }, func(int) *big.Rat { return new(big.Rat) }), nil
	})
}

// flipOptimal decides by the exact criterion whether permute-and-flip is optimal at an ε > 0.
func flipOptimal(ctx context.Context, n, k int, prior lp.Prior, e number.Epsilon) bool {
	a := must(lp.Ratio(ctx, lp.Request{N: n, K: k, Epsilon: e, Prior: prior, Method: "closed-form", Mechanisms: []mechanisms.Mechanism{}}))
	return *a.PFOptimal
}

// ratios returns the ratios of permute-and-flip and the exponential mechanism to the optimum of the program, exact where that is asked for and e^ε is rational.
func ratios(ctx context.Context, n, k int, e number.Epsilon, o lp.Prior, exact bool) (flip, exp lp.Rated) {
	a := must(lp.Ratio(ctx, lp.Request{N: n, K: k, Epsilon: e, Prior: o, Method: "lp", Exact: exact, Gap: rat(1, 1000000)}))
	if a.Undecided != "" {
		panic(fmt.Sprintf("n = %d, k = %d: %s", n, k, a.Undecided))
	}
	return a.Mechanisms[0], a.Mechanisms[1]
}

// isOptimal expects permute-and-flip's ratio to be 1 by an exact program.
func (t *tally) isOptimal(size [2]int, exp *big.Rat, o lp.Prior) {
	flip, _ := ratios(t.ctx, size[0], size[1], expOf(exp), o, true)
	ratio, ok := flip.Ratio.Rat()
	t.expect(ok && ratio.Cmp(one) == 0, "Q(%d,%d), e^ε = %s: permute-and-flip's ratio is %s", size[0], size[1], exp.RatString(), flip.Ratio)
}

// optimalFrom checks that permute-and-flip is optimal at a rational e^ε, by exact programs, and at a decimal ε on many more lattices by the criterion that research/docs/threshold.md proves.
func optimalFrom(exp, eps string) check {
	sizes := [][2]int{{2, 3}, {3, 2}, {3, 4}, {4, 3}, {5, 2}}
	return over(fmt.Sprintf("%s at e^ε = %s by exact linear programs; n, k <= 40 at ε = %s by the criterion z + … + z^k <= 1; for k = 0 there is no error", names(sizes), exp, eps), func(t *tally) {
		for _, s := range sizes {
			t.isOptimal(s, rats(exp)[0], lp.Prior{})
		}
		for n := 1; n <= 40; n++ {
			for k := 1; k <= 40; k++ {
				t.expect(flipOptimal(t.ctx, n, k, lp.Prior{}, epsilonOf(eps)), "Q(%d,%d), ε = %s: permute-and-flip is not optimal", n, k, eps)
			}
		}
	})
}

// drawn are the lattices of figure 2.
var drawn = [][2]int{{3, 4}, {4, 4}, {5, 4}, {6, 4}, {4, 2}, {4, 6}, {4, 8}}

const figureGrid = "ε = 0.3, 0.35, …, 0.55, certified enclosures"

// largestRatio bounds permute-and-flip's largest ratio over that grid.
func largestRatio(ctx context.Context, n, k int, o lp.Prior) (low, high *big.Rat) {
	low, high = one, one
	for _, eps := range []string{"0.3", "0.35", "0.4", "0.45", "0.5", "0.55"} {
		flip, _ := ratios(ctx, n, k, epsilonOf(eps), o, false)
		l, h := bounds(flip)
		low, high = largest(low, l), largest(high, h)
	}
	return low, high
}

func bounds(r lp.Rated) (low, high *big.Rat) {
	low, _ = r.Ratio.Lower()
	high, _ = r.Ratio.Upper()
	return low, high
}

func figureTwoLargest(t *tally) {
	for _, o := range []lp.Prior{{}, lp.Box()} {
		least, most := one, one
		for _, s := range [][2]int{{4, 4}, {4, 8}, {5, 4}} {
			low, high := largestRatio(t.ctx, s[0], s[1], o)
			least, most = largest(least, low), largest(most, high)
		}
		t.expect(rat(1005, 1000).Cmp(least) <= 0 && less(most, rat(1015, 1000)), "objective %s: between %s and %s", o, short(least), short(most))
		t.see("%s with the %s objective", short(least), o)
	}
}

func figureTwoDepth(t *tally) {
	before := one
	for _, k := range []int{2, 4, 6, 8} {
		low, high := largestRatio(t.ctx, 4, k, lp.Box())
		t.expect(less(before, low), "k = %d: %s, before it %s", k, short(low), short(before))
		t.see("k = %d: %s", k, short(low))
		before = high
	}
}

func figureTwoCandidates(t *tally) {
	least, most := one, zero // of the excess over 1
	for n := 3; n <= 6; n++ {
		low, high := largestRatio(t.ctx, n, 4, lp.Box())
		t.see("n = %d: %s", n, short(low))
		least, most = smaller(least, sub(low, one)), largest(most, sub(high, one))
	}
	t.expect(most.Cmp(mul(two, least)) <= 0, "the largest excesses over 1 are between %s and %s", short(least), short(most))
}

func figureTwoExponential(t *tally) {
	for _, k := range []int{2, 8} {
		before, last := zero, zero
		for _, eps := range []string{"0.01", "0.1", "0.3", "1", "3", "10"} {
			_, exp := ratios(t.ctx, 4, k, epsilonOf(eps), lp.Box(), false)
			low, high := bounds(exp)
			t.expect(less(before, low), "k = %d: at ε = %s the ratio is %s, before it %s", k, eps, short(low), short(before))
			before, last = high, low
		}
		t.expect(k == 2 || less(rat(19, 10), last) && less(before, two), "k = %d, ε = 10: %s", k, short(last))
		t.see("k = %d, ε = 10: %s", k, short(last))
	}
}

func figureTwoSmall(t *tally) {
	for _, k := range []int{2, 8} {
		before := two
		for _, eps := range []string{"0.1", "0.01", "0.001"} {
			flip, exp := ratios(t.ctx, 4, k, epsilonOf(eps), lp.Prior{}, false)
			_, high := bounds(exp)
			_, own := bounds(flip)
			t.expect(less(high, before) && own.Cmp(high) <= 0, "k = %d, ε = %s: %s for the exponential mechanism, %s for permute-and-flip", k, eps, short(high), short(own))
			before = high
		}
		t.expect(less(before, rat(1001, 1000)), "k = %d, ε = 0.001: %s", k, short(before))
		t.see("k = %d, ε = 0.001: at most %s", k, short(before))
	}
}

// programOfAppendixD compares the optimum of the printed program with that of the program that has all rows of privacy and monotonicity between score vectors of Q(n,k).
func programOfAppendixD(sizes ...[2]int) check {
	return onLattices(sizes, "21/8, 3/2", "exact linear programs", func(t *tally, n, k int, z *big.Rat) {
		printed, own := newProgram(n, k, z, lp.Paper).optimum(t)
		whole, _ := newProgram(n, k, z, lp.Full).optimum(t)
		t.expect(printed.Cmp(whole) == 0, "Q(%d,%d), e^ε = %s: permute-and-flip's total error is %s of the program's optimum, but only %s of the least that a table can have which is ε-DP between all neighbors of Q(%d,%d) and monotone",
			n, k, inv(z).RatString(), quo(own, printed).RatString(), quo(own, whole).RatString(), n, k)
	})
}

// unreduced minimises the total error over all tables on Q(n,k), symmetric or not, that are private towards the worst neighbors.
func unreduced(ctx context.Context, n, k int, z *big.Rat) *big.Rat {
	at := map[string]int32{}
	vectors := onTop(n, k)
	for i, depths := range vectors {
		at[fmt.Sprint(depths)] = int32(i * n)
	}
	var rows []inequality
	cost := map[int32]*big.Rat{}
	for i, depths := range vectors {
		whole := inequality{one, one, map[int32]*big.Rat{}}
		for r, v := range depths {
			j := int32(i*n + r)
			whole.at[j], cost[j] = one, rat(int64(v), 1)
			up := slices.Clone(depths) // q + 2Δe_r, shifted so that the best is 0
			if up[r]--; up[r] < 0 {
				for s := range up {
					up[s]++
				}
			}
			if to, ok := at[fmt.Sprint(up)]; ok && to+int32(r) != j {
				rows = append(rows, inequality{zero, nil, map[int32]*big.Rat{j: one, to + int32(r): new(big.Rat).Neg(z)}})
			}
		}
		rows = append(rows, whole)
	}
	least, _ := minimise(ctx, len(vectors)*n, rows, cost)
	return least
}

// onTop returns the vectors of {0, …, k}^n with a 0.
func onTop(n, k int) [][]int {
	return slices.DeleteFunc(boxes(n, k), func(depths []int) bool { return slices.Min(depths) > 0 })
}

// dualRecurrence evaluates the recurrence for y in units of 2Δ, over all score vectors, and checks equations 10 and 11 and the dual objective.
func dualRecurrence(exps string) check {
	return onLattices([][2]int{{3, 4}, {4, 3}, {5, 2}}, exps, "exact", func(t *tally, n, k int, z *big.Rat) {
		solve := dualPoint(n, k, z)
		total := zero
		for _, depths := range onTop(n, k) {
			for r, y := range solve(depths) {
				low, high := zero, rat(int64(depths[r]), 1)
				if depths[r] == 0 {
					low, total = rat(-1, ties(depths)), add(total, y)
				}
				t.expect(low.Cmp(y) <= 0 && y.Cmp(high) <= 0, "e^ε = %s, depths %v, candidate %d: y = %s in units of 2Δ", inv(z).RatString(), depths, r, short(y))
			}
		}
		p := newProgram(n, k, z, lp.Paper)
		t.same(new(big.Rat).Neg(total), value(p.total(), p.table(pf)), "Q(%d,%d), e^ε = %s: the dual value", n, k, inv(z).RatString())
	})
}

// dualPoint is the recurrence.
func dualPoint(n, k int, z *big.Rat) func(depths []int) []*big.Rat {
	return byDepths(func(depths []int, solve func([]int) []*big.Rat) []*big.Rat {
		y, top, best := zeros(n), zero, ties(depths) // top is Σ y_s over the best
		for r, v := range depths {
			if v > 0 || best == 1 {
				continue
			}
			down := slices.Clone(depths)
			for u := 1; u <= k; u++ {
				down[r] = u
				y[r] = sub(y[r], quo(mul(power(z, u), solve(down)[r]), rat(best, 1)))
			}
			top = add(top, y[r])
		}
		for r, v := range depths {
			if v > 0 {
				y[r] = add(rat(int64(v), 1), top)
			}
		}
		return y
	})
}

// byDepths returns a function of depths that f defines by itself.
func byDepths(f func(depths []int, itself func([]int) []*big.Rat) []*big.Rat) (solve func([]int) []*big.Rat) {
	memo := map[string][]*big.Rat{}
	solve = func(depths []int) []*big.Rat {
		key := fmt.Sprint(depths)
		if memo[key] == nil {
			memo[key] = f(depths, solve)
		}
		return memo[key]
	}
	return solve
}

// ties counts the best candidates.
func ties(depths []int) int64 {
	return int64(len(depths) - len(slices.DeleteFunc(slices.Clone(depths), func(v int) bool { return v == 0 })))
}
