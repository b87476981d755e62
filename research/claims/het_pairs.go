package claims

import (
	"fmt"
	"math"
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
)

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

// handicap is t = 2 ln(n/β)/ε for the default β = 1/20.
func (c pairCase) handicap() number.Interval { return log(rat(40, 1)).Mul(enclose(quo(two, c.eps))) }

// more and fewer are Δ_1 > Δ_2 and Δ_1 < Δ_2.
func more(c pairCase) bool  { return less(c.d2, c.d1) }
func fewer(c pairCase) bool { return less(c.d1, c.d2) }

// handicapDecides says that the gap is smaller than t times the difference of the sensitivities.
func handicapDecides(c pairCase) bool {
	return below(enclose(c.gap), c.handicap().Mul(enclose(new(big.Rat).Abs(sub(c.d1, c.d2)))))
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
func worseThanRNM(own, rnm number.Interval) bool       { return below(rnm, own) }
func neverWorseThanRandom(own, _ number.Interval) bool { return below(own, half) }
func worseThanRandom(own, rnm number.Interval) bool    { return below(half, own) && below(rnm, own) }

func pairClaim(name string, says func(own, rnm number.Interval) bool, conditions ...func(pairCase) bool) check {
	return over("β = 0.05, Δ_1 and Δ_2 from 0.1, 1, 1.8, 2, 4.5, 20, gaps 0.1, 1, 5, 20, ε = 0.1, 1, 3: %d cases, enclosed", func(t *tally) {
		for _, c := range pairs(conditions...) {
			own, rnm := c.err(name, nil), c.err("rnm-exponential", nil)
			t.expect(says(own, rnm), "%s: %s takes the worse with probability %.5f, report noisy max with %.5f", c, name, own.Near(), rnm.Near())
		}
	})
}

// twoCandidateFormulas checks V-A's formulas, RNMH's times a factor.
func twoCandidateFormulas(factor *big.Rat) check {
	return over("the same pairs as in the entries on GEM, enclosed to 10⁻¹⁸ of each", func(t *tally) {
		for _, c := range pairs() {
			fall := func(d *big.Rat) number.Interval {
				return number.ExpRat(quo(mul(c.eps, c.gap), mul(rat(-2, 1), d)), precision)
			}
			t.meets(c.err("rnm-exponential", nil), fall(largest(c.d1, c.d2)).Mul(half), "%s: report noisy max", c)
			t.meets(c.err("rnmh", nil), fall(c.d1).Mul(enclose(quo(factor, add(one, quo(c.d2, c.d1))))), "%s: rnmh", c)
		}
	})
}

// figureTwo checks that a mechanism has RNMH's signs at the parameters of figure 2.
func figureTwo(name string) check {
	return over("Δ_1 and Δ_2 = 0.5, 1, …, 10.5, different, quadrature (estimates)", func(t *tally) {
		rnm, own := named("rnm-exponential"), named(name)
		for i := range 441 {
			if d1, d2 := float64(i/21+1)/2, float64(i%21+1)/2; d1 != d2 {
				gain := must(gain(rnm, own, d1, d2))
				t.expect(math.Abs(gain) > 1e-6 && (gain > 0) == (d1 < d2), "Δ = (%g, %g): %.6f", d1, d2, gain)
			}
		}
	})
}

// sameSettings checks that two mechanisms are on the same side of report noisy max, and of random selection, for two candidates, which is the setting of V-A.
func sameSettings(first, second string) check {
	return over("seven pairs, γ = 0.01, β = 0.05: %d comparisons, enclosed", func(t *tally) {
		for _, s := range [][]string{
			{"1/10", "1", "5", "3"}, {"4", "9/2", "1", "3"}, {"1", "9/5", "1", "3"}, {"9/5", "1", "1", "3"}, {"4", "9/2", "1", "1/10"}, {"9/2", "4", "1", "1/10"}, {"1", "5", "1", "1/10"},
		} {
			v, gamma := rats(s...), rat(1, 100)
			c := pairCase{v[0], v[1], v[2], v[3]}
			a, b := c.err(first, gamma), c.err(second, gamma)
			for i, to := range []number.Interval{c.err("rnm-exponential", gamma), half} {
				apart := below(a, to) && below(to, b) || below(b, to) && below(to, a)
				t.expect(!apart, "%s: %s %.4g, %s %.4g, %s %.4g", c, first, a.Near(), second, b.Near(), []string{"RNM", "random"}[i], to.Near())
			}
		}
	})
}
