package evaluate

import (
	"fmt"
	"math"
	"math/big"
	"sort"

	"optratio/mechanisms"
	"optratio/number"
)

const (
	// exactCandidates is the number up to which mechanisms.Ask is left to choose, which then returns exact rationals where there are any.
	exactCandidates = 64
	// classPrec is the precision of enclosures in bits.
	classPrec = 128
	// mostClasses bounds the classes of an enclosure, which takes about a second then. Beyond it there are estimates.
	mostClasses = 4000
	// tailExponent: classes whose weight is less than e^-tailExponent of that of the first that counts are treated together.
	tailExponent = 110.0
	// deepest is the exponent of the least weight that float64 holds with all its digits, with room for the products to come.
	deepest = 600.0
)

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	mechanisms.Mechanism
	WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
	WeightedFloat(weights []float64, counts []int) []float64
}

// classes are the weights of a problem at one ε: those of the head one by one, those of the tail by a common bound.
type classes struct {
	gaps    []*big.Rat        // of the head, in units of the scores
	weights []number.Interval // e^{-ε gap/2Δ}; after the head's one more, from 0 to the largest of the tail, if there is a tail
	counts  []int
	tail    number.Interval // Σ gap·weight over the tail
}

// rate returns, in float64, the exponent of a candidate one unit of the scores below the best: ε/2Δ.
func rate(sensitivity *big.Rat, eps number.Epsilon) float64 {
	delta, _ := sensitivity.Float64()
	return eps.Float() / (2 * delta)
}

// head returns how many classes are worth a weight of their own: those whose exponent exceeds that of a given gap by at most tailExponent.
func (p *Problem) head(rate, gap float64) int {
	return sort.Search(len(p.near), func(g int) bool { return rate*(p.near[g]-gap) > tailExponent })
}

// weigh returns the weights. A probability of the tail is at most its weight, for every weighted mechanism, and x e^{-λx} falls where λx >= 1, so that
// the tail's candidates have together at most their number times the term of the first.
func (p *Problem) weigh(sensitivity *big.Rat, eps number.Epsilon, head int) *classes {
	step := new(big.Rat).Add(sensitivity, sensitivity)
	c := &classes{tail: number.FromInt(0, classPrec)}
	weight := func(g int) (*big.Rat, number.Interval) {
		gap := p.gap(g)
		return gap, eps.ExpNeg(new(big.Rat).Quo(gap, step), classPrec)
	}
	if head < len(p.counts) {
		if _, w := weight(head); w.Hi().Cmp(big.NewFloat(0.25)) > 0 { // e^-1 > 1/4
			head = len(p.counts)
		}
	}
	for g := range head {
		gap, w := weight(g)
		c.gaps, c.weights, c.counts = append(c.gaps, gap), append(c.weights, w), append(c.counts, p.counts[g])
	}
	if head < len(p.counts) {
		gap, w := weight(head)
		rest := 0
		for _, n := range p.counts[head:] {
			rest += n
		}
		zero := number.FromInt(0, classPrec)
		c.weights, c.counts = append(c.weights, number.Hull(zero, w)), append(c.counts, rest)
		c.tail = number.Hull(zero, w.Mul(number.FromRat(gap, classPrec)).Mul(number.FromInt(int64(rest), classPrec)))
	}
	return c
}

// classError returns the expected error Σ_g counts_g gap_g x_g of a mechanism with probabilities x, by classes of equal scores.
func (p *Problem) classError(m weighted, sensitivity *big.Rat, eps number.Epsilon) number.Number {
	if eps.IsZero() || len(p.counts) == 1 {
		return number.Exact(p.meanGap()) // all weights are 1, and all probabilities 1/n
	}
	rate := rate(sensitivity, eps)
	head := p.head(rate, p.near[1])
	if head <= mostClasses {
		return p.enclose(m, p.weigh(sensitivity, eps, head))
	}
	if rate*p.near[1] > deepest { // an error that float64 cannot state
		return number.Enclosed(p.weigh(sensitivity, eps, 1).tail)
	}
	return p.estimate(m, rate)
}

// enclose encloses the expected error from weights.
func (p *Problem) enclose(m weighted, c *classes) number.Number {
	sum := number.NewAccumulator(classPrec)
	for g, x := range m.WeightedEnclose(c.weights, c.counts)[:len(c.gaps)] {
		times := new(big.Rat).Mul(c.gaps[g], new(big.Rat).SetInt64(int64(c.counts[g])))
		sum.AddMul(x, number.FromRat(times, classPrec))
	}
	return number.Enclosed(sum.Value().Add(c.tail))
}

// meanGap returns the expected error of the uniform choice.
func (p *Problem) meanGap() *big.Rat {
	sum := new(big.Rat)
	for g, n := range p.counts {
		sum.Add(sum, new(big.Rat).Mul(p.gap(g), big.NewRat(int64(n), 1)))
	}
	return sum.Quo(sum, big.NewRat(int64(p.n), 1))
}

// estimate is classError in float64. The exponents are off by less than 4 roundings, the mechanism's probabilities by 1e-12 relative to
// their values besides, and sums of D classes by D roundings each; relative errors of weights come back at most twofold in the probabilities of permute-and-flip
// and of the exponential mechanism.
func (p *Problem) estimate(m weighted, rate float64) number.Number {
	sum, weights := 0.0, make([]float64, len(p.near))
	for g, gap := range p.near {
		weights[g] = math.Exp(-rate * gap)
	}
	for g, x := range m.WeightedFloat(weights, p.counts) {
		sum += float64(x * float64(p.counts[g]) * p.near[g])
	}
	relative := 1e-11 + float64(0x1p-50*float64(len(p.counts)))
	return number.Estimate(sum, fmt.Sprintf("float64 over %d classes of equal scores, relative error below %.1g", len(p.counts), 1.1*relative))
}
