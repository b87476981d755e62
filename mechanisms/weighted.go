package mechanisms

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// weighted is a mechanism whose probabilities are one generic formula in the candidates' weights e^{-ε·depth}.
type weighted struct {
	bodies
	rat overWeights[*big.Rat]
	box overWeights[number.Interval]
	flt overWeights[float64]
}

// overWeights returns the probability of one candidate of each of the distinct weights, best first, that counts candidates share.
type overWeights[T any] func(f arith.Field[T], weights []T, counts []int) []T

// newWeighted returns the mechanism of one formula in its four instances. In float64 its error is that of e^x for -745 <= x <= 0.
func newWeighted(info Info, rat overWeights[*big.Rat], box overWeights[number.Interval], flt overWeights[float64], fun overWeights[arith.RatFunc]) *weighted {
	return &weighted{bodies: bodies{info: info, rat: rat.body, box: box.body, fun: fun.body, off: 1e-12}, rat: rat, box: box, flt: flt}
}

// body applies the formula to the weights of an instance.
func (p overWeights[T]) body(f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]T, error) {
	depths := in.Depths()
	members, group := classes(len(depths), func(i, j int) int { return depths[i].Cmp(depths[j]) })
	weights, counts := make([]T, len(members)), make([]int, len(members))
	for g, alike := range members {
		var err error
		if weights[g], err = power(depths[alike[0]]); err != nil {
			return nil, err
		}
		counts[g] = len(alike)
	}
	return scatter(group, p(f, weights, counts)), nil
}

// WeightedExact, WeightedEnclose and WeightedFloat take the distinct weights e^{-ε·depth}, best (1) first, and how many candidates share
// each, and return the probability of one candidate of each weight, which is at most that weight. Candidates
// that share an enclosure may have different weights in it; then what is returned for it holds the probability of each of them.
func (w *weighted) WeightedExact(weights []*big.Rat, counts []int) []*big.Rat {
	return w.rat(arith.Rat{}, weights, counts)
}

func (w *weighted) WeightedEnclose(weights []number.Interval, counts []int) []number.Interval {
	p := w.box(arith.Interval{Prec: weights[0].Prec()}, weights, counts)
	for i := range p {
		p[i] = clampUnit(p[i])
	}
	return p
}

func (w *weighted) WeightedFloat(weights []float64, counts []int) []float64 {
	return w.flt(arith.Float{}, weights, counts)
}

func (w *weighted) Float(in *Instance) ([]float64, error) {
	in64, err := in.floats()
	if err != nil {
		return nil, err
	}
	weights := in64.weights()
	return w.WeightedFloat(weights, slices.Repeat([]int{1}, len(weights))), nil
}
