// Package worst has how much the exponential mechanism and permute-and-flip err on the worst scores for them. research/docs/worst-case.md has the formulas.
package worst

import (
	"fmt"
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
)

// Case is the question how much a mechanism errs on the worst n scores for it.
type Case struct {
	n           int
	sensitivity *big.Rat // with which the mechanisms run
}

// New returns the question for n >= 1 candidates, and mechanisms that run with a sensitivity: half that of the scores where neighbors move all of them one way.
func New(n int, sensitivity *big.Rat) (*Case, error) {
	if n < 1 || sensitivity.Sign() <= 0 {
		return nil, number.InputError(fmt.Sprintf("%d candidates and sensitivity %s, want at least 1 and > 0", n, sensitivity.RatString()))
	}
	return &Case{n, sensitivity}, nil
}

// ErrNoWorst says that the worst scores of a mechanism are not known.
var ErrNoWorst error = number.InputError("the worst scores are known for pf and em alone")

const (
	worstPrec  = 320   // bits, of which the difference of two values near the maximum takes up to half
	worstWidth = 1e-30 // relative width of the enclosure of the gap
)

// Worst encloses the worst expected error over all vectors of n scores of the exponential mechanism or of permute-and-flip, and how far below the one
// best score the others are where it is attained, both in the units of the scores. Such a vector is (c, …, c, 0) (McKenna & Sheldon 2020, Prop. 4). With x = -cε/2Δ and p = e^{-x} the error there, in units of 2Δ/ε, is
//
//	f(x) = x h(x),  h = (n-1)p/(1+(n-1)p)  for the exponential mechanism,  h = 1 - (1-(1-p)^n)/(np)  for permute-and-flip.
//
// h(x) is the probability that the one best is not taken. Both mechanisms take the largest of scores plus independent noise, Gumbel and exponential, so that
// h(x) = Pr[max of n-1 noises - another one > x]. All these noises have log-concave densities, hence so do their maximum and the difference,
// and h is log-concave (Prékopa 1973). So is f, and thus it rises up to one maximum and falls from there: f(a) < f(b) at a < b proves that
// the maximum lies above a. As h falls, f <= b h(a) on [a, b]. For the exponential mechanism the maximum is W((n-1)/e), at x = 1 + W((n-1)/e), with Lambert's W.
//
// The error wraps ErrNoWorst for other mechanisms, and is a number.InputError for ε = 0, where the worst error has no bound.
func (w *Case) Worst(m mechanisms.Mechanism, eps number.Epsilon) (most, gap number.Number, err error) {
	if err := eps.Check(); err != nil {
		return most, gap, err
	}
	var missed func(p number.Interval) number.Interval
	one, size := number.FromInt(1, worstPrec), number.FromInt(int64(w.n), worstPrec)
	switch m {
	case mechanisms.Exponential():
		missed = func(p number.Interval) number.Interval {
			others := size.Sub(one).Mul(p)
			return others.Quo(one.Add(others))
		}
	case mechanisms.PermuteAndFlip():
		missed = func(p number.Interval) number.Interval {
			return one.Sub(one.Sub(one.Sub(p).Pow(w.n)).Quo(size.Mul(p)))
		}
	default:
		return most, gap, fmt.Errorf("%w: %s", ErrNoWorst, m.Info().Name)
	}
	if w.n == 1 {
		return number.Int(0), number.Int(0), nil
	}
	if eps.IsZero() {
		return most, gap, number.InputError("at ε = 0 the worst error has no bound; give ε > 0")
	}
	at, value := peak(func(x *big.Float) number.Interval { return missed(number.Exp(number.Point(x).Neg())) })
	unit := number.FromRat(new(big.Rat).Add(w.sensitivity, w.sensitivity), worstPrec).Quo(eps.Value(worstPrec))
	return number.Enclosed(unit.Mul(value)), number.Enclosed(unit.Mul(at)), nil
}

// peak encloses the place and the value of the maximum of x h(x) over x > 0, for a falling log-concave h, by ternary search: what comparisons of enclosures
// do not tell ends it.
func peak(h func(*big.Float) number.Interval) (at, most number.Interval) {
	f := func(x *big.Float) number.Interval { return number.Point(x).Mul(h(x)) }
	less := func(a, b *big.Float) bool { c, ok := f(a).Cmp(f(b)); return ok && c < 0 }
	float := func() *big.Float { return new(big.Float).SetPrec(worstPrec) }
	lo, hi := float(), float().SetInt64(2)
	for !less(hi, float().Quo(hi, big.NewFloat(2))) {
		hi.Add(hi, hi)
	}
	for width := float().Set(hi); width.Cmp(float().Mul(hi, big.NewFloat(worstWidth))) > 0; width.Sub(hi, lo) {
		third := float().Quo(width, big.NewFloat(3))
		a, b := float().Add(lo, third), float().Sub(hi, third)
		if less(a, b) {
			lo = a
		} else if less(b, a) {
			hi = b
		} else {
			break
		}
	}
	middle := float().Add(lo, hi)
	middle.Quo(middle, big.NewFloat(2))
	return number.NewInterval(lo, hi), number.NewInterval(f(middle).Lo(), number.Point(hi).Mul(h(lo)).Hi())
}
