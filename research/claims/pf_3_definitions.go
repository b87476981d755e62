package claims

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/verify"
)

func init() {
	small := [][2]int{{2, 4}, {3, 3}, {4, 2}}
	regular := []verify.Property{verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum}
	register(PF, map[string]check{
		"Definitions 1 to 3, Equation 4 | main": notCheckable("definitions"),
		"Definition 3, gloss | main":            gloss(func(p []*big.Rat) []*big.Rat { return distribution(em, p) }),
		"Definition 4 | main":                   suite{mechanism: em, properties: append([]verify.Property{verify.DP}, regular...), lattices: small}.check,
		"Theorem 1 | main":                      suite{mechanism: pf, properties: append([]verify.Property{verify.DP}, regular...), lattices: small}.check,
		"Lemma 3 | supplement":                  suite{mechanism: pf, properties: regular, lattices: [][2]int{{2, 7}, {3, 4}, {5, 2}}, step: 2}.check,
		"Proposition 2 | main":                  worstRowsSuffice(true),
		"Section 3.1, tight rows | main":        tightRows,
		"Remark 1 | supplement":                 monotonicScores(rat(2, 3)),
		"Section 5, best score 0 | main":        suite{mechanism: pf, properties: []verify.Property{verify.Shift}, lattices: [][2]int{{3, 4}, {4, 3}}}.check,
	})
}

// exps are the e^ε of suites.
var exps = []string{"11/10", "3/2", "4"}

// fromExp returns the parameter with the given e^ε.
func fromExp(text string) mechanisms.Epsilon {
	return must(mechanisms.ParseExp(text))
}

// suite asks package verify for properties of a mechanism on lattices.
type suite struct {
	mechanism  mechanisms.Mechanism
	properties []verify.Property
	lattices   [][2]int // n and k
	step       int      // the L of the lattice of step 2Δ/L; 0 for 1
	exps       []string // nil for exps
}

// names writes the lattices as Q(3,3), Q(4,2).
func names(lattices [][2]int) string {
	var out []string
	for _, l := range lattices {
		out = append(out, fmt.Sprintf("Q(%d,%d)", l[0], l[1]))
	}
	return strings.Join(out, ", ")
}

func (s suite) check(t *tally) Finding {
	if s.exps == nil {
		s.exps = exps
	}
	step := "2Δ"
	if s.step > 1 {
		step = fmt.Sprintf("2Δ/%d", s.step)
	}
	var compared int64
	domain := func() string {
		return fmt.Sprintf("%s, scores in steps of %s, e^ε = %s, exact; %d comparisons", names(s.lattices), step, strings.Join(s.exps, ", "), compared)
	}
	for _, l := range s.lattices {
		for _, exp := range s.exps {
			report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: s.mechanism, Epsilon: fromExp(exp)}, l[0], l[1], verify.Options{Properties: s.properties, Step: s.step, NoRange: true}))
			for _, r := range report.Properties {
				compared += r.Checked
				switch r.Verdict {
				case verify.Violated:
					return Finding{Verdict: Refuted, Domain: domain(), Witness: fmt.Sprintf("e^ε = %s: not %s: %s", exp, r.Name, r.Witness)}
				case verify.Undecided:
					return t.undecided(fmt.Sprintf("e^ε = %s: %s: %s", exp, r.Name, r.Reason))
				}
			}
		}
	}
	return Finding{Verdict: Holds, Domain: domain()}
}

// gloss checks, from equal scores, that no other candidate's probability rises when one score rises by a step and all others sink by at least one.
func gloss(pmf func(weights []*big.Rat) []*big.Rat) check {
	return func(t *tally) Finding {
		for _, z := range []*big.Rat{rat(1, 2), rat(9, 10)} {
			for _, a := range []int{1, 2, 10, 50} {
				for _, b := range []int{1, 2, 10, 50} {
					before := pmf([]*big.Rat{rat(1, 1), rat(1, 1), rat(1, 1)})
					after := pmf([]*big.Rat{rat(1, 1), power(z, 1+a), power(z, 1+b)})
					for r := 1; r < 3; r++ {
						t.expect(after[r].Cmp(before[r]) <= 0, "e^ε = %s, steps of 2Δ: from scores (0, 0, 0) to (1, %d, %d) candidate %d's probability rises from %s to %s",
							new(big.Rat).Inv(z).RatString(), -a, -b, r, before[r].RatString(), short(after[r], 5))
					}
				}
			}
		}
		return t.finding("three equal scores, then one up by a step and the others down by 1, 2, 10 or 50, e^ε = 2, 10/9, exact", "")
	}
}

// worstRowsSuffice decides by linear programs whether privacy towards the worst neighbors, and monotonicity if it is asked for, imply privacy
// towards every neighbor inside Q(n,k): each of these rows is minimised under the others.
func worstRowsSuffice(monotone bool) check {
	level := lp.Paper
	if monotone {
		level = lp.Monotone
	}
	return func(t *tally) Finding {
		sizes := [][2]int{{3, 2}, {3, 3}, {4, 2}}
		for _, s := range sizes {
			for _, z := range []*big.Rat{rat(2, 3), rat(1, 2)} {
				p := newProgram(s[0], s[1], z, level)
				for _, r := range p.private() {
					cost := map[int32]*big.Rat{r.Above: rat(1, 1), r.Below: new(big.Rat).Neg(z)}
					least, _ := p.minimise(t.ctx, cost)
					if !t.expect(least.Sign() >= 0, "Q(%d,%d), e^ε = %s: x_%s - e^-ε x_%s can be %s", s[0], s[1], new(big.Rat).Inv(z).RatString(), p.name(r.Above), p.name(r.Below), least.RatString()) {
						break
					}
				}
			}
		}
		return t.finding(fmt.Sprintf("%s, e^ε = 3/2, 2: %d rows of privacy, each by an exact linear program", names(sizes), t.checked), "")
	}
}

func tightRows(t *tally) Finding {
	sizes := [][2]int{{2, 4}, {3, 4}, {4, 3}, {5, 2}}
	for _, s := range sizes {
		l := must(lattice.New(s[0], s[1]))
		for _, z := range []*big.Rat{rat(10, 11), rat(1, 3)} {
			for _, m := range l.All() {
				depths := lattice.Depths(m)
				x := distribution(pf, atDepths(z, depths))
				for r, v := range depths {
					up := append([]int(nil), depths...)
					up[r]--
					raised := mul(z, distribution(pf, atDepths(z, up))[r])
					t.expect(x[r].Cmp(raised) >= 0 && (x[r].Cmp(raised) == 0) == (v > 0), "z = %s, depths %v, candidate %d: %s against %s", z.RatString(), depths, r, x[r].RatString(), raised.RatString())
				}
			}
		}
	}
	return t.finding(names(sizes)+", e^ε = 11/10, 3, exact", fmt.Sprintf("%d rows, tight exactly where the candidate is not best", t.checked))
}

// atDepths returns the weights z^v of depths, shifted so that the largest is 1.
func atDepths(z *big.Rat, depths []int) []*big.Rat {
	least := depths[0]
	for _, v := range depths {
		least = min(least, v)
	}
	p := make([]*big.Rat, len(depths))
	for i, v := range depths {
		p[i] = power(z, v-least)
	}
	return p
}

// monotonicScores checks that permute-and-flip's probabilities at scores in multiples of Δ, with root = e^{-ε/2}, change by at most the factor 1/root when scores
// rise by 0 or Δ each, and that the largest such factor is attained where one candidate rises alone.
func monotonicScores(root *big.Rat) check {
	return func(t *tally) Finding {
		const n, k = 3, 4
		worst, alone := new(big.Rat), new(big.Rat)
		for _, q := range boxes(n, k) {
			x := distribution(pf, atDepths(root, q))
			for _, d := range boxes(n, 1) {
				up := make([]int, n)
				rising := 0
				for i := range q {
					up[i] = q[i] - d[i]
					rising += d[i]
				}
				y := distribution(pf, atDepths(root, up))
				for r := range q {
					for _, factor := range []*big.Rat{quo(x[r], y[r]), quo(y[r], x[r])} {
						worst = larger(worst, factor)
						if rising == 1 && d[r] == 1 && less(alone, factor) {
							alone = factor
						}
						t.expect(mul(factor, root).Cmp(rat(1, 1)) <= 0, "depths %v and %v in steps of Δ, candidate %d: factor %s > e^{ε/2} = %s", q, up, r, factor.RatString(), new(big.Rat).Inv(root).RatString())
					}
				}
			}
		}
		t.expect(worst.Cmp(alone) == 0, "the largest factor is %s, where one candidate rises alone it is %s", worst.RatString(), alone.RatString())
		return t.finding(fmt.Sprintf("n = %d, depths to %dΔ, all scores rising by 0 or Δ, e^ε = %s, exact", n, k, new(big.Rat).Inv(mul(root, root)).RatString()), "largest factor "+worst.RatString())
	}
}
