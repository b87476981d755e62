package claims

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/lattice"
	"optratio/lp"
	"optratio/lp/variant"
	"optratio/mechanisms/totals"
	"optratio/number/interval"
)

func init() {
	register(Own, map[string]check{
		"Threshold, Theorem 1":               thresholdIs(func(z *big.Rat, k int) bool { return plain(z, k).Cmp(rat(1, 1)) <= 0 }),
		"Threshold, ln 2":                    lnTwo,
		"Threshold, Theorems 2 and 3":        boxThreshold,
		"Threshold of the relaxed program":   relaxedThreshold,
		"Levels, monotone implies dp":        worstRowsSuffice(true),
		"Levels, universal bound":            universalBound,
		"Levels, closed-form bound":          closedFormBound,
		"Total of permute-and-flip":          totalOfFlip,
		"Total of the exponential mechanism": totalOfExponential,
		"Losses, Theorem 1":                  productPriors,
		"Losses, the prior 2^-depth":         halvingPrior,
		"Losses, Theorem 2":                  anyPrior,
	})
}

// plain and weighted are the sums Σ z^v and Σ v z^v, v = 1, …, k.
func plain(z *big.Rat, k int) *big.Rat {
	total := new(big.Rat)
	for v := 1; v <= k; v++ {
		total.Add(total, power(z, v))
	}
	return total
}

func weighted(z *big.Rat, k int) *big.Rat {
	total := new(big.Rat)
	for v := 1; v <= k; v++ {
		total.Add(total, mul(rat(int64(v), 1), power(z, v)))
	}
	return total
}

// optimal reports whether permute-and-flip attains the exact minimum of Σ weight(m) loss(v) x over the rows of a program.
func optimal(ctx context.Context, p *program, cost map[int32]*big.Rat) bool {
	least, _ := p.minimise(ctx, cost)
	own := value(cost, p.table(pf))
	return least.Cmp(own) == 0
}

// thresholdIs checks a criterion against exact optima of all levels, on both sides of the golden ratio, of the tribonacci constant and elsewhere.
func thresholdIs(criterion func(z *big.Rat, k int) bool) check {
	return func(t *tally) Finding {
		sizes := [][2]int{{2, 3}, {3, 1}, {3, 2}, {3, 3}, {4, 2}}
		exps := []string{"5/4", "1617/1000", "1619/1000", "1839/1000", "1840/1000", "3"}
		for _, s := range sizes {
			for _, exp := range exps {
				z, _ := fromExp(exp).Z()
				want := s[0] <= 2 || s[1] == 1 || criterion(z, s[1])
				for _, level := range []lp.Level{lp.Paper, lp.DP, lp.Monotone, lp.Full} {
					p := newProgram(s[0], s[1], z, level)
					got := optimal(t.ctx, p, p.total())
					t.expect(got == want, "Q(%d,%d), e^ε = %s, level %s: optimal is %v", s[0], s[1], exp, level, got)
				}
			}
		}
		return t.finding(names(sizes)+", e^ε = "+strings.Join(exps, ", ")+", all four levels, exact linear programs", "")
	}
}

func lnTwo(t *tally) Finding {
	two, below := fromExp("2"), fromExp("1999999/1000000")
	for n := 1; n <= 40; n++ {
		for k := 1; k <= 40; k++ {
			t.expect(lp.PermuteAndFlipOptimal(n, k, totals.Paper, two), "Q(%d,%d) at ε = ln 2", n, k)
		}
	}
	first := 0
	for k := 1; k <= 40 && first == 0; k++ {
		if !lp.PermuteAndFlipOptimal(3, k, totals.Paper, below) {
			first = k
		}
	}
	t.expect(first > 0, "e^ε = 1.999999: optimal for all k <= 40")
	return t.finding("n, k <= 40 at ε = ln 2 and n = 3 at e^ε = 1.999999, by the exact criterion", fmt.Sprintf("at e^ε = 1.999999 optimal for k < %d, not for k = %d", first, first))
}

func boxThreshold(t *tally) Finding {
	f := func(z *big.Rat, k int) *big.Rat {
		total := new(big.Rat)
		for j := 1; j <= k; j++ {
			total.Add(total, mul(weighted(z, j), sub(rat(1, 1), plain(z, j))))
		}
		return total
	}
	exps := []string{"7/5", "178/100", "179/100", "1839/1000", "1840/1000", "193/100"}
	for _, s := range [][2]int{{3, 2}, {3, 3}, {3, 4}, {4, 2}, {4, 3}} {
		for _, exp := range exps {
			z, _ := fromExp(exp).Z()
			p := newProgram(s[0], s[1], z, lp.Paper)
			cost := map[int32]*big.Rat{}
			for j, c := range p.total() {
				deepest := int64(lattice.Deepest(lattice.Count(p.depths(j), s[1])))
				cost[j] = mul(c, rat(int64(s[1])-deepest+1, 1))
			}
			got := optimal(t.ctx, p, cost)
			want := plain(z, s[1]).Cmp(rat(1, 1)) <= 0
			if s[0] == 3 {
				want = f(z, s[1]).Sign() >= 0
			}
			t.expect(got == want, "Q(%d,%d), e^ε = %s: optimal is %v", s[0], s[1], exp, got)
		}
	}
	for k := 2; k <= 12; k++ {
		changes, before := 0, 1
		for i := int64(1); i < 200; i++ {
			now := f(rat(i, 200), k).Sign()
			if now != before {
				changes++
			}
			before = now
		}
		t.expect(changes == 1 && before < 0, "k = %d: F changes its sign %d times on a grid", k, changes)
	}
	return t.finding("Q(3,2), Q(3,3), Q(3,4), Q(4,2), Q(4,3), e^ε = "+strings.Join(exps, ", ")+", exact linear programs; signs of F_k for k <= 12 on a grid of 199", "")
}

// relaxedProgram is the relaxed program of Appendix D: each probability below the top is tied to that of the same candidate raised to the top.
func relaxedProgram(n, k int, z *big.Rat) *program {
	full := newProgram(n, k, z, lp.Paper)
	p := &program{vars: full.vars, z: z, rows: full.rows[:full.vars.Lattice.Len()]}
	for j, v := range p.vars.Depth {
		if v > 0 {
			p.rows = append(p.rows, inequality{lower: new(big.Rat), at: map[int32]*big.Rat{int32(j): rat(1, 1), p.raised(int32(j)): new(big.Rat).Neg(power(z, int(v)))}})
		}
	}
	return p
}

func relaxedThreshold(t *tally) Finding {
	sizes := [][2]int{{2, 3}, {3, 1}, {3, 2}, {3, 3}, {3, 6}, {4, 2}, {4, 3}}
	exps := []string{"5/4", "2", "205/100", "23/10", "5/2", "21/8"}
	for _, s := range sizes {
		for _, exp := range exps {
			z, _ := fromExp(exp).Z()
			p := relaxedProgram(s[0], s[1], z)
			got := optimal(t.ctx, p, p.total())
			want := s[0] <= 2 || weighted(z, s[1]).Cmp(rat(1, 1)) <= 0
			t.expect(got == want, "Q(%d,%d), e^ε = %s: optimal is %v", s[0], s[1], exp, got)
		}
	}
	return t.finding(names(sizes)+", e^ε = "+strings.Join(exps, ", ")+", exact linear programs", "")
}

// optima calls visit with the exact optimum of each level and permute-and-flip's total error, on some lattices.
func optima(ctx context.Context, visit func(n, k int, z, optimum, flip *big.Rat, level lp.Level)) {
	for _, s := range [][2]int{{2, 3}, {3, 2}, {3, 3}, {4, 2}} {
		for _, z := range []*big.Rat{rat(10, 11), rat(4, 5), rat(2, 3), rat(1, 4)} {
			for _, level := range []lp.Level{lp.Paper, lp.Monotone} {
				p := newProgram(s[0], s[1], z, level)
				least, _ := p.minimise(ctx, p.total())
				visit(s[0], s[1], z, least, value(p.total(), p.table(pf)), level)
			}
		}
	}
}

const optimaDomain = "Q(2,3), Q(3,2), Q(3,3), Q(4,2), e^ε = 11/10, 5/4, 3/2, 4, levels paper and monotone, exact linear programs"

func universalBound(t *tally) Finding {
	largest := rat(1, 1)
	optima(t.ctx, func(n, k int, z, optimum, flip *big.Rat, level lp.Level) {
		ratio := quo(flip, optimum)
		largest = larger(largest, ratio)
		bound := add(rat(1, 1), plain(z, k))
		if half := rat(int64(n), 2); level == lp.Monotone && less(half, bound) {
			bound = half
		}
		t.expect(ratio.Cmp(bound) <= 0, "Q(%d,%d), z = %s, level %s: ratio %s", n, k, z.RatString(), level, decimals(ratio, 8))
	})
	return t.finding(optimaDomain, "largest ratio "+decimals(largest, 6))
}

func closedFormBound(t *tally) Finding {
	closest := new(big.Rat)
	optima(t.ctx, func(n, k int, z, optimum, flip *big.Rat, level lp.Level) {
		count := sub(sub(power(rat(int64(k)+1, 1), n), power(rat(int64(k), 1), n)), mul(rat(int64(n), 1), power(rat(int64(k), 1), n-1)))
		bound := mul(quo(weighted(z, k), add(rat(1, 1), plain(z, k))), count)
		closest = larger(closest, quo(bound, optimum))
		t.expect(bound.Cmp(optimum) <= 0, "Q(%d,%d), z = %s, level %s: bound %s, optimum %s", n, k, z.RatString(), level, short(bound, 8), short(optimum, 8))
	})
	return t.finding(optimaDomain, "largest quotient of bound and optimum "+decimals(closest, 4))
}

func totalOfFlip(t *tally) Finding {
	for n := 1; n <= 5; n++ {
		for k := 1; k <= 4; k++ {
			for _, z := range []*big.Rat{rat(10, 11), rat(1, 3)} {
				p := newProgram(n, k, z, lp.Paper)
				got := value(p.total(), p.table(pf))
				low := plain(z, k)
				high := add(rat(1, 1), low)
				part := func(base int, b *big.Rat) *big.Rat {
					x := rat(int64(base), 1)
					return quo(sub(power(x, n), power(sub(x, b), n)), b)
				}
				want := mul(weighted(z, k), sub(part(k+1, high), part(k, low)))
				t.expect(got.Cmp(want) == 0, "Q(%d,%d), z = %s: %s, by the formula %s", n, k, z.RatString(), got.RatString(), want.RatString())
			}
		}
	}
	return t.finding("n <= 5, k <= 4, e^ε = 11/10, 3, exact", "")
}

func totalOfExponential(t *tally) Finding {
	for _, s := range [][2]int{{2, 4}, {3, 3}, {5, 2}, {6, 4}} {
		for _, z := range []*big.Rat{rat(10, 11), rat(1, 3)} {
			p := newProgram(s[0], s[1], z, lp.Paper)
			exact := value(p.total(), p.table(em))
			box := must(totals.Exponential(t.ctx, s[0], s[1], func(prec uint) interval.Interval { return interval.FromRat(z, prec) }, totals.Paper, 1e-12))
			t.expect(box.Contains(exact), "Q(%d,%d), z = %s: %s is not in %s", s[0], s[1], z.RatString(), exact.RatString(), box)
		}
	}
	return t.finding("Q(2,4), Q(3,3), Q(5,2), Q(6,4), e^ε = 11/10, 3: the integral, enclosed to 10^-12, against exact sums", "")
}

// losses are the mean error, its square, top-1 and the tail of two steps.
var losses = map[string]func(v int) *big.Rat{
	"mean":   func(v int) *big.Rat { return rat(int64(v), 1) },
	"square": func(v int) *big.Rat { return rat(int64(v*v), 1) },
	"top-1":  func(v int) *big.Rat { return rat(int64(min(v, 1)), 1) },
	"tail:2": func(v int) *big.Rat { return rat(int64(min(v/2, 1)), 1) },
}

// cost returns the coefficients of a loss under a prior that gives a score vector the weight of its depths.
func (p *program) cost(loss func(v int) *big.Rat, weight func(depths []int) *big.Rat) map[int32]*big.Rat {
	at := map[int32]*big.Rat{}
	for j, v := range p.vars.Depth {
		depths := p.depths(int32(j))
		n := new(big.Rat).SetInt(lattice.Multiplicity(lattice.Count(depths, p.vars.Lattice.K())))
		at[int32(j)] = mul(mul(n, weight(depths)), mul(rat(int64(p.vars.Count[j]), 1), loss(int(v))))
	}
	return at
}

// product is the prior Π g(depth).
func product(g func(v int) *big.Rat) func(depths []int) *big.Rat {
	return func(depths []int) *big.Rat {
		w := rat(1, 1)
		for _, v := range depths {
			w = mul(w, g(v))
		}
		return w
	}
}

func productPriors(t *tally) Finding {
	var yes, no int
	for _, s := range [][2]int{{3, 2}, {3, 3}, {4, 2}} {
		for _, z := range []*big.Rat{rat(9, 10), rat(2, 3), rat(1, 3)} {
			p := newProgram(s[0], s[1], z, lp.Paper)
			for _, rho := range []*big.Rat{rat(1, 2), rat(4, 5), rat(1, 1), rat(3, 1)} {
				g := func(v int) *big.Rat { return power(rho, v) }
				want := plain(mul(z, rho), s[1]).Cmp(rat(1, 1)) <= 0
				for name, loss := range losses {
					got := optimal(t.ctx, p, p.cost(loss, product(g)))
					if got {
						yes++
					} else {
						no++
					}
					t.expect(got == want, "Q(%d,%d), z = %s, g(u) = (%s)^u, loss %s: optimal is %v", s[0], s[1], z.RatString(), rho.RatString(), name, got)
				}
			}
		}
	}
	return t.finding("Q(3,2), Q(3,3), Q(4,2), z = 9/10, 2/3, 1/3, g(u) = (1/2)^u, (4/5)^u, 1, 3^u, four losses, exact linear programs", fmt.Sprintf("optimal in %d cases, not in %d", yes, no))
}

func halvingPrior(t *tally) Finding {
	half := func(v int) *big.Rat { return power(rat(1, 2), v) }
	for _, s := range [][2]int{{2, 4}, {3, 4}, {4, 3}, {5, 2}} {
		for _, z := range []*big.Rat{rat(999, 1000), rat(9, 10), rat(1, 2)} {
			p := newProgram(s[0], s[1], z, lp.Paper)
			got := optimal(t.ctx, p, p.cost(losses["mean"], product(half)))
			t.expect(got, "Q(%d,%d), z = %s: not optimal", s[0], s[1], z.RatString())
		}
	}
	return t.finding("Q(2,4), Q(3,4), Q(4,3), Q(5,2), z = 0.999, 0.9, 0.5, exact linear programs", "")
}

func anyPrior(t *tally) Finding {
	var yes int
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range [][2]int{{3, 2}, {3, 3}, {4, 2}} {
		for _, exp := range []string{"5/4", "8/5", "9/4"} {
			z, _ := fromExp(exp).Z()
			p := newProgram(s[0], s[1], z, lp.Paper)
			for range 8 {
				weights := map[string]*big.Rat{}
				var vectors [][]int
				var each []*big.Rat
				for _, m := range p.vars.Lattice.All() {
					depths := lattice.Depths(m)
					w := rat(1+rng.Int64N(4), 1)
					weights[fmt.Sprint(depths)] = w
					vectors = append(vectors, depths)
					each = append(each, mul(w, new(big.Rat).SetInt(lattice.Multiplicity(m))))
				}
				prior := must(variant.Weighted(vectors, each))
				q := must(variant.New(variant.Question{N: s[0], K: s[1], Epsilon: fromExp(exp), Prior: prior}))
				want, decided := q.PermuteAndFlipOptimal()
				got := optimal(t.ctx, p, p.cost(losses["mean"], func(depths []int) *big.Rat { return weights[fmt.Sprint(depths)] }))
				if got {
					yes++
				}
				t.expect(decided && got == want, "Q(%d,%d), e^ε = %s, weights %v: optimal is %v, by the recurrence %v", s[0], s[1], exp, weights, got, want)
			}
		}
	}
	return t.finding("Q(3,2), Q(3,3), Q(4,2), e^ε = 5/4, 8/5, 9/4, eight random priors each, exact linear programs against the recurrence", fmt.Sprintf("optimal in %d of %d cases", yes, t.checked))
}
