package claims

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/scenario"
	"optratio/verify"
)

// Claims of Antonova, Laro, McMillan & Wolf about private selection with one sensitivity per candidate are computed from the mechanisms' own probabilities: exact
// rationals, or enclosures wherever something is refuted. Here are sections I to IV, the mechanisms.
func init() {
	register(Het, map[string]check{
		"Abstract": inOneReading("it does not say whether the mechanism is a private one: RNMH, which is not, wins in scenarios 1 to 3, and of private ones it is false",
			heterogeneousWins("gem", "mgem", "combined-gem", "rs", "rs-log")),
		"I, no mechanism wins everywhere": losesSomewhere("rnm-exponential", "rnmh", "gem", "mgem", "combined-gem", "rs", "rs-log", "krr"),
		"I, worse than random":            losesSomewhere("uniform", "rnmh", "gem", "mgem", "combined-gem", "rs", "rs-log"),
		"I, eq. (3)": over("e^ε = 2, all neighbors of Q(n,3), n = 2, 3, 4, exact", "", func(t *tally) {
			for n := 2; n <= 4; n++ {
				r := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named("rnm-exponential"), Epsilon: expOf(two)}, n, 3, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})).Properties[0]
				t.expect(r.Verdict == verify.Proved, "n = %d: %s", n, r)
			}
		}),
		"I, eq. (5), mean":           noiseMeans(func(eps *big.Rat) *big.Rat { return quo(two, eps) }),
		"I, footnote 2":              noiseMeans(func(*big.Rat) *big.Rat { return one }),
		"I, eq. (5), probabilities":  halfOfTheTime,
		"I, eq. (5), converse":       converse(rats("1", "3/2"), rats("9/5", "4")),
		"II, random stopping":        stoppingIsPrivate([]string{"rs", "rs-log"}, "1/20"),
		"Definition 3.1, (1), (2)":   notCheckable("definitions"),
		"III-B, noise":               betterNoise("rnm-exponential", "rnm-laplace", "rnm-gumbel"),
		"III-B, randomised response": randomisedResponse,

		"IV-A, RNMH": over("ε = 0.1, 1, 5: exactly 0, and 1 - e^{-ε/4} enclosed", "", func(t *tally) {
			for _, e := range rats("1/10", "1", "5") {
				first := func(q string) number.Interval {
					return ask("rnmh", &mechanisms.Instance{Scores: rats("0", q), Sensitivities: rats("0", "1"), Epsilon: must(number.FromEpsilon(e))})[0]
				}
				above, under := first("1/2"), first("-1/2")
				t.expect(above.IsPoint() && above.Hi().Sign() == 0 && under.Lo().Sign() > 0, "ε = %s: %v and %v", e.RatString(), above.Near(), under.Near())
				t.meets(under, enclose(one).Sub(number.ExpRat(quo(e, rat(-4, 1)), precision)), "ε = %s", e.RatString())
			}
		}),
		"IV-A, Laplace noise, kε":     laplaceCosts(0),
		"IV-A, Laplace noise, (k-1)ε": laplaceCosts(1),
		"IV-A and App. A, Laplace noise, tightness": over("e^ε = 3/2, 5, k = 2, …, 7, exact", "", func(t *tally) {
			for v := range tuples(rats("3/2", "5"), rats("2", "3", "4", "5", "6", "7")) {
				k, times := whole(v[1]), power(v[0], whole(v[1])-1)
				at := func(q *big.Rat) (a, b *big.Rat) { // candidate 0 has score and sensitivity 0, the others q and 1
					in := &mechanisms.Instance{Epsilon: expOf(v[0]), Scores: []*big.Rat{zero}, Sensitivities: []*big.Rat{zero}}
					for range k - 1 {
						in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, one)
					}
					p := must(named("rnmh-laplace").(mechanisms.Logarithmic).LogExact(in))[0]
					return p.A, p.B
				}
				a, b := at(zero)
				c, d := at(one)
				t.expect(a.Cmp(mul(times, c)) == 0 && b.Cmp(mul(times, d)) == 0, "k = %d, e^ε = %s", k, v[0].RatString())
			}
		}),
		"IV-B, Algorithm 1": stoppingIsPrivate([]string{"rs"}, "1/2", "1/20", "1/500"),
		"IV-B, small γ":     smallGamma,
		"IV-B, App. C, truncated negative binomial law": over("e^ε = 2, γ = 1/20, η = -1/2 and 2 (1 and 0 are RS and the entry on II), sensitivities (1, 1), (0, 1), (1, 3), scores (0, 0), (0, 1), (0, 3) and the neighbors that move both scores by their sensitivities, one up and one down; enclosed", "", func(t *tally) {
			for _, eta := range rats("-1/2", "2") {
				t.costs("rs-tnb", two, mechanisms.Params{Eta: eta, Gamma: rat(1, 20)}, func(int) int { return 1 }, "η = "+eta.RatString(), rats("1", "1"), rats("0", "1"), rats("1", "3"))
			}
		}),
		"IV-C, (6) and (7)":      normalisedSensitivity(one),
		"IV-C, where GEM is bad": losesIn(1, "gem", "uniform"),
		"IV-D, bound of GEM":     boundOfGEM("gem", one),
		"IV-D, general t": over("400 random instances, T in [0, 10), t in [-20, 20], exact", "", func(t *tally) {
			rng := rand.New(rand.NewPCG(6, 7))
			for range 400 {
				q, d := randomInstance(rng, 2+rng.IntN(5))
				bound, level := rat(rng.Int64N(1000), 100), rat(rng.Int64N(4001)-2000, 100)
				for c, x := range normalised(q, d, level) {
					for j := range q {
						least := sub(sub(q[j], mul(d[c], sub(bound, level))), mul(d[j], add(bound, level)))
						t.expect(add(x, bound).Sign() < 0 || q[c].Cmp(least) >= 0, "scores %s, sensitivities %s, T = %s, t = %s: candidate %d", text(q), text(d), bound.RatString(), level.RatString(), c)
					}
				}
			}
		}),
		"IV-D, mGEM": boundOfGEM("mgem", one),
	})
}

// enclosedBits is the precision of enclosed probabilities.
const enclosedBits = 64

// ask encloses a mechanism's probabilities.
func ask(name string, in *mechanisms.Instance) []number.Interval {
	return must(named(name).Enclose(in, enclosedBits))
}

// meets expects two enclosures of one number to overlap.
func (t *tally) meets(got, want number.Interval, format string, args ...any) {
	_, meet := got.Intersect(want)
	t.expect(meet, format+": %.8g, not %.8g", append(args, got.Near(), want.Near())...)
}

// loss encloses the mean of f(q* - q_M), f the identity or the square, of a mechanism on an instance.
func loss(name string, in *mechanisms.Instance, square bool) number.Interval {
	p, total, best := ask(name, in), number.FromInt(0, enclosedBits), in.Best()
	for a, q := range in.Scores {
		gap := sub(best, q)
		if square {
			gap = mul(gap, gap)
		}
		if gap.Sign() != 0 {
			total = total.Add(p[a].Mul(number.FromRat(gap, enclosedBits)))
		}
	}
	return total
}

// mse is loss for the square.
func mse(name string, in *mechanisms.Instance) number.Interval { return loss(name, in, true) }

// bimodal returns scenario 1, 2 or 3 with so many candidates of the higher score, exactly: float64s stand for their shortest decimals.
func bimodal(number, high int, eps string) *mechanisms.Instance {
	return scenario.Scenarios[number-1].WithHigh(high).Generate(1, 1).Instance(0, epsilonOf(eps))
}

// mses returns the enclosed mean squared errors of mechanisms in scenario 1, 2 or 3 with 50 candidates of either score.
func mses(number int, eps string, names ...string) map[string]number.Interval {
	return msesWith(number, scenario.Candidates/2, eps, names...)
}

// msesWith is mses with so many candidates of the higher score.
func msesWith(which, high int, eps string, names ...string) map[string]number.Interval {
	in, out := bimodal(which, high, eps), map[string]number.Interval{}
	for _, name := range names {
		out[name] = mse(name, in)
	}
	return out
}

// scores lists all vectors of {0, 1, …, k}^n times a factor.
func scores(n, k int, times *big.Rat) (out [][]*big.Rat) {
	for _, q := range boxes(n, k) {
		v := make([]*big.Rat, n)
		for i, x := range q {
			v[i] = mul(rat(int64(x), 1), times)
		}
		out = append(out, v)
	}
	return out
}

// grid of ε on which scenarios are compared; VIII names 0.01 to 16, "as before".
var allEpsilons = []string{"0.01", "0.1", "0.5", "1", "2", "4", "8", "16"}

// heterogeneousWins checks that in each of scenarios 1, 2, 3 one of the mechanisms has a smaller error than report noisy max at some ε.
func heterogeneousWins(list ...string) check {
	return func(t *tally) Finding {
		var where []string
		for number := 1; number <= 3; number++ {
			winner, closest := "", ""
			for _, eps := range allEpsilons {
				errs := mses(number, eps, append([]string{"rnm-exponential"}, list...)...)
				for _, name := range list {
					if below(errs[name], errs["rnm-exponential"]) {
						winner = fmt.Sprintf("%s in scenario %d at ε = %s", name, number, eps)
					}
				}
				if winner != "" {
					break
				}
				if eps == "2" {
					closest = fmt.Sprintf("at ε = 2 mean squared errors of %s against %.4g", near("%s %.4g", errs, list...), errs["rnm-exponential"].Near())
				}
			}
			t.expect(winner != "", "scenario %d: none beats report noisy max at any of these ε; %s", number, closest)
			where = append(where, winner)
		}
		return t.finding("scenarios 1 to 3 (figure 1), ε = "+strings.Join(allEpsilons, ", ")+", enclosed; "+strings.Join(list, ", "), strings.Join(where, ", "))
	}
}

// misleading is an instance on which scores and sensitivities correlate positively, but for ten candidates that are far worse and far more sensitive than all others.
func misleading(eps string) *mechanisms.Instance {
	in := &mechanisms.Instance{Epsilon: epsilonOf(eps)}
	for i := range 100 {
		q, d := zero, one
		switch {
		case i < 10:
			q, d = rat(-20, 1), rat(9, 1)
		case i < 55:
			q, d = one, two
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	return in
}

// losesSomewhere checks that each of the mechanisms has a larger error than the first somewhere: in scenario 1, 2 or 3 at ε = 1 or on the misleading instance at ε = 0.1.
func losesSomewhere(to string, list ...string) check {
	return func(t *tally) Finding {
		var where []string
		for _, name := range list {
			found := ""
			for number := 1; number <= 4 && found == ""; number++ {
				in, at := misleading("0.1"), "on an instance where ten of 100 candidates are far worse and more sensitive than the others"
				if number <= 3 {
					in, at = bimodal(number, 50, "1"), fmt.Sprintf("in scenario %d at ε = 1", number)
				}
				if reference, own := mse(to, in), mse(name, in); below(reference, own) {
					found = fmt.Sprintf("%s %s: %.4g against %.4g", name, at, own.Near(), reference.Near())
				}
			}
			t.expect(found != "", "%s is nowhere worse than %s", name, to)
			where = append(where, found)
		}
		return t.finding("scenarios 1 to 3 at ε = 1, and an instance of ours, mean squared errors, enclosed", strings.Join(where, "; "))
	}
}

// noiseMeans checks the mean of the left side of (5) to be factor(ε)·H_{k/2}·(Δ_1 - Δ_2). The mean of the largest of m exponential numbers of mean μ
// is the integral of 1 - (1 - e^{-x/μ})^m, that is μ Σ_j (-1)^{j+1} C(m,j)/j.
func noiseMeans(factor func(eps *big.Rat) *big.Rat) check {
	return over("ε = 1, 2, 0.1, 3, k = 2, 10, 100, two pairs of sensitivities, exact", "", func(t *tally) {
		for v := range tuples(rats("1", "2", "1/10", "3"), rats("100", "2", "10"), rats("0", "1")) {
			eps, k := v[0], whole(v[1])
			d := [][]*big.Rat{rats("9/5", "1"), rats("3", "1/2")}[whole(v[2])]
			largest, harmonic := zero, zero
			for j := 1; j <= k/2; j++ {
				term := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(k/2), int64(j)), big.NewInt(int64(j)))
				largest, harmonic = add(largest, mul(rat(-sign(j), 1), term)), add(harmonic, rat(1, int64(j)))
			}
			got, want := mul(largest, quo(mul(two, sub(d[0], d[1])), eps)), mul(factor(eps), mul(harmonic, sub(d[0], d[1])))
			t.expect(got.Cmp(want) == 0 && got.Sign() > 0, "ε = %s, k = %d, Δ = %s and %s: the mean is %s, not %s", eps.RatString(), k, d[0].RatString(), d[1].RatString(), decimals(got, 4), decimals(want, 4))
		}
	})
}

// ofTheBetter encloses the probability that, at ε = 1, one of the second half of k candidates is taken: the first half have score -gap and sensitivity d1, the others score 0 and sensitivity d2.
func ofTheBetter(name string, k int, gap, d1, d2 *big.Rat) number.Interval {
	in := &mechanisms.Instance{Epsilon: epsilonOf("1")}
	for i := range k {
		q, d := zero, d2
		if i < k/2 {
			q, d = new(big.Rat).Neg(gap), d1
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	total := number.FromInt(0, enclosedBits)
	for _, x := range ask(name, in)[k/2:] {
		total = total.Add(x)
	}
	return total
}

func halfOfTheTime(t *tally) Finding {
	half, seen := number.FromRat(rat(1, 2), enclosedBits), ""
	for v := range tuples(rats("2", "4", "20", "100"), rats("9/5", "6"), rats("1/2", "2")) {
		k, d1, gap := whole(v[0]), v[1], v[2]
		rnm := ofTheBetter("rnm-exponential", k, gap, d1, one)
		t.expect(below(half, rnm), "report noisy max, k = %d, Δ_1 = %s, gap %s: %.6f", k, d1.RatString(), gap.RatString(), rnm.Near())
		if k == 100 {
			rnmh := ofTheBetter("rnmh", k, gap, d1, one)
			t.expect(below(rnmh, half), "RNMH, k = %d, Δ_1 = %s, gap %s: %.6f", k, d1.RatString(), gap.RatString(), rnmh.Near())
			seen = fmt.Sprintf("k = 100, Δ_1 = %s, Δ_2 = 1, gap %s: RNMH %.3g, report noisy max %.3g", d1.RatString(), gap.RatString(), rnmh.Near(), rnm.Near())
		}
	}
	return t.finding("ε = 1, Δ_2 = 1, k = 2, 4, 20, 100, two Δ_1 and gaps, enclosed", seen)
}

// converse checks that RNMH takes a better candidate more often, for each Δ_1 and Δ_2 given.
func converse(lower, higher []*big.Rat) check {
	return func(t *tally) Finding {
		for v := range tuples(rats("2", "10", "60"), rats("1/10", "1", "5"), lower, higher) {
			rnm, rnmh := ofTheBetter("rnm-exponential", whole(v[0]), v[1], v[2], v[3]), ofTheBetter("rnmh", whole(v[0]), v[1], v[2], v[3])
			t.expect(below(rnm, rnmh), "k, gap, Δ_1, Δ_2 = %s: RNMH %.6f, report noisy max %.6f", text(v), rnmh.Near(), rnm.Near())
		}
		return t.finding(fmt.Sprintf("ε = 1, k = 2, 10, 60, three gaps, pairs of sensitivities: %d cases, enclosed", t.checked), "")
	}
}

// costs expects that probabilities at neighbors differ by less than a power of e^ε, for several sets of sensitivities.
func (t *tally) costs(name string, exp *big.Rat, params mechanisms.Params, times func(n int) int, what string, sets ...[]*big.Rat) {
	for _, d := range sets {
		worst, at := costOfNeighbors(named(name), expOf(exp), d, params)
		bound := enclose(power(exp, times(len(d))))
		t.expect(below(worst, bound), "%s, sensitivities %s: %s; e^{%dε} is %.4g", what, text(d), at, times(len(d)), bound.Near())
	}
}

// stoppingIsPrivate checks random stopping at e^ε = 2: "rs" adds Laplace noise of scale 3Δ_a/ε to a score, so that its runs are ε/3-DP, and "rs-log" of scale 2Δ_a/ε.
func stoppingIsPrivate(list []string, gammas ...string) check {
	return over("e^ε = 2, γ = "+strings.Join(gammas, ", ")+"; sensitivities (1, 1), (1, 3), (0, 1), (1, 2, 4); scores (0, 0), (0, 1), (0, 3) of two candidates, (0, 0, 0) and (2, 1, 0) of three, and the neighbors "+
		"that move every score by its sensitivity, not all the same way; enclosed", "", func(t *tally) {
		for _, name := range list {
			for _, gamma := range rats(gammas...) {
				t.costs(name, two, mechanisms.Params{Gamma: gamma}, func(int) int { return 1 }, name+", γ = "+gamma.RatString(), rats("1", "1"), rats("1", "3"), rats("0", "1"), rats("1", "2", "4"))
			}
		}
	})
}

// laplaceCosts checks rnmh-laplace to be (k - fewer)ε-private at some score vectors.
func laplaceCosts(fewer int) check {
	return over("e^ε = 3/2, 101/100, 20; sensitivities (1, 1), (1, 3), (1, 2, 2), (1, 1, 1); scores (0, 0), (0, 1), (0, 3), (0, 0, 0), (2, 1, 0) and the neighbors that move every score by its sensitivity, not all the same way; enclosed", "", func(t *tally) {
		for _, e := range rats("3/2", "101/100", "20") {
			t.costs("rnmh-laplace", e, mechanisms.Params{}, func(n int) int { return n - fewer }, "e^ε = "+e.RatString(), rats("1", "1"), rats("1", "3"), rats("1", "2", "2"), rats("1", "1", "1"))
		}
	})
}

// costOfNeighbors encloses the largest ratio of two probabilities of one candidate at neighbors, and says where: for some score vectors, and the neighbors in which
// every score moves up or down by its sensitivity, not all the same way.
func costOfNeighbors(m mechanisms.Mechanism, eps number.Epsilon, d []*big.Rat, params mechanisms.Params) (worst number.Interval, at string) {
	vectors := [][]*big.Rat{rats("0", "0", "0"), rats("2", "1", "0")}
	if len(d) == 2 {
		vectors = [][]*big.Rat{rats("0", "0"), rats("0", "1"), rats("0", "3")}
	}
	law := func(q []*big.Rat) []number.Interval {
		return must(m.Enclose(&mechanisms.Instance{Scores: q, Sensitivities: d, Epsilon: eps, Params: params}, enclosedBits))
	}
	worst = number.FromInt(1, enclosedBits)
	for _, q := range vectors {
		here := law(q)
		for signs := 1; signs < 1<<len(d)-1; signs++ {
			moved := make([]*big.Rat, len(q))
			for a := range q {
				if moved[a] = add(q[a], d[a]); signs>>a&1 == 0 {
					moved[a] = sub(q[a], d[a])
				}
			}
			there := law(moved)
			for a := range q {
				for _, ratio := range []number.Interval{here[a].Quo(there[a]), there[a].Quo(here[a])} {
					if worst = worst.Max(ratio); below(worst.Sub(number.FromFloat(1e-9, enclosedBits)), ratio) {
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
	return over("e^ε = 5/4, 2, 10, all lattice vectors of 2 to 4 candidates and depth 3, enclosed", "", func(t *tally) {
		for v := range tuples(rats("5/4", "2", "10"), rats("2", "3", "4")) {
			for _, q := range scores(whole(v[1]), 3, one) {
				in := &mechanisms.Instance{Scores: q, Sensitivities: rats("1/2"), Epsilon: expOf(v[0])}
				own := loss(first, in, false)
				for _, name := range others {
					other := loss(name, in, false)
					// all errors are 0 where all scores are equal
					t.expect(below(own, other) || own.IsPoint() && other.IsPoint(), "scores %s, e^ε = %s: %.6g against %.6g of %s", text(q), v[0].RatString(), own.Near(), other.Near(), name)
				}
			}
		}
	})
}

func randomisedResponse(t *tally) Finding {
	for v := range tuples(rats("3/2", "40"), rats("2", "3", "4", "5", "6")) {
		exp, k := v[0], whole(v[1])
		in := &mechanisms.Instance{Sensitivities: rats("1"), Epsilon: expOf(exp)}
		for i := range k {
			in.Scores = append(in.Scores, rat(int64(i*i), 3))
		}
		for i, x := range must(named("krr").Exact(in)) {
			want := quo([]*big.Rat{one, exp}[max(0, i-k+2)], add(exp, rat(int64(k-1), 1)))
			t.expect(x.Cmp(want) == 0, "k = %d, e^ε = %s: %s, not %s", k, exp.RatString(), x.RatString(), want.RatString())
		}
	}
	seen := ""
	for number := 1; number <= 3; number++ {
		others := []string{"rnm-exponential", "gem", "mgem", "combined-gem", "rs", "rs-log"}
		errs := mses(number, "16", append(others, "krr")...)
		for _, name := range others {
			t.expect(below(errs["krr"], errs[name]), "scenario %d, ε = 16: %.3g against %.3g of %s", number, errs["krr"].Near(), errs[name].Near(), name)
		}
		seen = fmt.Sprintf("mean squared error %.3g at ε = 16, report noisy max %.3g", errs["krr"].Near(), errs["rnm-exponential"].Near())
	}
	return t.finding("probabilities for k = 2, …, 6, exact; errors in scenarios 1 to 3 at ε = 16, enclosed", seen)
}

func smallGamma(t *tally) Finding {
	var parts []string
	for number := 1; number <= 2; number++ {
		in := bimodal(number, 50, "2")
		var rs []string
		for _, gamma := range []string{"1/20", "1/200", "1/2000", "1/20000"} {
			in.Params.Gamma = rats(gamma)[0]
			rs = append(rs, fmt.Sprintf("%.3g at γ = %s", mse("rs", in).Near(), gamma))
		}
		parts = append(parts, fmt.Sprintf("scenario %d, ε = 2: mean squared errors of RNM %.3g, RNMH %.3g, RS %s", number, mse("rnm-exponential", in).Near(), mse("rnmh", in).Near(), strings.Join(rs, ", ")))
	}
	return Finding{Verdict: NotCheckable, Domain: "enclosed", Witness: "an expectation without numbers; " + strings.Join(parts, "; ") + ". RS does not tend to RNMH as γ falls: ever more draws of the same candidates favour the noisier ones without bound"}
}

// normalised returns the scores (6) in exact arithmetic, for positive sensitivities.
func normalised(q, d []*big.Rat, t *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(q))
	for a := range q {
		for b := range q {
			term := quo(sub(sub(q[a], mul(t, d[a])), sub(q[b], mul(t, d[b]))), add(d[a], d[b]))
			if out[a] == nil || less(term, out[a]) {
				out[a] = term
			}
		}
	}
	return out
}

// randomInstance returns random scores in [-10, 10] and sensitivities in (0, 5].
func randomInstance(rng *rand.Rand, n int) (q, d []*big.Rat) {
	for range n {
		q = append(q, rat(rng.Int64N(2001)-1000, 100))
		d = append(d, rat(1+rng.Int64N(500), 100))
	}
	return q, d
}

// normalisedSensitivity checks (6) and (7) on random neighbors, and that no normalised score changes by more than most.
func normalisedSensitivity(most *big.Rat) check {
	return func(t *tally) Finding {
		rng, largest := rand.New(rand.NewPCG(2, 3)), zero
		for range 400 {
			q, d := randomInstance(rng, 2+rng.IntN(4))
			moved := make([]*big.Rat, len(q))
			for a := range q {
				moved[a] = add(q[a], mul(d[a], rat(rng.Int64N(3)-1, 1)))
			}
			level := rat(rng.Int64N(4001)-2000, 100)
			before, after := normalised(q, d, level), normalised(moved, d, level)
			top := before[0]
			for a := range q {
				change := new(big.Rat).Abs(sub(before[a], after[a]))
				t.expect(change.Cmp(most) <= 0, "scores %s and %s, sensitivities %s, t = %s: candidate %d changes by %s", text(q), text(moved), text(d), level.RatString(), a, change.RatString())
				largest, top = larger(largest, change), larger(top, before[a])
				seven := zero
				for b := range q {
					seven = smaller(seven, quo(sub(sub(q[a], q[b]), mul(level, sub(d[a], d[b]))), add(d[a], d[b])))
				}
				t.expect(seven.Cmp(before[a]) == 0, "scores %s: (6) is %s and (7) %s", text(q), before[a].RatString(), seven.RatString())
			}
			t.expect(top.Sign() == 0, "scores %s: the best normalised score is %s", text(q), top.RatString())
		}
		return t.finding("400 random instances of 2 to 5 candidates with a neighbor each, exact", "largest change "+largest.RatString())
	}
}

// losesIn checks that a mechanism has a larger error than another at ε = 1 in scenario 1, 2 or 3.
func losesIn(number int, name, to string) check {
	return func(t *tally) Finding {
		errs := mses(number, "1", name, to)
		t.expect(below(errs[to], errs[name]), "%s", near("%s %.4g", errs, name, to))
		return t.finding(fmt.Sprintf("scenario %d at ε = 1, enclosed", number), fmt.Sprintf("mean squared error %.4g, %s %.4g", errs[name].Near(), to, errs[to].Near()))
	}
}

// boundOfGEM checks that gem or mgem violates its bound, times a share of its width, with probability at most β on random instances.
func boundOfGEM(name string, share *big.Rat) check {
	return func(t *tally) Finding {
		rng, most := rand.New(rand.NewPCG(4, 5)), 0.0
		for _, beta := range rats("1/20", "1/2") {
			for range 60 {
				n := 2 + rng.IntN(8)
				q, d := randomInstance(rng, n)
				eps := rat(1+rng.Int64N(80), 10)
				p := ask(name, &mechanisms.Instance{Scores: q, Sensitivities: d, Epsilon: must(number.FromEpsilon(eps)), Params: mechanisms.Params{Beta: beta}})
				width := log(quo(rat(int64(n), 1), beta)).Mul(enclose(mul(share, quo(rat(4, 1), eps)))) // 4 ln(n/β)/ε
				violated := enclose(zero)
				for c := range q {
					for j := range q {
						of := map[string]*big.Rat{"gem": d[j], "mgem": d[c]}[name]
						if below(enclose(q[c]), enclose(q[j]).Sub(width.Mul(enclose(of)))) {
							violated = violated.Add(p[c])
							break
						}
					}
				}
				t.expect(below(violated, enclose(beta)), "scores %s, sensitivities %s, ε = %s, β = %s: violated with probability %.4f", text(q), text(d), eps.RatString(), beta.RatString(), violated.Near())
				most = max(most, violated.Near())
			}
		}
		return t.finding("120 random instances of 2 to 9 candidates, β = 0.05 and 0.5, enclosed", fmt.Sprintf("violated with probability at most %.2g", most))
	}
}
