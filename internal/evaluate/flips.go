package evaluate

import (
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/number/interval"
)

// ExpectedFlips returns the expected number of coins that permute-and-flip flips on the problem: it visits the candidates in random order, flips each one's
// coin, which shows heads with probability p_r = e^{-ε(q*-q_r)/2Δ}, and stops at the first heads. Where q* is known in advance it evaluates
// no other scores than those of the candidates visited; where it is not, all of them.
//
// Candidate r is visited iff no earlier coin shows heads. Whether it is does not depend on its own coin, so
//
//	Pr[r is visited] = Pr[r is taken]/p_r,  and the expected number is Σ_r x_r/p_r.
//
// It is exact for few candidates where that is rational, else enclosed, else an estimate.
func (p *Problem) ExpectedFlips(eps mechanisms.Epsilon) (number.Number, error) {
	flip := mechanisms.PermuteAndFlip().(mechanisms.Weighted)
	sensitivity, err := p.sensitivityFor(flip)
	if err != nil {
		return number.Number{}, err
	}
	if err := eps.Check(); err != nil {
		return number.Number{}, err
	}
	if eps.IsZero() || len(p.counts) == 1 {
		return number.Int(1), nil
	}
	if p.n <= exactCandidates {
		if exact, err := p.exactFlips(flip, sensitivity, eps); err != nil || exact.IsValid() {
			return exact, err
		}
	}
	rate := rate(sensitivity, eps)
	head := p.head(rate, 0)
	if head > mostClasses {
		return p.estimateFlips(flip, rate), nil
	}
	return encloseFlips(flip, p.weigh(sensitivity, eps, head)), nil
}

// encloseFlips encloses the expected number from weights.
func encloseFlips(flip mechanisms.Weighted, c *classes) number.Number {
	sum := interval.NewAccumulator(classPrec)
	for g, x := range flip.WeightedEnclose(c.weights, c.counts)[:len(c.gaps)] {
		sum.AddMul(x.Quo(c.weights[g]), interval.FromInt(int64(c.counts[g]), classPrec))
	}
	if tail := len(c.gaps); tail < len(c.weights) {
		sum.AddMul(tailVisited(flip, c), interval.FromInt(int64(c.counts[tail]), classPrec))
	}
	return number.Enclosed(sum.Value())
}

// tailVisited encloses the probability that a candidate of the tail is visited. Its own weight has no part in that, so it may be any, such as 1/2.
func tailVisited(flip mechanisms.Weighted, c *classes) interval.Interval {
	tail, some := len(c.gaps), interval.FromRat(big.NewRat(1, 2), classPrec)
	weights, counts := append(c.weights[:tail:tail], some), append(c.counts[:tail:tail], 1)
	if others := c.counts[tail] - 1; others > 0 {
		weights, counts = append(weights, c.weights[tail]), append(counts, others)
	}
	return flip.WeightedEnclose(weights, counts)[tail].Quo(some)
}

// exactFlips is ExpectedFlips in rationals; no number where probabilities are not rational, or too long.
func (p *Problem) exactFlips(flip mechanisms.Mechanism, sensitivity *big.Rat, eps mechanisms.Epsilon) (number.Number, error) {
	in := p.instance(sensitivity, eps)
	a, err := mechanisms.Ask(flip, in)
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

// estimateFlips is ExpectedFlips in float64. Weights below 1e-100 are replaced by that: they matter to no one else.
func (p *Problem) estimateFlips(flip mechanisms.Weighted, rate float64) number.Number {
	weights := p.floatWeights(rate)
	for g, w := range weights {
		weights[g] = max(w, 1e-100)
	}
	sum := 0.0
	for g, x := range flip.WeightedFloat(weights, p.counts) {
		sum += float64(x / weights[g] * float64(p.counts[g]))
	}
	return p.estimated(sum)
}
