package claims

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"optratio/mechanisms/secretary"
	"optratio/number/arith"
)

func init() {
	register(Stopping, map[string]check{
		"Theorem 3.1 | newer":     privacyOfManyRanks,
		"Lemma 1 | older":         epsilonGrows(new(big.Rat), rat(1, 10), rat(3, 10), rat(2, 5), one),
		"Remarks 1 and 2 | newer": notCheckable("about practice"),
		"Theorem 3.2 | newer":     tightEpsilonIs(false),
		"Fact 4 | both":           blindChoice,
		"Fact 5 | both":           mixSucceeds,
		"Theorem 1 | older":       mixesArePrivate(func(e, p, delta *big.Rat, _ int) (*big.Rat, *big.Rat) { return e, mul(p, delta) }, false),
		"Theorem 2 | older": mixesArePrivate(func(e, p, delta *big.Rat, _ int) (*big.Rat, *big.Rat) {
			if delta.Sign() == 0 || mul(sub(one, p), delta).Cmp(sub(e, one)) > 0 {
				return nil, nil
			}
			return sub(e, mul(sub(one, p), delta)), delta
		}, false),
		"Theorem 4.1 | newer": mixesArePrivate(func(e, p, delta *big.Rat, n int) (*big.Rat, *big.Rat) {
			return sub(e, quo(mul(sub(one, p), sub(e, one)), rat(int64(n), 1))), mul(p, delta)
		}, true),
	})
}

// mixed returns the law of the p-mix of the secretary rule and the blind choice.
func mixed(law []*big.Rat, p *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(law))
	for k, r := range law {
		out[k] = add(mul(p, r), quo(sub(one, p), rat(int64(len(law)), 1)))
	}
	return out
}

func privacyOfManyRanks(t *tally) Finding {
	for n := 3; n <= 40; n++ {
		law := exactLaw(t.ctx, n)
		for _, p := range []*big.Rat{one, rat(1, 2), rat(1, 50)} {
			q := mixed(law, p)
			for l := 1; l < n; l++ {
				for _, delta := range []*big.Rat{new(big.Rat), rat(1, 20), rat(3, 10)} {
					tight := must(secretary.TightEps(secretary.ExactLaw(q), l, delta))
					left, right := mul(rat(int64(l), 1), sub(q[0], delta)), mul(tight.Upper, sub(one, q[0]))
					t.expect(left.Cmp(right) <= 0, "n = %d, l = %d, p = %s, δ = %s: l(q_1 - δ) = %s, e^ε (1 - q_1) = %s", n, l, p.RatString(), delta.RatString(), short(left, 6), short(right, 6))
				}
			}
		}
	}
	return t.finding("l(q_1 - δ) <= e^ε (1 - q_1) at the tight ε, exact: p-mixes of the secretary rule, n = 3, …, 40, all l, three p and δ; the limit follows", "")
}

// epsilonGrows checks for each δ that the least ε at which the secretary rule is (ε, δ)-private with respect to d_l, l = ⌈√n⌉, goes to infinity. That no probability
// exceeds δ from some n on, so that it is 0 there, refutes it: the largest one decreases in n.
func epsilonGrows(deltas ...*big.Rat) check {
	return func(t *tally) Finding {
		sizes := []int{16, 64, 256, 1024}
		domain := "p = 1, l = ⌈√n⌉, n = 16, 64, 256, 1024, exact, δ = "
		var names, grown, refuting []string
		for _, delta := range deltas {
			names = append(names, delta.RatString())
			var tights []*big.Rat
			for _, n := range sizes {
				law := exactLaw(t.ctx, n)
				l := 1
				for l*l < n {
					l++
				}
				tight := must(secretary.TightEps(secretary.ExactLaw(law), l, delta))
				tights = append(tights, tight.Upper)
			}
			last := tights[len(tights)-1]
			switch {
			case last.Cmp(mul(rat(4, 1), tights[0])) > 0:
				grown = append(grown, fmt.Sprintf("e^ε from %s to %s at δ = %s", decimals(tights[0], 4), decimals(last, 4), delta.RatString()))
			case !slices.ContainsFunc(tights, func(e *big.Rat) bool { return e.Cmp(one) > 0 }):
				refuting = append(refuting, delta.RatString())
			default:
				return Finding{Verdict: Undecided, Domain: domain + delta.RatString()}
			}
		}
		domain += strings.Join(names, ", ")
		if refuting != nil {
			return Finding{Verdict: Refuted, Domain: domain, Witness: fmt.Sprintf("at δ = %s the least ε is 0 at each of these n", strings.Join(refuting, " and "))}
		}
		return Finding{Verdict: Holds, Domain: domain, Witness: strings.Join(grown, ", ")}
	}
}

// randomLaw returns the law of a random stopping rule.
func randomLaw(rng *rand.Rand, n int) []*big.Rat {
	rule := must(secretary.NewRuleFromStops(n, func(int, int) *big.Rat { return rat(rng.Int64N(5), 4) }))
	return rule.Law()
}

// someLaws returns laws of stopping rules for n candidates: the secretary rule's, p-mixes of it, and those of random rules.
func someLaws(ctx context.Context, n int) [][]*big.Rat {
	r := exactLaw(ctx, n)
	laws := [][]*big.Rat{r, mixed(r, rat(1, 2)), mixed(r, rat(1, 9))}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for range 12 {
		law := randomLaw(rng, n)
		laws = append(laws, law)
	}
	return laws
}

// leastExp returns the least e^ε, at least 1, for which every event S satisfies P(S) <= e^ε P'(S) + δ, for every swap of ranks at most l apart, where P' is the law of the
// order with the two swapped; nil for +∞. By going through all swaps and all events.
func leastExp(q []*big.Rat, l int, delta *big.Rat) *big.Rat {
	worst := one
	for i := range q {
		for j := i + 1; j <= i+l && j < len(q); j++ {
			swapped := slices.Clone(q)
			swapped[i], swapped[j] = q[j], q[i]
			for event := range 1 << len(q) {
				here, there := new(big.Rat), new(big.Rat)
				for k := range q {
					if event>>k&1 == 1 {
						here, there = add(here, q[k]), add(there, swapped[k])
					}
				}
				excess := sub(here, delta)
				switch {
				case excess.Sign() <= 0:
				case there.Sign() == 0:
					return nil
				case quo(excess, there).Cmp(worst) > 0:
					worst = quo(excess, there)
				}
			}
		}
	}
	return worst
}

// tightEpsilonIs compares Theorem 3.2's maximum with what all events ask for; with neighborsOnly the maximum is over |i-j| = 1 alone.
func tightEpsilonIs(neighborsOnly bool) check {
	return func(t *tally) Finding {
		for n := 2; n <= 6; n++ {
			laws := someLaws(t.ctx, n)
			for _, q := range laws {
				if slices.ContainsFunc(q, func(x *big.Rat) bool { return x.Sign() == 0 || x.Cmp(one) == 0 }) {
					continue // the theorem is about probabilities between 0 and 1
				}
				for l := 1; l < n; l++ {
					for _, delta := range []*big.Rat{new(big.Rat), rat(1, 20), rat(1, 4)} {
						reach := l
						if neighborsOnly {
							reach = 1
						}
						want := one
						for i := range q {
							for j := max(0, i-reach); j < n && j <= i+reach; j++ {
								if excess := sub(q[i], delta); excess.Cmp(q[j]) > 0 && quo(excess, q[j]).Cmp(want) > 0 {
									want = quo(excess, q[j])
								}
							}
						}
						got := leastExp(q, l, delta)
						t.expect(got != nil && got.Cmp(want) == 0, "law %s, l = %d, δ = %s: e^ε = %v, not %s", text(q), l, delta.RatString(), got, want.RatString())
					}
				}
			}
		}
		return t.finding("n = 2, …, 6: the secretary rule, two p-mixes and the random rules of positive probabilities; all l, three δ; all swaps and all 2^n events, exact", "")
	}
}

func blindChoice(t *tally) Finding {
	for n := 1; n <= 8; n++ {
		law := playedLaw(n, 1)
		for _, x := range law {
			t.expect(x.Cmp(rat(1, int64(n))) == 0, "n = %d: law %s", n, text(law))
		}
		if n > 1 {
			e := leastExp(law, n-1, new(big.Rat))
			t.expect(e != nil && e.Cmp(one) == 0, "n = %d: e^ε = %v", n, e)
		}
	}
	return t.finding("n = 1, …, 8, all swaps and events, exact; the law is uniform for every order of preference, whatever the metric", "")
}

// best returns the law of a rule that is optimal for a set of ranks, given by its bits.
func best(n, set int) []*big.Rat {
	payoff := make([]*big.Rat, n)
	for k := range payoff {
		payoff[k] = rat(int64(set>>k&1), 1)
	}
	_, stops, err := secretary.Best(payoff)
	ensure(err)
	rule := must(stops.Rule())
	return rule.Law()
}

func mixSucceeds(t *tally) Finding {
	rng := rand.New(rand.NewPCG(5, 5))
	for n := 2; n <= 6; n++ {
		for set := 1; set < 1<<n; set++ {
			r := best(n, set)
			other := randomLaw(rng, n)
			for _, p := range []*big.Rat{new(big.Rat), rat(1, 3), one} {
				q := secretary.Mix[*big.Rat](arith.Rat{}, p, r, other)
				got, least := new(big.Rat), new(big.Rat)
				for k := range q {
					if set>>k&1 == 1 {
						got, least = add(got, q[k]), add(least, mul(p, r[k]))
					}
				}
				t.expect(got.Cmp(least) >= 0, "n = %d: %s < %s", n, got.RatString(), least.RatString())
			}
		}
	}
	return t.finding("n = 2, …, 6, every set of ranks, a random other rule each, three p, exact; it is a sum of nonnegative terms", "")
}

// mixesArePrivate checks that p-mixes of rules with the hypotheses of Theorem 1 have the privacy that a theorem says; a theorem that says nothing of a case returns nil.
func mixesArePrivate(says func(e, p, delta *big.Rat, n int) (exp, newDelta *big.Rat), uniform bool) check {
	return func(t *tally) Finding {
		rng := rand.New(rand.NewPCG(7, 7))
		for n := 2; n <= 5; n++ {
			for set := 1; set < 1<<n; set++ {
				r := best(n, set)
				other := must(secretary.BlindLaw[*big.Rat](arith.Rat{}, n))
				if !uniform {
					other = randomLaw(rng, n)
				}
				for l := 1; l < n; l++ {
					flat := leastExp(other, l, new(big.Rat))
					for _, delta := range []*big.Rat{new(big.Rat), rat(1, 20), rat(1, 5)} {
						e := leastExp(r, l, delta)
						if e == nil || flat == nil {
							continue
						}
						if e.Cmp(flat) < 0 {
							e = flat
						}
						for _, p := range []*big.Rat{rat(1, 4), rat(1, 2), rat(9, 10)} {
							exp, newDelta := says(e, p, delta, n)
							if exp == nil {
								continue
							}
							got := leastExp(secretary.Mix[*big.Rat](arith.Rat{}, p, r, other), l, newDelta)
							t.expect(got != nil && got.Cmp(exp) <= 0, "laws %s and %s, l = %d, δ = %s, p = %s: e^ε = %v, not %s", text(r), text(other), l, delta.RatString(), p.RatString(), got, exp.RatString())
						}
					}
				}
			}
		}
		return t.finding(fmt.Sprintf("n = 2, …, 5, optimal rules for every set of ranks, all l, three δ and p, all swaps and events, exact: %d mixes", t.checked), "")
	}
}
