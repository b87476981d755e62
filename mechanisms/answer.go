package mechanisms

import (
	"errors"
	"fmt"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/interval"
	"optratio/internal/number"
)

// Answer is a mechanism's pmf on one instance with the moments of its error q* - q_M, in the user's units,
// in the best form there is: exact, enclosed, or estimated.
type Answer struct {
	PMF           []number.Number `json:"pmf"`
	ExpectedError number.Number   `json:"expected_error"`
	MSE           number.Number   `json:"mse"`
}

// Enclosures in an Answer have answerPrec bits. Exact rationals whose length grows with the number of candidates are
// not tried for more than exactCandidates, nor enclosures for more than enclosedCandidates.
const (
	answerPrec         = 128
	exactCandidates    = 64
	enclosedCandidates = 20_000
)

// quick is a mechanism whose exact form takes a few operations a candidate.
type quick interface{ quick() bool }

// Ask returns the mechanism's answer to an instance. Estimates are marked as such.
func Ask(m Mechanism, in *Instance) (*Answer, error) {
	q, ok := m.(quick)
	ok = ok && q.quick()
	if ok || len(in.Scores) <= exactCandidates {
		p, err := m.Exact(in)
		if err == nil {
			return moments(arith.Field[*big.Rat](arith.Rat{}), in, p, number.Exact), nil
		}
		if !errors.Is(err, ErrNotRational) {
			return nil, err
		}
	}
	if len(in.Scores) <= enclosedCandidates {
		boxes, err := m.Enclose(in, answerPrec)
		if err == nil {
			return moments(arith.Field[interval.Interval](arith.Interval{Prec: answerPrec}), in, boxes, number.Enclosed), nil
		}
		if !errors.Is(err, ErrNoEnclosure) {
			return nil, err
		}
	}
	return estimated(m, in)
}

// estimated is Ask in float64.
func estimated(m Mechanism, in *Instance) (*Answer, error) {
	estimator, ok := m.(Estimator)
	if !ok {
		floats, err := m.Float(in)
		if err != nil {
			return nil, err
		}
		return estimates(in, floats, "float64"), nil
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	e, err := estimator.Estimate(in.Floats())
	if err != nil {
		return nil, err
	}
	return estimates(in, e.PMF, fmt.Sprintf("%s, error of a probability about %.1g", e.Method, e.Error)), nil
}

func estimates(in *Instance, p []float64, method string) *Answer {
	return moments(arith.Field[float64](arith.Float{}), in, p, func(x float64) number.Number { return number.Estimate(x, method) })
}

// moments returns Σ p_r (q* - q_r) and Σ p_r (q* - q_r)² beside the pmf.
func moments[T any](f arith.Field[T], in *Instance, p []T, format func(T) number.Number) *Answer {
	out := &Answer{PMF: make([]number.Number, len(p))}
	best, first, second := in.Best(), f.Zero(), f.Zero()
	for i, x := range p {
		out.PMF[i] = format(x)
		if gap := new(big.Rat).Sub(best, in.Scores[i]); gap.Sign() > 0 {
			first = f.Add(first, f.Mul(f.FromRat(gap), x))
			second = f.Add(second, f.Mul(f.FromRat(new(big.Rat).Mul(gap, gap)), x))
		}
	}
	out.ExpectedError, out.MSE = format(first), format(second)
	return out
}
