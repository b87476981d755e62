package claims

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/recommend"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Claims of Antonova, Laro, McMillan & Wolf about private selection with one sensitivity per candidate are computed from the mechanisms' own probabilities: exact
// rationals, or enclosures wherever something is refuted.
func init() {
	private := "; scores (0, 0), (0, 1), (0, 3) of two candidates, (0, 0, 0) and (2, 1, 0) of three, and the neighbors that move every score by its sensitivity, not all the same way; enclosed"
	register(Het, map[string]check{
		"Abstract": inOneReading("it does not say whether the mechanism is a private one: RNMH, which is not, wins in scenarios 1 to 3, and of private ones it is false",
			somewhereBetter("rnm-exponential", "gem", "mgem", "combined-gem", "rs", "rs-log")),
		"I, no mechanism wins everywhere": all(ordered("rnm-exponential < gem krr combined-gem", halves("1", 1)), ordered("rnm-exponential < rnmh mgem rs rs-log", halves("1", 2))),
		"I, worse than random":            all(ordered("uniform < gem", halves("1", 1)), ordered("uniform < rnmh mgem rs", halves("1", 2)), ordered("uniform < combined-gem rs-log", misleading("0.1"))),
		"I, eq. (3)": over("e^ε = 2, all neighbors of Q(n,3), n = 2, 3, 4, exact", func(t *tally) {
			for n := 2; n <= 4; n++ {
				r := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: named("rnm-exponential"), Epsilon: expOf(two)}, n, 3, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})).Properties[0]
				t.expect(r.Verdict == verify.Proved, "n = %d: %s", n, r)
			}
		}),
		"I, eq. (5), mean": noiseMeans(func(eps *big.Rat) *big.Rat { return quo(two, eps) }),
		"I, footnote 2":    noiseMeans(func(*big.Rat) *big.Rat { return one }),
		"I, eq. (5), probabilities": over("ε = 1, Δ_2 = 1, k = 2, 4, 20, 100, two Δ_1 and gaps, enclosed", func(t *tally) {
			for v := range tuples(rats("2", "4", "20", "100"), rats("1/2", "2"), rats("9/5", "6"), []*big.Rat{one}) {
				rnm, rnmh := ofTheBetter("rnm-exponential", v), ofTheBetter("rnmh", v)
				t.expect(below(half, rnm) && (whole(v[0]) < 100 || below(rnmh, half)), "k, gap, Δ_1, Δ_2 = %s: RNMH %.6f, report noisy max %.6f", text(v), rnmh.Near(), rnm.Near())
			}
		}),
		"I, eq. (5), converse":       converse(rats("1", "3/2"), rats("9/5", "4")),
		"II, random stopping":        all(costs("rs", two, mechanisms.Params{Gamma: rat(1, 20)}, 0, private, stoppingSets...), costs("rs-log", two, mechanisms.Params{Gamma: rat(1, 20)}, 0, private, stoppingSets...)),
		"Definition 3.1, (1), (2)":   notCheckable("definitions"),
		"III-B, noise":               betterNoise("rnm-exponential", "rnm-laplace", "rnm-gumbel"),
		"III-B, randomised response": all(randomisedResponse, ordered("krr < rnm-exponential gem mgem combined-gem rs rs-log", halves("16", 1, 2, 3))),

		"IV-A, RNMH": over("ε = 0.1, 1, 5: exactly 0, and 1 - e^{-ε/4} enclosed", func(t *tally) {
			for _, e := range rats("1/10", "1", "5") {
				first := func(q string) number.Interval {
					return ask("rnmh", &mechanisms.Instance{Scores: rats("0", q), Sensitivities: rats("0", "1"), Epsilon: must(number.FromEpsilon(e))})[0]
				}
				above, under := first("1/2"), first("-1/2")
				t.expect(arith.IsPoint(above) && above.Hi().Sign() == 0 && under.Lo().Sign() > 0, "ε = %s: %v and %v", e.RatString(), above.Near(), under.Near())
				t.meets(under, enclose(one).Sub(number.ExpRat(quo(e, rat(-4, 1)), precision)), "ε = %s", e.RatString())
			}
		}),
		"IV-A, Laplace noise, kε":                       laplaceCosts(0, private),
		"IV-A, Laplace noise, (k-1)ε":                   laplaceCosts(-1, private),
		"IV-A and App. A, Laplace noise, tightness":     over("e^ε = 3/2, 5, k = 2, …, 7, exact", laplaceTight),
		"IV-B, Algorithm 1":                             all(costs("rs", two, mechanisms.Params{Gamma: rat(1, 2)}, 0, private, stoppingSets...), costs("rs", two, mechanisms.Params{Gamma: rat(1, 20)}, 0, private, stoppingSets...), costs("rs", two, mechanisms.Params{Gamma: rat(1, 500)}, 0, private, stoppingSets...)),
		"IV-B, small γ":                                 notCheckable("an expectation without numbers; RS does not tend to RNMH as γ falls: ever more draws of the same candidates favour the noisier ones without bound (research/docs/claims-proofs.md)"),
		"IV-B, App. C, truncated negative binomial law": all(costs("rs-tnb", two, mechanisms.Params{Eta: rat(-1, 2), Gamma: rat(1, 20)}, 0, private, stoppingSets[:3]...), costs("rs-tnb", two, mechanisms.Params{Eta: two, Gamma: rat(1, 20)}, 0, private, stoppingSets[:3]...)),
		"IV-C, (6) and (7)":                             normalisedSensitivity(one),
		"IV-C, where GEM is bad":                        ordered("uniform < gem", halves("1", 1)),
		"IV-D, bound of GEM":                            boundOfGEM("gem", one),
		"IV-D, general t": overRandom("T in [0, 10)", func(t *tally, rng *rand.Rand, q, d []*big.Rat, level *big.Rat) {
			bound := rat(rng.Int64N(1000), 100)
			for c, x := range normalised(q, d, level) {
				for j := range q {
					least := sub(sub(q[j], mul(d[c], sub(bound, level))), mul(d[j], add(bound, level)))
					t.expect(add(x, bound).Sign() < 0 || q[c].Cmp(least) >= 0, "scores %s, sensitivities %s, T = %s, t = %s: candidate %d", text(q), text(d), bound.RatString(), level.RatString(), c)
				}
			}
		}),
		"IV-D, mGEM": boundOfGEM("mgem", one),

		"V, best of two":                   notCheckable(`"comparable" is not defined`),
		"V-A, GEM, Δ_1 > Δ_2, favourite":   pairClaim("gem", neverWorseThanRandom, more),
		"V-A, GEM, Δ_1 > Δ_2, against RNM": pairClaim("gem", betterThanRNM, more),
		"V-A, GEM, Δ_1 < Δ_2":              pairClaim("gem", worseThanRandom, fewer, handicapDecides),
		"V-A, mGEM, Δ_1 < Δ_2":             pairClaim("mgem", betterThanRNM, fewer),
		"V-A, mGEM, Δ_1 > Δ_2":             pairClaim("mgem", worseThanRandom, more, handicapDecides),
		"V-A, errors of RNM and RNMH":      twoCandidateFormulas(one),
		"V-A, HG(RNM, RNMH)":               all(pairClaim("rnmh", betterThanRNM, fewer), pairClaim("rnmh", worseThanRNM, more)),
		"Figure 2":                         figureTwo("rs"),
		"V-A, mGEM and RS":                 sameSettings("mgem", "rs"),
		"V-B, order of candidates": overRandom("the best candidates", func(t *tally, _ *rand.Rand, q, d []*big.Rat, level *big.Rat) {
			var handicapped []*big.Rat
			for a := range q {
				handicapped = append(handicapped, sub(q[a], mul(level, d[a])))
			}
			top := largest(handicapped...)
			for a, x := range normalised(q, d, level) {
				t.expect((x.Sign() == 0) == (handicapped[a].Cmp(top) == 0), "scores %s, sensitivities %s, t = %s: candidate %d", text(q), text(d), level.RatString(), a)
			}
		}),
		"V-B, figures 3, 4 and 18": notCheckable("the candidates of figures 4 and 18 are not listed, figure 3 has no numbers"),

		// A candidate without noise and score x is taken by noisy max iff no noisy score of the others, all 0, exceeds x.
		"App. I, (16)": over("three sets of scales, x = 0, 1/2, 3, enclosed: the probability of a candidate of score x without noise among candidates of score 0 with noise", laplaceOfOthers),
		"App. I, (17)": notCheckable("the candidates of figure 4 are not listed; optratio recommend computes the weighted correlation"),
		"App. J, (18)": over("14 pairs of sensitivities, ε = 1, β = 0.05, enclosed; the bounds have the ratio 2Δ_*/max Δ for all n, β and ε", boundsCompared),
		"App. J, (19)": vacuousWhere(func(*big.Rat) *big.Rat { return two }),
	})
}

// enclosedBits is the precision of enclosed probabilities.
const enclosedBits = 64

var half = enclose(rat(1, 2))

// ask encloses a mechanism's probabilities.
func ask(name string, in *mechanisms.Instance) []number.Interval {
	return must(named(name).Enclose(in, enclosedBits))
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

// scores lists all vectors of {0, 1, …, k}^n times a factor.
func scores(n, k int, times *big.Rat) (out [][]*big.Rat) {
	for _, q := range boxes(n, k) {
		var v []*big.Rat
		for _, x := range q {
			v = append(v, mul(rat(int64(x), 1), times))
		}
		out = append(out, v)
	}
	return out
}

// noiseMeans checks the mean of the left side of (5) to be factor(ε)·H_{k/2}·(Δ_1 - Δ_2). The mean of the largest of m exponential numbers of mean μ
// is the integral of 1 - (1 - e^{-x/μ})^m, that is μ Σ_j (-1)^{j+1} C(m,j)/j.
func noiseMeans(factor func(eps *big.Rat) *big.Rat) check {
	return over("ε = 1, 2, 0.1, 3, k = 2, 10, 100, two pairs of sensitivities, exact", func(t *tally) {
		for v := range tuples(rats("1", "2", "1/10", "3"), rats("100", "2", "10"), rats("4/5", "5/2")) {
			eps, m, difference := v[0], whole(v[1])/2, v[2]
			largest, harmonic := zero, zero
			for j := 1; j <= m; j++ {
				largest, harmonic = add(largest, quo(mul(rat(-sign(j), 1), binomial(m, j)), rat(int64(j), 1))), add(harmonic, rat(1, int64(j)))
			}
			t.same(mul(largest, quo(mul(two, difference), eps)), mul(factor(eps), mul(harmonic, difference)), "ε, k, Δ_1 - Δ_2 = %s: the mean", text(v))
		}
	})
}

// ofTheBetter encloses the probability that, at ε = 1, one of the second half of k candidates is taken: the first half have score -gap and sensitivity Δ_1, the others score 0 and
// sensitivity Δ_2; v has k, the gap, Δ_1 and Δ_2.
func ofTheBetter(name string, v []*big.Rat) number.Interval {
	in, k := &mechanisms.Instance{Epsilon: epsilonOf("1")}, whole(v[0])
	for i := range k {
		q, d := zero, v[3]
		if i < k/2 {
			q, d = new(big.Rat).Neg(v[1]), v[2]
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	total := number.FromInt(0, enclosedBits)
	for _, x := range ask(name, in)[k/2:] {
		total = total.Add(x)
	}
	return total
}

// converse checks that RNMH takes a better candidate more often, for each Δ_1 and Δ_2 given.
func converse(lower, higher []*big.Rat) check {
	return over("ε = 1, k = 2, 10, 60, three gaps, pairs of sensitivities: %d cases, enclosed", func(t *tally) {
		for v := range tuples(rats("2", "10", "60"), rats("1/10", "1", "5"), lower, higher) {
			rnm, rnmh := ofTheBetter("rnm-exponential", v), ofTheBetter("rnmh", v)
			t.expect(below(rnm, rnmh), "k, gap, Δ_1, Δ_2 = %s: RNMH %.6f, report noisy max %.6f", text(v), rnmh.Near(), rnm.Near())
		}
	})
}

// stoppingSets are the sensitivities with which random stopping is checked: "rs" adds Laplace noise of scale 3Δ_a/ε to a score, so that its runs are ε/3-DP, and "rs-log" of scale 2Δ_a/ε.
var stoppingSets = [][]*big.Rat{rats("1", "1"), rats("0", "1"), rats("1", "3"), rats("1", "2", "4")}

// laplaceCosts checks rnmh-laplace to be (n + more)ε-private for n candidates.
func laplaceCosts(more int, how string) check {
	var of []check
	for _, e := range rats("3/2", "101/100", "20") {
		for _, d := range [][]*big.Rat{rats("1", "1"), rats("1", "3"), rats("1", "2", "2"), rats("1", "1", "1")} {
			of = append(of, costs("rnmh-laplace", e, mechanisms.Params{}, len(d)+more-1, how, d))
		}
	}
	return all(of...)
}

// costs checks that probabilities at neighbors differ by less than e^{(1+more)ε}, for several sets of sensitivities.
func costs(name string, exp *big.Rat, params mechanisms.Params, more int, how string, sets ...[]*big.Rat) check {
	return func(t *tally) {
		t.domain = fmt.Sprintf("%s, e^ε = %s%s", name, exp.RatString(), map[bool]string{true: ", γ = " + fmt.Sprint(params.Gamma)}[params.Gamma != nil])
		for _, d := range sets {
			t.domain += ", sensitivities " + text(d)
			worst, at := costOfNeighbors(named(name), expOf(exp), d, params)
			bound := enclose(power(exp, 1+more))
			t.expect(below(worst, bound), "e^ε = %s, sensitivities %s: %s; e^{%dε} is %.4g", exp.RatString(), text(d), at, 1+more, bound.Near())
		}
		t.domain += how
	}
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
				moved[a] = add(q[a], mul(d[a], rat(int64(2*(signs>>a&1)-1), 1)))
			}
			there := law(moved)
			for a := range q {
				ratio := here[a].Quo(there[a]).Max(there[a].Quo(here[a]))
				if worst = worst.Max(ratio); below(worst.Sub(number.FromFloat(1e-9, enclosedBits)), ratio) {
					at = fmt.Sprintf("the probability of candidate %d differs by a factor of %.4g between scores %s and %s", a, ratio.Near(), text(q), text(moved))
				}
			}
		}
	}
	return worst, at
}

// laplaceTight looks at candidate 0 of score and sensitivity 0 among others of sensitivity 1 and scores 0 and then 1.
func laplaceTight(t *tally) {
	for v := range tuples(rats("3/2", "5"), rats("2", "3", "4", "5", "6", "7")) {
		others, times := whole(v[1])-1, power(v[0], whole(v[1])-1)
		at := func(q *big.Rat) (a, b *big.Rat) {
			repeated := func(x *big.Rat) []*big.Rat { return append(zeros(1), slices.Repeat([]*big.Rat{x}, others)...) }
			p := must(named("rnmh-laplace").(logarithmic).LogExact(&mechanisms.Instance{Epsilon: expOf(v[0]), Scores: repeated(q), Sensitivities: repeated(one)}))[0]
			return p.A, p.B
		}
		a, b := at(zero)
		c, d := at(one)
		t.expect(a.Cmp(mul(times, c)) == 0 && b.Cmp(mul(times, d)) == 0, "e^ε, k = %s", text(v))
	}
}

// betterNoise checks that the first mechanism has at most the expected error of each of the others on the lattice.
func betterNoise(first string, others ...string) check {
	return over("e^ε = 5/4, 2, 10, all lattice vectors of 2 to 4 candidates and depth 3, enclosed", func(t *tally) {
		for v := range tuples(rats("5/4", "2", "10"), rats("2", "3", "4")) {
			for _, q := range scores(whole(v[1]), 3, one) {
				in := &mechanisms.Instance{Scores: q, Sensitivities: rats("1/2"), Epsilon: expOf(v[0])}
				own := loss(first, in, false)
				for _, name := range others {
					other := loss(name, in, false)
					// all errors are 0 where all scores are equal
					t.expect(below(own, other) || arith.IsPoint(own) && arith.IsPoint(other), "scores %s, e^ε = %s: %.6g against %.6g of %s", text(q), v[0].RatString(), own.Near(), other.Near(), name)
				}
			}
		}
	})
}

var randomisedResponse = over("k = 2, …, 6, exact", func(t *tally) {
	for v := range tuples(rats("3/2", "40"), rats("2", "3", "4", "5", "6")) {
		exp, k := v[0], whole(v[1])
		in := &mechanisms.Instance{Sensitivities: rats("1"), Epsilon: expOf(exp)}
		for i := range k {
			in.Scores = append(in.Scores, rat(int64(i*i), 3))
		}
		for i, x := range must(named("krr").Exact(in)) {
			t.same(x, quo([]*big.Rat{one, exp}[max(0, i-k+2)], add(exp, rat(int64(k-1), 1))), "e^ε, k = %s, candidate %d", text(v), i)
		}
	}
})

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

// overRandom is the check of a statement about normalised scores by random instances with a t each.
func overRandom(how string, compare func(t *tally, rng *rand.Rand, q, d []*big.Rat, level *big.Rat)) check {
	return over("400 random instances of 2 to 6 candidates, t in [-20, 20], exact; "+how, func(t *tally) {
		rng := rand.New(rand.NewPCG(2, 3))
		for range 400 {
			q, d := randomInstance(rng, 2+rng.IntN(5))
			compare(t, rng, q, d, rat(rng.Int64N(4001)-2000, 100))
		}
	})
}

// normalisedSensitivity checks (6) and (7) on random neighbors, and that no normalised score changes by more than most.
func normalisedSensitivity(most *big.Rat) check {
	return overRandom("a neighbor each", func(t *tally, rng *rand.Rand, q, d []*big.Rat, level *big.Rat) {
		moved := make([]*big.Rat, len(q))
		for a := range q {
			moved[a] = add(q[a], mul(d[a], rat(rng.Int64N(3)-1, 1)))
		}
		before, after := normalised(q, d, level), normalised(moved, d, level)
		for a := range q {
			change := new(big.Rat).Abs(sub(before[a], after[a]))
			t.expect(change.Cmp(most) <= 0, "scores %s and %s, sensitivities %s, t = %s: candidate %d changes by %s", text(q), text(moved), text(d), level.RatString(), a, change.RatString())
			seven := zero
			for b := range q {
				seven = smaller(seven, quo(sub(sub(q[a], q[b]), mul(level, sub(d[a], d[b]))), add(d[a], d[b])))
			}
			t.same(seven, before[a], "scores %s: (7)", text(q))
		}
		t.same(largest(before...), zero, "scores %s: the best normalised score", text(q))
	})
}

// boundOfGEM checks that gem or mgem violates its bound, times a share of its width, with probability at most β on random instances.
func boundOfGEM(name string, share *big.Rat) check {
	return over("120 random instances of 2 to 9 candidates, β = 0.05 and 0.5, enclosed", func(t *tally) {
		rng := rand.New(rand.NewPCG(4, 5))
		for i := range 120 {
			n, beta := 2+rng.IntN(8), rats("1/20", "1/2")[i/60]
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
		}
	})
}

// vacuousWhere checks (19) with something in the place of its 2: that GEM's bound on the error exceeds the range of scores iff Δ_* > (q_* - q_-)/(4 ln(A/β)/divisor).
func vacuousWhere(divisor func(eps *big.Rat) *big.Rat) check {
	return over("four candidates, β = 0.05, five ε and six Δ_*, enclosed", func(t *tally) {
		for v := range tuples(rats("2", "1", "4", "16", "1/10"), rats("1/100", "1/10", "1/5", "1/2", "1", "4")) {
			eps, star := v[0], v[1]
			b := must(recommend.NewUtilityBounds(&mechanisms.Instance{Scores: rats("3", "0", "1", "2"), Sensitivities: []*big.Rat{star, rat(4, 1), one, one}, Epsilon: must(number.FromEpsilon(eps))}))
			condition := below(enclose(quo(mul(rat(3, 1), divisor(eps)), rat(4, 1))).Quo(log(rat(80, 1))), enclose(star))
			t.expect(condition == b.GEMVacuous, "scores 3, 2, 1, 0, ε = %s, β = 0.05, Δ_* = %s: the condition is %t, and the error is bounded by %s, the range is 3", eps.RatString(), star.RatString(), condition, b.GEM)
		}
	})
}

// laplaceOfOthers compares the probability of the candidate without noise with the product of (16).
func laplaceOfOthers(t *tally) {
	for _, scales := range [][]*big.Rat{rats("1"), rats("1/2", "1/2", "10"), rats("1", "2", "3", "4")} {
		for _, x := range rats("0", "1/2", "3") {
			in := &mechanisms.Instance{Scores: append([]*big.Rat{x}, zeros(len(scales))...), Sensitivities: append(rats("0"), scales...), Epsilon: epsilonOf("1")}
			want := enclose(one)
			for _, b := range scales {
				want = want.Mul(enclose(one).Sub(number.ExpRat(quo(mul(rat(-1, 1), x), b), precision).Mul(half)))
			}
			t.meets(ask("rnmh-laplace", in)[0], want, "scales %s, x = %s", text(scales), x.RatString())
		}
	}
}

// boundsCompared expects GEM to have the better bound iff twice the best candidate's sensitivity is above the largest.
func boundsCompared(t *tally) {
	for v := range tuples(rats("1/10", "1/2", "51/100", "1", "3"), rats("1", "2", "3")) {
		star, most := v[0], v[1]
		if star.Cmp(most) <= 0 {
			b := must(recommend.NewUtilityBounds(&mechanisms.Instance{Scores: rats("5", "0", "1"), Sensitivities: []*big.Rat{star, most, star}, Epsilon: epsilonOf("1")}))
			gem, _ := b.GEM.Lower()
			rnm, _ := b.RNM.Upper()
			t.expect(less(rnm, gem) == less(most, mul(two, star)), "Δ_* = %s, largest %s: bounds %s and %s", star.RatString(), most.RatString(), b.GEM, b.RNM)
		}
	}
}
