package claims

import (
	"fmt"
	"math/big"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/verify"
)

func init() {
	register(PF, map[string]check{
		"Section 7, report noisy max | main":            neitherDominates(3),
		"Section 7, varying sensitivities | main":       generalised,
		"Section 8, early stop | main":                  earlyStop,
		"Appendix F, probabilities | supplement":        laplaceIntegral,
		"Figure 4, text: report noisy max | supplement": crossing(3, rat(-37, 10), rat(-371, 100)),
		"Figure 4, text: other n | supplement":          crossings,
		"Figure 4, text: permute-and-flip | supplement": flipIsBest,
		"Appendix F, dependence on p | supplement":      onlyThroughP,
	})
}

// instance is the question at q = (c, …, c, 0).
func instance(n int, c, eps, sensitivity *big.Rat) *mechanisms.Instance {
	in := &mechanisms.Instance{Epsilon: must(mechanisms.FromEpsilon(eps)), Sensitivities: []*big.Rat{sensitivity}}
	for range n - 1 {
		in.Scores = append(in.Scores, c)
	}
	in.Scores = append(in.Scores, new(big.Rat))
	return in
}

// misses encloses the probabilities that noisy max with Laplace noise, the exponential mechanism and permute-and-flip do not take the best of (c, …, c, 0) at ε = Δ = 1.
func misses(n int, c *big.Rat) (noisy, exp, flip interval.Interval) {
	in := instance(n, c, rat(1, 1), rat(1, 1))
	var out [3]interval.Interval
	for i, name := range []string{"rnm-laplace", "em", "pf"} {
		x := must(mechanisms.EnclosedDistribution(named(name), in, precision))
		out[i] = enclose(rat(1, 1)).Sub(x[n-1])
	}
	return out[0], out[1], out[2]
}

// compares reports whether noisy max is strictly better than the exponential mechanism at (c, …, c, 0), and whether it is strictly worse.
func compares(n int, c *big.Rat) (better, worse bool) {
	noisy, exp, _ := misses(n, c)
	order, ok := noisy.Cmp(exp)
	return ok && order < 0, ok && order > 0
}

var someC = []*big.Rat{rat(-1, 10), rat(-1, 1), rat(-2, 1), rat(-3, 1), rat(-5, 1), rat(-8, 1), rat(-12, 1), rat(-20, 1)}

func neitherDominates(n int) check {
	return func(t *tally) Finding {
		var better, worse []string
		for _, c := range someC {
			b, w := compares(n, c)
			if b {
				better = append(better, c.FloatString(1))
			}
			if w {
				worse = append(worse, c.FloatString(1))
			}
		}
		t.expect(len(better) > 0 && len(worse) > 0, "n = %d: report noisy max is better at c = %v and worse at c = %v", n, better, worse)
		return t.finding(fmt.Sprintf("n = %d, q = (c, …, c, 0), ε = Δ = 1, enclosed", n), fmt.Sprintf("report noisy max is better at c = %s and worse at c = %s", strings.Join(better, ", "), strings.Join(worse, ", ")))
	}
}

// crossing checks that noisy max is strictly better at all the c above and at least near, and strictly worse at far and below.
func crossing(n int, near, far *big.Rat) check {
	return func(t *tally) Finding {
		t.crosses(n, near, far)
		return t.finding(fmt.Sprintf("n = %d, c in {-0.1, -1, -2, -3, -5, -8, -12, -20, %s, %s}, enclosed", n, near.FloatString(2), far.FloatString(2)), fmt.Sprintf("better at c >= %s, worse at c <= %s", near.FloatString(2), far.FloatString(2)))
	}
}

func (t *tally) crosses(n int, near, far *big.Rat) {
	for _, c := range append([]*big.Rat{near, far}, someC...) {
		better, worse := compares(n, c)
		switch {
		case c.Cmp(near) >= 0:
			t.expect(better, "n = %d, c = %s: report noisy max is not better", n, c.FloatString(2))
		case c.Cmp(far) <= 0:
			t.expect(worse, "n = %d, c = %s: report noisy max is not worse", n, c.FloatString(2))
		}
	}
}

func crossings(t *tally) Finding {
	var seen []string
	for _, x := range []struct {
		n         int
		near, far *big.Rat
	}{{3, rat(-37, 10), rat(-371, 100)}, {4, rat(-49, 10), rat(-5, 1)}, {5, rat(-57, 10), rat(-58, 10)}, {10, rat(-77, 10), rat(-78, 10)}} {
		t.crosses(x.n, x.near, x.far)
		seen = append(seen, fmt.Sprintf("n = %d: between %s and %s", x.n, x.far.FloatString(2), x.near.FloatString(2)))
	}
	return t.finding("n = 3, 4, 5, 10, ε = Δ = 1, ten values of c each, enclosed", "they cross at c, "+strings.Join(seen, "; "))
}

func flipIsBest(t *tally) Finding {
	for i := int64(1); i <= 40; i++ {
		c := rat(-i, 2)
		noisy, exp, flip := misses(3, c)
		for _, other := range []interval.Interval{noisy, exp} {
			t.expect(below(flip, other), "c = %s: permute-and-flip misses with probability %.6f, another one with %.6f", c.FloatString(1), flip.Near(), other.Near())
		}
	}
	return t.finding("n = 3, c = -0.5, -1, …, -20, enclosed", "")
}

func onlyThroughP(t *tally) Finding {
	m := named("rnm-laplace")
	for _, depth := range []int64{1, 3} {
		var first []interval.Interval
		for _, x := range [][2]*big.Rat{{rat(1, 1), rat(1, 1)}, {rat(1, 2), rat(3, 1)}, {rat(4, 1), rat(1, 7)}} { // ε and Δ; c = -depth · 2Δ/ε · (1/2)
			c := mul(rat(-depth, 1), quo(x[1], x[0]))
			got := must(mechanisms.EnclosedDistribution(m, instance(3, c, x[0], x[1]), precision))
			if first == nil {
				first = got
			}
			for r := range got {
				_, overlap := got[r].Intersect(first[r])
				t.expect(overlap && got[r].RelWidth() < 1e-30, "p = e^{-%d/2}, ε = %s, Δ = %s: candidate %d has %.8f, at ε = Δ = 1 %.8f", depth, x[0].RatString(), x[1].RatString(), r, got[r].Near(), first[r].Near())
			}
		}
	}
	return t.finding("q = (c, c, 0), p = e^{-1/2}, e^{-3/2}, three pairs of ε and Δ, probabilities enclosed to 30 digits", "")
}

// laplaceIntegral compares the project's exact probabilities with lower and upper sums of the integral over u = F(x), in which the other factors are monotone. With z rational and scores on
// the lattice they are rational functions of y = e^{-|x|}: 2F(x) = y for x <= 0 and 2 - y for x >= 0.
func laplaceIntegral(t *tally) Finding {
	m := named("rnm-laplace")
	const cells = 512
	one, two := rat(1, 1), rat(2, 1)
	for _, depths := range [][]int{{0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 1, 3, 3}} {
		in := mechanisms.OnLattice(depths, fromExp("3/2"))
		z := rat(2, 3)
		exact := must(mechanisms.EnclosedDistribution(m, in, precision))
		for r := range depths {
			// at returns Π_s F(x + q_r - q_s) at F(x) = u.
			at := func(u *big.Rat) *big.Rat {
				product := one
				for s := range depths {
					if s == r {
						continue
					}
					shift := depths[s] - depths[r] // q_r - q_s in steps; e^{-shift} is z^shift
					w := power(z, max(shift, -shift))
					if shift < 0 {
						w = new(big.Rat).Inv(w)
					}
					// e^x is 2u below 1/2 and 1/(2(1-u)) above; e^{x + shift} is that over w.
					var value *big.Rat
					if u.Cmp(rat(1, 2)) <= 0 {
						value = quo(mul(two, u), w)
					} else if u.Cmp(one) < 0 {
						value = quo(one, mul(w, mul(two, sub(one, u))))
					}
					switch {
					case value == nil: // x = ∞
					case value.Cmp(one) <= 0:
						product = mul(product, quo(value, two))
					default:
						product = mul(product, sub(one, quo(one, mul(two, value))))
					}
				}
				return product
			}
			low, high := new(big.Rat), new(big.Rat)
			for i := int64(0); i < cells; i++ {
				low.Add(low, at(rat(i, cells)))
			}
			low = quo(low, rat(cells, 1))
			high = add(low, quo(sub(at(one), at(new(big.Rat))), rat(cells, 1)))
			name := fmt.Sprintf("depths %v, candidate %d: %.6f, the integral is between %s and %s", depths, r, exact[r].Near(), decimals(low, 6), decimals(high, 6))
			t.atMost(enclose(low), exact[r], "%s", name)
			t.atMost(exact[r], enclose(high), "%s", name)
		}
	}
	return t.finding(fmt.Sprintf("four score vectors on the lattice, e^ε = 3/2: within lower and upper sums of %d cells, exact", cells), "")
}

func generalised(t *tally) Finding {
	for _, deltas := range [][]*big.Rat{{rat(1, 1), rat(2, 1)}, {rat(1, 1), rat(1, 1), rat(3, 1)}} {
		report := must(verify.Scores(t.ctx, verify.Claim{Mechanism: named("gem"), Epsilon: fromExp("2"), Sensitivities: deltas}, scores(len(deltas), 2, rat(2, 1)), verify.Linf, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
		r := report.Find(verify.DP)
		if r.Verdict == verify.Undecided {
			return t.undecided(r.Reason)
		}
		t.checked += int(r.Checked)
		t.expect(r.Verdict == verify.Proved, "sensitivities %s: %s", text(deltas), r.Witness)
	}
	return t.finding("gem, which runs permute-and-flip on the normalised scores; sensitivities (1, 2) and (1, 1, 3), scores 0, 2, 4 and all their neighbors, e^ε = 2, enclosed", fmt.Sprintf("%d comparisons", t.checked-2))
}

// earlyStop compares the mean number of coins over all orders with the formula of the note.
func earlyStop(t *tally) Finding {
	for p := range vectors(t.ctx, 5) {
		n := len(p)
		flips := new(big.Rat)
		for _, order := range combin.Permutations(n, n) {
			alive := rat(1, 1)
			for _, r := range order {
				flips.Add(flips, alive)
				alive = mul(alive, sub(rat(1, 1), p[r]))
			}
		}
		flips = quo(flips, factorial(n))
		elementary := make([]*big.Rat, n+1)
		for j := range elementary {
			elementary[j] = new(big.Rat)
		}
		elementary[0] = rat(1, 1)
		for _, x := range p {
			for j := n; j >= 1; j-- {
				elementary[j] = add(elementary[j], mul(sub(rat(1, 1), x), elementary[j-1]))
			}
		}
		formula := new(big.Rat)
		for j := range n {
			formula.Add(formula, quo(elementary[j], new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))))
		}
		t.expect(flips.Cmp(formula) == 0, "weights %s: %s coins on average, by the formula %s", text(p), flips.RatString(), formula.RatString())
		t.expect(n == 1 || less(flips, rat(int64(n), 1)) && flips.Cmp(rat(int64(n)+1, 2)) <= 0, "weights %s: %s coins on average", text(p), flips.RatString())
	}
	return t.finding("n <= 5, "+wideDomain+", all orders, exact", "at most (n+1)/2 coins on average")
}
