package claims

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"optratio/mechanisms"
	"optratio/number/interval"
)

// The project's own statements about the mechanisms of this source; proofs are in research/docs/claims-proofs.md.

func init() {
	register(Own, map[string]check{
		"Random stopping, any noise":                            betweenDraws(1),
		"Random stopping, many draws":                           manyDraws("1/20", "1/200", "1/2000", "1/20000"),
		"Two candidates, GEM and mGEM against report noisy max": handicapTest(handicapPays),
	})
}

// betweenDraws checks n times the probabilities to be at least Pr[K=1] times a factor and at most E[K].
func betweenDraws(factor int64) check {
	return func(t *tally) Finding {
		rng := rand.New(rand.NewPCG(10, 11))
		for _, name := range []string{"rs", "rs-log"} {
			for _, gamma := range rats("1/20", "1/3") {
				once, mean := enclose(gamma), enclose(quo(one, gamma))
				if name == "rs-log" {
					ln := interval.LogRat(quo(one, gamma), precision)
					once, mean = enclose(sub(one, gamma)).Quo(ln), enclose(sub(quo(one, gamma), one)).Quo(ln)
				}
				for range 6 {
					q, d := randomInstance(rng, 2+rng.IntN(3))
					in := &mechanisms.Instance{Scores: q, Sensitivities: d, Epsilon: epsilonOf("3"), Params: mechanisms.Params{Gamma: gamma}}
					p := must(named(name).Enclose(in, enclosedBits))
					n := enclose(rat(int64(len(q)), 1))
					for a := range q {
						t.expect(below(once.Mul(enclose(rat(factor, 1))), p[a].Mul(n)) && below(p[a].Mul(n), mean), "%s, γ = %s, scores %s, sensitivities %s: n Pr[%d] = %.6f", name, gamma.RatString(), text(q), text(d), a, p[a].Mul(n).Near())
					}
				}
			}
		}
		return t.finding("RS and its logarithmic form, γ = 1/20, 1/3, ε = 3, 24 random instances of 2 to 4 candidates, enclosed", "")
	}
}

// manyDraws checks that the probability of the more sensitive half tends to 1 in scenarios 1 and 2: it grows from each γ to the next, beyond 9/10, and beyond RNMH's.
func manyDraws(gammas ...string) check {
	return func(t *tally) Finding {
		var seen []string
		for number := 1; number <= 2; number++ {
			in := bimodal(number, 50, "2")
			sensitive := func(m mechanisms.Mechanism) interval.Interval {
				total := interval.FromInt(0, enclosedBits)
				for a, x := range must(m.Enclose(in, enclosedBits)) {
					if in.Sensitivities[a].Cmp(one) > 0 {
						total = total.Add(x)
					}
				}
				return total
			}
			rnmh := sensitive(named("rnmh"))
			last := interval.FromInt(0, enclosedBits)
			var shown []string
			for _, gamma := range gammas {
				in.Params.Gamma = rats(gamma)[0]
				x := sensitive(mechanisms.Within(t.ctx, named("rs")))
				t.expect(below(last, x), "scenario %d, γ = %s: %.6f, and %.6f before", number, gamma, x.Near(), last.Near())
				last, shown = x, append(shown, fmt.Sprintf("%.4f", x.Near()))
			}
			t.expect(below(enclose(rat(9, 10)), last) && below(rnmh, last), "scenario %d: %.4f, RNMH %.4f", number, last.Near(), rnmh.Near())
			seen = append(seen, fmt.Sprintf("scenario %d: %s; RNMH %.4f", number, strings.Join(shown, ", "), rnmh.Near()))
		}
		return t.finding("the more sensitive half in scenarios 1 and 2, ε = 2, γ = "+strings.Join(gammas, ", ")+", enclosed", strings.Join(seen, "; "))
	}
}

// handicapTest checks that gem and mgem beat report noisy max under a condition and only then.
func handicapTest(condition func(pairCase) bool) check {
	return func(t *tally) Finding {
		for _, c := range pairs() {
			name := "gem"
			switch {
			case fewer(c):
				name = "mgem"
			case !more(c):
				continue
			}
			own, rnm := c.againstRNM(name)
			wins, loses := below(own, rnm), below(rnm, own)
			t.expect(wins != loses && wins == condition(c), "%s: %s %.6f, report noisy max %.6f", c, name, own.Near(), rnm.Near())
		}
		return t.finding(fmt.Sprintf("β = 0.05, the pairs of the entries on V-A: %d cases, enclosed", t.checked), "")
	}
}
