package claims

import (
	"math/big"
	"strconv"

	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/research/scenario"
)

// Claims of Antonova, Laro, McMillan & Wolf about private selection with one sensitivity per candidate are computed from the mechanisms' own probabilities: exact
// rationals, or enclosures wherever something is refuted. Files het_1 to het_5 follow the sections of the source.

// named returns a registered mechanism.
func named(name string) mechanisms.Mechanism {
	return must(mechanisms.Lookup(name))
}

// epsilonOf reads a decimal ε.
func epsilonOf(s string) mechanisms.Epsilon {
	return must(mechanisms.ParseEpsilon(s))
}

// rats reads rationals.
func rats(ss ...string) []*big.Rat {
	out := make([]*big.Rat, len(ss))
	for i, s := range ss {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s) // a constant of this package
		}
		out[i] = x
	}
	return out
}

// enclosedBits is the precision of enclosed probabilities.
const enclosedBits = 64

// loss encloses the mean of f(q* - q_M), f the identity or the square, of a mechanism on an instance.
func loss(m mechanisms.Mechanism, in *mechanisms.Instance, square bool) interval.Interval {
	p := must(m.Enclose(in, enclosedBits))
	total, best := interval.FromInt(0, enclosedBits), in.Best()
	for a, q := range in.Scores {
		gap := sub(best, q)
		if square {
			gap = mul(gap, gap)
		}
		if gap.Sign() != 0 {
			total = total.Add(p[a].Mul(interval.FromRat(gap, enclosedBits)))
		}
	}
	return total
}

// mse is loss for the square.
func mse(name string, in *mechanisms.Instance) interval.Interval {
	return loss(named(name), in, true)
}

// bimodal returns scenario 1, 2 or 3 with so many candidates of the higher score, exactly.
func bimodal(number, high int, eps string) *mechanisms.Instance {
	s := must(scenario.Find(number))
	s = must(s.WithHigh(high))
	trials := must(s.Generate(1, 1))
	return &mechanisms.Instance{Scores: exactly(trials.Scores[0]), Sensitivities: exactly(trials.Sensitivities), Epsilon: epsilonOf(eps)}
}

// exactly returns the shortest decimals that the float64s stand for.
func exactly(xs []float64) []*big.Rat {
	out := make([]*big.Rat, len(xs))
	for i, x := range xs {
		out[i] = rats(strconv.FormatFloat(x, 'g', -1, 64))[0]
	}
	return out
}

// mses returns the enclosed mean squared errors of mechanisms in scenario 1, 2 or 3 with 50 candidates of either score.
func mses(number int, eps string, names ...string) map[string]interval.Interval {
	return msesWith(number, scenario.Candidates/2, eps, names...)
}

// msesWith is mses with so many candidates of the higher score.
func msesWith(number, high int, eps string, names ...string) map[string]interval.Interval {
	in := bimodal(number, high, eps)
	out := map[string]interval.Interval{}
	for _, name := range names {
		out[name] = mse(name, in)
	}
	return out
}

// below reports whether x < y is certain.
func below(x, y interval.Interval) bool {
	c, ok := x.Cmp(y)
	return ok && c < 0
}

// halves returns an instance of k candidates, the first half of which have score -gap and sensitivity d1, the others score 0 and sensitivity d2.
func halves(k int, gap, d1, d2 *big.Rat, eps mechanisms.Epsilon) *mechanisms.Instance {
	in := &mechanisms.Instance{Epsilon: eps}
	for i := range k {
		q, d := new(big.Rat), d2
		if i < k/2 {
			q, d = new(big.Rat).Neg(gap), d1
		}
		in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
	}
	return in
}

// scores lists all vectors of {0, 1, …, k}^n times a factor.
func scores(n, k int, times *big.Rat) [][]*big.Rat {
	var out [][]*big.Rat
	for _, q := range boxes(n, k) {
		v := make([]*big.Rat, n)
		for i, x := range q {
			v[i] = mul(rat(int64(x), 1), times)
		}
		out = append(out, v)
	}
	return out
}
