package claims

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/verify"
)

func init() {
	register(Het, map[string]check{
		"Abstract": inOneReading("it does not say whether the mechanism is a private one: RNMH, which is not, wins in scenarios 1 to 3, and of private ones it is false",
			heterogeneousWins("gem", "mgem", "combined-gem", "rs", "rs-log")),
		"I, no mechanism wins everywhere": losesSomewhere("rnm-exponential", "rnmh", "gem", "mgem", "combined-gem", "rs", "rs-log", "krr"),
		"I, worse than random":            losesSomewhere("uniform", "rnmh", "gem", "mgem", "combined-gem", "rs", "rs-log"),
		"I, eq. (3)":                      latticeIsPrivate("rnm-exponential", "2"),
		"I, eq. (5), mean":                noiseMeans(func(eps *big.Rat) *big.Rat { return quo(rat(2, 1), eps) }),
		"I, footnote 2":                   noiseMeans(func(*big.Rat) *big.Rat { return one }),
		"I, eq. (5), probabilities":       halfOfTheTime,
		"I, eq. (5), converse":            converse(rats("1", "3/2"), rats("9/5", "4")),
		"II, random stopping":             stoppingIsPrivate([]string{"rs", "rs-log"}, "1/20"),
		"Definition 3.1, (1), (2)":        notCheckable("definitions"),
		"III-B, noise":                    betterNoise("rnm-exponential", "rnm-laplace", "rnm-gumbel"),
		"III-B, randomised response":      randomisedResponse,
	})
}

// grid of ε on which scenarios are compared; VIII names 0.01 to 16, "as before".
var allEpsilons = []string{"0.01", "0.1", "0.5", "1", "2", "4", "8", "16"}

// heterogeneousWins checks that in each of scenarios 1, 2, 3 one of the mechanisms has a smaller error than report noisy max at some ε.
func heterogeneousWins(names ...string) check {
	return func(t *tally) Finding {
		var where []string
		for number := 1; number <= 3; number++ {
			winner, closest := "", ""
			for _, eps := range allEpsilons {
				errs := mses(number, eps, append([]string{"rnm-exponential"}, names...)...)
				for _, name := range names {
					if below(errs[name], errs["rnm-exponential"]) {
						winner = fmt.Sprintf("%s in scenario %d at ε = %s", name, number, eps)
					}
				}
				if winner != "" {
					break
				}
				if eps == "2" {
					var parts []string
					for _, name := range names {
						parts = append(parts, fmt.Sprintf("%s %.4g", name, errs[name].Near()))
					}
					closest = fmt.Sprintf("at ε = 2 mean squared errors of %s against %.4g", strings.Join(parts, ", "), errs["rnm-exponential"].Near())
				}
			}
			t.expect(winner != "", "scenario %d: none beats report noisy max at any of these ε; %s", number, closest)
			where = append(where, winner)
		}
		return t.finding("scenarios 1 to 3 (figure 1), ε = "+strings.Join(allEpsilons, ", ")+", enclosed; "+strings.Join(names, ", "), strings.Join(where, ", "))
	}
}

// misleading is an instance on which scores and sensitivities correlate positively, but for ten candidates that are far worse and far more sensitive than all others.
func misleading(eps string) *mechanisms.Instance {
	in := &mechanisms.Instance{Epsilon: epsilonOf(eps)}
	for i := range 100 {
		q, d := rat(0, 1), rat(1, 1)
		switch {
		case i < 10:
			q, d = rat(-20, 1), rat(9, 1)
		case i < 55:
			q, d = rat(1, 1), rat(2, 1)
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	return in
}

// losesSomewhere checks that each of the mechanisms has a larger error than the first somewhere: in scenario 1, 2 or 3 at ε = 1 or on the misleading instance at ε = 0.1.
func losesSomewhere(to string, names ...string) check {
	return func(t *tally) Finding {
		var where []string
		for _, name := range names {
			found := ""
			for number := 1; number <= 4 && found == ""; number++ {
				in, at := misleading("0.1"), "on an instance where ten of 100 candidates are far worse and more sensitive than the others"
				if number <= 3 {
					in = bimodal(number, 50, "1")
					at = fmt.Sprintf("in scenario %d at ε = 1", number)
				}
				reference := mse(to, in)
				own := mse(name, in)
				if below(reference, own) {
					found = fmt.Sprintf("%s %s: %.4g against %.4g", name, at, own.Near(), reference.Near())
				}
			}
			t.expect(found != "", "%s is nowhere worse than %s", name, to)
			where = append(where, found)
		}
		return t.finding("scenarios 1 to 3 at ε = 1, and an instance of ours, mean squared errors, enclosed", strings.Join(where, "; "))
	}
}

// latticeIsPrivate checks a mechanism of one sensitivity at e^ε.
func latticeIsPrivate(name, exp string) check {
	return func(t *tally) Finding {
		for n := 2; n <= 4; n++ {
			report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named(name), Epsilon: expOf(rats(exp)[0])}, n, 3, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
			r := report.Properties[0]
			t.expect(r.Verdict == verify.Proved, "n = %d: %s", n, r)
		}
		return t.finding("e^ε = "+exp+", all neighbors of Q(n,3), n = 2, 3, 4, exact", "")
	}
}

// noiseMeans checks the mean of the left side of (5) to be factor(ε)·H_{k/2}·(Δ_1 - Δ_2). The mean of the largest of m exponential numbers of mean μ
// is the integral of 1 - (1 - e^{-x/μ})^m, that is μ Σ_j (-1)^{j+1} C(m,j)/j.
func noiseMeans(factor func(eps *big.Rat) *big.Rat) check {
	return func(t *tally) Finding {
		largest := func(m int, mean *big.Rat) *big.Rat {
			total := new(big.Rat)
			for j := 1; j <= m; j++ {
				term := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(m), int64(j)), big.NewInt(int64(j)))
				if j%2 == 0 {
					term.Neg(term)
				}
				total = add(total, term)
			}
			return mul(total, mean)
		}
		for _, eps := range rats("1", "2", "1/10", "3") {
			for _, k := range []int{100, 2, 10} {
				for _, d := range [][2]*big.Rat{{rat(9, 5), one}, {rat(3, 1), rat(1, 2)}} {
					got := sub(largest(k/2, quo(mul(rat(2, 1), d[0]), eps)), largest(k/2, quo(mul(rat(2, 1), d[1]), eps)))
					harmonic := new(big.Rat)
					for j := 1; j <= k/2; j++ {
						harmonic = add(harmonic, rat(1, int64(j)))
					}
					want := mul(factor(eps), mul(harmonic, sub(d[0], d[1])))
					t.expect(got.Cmp(want) == 0 && got.Sign() > 0, "ε = %s, k = %d, Δ = %s and %s: the mean is %s, not %s", eps.RatString(), k, d[0].RatString(), d[1].RatString(), decimals(got, 4), decimals(want, 4))
				}
			}
		}
		return t.finding("ε = 1, 2, 0.1, 3, k = 2, 10, 100, two pairs of sensitivities, exact", "")
	}
}

// ofTheBetter encloses the probability that one of the second half is taken.
func ofTheBetter(name string, in *mechanisms.Instance) interval.Interval {
	p := must(named(name).Enclose(in, enclosedBits))
	total := interval.FromInt(0, enclosedBits)
	for _, x := range p[len(p)/2:] {
		total = total.Add(x)
	}
	return total
}

func halfOfTheTime(t *tally) Finding {
	half := interval.FromRat(rat(1, 2), enclosedBits)
	seen := ""
	for _, k := range []int{2, 4, 20, 100} {
		for _, d1 := range rats("9/5", "6") {
			for _, gap := range rats("1/2", "2") {
				in := halves(k, gap, d1, one, epsilonOf("1"))
				rnm := ofTheBetter("rnm-exponential", in)
				t.expect(below(half, rnm), "report noisy max, k = %d, Δ_1 = %s, gap %s: %.6f", k, d1.RatString(), gap.RatString(), rnm.Near())
				if k == 100 {
					rnmh := ofTheBetter("rnmh", in)
					t.expect(below(rnmh, half), "RNMH, k = %d, Δ_1 = %s, gap %s: %.6f", k, d1.RatString(), gap.RatString(), rnmh.Near())
					seen = fmt.Sprintf("k = 100, Δ_1 = %s, Δ_2 = 1, gap %s: RNMH %.3g, report noisy max %.3g", d1.RatString(), gap.RatString(), rnmh.Near(), rnm.Near())
				}
			}
		}
	}
	return t.finding("ε = 1, Δ_2 = 1, k = 2, 4, 20, 100, two Δ_1 and gaps, enclosed", seen)
}

// converse checks that RNMH takes a better candidate more often, for each Δ_1 and Δ_2 given.
func converse(lower, higher []*big.Rat) check {
	return func(t *tally) Finding {
		for _, k := range []int{2, 10, 60} {
			for _, gap := range rats("1/10", "1", "5") {
				for _, d1 := range lower {
					for _, d2 := range higher {
						in := halves(k, gap, d1, d2, epsilonOf("1"))
						rnm := ofTheBetter("rnm-exponential", in)
						rnmh := ofTheBetter("rnmh", in)
						t.expect(below(rnm, rnmh), "k = %d, Δ = %s and %s, gap %s: RNMH %.6f, report noisy max %.6f", k, d1.RatString(), d2.RatString(), gap.RatString(), rnmh.Near(), rnm.Near())
					}
				}
			}
		}
		return t.finding(fmt.Sprintf("ε = 1, k = 2, 10, 60, three gaps, pairs of sensitivities: %d cases, enclosed", t.checked), "")
	}
}

// stoppingIsPrivate checks random stopping at e^ε = 2: "rs" adds Laplace noise of scale 3Δ_a/ε to a score, so that its runs are ε/3-DP, and "rs-log" of scale 2Δ_a/ε.
func stoppingIsPrivate(names []string, gammas ...string) check {
	return func(t *tally) Finding {
		for _, name := range names {
			for _, gamma := range rats(gammas...) {
				for _, d := range [][]*big.Rat{rats("1", "1"), rats("1", "3"), rats("0", "1"), rats("1", "2", "4")} {
					worst, at := costOfNeighbors(named(name), expOf(rat(2, 1)), d, mechanisms.Params{Gamma: gamma})
					t.expect(below(worst, interval.FromInt(2, enclosedBits)), "%s, γ = %s, sensitivities %s: %s", name, gamma.RatString(), text(d), at)
				}
			}
		}
		return t.finding("e^ε = 2, γ = "+strings.Join(gammas, ", ")+"; sensitivities (1, 1), (1, 3), (0, 1), (1, 2, 4); scores (0, 0), (0, 1), (0, 3) of two candidates, (0, 0, 0) and (2, 1, 0) of three, and the neighbors "+
			"that move every score by its sensitivity, not all the same way; enclosed", "")
	}
}

// costOfNeighbors encloses the largest ratio of two probabilities of one candidate at neighbors, and says where: for some score vectors, and the neighbors in which
// every score moves up or down by its sensitivity, not all the same way.
func costOfNeighbors(m mechanisms.Mechanism, eps mechanisms.Epsilon, d []*big.Rat, params mechanisms.Params) (worst interval.Interval, at string) {
	vectors := [][]*big.Rat{rats("0", "0", "0"), rats("2", "1", "0")}
	if len(d) == 2 {
		vectors = [][]*big.Rat{rats("0", "0"), rats("0", "1"), rats("0", "3")}
	}
	ask := func(q []*big.Rat) []interval.Interval {
		return must(m.Enclose(&mechanisms.Instance{Scores: q, Sensitivities: d, Epsilon: eps, Params: params}, enclosedBits))
	}
	worst = interval.FromInt(1, enclosedBits)
	for _, q := range vectors {
		here := ask(q)
		for signs := 1; signs < 1<<len(d)-1; signs++ {
			moved := make([]*big.Rat, len(q))
			for a := range q {
				if moved[a] = add(q[a], d[a]); signs>>a&1 == 0 {
					moved[a] = sub(q[a], d[a])
				}
			}
			there := ask(moved)
			for a := range q {
				for _, ratio := range []interval.Interval{here[a].Quo(there[a]), there[a].Quo(here[a])} {
					if worst = worst.Max(ratio); below(worst.Sub(interval.FromFloat(1e-9, enclosedBits)), ratio) {
						at = fmt.Sprintf("the probability of candidate %d differs by a factor of %.4g between scores %s and %s", a, ratio.Near(), text(q), text(moved))
					}
				}
			}
		}
	}
	return worst, at
}

// betterNoise checks that the first mechanism has at most the expected error of each of the others on the lattice.
func betterNoise(first string, others ...string) check {
	return func(t *tally) Finding {
		for _, exp := range rats("5/4", "2", "10") {
			for n := 2; n <= 4; n++ {
				for _, q := range scores(n, 3, one) {
					in := &mechanisms.Instance{Scores: q, Sensitivities: rats("1/2"), Epsilon: expOf(exp)}
					own := loss(named(first), in, false)
					for _, name := range others {
						other := loss(named(name), in, false)
						// all errors are 0 where all scores are equal
						t.expect(below(own, other) || own.IsPoint() && other.IsPoint(), "scores %s, e^ε = %s: %.6g against %.6g of %s", text(q), exp.RatString(), own.Near(), other.Near(), name)
					}
				}
			}
		}
		return t.finding("e^ε = 5/4, 2, 10, all lattice vectors of 2 to 4 candidates and depth 3, enclosed", "")
	}
}

func randomisedResponse(t *tally) Finding {
	for _, exp := range rats("3/2", "40") {
		for k := 2; k <= 6; k++ {
			in := &mechanisms.Instance{Sensitivities: rats("1"), Epsilon: expOf(exp)}
			for i := range k {
				in.Scores = append(in.Scores, rat(int64(i*i), 3))
			}
			p := must(named("krr").Exact(in))
			total := add(exp, rat(int64(k-1), 1))
			for i, x := range p {
				want := quo(one, total)
				if i == k-1 {
					want = quo(exp, total)
				}
				t.expect(x.Cmp(want) == 0, "k = %d, e^ε = %s: %s, not %s", k, exp.RatString(), x.RatString(), want.RatString())
			}
		}
	}
	seen := ""
	for number := 1; number <= 3; number++ {
		names := []string{"krr", "rnm-exponential", "gem", "mgem", "combined-gem", "rs", "rs-log"}
		errs := mses(number, "16", names...)
		for _, name := range names[1:] {
			t.expect(below(errs["krr"], errs[name]), "scenario %d, ε = 16: %.3g against %.3g of %s", number, errs["krr"].Near(), errs[name].Near(), name)
		}
		seen = fmt.Sprintf("mean squared error %.3g at ε = 16, report noisy max %.3g", errs["krr"].Near(), errs["rnm-exponential"].Near())
	}
	return t.finding("probabilities for k = 2, …, 6, exact; errors in scenarios 1 to 3 at ε = 16, enclosed", seen)
}
