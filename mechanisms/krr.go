package mechanisms

import (
	"math"
	"math/big"

	"optratio/number/arith"
	"optratio/number/interval"
)

func init() {
	Register(&byTies{
		info: Info{
			Name:           "krr",
			Summary:        "k-randomised response: the best candidate, or any other one alike",
			Source:         "Warner 1965",
			Claim:          "ε-DP",
			Private:        true,
			ShiftInvariant: true,
			Uniform:        true,
		},
		rat: randomisedResponse[*big.Rat],
		box: randomisedResponse[interval.Interval],
		flt: randomisedResponse[float64],
		fun: randomisedResponse[arith.RatFunc],
	})
	Register(&byTies{
		info: Info{
			Name:           "uniform",
			Summary:        "a uniformly random candidate",
			Source:         "folklore",
			Claim:          "0-DP",
			Private:        true,
			ShiftInvariant: true,
			Uniform:        true,
		},
		constant: true,
		rat:      uniformly[*big.Rat],
		box:      uniformly[interval.Interval],
		flt:      uniformly[float64],
		fun:      uniformly[arith.RatFunc],
	})
}

// byTies makes a Mechanism of a generic body for probabilities that depend on z = e^{-ε}, the
// number n of candidates, and how many of them tie for the best alone: one
// probability for each of the best, one for each other. The body is not to use z if constant is set.
type byTies struct {
	info     Info
	constant bool
	rat      func(f arith.Field[*big.Rat], z *big.Rat, n, ties int) (best, other *big.Rat)
	box      func(f arith.Field[interval.Interval], z interval.Interval, n, ties int) (best, other interval.Interval)
	flt      func(f arith.Field[float64], z float64, n, ties int) (best, other float64)
	fun      func(f arith.Field[arith.RatFunc], z arith.RatFunc, n, ties int) (best, other arith.RatFunc)
}

// randomisedResponse returns the probabilities of taking a designated candidate with weight 1 and each
// other with weight z, where the designated one is drawn uniformly from the ties:
//
//	best = (1/ties + z (1 - 1/ties))/(1 + (n-1)z),  other = z/(1 + (n-1)z).
func randomisedResponse[T any](f arith.Field[T], z T, n, ties int) (best, other T) {
	total := f.Add(f.One(), f.Mul(f.FromInt(int64(n-1)), z))
	share := f.FromRat(big.NewRat(1, int64(ties)))
	rest := f.FromRat(big.NewRat(int64(ties-1), int64(ties)))
	return f.Quo(f.Add(share, f.Mul(z, rest)), total), f.Quo(z, total)
}

// uniformly returns 1/n.
func uniformly[T any](f arith.Field[T], _ T, n, _ int) (best, other T) {
	p := f.FromRat(big.NewRat(1, int64(n)))
	return p, p
}

func (m *byTies) Info() Info { return m.info }

func (m *byTies) quick() bool { return true }

func (m *byTies) relativeError(*FloatInstance) float64 { return 1e-12 }

// ties marks the candidates that share the best score and counts them.
func (in *Instance) ties() (isBest []bool, count int) {
	best := in.Best()
	isBest = make([]bool, len(in.Scores))
	for i, q := range in.Scores {
		if isBest[i] = q.Cmp(best) == 0; isBest[i] {
			count++
		}
	}
	return isBest, count
}

// spread gives each candidate its probability of the two.
func spread[T any](isBest []bool, best, other T) []T {
	out := make([]T, len(isBest))
	for i, b := range isBest {
		if b {
			out[i] = best
		} else {
			out[i] = other
		}
	}
	return out
}

func (m *byTies) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	z, ok := in.Epsilon.Z()
	if !ok && !m.constant {
		return nil, ErrNotRational
	}
	isBest, ties := in.ties()
	best, other := m.rat(arith.Rat{}, z, len(isBest), ties)
	return spread(isBest, best, other), nil
}

func (m *byTies) Enclose(in *Instance, prec uint) ([]interval.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	isBest, ties := in.ties()
	best, other := m.box(arith.Interval{Prec: prec}, in.Epsilon.ExpNeg(ratOne, prec), len(isBest), ties)
	return spread(isBest, clampUnit(best), clampUnit(other)), nil
}

func (m *byTies) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	var z arith.RatFunc
	if !m.constant {
		steps, ok := multiple(ratOne, unit)
		if !ok {
			return nil, ErrNotRational
		}
		z = arith.Pow(arith.Poly{}, arith.Poly{}.Z(), steps)
	}
	isBest, ties := in.ties()
	best, other := m.fun(arith.Poly{}, z, len(isBest), ties)
	return spread(isBest, best, other), nil
}

func (m *byTies) Float(in *Instance) ([]float64, error) { return floats(m, in) }

func (m *byTies) FloatScores(in *FloatInstance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	top, ties := in.best()
	isBest := make([]bool, len(in.Scores))
	for i, q := range in.Scores {
		isBest[i] = q == top
	}
	best, other := m.flt(arith.Float{}, math.Exp(-in.Epsilon), len(isBest), ties)
	return spread(isBest, best, other), nil
}
