package claims

import (
	"fmt"
	"math/big"

	"optratio/lp/linear"
	"optratio/lp/variant"
	"optratio/mechanisms"
	"optratio/number/interval"
)

func init() {
	register(Own, map[string]check{
		"Exponential mechanism over permute-and-flip":        pointwise,
		"Theorem 2 of McKenna & Sheldon, one change of sign": oneChange,
		"Proposition 4 of McKenna & Sheldon, the mean":       meanIsWorse,
		"Worst error of the exponential mechanism":           lambert,
		"Report noisy max, two candidates":                   twoCandidates,
		"Minimax, Theorem 1":                                 minimaxBound,
		"Minimax, Theorem 2":                                 worstTails,
		"Minimax, Theorem 3":                                 minimaxFactors,
	})
}

func pointwise(t *tally) Finding {
	largest := new(big.Rat)
	for p := range vectors(t.ctx, 6) {
		flip, exp := distribution(pf, p), distribution(em, p)
		best := int64(0)
		for _, w := range p {
			if w.Cmp(rat(1, 1)) == 0 {
				best++
			}
		}
		for r := range p {
			if p[r].Cmp(rat(1, 1)) == 0 {
				continue
			}
			s := sub(sum(p), p[r])
			ratio := quo(exp[r], flip[r])
			bound := quo(add(rat(1, 1), s), add(p[r], s))
			t.expect(ratio.Cmp(bound) <= 0 && less(bound, add(rat(1, 1), rat(1, best))), "weights %s, candidate %d: ratio %s", text(p), r, short(ratio, 8))
			largest = larger(largest, ratio)
		}
	}
	return t.finding("n <= 6, "+wideDomain+", exact", "largest ratio of probabilities "+decimals(largest, 7))
}

func oneChange(t *tally) Finding {
	for p := range vectors(t.ctx, 6) { // in ascending order
		flip, exp := distribution(pf, p), distribution(em, p)
		positive := false
		for r := range p {
			s := sub(flip[r], exp[r]).Sign()
			t.expect(!positive || s >= 0, "weights %s: negative at %d after a positive difference", text(p), r)
			positive = positive || s > 0
		}
	}
	return t.finding("n <= 6, "+wideDomain+", exact", "")
}

func meanIsWorse(t *tally) Finding {
	for _, others := range [][]*big.Rat{{}, {rat(1, 100)}, {rat(1, 2)}, {rat(1, 1)}, {rat(1, 10), rat(9, 10)}} {
		for i, x := range fractions(10) {
			for _, y := range fractions(10)[i+1:] {
				m := quo(add(x, y), rat(2, 1))
				before := append([]*big.Rat{x, y, rat(1, 1)}, others...)
				after := append([]*big.Rat{m, m, rat(1, 1)}, others...)
				low, high := meanError(before, distribution(pf, before)), meanError(after, distribution(pf, after))
				t.expect(below(low, high), "weights %s: error %.6f, with the mean %.6f", text(before), low.Near(), high.Near())
			}
		}
	}
	return t.finding("pairs from 1/10, …, 1, five sets of other candidates, enclosed", fmt.Sprintf("%d pairs", t.checked))
}

// lambert compares the enclosed peak of formula 7 with W((n-1)/e): with x the peak, x e^x = (n-1)/e.
func lambert(t *tally) Finding {
	for _, n := range []int{2, 3, 4, 10, 100, 10000, 1000000} {
		exp, _ := peaks(n)
		want := enclose(rat(int64(n)-1, 1)).Quo(interval.ExpRat(rat(1, 1), precision))
		low, high := exp.value.Mul(enclose(sub(one, rat(1, 1e7)))), exp.value.Mul(enclose(add(one, rat(1, 1e7))))
		t.atMost(low.Mul(interval.Exp(low)), want, "n = %d: W((n-1)/e) is less than the peak %.8f", n, exp.value.Near())
		t.atMost(want, high.Mul(interval.Exp(high)), "n = %d: W((n-1)/e) is more than the peak %.8f", n, exp.value.Near())
	}
	return t.finding("n = 2, 3, 4, 10, 100, 10^4, 10^6: the largest value of the error over all p, enclosed to 10^-7 without the formula", "")
}

func twoCandidates(t *tally) Finding {
	m := named("rnm-laplace")
	for i := int64(1); i <= 60; i++ {
		c := rat(-i, 4) // d = i/8
		noisy, exp, _ := misses(2, c)
		t.expect(below(exp, noisy), "d = %s: the exponential mechanism misses with %.8f, report noisy max with %.8f", rat(i, 8).RatString(), exp.Near(), noisy.Near())
		d := enclose(rat(i, 8))
		_, same := noisy.Intersect(interval.Exp(d.Neg()).Mul(d.Add(enclose(rat(2, 1)))).Mul(enclose(rat(1, 4))))
		t.expect(same, "d = %s: report noisy max misses with %.8f, not as the formula says", rat(i, 8).RatString(), noisy.Near())
	}
	tied := must(mechanisms.EnclosedDistribution(m, instance(2, new(big.Rat), rat(1, 1), rat(1, 1)), precision))
	t.expect(tied[0].Contains(rat(1, 2)), "equal scores: %s", tied[0])
	return t.finding("d = 1/8, …, 60/8, enclosed", "")
}

// tailBound is the larger bound of Minimax, Theorem 1; less is 1 for monotone mechanisms.
func tailBound(n, less int, p *big.Rat) *big.Rat {
	x := quo(mul(rat(int64(n)-1, 1), p), add(rat(2, 1), mul(rat(int64(n-1-less), 1), p)))
	if y := sub(rat(1, 1), new(big.Rat).Inv(mul(rat(int64(n), 1), p))); y.Cmp(x) > 0 {
		return y
	}
	return x
}

func minimaxBound(t *tally) Finding {
	attained := 0
	for _, s := range [][3]int{{2, 2, 1}, {3, 1, 1}, {3, 2, 1}, {3, 2, 2}, {4, 2, 1}} {
		for _, z := range []*big.Rat{rat(1, 4), rat(3, 5), rat(9, 10)} {
			e := must(mechanisms.FromExp(new(big.Rat).Inv(z)))
			for _, monotone := range []bool{false, true} {
				loss := must(variant.Tail(rat(int64(s[2]), 1)))
				q := must(variant.New(variant.Question{N: s[0], K: s[1], Epsilon: e, Loss: loss, Worst: true, Neighbors: true, Monotone: monotone}))
				got := must(q.Solve(t.ctx, linear.Embedded{}, new(big.Rat), nil))
				if got.Undecided != "" {
					return t.undecided(got.Undecided)
				}
				lower := 0
				if monotone {
					lower = 1
				}
				bound := tailBound(s[0], lower, power(z, s[2]))
				t.expect(bound.Cmp(got.Optimum.High) <= 0, "Q(%d,%d), t = %d·2Δ, z = %s: the optimum %s is below the bound %s", s[0], s[1], s[2], z.RatString(), got.Optimum.High.RatString(), bound.RatString())
				if bound.Cmp(got.Optimum.Low) == 0 {
					attained++
				}
			}
		}
	}
	return t.finding("(n, k, t/2Δ) = (2,2,1), (3,1,1), (3,2,1), (3,2,2), (4,2,1), z = 1/4, 3/5, 9/10, with and without monotonicity, exact linear programs", fmt.Sprintf("the bound is the optimum in %d of %d cases", attained, t.checked))
}

func worstTails(t *tally) Finding {
	for p := range vectors(t.ctx, 6) {
		for _, m := range []struct {
			pmf  mechanisms.Weighted
			name string
			miss func(n int, p *big.Rat) *big.Rat
		}{{pf, "permute-and-flip", missPF}, {em, "the exponential mechanism", missEM}} {
			x := distribution(m.pmf, p)
			for _, most := range p {
				if most.Cmp(rat(1, 1)) < 0 {
					t.expect(tail(p, x, most).Cmp(m.miss(len(p), most)) <= 0, "weights %s, t = (2Δ/ε) ln %s: tail %s of %s, at (0, -t, …, -t) %s",
						text(p), new(big.Rat).Inv(most).RatString(), short(tail(p, x, most), 8), m.name, short(m.miss(len(p), most), 8))
				}
			}
		}
	}
	return t.finding("n <= 6, "+wideDomain+", exact", "")
}

func minimaxFactors(t *tally) Finding {
	limit := enclose(rat(1, 1)).Add(interval.ExpRat(rat(-2, 1), precision))
	largest := new(big.Rat)
	for n := 3; n <= 40; n++ {
		factor := add(rat(1, 1), power(rat(int64(n)-1, int64(n)+1), n-1))
		t.expect(factor.Cmp(rat(5, 4)) <= 0, "n = %d: the factor is %s", n, factor.RatString())
		for _, p := range append(fractions(40), rat(2, int64(n)+1), rat(2, int64(n)), rat(1, 1000)) {
			flip := missPF(n, p)
			ratio := quo(flip, tailBound(n, 0, p))
			t.expect(ratio.Cmp(factor) <= 0, "n = %d, p = %s: %s times the bound", n, p.RatString(), short(ratio, 8))
			largest = larger(largest, ratio)
			ratio = quo(flip, tailBound(n, 1, p))
			t.atMost(enclose(ratio), limit, "n = %d, p = %s: %s times the monotone bound", n, p.RatString(), short(ratio, 8))
			t.expect(less(missEM(n, p), mul(rat(2, 1), tailBound(n, 0, p))), "n = %d, p = %s: the exponential mechanism", n, p.RatString())
		}
	}
	return t.finding("n = 3, …, 40, p = 1/1000, 1/40, …, 1, 2/n, 2/(n+1), exact", "largest factor "+largest.RatString())
}
