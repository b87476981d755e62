package claims

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/arith"
	"optratio/internal/secretary"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// The project's own statements about the sources' mechanisms that no other package tests; their proofs are in research/docs/claims-proofs.md.
func TestOwnStatements(t *testing.T) {
	slowtest.Only(t)
	for name, of := range map[string]check{
		"random stopping with ever more draws takes the most sensitive candidate":     manyDraws("1/20", "1/200", "1/2000", "1/20000"),
		"of two candidates, GEM and mGEM beat report noisy max iff the handicap pays": handicapTest(handicapPays),
		"permute-and-flip and the relaxed program":                                    relaxedThreshold,
		"the exponential mechanism over permute-and-flip":                             pointwise,
		"Theorem 2 of McKenna & Sheldon, one change of sign":                          oneChange,
		"Proposition 4 of McKenna & Sheldon, the mean":                                meanIsWorse,
		"report noisy max, two candidates":                                            twoCandidates,
		"calibration":                                                                 calibration,
		"monotonic scores":                                                            oneWay,
		"the law of the secretary rule":                                               uniformLaw(1),
	} {
		t.Run(name, func(t *testing.T) {
			f := find(t, of)
			assert.Equal(t, Holds, f.Verdict, "%s: %s", f.Domain, f.Witness)
		})
	}
}

// manyDraws checks that the probability of the more sensitive half tends to 1 in scenarios 1 and 2: it grows from each γ to the next, beyond 9/10, and beyond RNMH's.
func manyDraws(gammas ...string) check {
	return func(t *tally) {
		for which := 1; which <= 2; which++ {
			in := bimodal(which, 50, "2")
			sensitive := func(m mechanisms.Mechanism) number.Interval {
				total := number.FromInt(0, enclosedBits)
				for a, x := range must(m.Enclose(in, enclosedBits)) {
					if in.Sensitivities[a].Cmp(one) > 0 {
						total = total.Add(x)
					}
				}
				return total
			}
			rnmh := sensitive(named("rnmh"))
			last := number.FromInt(0, enclosedBits)
			for _, gamma := range gammas {
				in.Params.Gamma = rats(gamma)[0]
				x := sensitive(mechanisms.Within(t.ctx, named("rs")))
				t.expect(below(last, x), "scenario %d, γ = %s: %.6f, and %.6f before", which, gamma, x.Near(), last.Near())
				last = x
			}
			t.expect(below(enclose(rat(9, 10)), last) && below(rnmh, last), "scenario %d: %.4f, RNMH %.4f", which, last.Near(), rnmh.Near())
		}
	}
}

// handicapPays is the condition under which gem or mgem with the handicap on the right side beats report noisy max.
func handicapPays(c pairCase) bool {
	small, large := smaller(c.d1, c.d2), largest(c.d1, c.d2)
	return below(enclose(mul(c.gap, small)), c.handicap().Mul(enclose(mul(large, sub(large, small)))))
}

// handicapTest checks that gem and mgem beat report noisy max under a condition and only then.
func handicapTest(condition func(pairCase) bool) check {
	return func(t *tally) {
		for _, c := range pairs() {
			name := "gem"
			switch {
			case fewer(c):
				name = "mgem"
			case !more(c):
				continue
			}
			own, rnm := c.err(name, nil), c.err("rnm-exponential", nil)
			wins, loses := below(own, rnm), below(rnm, own)
			t.expect(wins != loses && wins == condition(c), "%s: %s %.6f, report noisy max %.6f", c, name, own.Near(), rnm.Near())
		}
	}
}

func weightedSum(z *big.Rat, k int) *big.Rat {
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

func relaxedThreshold(t *tally) {
	sizes := [][2]int{{2, 3}, {3, 1}, {3, 2}, {3, 3}, {3, 6}, {4, 2}, {4, 3}}
	exps := []string{"5/4", "2", "205/100", "23/10", "5/2", "21/8"}
	for _, s := range sizes {
		for _, exp := range exps {
			z, _ := expOf(rats(exp)[0]).Z()
			p := relaxedProgram(s[0], s[1], z)
			got := optimal(t.ctx, p, p.total())
			want := s[0] <= 2 || weightedSum(z, s[1]).Cmp(rat(1, 1)) <= 0
			t.expect(got == want, "Q(%d,%d), e^ε = %s: optimal is %v", s[0], s[1], exp, got)
		}
	}
}

func pointwise(t *tally) {
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
			t.expect(ratio.Cmp(bound) <= 0 && less(bound, add(rat(1, 1), rat(1, best))), "weights %s, candidate %d: ratio %s", text(p), r, short(ratio))
		}
	}
}

func oneChange(t *tally) {
	for p := range vectors(t.ctx, 6) { // in ascending order
		flip, exp := distribution(pf, p), distribution(em, p)
		positive := false
		for r := range p {
			s := sub(flip[r], exp[r]).Sign()
			t.expect(!positive || s >= 0, "weights %s: negative at %d after a positive difference", text(p), r)
			positive = positive || s > 0
		}
	}
}

func meanIsWorse(t *tally) {
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
}

func twoCandidates(t *tally) {
	m := named("rnm-laplace")
	for i := int64(1); i <= 60; i++ {
		c := rat(-i, 4) // d = i/8
		noisy, exp, _ := misses(2, c)
		t.expect(below(exp, noisy), "d = %s: the exponential mechanism misses with %.8f, report noisy max with %.8f", rat(i, 8).RatString(), exp.Near(), noisy.Near())
		d := enclose(rat(i, 8))
		_, same := noisy.Intersect(number.Exp(d.Neg()).Mul(d.Add(enclose(rat(2, 1)))).Mul(enclose(rat(1, 4))))
		t.expect(same, "d = %s: report noisy max misses with %.8f, not as the formula says", rat(i, 8).RatString(), noisy.Near())
	}
	tied := must(mechanisms.EnclosedDistribution(m, instance(2, new(big.Rat), rat(1, 1), rat(1, 1)), precision))
	t.expect(tied[0].Contains(rat(1, 2)), "equal scores: %s", tied[0])
}

func calibration(t *tally) {
	for _, exp := range []string{"11/10", "3"} {
		want := expOf(rats(exp)[0]).Exp()
		for _, n := range []int{2, 4} {
			for _, name := range []string{"pf", "em"} {
				var last *big.Rat
				for _, k := range []int{1, 2, 3, 5} {
					report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: expOf(rats(exp)[0])}, n, k, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
					tight := report.Find(verify.DP).TightExpEps
					if tight == nil {
						panic(name + ": the tight e^ε is not rational")
					}
					if name == "pf" {
						t.expect(tight.Cmp(want) == 0, "pf, Q(%d,%d), e^ε = %s: tight e^ε %s", n, k, exp, tight.RatString())
					} else {
						t.expect(less(tight, want) && (last == nil || less(last, tight)), "em, Q(%d,%d), e^ε = %s: tight e^ε %s", n, k, exp, tight.RatString())
						last = tight
					}
				}
			}
		}
	}
}

func oneWay(t *tally) {
	for _, name := range []string{"pf", "em", "geo", "krr", "rnm-laplace"} {
		for _, s := range [][2]int{{2, 3}, {3, 2}} {
			var tight [2]*verify.Result
			for i, monotonic := range []bool{false, true} {
				report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: expOf(two), Monotonic: monotonic}, s[0], s[1], verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
				tight[i] = report.Find(verify.DP)
			}
			same := tight[0].Verdict == verify.Proved && tight[1].Verdict == verify.Proved && tight[0].TightEps.String() == tight[1].TightEps.String()
			t.expect(same, "%s, Q(%d,%d): tight ε %s either way, %s one way", name, s[0], s[1], tight[0].TightEps, tight[1].TightEps)
		}
	}
}

// uniformLaw checks that max over k of |r_k/(a_k/e + floor/(en)) - 1| is below 4/n^{1/2} at some n.
func uniformLaw(floor int64) check {
	return func(t *tally) {
		x := enclose(one).Sub(number.ExpRat(rat(-1, 1), precision))
		inv := number.ExpRat(rat(-1, 1), precision)
		for _, n := range []int{100, 1000, 10_000} {
			law := enclosedLaw(t.ctx, n)
			a := must(secretary.AsymptoticEnclosure(1, precision+64))
			last := inv.Mul(enclose(rat(floor, int64(n))))
			power, most := x, enclose(new(big.Rat))
			for k := 1; k <= n; k++ {
				// where the differences have no digits left, a_k is between 0 and its upper bound
				a = a.Max(enclose(new(big.Rat)))
				most = most.Max(arith.Abs(law[k-1].Quo(a.Mul(inv).Add(last)).Sub(enclose(one))))
				a = a.Sub(power.Quo(enclose(rat(int64(k), 1))))
				power = power.Mul(x)
			}
			t.expect(below(most.Pow(2).Mul(enclose(rat(int64(n), 1))), enclose(rat(16, 1))), "n = %d: off by %.4f of it", n, most.Near())
		}
	}
}
