package claims

import (
	"fmt"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Sections 7 and 8 and appendix F: report noisy max with Laplace noise, and remarks.
func init() {
	register(PF, map[string]check{
		"Section 7, report noisy max | main": neitherDominates(3),
		"Section 7, varying sensitivities | main": over("gem, which runs permute-and-flip on the normalised scores; sensitivities (1, 2) and (1, 1, 3), scores 0, 2, 4 and all their neighbors, e^ε = 2: %d comparisons, enclosed", func(t *tally) {
			for _, deltas := range [][]*big.Rat{rats("1", "2"), rats("1", "1", "3")} {
				report := must(verify.Scores(t.ctx, verify.Claim{Mechanism: named("gem"), Epsilon: expOf(two), Sensitivities: deltas}, scores(len(deltas), 2, two), false, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
				r := report.Find(verify.DP)
				t.checked += int(r.Checked) - 1 // expect counts one
				t.expect(r.Verdict == verify.Proved, "sensitivities %s: %s%s", text(deltas), r.Reason, r.Witness)
			}
		}),
		"Section 8, early stop | main":                  forWeights(5, "all orders, exact: at most (n+1)/2 coins on average", earlyStop),
		"Appendix F, probabilities | supplement":        over("four score vectors on the lattice, e^ε = 3/2: within lower and upper sums of 512 cells, exact", laplaceIntegral),
		"Figure 4, text: report noisy max | supplement": crossing(3, rat(-37, 10), rat(-371, 100)),
		"Figure 4, text: other n | supplement":          all(crossing(3, rat(-37, 10), rat(-371, 100)), crossing(4, rat(-49, 10), rat(-5, 1)), crossing(5, rat(-57, 10), rat(-58, 10)), crossing(10, rat(-77, 10), rat(-78, 10))),
		"Figure 4, text: permute-and-flip | supplement": over("n = 3, c = -0.5, -1, …, -20, enclosed", func(t *tally) {
			for i := int64(1); i <= 40; i++ {
				noisy, exp, flip := misses(3, rat(-i, 2))
				t.expect(below(flip, noisy) && below(flip, exp), "c = %s: permute-and-flip misses with probability %.6f, others with %.6f and %.6f", rat(-i, 2).FloatString(1), flip.Near(), noisy.Near(), exp.Near())
			}
		}),
		"Appendix F, dependence on p | supplement": over("q = (c, c, 0), p = e^{-1/2}, e^{-3/2}, three pairs of ε and Δ, probabilities enclosed to 30 digits", func(t *tally) {
			for _, depth := range []int64{1, 3} {
				var first []number.Interval
				for _, x := range [][]*big.Rat{rats("1", "1"), rats("1/2", "3"), rats("4", "1/7")} { // ε and Δ; c = -depth · 2Δ/ε · (1/2)
					got := must(mechanisms.EnclosedDistribution(named("rnm-laplace"), instance(3, mul(rat(-depth, 1), quo(x[1], x[0])), x[0], x[1]), precision))
					if first == nil {
						first = got
					}
					for r := range got {
						_, overlap := got[r].Intersect(first[r])
						t.expect(overlap && got[r].RelWidth() < 1e-30, "p = e^{-%d/2}, ε and Δ = %s: candidate %d has %.8f, at ε = Δ = 1 %.8f", depth, text(x), r, got[r].Near(), first[r].Near())
					}
				}
			}
		}),
	})
}

// instance is the question at q = (c, …, c, 0).
func instance(n int, c, eps, sensitivity *big.Rat) *mechanisms.Instance {
	in := &mechanisms.Instance{Epsilon: must(number.FromEpsilon(eps)), Sensitivities: []*big.Rat{sensitivity}}
	for range n - 1 {
		in.Scores = append(in.Scores, c)
	}
	in.Scores = append(in.Scores, zero)
	return in
}

// misses encloses the probabilities that noisy max with Laplace noise, the exponential mechanism and permute-and-flip do not take the best of (c, …, c, 0) at ε = Δ = 1.
func misses(n int, c *big.Rat) (noisy, exp, flip number.Interval) {
	of := func(name string) number.Interval {
		return enclose(one).Sub(must(mechanisms.EnclosedDistribution(named(name), instance(n, c, one, one), precision))[n-1])
	}
	return of("rnm-laplace"), of("em"), of("pf")
}

var someC = rats("-1/10", "-1", "-2", "-3", "-5", "-8", "-12", "-20")

// neitherDominates checks that noisy max is strictly better than the exponential mechanism at some c, and strictly worse at another.
func neitherDominates(n int) check {
	return over(fmt.Sprintf("n = %d, q = (c, …, c, 0), ε = Δ = 1, enclosed", n), func(t *tally) {
		better := func(c *big.Rat) bool { noisy, exp, _ := misses(n, c); return below(noisy, exp) }
		worse := func(c *big.Rat) bool { noisy, exp, _ := misses(n, c); return below(exp, noisy) }
		t.expect(slices.ContainsFunc(someC, better), "n = %d: report noisy max is better at none of these c", n)
		t.expect(slices.ContainsFunc(someC, worse), "n = %d: report noisy max is worse at none of these c", n)
	})
}

// crossing checks that noisy max is strictly better at all the c above and at least near, and strictly worse at far and below.
func crossing(n int, near, far *big.Rat) check {
	return over(fmt.Sprintf("n = %d, c in {-0.1, -1, -2, -3, -5, -8, -12, -20}, better at c >= %s, worse at c <= %s, enclosed", n, near.FloatString(2), far.FloatString(2)), func(t *tally) {
		for _, c := range append([]*big.Rat{near, far}, someC...) {
			noisy, exp, _ := misses(n, c)
			if c.Cmp(near) >= 0 {
				t.expect(below(noisy, exp), "n = %d, c = %s: report noisy max is not better", n, c.FloatString(2))
			} else if c.Cmp(far) <= 0 {
				t.expect(below(exp, noisy), "n = %d, c = %s: report noisy max is not worse", n, c.FloatString(2))
			}
		}
	})
}

// laplaceIntegral compares the project's exact probabilities with lower and upper sums of the integral over u = F(x), in which the other factors are monotone.
func laplaceIntegral(t *tally) {
	const cells = 512
	for _, depths := range [][]int{{0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 1, 3, 3}} {
		exact := must(mechanisms.EnclosedDistribution(named("rnm-laplace"), mechanisms.OnLattice(depths, expOf(rat(3, 2))), precision))
		for r := range depths {
			low := zero
			for i := int64(0); i < cells; i++ {
				low = add(low, othersBelow(depths, r, rat(i, cells)))
			}
			low = quo(low, rat(cells, 1))
			high := add(low, quo(sub(othersBelow(depths, r, one), othersBelow(depths, r, zero)), rat(cells, 1)))
			t.atMost(enclose(low), exact[r], "depths %v, candidate %d", depths, r)
			t.atMost(exact[r], enclose(high), "depths %v, candidate %d", depths, r)
		}
	}
}

// othersBelow is Π_s F(x + q_r - q_s) at F(x) = u and z = 2/3. With z rational and scores on the lattice it is a rational function of e^x, which is 2u below 1/2 and 1/(2(1-u)) above.
func othersBelow(depths []int, r int, u *big.Rat) *big.Rat {
	product := one
	for s := range depths {
		if s == r || u.Cmp(one) == 0 { // x = ∞
			continue
		}
		w := power(rat(2, 3), max(depths[s]-depths[r], depths[r]-depths[s]))
		if depths[s] < depths[r] {
			w = inv(w)
		}
		value := quo(mul(two, u), w) // e^{x + q_r - q_s}
		if less(rat(1, 2), u) {
			value = inv(mul(w, mul(two, sub(one, u))))
		}
		if value.Cmp(one) <= 0 {
			product = mul(product, quo(value, two))
		} else {
			product = mul(product, sub(one, inv(mul(two, value))))
		}
	}
	return product
}

// earlyStop compares the mean number of coins over all orders with the formula of the note.
func earlyStop(t *tally, p []*big.Rat) {
	n, flips := len(p), zero
	for _, order := range combin.Permutations(n, n) {
		alive := one
		for _, r := range order {
			flips = add(flips, alive)
			alive = mul(alive, sub(one, p[r]))
		}
	}
	flips = quo(flips, factorial(n))
	elementary, formula := zeros(n+1), zero
	elementary[0] = one
	for _, x := range p {
		for j := n; j >= 1; j-- {
			elementary[j] = add(elementary[j], mul(sub(one, x), elementary[j-1]))
		}
	}
	for j := range n {
		formula = add(formula, quo(elementary[j], new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))))
	}
	t.same(flips, formula, "weights %s: coins on average", text(p))
	t.expect(n == 1 || flips.Cmp(rat(int64(n)+1, 2)) <= 0, "weights %s: %s coins on average", text(p), flips.RatString())
}
