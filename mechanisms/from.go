package mechanisms

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/number"
)

// ErrAnswer is wrapped by errors about what the function of FromRational, FromEnclosure or FromFloat returned: a wrong number of
// probabilities, a negative one, NaN, a lower end above the upper one, or a panic.
var ErrAnswer = errors.New("bad answer")

// FromRational makes a mechanism of a function that states exact probabilities, one for each score. Where they are not
// rational, the function returns ErrNotRational; there is no answer then. The instance is valid. Draws draws from it, for as long as the probabilities sum to 1.
func FromRational(info Info, pmf func(*Instance) ([]*big.Rat, error)) Mechanism {
	return &rational{stranger{info, pmf == nil}, pmf}
}

// FromEnclosure makes a mechanism of a function that states enclosures of its probabilities: lower[r] <= p_r <= upper[r], rounded
// outward, of a relative width of about 2^-prec. Verdicts and ratios are as narrow as these are; where two probabilities are
// compared, prec is raised until the enclosures tell. The instance is valid.
func FromEnclosure(info Info, pmf func(in *Instance, prec uint) (lower, upper []*big.Float, err error)) Mechanism {
	return &enclosed{stranger{info, pmf == nil}, pmf}
}

// DefaultPrecision is the relative error of probabilities in float64 where none is stated.
const DefaultPrecision = 1e-9

// FromFloat makes a mechanism for uniform sensitivities of a function in float64. Each number x that it returns stands for any real
// within precision·x of it, and below 2^-1022 within 2^-1074, but of no other sign; precision is between 0 and 1, and 0 stands for DefaultPrecision. It has to
// cover the rounding of scores, sensitivity and ε to float64 as well. Nothing about the mechanism is exact: package verify
// says that a property is violated only where it fails for every choice of numbers within that precision, and otherwise that it holds to that precision; ratios
// are enclosed accordingly.
//
// The function may be called several times with the same numbers; the slice that it is given is its own.
func FromFloat(info Info, precision float64, pmf func(scores []float64, sensitivity, epsilon float64) ([]float64, error)) Mechanism {
	info.Uniform = true
	if precision == 0 {
		precision = DefaultPrecision
	}
	m := &floating{stranger: stranger{info, pmf == nil}, pmf: pmf}
	if precision > 0 && precision < 1 {
		m.precision, _ = new(big.Rat).SetString(strconv.FormatFloat(precision, 'g', -1, 64)) // 1e-9 is 1/10^9
	}
	return m
}

// ExactDistribution is m.Exact with ErrAnswer where the probabilities do not sum to 1: what they would say of an error is no expectation.
func ExactDistribution(m Mechanism, in *Instance) ([]*big.Rat, error) {
	p, err := m.Exact(in)
	if err != nil {
		return nil, err
	}
	sum := new(big.Rat)
	for _, x := range p {
		sum.Add(sum, x)
	}
	if sum.Cmp(ratOne) != 0 {
		return nil, noDistribution(m, in, number.Exact(sum))
	}
	return p, nil
}

// EnclosedDistribution is m.Enclose with ErrAnswer where the probabilities cannot sum to 1.
func EnclosedDistribution(m Mechanism, in *Instance, prec uint) ([]number.Interval, error) {
	p, err := m.Enclose(in, prec)
	if err != nil {
		return nil, err
	}
	sum := number.NewAccumulator(prec)
	for _, x := range p {
		sum.Add(x)
	}
	if !sum.Value().Contains(ratOne) {
		return nil, noDistribution(m, in, number.Enclosed(sum.Value()))
	}
	return p, nil
}

func noDistribution(m Mechanism, in *Instance, sum number.Number) error {
	var scores []string
	for _, q := range in.Scores {
		scores = append(scores, q.RatString())
	}
	return fmt.Errorf("%w: at the scores (%s) the probabilities of %s sum to %s", ErrAnswer, strings.Join(scores, ", "), m.Info().Name, sum)
}

// stranger is a mechanism made of a function.
type stranger struct {
	info    Info
	missing bool // whether there is no function
}

func (m *stranger) Info() Info { return m.info }

// Declared says that nothing is known of the function but what its Info declares.
func (m *stranger) Declared() {}

func (m *stranger) Exact(in *Instance) ([]*big.Rat, error) {
	return nil, cmp.Or(in.Check(), ErrNotRational)
}

// asked returns the function's answer to an instance, each probability of which must be valid. What it is given is copied, and so must be what it returns: it may sort
// its scores in place, or return the same slice each time. Mechanisms are asked on goroutines whose panics nobody could recover, and a command prints what it has so
// far instead of a trace: so a panic is an error here.
func asked[T any](m *stranger, in *Instance, pmf func(in *Instance) ([]T, error), valid func(T) bool) (p []T, err error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if m.missing {
		return nil, fmt.Errorf("%w: %s was made without a function", ErrAnswer, m.info.Name)
	}
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, fmt.Errorf("%w: %s panics: %v", ErrAnswer, m.info.Name, x)
		}
	}()
	own := *in
	own.Scores, own.Sensitivities = copied(in.Scores), copied(in.Sensitivities)
	if p, err = pmf(&own); err != nil {
		return nil, err
	}
	if len(p) != len(in.Scores) {
		return nil, fmt.Errorf("%w: %s states %d probabilities for %d scores", ErrAnswer, m.info.Name, len(p), len(in.Scores))
	}
	for r, x := range p {
		if !valid(x) {
			return nil, fmt.Errorf("%w: %s states the probability %v of candidate %d", ErrAnswer, m.info.Name, x, r)
		}
	}
	return p, nil
}

// copied returns numbers of its own.
func copied(xs []*big.Rat) []*big.Rat {
	out := slices.Clone(xs)
	for i, x := range xs {
		if x != nil {
			out[i] = new(big.Rat).Set(x)
		}
	}
	return out
}

// rational is FromRational's mechanism.
type rational struct {
	stranger
	pmf func(*Instance) ([]*big.Rat, error)
}

func (m *rational) Exact(in *Instance) ([]*big.Rat, error) {
	return asked(&m.stranger, in, func(in *Instance) ([]*big.Rat, error) {
		p, err := m.pmf(in)
		return copied(p), err
	}, func(x *big.Rat) bool { return x != nil && x.Sign() >= 0 })
}

func (m *rational) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	p, err := m.Exact(in)
	if errors.Is(err, ErrNotRational) {
		return nil, ErrNoEnclosure
	}
	boxes := make([]number.Interval, len(p))
	for r, x := range p {
		boxes[r] = number.FromRat(x, prec)
	}
	return boxes, err
}

func (m *rational) Float(in *Instance) ([]float64, error) {
	p, err := m.Exact(in)
	out := make([]float64, len(p))
	for r, x := range p {
		out[r], _ = x.Float64()
	}
	return out, err
}

// enclosed is FromEnclosure's mechanism.
type enclosed struct {
	stranger
	pmf func(in *Instance, prec uint) (lower, upper []*big.Float, err error)
}

// ends are those of an enclosure as a function states them.
type ends struct{ lo, hi *big.Float }

func (e ends) String() string { return fmt.Sprintf("from %.10g to %.10g", e.lo, e.hi) }

func (m *enclosed) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	p, err := asked(&m.stranger, in, func(in *Instance) ([]ends, error) {
		lower, upper, err := m.pmf(in, prec)
		if err == nil && len(lower) != len(upper) {
			err = fmt.Errorf("%w: %s states %d lower and %d upper ends", ErrAnswer, m.info.Name, len(lower), len(upper))
		}
		if err != nil {
			return nil, err
		}
		out := make([]ends, len(lower))
		for r := range out {
			out[r] = ends{lower[r], upper[r]}
		}
		return out, nil
	}, func(e ends) bool {
		return e.lo != nil && e.hi != nil && e.lo.Cmp(e.hi) <= 0 && e.hi.Sign() >= 0 && !(e.lo.IsInf() && e.lo.Sign() > 0)
	})
	boxes := make([]number.Interval, len(p))
	for r, e := range p {
		at := max(prec, e.lo.Prec(), e.hi.Prec())
		boxes[r] = clampUnit(number.NewInterval(new(big.Float).SetPrec(at).Set(e.lo), new(big.Float).SetPrec(at).Set(e.hi)))
	}
	return boxes, err
}

func (m *enclosed) Float(in *Instance) ([]float64, error) {
	boxes, err := m.Enclose(in, 128)
	out := make([]float64, len(boxes))
	for r, x := range boxes {
		out[r] = x.Near()
	}
	return out, err
}

// floating is FromFloat's mechanism.
type floating struct {
	stranger
	precision *big.Rat // nil where it is out of range
	pmf       func(scores []float64, sensitivity, epsilon float64) ([]float64, error)
}

// Precision is for the function of that name.
func (m *floating) Precision() *big.Rat { return m.precision }

func (m *floating) Float(in *Instance) ([]float64, error) {
	return asked(&m.stranger, in, func(in *Instance) ([]float64, error) {
		if m.precision == nil {
			return nil, fmt.Errorf("%w: the precision of %s must lie between 0 and 1", ErrAnswer, m.info.Name)
		}
		scores := make([]float64, len(in.Scores))
		for r, q := range in.Scores {
			if scores[r], _ = q.Float64(); math.IsInf(scores[r], 0) {
				return nil, fmt.Errorf("%w: score %d is beyond float64", ErrInstance, r)
			}
		}
		sensitivity, _ := in.Sensitivity().Float64()
		p, err := m.pmf(scores, sensitivity, in.Epsilon.Float())
		return slices.Clone(p), err
	}, func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) })
}

// Enclose returns the readings of the numbers, whatever prec.
func (m *floating) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	p, err := m.Float(in)
	boxes := make([]number.Interval, len(p))
	for r, x := range p {
		lower, upper := decimal.Readings(new(big.Rat).SetFloat64(x), m.precision)
		boxes[r] = number.Hull(number.FromRat(lower, prec), number.FromRat(upper, prec))
	}
	return boxes, err
}

// relativeError implements stater.
func (m *floating) relativeError(*floatInstance) float64 {
	precision, _ := m.precision.Float64()
	return precision
}
