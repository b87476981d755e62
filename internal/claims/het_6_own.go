package claims

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"optratio/mechanisms"
	"optratio/number/interval"
)

// The project's own statements about the mechanisms of this source; proofs are in docs/mechanisms.md.

func init() {
	entries = append(entries,
		Entry{
			Source: Own, Item: "Random stopping, any noise",
			Statement: "Whatever the scores and the noise, random stopping takes each of n candidates with probability between Pr[K=1]/n and E[K]/n, K the number of draws; so it is ln(E[K]/Pr[K=1])-DP, 2 ln(1/γ) for RS_γ",
			Note:      "A candidate is taken where it is the only draw, and must be drawn to be taken.",
			Check:     betweenDraws(1),
		},
		Entry{
			Source: Own, Item: "Random stopping, many draws",
			Statement: "As γ → 0 RS_γ takes a candidate of the largest sensitivity with probability tending to 1, whatever the scores; it does not tend to RNMH",
			Note:      "The largest of N draws of Laplace noise of scale b is b ln N plus a random number whose law converges, and every candidate is drawn a number of times that goes to infinity like 1/γ.",
			Check:     manyDraws("1/20", "1/200", "1/2000", "1/20000"),
		},
		Entry{
			Source: Own, Item: "Two candidates, GEM and mGEM against report noisy max",
			Statement: "Of two candidates with q_1 < q_2, GEM where Δ_1 > Δ_2, and mGEM where Δ_1 < Δ_2, takes the second more often than report noisy max iff (q_2-q_1) min Δ < |t| max Δ |Δ_1-Δ_2|",
			Note:      "They take the first with probability e^{-εd/2}/2, d = ((q_2-q_1) + |t||Δ_1-Δ_2|)/(Δ_1+Δ_2), and report noisy max does with d = (q_2-q_1)/max Δ.",
			Check:     handicapTest(handicapPays),
		},
	)
}

// betweenDraws checks n times the probabilities to be at least Pr[K=1] times a factor and at most E[K].
func betweenDraws(factor int64) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
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
					p, err := named(name).Enclose(in, enclosedBits)
					if err != nil {
						return Finding{}, err
					}
					n := enclose(rat(int64(len(q)), 1))
					for a := range q {
						t.expect(below(once.Mul(enclose(rat(factor, 1))), p[a].Mul(n)) && below(p[a].Mul(n), mean), "%s, γ = %s, scores %s, sensitivities %s: n Pr[%d] = %.6f", name, gamma.RatString(), text(q), text(d), a, p[a].Mul(n).Near())
					}
				}
				if ctx.Err() != nil {
					return Finding{}, ctx.Err()
				}
			}
		}
		return t.finding("RS and its logarithmic form, γ = 1/20, 1/3, ε = 3, 24 random instances of 2 to 4 candidates, enclosed", "")
	}
}

// manyDraws checks that the probability of the more sensitive half tends to 1 in scenarios 1 and 2: it grows from each γ to the next, beyond 9/10, and beyond RNMH's.
func manyDraws(gammas ...string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		var seen []string
		for number := 1; number <= 2; number++ {
			in, err := bimodal(number, 50, "2")
			if err != nil {
				return Finding{}, err
			}
			sensitive := func(m mechanisms.Mechanism) (interval.Interval, error) {
				p, err := m.Enclose(in, enclosedBits)
				if err != nil {
					return interval.Interval{}, err
				}
				total := interval.FromInt(0, enclosedBits)
				for a, x := range p {
					if in.Sensitivities[a].Cmp(one) > 0 {
						total = total.Add(x)
					}
				}
				return total, nil
			}
			rnmh, err := sensitive(named("rnmh"))
			if err != nil {
				return Finding{}, err
			}
			last := interval.FromInt(0, enclosedBits)
			var shown []string
			for _, gamma := range gammas {
				in.Params.Gamma = rats(gamma)[0]
				x, err := sensitive(mechanisms.Within(ctx, named("rs")))
				if err != nil {
					return Finding{}, err
				}
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
func handicapTest(condition func(pairCase) bool) func(context.Context) (Finding, error) {
	return func(context.Context) (Finding, error) {
		var t tally
		for _, c := range pairs() {
			name := "gem"
			switch {
			case fewer(c):
				name = "mgem"
			case !more(c):
				continue
			}
			own, rnm, err := c.againstRNM(name)
			if err != nil {
				return Finding{}, err
			}
			wins, loses := below(own, rnm), below(rnm, own)
			t.expect(wins != loses && wins == condition(c), "%s: %s %.6f, report noisy max %.6f", c, name, own.Near(), rnm.Near())
		}
		return t.finding(fmt.Sprintf("β = 0.05, the pairs of the entries on V-A: %d cases, enclosed", t.checked), "")
	}
}
