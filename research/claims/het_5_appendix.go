package claims

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/mechanisms"
	"optratio/mechanisms/recommend"
	"optratio/number/interval"
	"optratio/research/scenario"
)

func init() {
	register(Het, map[string]check{
		"App. B, divergence":    ratioDiverges(drawnAndBest),
		"App. B, probabilities": printedProbability,
		"Definition A.1":        negativeBinomial,
		"App. C, improved RS":   improvedVersion,
		"App. D, effect of γ":   gainGrows(false),
		"Figure 10, caption":    gainGrows(true),
		"App. E, scenario 1":    splits(1, shares, []string{"rnmh", "mgem", "rs"}, []string{"rnm-exponential", "gem"}),
		"App. E, scenario 2":    worseThanRandomAtAll("rnmh", "mgem", "rs"),
		"App. E, extremes":      gapAtExtremes,
		"Figure 13, caption":    gapPeak,
		"App. E, scenario 3":    splits(3, even, []string{"rnm-exponential"}, []string{"gem", "mgem", "rs", "combined-gem"}),
		"App. I, (16)":          largestLaplace,
		"App. I, (17)":          notCheckable("the candidates of figure 4 are not listed; optratio recommend computes the weighted correlation"),
		"App. J, (18)":          boundsCompared,
		"App. J, (19)":          vacuousWhere(func(*big.Rat) *big.Rat { return rat(2, 1) }),
	})
}

// In App. B's example let a = 1 - e^{-ε/6} be the probability that another draw stays below candidate 1, and φ(s) = γs/(1-(1-γ)s) the generating function of the
// number of draws. All draws are candidate 1 with probability φ(1/k); candidate 1 is drawn and every other draw stays below with
// probability φ((1+(k-1)a)/k) - φ((k-1)a/k). The source has the first term only.

func phi(gamma, s *big.Rat) *big.Rat {
	return quo(mul(gamma, s), sub(one, mul(sub(one, gamma), s)))
}

// neighborProbability is the source's probability, with the weights γ(1-γ)^{t-1} of the geometric law, which cancel in the ratio.
func neighborProbability(gamma, a *big.Rat, k int64) *big.Rat {
	return phi(gamma, quo(add(one, mul(rat(k-1, 1), a)), rat(k, 1)))
}

// drawnAndBest is the probability that candidate 1 is drawn and every other draw stays below.
func drawnAndBest(gamma, a *big.Rat, k int64) *big.Rat {
	return sub(neighborProbability(gamma, a, k), phi(gamma, quo(mul(rat(k-1, 1), a), rat(k, 1))))
}

// ratioDiverges checks that the ratio of probabilities goes to infinity with k, given the probability of candidate 1 at the neighbor.
func ratioDiverges(atNeighbor func(gamma, a *big.Rat, k int64) *big.Rat) check {
	return func(t *tally) Finding {
		gamma := rat(1, 20)
		for _, a := range rats("3/20", "1/2") { // ε = 0.975… and ε = 6 ln 2
			ratio := func(probability func(gamma, a *big.Rat, k int64) *big.Rat, k int64) *big.Rat {
				return quo(probability(gamma, a, k), phi(gamma, rat(1, k)))
			}
			for k := int64(10); k < 1_000_000; k *= 10 {
				t.expect(ratio(atNeighbor, 10*k).Cmp(mul(rat(3, 2), ratio(atNeighbor, k))) > 0, "γ = 1/20, e^{-ε/6} = %s: %s at k = %d and %s at k = 10⁶; the limit is %s; the printed formula gives %s at k = 10⁶", sub(one, a).RatString(),
					decimals(ratio(atNeighbor, k), 5), k, decimals(ratio(atNeighbor, 1_000_000), 5), decimals(quo(one, power(sub(one, mul(sub(one, gamma), a)), 2)), 5), decimals(ratio(neighborProbability, 1_000_000), 5))
			}
		}
		return t.finding("γ = 1/20, e^{-ε/6} = 17/20 and 1/2, k = 10, 10², …, 10⁶, exact", "")
	}
}

func printedProbability(t *tally) Finding {
	for _, gamma := range rats("1/20", "1/2", "1/3") {
		for k := int64(2); k <= 20; k++ {
			share := quo(sub(one, gamma), rat(k, 1))
			printed, truth := quo(share, sub(one, share)), phi(gamma, rat(1, k))
			t.expect(printed.Cmp(truth) == 0, "γ = %s, k = %d: %s; the draws are all of candidate 1 with probability %s", gamma.RatString(), k, short(printed, 5), short(truth, 5))
		}
	}
	return t.finding("γ = 1/20, 1/2, 1/3, k = 2, …, 20, exact", "")
}

func negativeBinomial(t *tally) Finding {
	const terms = 700
	for _, c := range []struct{ gamma, eta, power string }{ // power is γ^η
		{"1/4", "1/2", "1/2"}, {"1/4", "-1/2", "2"}, {"1/10", "1", "1/10"}, {"1/3", "2", "1/9"}, {"1/5", "0", "1"},
	} {
		v := rats(c.gamma, c.eta, c.power)
		eta, rest := v[1], enclose(sub(one, v[0]))
		norm := interval.LogRat(quo(one, v[0]), precision)
		mean := enclose(sub(quo(one, v[0]), one)).Quo(norm)
		if eta.Sign() != 0 {
			norm = enclose(sub(quo(one, v[2]), one))
			mean = enclose(quo(mul(eta, sub(one, v[0])), mul(v[0], sub(one, v[2]))))
		}
		total, first := enclose(new(big.Rat)), enclose(new(big.Rat))
		product, factor := enclose(one), enclose(one) // (1-γ)^k, and Π (l+η)/(l+1) or 1/k
		for k := int64(1); k <= terms; k++ {
			product = product.Mul(rest)
			factor = factor.Mul(enclose(quo(add(rat(k-1, 1), eta), rat(k, 1))))
			if eta.Sign() == 0 {
				factor = enclose(rat(1, k))
			}
			p := product.Mul(factor).Quo(norm)
			total, first = total.Add(p), first.Add(p.Mul(enclose(rat(k, 1))))
		}
		// What lies beyond is positive; each factor is at most k+1, so the terms of the mean are at most k(k+1)(1-γ)^k/|norm|, which for k > 700 add up to less than 2^-80 here.
		rest = interval.Hull(enclose(new(big.Rat)), enclose(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 80))))
		_, whole := total.Add(rest).Intersect(enclose(one))
		_, meet := first.Add(rest).Intersect(mean)
		t.expect(whole && meet, "γ = %s, η = %s: sum %.6f, mean %.6f, not %.6f", c.gamma, c.eta, total.Near(), first.Near(), mean.Near())
	}
	return t.finding("(γ, η) = (1/4, 1/2), (1/4, -1/2), (1/10, 1), (1/3, 2), (1/5, 0): 700 terms and a bound on the others, enclosed to 2⁻⁸⁰", "")
}

func improvedVersion(t *tally) Finding {
	var parts []string
	for number := 1; number <= 2; number++ {
		for _, eps := range []string{"1", "8"} {
			errs := mses(number, eps, "rs", "rs-log")
			parts = append(parts, fmt.Sprintf("scenario %d, ε = %s: %.3g with η = 0, %.3g with η = 1", number, eps, errs["rs-log"].Near(), errs["rs"].Near()))
		}
	}
	return Finding{Verdict: NotCheckable, Domain: "scenarios 1 and 2, γ = 0.05, mean squared errors, enclosed",
		Witness: "improved is the privacy bound, 2ε in place of 3ε (see II); of the error nothing is claimed: " + strings.Join(parts, "; ") + ". At equal γ there are fewer draws with η = 0"}
}

// gainGrows checks that |HG(RNM, RS_γ)| changes one way as γ falls.
func gainGrows(asGammaFalls bool) check {
	return func(t *tally) Finding {
		seen := ""
		for _, d := range [][2]string{{"1", "5"}, {"5", "1"}, {"2", "3"}, {"3", "2"}, {"1/2", "10"}} {
			c := pairCase{rats(d[0])[0], rats(d[1])[0], one, rat(1, 10)}
			rnm := c.err("rnm-exponential", nil)
			var last interval.Interval
			var shown []string
			for i, gamma := range []string{"1/2", "1/5", "1/20", "1/100", "1/500"} {
				rs := c.err("rs", rats(gamma)[0])
				gain := rnm.Sub(rs).Abs()
				shown = append(shown, fmt.Sprintf("%.4f at γ = %s", gain.Near(), gamma))
				if i > 0 {
					t.expect(asGammaFalls && below(last, gain) || !asGammaFalls && below(gain, last), "%s: |HG| is %s", c, strings.Join(shown, ", "))
				}
				last = gain
			}
			seen = fmt.Sprintf("%s: |HG| is %s", c, strings.Join(shown, ", "))
		}
		return t.finding("ε = 0.1, scores 0 and 1, five pairs of sensitivities, γ = 1/2, 1/5, 1/20, 1/100, 1/500, enclosed", seen)
	}
}

// split returns the enclosed mean squared errors in scenario 1, 2 or 3 at ε = 2 with so many high scores.
func split(number, high int, names ...string) map[string]interval.Interval {
	return msesWith(number, high, "2", names...)
}

// Numbers of high scores out of 100.
var (
	shares = []int{1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99}
	even   = []int{2, 4, 10, 20, 30, 40, 50, 60, 70, 80, 90, 96, 98}
)

// sharesOf says in words what was checked.
func sharesOf(numbers []int) string {
	return strings.Trim(fmt.Sprint(numbers), "[]") + " high scores of 100, ε = 2, mean squared errors, enclosed"
}

// splits checks that each of some mechanisms has a smaller error than each of others.
func splits(number int, numbers []int, good, bad []string) check {
	return func(t *tally) Finding {
		for _, high := range numbers {
			errs := split(number, high, append(append([]string{}, good...), bad...)...)
			for _, a := range good {
				for _, b := range bad {
					t.expect(below(errs[a], errs[b]), "%d high scores: %s %.4g, %s %.4g", high, a, errs[a].Near(), b, errs[b].Near())
				}
			}
		}
		return t.finding(fmt.Sprintf("scenario %d, %s", number, sharesOf(numbers)), "")
	}
}

// worseThanRandomAtAll checks scenario 2, and that GEM beats report noisy max there.
func worseThanRandomAtAll(names ...string) check {
	return func(t *tally) Finding {
		failed := map[string][]string{}
		for _, high := range shares {
			errs := split(2, high, append([]string{"uniform", "gem", "rnm-exponential"}, names...)...)
			t.expect(below(errs["gem"], errs["rnm-exponential"]), "%d high scores: GEM %.4g, RNM %.4g", high, errs["gem"].Near(), errs["rnm-exponential"].Near())
			for _, name := range names {
				if !t.expect(below(errs["uniform"], errs[name]), "%d high scores: %s %.4f, random selection %.4f", high, name, errs[name].Near(), errs["uniform"].Near()) && below(errs[name], errs["uniform"]) {
					failed[name] = append(failed[name], fmt.Sprintf("%d (by %.1f %%)", high, 100*(1-errs[name].Near()/errs["uniform"].Near())))
				}
			}
		}
		for _, name := range names {
			if failed[name] != nil {
				t.witness += fmt.Sprintf("; %s is better than random selection at %s high scores", name, strings.Join(failed[name], ", "))
			}
		}
		return t.finding("scenario 2, "+sharesOf(shares), "")
	}
}

// gaps returns GEM's error less mGEM's in scenario 1.
func gaps(ctx context.Context, numbers []int) []interval.Interval {
	var out []interval.Interval
	for _, high := range numbers {
		ensure(ctx.Err())
		errs := split(1, high, "gem", "mgem")
		out = append(out, errs["gem"].Sub(errs["mgem"]))
	}
	return out
}

func gapAtExtremes(t *tally) Finding {
	gap := gaps(t.ctx, shares)
	first, last := gap[0], gap[len(gap)-1]
	for i, x := range gap[1 : len(gap)-1] {
		t.expect(below(first, x) || below(last, x), "%d high scores: %.4g; %.4g and %.4g at the ends", shares[i+1], x.Near(), first.Near(), last.Near())
	}
	t.expect(below(last, gap[1]) && below(first, gap[7]) && below(last, gap[7]), "the ends: %.4g and %.4g", first.Near(), last.Near())
	return t.finding("GEM's error less mGEM's, scenario 1, "+sharesOf(shares), fmt.Sprintf("%.3g at 1 high score, %.3g at 50, %.3g at 99", first.Near(), gap[7].Near(), last.Near()))
}

func gapPeak(t *tally) Finding {
	var numbers []int
	for high := 1; high < scenario.Candidates; high++ {
		numbers = append(numbers, high)
	}
	gap := gaps(t.ctx, numbers)
	most := 0
	for i := range gap {
		if below(gap[most], gap[i]) {
			most = i
		}
	}
	return Finding{Verdict: NotCheckable, Domain: "GEM's error less mGEM's, scenario 1, 1 to 99 high scores of 100, ε = 2, mean squared errors, enclosed",
		Witness: fmt.Sprintf("\"a few\" is not defined, nor which gap is meant; this one is largest, %.3g, at %d high scores", gap[most].Near(), numbers[most])}
}

// largestLaplace checks (16) through noisy max: a candidate without noise and score x is taken iff no noisy score of the others, all 0, exceeds x.
func largestLaplace(t *tally) Finding {
	for _, scales := range [][]string{{"1"}, {"1/2", "1/2", "10"}, {"1", "2", "3", "4"}} {
		for _, x := range rats("0", "1/2", "3") {
			in := &mechanisms.Instance{Scores: []*big.Rat{x}, Sensitivities: rats("0"), Epsilon: epsilonOf("1")}
			want := enclose(one)
			for _, b := range rats(scales...) {
				in.Scores, in.Sensitivities = append(in.Scores, new(big.Rat)), append(in.Sensitivities, b)
				want = want.Mul(enclose(one).Sub(interval.ExpRat(quo(mul(rat(-1, 1), x), b), precision).Mul(enclose(rat(1, 2)))))
			}
			p := must(named("rnmh-laplace").Enclose(in, enclosedBits))
			_, meet := p[0].Intersect(want)
			t.expect(meet, "scales %s, x = %s: %.8f, not %.8f", strings.Join(scales, ", "), x.RatString(), p[0].Near(), want.Near())
		}
	}
	return t.finding("three sets of scales, x = 0, 1/2, 3, enclosed: the probability of a candidate of score x without noise among candidates of score 0 with noise", "")
}

func boundsCompared(t *tally) Finding {
	for _, star := range rats("1/10", "1/2", "51/100", "1", "3") {
		for _, largest := range rats("1", "2", "3") {
			if star.Cmp(largest) > 0 {
				continue
			}
			in := &mechanisms.Instance{Scores: rats("5", "0", "1"), Sensitivities: []*big.Rat{star, largest, star}, Epsilon: epsilonOf("1")}
			b := must(recommend.NewUtilityBounds(in))
			gem, _ := b.GEM.Lower()
			rnm, _ := b.RNM.Upper()
			t.expect((gem.Cmp(rnm) > 0) == (mul(rat(2, 1), star).Cmp(largest) > 0), "Δ_* = %s, largest %s: bounds %s and %s", star.RatString(), largest.RatString(), b.GEM, b.RNM)
		}
	}
	return t.finding("14 pairs of sensitivities, ε = 1, β = 0.05, enclosed; the bounds have the ratio 2Δ_*/max Δ for all n, β and ε", "")
}

// vacuousWhere checks (19) with something in the place of its 2: that GEM's bound on the error exceeds the range of scores iff Δ_* > (q_* - q_-)/(4 ln(A/β)/divisor).
func vacuousWhere(divisor func(eps *big.Rat) *big.Rat) check {
	return func(t *tally) Finding {
		for _, eps := range rats("2", "1", "4", "16", "1/10") {
			for _, star := range rats("1/100", "1/10", "1/5", "1/2", "1", "4") {
				e := must(mechanisms.FromEpsilon(eps))
				in := &mechanisms.Instance{Scores: rats("3", "0", "1", "2"), Sensitivities: []*big.Rat{star, rat(4, 1), one, one}, Epsilon: e}
				b := must(recommend.NewUtilityBounds(in))
				threshold := enclose(quo(mul(rat(3, 1), divisor(eps)), rat(4, 1))).Quo(interval.LogRat(rat(80, 1), precision))
				condition := below(threshold, enclose(star))
				t.expect(condition == b.GEMVacuous, "scores 3, 2, 1, 0, ε = %s, β = 0.05, Δ_* = %s: the condition is %t, and the error is bounded by %s, the range is 3", eps.RatString(), star.RatString(), condition, b.GEM)
			}
		}
		return t.finding("four candidates, β = 0.05, five ε and six Δ_*, enclosed", "")
	}
}
