package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Subject is the mechanism that a program or a table states, as lp takes one. It is asked in the user's units: an instance's candidates at depth d (in steps of 2Δ)
// have the scores -2Δ·d, Δ the sensitivity of the options. Where symmetry is assumed, its Info says so, and one order of the scores is asked, best first.
//
// An error wraps mechanisms.ErrAnswer where there was no answer, or none that is a probability distribution. Answers are
// remembered. A Subject is safe for concurrent use.
type Subject struct {
	ctx context.Context
	*stating
}

// stating is what a Subject shares with those of other contexts.
type stating struct {
	mu        sync.Mutex
	asker     *asker
	rows      map[string][]*inquiry.Value // of a table, by scores; where symmetry is assumed, in descending order. nil for a program
	table     string                      // its name
	symmetric bool
	asked     int64
	known     map[string]heard
}

// heard is what was answered, or an error that wraps mechanisms.ErrAnswer.
type heard struct {
	p   []*inquiry.Value
	err error
}

// Subject returns the mechanism that the program states. Of the options it takes Epsilon, Sensitivity, Monotonic and Precision; Progress is told how
// many score vectors were asked. Close ends the program.
func (p Program) Subject(symmetric bool, o Options) (*Subject, error) {
	o, err := p.checked(o)
	return newSubject(symmetric, &o), err
}

func newSubject(symmetric bool, o *Options) *Subject {
	ctx := context.Background()
	return &Subject{ctx, &stating{asker: newAsker(ctx, nil, o), symmetric: symmetric, known: map[string]heard{}}}
}

// Subject returns the mechanism that the table states at its rows.
func (t *Table) Subject(symmetric bool, o Options) (*Subject, error) {
	if t.Inputs != nil {
		return nil, fmt.Errorf("%w: %s: its rows are about inputs, not scores", errTable, t.Name)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := newSubject(symmetric, &o)
	s.table, s.rows = t.Name, map[string][]*inquiry.Value{}
	for i, scores := range t.Scores {
		pmf := t.PMF[i]
		if symmetric {
			order := make([]int, len(scores))
			for r := range order {
				order[r] = r
			}
			slices.SortStableFunc(order, func(a, b int) int { return t.Scores[i][b].Cmp(t.Scores[i][a]) })
			scores, pmf = nil, nil
			for _, r := range order {
				scores, pmf = append(scores, t.Scores[i][r]), append(pmf, t.PMF[i][r])
			}
		}
		key := inquiry.ScoresText(scores)
		if _, twice := s.rows[key]; twice && !symmetric {
			return nil, fmt.Errorf("%w: %s: scores %s are there twice", errTable, t.Name, key)
		}
		s.rows[key] = pmf
	}
	s.asker.state = func(a *asker, q inquiry.Vector, _ []byte) ([]*inquiry.Value, string, error) {
		p, err := s.row(a.space.Scores(q))
		return p, "", err
	}
	return s, nil
}

// Try asks about n tied candidates, so that what cannot be asked at all is known before other work: the error says where a program
// cannot be started. Of a table it looks for the rows of all score vectors of n candidates and depths 0, 1/parts, …, k in steps of 2Δ; the error says where one is missing.
func (s *Subject) Try(ctx context.Context, n, k, parts int) error {
	if s.rows == nil {
		_, err := s.ask(ctx, s.scores(slices.Repeat([]*big.Rat{new(big.Rat)}, n)))
		if errors.Is(err, mechanisms.ErrAnswer) || ctx.Err() != nil {
			return nil // which is found again
		}
		return err
	}
	for q := range inquiry.Grid(n, k*parts, 1) {
		if ctx.Err() != nil {
			return nil
		}
		if s.symmetric && !slices.IsSortedFunc(q, func(x, y int64) int { return cmp.Compare(y, x) }) {
			continue
		}
		depths := make([]*big.Rat, n)
		for r, x := range q {
			depths[r] = big.NewRat(-x, int64(parts))
		}
		if _, err := s.row(s.scores(depths)); err != nil {
			return err
		}
	}
	return nil
}

// Again asks a program some of the questions again that it answered, in another order, to be called last. The error wraps mechanisms.ErrAnswer where
// an answer changed.
func (s *Subject) Again(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows != nil {
		return nil
	}
	s.asker.ctx = ctx
	return cmp.Or(s.asker.again(&Report{}), s.asker.changed())
}

// mostComparisons bounds the work of Private to about a second, where a score vector takes as long as 512 comparisons.
const mostComparisons = 1 << 23

// Private decides whether it is (ε,δ)-DP (nil: ε-DP) on a lattice as Try has it, by what it stated, if it is shift-invariant: neighbors are the pairs of the lattice that differ,
// after a shift, by at most Δ in every score. The result is nil where not all score vectors were asked about, or where there are too many pairs.
func (s *Subject) Private(ctx context.Context, n, k, parts int, delta *big.Rat) (*verify.Result, error) {
	vectors := lattice.Vectors(n, k*parts, false)
	work := new(big.Int).Exp(big.NewInt(int64(parts+1)), big.NewInt(int64(n)), nil) // neighbors of one vector, at most
	work.Mul(work, big.NewInt(int64(n))).Add(work, big.NewInt(512)).Mul(work, vectors)
	if s.symmetric || vectors.Cmp(big.NewInt(s.Asked())) > 0 || work.Cmp(big.NewInt(mostComparisons)) > 0 {
		return nil, nil
	}
	l, err := lattice.New(n, k*parts)
	if err != nil {
		return nil, err
	}
	depth := func(q inquiry.Vector) []*big.Rat {
		depths := make([]*big.Rat, n)
		for r, x := range q {
			depths[r] = big.NewRat(-x, int64(2*parts))
		}
		return s.scores(depths)
	}
	step := s.scores([]*big.Rat{big.NewRat(-1, int64(2*parts))})[0]
	space := &inquiry.Space{Unit: step, Gap: 2, Sensitivities: []*big.Rat{s.asker.opts.Sensitivity}, Epsilon: s.asker.opts.Epsilon}
	stated := inquiry.Remember(inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		p, err := s.ask(ctx, depth(q))
		return &inquiry.Answer{P: p}, err
	}))
	o := verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}
	if delta != nil {
		o = verify.Options{Properties: []verify.Property{verify.ApproximateDP}, Targets: map[verify.Property]*big.Rat{verify.ApproximateDP: delta}}
	}
	report, err := verify.Check(ctx, inquiry.Stated(stated, inquiry.LatticeDomain(l, space, parts), true), o)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return &report.Properties[0], nil
}

// Asked returns how many score vectors were asked about.
func (s *Subject) Asked() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Close ends the program.
func (s *Subject) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asker.child.stop()
}

// Info calls it the subject.
func (s *Subject) Info() mechanisms.Info {
	return mechanisms.Info{Name: "subject", Summary: "what a program or a table states", Uniform: true, Symmetric: s.symmetric}
}

// Precision is for mechanisms.Precision.
func (s *Subject) Precision() *big.Rat { return s.asker.opts.Precision }

// WithContext is for mechanisms.Within.
func (s *Subject) WithContext(ctx context.Context) mechanisms.Mechanism {
	return &Subject{ctx, s.stating}
}

// Exact returns the probabilities where all that were stated are rational.
func (s *Subject) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	stated, err := s.answer(in)
	p := make([]*big.Rat, len(stated))
	for r, v := range stated {
		if p[r] = v.Rat(); p[r] == nil {
			return nil, mechanisms.ErrNotRational
		}
	}
	return p, err
}

// Enclose encloses what the stated numbers stand for, at whatever prec.
func (s *Subject) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	stated, err := s.answer(in)
	p := make([]number.Interval, len(stated))
	for r, v := range stated {
		p[r] = v.Enclose(prec)
	}
	return p, err
}

// Float returns the middles of the enclosures.
func (s *Subject) Float(in *mechanisms.Instance) ([]float64, error) {
	boxes, err := s.Enclose(in, 64)
	p := make([]float64, len(boxes))
	for r, x := range boxes {
		p[r] = x.Near()
	}
	return p, err
}

// answer returns what is stated at an instance's scores.
func (s *Subject) answer(in *mechanisms.Instance) ([]*inquiry.Value, error) {
	if err := in.CheckScores(); err != nil {
		return nil, err
	}
	return s.ask(s.ctx, s.scores(in.Depths()))
}

// scores returns the scores of candidates at depths in steps of 2Δ.
func (s *stating) scores(depths []*big.Rat) []*big.Rat {
	step := new(big.Rat).Mul(s.asker.opts.Sensitivity, big.NewRat(-2, 1))
	if s.asker.opts.Monotonic {
		step.Neg(s.asker.opts.Sensitivity)
	}
	out := make([]*big.Rat, len(depths))
	for r, d := range depths {
		out[r] = new(big.Rat).Mul(d, step)
	}
	return out
}

// row returns the table's row of some scores.
func (s *stating) row(scores []*big.Rat) ([]*inquiry.Value, error) {
	key := inquiry.ScoresText(scores)
	if p, ok := s.rows[key]; ok {
		return p, nil
	}
	hint := "; add it, or say that the mechanism is symmetric (assume-symmetric)"
	if s.symmetric {
		hint = " in any order"
	}
	return nil, fmt.Errorf("%w: %s has no row for the scores %s%s", errTable, s.table, key, hint)
}

// ask asks about one score vector. What is not a distribution in any reading is an error.
func (s *stating) ask(ctx context.Context, scores []*big.Rat) ([]*inquiry.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := inquiry.ScoresText(scores)
	if before, asked := s.known[key]; asked {
		return before.p, before.err
	}
	p, err := s.asker.probabilities(ctx, scores)
	if err != nil && !errors.Is(err, mechanisms.ErrAnswer) {
		return nil, err
	}
	s.asked++
	if report := s.asker.opts.Progress; report != nil {
		report(s.asked, 0)
	}
	if text := fault(&inquiry.Answer{P: p}, candidate); err == nil && text != "" {
		p, err = nil, fmt.Errorf("%w: at the scores %s %s", mechanisms.ErrAnswer, key, text)
	}
	s.known[key] = heard{p, err}
	return p, err
}

// probabilities asks about scores. An error wraps mechanisms.ErrAnswer where there was no answer, none that is a probability
// distribution, or another one than before.
func (a *asker) probabilities(ctx context.Context, scores []*big.Rat) ([]*inquiry.Value, error) {
	a.ctx, a.space, a.questions, a.numbers = ctx, &inquiry.Space{Unit: inquiry.Unit([][]*big.Rat{scores, {a.opts.Sensitivity}})}, 0, 0
	q, err := a.space.Vector(scores)
	if err != nil {
		return nil, err
	}
	answer, err := a.Answer(q)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, inquiry.ErrUndecided):
		return nil, fmt.Errorf("%w: at the scores %s: %w", mechanisms.ErrAnswer, inquiry.ScoresText(scores), err)
	case err != nil:
		return nil, err
	case answer.Event != "":
		return nil, fmt.Errorf("%w: at the scores %s: %s", mechanisms.ErrAnswer, inquiry.ScoresText(scores), answer.Event)
	}
	return answer.P, a.changed()
}

// changed returns an error once an answer has changed.
func (a *asker) changed() error {
	for _, f := range a.record.changed {
		return fmt.Errorf("%w: %s", mechanisms.ErrAnswer, f)
	}
	return nil
}

// ownPrecision is the relative precision to which probabilities of this process are taken that are enclosed.
var ownPrecision = big.NewRat(1, 1e15)

// Mechanism audits a mechanism of this process as Program.PMF does a program: on the domain, whose neighbors may leave it, and on a side
// set of other score vectors and numbers of candidates. Rational probabilities are taken as they are, those of
// mechanisms.Precision to theirs, and others to a relative precision of 1e-15; Options.Precision is ignored. An error that
// it returns, or a panic, is a finding. Package verify decides without any such precision, on lattices and their like.
func Mechanism(ctx context.Context, m mechanisms.Mechanism, o Options) (*Report, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no mechanism", errOptions)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	o.Precision = ownPrecision
	if precision, ok := mechanisms.Precision(m); ok {
		o.Precision = precision
	}
	o.Outcomes = Index
	return mechanismAsker(ctx, m, nil, &o).audit(m.Info().Name, 0)
}

// mechanismAsker puts questions to a mechanism of this process.
func mechanismAsker(ctx context.Context, m mechanisms.Mechanism, space *inquiry.Space, o *Options) *asker {
	a := newAsker(ctx, space, o)
	a.free = true
	known := map[*inquiry.Space]inquiry.Subject{}
	a.state = func(a *asker, q inquiry.Vector, _ []byte) (p []*inquiry.Value, event string, err error) {
		if known[a.space] == nil {
			known[a.space] = inquiry.ForMechanism(m, a.space)
		}
		return a.call(known[a.space], q)
	}
	return a
}

// call asks a mechanism of this process. An error that it returns, or a panic, is an event.
func (a *asker) call(m inquiry.Subject, q inquiry.Vector) (p []*inquiry.Value, event string, err error) {
	if err := a.count(q, 0); err != nil {
		return nil, "", err
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("it panics: %v", x)
		}
		if err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			a.find(a.opts.finding("error", err.Error(), a.space, q))
			p, event, err = nil, err.Error(), nil
		}
	}()
	answer, err := m.Answer(q)
	if err != nil {
		return nil, "", err
	}
	if a.opts.Precision != ownPrecision { // the mechanism's own
		return answer.P, "", nil
	}
	for _, v := range answer.P {
		x, err := rounded(v)
		if err != nil {
			return nil, "", err
		}
		p = append(p, x)
	}
	return p, "", nil
}

// rounded returns a rational value as it is, and an enclosure of any other that is as narrow as float64 numbers allow.
func rounded(v *inquiry.Value) (*inquiry.Value, error) {
	if v.Rat() != nil {
		return v, nil
	}
	for prec := uint(64); prec <= 2048; prec *= 2 {
		x := v.Enclose(prec)
		if !arith.IsFinite(x) || !(x.RelWidth() < 0x1p-52) {
			continue
		}
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		return inquiry.Within(lo, hi), nil
	}
	return nil, fmt.Errorf("%w: enclosures of 2048 bits are wider than the relative precision of %s", inquiry.ErrUndecided, number.Exact(ownPrecision))
}

// Draws audits mechanisms.Draws of a mechanism of this process as Program.Samples does a program.
func Draws(ctx context.Context, m mechanisms.Mechanism, src rand.Source, o Options) (*Report, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no mechanism", errOptions)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.sampleDomain()
	if err != nil {
		return nil, err
	}
	return o.statistics(ctx, m.Info().Name, &drawing{mechanism: m, space: space, src: src}, space, dom)
}

// drawing draws from a mechanism of this process.
type drawing struct {
	mechanism mechanisms.Mechanism
	space     *inquiry.Space
	src       rand.Source
	drawn     int64
}

func (d *drawing) Sample(q inquiry.Vector, samples int64) (counts []int64, event string, err error) {
	in := &mechanisms.Instance{Scores: d.space.Scores(q), Sensitivities: d.space.Sensitivities, Epsilon: d.space.Epsilon}
	draw, err := mechanisms.Draws(d.mechanism, in, d.src)
	if err != nil {
		return nil, "", err
	}
	counts = make([]int64, len(q))
	for range samples {
		counts[draw()]++
	}
	d.drawn += samples
	return counts, "", nil
}
