package claims

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/verify"
)

func init() {
	entries = append(entries,
		Entry{
			Source: PF, Version: "main", Item: "Section 7, report noisy max",
			Statement: "Neither report noisy max (Laplace noise) nor the exponential mechanism is better for all score vectors",
			Note:      "True from three candidates on. For two the exponential mechanism is never worse (docs/claims-proofs.md).",
			Check:     neitherDominates(3),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 7, varying sensitivities",
			Statement: "The generalised exponential mechanism for scores of different sensitivities is compatible with permute-and-flip",
			Note:      "Normalised scores have sensitivity 1, so that every ε-DP mechanism for one sensitivity can be run on them.",
			Check:     generalised,
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 8, early stop",
			Statement: "If q* is known beforehand, permute-and-flip can return before it has evaluated all n scores",
			Note:      "The expected number of scores evaluated is Σ_{j=0}^{n-1} e_j(1-p)/C(n,j), e_j being the elementary symmetric polynomials of the numbers 1 - p_r. It is at most (n+1)/2, the mean place of a best candidate in the order, which is approached where one candidate is best and all others are far below.",
			Check:     earlyStop,
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Appendix F, probabilities",
			Statement: "Report noisy max takes r with probability ∫ f(x) Π_{s≠r} F(q_r - q_s + x) dx, f and F being the density and distribution function of Lap(2Δ/ε)",
			Note:      "Closed forms are said to be unknown. On the lattice of step 2Δ the probabilities are a + b ln z, a and b rational functions of z = e^-ε, which the project computes exactly; here they are compared with lower and upper sums of the integral.",
			Check:     laplaceIntegral,
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Figure 4, text: report noisy max",
			Statement: "At q = (c, c, 0) report noisy max is better than the exponential mechanism where c is close to 0, and worse where it is much smaller (ε = Δ = 1)",
			Check:     crossing(3, rat(-37, 10), rat(-371, 100)),
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Figure 4, text: other n",
			Statement: "The same is observed for different values of n, at q = (c, …, c, 0)",
			Note:      "For n = 2 it is not so: there report noisy max is never better (docs/claims-proofs.md). The source does not say which n it means.",
			Check:     crossings,
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Figure 4, text: permute-and-flip",
			Statement: "At q = (c, c, 0) permute-and-flip is better than both for all c (ε = Δ = 1)",
			Note:      "For c < 0; at c = 0 all candidates are tied and nobody errs.",
			Check:     flipIsBest,
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Appendix F, dependence on p",
			Statement: "At q = (c, …, c, 0) report noisy max depends on c, ε and Δ only through p = e^{εc/2Δ} (said not to be clear)",
			Note:      "They do: in units of 2Δ/ε the noise is Lap(1) and the scores are ln p_r.",
			Check:     onlyThroughP,
		},
	)
}

// instance is the question at q = (c, …, c, 0).
func instance(n int, c, eps, sensitivity *big.Rat) *mechanisms.Instance {
	e, err := mechanisms.FromEpsilon(eps)
	if err != nil {
		panic(err)
	}
	in := &mechanisms.Instance{Epsilon: e, Sensitivities: []*big.Rat{sensitivity}}
	for range n - 1 {
		in.Scores = append(in.Scores, c)
	}
	in.Scores = append(in.Scores, new(big.Rat))
	return in
}

// misses encloses the probabilities that noisy max with Laplace noise, the exponential mechanism and permute-and-flip do not take the best of (c, …, c, 0) at ε = Δ = 1.
func misses(n int, c *big.Rat) (noisy, exp, flip interval.Interval, err error) {
	in := instance(n, c, rat(1, 1), rat(1, 1))
	var out [3]interval.Interval
	for i, name := range []string{"rnm-laplace", "em", "pf"} {
		x, err := mechanisms.EnclosedDistribution(named(name), in, precision)
		if err != nil {
			return noisy, exp, flip, err
		}
		out[i] = enclose(rat(1, 1)).Sub(x[n-1])
	}
	return out[0], out[1], out[2], nil
}

// compares reports whether noisy max is strictly better than the exponential mechanism at (c, …, c, 0), and whether it is strictly worse.
func compares(n int, c *big.Rat) (better, worse bool, err error) {
	noisy, exp, _, err := misses(n, c)
	if err != nil {
		return false, false, err
	}
	order, ok := noisy.Cmp(exp)
	return ok && order < 0, ok && order > 0, nil
}

var someC = []*big.Rat{rat(-1, 10), rat(-1, 1), rat(-2, 1), rat(-3, 1), rat(-5, 1), rat(-8, 1), rat(-12, 1), rat(-20, 1)}

func neitherDominates(n int) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		var better, worse []string
		for _, c := range someC {
			b, w, err := compares(n, c)
			if err != nil {
				return Finding{}, err
			}
			if b {
				better = append(better, c.FloatString(1))
			}
			if w {
				worse = append(worse, c.FloatString(1))
			}
		}
		t.expect(len(better) > 0 && len(worse) > 0, "n = %d: report noisy max is better at c = %v and worse at c = %v", n, better, worse)
		return t.conclude(ctx, fmt.Sprintf("n = %d, q = (c, …, c, 0), ε = Δ = 1, enclosed", n), fmt.Sprintf("report noisy max is better at c = %s and worse at c = %s", strings.Join(better, ", "), strings.Join(worse, ", ")))
	}
}

// crossing checks that noisy max is strictly better at all the c above and at least near, and strictly worse at far and below.
func crossing(n int, near, far *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		if err := t.crosses(n, near, far); err != nil {
			return Finding{}, err
		}
		return t.conclude(ctx, fmt.Sprintf("n = %d, c in {-0.1, -1, -2, -3, -5, -8, -12, -20, %s, %s}, enclosed", n, near.FloatString(2), far.FloatString(2)), fmt.Sprintf("better at c >= %s, worse at c <= %s", near.FloatString(2), far.FloatString(2)))
	}
}

func (t *tally) crosses(n int, near, far *big.Rat) error {
	for _, c := range append([]*big.Rat{near, far}, someC...) {
		better, worse, err := compares(n, c)
		if err != nil {
			return err
		}
		switch {
		case c.Cmp(near) >= 0:
			t.expect(better, "n = %d, c = %s: report noisy max is not better", n, c.FloatString(2))
		case c.Cmp(far) <= 0:
			t.expect(worse, "n = %d, c = %s: report noisy max is not worse", n, c.FloatString(2))
		}
	}
	return nil
}

func crossings(ctx context.Context) (Finding, error) {
	var t tally
	var seen []string
	for _, x := range []struct {
		n         int
		near, far *big.Rat
	}{{3, rat(-37, 10), rat(-371, 100)}, {4, rat(-49, 10), rat(-5, 1)}, {5, rat(-57, 10), rat(-58, 10)}, {10, rat(-77, 10), rat(-78, 10)}} {
		if err := t.crosses(x.n, x.near, x.far); err != nil {
			return Finding{}, err
		}
		seen = append(seen, fmt.Sprintf("n = %d: between %s and %s", x.n, x.far.FloatString(2), x.near.FloatString(2)))
	}
	return t.conclude(ctx, "n = 3, 4, 5, 10, ε = Δ = 1, ten values of c each, enclosed", "they cross at c, "+strings.Join(seen, "; "))
}

func flipIsBest(ctx context.Context) (Finding, error) {
	var t tally
	for i := int64(1); i <= 40; i++ {
		c := rat(-i, 2)
		noisy, exp, flip, err := misses(3, c)
		if err != nil {
			return Finding{}, err
		}
		for _, other := range []interval.Interval{noisy, exp} {
			order, ok := flip.Cmp(other)
			t.expect(ok && order < 0, "c = %s: permute-and-flip misses with probability %.6f, another one with %.6f", c.FloatString(1), flip.Near(), other.Near())
		}
	}
	return t.conclude(ctx, "n = 3, c = -0.5, -1, …, -20, enclosed", "")
}

func onlyThroughP(ctx context.Context) (Finding, error) {
	var t tally
	m := named("rnm-laplace")
	for _, depth := range []int64{1, 3} {
		var first []interval.Interval
		for _, x := range [][2]*big.Rat{{rat(1, 1), rat(1, 1)}, {rat(1, 2), rat(3, 1)}, {rat(4, 1), rat(1, 7)}} { // ε and Δ; c = -depth · 2Δ/ε · (1/2)
			c := mul(rat(-depth, 1), quo(x[1], x[0]))
			got, err := mechanisms.EnclosedDistribution(m, instance(3, c, x[0], x[1]), precision)
			if err != nil {
				return Finding{}, err
			}
			if first == nil {
				first = got
			}
			for r := range got {
				_, overlap := got[r].Intersect(first[r])
				t.expect(overlap && got[r].RelWidth() < 1e-30, "p = e^{-%d/2}, ε = %s, Δ = %s: candidate %d has %.8f, at ε = Δ = 1 %.8f", depth, x[0].RatString(), x[1].RatString(), r, got[r].Near(), first[r].Near())
			}
		}
	}
	return t.conclude(ctx, "q = (c, c, 0), p = e^{-1/2}, e^{-3/2}, three pairs of ε and Δ, probabilities enclosed to 30 digits", "")
}

// laplaceIntegral compares the project's exact probabilities with lower and upper sums of the integral over u = F(x), in which the other factors are monotone. With z rational and scores on
// the lattice they are rational functions of y = e^{-|x|}: 2F(x) = y for x <= 0 and 2 - y for x >= 0.
func laplaceIntegral(ctx context.Context) (Finding, error) {
	var t tally
	m := named("rnm-laplace")
	const cells = 512
	one, two := rat(1, 1), rat(2, 1)
	for _, depths := range [][]int{{0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 1, 3, 3}} {
		in := mechanisms.OnLattice(depths, fromExp("3/2"))
		z := rat(2, 3)
		exact, err := mechanisms.EnclosedDistribution(m, in, precision)
		if err != nil {
			return Finding{}, err
		}
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
	return t.conclude(ctx, fmt.Sprintf("four score vectors on the lattice, e^ε = 3/2: within lower and upper sums of %d cells, exact", cells), "")
}

func generalised(ctx context.Context) (Finding, error) {
	var t tally
	for _, deltas := range [][]*big.Rat{{rat(1, 1), rat(2, 1)}, {rat(1, 1), rat(1, 1), rat(3, 1)}} {
		var vectors [][]*big.Rat
		for q := range boxes(len(deltas), 2) {
			scores := make([]*big.Rat, len(q))
			for i, x := range q {
				scores[i] = rat(int64(2*x), 1)
			}
			vectors = append(vectors, scores)
		}
		report, err := verify.Scores(ctx, verify.Claim{Mechanism: named("gem"), Epsilon: fromExp("2"), Sensitivities: deltas}, vectors, verify.Linf, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})
		if err != nil {
			return Finding{}, err
		}
		r := report.Find(verify.DP)
		if r.Verdict == verify.Undecided {
			return Finding{Verdict: Undecided, Domain: r.Reason}, ctx.Err()
		}
		t.checked += int(r.Checked)
		t.expect(r.Verdict == verify.Proved, "sensitivities %s: %s", text(deltas), r.Witness)
	}
	return t.conclude(ctx, "gem, which runs permute-and-flip on the normalised scores; sensitivities (1, 2) and (1, 1, 3), scores 0, 2, 4 and all their neighbours, e^ε = 2, enclosed", fmt.Sprintf("%d comparisons", t.checked-2))
}

// earlyStop compares the mean number of coins over all orders with the formula of the note.
func earlyStop(ctx context.Context) (Finding, error) {
	var t tally
	for p := range vectors(ctx, 5) {
		n := len(p)
		flips := new(big.Rat)
		permuted(n, func(order []int) {
			alive := rat(1, 1)
			for _, r := range order {
				flips.Add(flips, alive)
				alive = mul(alive, sub(rat(1, 1), p[r]))
			}
		})
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
	return t.conclude(ctx, "n <= 5, "+wideDomain+", all orders, exact", "at most (n+1)/2 coins on average")
}
