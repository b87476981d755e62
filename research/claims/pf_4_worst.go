package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number/interval"
)

func init() {
	register(PF, map[string]check{
		"Proposition 4 | main":                             worstScores,
		"Equations 7 and 8 | main":                         worstFormulas,
		"Proposition 4, proof, case 2 | supplement":        caseTwo,
		"Proposition 4, proof, equalities | supplement":    slipsOfProof,
		"Proposition 4, proof, geometric sum | supplement": geometricSum,
		"Section 4.1, endpoints | main":                    endpoints,
		"Section 4.1, maximiser | main":                    maximiser(10),
		"Proposition 5 | main":                             worstAtOneOverN(rat(1, 4)),
		"Proposition 5, factor of four | main":             factorOfFour,
		"Section 4.1, ratio | main":                        ratioInClass,
		"Section 4.1, ratio and n | main":                  ratioAndN,
		"Figure 1(c), text | main":                         ratioOfWorst,
	})
}

// missEM and missPF are the probabilities that the best of (p, …, p, 1) is not taken: equations 7 and 8 over (2Δ/ε) ln(1/p). Both rise with p.
func missEM(n int, p *big.Rat) *big.Rat {
	x := mul(rat(int64(n)-1, 1), p)
	return quo(x, add(rat(1, 1), x))
}

func missPF(n int, p *big.Rat) *big.Rat {
	x := sub(rat(1, 1), power(sub(rat(1, 1), p), n))
	return sub(rat(1, 1), quo(x, mul(rat(int64(n), 1), p)))
}

// oneBest returns the weights (p, …, p, 1).
func oneBest(n int, p *big.Rat) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = p
	}
	out[n-1] = rat(1, 1)
	return out
}

// fractions are 1/parts, …, 1.
func fractions(parts int64) []*big.Rat {
	var out []*big.Rat
	for i := int64(1); i <= parts; i++ {
		out = append(out, rat(i, parts))
	}
	return out
}

func worstFormulas(t *tally) Finding {
	for n := 1; n <= 12; n++ {
		for _, p := range append(fractions(20), rat(1, 1000000)) {
			w := oneBest(n, p)
			x, y := sub(rat(1, 1), distribution(em, w)[n-1]), sub(rat(1, 1), distribution(pf, w)[n-1])
			if p.Cmp(rat(1, 1)) == 0 {
				continue // all are best: the error is 0, and ln(1/p) is
			}
			t.expect(x.Cmp(missEM(n, p)) == 0, "n = %d, p = %s: the exponential mechanism misses with probability %s, not %s", n, p.RatString(), x.RatString(), missEM(n, p).RatString())
			t.expect(y.Cmp(missPF(n, p)) == 0, "n = %d, p = %s: permute-and-flip misses with probability %s, not %s", n, p.RatString(), y.RatString(), missPF(n, p).RatString())
		}
	}
	return t.finding("n = 1, …, 12, p = 10^-6, 1/20, …, 19/20, exact", "")
}

// A peak encloses the largest value of ln(1/p) miss(p) over p in (0,1], in units of 2Δ/ε, and has a p near which it is attained.
type peak struct {
	value interval.Interval
	at    float64
}

// peaks returns the peaks of the exponential mechanism and of permute-and-flip for n >= 2 candidates. With Δ = 1/2 and ε = 1 errors are in units of 2Δ/ε.
func peaks(n int) (exp, flip peak) {
	worst := must(evaluate.NewWorstCase(n, rat(1, 2), false))
	of := func(m mechanisms.Mechanism) peak {
		most, gap, err := worst.Worst(m, epsilonOf("1"))
		ensure(err)
		low, _ := most.Lower()
		high, _ := most.Upper()
		return peak{interval.Hull(enclose(low), enclose(high)), math.Exp(-gap.Float64())}
	}
	return of(em), of(pf)
}

func worstScores(t *tally) Finding {
	rng := rand.New(rand.NewPCG(5, 6))
	var seen []string
	for n := 2; n <= 5; n++ {
		exp, flip := peaks(n)
		most := [2]float64{}
		try := func(p []*big.Rat) {
			x, y := meanError(p, distribution(em, p)), meanError(p, distribution(pf, p))
			t.atMost(x, interval.New(exp.value.Lo(), exp.value.Lo()), "weights %s: the exponential mechanism's error is %.6f, at (c, …, c, 0) at most %.6f", text(p), x.Near(), exp.value.Near())
			t.atMost(y, interval.New(flip.value.Lo(), flip.value.Lo()), "weights %s: permute-and-flip's error is %.6f, at (c, …, c, 0) at most %.6f", text(p), y.Near(), flip.value.Near())
			most = [2]float64{max(most[0], x.Near()), max(most[1], y.Near())}
		}
		for p := range grid(n, append(fractions(8), rat(1, 1000))...) {
			try(p)
		}
		for range 300 {
			p := oneBest(n, nil)
			for i := range n - 1 {
				p[i] = rat(1+rng.Int64N(1<<20), 1<<20)
			}
			try(p)
		}
		seen = append(seen, fmt.Sprintf("n = %d: %.4f and %.4f, at (c, …, c, 0) %.4f and %.4f", n, most[0], most[1], exp.value.Near(), flip.value.Near()))
	}
	return t.finding("n = 2, …, 5, weights from {1/1000, 1/8, …, 1} and 300 random vectors each, enclosed", "largest errors in units of 2Δ/ε, "+strings.Join(seen, "; "))
}

func caseTwo(t *tally) Finding {
	for _, p1 := range fractions(20) {
		for _, p2 := range fractions(20) {
			if p1.Cmp(p2) >= 0 {
				continue
			}
			a1, a2 := enclose(p1).Mul(log(p1)), enclose(p2).Mul(log(p2))
			if holds, ok := a2.LessEq(a1); !ok || !holds {
				continue
			}
			for _, b := range []*big.Rat{rat(0, 1), rat(1, 1)} {
				b1, b2 := enclose(add(sub(rat(1, 1), p1), b)), enclose(add(sub(rat(1, 1), p2), b))
				left := a1.Add(a2).Mul(b1.Add(b2)).Mul(enclose(rat(1, 2)))
				right := a1.Mul(b2).Add(a2.Mul(b1))
				t.expect(below(left, right), "p_1 = %s, p_2 = %s, a = 1, b = %s: the left-hand side is %.5f, the right-hand side %.5f", p1.RatString(), p2.RatString(), b.RatString(), left.Near(), right.Near())
			}
		}
	}
	return t.finding("p_1 and p_2 in 1/20, …, 1, a = 1, b = 0, 1, enclosed", "")
}

func slipsOfProof(t *tally) Finding {
	p1, p2, a, b := rat(1, 4), rat(3, 4), rat(1, 1), rat(1, 1)
	m := quo(add(p1, p2), rat(2, 1))
	level := func(p *big.Rat) *big.Rat { return add(mul(a, sub(rat(1, 1), p)), b) }
	left, right := mul(rat(2, 1), mul(m, level(m))), mul(add(p1, p2), add(level(p1), level(p2))) // times ln m
	t.expect(left.Cmp(right) == 0, "p_1 = 1/4, p_2 = 3/4, a = b = 1: %s ln m against %s ln m; and E = c[…] is negative at p = 1/2, n = 2, where c = (2Δ/ε) ln p < 0 and […] = %s", left.RatString(), right.RatString(), missPF(2, rat(1, 2)).RatString())
	return t.finding("one instance of each, exact", "")
}

func geometricSum(t *tally) Finding {
	for n := 1; n <= 30; n++ {
		for _, p := range fractions(7) {
			total := new(big.Rat)
			for i := range n {
				total = add(total, quo(sub(rat(1, 1), power(sub(rat(1, 1), p), i)), rat(int64(n), 1)))
			}
			t.expect(total.Cmp(missPF(n, p)) == 0, "n = %d, p = %s: %s against %s", n, p.RatString(), total.RatString(), missPF(n, p).RatString())
		}
	}
	return t.finding("n = 1, …, 30, p = 1/7, …, 1, exact", "")
}

func endpoints(t *tally) Finding {
	for _, n := range []int{2, 3, 10, 100} {
		w := oneBest(n, rat(1, 1))
		for _, m := range []*big.Rat{tail(w, distribution(em, w), rat(1, 2)), tail(w, distribution(pf, w), rat(1, 2))} {
			t.expect(m.Sign() == 0, "n = %d, p = 1: an error has probability %s", n, m.RatString())
		}
		last := enclose(rat(1, 1))
		for s := 10; s <= 80; s += 10 {
			p := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(s)))
			x, y := log(p).Neg().Mul(enclose(missEM(n, p))), log(p).Neg().Mul(enclose(missPF(n, p)))
			t.atMost(y, x, "n = %d, p = 2^-%d: permute-and-flip's error %.3g, the exponential mechanism's %.3g", n, s, y.Near(), x.Near())
			t.atMost(x, last, "n = %d, p = 2^-%d: the error %.3g is not falling", n, s, x.Near())
			last = x
		}
		t.atMost(last, enclose(rat(1, 1<<60)), "n = %d, p = 2^-80: the error is still %.3g", n, last.Near())
	}
	return t.finding("n = 2, 3, 10, 100; p = 1 exact, p = 2^-10, …, 2^-80 enclosed", "")
}

// maximiser checks that n p is between 1/2 and 2 where the errors are largest, for n = 2, …, most: that larger values are attained there than anywhere outside.
func maximiser(most int) check {
	return func(t *tally) Finding {
		var seen []string
		for n := 2; n <= most; n++ {
			exp, flip := peaks(n)
			near := func(p float64) bool { return float64(n)*p >= 0.5 && float64(n)*p <= 2 }
			t.expect(near(exp.at) && near(flip.at), "n = %d: n p is %.2f for the exponential mechanism and %.2f for permute-and-flip", n, float64(n)*exp.at, float64(n)*flip.at)
			seen = append(seen, fmt.Sprintf("%d: %.2f, %.2f", n, float64(n)*exp.at, float64(n)*flip.at))
		}
		return t.finding(fmt.Sprintf("n = 2, …, %d: n p in [1/2, 2] where the largest error is attained to 10^-7", most), "n: n p of the exponential mechanism and of permute-and-flip: "+strings.Join(seen, "; "))
	}
}

// worstAtOneOverN checks that permute-and-flip and the exponential mechanism miss the best of (1/n, …, 1/n, 1) with at least the given
// probability, which Proposition 5 says with 1/4: the error is ln n units of 2Δ/ε then.
func worstAtOneOverN(least *big.Rat) check {
	return func(t *tally) Finding {
		const most = 60
		smallest := rat(1, 1)
		for n := 2; n <= most && t.ctx.Err() == nil; n++ {
			p := oneBest(n, rat(1, int64(n)))
			flip, exp := sub(rat(1, 1), distribution(pf, p)[n-1]), sub(rat(1, 1), distribution(em, p)[n-1])
			smallest = smaller(smallest, flip)
			t.expect(flip.Cmp(least) >= 0 && exp.Cmp(flip) >= 0, "n = %d: the best is missed with probability %s by permute-and-flip, %s by the exponential mechanism", n, decimals(flip, 6), decimals(exp, 6))
		}
		return t.finding(fmt.Sprintf("n = 2, …, %d, exact", most), "smallest factor of (2Δ/ε) ln n: "+smallest.RatString())
	}
}

func factorOfFour(t *tally) Finding {
	var seen []string
	for _, n := range []int{2, 3, 4, 10, 100, 10000} {
		exp, flip := peaks(n)
		bound := log(rat(int64(n), 1))
		four := enclose(rat(4, 1))
		t.atMost(bound, four.Mul(exp.value), "n = %d: ln n is more than 4 times the exponential mechanism's worst error %.5f", n, exp.value.Near())
		t.atMost(bound, four.Mul(flip.value), "n = %d: ln n is more than 4 times permute-and-flip's worst error %.5f", n, flip.value.Near())
		seen = append(seen, fmt.Sprintf("n = %d: %.3f, %.3f", n, bound.Quo(exp.value).Near(), bound.Quo(flip.value).Near()))
	}
	return t.finding("n = 2, 3, 4, 10, 100, 10^4, enclosed", "factors of the exponential mechanism and of permute-and-flip: "+strings.Join(seen, "; "))
}

func ratioInClass(t *tally) Finding {
	for _, n := range []int{2, 3, 4, 10, 50} {
		tiny := rat(1, 1<<50)
		for _, p := range append(fractions(50)[:49], rat(1, 1000), tiny) {
			ratio := quo(missEM(n, p), missPF(n, p))
			t.expect(ratio.Cmp(rat(1, 1)) > 0 && ratio.Cmp(rat(2, 1)) < 0, "n = %d, p = %s: ratio %s", n, p.RatString(), decimals(ratio, 6))
		}
		ratio := quo(missEM(n, tiny), missPF(n, tiny))
		t.expect(sub(rat(2, 1), ratio).Cmp(rat(1, 1<<40)) < 0, "n = %d, p = 2^-50: ratio %s", n, decimals(ratio, 12))
	}
	return t.finding("n = 2, 3, 4, 10, 50; p = 2^-50, 1/1000, 1/50, …, 49/50, exact", "at p = 2^-50 the ratio is within 2^-40 of 2")
}

func ratioAndN(t *tally) Finding {
	points := append(fractions(10)[:9], rat(1, 1000), rat(1, 100))
	for _, p := range points {
		var last *big.Rat
		for n := 2; n <= 60; n++ {
			ratio := quo(missEM(n, p), missPF(n, p))
			if last != nil {
				t.expect(less(ratio, last), "p = %s: the ratio does not fall from n = %d to %d", p.RatString(), n-1, n)
			}
			last = ratio
		}
		n := 200000
		miss := func(m mechanisms.Weighted) interval.Interval { // of each of n-1 candidates
			return m.WeightedEnclose([]interval.Interval{enclose(one), enclose(p)}, []int{1, n - 1})[1]
		}
		ratio := miss(em).Quo(miss(pf))
		t.atMost(ratio, enclose(rat(102, 100)), "p = %s, n = %d: ratio %.4f", p.RatString(), n, ratio.Near())
	}
	return t.finding("p = 1/1000, 1/100, 1/10, …, 9/10; the ratio falls with n at each p, n = 2, …, 60, exact; at n = 200000 it is below 1.02, enclosed", "")
}

func ratioOfWorst(t *tally) Finding {
	var seen []string
	var last interval.Interval
	for i, n := range []int{2, 3, 4, 5, 7, 10, 30, 100, 1000, 10000, 1000000} {
		exp, flip := peaks(n)
		ratio := exp.value.Quo(flip.value)
		if i > 0 {
			t.atMost(ratio, last, "n = %d: ratio %.5f, before it %.5f", n, ratio.Near(), last.Near())
		}
		t.atMost(enclose(rat(1, 1)), ratio, "n = %d: ratio %.5f", n, ratio.Near())
		last = ratio
		seen = append(seen, fmt.Sprintf("%d: %.4f", n, ratio.Near()))
	}
	return t.finding("n = 2, 3, 4, 5, 7, 10, 30, 100, …, 10^4, 10^6, enclosed", "n: ratio: "+strings.Join(seen, "; "))
}
