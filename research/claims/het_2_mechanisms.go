package claims

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/mechanisms"
	"optratio/number/arith"
	"optratio/number/interval"
)

func init() {
	register(Het, map[string]check{
		"IV-A, RNMH":                                    ownScaleIsNotPrivate,
		"IV-A, Laplace noise, kε":                       laplaceCosts(0),
		"IV-A, Laplace noise, (k-1)ε":                   laplaceCosts(1),
		"IV-A and App. A, Laplace noise, tightness":     zeroAmongOnes,
		"IV-B, Algorithm 1":                             stoppingIsPrivate([]string{"rs"}, "1/2", "1/20", "1/500"),
		"IV-B, small γ":                                 smallGamma,
		"IV-B, App. C, truncated negative binomial law": truncatedBinomialIsPrivate,
		"IV-C, (6) and (7)":                             normalisedSensitivity(one),
		"IV-C, where GEM is bad":                        losesIn(1, "gem", "uniform"),
		"IV-D, bound of GEM":                            boundOfGEM("gem", big.NewRat(1, 1)),
		"IV-D, general t":                               generalT,
		"IV-D, mGEM":                                    boundOfGEM("mgem", big.NewRat(1, 1)),
	})
}

func ownScaleIsNotPrivate(t *tally) Finding {
	for _, e := range []string{"1/10", "1", "5"} {
		eps := must(mechanisms.FromEpsilon(rats(e)[0]))
		var first [2]interval.Interval
		for i, q := range rats("1/2", "-1/2") {
			p := must(named("rnmh").Enclose(&mechanisms.Instance{Scores: []*big.Rat{new(big.Rat), q}, Sensitivities: rats("0", "1"), Epsilon: eps}, enclosedBits))
			first[i] = p[0]
		}
		want := enclose(one).Sub(interval.ExpRat(quo(rats(e)[0], rat(-4, 1)), precision))
		_, meet := first[1].Intersect(want)
		t.expect(first[0].IsPoint() && first[0].Hi().Sign() == 0 && meet && below(enclose(new(big.Rat)), first[1]), "ε = %s: %v and %v", e, first[0].Near(), first[1].Near())
	}
	return t.finding("ε = 0.1, 1, 5: exactly 0, and 1 - e^{-ε/4} enclosed", "")
}

// laplaceCosts checks rnmh-laplace to be (k - less)ε-private at some score vectors.
func laplaceCosts(fewer int) check {
	return func(t *tally) Finding {
		m := named("rnmh-laplace")
		for _, e := range rats("3/2", "101/100", "20") {
			for _, d := range [][]*big.Rat{rats("1", "1"), rats("1", "3"), rats("1", "2", "2"), rats("1", "1", "1")} {
				worst, at := costOfNeighbors(m, expOf(e), d, mechanisms.Params{})
				t.expect(below(worst, enclose(power(e, len(d)-fewer))), "e^ε = %s, sensitivities %s: %s; e^{%dε} is %.4g", e.RatString(), text(d), at, len(d)-fewer, enclose(power(e, len(d)-fewer)).Near())
			}
		}
		return t.finding("e^ε = 3/2, 101/100, 20; sensitivities (1, 1), (1, 3), (1, 2, 2), (1, 1, 1); scores (0, 0), (0, 1), (0, 3), (0, 0, 0), (2, 1, 0) and the neighbors that move every score by its sensitivity, not all the same way; enclosed", "")
	}
}

func zeroAmongOnes(t *tally) Finding {
	m := named("rnmh-laplace").(mechanisms.Logarithmic)
	for _, e := range rats("3/2", "5") {
		for k := 2; k <= 7; k++ {
			var first [2]arith.LogRat
			for i := range first {
				in := &mechanisms.Instance{Epsilon: expOf(e)}
				for a := range k {
					q, d := rat(int64(i), 1), one
					if a == 0 {
						q, d = new(big.Rat), new(big.Rat)
					}
					in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
				}
				p := must(m.LogExact(in))
				first[i] = p[0]
			}
			times := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(power(e, k-1), x) }
			t.expect(first[0].A.Cmp(times(first[1].A)) == 0 && first[0].B.Cmp(times(first[1].B)) == 0, "k = %d, e^ε = %s", k, e.RatString())
		}
	}
	return t.finding("e^ε = 3/2, 5, k = 2, …, 7, exact", "")
}

func smallGamma(t *tally) Finding {
	var parts []string
	for number := 1; number <= 2; number++ {
		in := bimodal(number, 50, "2")
		rnm := mse("rnm-exponential", in)
		rnmh := mse("rnmh", in)
		var rs []string
		for _, gamma := range []string{"1/20", "1/200", "1/2000", "1/20000"} {
			in.Params.Gamma = rats(gamma)[0]
			x := mse("rs", in)
			rs = append(rs, fmt.Sprintf("%.3g at γ = %s", x.Near(), gamma))
		}
		parts = append(parts, fmt.Sprintf("scenario %d, ε = 2: mean squared errors of RNM %.3g, RNMH %.3g, RS %s", number, rnm.Near(), rnmh.Near(), strings.Join(rs, ", ")))
	}
	return Finding{Verdict: NotCheckable, Domain: "enclosed", Witness: "an expectation without numbers; " + strings.Join(parts, "; ") + ". RS does not tend to RNMH as γ falls: ever more draws of the same candidates favour the noisier ones without bound"}
}

func truncatedBinomialIsPrivate(t *tally) Finding {
	for _, eta := range rats("-1/2", "2") {
		params := mechanisms.Params{Eta: eta, Gamma: rat(1, 20)}
		for _, d := range [][]*big.Rat{rats("1", "1"), rats("0", "1"), rats("1", "3")} {
			worst, at := costOfNeighbors(named("rs-tnb"), expOf(rat(2, 1)), d, params)
			t.expect(below(worst, enclose(rat(2, 1))), "η = %s, sensitivities %s: %s", eta.RatString(), text(d), at)
		}
	}
	return t.finding("e^ε = 2, γ = 1/20, η = -1/2 and 2 (1 and 0 are RS and the entry on II), sensitivities (1, 1), (0, 1), (1, 3), scores (0, 0), (0, 1), (0, 3) and the neighbors that move both scores by their sensitivities, one up and one down; enclosed", "")
}

// normalised returns the scores (6) in exact arithmetic, for positive sensitivities.
func normalised(q, d []*big.Rat, t *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(q))
	for a := range q {
		for b := range q {
			term := quo(sub(sub(q[a], mul(t, d[a])), sub(q[b], mul(t, d[b]))), add(d[a], d[b]))
			if out[a] == nil || term.Cmp(out[a]) < 0 {
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
		rng := rand.New(rand.NewPCG(2, 3))
		largest := new(big.Rat)
		for range 400 {
			n := 2 + rng.IntN(4)
			q, d := randomInstance(rng, n)
			moved := make([]*big.Rat, n)
			for a := range q {
				moved[a] = add(q[a], mul(d[a], rat(rng.Int64N(3)-1, 1)))
			}
			level := rat(rng.Int64N(4001)-2000, 100)
			before, after := normalised(q, d, level), normalised(moved, d, level)
			top := before[0]
			for a := range q {
				change := new(big.Rat).Abs(sub(before[a], after[a]))
				t.expect(change.Cmp(most) <= 0, "scores %s and %s, sensitivities %s, t = %s: candidate %d changes by %s", text(q), text(moved), text(d), level.RatString(), a, change.RatString())
				if change.Cmp(largest) > 0 {
					largest = change
				}
				if before[a].Cmp(top) > 0 {
					top = before[a]
				}
				seven := new(big.Rat)
				for b := range q {
					if term := quo(sub(sub(q[a], q[b]), mul(level, sub(d[a], d[b]))), add(d[a], d[b])); term.Cmp(seven) < 0 {
						seven = term
					}
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
		t.expect(below(errs[to], errs[name]), "%s %.4g, %s %.4g", name, errs[name].Near(), to, errs[to].Near())
		return t.finding(fmt.Sprintf("scenario %d at ε = 1, enclosed", number), fmt.Sprintf("mean squared error %.4g, %s %.4g", errs[name].Near(), to, errs[to].Near()))
	}
}

// boundOfGEM checks that gem or mgem violates its bound, times a share of its width, with probability at most β on random instances.
func boundOfGEM(name string, share *big.Rat) check {
	return func(t *tally) Finding {
		rng := rand.New(rand.NewPCG(4, 5))
		most := 0.0
		for _, beta := range rats("1/20", "1/2") {
			for range 60 {
				n := 2 + rng.IntN(8)
				q, d := randomInstance(rng, n)
				eps := rat(1+rng.Int64N(80), 10)
				e := must(mechanisms.FromEpsilon(eps))
				p := must(named(name).Enclose(&mechanisms.Instance{Scores: q, Sensitivities: d, Epsilon: e, Params: mechanisms.Params{Beta: beta}}, enclosedBits))
				width := interval.LogRat(quo(rat(int64(n), 1), beta), precision).Mul(enclose(mul(share, quo(rat(4, 1), eps)))) // 4 ln(n/β)/ε
				violated := enclose(new(big.Rat))
				for c := range q {
					for j := range q {
						of := d[j]
						if name == "mgem" {
							of = d[c]
						}
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

func generalT(t *tally) Finding {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 400 {
		q, d := randomInstance(rng, 2+rng.IntN(5))
		bound, level := rat(rng.Int64N(1000), 100), rat(rng.Int64N(4001)-2000, 100)
		for c, x := range normalised(q, d, level) {
			if add(x, bound).Sign() < 0 {
				continue
			}
			for j := range q {
				least := sub(sub(q[j], mul(d[c], sub(bound, level))), mul(d[j], add(bound, level)))
				t.expect(q[c].Cmp(least) >= 0, "scores %s, sensitivities %s, T = %s, t = %s: candidate %d", text(q), text(d), bound.RatString(), level.RatString(), c)
			}
		}
	}
	return t.finding("400 random instances, T in [0, 10), t in [-20, 20], exact", "")
}
