package claims

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/heterogeneous"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/verify"
)

func init() {
	private := []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Sum}
	register(Own, map[string]check{
		"Extension": extension(private),
		"Resolution, Theorem 1": steps(suite{
			mechanism: named("geo"), properties: append([]verify.Property{verify.Monotone}, private...), lattices: [][2]int{{2, 3}, {3, 2}}, exps: []string{"11/10", "4"},
		}, 1, 2, 3),
		"Resolution, Theorem 2":    geometricIsFlip,
		"Resolution, Theorem 4":    halfStep,
		"Resolution, Theorem 5":    neverOptimal,
		"Heterogeneous, Theorem 1": twoLargest,
		"Heterogeneous, Theorem 2": twoSensitivities,
		"Heterogeneous, Theorem 3": withinReach,
		"Heterogeneous, Theorem 4": halfOfEpsilon,
		"Calibration":              calibration,
		"Monotonic scores":         oneWay,
	})
}

// steps runs a suite on lattices of several steps.
func steps(s suite, each ...int) check {
	return func(t *tally) Finding {
		var domain string
		for i, step := range each {
			s.step = step
			f := s.check(t)
			if f.Verdict != Holds {
				return f
			}
			if i > 0 {
				domain += "; "
			}
			domain += f.Domain
		}
		return Finding{Verdict: Holds, Domain: domain}
	}
}

func extension(properties []verify.Property) check {
	return func(t *tally) Finding {
		var domain string
		for _, c := range []struct{ n, k, step, deeper, finer int }{{2, 2, 1, 4, 2}, {3, 2, 1, 3, 2}, {3, 1, 2, 2, 4}, {4, 1, 1, 2, 1}} {
			f := suite{mechanism: lp.Extended(c.k, c.step), properties: properties, lattices: [][2]int{{c.n, c.deeper}}, step: c.finer, exps: []string{"3/2"}}.check(t)
			if f.Verdict != Holds {
				return f
			}
			if domain != "" {
				domain += "; "
			}
			domain += fmt.Sprintf("optimum of Q(%d,%d), step 2Δ/%d, on %s", c.n, c.k, c.step, f.Domain)
		}
		return Finding{Verdict: Holds, Domain: domain}
	}
}

func geometricIsFlip(t *tally) Finding {
	geo := named("geo")
	for _, s := range [][2]int{{2, 5}, {3, 4}, {4, 2}} {
		for _, exp := range []string{"11/10", "3"} {
			for _, depths := range boxes(s[0], s[1]) {
				if slices.Min(depths) > 0 {
					continue
				}
				in := mechanisms.OnLattice(depths, fromExp(exp))
				x := must(mechanisms.ExactDistribution(geo, in))
				y := must(mechanisms.ExactDistribution(pf, in))
				t.expect(equal(x, y), "depths %v, e^ε = %s: %s and %s", depths, exp, text(x), text(y))
			}
		}
	}
	return t.finding("Q(2,5), Q(3,4), Q(4,2), e^ε = 11/10, 3, exact", "")
}

// finer returns the ratios of permute-and-flip and geometric noisy max to the optimum on the lattice of step 2Δ/L, which are exact where e^{ε/L} is rational.
func finer(ctx context.Context, n, k, step int, exp string) (flip, geo lp.Rated) {
	a := must(lp.Ratio(ctx, lp.Request{N: n, K: k, Step: step, Epsilon: fromExp(exp), Level: lp.DP, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), named("geo")}, Gap: rat(1, 1000000000)}))
	if a.Undecided != "" {
		panic(fmt.Sprintf("n = %d, k = %d, L = %d: %s", n, k, step, a.Undecided))
	}
	return a.Mechanisms[0], a.Mechanisms[1]
}

func halfStep(t *tally) Finding {
	for _, k := range []int{1, 2, 4} {
		for _, exp := range []string{"121/100", "9/4", "49"} {
			flip, geo := finer(t.ctx, 2, k, 2, exp)
			ratio, ok := geo.Ratio.Rat()
			t.expect(ok && ratio.Cmp(rat(1, 1)) == 0, "k = %d, e^ε = %s: geometric noisy max has ratio %s", k, exp, geo.Ratio)
			low, ok := flip.Ratio.Lower()
			t.expect(ok && less(rat(1, 1), low), "k = %d, e^ε = %s: permute-and-flip has ratio %s", k, exp, flip.Ratio)
		}
	}
	return t.finding("n = 2, k = 1, 2, 4, e^ε = 121/100, 9/4, 49, exact linear programs with all rows", "")
}

func neverOptimal(t *tally) Finding {
	smallest := rat(1000, 1)
	for _, c := range []struct{ n, k, step int }{{2, 2, 2}, {2, 2, 3}, {3, 1, 2}, {3, 2, 2}, {4, 1, 2}, {3, 1, 3}} {
		for _, exp := range []string{"11/10", "2", "10"} {
			flip, _ := finer(t.ctx, c.n, c.k, c.step, exp)
			low, ok := flip.Ratio.Lower()
			t.expect(ok && less(rat(1, 1), low), "n = %d, k = %d, L = %d, e^ε = %s: ratio %s", c.n, c.k, c.step, exp, flip.Ratio)
			if ok && less(low, smallest) {
				smallest = low
			}
		}
	}
	return t.finding("(n, k, L) = (2,2,2), (2,2,3), (3,1,2), (3,2,2), (4,1,2), (3,1,3), e^ε = 11/10, 2, 10, mean error, certified ratios above 1", "smallest ratio "+decimals(smallest, 8))
}

// scores lists all vectors of {0, 1, …, k}^n times a factor.
func scores(n, k int, times *big.Rat) [][]*big.Rat {
	var out [][]*big.Rat
	for _, q := range boxes(n, k) {
		v := make([]*big.Rat, n)
		for i, x := range q {
			v[i] = mul(rat(int64(x), 1), times)
		}
		out = append(out, v)
	}
	return out
}

// private expects a mechanism to be DP around the vectors and returns the result.
func (t *tally) private(name string, e mechanisms.Epsilon, deltas []*big.Rat, vectors [][]*big.Rat) *verify.Result {
	report := must(verify.Scores(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: e, Sensitivities: deltas}, vectors, verify.Linf, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
	r := report.Find(verify.DP)
	if r.Verdict == verify.Undecided {
		t.unsettled = fmt.Sprintf("%s, sensitivities %s: %s", name, text(deltas), r.Reason)
		ensure(t.ctx.Err())
		return r
	}
	t.expect(r.Verdict == verify.Proved, "%s, sensitivities %s: %s", name, text(deltas), r.Witness)
	return r
}

func twoLargest(t *tally) Finding {
	var checked int64
	for _, deltas := range [][]*big.Rat{{rat(1, 1), rat(3, 1)}, {rat(0, 1), rat(2, 1)}, {rat(1, 1), rat(1, 1), rat(4, 1)}, {rat(1, 1), rat(2, 1), rat(4, 1)}} {
		for _, name := range []string{"pf-pair", "geo-pair"} {
			r := t.private(name, fromExp("2"), deltas, scores(len(deltas), 4-len(deltas)/3, rat(1, 1)))
			checked += r.Checked
		}
	}
	return t.finding(fmt.Sprintf("sensitivities (1,3), (0,2), (1,1,4), (1,2,4), integer scores and all their neighbors, e^ε = 2; %d comparisons, exact", checked), "")
}

// solved returns the exact optimum of a grid 0, 1, …, k for two candidates.
func solved(ctx context.Context, k int, deltas []*big.Rat, e mechanisms.Epsilon, invariant bool) *big.Rat {
	a := must(heterogeneous.Solve(ctx, heterogeneous.Request{Grid: heterogeneous.Grid{Sensitivities: deltas, From: new(big.Rat), Step: rat(1, 1), Steps: k, ShiftInvariant: invariant}, Epsilon: e}))
	if x, ok := a.Optimum.Rat(); ok && a.Undecided == "" {
		return x
	}
	panic("no exact optimum: " + a.Undecided)
}

// meanGap returns the mean over the grid of the gap times the probability of the worse candidate.
func meanGap(k int, wrong func(gap int) *big.Rat) *big.Rat {
	total := new(big.Rat)
	for gap := 1; gap <= k; gap++ {
		total.Add(total, mul(rat(int64(2*(k+1-gap)*gap), 1), wrong(gap)))
	}
	return quo(total, rat(int64((k+1)*(k+1)), 1))
}

func twoSensitivities(t *tally) Finding {
	for _, k := range []int{2, 5} {
		for _, exp := range []string{"9/8", "3"} {
			z, _ := fromExp(exp).Z()
			for _, deltas := range [][]*big.Rat{{rat(1, 2), rat(1, 2)}, {rat(0, 1), rat(5, 4)}, {rat(1, 1), rat(1, 1)}, {rat(1, 2), rat(2, 1)}} {
				reach := add(deltas[0], deltas[1])
				got := solved(t.ctx, k, deltas, fromExp(exp), true)
				want := meanGap(k, func(gap int) *big.Rat {
					switch {
					case less(reach, rat(2, 1)):
						return quo(power(z, gap), rat(2, 1))
					case gap%2 == 0:
						return quo(power(z, gap/2), rat(2, 1))
					}
					return quo(power(z, (gap+1)/2), add(rat(1, 1), z))
				})
				t.expect(got.Cmp(want) == 0, "grid 0..%d, e^ε = %s, sensitivities %s: optimum %s, by the formula %s", k, exp, text(deltas), got.RatString(), want.RatString())
			}
		}
	}
	return t.finding("grids 0..2 and 0..5, e^ε = 9/8, 3, sensitivities (1/2,1/2), (0,5/4), (1,1), (1/2,2), exact linear programs", "")
}

func withinReach(t *tally) Finding {
	for _, k := range []int{1, 2, 4} {
		for _, exp := range []string{"9/8", "2", "7"} {
			z, _ := fromExp(exp).Z()
			d := rat(int64(k), 1)
			got := solved(t.ctx, k, []*big.Rat{d, d}, fromExp(exp), false)
			want := meanGap(k, func(int) *big.Rat { return quo(z, add(rat(1, 1), z)) })
			t.expect(got.Cmp(want) == 0, "grid 0..%d, e^ε = %s: optimum %s, randomised response %s", k, exp, got.RatString(), want.RatString())
		}
	}
	return t.finding("grids 0..1, 0..2, 0..4 with sensitivities as wide, e^ε = 9/8, 2, 7, exact linear programs over all mechanisms", "")
}

func halfOfEpsilon(t *tally) Finding {
	for _, deltas := range [][]*big.Rat{{rat(1, 1), rat(1, 1)}, {rat(1, 1), rat(2, 1)}, {rat(1, 1), rat(4, 1)}} {
		for _, name := range []string{"gem", "mgem"} {
			e := fromExp("4")
			r := t.private(name, e, deltas, scores(2, 6, rat(3, 1)))
			tight, ok := r.TightEps.Upper()
			half := e.Value(precision).Mul(enclose(rat(1, 2)))
			t.expect(ok, "%s, sensitivities %s: no tight ε", name, text(deltas))
			if ok {
				above, decided := half.Add(enclose(rat(1, 1<<50))).Cmp(interval.FromRat(tight, precision))
				t.expect(decided && above > 0, "%s, sensitivities %s: tight ε %s", name, text(deltas), r.TightEps)
			}
		}
	}
	return t.finding("gem and mgem, sensitivities (1,1), (1,2), (1,4), scores 0, 3, …, 18 and their neighbors, e^ε = 4: tight ε at most ε/2 + 10^-15, enclosed", "")
}

func calibration(t *tally) Finding {
	var seen string
	for _, exp := range []string{"11/10", "3"} {
		want := fromExp(exp).Exp()
		for _, n := range []int{2, 4} {
			for _, name := range []string{"pf", "em"} {
				var last *big.Rat
				for _, k := range []int{1, 2, 3, 5} {
					report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: fromExp(exp)}, n, k, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
					tight := report.Find(verify.DP).TightExpEps
					if tight == nil {
						return t.undecided(name + ": the tight e^ε is not rational")
					}
					if name == "pf" {
						t.expect(tight.Cmp(want) == 0, "pf, Q(%d,%d), e^ε = %s: tight e^ε %s", n, k, exp, tight.RatString())
					} else {
						t.expect(less(tight, want) && (last == nil || less(last, tight)), "em, Q(%d,%d), e^ε = %s: tight e^ε %s", n, k, exp, tight.RatString())
						last = tight
					}
				}
				if name == "em" && exp == "3" {
					seen += fmt.Sprintf("em at n = %d, k = 5, e^ε = 3: tight e^ε %s; ", n, decimals(last, 5))
				}
			}
		}
	}
	return t.finding("n = 2, 4, k = 1, 2, 3, 5, e^ε = 11/10, 3, exact: equal to e^ε for pf, below it and rising with k for em", seen[:max(0, len(seen)-2)])
}

func oneWay(t *tally) Finding {
	for _, name := range []string{"pf", "em", "geo", "krr", "rnm-laplace"} {
		for _, s := range [][2]int{{2, 3}, {3, 2}} {
			var tight [2]*verify.Result
			for i, monotonic := range []bool{false, true} {
				report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: fromExp("2"), Monotonic: monotonic}, s[0], s[1], verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
				tight[i] = report.Find(verify.DP)
			}
			same := tight[0].Verdict == verify.Proved && tight[1].Verdict == verify.Proved && tight[0].TightEps.String() == tight[1].TightEps.String()
			t.expect(same, "%s, Q(%d,%d): tight ε %s either way, %s one way", name, s[0], s[1], tight[0].TightEps, tight[1].TightEps)
		}
	}
	return t.finding("pf, em, geo, krr, rnm-laplace, Q(2,3), Q(3,2), e^ε = 2: the tight ε on the lattice of step Δ, one way, is that on the lattice of step 2Δ, either way", "")
}
