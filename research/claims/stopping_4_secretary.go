package claims

import (
	"context"
	"fmt"
	"math/big"

	"optratio/mechanisms/secretary"
	"optratio/number/interval"
)

func init() {
	register(Stopping, map[string]check{
		"Fact 6 | both":                              mixTakesBest,
		"Corollary 1 | both":                         followsLaw(sublinearRanks, rat(1, 2), limitLaw),
		"After Corollary 1, a_k | both":              firstCoefficients,
		"Lemma 2 | older":                            nonincreasing(true),
		"Lemma 1 | newer":                            nonincreasing(true),
		"Lemma 3 | older":                            firstPairIsWorst(7),
		"Lemma 2 | newer":                            firstPairIsWorst(7),
		"Proof of Lemma 3 (newer: 2), n >= 7 | both": secondRatioBelowLimit,
		"Theorem 3 | older":                          closedFormOfEpsilon(7),
		"Theorem 4.2 | newer":                        closedFormOfEpsilon(7),
		"Corollary 2 | both":                         closedFormOfDelta,
		"After Corollary 2 | older":                  twoBoundsDiffer,
		"Corollary 3 | both":                         closedFormOfP,
		"Corollary 3, limit | both":                  limitOfP,
		"Example with δ = 0.01 | both":               exampleEpsilon,
		"Example with ε = 0.5 | both":                exampleP(rat(35, 100), rat(1, 200)),
		"Example with δ = 0.05 | newer":              exampleWhole(rat(85, 100), rat(1, 200)),
		"Example with δ = 0.05 | older":              exampleWhole(rat(8, 10), rat(1, 20)),
		"Text on figures | newer":                    notCheckable("cross-references; the sentences say which curves are meant"),
		"Conclusions | both":                         notCheckable("questions for later work; for one of several best, and for the best private rule of all, docs/results/stopping.md has answers"),
	})
}

// laws of the secretary rule as large as exact checks take.
const largestExact = 200

func mixTakesBest(t *tally) Finding {
	for n := 3; n <= 24; n++ {
		tn := leastThreshold(n)
		rule := must(secretary.ThresholdRule(n, tn))
		blind := must(secretary.ThresholdRule(n, 1))
		for _, p := range []*big.Rat{new(big.Rat), rat(1, 3), rat(9, 10), one} {
			mixed := must(secretary.MixRules(p, rule, blind))
			got, want := mixed.Law()[0], add(mul(p, printedSuccess(n, tn)), quo(sub(one, p), rat(int64(n), 1)))
			t.expect(got.Cmp(want) == 0, "n = %d, p = %s: %s, not %s", n, p.RatString(), got.RatString(), want.RatString())
		}
	}
	const large = 100_000
	law := enclosedLaw(t.ctx, large)
	p := enclose(rat(1, 3))
	ratio := law[0].Mul(p).Add(enclose(rat(2, 3*large))).Quo(p.Mul(interval.ExpRat(rat(-1, 1), precision)))
	t.expect(below(ratio.Sub(enclose(one)).Abs(), enclose(rat(1, 1000))), "n = 10⁵, p = 1/3: ratio %.6f", ratio.Near())
	return t.finding("n = 3, …, 24, four p, exact, against the law of the mixed rule; the ratio at n = 10⁵, p = 1/3, enclosed", fmt.Sprintf("ratio %.6f", ratio.Near()))
}

func firstCoefficients(t *tally) Finding {
	for k, want := range []interval.Interval{enclose(one), interval.ExpRat(rat(-1, 1), precision)} {
		a := must(secretary.AsymptoticEnclosure(k+1, precision))
		_, meet := a.Intersect(want)
		width, _ := a.Width().Float64()
		t.expect(meet && width < 1e-30, "a_%d = %v", k+1, a.Near())
	}
	return t.finding("enclosed to 10⁻³⁰", "")
}

// nonincreasing checks r, and q for some p where mixes is set.
func nonincreasing(mixes bool) check {
	return func(t *tally) Finding {
		for n := 1; n <= largestExact; n++ {
			law := exactLaw(t.ctx, n)
			for k := 1; k < n; k++ {
				t.expect(law[k-1].Cmp(law[k]) >= 0, "n = %d: r_%d = %s < r_%d = %s", n, k, short(law[k-1], 8), k+1, short(law[k], 8))
			}
		}
		domain := fmt.Sprintf("n = 1, …, %d, exact", largestExact)
		if mixes {
			domain += ": r is non-increasing, hence q = p·r + (1-p)/n for every p"
		}
		return t.finding(domain, "")
	}
}

// firstPairIsWorst checks Lemma 3 from n = least on, through log-convexity and convexity of r: with c = (1-p)/n, at δ = 0,
//
//	q_1 q_{k+l} - q_k q_{l+1} = p² (r_1 r_{k+l} - r_k r_{l+1}) + pc (r_1 + r_{k+l} - r_k - r_{l+1}).
func firstPairIsWorst(least int) check {
	return func(t *tally) Finding {
		for n := least; n <= largestExact; n++ {
			r := exactLaw(t.ctx, n)
			for k := 1; k+1 < n; k++ {
				a, b, c := r[k-1], r[k], r[k+1]
				t.expect(mul(a, c).Cmp(mul(b, b)) >= 0, "n = %d, l = 1, p = 1, δ = 0: r_%d/r_%d = %s < r_%d/r_%d = %s", n, k, k+1, short(quo(a, b), 6), k+1, k+2, short(quo(b, c), 6))
				t.expect(add(a, c).Cmp(add(b, b)) >= 0, "n = %d: r_%d - r_%d < r_%d - r_%d", n, k, k+1, k+1, k+2)
			}
		}
		return t.finding(fmt.Sprintf("n = %d, …, %d, exact; all k, l, p and δ, by convexity and log-convexity of r", least, largestExact), "")
	}
}

func secondRatioBelowLimit(t *tally) Finding {
	const most = 60
	var above []*big.Rat // upper ends of a_2, a_3, …: a larger a makes the claim harder
	for l := 1; l <= most; l++ {
		a := must(secretary.AsymptoticEnclosure(l+1, precision))
		hi, _ := a.Hi().Rat(nil)
		above = append(above, hi)
	}
	for n := 7; n <= most; n++ {
		r := exactLaw(t.ctx, n)
		for l := 1; l+2 <= n; l++ {
			for k := 2; k+l <= n; k++ {
				t.expect(mul(r[k-1], above[l-1]).Cmp(r[k+l-1]) < 0, "n = %d, l = %d, k = %d", n, l, k)
			}
		}
	}
	return t.finding(fmt.Sprintf("n = 7, …, %d, all k and l, r exact and a_{l+1} enclosed", most), "")
}

// eachMix calls f for the laws of p-mixes, n from least to 30, all l.
func eachMix(ctx context.Context, least int, f func(n, l int, p *big.Rat, q []*big.Rat)) {
	for n := least; n <= 30; n++ {
		law := exactLaw(ctx, n)
		for _, p := range []*big.Rat{one, rat(1, 2), rat(1, 10), rat(1, 1000)} {
			q := mixed(law, p)
			for l := 1; l < n; l++ {
				f(n, l, p, q)
			}
		}
	}
}

// closedFormOfEpsilon checks Theorem 3 from n = least on, and its limit.
func closedFormOfEpsilon(least int) check {
	return func(t *tally) Finding {
		eachMix(t.ctx, least, func(n, l int, p *big.Rat, q []*big.Rat) {
			for _, delta := range []*big.Rat{new(big.Rat), rat(1, 100), rat(1, 20), rat(1, 5)} {
				tight := must(secretary.TightEps(secretary.ExactLaw(q), l, delta))
				want := one
				if x := quo(sub(q[0], delta), q[l]); x.Cmp(one) > 0 {
					want = x
				}
				t.expect(tight.Upper != nil && tight.Upper.Cmp(want) == 0, "n = %d, l = %d, p = %s, δ = %s: e^ε = %s is needed, by ranks %d and %d, not %s", n, l, p.RatString(), delta.RatString(), short(tight.Upper, 6), tight.Pair.I, tight.Pair.J, short(want, 6))
			}
		})
		const large = 10_000
		law := enclosedLaw(t.ctx, large)
		worst := 0.0
		for _, l := range []int{1, 2, 5} {
			for _, p := range []*big.Rat{one, rat(1, 2)} {
				for _, delta := range []*big.Rat{new(big.Rat), rat(1, 100), rat(1, 20)} {
					a := must(secretary.AsymptoticEnclosure(l+1, precision))
					at := func(k int) interval.Interval {
						return law[k-1].Mul(enclose(p)).Add(enclose(quo(sub(one, p), rat(large, 1))))
					}
					limit := interval.Log(enclose(p).Sub(enclose(delta).Mul(interval.ExpRat(one, precision))).Quo(a.Mul(enclose(p))))
					off := interval.Log(at(1).Sub(enclose(delta)).Quo(at(l + 1))).Quo(limit).Sub(enclose(one)).Abs()
					t.expect(below(off, enclose(rat(1, 200))), "n = 10⁴, l = %d, p = %s, δ = %s: off its limit by %.2g of it", l, p.RatString(), delta.RatString(), off.Near())
					worst = max(worst, off.Near())
				}
			}
		}
		return t.finding(fmt.Sprintf("n = %d, …, 30, all l, four p and δ: the least ε, exact; the limit at n = 10⁴, l = 1, 2, 5, enclosed", least), fmt.Sprintf("the bound is within %.1g of its limit, relatively", worst))
	}
}

func closedFormOfDelta(t *tally) Finding {
	exps := []*big.Rat{one, rat(5, 4), rat(2, 1), rat(5, 1)}
	eachMix(t.ctx, 7, func(n, l int, p *big.Rat, q []*big.Rat) {
		for _, e := range exps {
			got, _, _, err := secretary.TightDelta(secretary.ExactLaw(q), l, expOf(e))
			ensure(err)
			want := sub(q[0], mul(e, q[l]))
			if want.Sign() < 0 {
				want = new(big.Rat)
			}
			t.expect(got.Cmp(want) == 0, "n = %d, l = %d, p = %s, e^ε = %s: δ = %s is needed, not %s", n, l, p.RatString(), e.RatString(), short(got, 6), short(want, 6))
		}
	})
	const large = 10_000
	law := enclosedLaw(t.ctx, large)
	a := must(secretary.AsymptoticEnclosure(2, precision))
	for _, e := range exps[:3] {
		ratio := law[0].Sub(enclose(e).Mul(law[1])).Quo(interval.ExpRat(rat(-1, 1), precision).Mul(enclose(one).Sub(a.Mul(enclose(e)))))
		t.expect(below(ratio.Sub(enclose(one)).Abs(), enclose(rat(1, 200))), "n = 10⁴, p = 1, l = 1, e^ε = %s: ratio %.6f to the limit", e.RatString(), ratio.Near())
	}
	return t.finding("n = 7, …, 30, all l, four p and e^ε: the least δ, exact; the limit at n = 10⁴, l = 1, p = 1, enclosed", "")
}

func twoBoundsDiffer(t *tally) Finding {
	for n := 7; n <= 30; n++ {
		r := exactLaw(t.ctx, n)
		for _, p := range []*big.Rat{rat(1, 3), rat(9, 10)} {
			q := mixed(r, p)
			for _, e := range []*big.Rat{rat(5, 4), rat(3, 2)} {
				for l := 1; l < n; l++ {
					general := mul(p, sub(r[0], mul(e, r[l])))
					special := sub(q[0], mul(e, q[l]))
					given := quo(mul(sub(one, p), sub(e, one)), rat(int64(n), 1))
					t.expect(sub(general, special).Cmp(given) == 0, "n = %d, l = %d", n, l)
				}
			}
		}
	}
	return t.finding("n = 7, …, 30, all l, two p and e^ε, exact", "")
}

func closedFormOfP(t *tally) Finding {
	for n := 7; n <= 30; n++ {
		r := exactLaw(t.ctx, n)
		for l := 1; l < n; l++ {
			for _, e := range []*big.Rat{one, rat(5, 4), rat(2, 1)} {
				for _, delta := range []*big.Rat{new(big.Rat), rat(1, 100), rat(1, 5)} {
					want := printedP(r, l, e, delta)
					pair := must(secretary.Violated(mixed(r, want), l, expOf(e), delta))
					t.expect(pair == secretary.Pair{}, "n = %d, l = %d, e^ε = %s, δ = %s: ranks %d and %d at p = %s", n, l, e.RatString(), delta.RatString(), pair.I, pair.J, short(want, 6))
					got, _, err := secretary.LargestP(secretary.ExactLaw(r), l, expOf(e), delta)
					ensure(err)
					t.expect(got.Cmp(want) == 0, "n = %d, l = %d, e^ε = %s, δ = %s: p = %s is private", n, l, e.RatString(), delta.RatString(), short(got, 6))
				}
			}
		}
	}
	return t.finding("n = 7, …, 30, all l, three e^ε and δ: private at that p, and at none larger, exact", "")
}

// printedP is the bound of Corollary 3.
func printedP(r []*big.Rat, l int, e, delta *big.Rat) *big.Rat {
	excess := sub(r[0], mul(e, r[l]))
	if delta.Cmp(excess) >= 0 {
		return one
	}
	blind := quo(sub(e, one), rat(int64(len(r)), 1))
	return quo(add(delta, blind), add(excess, blind))
}

func limitOfP(t *tally) Finding {
	const large = 10_000
	law := enclosedLaw(t.ctx, large)
	worst := 0.0
	for _, l := range []int{1, 3} {
		a := must(secretary.AsymptoticEnclosure(l+1, precision))
		for _, delta := range []*big.Rat{rat(1, 100), rat(1, 20)} {
			e, blind := rat(3, 2), rat(1, 2*large)
			p := enclose(add(delta, blind)).Quo(law[0].Sub(enclose(e).Mul(law[l])).Add(enclose(blind)))
			limit := enclose(delta).Mul(interval.ExpRat(one, precision)).Quo(enclose(one).Sub(enclose(e).Mul(a)))
			off := p.Quo(limit).Sub(enclose(one)).Abs()
			t.expect(below(off, enclose(rat(1, 50))), "n = 10⁴, l = %d, δ = %s: off by %.2g", l, delta.RatString(), off.Near())
			worst = max(worst, off.Near())
		}
	}
	return t.finding("n = 10⁴, l = 1, 3, e^ε = 3/2, δ = 0.01, 0.05, enclosed", fmt.Sprintf("within %.1g, relatively", worst))
}

// a_2 is 1/e: the limits of Theorem 3 and of Corollary 3 for l = 1.

// limitEpsilon is ln((p - δe)/(p/e)).
func limitEpsilon(p, delta *big.Rat) interval.Interval {
	e := interval.ExpRat(one, precision)
	return enclose(one).Add(interval.Log(enclose(one).Sub(enclose(quo(delta, p)).Mul(e))))
}

func exampleEpsilon(t *tally) Finding {
	for i := int64(1); i <= 20; i++ {
		eps := limitEpsilon(rat(i, 20), rat(1, 100))
		t.expect(below(eps, enclose(one)), "p = %s: ε = %.4f", rat(i, 20).RatString(), eps.Near())
	}
	return t.finding("p = 1/20, …, 1, enclosed", fmt.Sprintf("ε = %.4f at p = 1", limitEpsilon(one, rat(1, 100)).Near()))
}

// exampleP checks that the largest p at ε = 1/2, δ = 1/20 is a printed number up to half a unit of its last digit.
func exampleP(printed, half *big.Rat) check {
	return func(t *tally) Finding {
		p := enclose(rat(1, 20)).Mul(interval.ExpRat(one, precision)).Quo(enclose(one).Sub(interval.ExpRat(rat(-1, 2), precision)))
		t.expect(below(p.Sub(enclose(printed)).Abs(), enclose(half)), "p = %.4f", p.Near())
		return t.finding("enclosed; a printed number stands for what rounds to it", fmt.Sprintf("p = %.4f", p.Near()))
	}
}

// exampleWhole checks that the ε from which p = 1 is sufficient at δ = 1/20 is a printed number up to half a unit of its last digit.
func exampleWhole(printed, half *big.Rat) check {
	return func(t *tally) Finding {
		eps := limitEpsilon(one, rat(1, 20))
		near, _ := eps.Sub(enclose(printed)).Abs().Cmp(enclose(half))
		at := enclose(rat(1, 20)).Mul(interval.ExpRat(one, precision)).Quo(enclose(one).Sub(interval.ExpRat(sub(printed, one), precision)))
		t.expect(near < 0, "p = 1 is sufficient from ε = %.4f on; at ε = %s the largest p is %.3f", eps.Near(), printed.FloatString(2), at.Near())
		return t.finding("enclosed; a printed number stands for what rounds to it", fmt.Sprintf("ε = %.4f", eps.Near()))
	}
}
