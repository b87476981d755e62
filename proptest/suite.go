package proptest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Subject is what is tested: a PMF, or Of a mechanism.
type Subject interface {
	// suited returns the function that is tested, how a case's ε is handed over to it, and the relative precision of its answers.
	suited() (pmf PMF, epsilon func(float64) (number.Epsilon, error), precision float64)
}

// PMF is a mechanism under test: the probability of each candidate. An error that is mechanisms.ErrNotRational says that there are no
// probabilities to be had at this case, which is not tested then.
type PMF func(c Case) ([]float64, error)

func (f PMF) suited() (PMF, func(float64) (number.Epsilon, error), float64) {
	return f, decimal, mechanisms.DefaultPrecision
}

// Of makes a mechanism a subject: what is tested are its enclosures, narrowed until they say what the nearest float64 numbers nearly are, or its own
// numbers where there are none that narrow. A mechanism without an answer where ε is rational is asked where e^ε is, and at the cases for which it
// has an answer; of these there has to be one.
func Of(m mechanisms.Mechanism) Subject { return mechanism{m} }

type mechanism struct{ mechanisms.Mechanism }

func (m mechanism) suited() (PMF, func(float64) (number.Epsilon, error), float64) {
	epsilon, precision := decimal, mechanisms.DefaultPrecision
	if rationalOnly(m.Mechanism) {
		epsilon = fraction
	}
	if own, _ := mechanisms.Precision(m.Mechanism); own != nil {
		precision, _ = own.Float64()
	}
	return func(c Case) ([]float64, error) {
		in, err := c.instance(epsilon)
		if err != nil {
			return nil, err
		}
		return numbers(m.Mechanism, in)
	}, epsilon, precision
}

// rationalOnly reports whether the mechanism has no answer to a question with a rational ε. A panic is left to the tests.
func rationalOnly(m mechanisms.Mechanism) bool {
	defer func() { _ = recover() }()
	in, err := Case{Scores: []float64{0, -2}, Sensitivity: 1, Epsilon: 1}.instance(decimal)
	if err == nil {
		_, err = numbers(m, in)
	}
	return errors.Is(err, mechanisms.ErrNotRational)
}

// decimal takes ε as it is.
func decimal(eps float64) (number.Epsilon, error) {
	return number.FromEpsilon(new(big.Rat).SetFloat64(eps))
}

// fraction takes e^ε rounded up to a multiple of 1/64.
func fraction(eps float64) (number.Epsilon, error) {
	return number.FromExp(big.NewRat(int64(math.Ceil(64*math.Exp(eps))), 64))
}

// numbers returns a mechanism's probabilities in float64.
func numbers(m mechanisms.Mechanism, in *mechanisms.Instance) ([]float64, error) {
	if _, ok := mechanisms.Precision(m); ok {
		return m.Float(in)
	}
	for prec := uint(96); ; prec *= 2 {
		boxes, err := m.Enclose(in, prec)
		if errors.Is(err, mechanisms.ErrNoEnclosure) {
			return m.Float(in)
		}
		if err != nil {
			return nil, err
		}
		p, narrow := make([]float64, len(boxes)), true
		for r, x := range boxes {
			p[r] = x.Near()
			narrow = narrow && (arith.IsPoint(x) || x.RelWidth() < 1e-14)
		}
		if narrow || prec > 2000 {
			return p, nil
		}
	}
}

// instance is the case as a question to a mechanism.
func (c Case) instance(epsilon func(float64) (number.Epsilon, error)) (*mechanisms.Instance, error) {
	exact := c.exact()
	eps, err := epsilon(c.Epsilon)
	return &mechanisms.Instance{Scores: exact.Scores, Sensitivities: exact.Sensitivities, Epsilon: eps}, err
}

// The properties of the suite that are not package verify's.
const (
	// Answers: there is one probability a candidate, a finite number; no error, no panic, and the scores are left alone.
	Answers verify.Property = "answers"
	// Repeatable: the same question has the same answer, at once and after all others.
	Repeatable verify.Property = "repeatable"
)

// defaults are the properties tested where none are named.
func defaults() []verify.Property {
	var o verify.Options
	o.Complete()
	return slices.Concat([]verify.Property{Answers, Repeatable}, o.Properties, o.Facts)
}

// Options steer the suite. The zero value tests the defaults, 60 cases each, with seed 1.
type Options struct {
	Properties []verify.Property
	Monotonic  bool // neighbors: all scores rise, or all fall; otherwise each moves up or down
	Cases      int  // random cases for each property
	Seed       int64
	Precision  float64 // relative, of the probabilities; 0: that of mechanisms.Precision, of others 1e-9
}

// Failure is a property that a mechanism breaks.
type Failure struct {
	Property verify.Property
	Case     Case            // the smallest found
	witness  *verify.Witness // of verify's properties
	reason   string          // of others
	seed     int64           // that leads there
}

func (f Failure) String() string {
	what := f.reason
	if f.witness != nil {
		what = f.witness.String()
	}
	return fmt.Sprintf("%s fails at %v: %s (seed %d)", f.Property, f.Case, what, f.seed)
}

// Run tests every property of the subject as a subtest.
func Run(t *testing.T, subject Subject, o Options) {
	t.Helper()
	s, err := newSuite(subject, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.o.Properties {
		t.Run(string(p), func(t *testing.T) {
			f, err := s.test(p)
			if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				t.Error(f)
			}
		})
	}
}

// Check tests every property of the subject of Run and returns the failures; an error says that the suite could not run.
func Check(subject Subject, o Options) ([]Failure, error) {
	s, err := newSuite(subject, o)
	if err != nil {
		return nil, err
	}
	var failures []Failure
	for _, p := range s.o.Properties {
		f, err := s.test(p)
		if err != nil {
			return failures, err
		}
		if f != nil {
			failures = append(failures, *f)
		}
	}
	return failures, nil
}

type suite struct {
	m       PMF
	epsilon func(float64) (number.Epsilon, error)
	o       Options
}

func newSuite(subject Subject, o Options) (*suite, error) {
	m, epsilon, precision := subject.suited()
	if o.Properties == nil {
		o.Properties = defaults()
	}
	if o.Cases <= 0 {
		o.Cases = 60
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Precision == 0 {
		o.Precision = precision
	}
	if !(o.Precision > 0 && o.Precision < 1) {
		return nil, fmt.Errorf("proptest: the precision %v must lie between 0 and 1", o.Precision)
	}
	return &suite{m, epsilon, o}, nil
}

// test looks for a case that breaks the property, shrunk.
func (s *suite) test(p verify.Property) (*Failure, error) {
	parameters := gopter.DefaultTestParametersWithSeed(s.o.Seed)
	parameters.MinSuccessfulTests = s.o.Cases
	var failed error
	var early *Case
	var before []float64
	answered := 0
	broken := func(c Case) bool {
		c.Monotonic = s.o.Monotonic
		if _, event := s.ask(c); event == nowhere {
			return false
		}
		answered++
		if p == Repeatable && early == nil {
			early = &c
			before, _ = s.ask(c)
			before = slices.Clone(before)
		}
		f, err := s.at(p, c)
		if err != nil {
			failed = err
		}
		return f != nil
	}
	result := prop.ForAll(func(c Case) bool { return !broken(c) }, cases()).Check(parameters)
	switch {
	case failed != nil:
		return nil, failed
	case result.Error != nil:
		return nil, fmt.Errorf("%s: %w", p, result.Error)
	case result.Passed() && early != nil:
		if again, _ := s.ask(*early); !slices.Equal(again, before) {
			reason := fmt.Sprintf("the answer is %v at first and %v after other questions", before, again)
			return &Failure{Property: p, Case: *early, reason: reason, seed: s.o.Seed}, nil
		}
		return nil, nil
	case result.Passed() && answered == 0:
		return &Failure{Property: p, reason: nowhere + " of the " + fmt.Sprint(s.o.Cases) + " cases", seed: s.o.Seed}, nil
	case result.Passed():
		return nil, nil
	case result.Status != gopter.TestFailed || len(result.Args) != 1:
		return nil, fmt.Errorf("%s: the cases are %v", p, result.Status)
	}
	c := result.Args[0].Arg.(Case)
	c.Monotonic = s.o.Monotonic
	f, err := s.at(p, c)
	if f == nil && err == nil {
		// It was broken a moment ago: the mechanism is not a function of the case.
		f = &Failure{Property: p, Case: c, reason: "it failed once, and not when it was tried again", seed: s.o.Seed}
	}
	return f, err
}

// at tests a property at one case and its neighbors.
func (s *suite) at(p verify.Property, c Case) (*Failure, error) {
	fail := &Failure{Property: p, Case: c, seed: s.o.Seed}
	switch p {
	case Answers:
		_, event, overwritten := s.call(c)
		if fail.reason = cmp.Or(event, overwritten); fail.reason != "" {
			return fail, nil
		}
		return nil, nil
	case Repeatable:
		a, event := s.ask(c)
		b, again := s.ask(c)
		if event == again && slices.Equal(a, b) {
			return nil, nil
		}
		fail.reason = fmt.Sprintf("the answers are %v and %v", a, b)
		return fail, nil
	}
	exact := c.exact()
	eps, err := s.epsilon(c.Epsilon)
	if err != nil {
		return nil, err
	}
	a, err := inquiry.Listed(inquiry.Space{Sensitivities: exact.Sensitivities, Epsilon: eps}, [][]*big.Rat{exact.Scores}, exact.Sensitivities)
	if err != nil {
		return nil, err
	}
	a.Monotonic, a.Seed, a.Far = s.o.Monotonic, uint64(s.o.Seed), a.Deltas[0]<<17
	dom, subject := a.Domain(), inquiry.Remember(s.subject(c, a.Space))
	answerable(dom, func(q inquiry.Vector) bool {
		_, err := subject.Answer(q)
		return !errors.Is(err, inquiry.ErrUndecided)
	})
	report, err := verify.Check(context.Background(), inquiry.Stated(subject, dom, true), verify.Options{Properties: []verify.Property{p}})
	if err != nil {
		return nil, err
	}
	if fail.witness = report.Properties[0].Witness; fail.witness != nil {
		return fail, nil
	}
	return nil, nil
}

// answerable leaves in the domain what lies within the vectors that there are answers for.
func answerable(dom *inquiry.Domain, has func(inquiry.Vector) bool) {
	pairs := func(all iter.Seq2[inquiry.Vector, inquiry.Vector]) iter.Seq2[inquiry.Vector, inquiry.Vector] {
		return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
			for a, b := range all {
				if has(a) && has(b) && !yield(a, b) {
					return
				}
			}
		}
	}
	dom.Has, dom.Neighbors, dom.Shifted, dom.Lowered = has, pairs(dom.Neighbors), pairs(dom.Shifted), pairs(dom.Lowered)
}

// nowhere is the event that there are no probabilities to be had.
const nowhere = "there are no probabilities at any"

// ask calls the mechanism. event says what came instead of probabilities.
func (s *suite) ask(c Case) (p []float64, event string) {
	p, event, _ = s.call(c)
	return p, event
}

// call is ask; overwritten says how the mechanism changed the scores it was given.
func (s *suite) call(c Case) (p []float64, event, overwritten string) {
	defer func() {
		if x := recover(); x != nil {
			p, event = nil, fmt.Sprintf("it panics: %v", x)
		}
	}()
	given := slices.Clone(c.Scores)
	handed := c
	handed.Scores = slices.Clone(given)
	p, err := s.m(handed)
	if !slices.Equal(handed.Scores, given) {
		overwritten = fmt.Sprintf("it overwrites the scores %v by %v", given, handed.Scores)
	}
	if errors.Is(err, mechanisms.ErrNotRational) {
		return nil, nowhere, overwritten
	}
	if err != nil {
		return nil, "error: " + err.Error(), overwritten
	}
	if len(p) != len(c.Scores) {
		return nil, fmt.Sprintf("%d probabilities for %d scores", len(p), len(c.Scores)), overwritten
	}
	for r, x := range p {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Sprintf("the probability of candidate %d is %v", r, x), overwritten
		}
	}
	return p, "", overwritten
}

// subject answers package verify's questions.
func (s *suite) subject(c Case, space *inquiry.Space) inquiry.Subject {
	slack := new(big.Rat).SetFloat64(s.o.Precision)
	return inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		at := c
		at.Scores = make([]float64, len(q))
		for r, x := range space.Scores(q) {
			var exact bool
			if at.Scores[r], exact = x.Float64(); !exact {
				return nil, errors.New("a score that float64 does not hold")
			}
		}
		p, event := s.ask(at)
		if event == nowhere {
			return nil, inquiry.ErrUndecided
		}
		answer := &inquiry.Answer{Event: event}
		for _, x := range p {
			answer.P = append(answer.P, inquiry.Nearly(new(big.Rat).SetFloat64(x), slack))
		}
		return answer, nil
	})
}
