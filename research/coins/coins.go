// Package coins has how many coins permute-and-flip flips. research/docs/coins.md has the formula.
package coins

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

const (
	fewCandidates = 64   // up to which probabilities may be exact
	mostClasses   = 4000 // of different scores, which take about a second
	prec          = 128  // bits
	deepest       = -160 // binary exponent of the weights from which on candidates are treated together
)

// Expected returns the expected number of coins that permute-and-flip flips: it visits the candidates in random order, flips each one's
// coin, which shows heads with probability p_r = e^{-ε(q*-q_r)/2Δ}, and stops at the first heads. Where q* is known in advance it evaluates
// no other scores than those of the candidates visited; where it is not, all of them.
//
// Candidate r is visited iff no earlier coin shows heads. Whether it is does not depend on its own coin, so
//
//	Pr[r is visited] = Pr[r is taken]/p_r,  and the expected number is Σ_r x_r/p_r.
//
// It is exact for few candidates where that is rational, else enclosed. The error is a number.InputError.
func Expected(scores []*big.Rat, sensitivity *big.Rat, eps number.Epsilon) (number.Number, error) {
	if err := eps.Check(); err != nil {
		return number.Number{}, err
	}
	if len(scores) == 0 || sensitivity.Sign() <= 0 {
		return number.Number{}, number.InputError("no scores, or a sensitivity that is not above 0")
	}
	if len(scores) <= fewCandidates {
		if exact, err := rational(scores, sensitivity, eps); err != nil || exact.IsValid() {
			return exact, err
		}
	}
	c := weigh(scores, sensitivity, eps)
	if len(c.weights) > mostClasses {
		return number.Number{}, number.InputError(fmt.Sprintf("more than %d different scores that count; sum adjacent bins, or give a larger ε", mostClasses))
	}
	return c.enclose(), nil
}

// classes are weights with the numbers of candidates that have them, from the best on. The last ones may be of candidates whose weights differ, and that enclosure holds all of them.
type classes struct {
	weights []number.Interval
	counts  []int
	tail    bool
}

func weigh(scores []*big.Rat, sensitivity *big.Rat, eps number.Epsilon) (c classes) {
	ordered := slices.SortedFunc(slices.Values(scores), func(a, b *big.Rat) int { return b.Cmp(a) })
	step := new(big.Rat).Add(sensitivity, sensitivity)
	for i, q := range ordered {
		if i > 0 && q.Cmp(ordered[i-1]) == 0 {
			c.counts[len(c.counts)-1]++
			continue
		}
		depth := new(big.Rat).Sub(ordered[0], q)
		w := eps.ExpNeg(depth.Quo(depth, step), prec)
		if i > 0 && w.Hi().MantExp(nil) < deepest {
			c.weights, c.counts, c.tail = append(c.weights, number.Hull(number.FromInt(0, prec), w)), append(c.counts, len(ordered)-i), true
			break
		}
		c.weights, c.counts = append(c.weights, w), append(c.counts, 1)
	}
	return c
}

// flip is permute-and-flip, a function of the weights e^{-ε·depth}.
var flip = mechanisms.PermuteAndFlip().(interface {
	WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
})

func (c *classes) enclose() number.Number {
	sum := number.NewAccumulator(prec)
	last := len(c.weights) - 1
	for g, x := range flip.WeightedEnclose(c.weights, c.counts) {
		visited := number.Interval{}
		if g == last && c.tail {
			visited = c.visited()
		} else {
			visited = x.Quo(c.weights[g])
		}
		sum.AddMul(visited, number.FromInt(int64(c.counts[g]), prec))
	}
	return number.Enclosed(sum.Value())
}

// visited encloses the probability that a candidate of the last class is visited. Its own weight has no part in that, so it may be any, such as 1/2.
func (c *classes) visited() number.Interval {
	last, some := len(c.weights)-1, number.FromRat(big.NewRat(1, 2), prec)
	weights, counts := append(c.weights[:last:last], some), append(c.counts[:last:last], 1)
	if others := c.counts[last] - 1; others > 0 {
		weights, counts = append(weights, c.weights[last]), append(counts, others)
	}
	return flip.WeightedEnclose(weights, counts)[last].Quo(some)
}

// rational is Expected in rationals; no number where probabilities are not rational, or too long.
func rational(scores []*big.Rat, sensitivity *big.Rat, eps number.Epsilon) (number.Number, error) {
	in := &mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{sensitivity}, Epsilon: eps}
	a, err := mechanisms.Ask(mechanisms.PermuteAndFlip(), in)
	if err != nil {
		return number.Number{}, err
	}
	sum := new(big.Rat)
	for r, depth := range in.Depths() {
		x, exact := a.PMF[r].Rat()
		inverse, rational := eps.ExpNegRat(depth.Neg(depth))
		if !exact || !rational {
			return number.Number{}, nil
		}
		sum.Add(sum, x.Mul(x, inverse))
	}
	return number.Exact(sum), nil
}
