// Package inquiry states what is asked about a mechanism: score vectors in whole units and which of them are neighbors, whom to ask, and the
// probabilities that are answered, as numbers which can be compared exactly. Package verify decides such questions.
//
// Values are rational, or rational functions of a number whose algebraic nature is known, or enclosures that can be refined.
package inquiry

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/mechanisms"
	"optratio/number"
)

// Answer is what a mechanism says about one score vector: a probability for each
// candidate, or the event that it produced no choice. Where outcomes are labels, which dp, bounded-range, rdp, zcdp and sum alone are about, there is one for
// each label that was known by then; the others have the probability 0.
type Answer struct {
	P     []*Value
	Event string // what came instead of probabilities: "error" with a reason

	summed, sumsTo1 bool    // what whole found, once it was asked
	loosened        *Answer // where it does not sum to 1, what distribution returned
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

// These limit the polynomials that a space's exact forms may need: parts of a lattice step, parts of any depth, and parts of the depths of
// all but one candidate, of which one of the last two has to be kept.
const (
	mostParts  = 128
	mostDepth  = 512
	mostDegree = 1024
	// lateDegree bounds polynomials that are formed only where enclosures do not tell two probabilities apart.
	lateDegree = 1 << 16
)

// Exact is the subject that answers with a mechanism's own probabilities, in the most exact form that they have.
type Exact struct {
	mechanism mechanisms.Mechanism
	space     *Space
	parts     int64 // depths are multiples of 1/parts lattice steps
	exp, log  *ring
	forms     map[string][]arith.RatFunc // the last ones that were asked for late
}

// What some mechanisms can do beside answering: see the built-in ones in package mechanisms.
type (
	symbolic interface {
		Symbolic(in *mechanisms.Instance, unit *big.Rat) ([]arith.RatFunc, error)
	}
	logarithmic interface {
		LogExact(in *mechanisms.Instance) ([]arith.LogRat, error)
	}
)

// ForMechanism returns the subject that answers with m's own probabilities on the space.
func ForMechanism(m mechanisms.Mechanism, s *Space) *Exact {
	e := &Exact{mechanism: m, space: s, parts: s.parts(m.Info().Uniform), log: logarithmRing(s.Epsilon)}
	if own, ok := m.(interface {
		Steps(in *mechanisms.Instance) []*big.Rat
	}); ok {
		e.parts = s.partsOf(own.Steps(s.instance(make(Vector, len(s.Sensitivities)))))
	}
	e.exp = exponentialRing(s.Epsilon, e.parts)
	return e
}

// Like returns the subject of another mechanism whose values combine exactly with e's.
func (e *Exact) Like(m mechanisms.Mechanism) *Exact {
	out := *e
	out.mechanism, out.forms = m, nil
	return &out
}

// Answer tries the exact forms first.
func (e *Exact) Answer(q Vector) (*Answer, error) {
	in := e.space.instance(q)
	if _, ok := mechanisms.Precision(e.mechanism); ok {
		return readings(e.mechanism, in)
	}
	rat, err := e.mechanism.Exact(in)
	if !errors.Is(err, mechanisms.ErrNotRational) {
		return wrap(rat, err, Rational)
	}
	m, _ := e.mechanism.(symbolic)
	if m != nil && e.exp != nil && e.modest(q) {
		fun, err := m.Symbolic(in, big.NewRat(1, e.parts))
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return wrap(fun, err, func(f arith.RatFunc) *Value { return function(f, e.exp) })
		}
	}
	if l, ok := e.mechanism.(logarithmic); ok && e.log != nil {
		logs, err := l.LogExact(in)
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return wrap(logs, err, e.linear)
		}
	}
	if m == nil || e.exp == nil || !e.within(q, 0, lateDegree) {
		return e.enclose(in, nil)
	}
	return e.enclose(in, func(r int) (arith.RatFunc, bool) {
		all, err := e.symbolic(m, q, in)
		if err != nil {
			return arith.RatFunc{}, false
		}
		return all[r], true
	})
}

// modest reports whether q's depths are few enough parts for polynomials in e^{-ε/parts}.
func (e *Exact) modest(q Vector) bool { return e.within(q, mostDepth, mostDegree) }

// within reports whether q's depths are at most so many parts, or those of all but one candidate, to which the degree of a polynomial may come.
func (e *Exact) within(q Vector, mostDepth, mostDegree int64) bool {
	step := slices.MaxFunc(e.space.Sensitivities, (*big.Rat).Cmp)
	depth := new(big.Rat).SetInt64(q.Best() - slices.Min(q))
	depth.Mul(depth, e.space.Unit)
	depth.Quo(depth, new(big.Rat).Add(step, step))
	return depth.Cmp(big.NewRat(max(mostDepth, mostDegree/int64(max(1, len(q)-1))), e.parts)) <= 0
}

// linear returns a + b·ln z as a polynomial in t = ln z.
func (e *Exact) linear(x arith.LogRat) *Value {
	f := arith.Poly{}
	return function(f.Add(f.FromRat(x.A), f.Mul(f.FromRat(x.B), f.Z())), e.log)
}

// recentForms is how many vectors' functions are kept: each is compared with its neighbors, candidate by candidate.
const recentForms = 64

// symbolic returns m's probabilities at q as functions, which may be long, from memory where they are there.
func (e *Exact) symbolic(m symbolic, q Vector, in *mechanisms.Instance) ([]arith.RatFunc, error) {
	key := q.Key()
	if all, ok := e.forms[key]; ok {
		return all, nil
	}
	all, err := m.Symbolic(in, big.NewRat(1, e.parts))
	if err != nil {
		return nil, err
	}
	if e.forms == nil || len(e.forms) == recentForms {
		e.forms = map[string][]arith.RatFunc{}
	}
	e.forms[key] = all
	return all, nil
}

// FirstBits is the precision at which a mechanism without exact probabilities is asked first: enclosures of as many bits cost
// nothing more.
const FirstBits = 64

// enclose answers with enclosures that are computed when they are needed. form, where it is not nil, gives the candidates' probabilities
// as functions of the number of e.exp.
func (e *Exact) enclose(in *mechanisms.Instance, form func(r int) (arith.RatFunc, bool)) (*Answer, error) {
	first, err := e.mechanism.Enclose(in, FirstBits)
	if errors.Is(err, mechanisms.ErrNoEnclosure) {
		return nil, ErrEstimates
	}
	if err != nil {
		return nil, err
	}
	all := remembering(func(prec uint) []number.Interval {
		if prec == FirstBits {
			return first
		}
		p, err := e.mechanism.Enclose(in, prec)
		if err != nil || len(p) != len(first) {
			p = first // still enclosures, only no better
		}
		return p
	})
	values := make([]*Value, len(first))
	for r := range values {
		box := func(prec uint) number.Interval { return all(prec)[r] }
		if values[r] = Refinable(box); form != nil {
			values[r] = lately(box, e.exp, func() (arith.RatFunc, bool) { return form(r) })
		}
	}
	return &Answer{P: values}, nil
}

// readings answers with all that the numbers of a mechanism stand for.
func readings(m mechanisms.Mechanism, in *mechanisms.Instance) (*Answer, error) {
	boxes, err := m.Enclose(in, 128)
	return wrap(boxes, err, func(x number.Interval) *Value {
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		v := Within(lo, hi)
		v.Zeroed = lo.Sign() == 0 && hi.Sign() == 0
		return v
	})
}

// wrap returns the answer of probabilities in some form, unless there is an error.
func wrap[T any](xs []T, err error, value func(T) *Value) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	a := &Answer{P: make([]*Value, len(xs))}
	for i, x := range xs {
		a.P[i] = value(x)
	}
	return a, nil
}

// ExpEpsilon returns e^ε in the form in which it combines exactly with the subject's values.
func (e *Exact) ExpEpsilon() *Value {
	if _, ok := e.space.Epsilon.Z(); !ok && e.exp != nil {
		return function(arith.Pow(arith.Poly{}, arith.Poly{}.Z(), -int(e.parts)), e.exp)
	}
	return ExpEpsilon(e.space.Epsilon)
}

// ExpEpsilon returns e^ε, exactly where it is rational, as enclosures otherwise.
func ExpEpsilon(eps number.Epsilon) *Value { return ExpTimes(eps, big.NewRat(1, 1)) }

// ExpTimes returns e^{dε} for d > 0.
func ExpTimes(eps number.Epsilon, d *big.Rat) *Value {
	if inverse, ok := eps.ExpNegRat(d); ok {
		return Rational(inverse.Inv(inverse))
	}
	if x := eps.Exp(); x != nil && !d.IsInt() && d.Denom().IsInt64() { // e^{dε} may be rational all the same
		if e, err := number.FromExp(arith.Root(x, d.Denom().Int64())); err == nil {
			return ExpTimes(e, new(big.Rat).SetInt(d.Num()))
		}
	}
	minus := new(big.Rat).Neg(d)
	return Refinable(func(prec uint) number.Interval { return eps.ExpNeg(minus, prec) })
}

// memo keeps the answers of a subject.
type memo struct {
	inner Subject
	known map[string]*Answer
}

// Remember returns the subject that asks s each question once.
func Remember(s Subject) Subject { return &memo{s, map[string]*Answer{}} }

func (m *memo) Answer(q Vector) (*Answer, error) {
	key := q.Key()
	if a, ok := m.known[key]; ok {
		return a, nil
	}
	a, err := m.inner.Answer(q)
	if err == nil {
		m.known[key] = a
	}
	return a, err
}

// BySymmetry answers from the answers to sorted vectors, for subjects that were proved symmetric.
type BySymmetry struct{ Inner Subject }

func (s BySymmetry) Answer(q Vector) (*Answer, error) {
	sorted, place := SortVector(q)
	a, err := s.Inner.Answer(sorted)
	if err != nil || a.Event != "" {
		return a, err
	}
	out := &Answer{P: make([]*Value, len(q)), summed: true, sumsTo1: !a.Misses()}
	for r, i := range place {
		out.P[r] = a.P[i]
	}
	return out, nil
}

// What is wrong with numbers that no reading makes a distribution of.
const (
	Negative       = "probabilities are negative"
	NoDistribution = "probabilities do not sum to 1"
)

// Fault returns what no reading of an answer's numbers makes a distribution of, "" where there is no such thing: Negative with the first probability that
// is, and whose it is, or else NoDistribution with the sum.
func (a *Answer) Fault() (fault string, place int, value number.Number) {
	if r := a.negative(1024); r >= 0 {
		return Negative, r, a.P[r].Number()
	}
	if !a.Misses() {
		return "", 0, number.Number{}
	}
	total := Rational(new(big.Rat))
	for _, p := range a.P {
		total = total.Add(p)
	}
	return NoDistribution, 0, total.Number()
}

// Distribution returns an answer whose numbers, as far as they are known, can be a distribution, and its fault. Where they miss the sum 1 in every reading
// nothing is proved, and each is as uncertain as that: what is missing may belong to any of them, and what is too much may be in any. They violate a
// property where all numbers between do, among which are the numbers divided by their sum. An answer of which a number is negative is not a distribution, nil.
func (a *Answer) Distribution(precision uint) (d *Answer, fault string) {
	crossing := func(v *Value) bool { // some readings are negative
		lo, _ := v.Floats()
		return v.inexact && lo < 0
	}
	switch {
	case a.Event != "":
		return a, ""
	case a.negative(precision) >= 0:
		return nil, Negative
	case a.Misses():
		fault = NoDistribution
	case !slices.ContainsFunc(a.P, crossing):
		return a, ""
	}
	if a.loosened == nil {
		a.loosened = &Answer{P: loosened(a.P), summed: true, sumsTo1: fault == ""}
	}
	return a.loosened, fault
}

// loosened returns the readings of p that are probabilities, with what all miss the sum 1 by.
func loosened(p []*Value) []*Value {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	low, high := sums(p)
	excess, missing := zero, zero
	switch {
	case low.Cmp(one) > 0:
		excess = high.Sub(high, one)
	case high.Cmp(one) < 0:
		missing = low.Sub(one, low)
	}
	out := make([]*Value, len(p))
	for r, v := range p {
		lo, hi := v.Readings()
		lo, hi = new(big.Rat).Sub(lo, excess), new(big.Rat).Add(hi, missing)
		if hi.Cmp(one) > 0 {
			hi = one
		}
		if lo.Sign() < 0 {
			lo = zero
		}
		out[r] = Within(lo, hi)
	}
	return out
}

// negative returns the first candidate whose probability is known to be negative, -1 where there is none.
func (a *Answer) negative(precision uint) int {
	return slices.IndexFunc(a.P, func(p *Value) bool {
		s, ok := p.Sign(precision)
		return ok && s < 0
	})
}

// Misses reports whether the probabilities of an answer sum to 1 in no reading; of numbers that can be refined, as far as float64 bounds tell.
func (a *Answer) Misses() bool {
	if !a.summed {
		a.summed, a.sumsTo1 = true, a.Event != "" || a.sumIsOne()
	}
	return !a.sumsTo1
}

func (a *Answer) sumIsOne() bool {
	least, most := 0.0, 0.0
	for _, p := range a.P {
		lo, hi := p.Floats()
		least, most = down(least+lo), Up(most+hi)
	}
	if least > 1 || most < 1 {
		return false
	}
	if slices.ContainsFunc(a.P, func(p *Value) bool { return p.rat == nil && !p.inexact }) {
		return true
	}
	one := big.NewRat(1, 1)
	low, high := sums(a.P)
	return low.Cmp(one) <= 0 && high.Cmp(one) >= 0
}

// sums returns the sums of the lower and of the upper ends of all readings.
func sums(p []*Value) (low, high *big.Rat) {
	low, high = new(big.Rat), new(big.Rat)
	for _, v := range p {
		lo, hi := v.Readings()
		low.Add(low, lo)
		high.Add(high, hi)
	}
	return low, high
}

// Padded returns the answer with at least n probabilities, unless it is an event.
func (a *Answer) Padded(n int) *Answer {
	if a.Event != "" || len(a.P) >= n {
		return a
	}
	zeros := slices.Repeat([]*Value{Rational(new(big.Rat))}, n-len(a.P))
	return &Answer{P: slices.Concat(a.P, zeros)}
}
