package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number/arith"
	"optratio/number/interval"
)

// Vector is a score vector in multiples of its space's unit.
type Vector []int64

// key returns a map key for q.
func (q Vector) key() string {
	b := make([]byte, 0, 3*len(q))
	for _, s := range q {
		b = binary.AppendVarint(b, s)
	}
	return string(b)
}

// best returns the greatest score.
func (q Vector) best() int64 { return slices.Max(q) }

// Space says what the integers of a Vector mean.
type Space struct {
	Unit          *big.Rat   // one step of a score, in the user's units
	Gap           int64      // the scores of one vector differ by multiples of Gap; 0: 1
	Sensitivities []*big.Rat // as in mechanisms.Instance
	Epsilon       mechanisms.Epsilon
	Params        mechanisms.Params
}

// Scores returns q in the user's units.
func (s *Space) Scores(q Vector) []*big.Rat {
	scores := make([]*big.Rat, len(q))
	for i, x := range q {
		scores[i] = new(big.Rat).SetInt64(x)
		scores[i].Mul(scores[i], s.Unit)
	}
	return scores
}

// instance returns the question that q is to a mechanism.
func (s *Space) instance(q Vector) *mechanisms.Instance {
	return &mechanisms.Instance{
		Scores: s.Scores(q), Sensitivities: s.Sensitivities, Epsilon: s.Epsilon, Params: s.Params,
	}
}

// Answer is what a mechanism says about one score vector: a probability for each
// candidate, or the event that it produced no choice.
type Answer struct {
	P     []*Value
	Event string // what came instead of probabilities: "error" with a reason
}

// Subject is a mechanism under examination. An error ends the examination; what the
// mechanism itself does wrong is an Answer.
type Subject interface {
	Answer(q Vector) (*Answer, error)
}

// SubjectFunc is a function as a Subject.
type SubjectFunc func(q Vector) (*Answer, error)

// Answer calls f.
func (f SubjectFunc) Answer(q Vector) (*Answer, error) { return f(q) }

// ErrUndecided is wrapped by errors of subjects that have no more answers to give: it
// leaves undecided what is not refuted yet.
var ErrUndecided = errors.New("undecided")

// ErrEstimates says that a mechanism's probabilities are not known rigorously.
var ErrEstimates = fmt.Errorf("%w: only floating-point estimates are known for this mechanism", ErrUndecided)

// logarithmic is a mechanism whose probabilities are of the form a + b·ln z, a and b rational,
// at some instances.
type logarithmic interface {
	LogExact(in *mechanisms.Instance) ([]arith.LogRat, error)
}

// mostParts and mostDegree limit the polynomials that a space's exact forms may need.
const (
	mostParts  = 64
	mostDegree = 512
)

// exact answers with a mechanism's probabilities in the most exact form it has.
type exact struct {
	mechanism mechanisms.Mechanism
	space     *Space
	parts     int64 // depths are multiples of 1/parts lattice steps; 0 where that is not used
	exp, log  *ring
}

// ForMechanism returns the subject that answers with m's own probabilities on the space.
func ForMechanism(m mechanisms.Mechanism, s *Space) Subject {
	e := &exact{mechanism: m, space: s, log: logarithmRing(s.Epsilon)}
	// A depth is a multiple of unit·gap/2Δ for the largest Δ, and 1 must be a multiple of the part.
	step := slices.MaxFunc(s.Sensitivities, (*big.Rat).Cmp)
	if step.Sign() > 0 {
		part := new(big.Rat).Quo(s.Unit, new(big.Rat).Add(step, step))
		part.Mul(part, new(big.Rat).SetInt64(max(1, s.Gap)))
		if part.Denom().IsInt64() && part.Denom().Int64() <= mostParts {
			e.parts = part.Denom().Int64()
			if !m.Info().Uniform {
				// Such mechanisms compare scores in steps of two sensitivities; with equal ones half of a depth is enough.
				e.parts *= 2
			}
			e.exp = exponentialRing(s.Epsilon, e.parts)
		}
	}
	return e
}

// like returns the subject of another mechanism whose values combine exactly with e's.
func (e *exact) like(m mechanisms.Mechanism) *exact {
	out := *e
	out.mechanism = m
	return &out
}

// Answer tries the exact forms first.
func (e *exact) Answer(q Vector) (*Answer, error) {
	in := e.space.instance(q)
	if m, ok := e.mechanism.(mechanisms.Approximate); ok {
		return readings(m, in)
	}
	rat, err := e.mechanism.Exact(in)
	if err == nil {
		return wrap(rat, Rational), nil
	}
	if m, ok := e.mechanism.(mechanisms.Symbolic); ok && e.exp != nil && errors.Is(err, mechanisms.ErrNotRational) && e.modest(q) {
		fun, err := m.Symbolic(in, big.NewRat(1, e.parts))
		if err == nil {
			return wrap(fun, func(f arith.RatFunc) *Value { return function(f, e.exp) }), nil
		}
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return nil, err
		}
	}
	if m, ok := e.mechanism.(logarithmic); ok && e.log != nil && errors.Is(err, mechanisms.ErrNotRational) {
		logs, err := m.LogExact(in)
		if err == nil {
			return wrap(logs, e.linear), nil
		}
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return nil, err
		}
	}
	if !errors.Is(err, mechanisms.ErrNotRational) {
		return nil, err
	}
	return e.enclose(in)
}

// modest reports whether q's depths are few enough parts for polynomials in e^{-ε/parts}.
func (e *exact) modest(q Vector) bool {
	step := slices.MaxFunc(e.space.Sensitivities, (*big.Rat).Cmp)
	depth := new(big.Rat).SetInt64(q.best() - slices.Min(q))
	depth.Mul(depth, e.space.Unit)
	depth.Quo(depth, new(big.Rat).Add(step, step))
	return depth.Cmp(big.NewRat(mostDegree, e.parts)) <= 0
}

// linear returns a + b·ln z as a polynomial in t = ln z.
func (e *exact) linear(x arith.LogRat) *Value {
	f := arith.Poly{}
	return function(f.Add(f.FromRat(x.A), f.Mul(f.FromRat(x.B), f.Z())), e.log)
}

// enclose answers with enclosures that are computed when they are needed.
func (e *exact) enclose(in *mechanisms.Instance) (*Answer, error) {
	first, err := e.mechanism.Enclose(in, 64)
	if errors.Is(err, mechanisms.ErrNoEnclosure) {
		return nil, ErrEstimates
	}
	if err != nil {
		return nil, err
	}
	all := remembering(func(prec uint) []interval.Interval {
		p, err := e.mechanism.Enclose(in, prec)
		if err != nil || len(p) != len(first) {
			p = first // still enclosures, only no better
		}
		return p
	})
	values := make([]*Value, len(first))
	for r := range values {
		values[r] = Refinable(func(prec uint) interval.Interval { return all(prec)[r] })
	}
	return &Answer{P: values}, nil
}

// readings answers with all that the numbers of a mechanism stand for.
func readings(m mechanisms.Approximate, in *mechanisms.Instance) (*Answer, error) {
	boxes, err := m.Enclose(in, 128)
	if err != nil {
		return nil, err
	}
	return wrap(boxes, func(x interval.Interval) *Value {
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		return Within(lo, hi)
	}), nil
}

func wrap[T any](xs []T, value func(T) *Value) *Answer {
	a := &Answer{P: make([]*Value, len(xs))}
	for i, x := range xs {
		a.P[i] = value(x)
	}
	return a
}

// expEpsilon returns e^ε in the form in which it combines exactly with the subject's values.
func (e *exact) expEpsilon() *Value {
	if _, ok := e.space.Epsilon.Z(); !ok && e.exp != nil {
		return function(arith.Pow(arith.Poly{}, arith.Poly{}.Z(), -int(e.parts)), e.exp)
	}
	return ExpEpsilon(e.space.Epsilon)
}

// ExpEpsilon returns e^ε, exactly where it is rational, as enclosures otherwise.
func ExpEpsilon(eps mechanisms.Epsilon) *Value {
	if z, ok := eps.Z(); ok {
		return Rational(new(big.Rat).Inv(z))
	}
	minusOne := big.NewRat(-1, 1)
	return Refinable(func(prec uint) interval.Interval { return eps.ExpNeg(minusOne, prec) })
}

// memo keeps the answers of a subject.
type memo struct {
	inner Subject
	known map[string]*Answer
}

// Remember returns the subject that asks s each question once.
func Remember(s Subject) Subject { return &memo{s, map[string]*Answer{}} }

func (m *memo) Answer(q Vector) (*Answer, error) {
	key := q.key()
	if a, ok := m.known[key]; ok {
		return a, nil
	}
	a, err := m.inner.Answer(q)
	if err == nil {
		m.known[key] = a
	}
	return a, err
}

// bySymmetry answers from the answers to sorted vectors, for subjects that were proved symmetric.
type bySymmetry struct{ inner Subject }

func (s bySymmetry) Answer(q Vector) (*Answer, error) {
	sorted, place := sortVector(q)
	a, err := s.inner.Answer(sorted)
	if err != nil || a.Event != "" {
		return a, err
	}
	out := &Answer{P: make([]*Value, len(q))}
	for r, i := range place {
		out.P[r] = a.P[i]
	}
	return out, nil
}

// sortVector returns q in descending order and the place of each candidate there; equal scores
// share the first place of their run.
func sortVector(q Vector) (sorted Vector, place []int) {
	sorted = slices.Clone(q)
	slices.SortFunc(sorted, func(a, b int64) int { return -cmp64(a, b) })
	place = make([]int, len(q))
	for r, x := range q {
		place[r] = slices.Index(sorted, x)
	}
	return sorted, place
}

func cmp64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
