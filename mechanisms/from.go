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
	return &rational{info, pmf}
}

// FromEnclosure makes a mechanism of a function that states enclosures of its probabilities: lower[r] <= p_r <= upper[r], rounded
// outward, of a relative width of about 2^-prec. Verdicts and ratios are as narrow as these are; where two probabilities are
// compared, prec is raised until the enclosures tell. The instance is valid.
func FromEnclosure(info Info, pmf func(in *Instance, prec uint) (lower, upper []*big.Float, err error)) Mechanism {
	return &enclosed{info, pmf}
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
	m := &floating{info: info, pmf: pmf}
	if precision > 0 && precision < 1 {
		m.precision, _ = new(big.Rat).SetString(strconv.FormatFloat(precision, 'g', -1, 64)) // 1e-9 is 1/10^9
	}
	return m
}

// copied returns numbers of its own. What a function of a stranger is given and what it returns are copied: it may sort its scores in place, or return the
// same slice each time.
func copied(xs []*big.Rat) []*big.Rat {
	out := slices.Clone(xs)
	for i, x := range xs {
		if x != nil {
			out[i] = new(big.Rat).Set(x)
		}
	}
	return out
}

// copied returns the instance with numbers of its own.
func (in *Instance) copied() *Instance {
	out := *in
	out.Scores, out.Sensitivities = copied(in.Scores), copied(in.Sensitivities)
	return &out
}

// answered reports what is wrong with an answer of so many probabilities to an instance.
func answered(info Info, in *Instance, count int) error {
	if count != len(in.Scores) {
		return fmt.Errorf("%w: %s states %d probabilities for %d scores", ErrAnswer, info.Name, count, len(in.Scores))
	}
	return nil
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

// missing is the error of a mechanism without a function.
func missing(info Info) error {
	return fmt.Errorf("%w: %s was made without a function", ErrAnswer, info.Name)
}

// caught turns a panic of a mechanism's function into an error: mechanisms are asked on goroutines whose panics nobody could recover,
// and a command prints what it has so far instead of a trace.
func caught(info Info, err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("%w: %s panics: %v", ErrAnswer, info.Name, x)
	}
}

// rational is FromRational's mechanism.
type rational struct {
	info Info
	pmf  func(*Instance) ([]*big.Rat, error)
}

func (m *rational) Info() Info { return m.info }

func (m *rational) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if m.pmf == nil {
		return nil, missing(m.info)
	}
	p, err := func() (p []*big.Rat, err error) {
		defer caught(m.info, &err)
		p, err = m.pmf(in.copied())
		return copied(p), err
	}()
	if err != nil {
		return nil, err
	}
	if err := answered(m.info, in, len(p)); err != nil {
		return nil, err
	}
	for r, x := range p {
		if x == nil || x.Sign() < 0 {
			return nil, fmt.Errorf("%w: %s states the probability %v of candidate %d", ErrAnswer, m.info.Name, x, r)
		}
	}
	return p, nil
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
	info Info
	pmf  func(in *Instance, prec uint) (lower, upper []*big.Float, err error)
}

func (m *enclosed) Info() Info { return m.info }

func (m *enclosed) Exact(in *Instance) ([]*big.Rat, error) {
	return nil, cmp.Or(in.Check(), ErrNotRational)
}

func (m *enclosed) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if m.pmf == nil {
		return nil, missing(m.info)
	}
	lower, upper, err := func() (lower, upper []*big.Float, err error) {
		defer caught(m.info, &err)
		return m.pmf(in.copied(), prec)
	}()
	if err != nil {
		return nil, err
	}
	for _, ends := range [][]*big.Float{lower, upper} {
		if err := answered(m.info, in, len(ends)); err != nil {
			return nil, err
		}
	}
	boxes := make([]number.Interval, len(lower))
	for r, lo := range lower {
		hi := upper[r]
		if lo == nil || hi == nil || lo.Cmp(hi) > 0 || hi.Sign() < 0 || lo.IsInf() && lo.Sign() > 0 {
			return nil, fmt.Errorf("%w: %s states %s as an enclosure of the probability of candidate %d",
				ErrAnswer, m.info.Name, endsText(lo, hi), r)
		}
		at := max(prec, lo.Prec(), hi.Prec())
		boxes[r] = clampUnit(number.NewInterval(new(big.Float).SetPrec(at).Set(lo), new(big.Float).SetPrec(at).Set(hi)))
	}
	return boxes, nil
}

// endsText writes the ends of an interval, either of which may be nil.
func endsText(lo, hi *big.Float) string {
	text := func(x *big.Float) string {
		if x == nil {
			return "nil"
		}
		return x.Text('g', 10)
	}
	return "[" + text(lo) + ", " + text(hi) + "]"
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
	info      Info
	precision *big.Rat // nil where it is out of range
	pmf       func(scores []float64, sensitivity, epsilon float64) ([]float64, error)
}

func (m *floating) Info() Info { return m.info }

// Precision is for the function of that name.
func (m *floating) Precision() *big.Rat { return m.precision }

func (m *floating) Exact(in *Instance) ([]*big.Rat, error) {
	return nil, cmp.Or(in.Check(), ErrNotRational)
}

func (m *floating) Float(in *Instance) ([]float64, error) {
	switch err := in.Check(); {
	case err != nil:
		return nil, err
	case m.pmf == nil:
		return nil, missing(m.info)
	case m.precision == nil:
		return nil, fmt.Errorf("%w: the precision of %s must lie between 0 and 1", ErrAnswer, m.info.Name)
	}
	scores := make([]float64, len(in.Scores))
	for r, q := range in.Scores {
		if scores[r], _ = q.Float64(); math.IsInf(scores[r], 0) {
			return nil, fmt.Errorf("%w: score %d is beyond float64", ErrInstance, r)
		}
	}
	sensitivity, _ := in.Sensitivity().Float64()
	p, err := func() (p []float64, err error) {
		defer caught(m.info, &err)
		p, err = m.pmf(scores, sensitivity, in.Epsilon.Float())
		return slices.Clone(p), err
	}()
	if err != nil {
		return nil, err
	}
	if err := answered(m.info, in, len(p)); err != nil {
		return nil, err
	}
	for r, x := range p {
		if !(x >= 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: %s states the probability %v of candidate %d", ErrAnswer, m.info.Name, x, r)
		}
	}
	return p, nil
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
