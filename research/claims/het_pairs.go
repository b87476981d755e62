package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/scenario"
)

// Section V: two candidates.
func init() {
	register(Het, map[string]check{
		"V, best of two":                   bestOfTwo,
		"V-A, GEM, Δ_1 > Δ_2, favourite":   pairClaim("gem", pairs(more), neverWorseThanRandom),
		"V-A, GEM, Δ_1 > Δ_2, against RNM": pairClaim("gem", pairs(more), betterThanRNM),
		"V-A, GEM, Δ_1 < Δ_2":              pairClaim("gem", pairs(fewer, handicapDecides), worseThanRandom),
		"V-A, mGEM, Δ_1 < Δ_2":             pairClaim("mgem", pairs(fewer), betterThanRNM),
		"V-A, mGEM, Δ_1 > Δ_2":             pairClaim("mgem", pairs(more, handicapDecides), worseThanRandom),
		"V-A, errors of RNM and RNMH":      twoCandidateFormulas(one),
		"V-A, HG(RNM, RNMH)": over("the same pairs as in the entries on GEM, enclosed", "", func(t *tally) {
			for _, c := range pairs(func(c pairCase) bool { return more(c) || fewer(c) }) {
				rnm, rnmh := c.err("rnm-exponential", nil), c.err("rnmh", nil)
				t.expect(below(rnmh, rnm) == fewer(c) && below(rnm, rnmh) == more(c), "%s: %.8g and %.8g", c, rnm.Near(), rnmh.Near())
			}
		}),
		"Figure 2":                 figureTwo("rs"),
		"V-A, mGEM and RS":         sameSettings("mgem", "rs"),
		"V-B, order of candidates": ordersByHandicap,
		"V-B, figures 3, 4 and 18": notCheckable("the candidates of figures 4 and 18 are not listed, figure 3 has no numbers"),
	})
}

// A pairCase is two candidates of scores 0 and gap > 0.
type pairCase struct {
	d1, d2, gap, eps *big.Rat
}

func (c pairCase) String() string {
	return fmt.Sprintf("Δ = (%s, %s), gap %s, ε = %s", c.d1.RatString(), c.d2.RatString(), c.gap.RatString(), c.eps.RatString())
}

// err encloses the probability of taking the worse candidate.
func (c pairCase) err(name string, gamma *big.Rat) number.Interval {
	return ask(name, &mechanisms.Instance{Scores: []*big.Rat{zero, c.gap}, Sensitivities: []*big.Rat{c.d1, c.d2}, Epsilon: must(number.FromEpsilon(c.eps)), Params: mechanisms.Params{Gamma: gamma}})[0]
}

// againstRNM returns err of a mechanism and of report noisy max.
func (c pairCase) againstRNM(name string) (own, rnm number.Interval) {
	return c.err(name, nil), c.err("rnm-exponential", nil)
}

// handicap is t = 2 ln(n/β)/ε for the default β = 1/20.
func (c pairCase) handicap() number.Interval { return log(rat(40, 1)).Mul(enclose(quo(two, c.eps))) }

// more and fewer are Δ_1 > Δ_2 and Δ_1 < Δ_2.
func more(c pairCase) bool  { return less(c.d2, c.d1) }
func fewer(c pairCase) bool { return less(c.d1, c.d2) }

// handicapDecides says that the gap is smaller than t times the difference of the sensitivities.
func handicapDecides(c pairCase) bool {
	return below(enclose(c.gap), c.handicap().Mul(enclose(new(big.Rat).Abs(sub(c.d1, c.d2)))))
}

// handicapPays is the condition under which gem or mgem with the handicap on the right side beats report noisy max.
func handicapPays(c pairCase) bool {
	small, large := smaller(c.d1, c.d2), larger(c.d1, c.d2)
	return below(enclose(mul(c.gap, small)), c.handicap().Mul(enclose(mul(large, sub(large, small)))))
}

// pairs returns the cases of a grid that meet all conditions.
func pairs(conditions ...func(pairCase) bool) (out []pairCase) {
	values := rats("1/10", "1", "9/5", "2", "9/2", "20")
	for v := range tuples(rats("1", "1/10", "3"), rats("1/10", "1", "5", "20"), values, values) {
		c, ok := pairCase{v[2], v[3], v[1], v[0]}, true
		for _, condition := range conditions {
			ok = ok && condition(c)
		}
		if ok {
			out = append(out, c)
		}
	}
	return out
}

// Statements about the probabilities of taking the worse candidate.
func betterThanRNM(own, rnm number.Interval) bool      { return below(own, rnm) }
func neverWorseThanRandom(own, _ number.Interval) bool { return below(own, enclose(rat(1, 2))) }
func worseThanRandom(own, rnm number.Interval) bool {
	return below(enclose(rat(1, 2)), own) && below(rnm, own)
}

func pairClaim(name string, cases []pairCase, says func(own, rnm number.Interval) bool) check {
	return func(t *tally) Finding {
		failed := 0
		for _, c := range cases {
			own, rnm := c.againstRNM(name)
			if !says(own, rnm) {
				failed++
			}
			t.expect(says(own, rnm), "%s: %s takes the worse with probability %.5f, report noisy max with %.5f", c, name, own.Near(), rnm.Near())
		}
		if failed > 0 {
			t.witness += fmt.Sprintf("; %d of %d cases", failed, len(cases))
		}
		return t.finding(fmt.Sprintf("β = 0.05, Δ_1 and Δ_2 from 0.1, 1, 1.8, 2, 4.5, 20, gaps 0.1, 1, 5, 20, ε = 0.1, 1, 3: %d cases, enclosed", len(cases)), "")
	}
}

// twoCandidateFormulas checks V-A's formulas, RNMH's times a factor.
func twoCandidateFormulas(factor *big.Rat) check {
	return over("the same pairs as in the entries on GEM, enclosed to 10⁻¹⁸ of each", "", func(t *tally) {
		for _, c := range pairs() {
			fall := func(d *big.Rat) number.Interval {
				return number.ExpRat(quo(mul(c.eps, c.gap), mul(rat(-2, 1), d)), precision)
			}
			t.meets(c.err("rnm-exponential", nil), fall(larger(c.d1, c.d2)).Mul(enclose(rat(1, 2))), "%s: report noisy max", c)
			t.meets(c.err("rnmh", nil), fall(c.d1).Mul(enclose(quo(factor, add(one, quo(c.d2, c.d1))))), "%s: rnmh", c)
		}
	})
}

// figureTwo checks that a mechanism has RNMH's signs at the parameters of figure 2.
func figureTwo(name string) check {
	return func(t *tally) Finding {
		least := math.Inf(1)
		rnm, own := named("rnm-exponential"), named(name)
		for i := 1; i <= 21; i++ {
			for j := 1; j <= 21; j++ {
				if i != j {
					d1, d2 := float64(i)/2, float64(j)/2
					gain := must(scenario.Gain(rnm, own, d1, d2, 1, 0.1, mechanisms.Params{Gamma: rat(1, 100)}))
					least = min(least, math.Abs(gain))
					t.expect(math.Abs(gain) > 1e-6 && (gain > 0) == (d1 < d2), "Δ = (%g, %g): %.6f", d1, d2, gain)
				}
			}
		}
		return t.finding("Δ_1 and Δ_2 = 0.5, 1, …, 10.5, different, quadrature (estimates)", fmt.Sprintf("|HG| is at least %.2g", least))
	}
}

// sameSettings checks that two mechanisms are on the same side of report noisy max, and of random selection, for two candidates, which is the setting of V-A.
func sameSettings(first, second string) check {
	return func(t *tally) Finding {
		var differ []string
		for _, s := range [][]string{
			{"1/10", "1", "5", "3"}, {"4", "9/2", "1", "3"}, {"1", "9/5", "1", "3"}, {"9/5", "1", "1", "3"}, {"4", "9/2", "1", "1/10"}, {"9/2", "4", "1", "1/10"}, {"1", "5", "1", "1/10"},
		} {
			v, gamma := rats(s...), rat(1, 100)
			c := pairCase{v[0], v[1], v[2], v[3]}
			a, b := c.err(first, gamma), c.err(second, gamma)
			for i, to := range []number.Interval{c.err("rnm-exponential", gamma), enclose(rat(1, 2))} {
				t.checked++
				if below(a, to) && below(to, b) || below(b, to) && below(to, a) {
					differ = append(differ, fmt.Sprintf("%s: %s %.4g, %s %.4g, %s %.4g", c, first, a.Near(), second, b.Near(), []string{"RNM", "random"}[i], to.Near()))
				}
			}
		}
		t.witness = strings.Join(differ, "; ")
		return t.finding(fmt.Sprintf("seven pairs, γ = 0.01, β = 0.05: %d comparisons, enclosed", t.checked), "")
	}
}

func ordersByHandicap(t *tally) Finding {
	rng, swapped := rand.New(rand.NewPCG(8, 9)), ""
	for range 400 {
		q, d := randomInstance(rng, 2+rng.IntN(5))
		level := rat(rng.Int64N(4001)-2000, 100)
		x, handicapped := normalised(q, d, level), make([]*big.Rat, len(q))
		top := rat(-1e9, 1)
		for a := range q {
			handicapped[a] = sub(q[a], mul(level, d[a]))
			top = larger(top, handicapped[a])
		}
		for a := range q {
			t.expect((x[a].Sign() == 0) == (handicapped[a].Cmp(top) == 0), "scores %s, sensitivities %s, t = %s: candidate %d", text(q), text(d), level.RatString(), a)
			for b := range q {
				if swapped == "" && less(x[a], x[b]) && less(handicapped[b], handicapped[a]) {
					swapped = fmt.Sprintf("scores %s, sensitivities %s, t = %s: behind the best, candidate %d is ahead of %d by q - tΔ, behind it by q'", text(q), text(d), level.RatString(), a, b)
				}
			}
		}
	}
	return t.finding("the best candidates of 400 random instances, t in [-20, 20], exact", swapped)
}

func bestOfTwo(*tally) Finding {
	var parts []string
	for number := 1; number <= 3; number++ {
		for _, eps := range []string{"1", "2", "8", "16"} {
			list := []string{"gem", "mgem", "rnm-exponential", "krr", "combined-gem", "rs", "rs-log"}
			errs, best := mses(number, eps, list...), list[0]
			for _, name := range list {
				if below(errs[name], errs[best]) {
					best = name
				}
			}
			if best != "gem" && best != "mgem" {
				parts = append(parts, fmt.Sprintf("scenario %d, ε = %s: %.3g against %.3g of %s", number, eps, errs["gem"].Min(errs["mgem"]).Near(), errs[best].Near(), best))
			}
		}
	}
	return Finding{Verdict: NotCheckable, Domain: "scenarios 1 to 3, ε = 1, 2, 8, 16, mean squared errors, enclosed", Witness: "\"comparable\" is not defined; the better of the two is not the best at " + strings.Join(parts, "; ")}
}
