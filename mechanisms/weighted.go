package mechanisms

import (
	"math/big"
	"slices"

	"optratio/number/arith"
	"optratio/number/interval"
)

// weighted makes a Mechanism of one generic body, instantiated for the kinds of numbers there are.
// fun may be nil where the probabilities are no rational functions of the weights.
type weighted struct {
	info   Info
	rat    func(f arith.Field[*big.Rat], weights []*big.Rat, counts []int) []*big.Rat
	box    func(f arith.Field[interval.Interval], weights []interval.Interval, counts []int) []interval.Interval
	flt    func(f arith.Field[float64], weights []float64, counts []int) []float64
	fun    func(f arith.Field[arith.RatFunc], weights []arith.RatFunc, counts []int) []arith.RatFunc
	linear bool // whether the body takes a few operations a candidate
	// draws runs the mechanism on one coin per candidate, whose probabilities are the weights.
	draws func(d dice, coins []coin) func() int
}

func (w *weighted) Info() Info { return w.info }

func (w *weighted) quick() bool { return w.linear }

// relativeError is that of e^x for -745 <= x <= 0, and of a plain sum of weights where there is one.
func (w *weighted) relativeError(in *FloatInstance) float64 {
	if w.linear {
		return 1e-12 + 0x1p-52*float64(len(in.Scores))
	}
	return 1e-12
}

func (w *weighted) WeightedExact(weights []*big.Rat, counts []int) []*big.Rat {
	return w.rat(arith.Rat{}, weights, counts)
}

func (w *weighted) WeightedEnclose(weights []interval.Interval, counts []int) []interval.Interval {
	p := w.box(arith.Interval{Prec: weights[0].Prec()}, weights, counts)
	for i := range p {
		p[i] = clampUnit(p[i])
	}
	return p
}

func (w *weighted) WeightedFloat(weights []float64, counts []int) []float64 {
	return w.flt(arith.Float{}, weights, counts)
}

// clampUnit intersects an enclosure of a probability with [0, 1].
func clampUnit(x interval.Interval) interval.Interval {
	if unit, ok := x.Intersect(interval.Hull(interval.FromInt(0, x.Prec()), interval.FromInt(1, x.Prec()))); ok {
		return unit
	}
	return x
}

// groups gathers equal depths: the distinct depths in ascending order, their counts, and each candidate's group.
func groups(depths []*big.Rat) (distinct []*big.Rat, counts, group []int) {
	order := make([]int, len(depths))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return depths[a].Cmp(depths[b]) })
	group = make([]int, len(depths))
	for _, i := range order {
		if last := len(distinct) - 1; last < 0 || distinct[last].Cmp(depths[i]) != 0 {
			distinct = append(distinct, depths[i])
			counts = append(counts, 0)
		}
		group[i] = len(distinct) - 1
		counts[group[i]]++
	}
	return distinct, counts, group
}

// scatter gives each candidate its group's value.
func scatter[T any](group []int, values []T) []T {
	out := make([]T, len(group))
	for i, g := range group {
		out[i] = values[g]
	}
	return out
}

func (w *weighted) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	depths, counts, group := groups(in.Depths())
	weights := make([]*big.Rat, len(depths))
	for i, d := range depths {
		var ok bool
		if weights[i], ok = in.Epsilon.ExpNegRat(d); !ok {
			return nil, ErrNotRational
		}
	}
	return scatter(group, w.WeightedExact(weights, counts)), nil
}

func (w *weighted) Enclose(in *Instance, prec uint) ([]interval.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	depths, counts, group := groups(in.Depths())
	weights := make([]interval.Interval, len(depths))
	for i, d := range depths {
		weights[i] = in.Epsilon.ExpNeg(d, prec)
	}
	return scatter(group, w.WeightedEnclose(weights, counts)), nil
}

func (w *weighted) Float(in *Instance) ([]float64, error) { return floats(w, in) }

func (w *weighted) FloatScores(in *FloatInstance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	weights := in.weights()
	counts := make([]int, len(weights))
	for i := range counts {
		counts[i] = 1
	}
	return w.WeightedFloat(weights, counts), nil
}

func (w *weighted) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if w.fun == nil {
		return nil, ErrNotRational
	}
	depths, counts, group := groups(in.Depths())
	weights := make([]arith.RatFunc, len(depths))
	for i, d := range depths {
		steps, ok := multiple(d, unit)
		if !ok {
			return nil, ErrNotRational
		}
		weights[i] = arith.Pow(arith.Poly{}, arith.Poly{}.Z(), steps)
	}
	return scatter(group, w.fun(arith.Poly{}, weights, counts)), nil
}
