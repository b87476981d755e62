package claims

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/internal/scenario"
	"optratio/mechanisms"
	"optratio/number/interval"
)

func init() {
	entries = append(entries,
		Entry{
			Source: Het, Item: "V, best of two",
			Statement: "In all scenarios studied one of GEM and mGEM is the best private mechanism, or comparable to the best",
			Check:     bestOfTwo,
		},
		Entry{
			Source: Het, Item: "V-A, GEM, Δ_1 > Δ_2, favourite",
			Statement: "Of two candidates with q_1 < q_2 and Δ_1 > Δ_2 GEM favours the second",
			Check:     pairClaim("gem", pairs(more, nil), neverWorseThanRandom),
		},
		Entry{
			Source: Het, Item: "V-A, GEM, Δ_1 > Δ_2, against RNM",
			Statement: "Of two candidates with q_1 < q_2 and Δ_1 > Δ_2 GEM takes the second more often than report noisy max does (stated as an expectation)",
			Note:      "True iff (q_2-q_1) Δ_2 < t Δ_1 (Δ_1-Δ_2), t = 2 ln(2/β)/ε: not for scores far apart, where the handicap counts little and what counts is that GEM divides by Δ_1 + Δ_2 and wastes half of ε.",
			Check:     pairClaim("gem", pairs(more, nil), betterThanRNM),
		},
		Entry{
			Source: Het, Item: "V-A, GEM, Δ_1 < Δ_2",
			Statement: "Of two candidates with q_1 < q_2 and Δ_1 < Δ_2 GEM favours the first, worse than RNM and than random selection, where q_1 - tΔ_1 > q_2 - tΔ_2: for large Δ_2 - Δ_1 or small ε",
			Check:     pairClaim("gem", pairs(fewer, handicapDecides), worseThanRandom),
		},
		Entry{
			Source: Het, Item: "V-A, mGEM, Δ_1 < Δ_2",
			Statement: "Of two candidates with q_1 < q_2 and Δ_1 < Δ_2 mGEM takes the second more often than report noisy max does (stated as an expectation)",
			Note:      "True iff (q_2-q_1) Δ_1 < |t| Δ_2 (Δ_2-Δ_1), for the same reason as with GEM.",
			Check:     pairClaim("mgem", pairs(fewer, nil), betterThanRNM),
		},
		Entry{
			Source: Het, Item: "V-A, mGEM, Δ_1 > Δ_2",
			Statement: "Of two candidates with q_1 < q_2 and Δ_1 > Δ_2 mGEM can perform worse than random selection, as it can favour the first",
			Note:      "Where q_2 - q_1 < |t|(Δ_1 - Δ_2).",
			Check:     pairClaim("mgem", pairs(more, handicapDecides), worseThanRandom),
		},
		Entry{
			Source: Het, Item: "V-A, errors of RNM and RNMH",
			Statement: "Of two candidates with q_1 < q_2 report noisy max takes the first with probability exp(-ε(q_2-q_1)/2Δ)/2, RNMH with exp(-ε(q_2-q_1)/2Δ_1)/(1+Δ_2/Δ_1)",
			Check:     twoCandidateFormulas(one),
		},
		Entry{
			Source: Het, Item: "V-A, HG(RNM, RNMH)",
			Statement: "HG(RNM, RNMH), the probability that report noisy max errs less that of RNMH, is positive for Δ_1 < Δ_2 and negative for Δ_1 > Δ_2",
			Note:      "For Δ_1 < Δ_2 both factors of RNMH's probability are smaller; for Δ_1 > Δ_2 the exponents are the same, and 1/(1+Δ_2/Δ_1) > 1/2.",
			Check:     signOfGain,
		},
		Entry{
			Source: Het, Item: "Figure 2",
			Statement: "HG(RNM, RS_γ) too is positive for Δ_1 < Δ_2 and negative for Δ_1 > Δ_2, at γ = 0.01, ε = 0.1 and scores 0 and 1",
			Note:      "The range of the figure's axes is not given.",
			Check:     figureTwo("rs"),
		},
		Entry{
			Source: Het, Item: "V-A, mGEM and RS",
			Statement: "Of two candidates: mGEM and RS_γ outperform report noisy max in the same settings, and perform worse than it and than random selection in the same settings (found empirically)",
			Note: "At the parameters of figure 2 no difference was found. Where report noisy max errs rarely, RS_γ does not: both candidates being drawn takes two draws, and it errs with probability γ/(1+γ) at least, which mGEM does not. " +
				"Beside the diagonal Δ_1 = Δ_2 they differ by less than a figure shows.",
			Check: sameSettings("mgem", "rs"),
		},
		Entry{
			Source: Het, Item: "V-B, order of candidates",
			Statement: "But for the normalisation, GEM orders candidates by q - tΔ, mGEM by q + tΔ",
			Note:      "The best under the normalised score are exactly the best under q - tΔ; behind them the denominators can change the order.",
			Check:     ordersByHandicap,
		},
		Entry{
			Source: Het, Item: "V-B, figures 3, 4 and 18",
			Statement: "Two more scenarios: in the first mGEM and GEM beat report noisy max, in the second it overtakes mGEM at larger ε; figure 3 sketches why; with a weighted correlation the prediction is better",
			Check:     notCheckable("the candidates of figures 4 and 18 are not listed, figure 3 has no numbers"),
		},
	)
}

// A pairCase is two candidates of scores 0 and gap > 0.
type pairCase struct {
	d1, d2, gap, eps *big.Rat
}

func (c pairCase) String() string {
	return fmt.Sprintf("Δ = (%s, %s), gap %s, ε = %s", c.d1.RatString(), c.d2.RatString(), c.gap.RatString(), c.eps.RatString())
}

func (c pairCase) instance() *mechanisms.Instance {
	e, err := mechanisms.FromEpsilon(c.eps)
	if err != nil {
		panic(err) // a constant of this package
	}
	return &mechanisms.Instance{Scores: []*big.Rat{new(big.Rat), c.gap}, Sensitivities: []*big.Rat{c.d1, c.d2}, Epsilon: e}
}

// err encloses the probability of taking the worse candidate.
func (c pairCase) err(name string, gamma *big.Rat) (interval.Interval, error) {
	in := c.instance()
	in.Params.Gamma = gamma
	p, err := named(name).Enclose(in, enclosedBits)
	if err != nil {
		return interval.Interval{}, err
	}
	return p[0], nil
}

// againstRNM returns err of a mechanism and of report noisy max.
func (c pairCase) againstRNM(name string) (own, rnm interval.Interval, err error) {
	if own, err = c.err(name, nil); err == nil {
		rnm, err = c.err("rnm-exponential", nil)
	}
	return own, rnm, err
}

// handicap is t = 2 ln(n/β)/ε for the default β = 1/20.
func (c pairCase) handicap() interval.Interval {
	return interval.LogRat(rat(40, 1), precision).Mul(enclose(quo(rat(2, 1), c.eps)))
}

// more and fewer are Δ_1 > Δ_2 and Δ_1 < Δ_2.
func more(c pairCase) bool  { return c.d1.Cmp(c.d2) > 0 }
func fewer(c pairCase) bool { return c.d1.Cmp(c.d2) < 0 }

// handicapDecides says that the gap is smaller than t times the difference of the sensitivities.
func handicapDecides(c pairCase) bool {
	return below(enclose(c.gap), c.handicap().Mul(enclose(new(big.Rat).Abs(sub(c.d1, c.d2)))))
}

// handicapPays is the condition under which gem or mgem with the handicap on the right side beats report noisy max.
func handicapPays(c pairCase) bool {
	small, large := c.d1, c.d2
	if more(c) {
		small, large = c.d2, c.d1
	}
	return below(enclose(mul(c.gap, small)), c.handicap().Mul(enclose(mul(large, sub(large, small)))))
}

// pairs returns the cases of a grid that meet both conditions, the second of which may be nil.
func pairs(conditions ...func(pairCase) bool) []pairCase {
	var out []pairCase
	values := rats("1/10", "1", "9/5", "2", "9/2", "20")
	for _, eps := range rats("1", "1/10", "3") {
		for _, gap := range rats("1/10", "1", "5", "20") {
			for _, d1 := range values {
				for _, d2 := range values {
					c, ok := pairCase{d1, d2, gap, eps}, true
					for _, condition := range conditions {
						ok = ok && (condition == nil || condition(c))
					}
					if ok {
						out = append(out, c)
					}
				}
			}
		}
	}
	return out
}

// Statements about the probabilities of taking the worse candidate.
type comparison func(own, rnm interval.Interval) bool

func betterThanRNM(own, rnm interval.Interval) bool      { return below(own, rnm) }
func neverWorseThanRandom(own, _ interval.Interval) bool { return below(own, enclose(rat(1, 2))) }
func worseThanRandom(own, rnm interval.Interval) bool {
	return below(enclose(rat(1, 2)), own) && below(rnm, own)
}

func pairClaim(name string, cases []pairCase, says comparison) func(context.Context) (Finding, error) {
	return func(context.Context) (Finding, error) {
		var t tally
		failed := 0
		for _, c := range cases {
			own, rnm, err := c.againstRNM(name)
			if err != nil {
				return Finding{}, err
			}
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
func twoCandidateFormulas(factor *big.Rat) func(context.Context) (Finding, error) {
	return func(context.Context) (Finding, error) {
		var t tally
		for _, c := range pairs() {
			largest := c.d1
			if fewer(c) {
				largest = c.d2
			}
			fall := func(d *big.Rat) interval.Interval {
				return interval.ExpRat(quo(mul(c.eps, c.gap), mul(rat(-2, 1), d)), precision)
			}
			want := map[string]interval.Interval{
				"rnm-exponential": fall(largest).Mul(enclose(rat(1, 2))),
				"rnmh":            fall(c.d1).Mul(enclose(quo(factor, add(one, quo(c.d2, c.d1))))),
			}
			for _, name := range []string{"rnm-exponential", "rnmh"} {
				got, err := c.err(name, nil)
				if err != nil {
					return Finding{}, err
				}
				_, meet := got.Intersect(want[name])
				t.expect(meet, "%s: %s %.8g, not %.8g", c, name, got.Near(), want[name].Near())
			}
		}
		return t.finding("the same pairs as in the entries on GEM, enclosed to 10⁻¹⁸ of each", "")
	}
}

func signOfGain(context.Context) (Finding, error) {
	var t tally
	for _, c := range pairs(func(c pairCase) bool { return more(c) || fewer(c) }) {
		rnm, err := c.err("rnm-exponential", nil)
		if err != nil {
			return Finding{}, err
		}
		rnmh, err := c.err("rnmh", nil)
		if err != nil {
			return Finding{}, err
		}
		t.expect(below(rnmh, rnm) == fewer(c) && below(rnm, rnmh) == more(c), "%s: %.8g and %.8g", c, rnm.Near(), rnmh.Near())
	}
	return t.finding("the same pairs as in the entries on GEM, enclosed", "")
}

// figureTwo checks that a mechanism has RNMH's signs at the parameters of figure 2.
func figureTwo(name string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		least := math.Inf(1)
		rnm, own := named("rnm-exponential").(mechanisms.FloatScorer), named(name).(mechanisms.FloatScorer)
		for i := 1; i <= 21; i++ {
			for j := 1; j <= 21; j++ {
				if ctx.Err() != nil {
					return Finding{}, ctx.Err()
				}
				if i == j {
					continue
				}
				d1, d2 := float64(i)/2, float64(j)/2
				gain, err := scenario.Gain(rnm, own, d1, d2, 1, 0.1, mechanisms.Params{Gamma: rat(1, 100)})
				if err != nil {
					return Finding{}, err
				}
				least = min(least, math.Abs(gain))
				t.expect(math.Abs(gain) > 1e-6 && (gain > 0) == (d1 < d2), "Δ = (%g, %g): %.6f", d1, d2, gain)
			}
		}
		return t.finding("Δ_1 and Δ_2 = 0.5, 1, …, 10.5, different, quadrature (estimates)", fmt.Sprintf("|HG| is at least %.2g", least))
	}
}

// sameSettings checks that two mechanisms are on the same side of report noisy max, and of random selection, for two candidates, which is the setting of V-A.
func sameSettings(first, second string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var differ []string
		checked := 0
		compare := func(where string, a, b, to interval.Interval, what string) {
			checked++
			if below(a, to) && below(to, b) || below(b, to) && below(to, a) {
				differ = append(differ, fmt.Sprintf("%s: %s %.4g, %s %.4g, %s %.4g", where, first, a.Near(), second, b.Near(), what, to.Near()))
			}
		}
		for _, c := range []pairCase{
			{rat(1, 10), one, rat(5, 1), rat(3, 1)}, {rat(4, 1), rat(9, 2), one, rat(3, 1)}, {one, rat(9, 5), one, rat(3, 1)}, {rat(9, 5), one, one, rat(3, 1)},
			{rat(4, 1), rat(9, 2), one, rat(1, 10)}, {rat(9, 2), rat(4, 1), one, rat(1, 10)}, {one, rat(5, 1), one, rat(1, 10)},
		} {
			var errs [3]interval.Interval
			for i, name := range []string{first, second, "rnm-exponential"} {
				var err error
				if errs[i], err = c.err(name, rat(1, 100)); err != nil {
					return Finding{}, err
				}
			}
			compare(c.String(), errs[0], errs[1], errs[2], "RNM")
			compare(c.String(), errs[0], errs[1], enclose(rat(1, 2)), "random")
		}
		domain := fmt.Sprintf("seven pairs, γ = 0.01, β = 0.05: %d comparisons, enclosed", checked)
		if differ != nil {
			return Finding{Verdict: Refuted, Domain: domain, Witness: strings.Join(differ, "; ")}, nil
		}
		return Finding{Verdict: Holds, Domain: domain}, nil
	}
}

func ordersByHandicap(context.Context) (Finding, error) {
	var t tally
	rng := rand.New(rand.NewPCG(8, 9))
	swapped := ""
	for range 400 {
		q, d := randomInstance(rng, 2+rng.IntN(5))
		level := rat(rng.Int64N(4001)-2000, 100)
		x := normalised(q, d, level)
		handicapped := make([]*big.Rat, len(q))
		top := 0
		for a := range q {
			if handicapped[a] = sub(q[a], mul(level, d[a])); handicapped[a].Cmp(handicapped[top]) > 0 {
				top = a
			}
		}
		for a := range q {
			t.expect((x[a].Sign() == 0) == (handicapped[a].Cmp(handicapped[top]) == 0), "scores %s, sensitivities %s, t = %s: candidate %d", text(q), text(d), level.RatString(), a)
			for b := range q {
				if swapped == "" && x[a].Cmp(x[b]) < 0 && handicapped[a].Cmp(handicapped[b]) > 0 {
					swapped = fmt.Sprintf("scores %s, sensitivities %s, t = %s: behind the best, candidate %d is ahead of %d by q - tΔ, behind it by q'", text(q), text(d), level.RatString(), a, b)
				}
			}
		}
	}
	return t.finding("the best candidates of 400 random instances, t in [-20, 20], exact", swapped)
}

func bestOfTwo(context.Context) (Finding, error) {
	var parts []string
	for number := 1; number <= 3; number++ {
		for _, eps := range []string{"1", "2", "8", "16"} {
			names := []string{"gem", "mgem", "rnm-exponential", "krr", "combined-gem", "rs", "rs-log"}
			errs, err := mses(number, eps, names...)
			if err != nil {
				return Finding{}, err
			}
			own, best := errs["gem"].Min(errs["mgem"]).Near(), names[0]
			for _, name := range names {
				if below(errs[name], errs[best]) {
					best = name
				}
			}
			if best != "gem" && best != "mgem" {
				parts = append(parts, fmt.Sprintf("scenario %d, ε = %s: %.3g against %.3g of %s", number, eps, own, errs[best].Near(), best))
			}
		}
	}
	return Finding{Verdict: NotCheckable, Domain: "scenarios 1 to 3, ε = 1, 2, 8, 16, mean squared errors, enclosed", Witness: "\"comparable\" is not defined; the better of the two is not the best at " + strings.Join(parts, "; ")}, nil
}
