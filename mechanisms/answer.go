package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"optratio/internal/arith"
	"optratio/number"
)

// Distribution is a mechanism's pmf on one instance with the moments of its error q* - q_M, in the user's units,
// in the best form there is: exact, enclosed, or estimated.
type Distribution struct {
	PMF           []number.Number `json:"pmf"`
	ExpectedError number.Number   `json:"expected_error"`
	MSE           number.Number   `json:"mse"`
}

// Enclosures in a Distribution have answerPrec bits. Exact rationals whose length grows with the number of candidates are
// not tried for more than exactCandidates or exactBits, nor enclosures for more than enclosedCandidates.
const (
	answerPrec         = 128
	exactCandidates    = 64
	enclosedCandidates = 20_000
	exactBits          = 4096 // of a power of e^ε
	estimateError      = 1e-6 // of a probability, the most that is worth an answer
)

// ErrNoAnswer says that neither exact arithmetic nor enclosures nor estimates tell the probabilities of an instance.
var ErrNoAnswer = errors.New("no answer accurate enough")

// Ask returns the mechanism's answer to an instance. Estimates are marked as such and state their error; it
// is ErrNoAnswer where that exceeds 1e-6 of a probability.
func Ask(m Mechanism, in *Instance) (*Distribution, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if worthExact(m, in) {
		p, err := m.Exact(in)
		if err == nil {
			return answer(arith.Field[*big.Rat](arith.Rat{}), in, p, number.Exact), nil
		}
		if !errors.Is(err, ErrNotRational) {
			return nil, err
		}
	}
	if len(in.Scores) <= enclosedCandidates {
		boxes, err := m.Enclose(in, answerPrec)
		_, estimable := m.(estimator)
		switch {
		case err == nil && vague(boxes) && !estimable:
			return nil, fmt.Errorf("%w: enclosures of %d bits say nothing", ErrNoAnswer, answerPrec)
		case err == nil && !vague(boxes):
			return answer(arith.Field[number.Interval](arith.Interval{Prec: answerPrec}), in, boxes, number.Enclosed), nil
		case err != nil && !errors.Is(err, ErrNoEnclosure):
			return nil, err
		}
	}
	return estimated(m, in)
}

// worthExact reports whether exact arithmetic is worth trying.
func worthExact(m Mechanism, in *Instance) bool {
	most := exactCandidates
	if b, ok := m.(interface{ exactly() int }); ok {
		most = b.exactly()
	}
	return most == anyNumber || len(in.Scores) <= most && !lengthy(m, in)
}

// lengthy reports whether exact powers of e^{-ε} would have more than exactBits bits: those of e^ε times the depth
// of the worst candidate.
func lengthy(m Mechanism, in *Instance) bool {
	if in.Epsilon.Exp() == nil || in.Epsilon.IsZero() {
		return false
	}
	exp := in.Epsilon.Exp()
	bits := new(big.Rat).Sub(in.Best(), slices.MinFunc(in.Scores, (*big.Rat).Cmp))
	bits.Mul(bits, big.NewRat(int64(exp.Num().BitLen()+exp.Denom().BitLen()), 1))
	unit := in.Sensitivity()
	if !m.Info().Uniform {
		for _, d := range in.Sensitivities {
			if d.Sign() > 0 && d.Cmp(unit) < 0 {
				unit = d
			}
		}
	} else {
		unit = new(big.Rat).Add(unit, unit)
	}
	return bits.Quo(bits, unit).Cmp(big.NewRat(exactBits, 1)) > 0
}

// vague reports whether some enclosure of a probability is too wide to say anything.
func vague(p []number.Interval) bool {
	return slices.ContainsFunc(p, func(x number.Interval) bool { return x.Sub(x).Hi().Cmp(big.NewFloat(0.5)) > 0 })
}

// estimated is Ask in float64.
func estimated(m Mechanism, in *Instance) (*Distribution, error) {
	in64, err := in.floats()
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case estimator:
		e, err := m.estimate(in)
		if err != nil {
			return nil, err
		}
		return estimates(in, e.pmf, accuracy{method: e.method, absolute: e.err})
	case stater:
		p, err := m.Float(in)
		if err != nil {
			return nil, err
		}
		return estimates(in, p, accuracy{method: "float64", relative: m.relativeError(in64)})
	}
	return nil, fmt.Errorf("%w: %s has no float64 form of known error", ErrNoAnswer, m.Info().Name)
}

// stater is a mechanism that bounds the relative error of its float64 probabilities above 1e-290.
type stater interface {
	Mechanism
	relativeError(in *floatInstance) float64
}

// accuracy says how numbers were estimated and how far they may be off.
type accuracy struct {
	method             string
	absolute, relative float64
}

// number returns an estimate of what, whose error is weight times that of a probability, without the digits that the
// error leaves open.
func (a accuracy) number(x float64, what string, weight float64) number.Number {
	if a.relative > 0 {
		return number.Estimate(rounded(x, a.relative*math.Abs(x)), fmt.Sprintf("%s, relative error below %.1g of what exceeds 1e-290", a.method, 1.1*a.relative))
	}
	err := a.absolute * weight
	return number.Estimate(rounded(x, err), fmt.Sprintf("%s, error of %s about %.1g", a.method, what, err))
}

// rounded returns x to the last decimal place whose unit is at most err.
func rounded(x, err float64) float64 {
	places := math.Ceil(-math.Log10(err))
	switch {
	case !(err > 0) || places > 300 || places < -300:
		return x
	case places < 0:
		unit := math.Pow(10, -places)
		return math.Round(x/unit) * unit
	}
	out, fail := strconv.ParseFloat(strconv.FormatFloat(x, 'f', int(places), 64), 64)
	if fail != nil {
		return x
	}
	return out
}

// estimates returns the answer of estimated probabilities, or ErrNoAnswer where their error exceeds estimateError or where
// anything is beyond float64.
func estimates(in *Instance, p []float64, a accuracy) (*Distribution, error) {
	if worst := max(a.absolute, a.relative); !(worst <= estimateError) {
		return nil, fmt.Errorf("%w: the error of %s is %.2g, more than %.0g", ErrNoAnswer, a.method, worst, estimateError)
	}
	f := arith.Field[float64](arith.Float{})
	first, second := moments(f, in, p)
	ones := slices.Repeat([]float64{1}, len(p))
	gaps, squares := moments(f, in, ones) // how errors of all probabilities add up
	for _, x := range append([]float64{first, second, gaps, squares}, p...) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: %s leaves the range of float64", ErrNoAnswer, a.method)
		}
	}
	sum := a
	if a.relative > 0 {
		sum.relative += float64(0x1p-52 * float64(len(p))) // of adding up
	}
	out := &Distribution{ExpectedError: sum.number(first, "it", gaps), MSE: sum.number(second, "it", squares)}
	for _, x := range p {
		out.PMF = append(out.PMF, a.number(x, "a probability", 1))
	}
	return out, nil
}

// answer formats a pmf and its moments.
func answer[T any](f arith.Field[T], in *Instance, p []T, format func(T) number.Number) *Distribution {
	first, second := moments(f, in, p)
	out := &Distribution{PMF: make([]number.Number, len(p)), ExpectedError: format(first), MSE: format(second)}
	for i, x := range p {
		out.PMF[i] = format(x)
	}
	return out
}

// moments returns Σ p_r (q* - q_r) and Σ p_r (q* - q_r)².
func moments[T any](f arith.Field[T], in *Instance, p []T) (first, second T) {
	best := in.Best()
	first, second = f.Zero(), f.Zero()
	for i, x := range p {
		if gap := new(big.Rat).Sub(best, in.Scores[i]); gap.Sign() > 0 {
			first = f.Add(first, f.Mul(f.FromRat(gap), x))
			second = f.Add(second, f.Mul(f.FromRat(new(big.Rat).Mul(gap, gap)), x))
		}
	}
	return first, second
}
