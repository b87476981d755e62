package audit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/verify"
)

// Program is a program under audit, in any language.
type Program struct {
	Command  string        // a command line for sh -c
	Timeout  time.Duration // for one answer; 10 s
	Children int           // that draw samples at the same time; 1
}

// checked returns the options of an audit of the program, complete.
func (p Program) checked(o Options) (Options, error) {
	if p.Children < 0 || p.Children > mostChildren {
		return o, fmt.Errorf("%w: %d children are not 1 to %d", errOptions, p.Children, mostChildren)
	}
	if o.Outcomes == Mixed && p.Children > 1 {
		return o, fmt.Errorf("%w: mixed outcomes are drawn by one child", errOptions)
	}
	o.program = p
	return o, o.complete()
}

const (
	mostTimeouts  = 3       // after so many the program is not asked again
	mostLosses    = 100     // likewise, of failures after which it was started again
	mostSilence   = 10      // likewise, of all failures, where it never answered at all
	mostFindings  = 20      // kinds kept for the report
	mostQuestions = 500_000 // about different score vectors
)

// Finding is something that a program must not do, whatever its probabilities.
type Finding struct {
	Event  string          // "error", "no distribution", "different answers" or "exit"
	Detail string          // what happened, the first time
	Scores []*big.Rat      // what it was asked then, nil for what happened outside a question
	Input  json.RawMessage // likewise, where it was no score vector
	Times  int64           // how often something of this kind happened
}

func (f Finding) String() string {
	text := f.Event + ": "
	if f.Scores != nil {
		text += "scores " + inquiry.ScoresText(f.Scores) + ": "
	}
	if f.Input != nil {
		text += "input " + inquiry.InputText(f.Input) + ": "
	}
	text += f.Detail
	if f.Times > 1 {
		text += fmt.Sprintf(" (the first of %d of this kind)", f.Times)
	}
	return escape.Line(text)
}

// variable is what differs between findings of one kind: what was answered, and numbers.
var variable = regexp.MustCompile(`answered "(\\.|[^"\\])*"|-?[0-9][0-9./e+-]*`)

// kind returns what findings of one kind have in common.
func (f Finding) kind() string { return f.Event + variable.ReplaceAllString(f.Detail, "#") }

// add counts a finding, and keeps the first of each kind.
func addFinding(findings []Finding, f Finding) []Finding {
	f.Times = max(1, f.Times)
	for i := range findings {
		if findings[i].kind() == f.kind() {
			findings[i].Times += f.Times
			return findings
		}
	}
	if len(findings) < mostFindings {
		findings = append(findings, f)
	}
	return findings
}

// asker puts questions to what is audited and keeps account of what goes wrong.
type asker struct {
	ctx     context.Context
	opts    *Options
	space   *inquiry.Space
	child   *child
	setting string    // fields of every question
	muted   bool      // failures are no findings: the question was not part of the domain
	free    bool      // it asks whatever the limits
	labels  *labelled // that were answered
	record  *record   // of stated probabilities
	state   func(a *asker, q inquiry.Vector, line []byte) (p []*inquiry.Value, event string, err error)
	account

	most, limit int64 // samples in one question, now and ever
}

// account is what an asker asked, and what went wrong.
type account struct {
	questions, numbers int64 // and the probabilities that were asked for
	findings           []Finding
	trouble
}

// trouble counts what ends the questions to a program.
type trouble struct {
	answered bool
	failures int
	losses   int // failures after which there was no process any more
	timeouts int
}

func newAsker(ctx context.Context, space *inquiry.Space, o *Options) *asker {
	return &asker{
		ctx: ctx, opts: o, space: space, state: (*asker).stated, labels: newLabelled(o), record: &record{known: map[[sha256.Size]byte]*inquiry.Answer{}},
		setting: fmt.Sprintf(`"epsilon":%s,"sensitivity":%s`, numberText(o.Epsilon.Eps(), o.Epsilon.Float()), numberText(o.Sensitivity, 0)),
		child:   &child{command: o.program.Command, timeout: o.program.Timeout},
	}
}

// reference returns an asker of the reference, whose labels are numbered as a's are. What goes wrong there is no finding.
func (a *asker) reference() *asker {
	other := newAsker(a.ctx, a.space, a.opts)
	other.child.command, other.labels, other.muted = a.opts.Reference, a.labels, true
	return other
}

// on returns an asker of the same program about another space, with limits of its own.
func (a *asker) on(space *inquiry.Space) *asker {
	other := *a
	other.space, other.account = space, account{}
	return &other
}

// name says in words which outcome a probability belongs to.
func (a *asker) name(r int) string {
	if !a.labels.list {
		return fmt.Sprintf("output %q", a.labels.names[r])
	}
	return candidate(r)
}

// errStopped says that an audit was cancelled or had no time left.
var errStopped = fmt.Errorf("%w: it was stopped", inquiry.ErrUndecided)

// who says which program it asks.
func (a *asker) who() string {
	if a.opts.Reference != "" && a.child.command == a.opts.Reference {
		return "the reference"
	}
	return "the program"
}

// count counts a question about q, and returns an error where it must not be put any more.
func (a *asker) count(q inquiry.Vector, samples int64) error {
	switch {
	case a.ctx.Err() != nil:
		return errStopped
	case a.child.confused != "":
		return fmt.Errorf("%w: %s", inquiry.ErrUndecided, confusion(a.child))
	case a.timeouts >= mostTimeouts || a.losses >= mostLosses || a.failures >= mostSilence && !a.answered:
		return fmt.Errorf("%w: %s failed %d times and is not asked again", inquiry.ErrUndecided, a.who(), a.failures)
	case !a.free && (a.questions >= mostQuestions || a.numbers+int64(len(q)) > mostNumbers && a.numbers > 0):
		return fmt.Errorf("%w: the limit of %d questions or %d probabilities was reached, after %d questions", inquiry.ErrUndecided, mostQuestions, mostNumbers, a.questions)
	}
	a.questions++
	if samples == 0 { // whose answers are kept
		a.numbers += int64(len(q))
	}
	return a.opts.meter.count(a.answered)
}

// ask puts one question about q, and read reads the answer. event is what came instead of one.
func (a *asker) ask(q inquiry.Vector, question []byte, samples int64, read func(line []byte) error) (event string, err error) {
	if err := a.count(q, samples); err != nil {
		return "", err
	}
	began := time.Now()
	line, err := a.child.ask(a.ctx, question)
	if err == nil {
		var u *Unlike
		switch err = read(line); {
		case err == nil:
			a.answered, a.child.spoke = true, true
			return "", nil
		case errors.Is(err, errOptions): // of a limit on what is asked about
			return "", err
		case errors.As(err, &u) && u.lost:
			a.child.stop()
			a.child.confused = u.text
		}
	}
	if refused := a.refusal(line, err, samples, time.Since(began)); refused != nil {
		a.child.stop()
		return "", refused
	}
	var f *failure
	switch {
	case a.ctx.Err() != nil:
		return "", errStopped
	case line != nil:
		f = &failure{text: err.Error()}
	case !errors.As(err, &f):
		return "", err
	case f.long && samples == 0 && a.labels.n == 0:
		return "", fmt.Errorf("%w: the answer is %s, which is the limit: make outcomes coarser", errOptions, f.text)
	}
	a.failures++
	if f.timeout {
		a.timeouts++
	}
	if a.child.p == nil {
		a.losses++
	}
	found := a.opts.finding("error", f.text, a.space, q)
	if a.opts.overflows(found) {
		found.Detail += "; subtract the best score before exp"
	}
	a.find(found)
	return f.text, nil
}

// farSteps: a score of so many steps of Δ/ε has an exp near the ends of floating-point numbers, those of 32 bits among them.
const farSteps = 80

// overflows reports whether what went wrong looks like exp of scores from which the best one was not subtracted.
func (o *Options) overflows(f Finding) bool {
	if len(f.Scores) == 0 {
		return false
	}
	best, _ := new(big.Rat).Quo(slices.MaxFunc(f.Scores, (*big.Rat).Cmp), o.Sensitivity).Float64()
	far := math.Abs(best)*o.Epsilon.Float() > farSteps
	return far && slices.ContainsFunc([]string{"verflow", "math range error", "NaN", "Infinity", "division by zero"}, func(word string) bool {
		return strings.Contains(f.Detail, word)
	})
}

// confusion is the reason why nothing is concluded from the answers of a child that is out of step.
func confusion(c *child) string {
	return "the answers cannot be told which questions they belong to: " + c.confused
}

// find records a finding.
func (a *asker) find(f Finding) {
	if !a.muted {
		a.findings = addFinding(a.findings, f)
	}
}

// stated asks a program for its probabilities.
func (a *asker) stated(q inquiry.Vector, question []byte) (p []*inquiry.Value, event string, err error) {
	a.labels.about(q, a.opts)
	event, err = a.ask(q, question, 0, func(line []byte) (err error) {
		p, err = a.labels.parsePMF(line, a.opts.Precision)
		return err
	})
	if err != nil || event != "" {
		return nil, event, err
	}
	a.numbers += int64(max(0, len(p)-len(q)))
	return p, "", nil
}

// Answer asks a program that states its probabilities, which so is a Subject. It asks again where nothing is answered: a failure that comes again is an event
// of probability 1 there, as far as one can tell; one that does not is a change of the answers.
func (a *asker) Answer(q inquiry.Vector) (*inquiry.Answer, error) {
	muted := a.muted
	answer, err := a.once(q, !muted)
	if err != nil {
		return nil, err
	}
	if answer.Event != "" {
		a.muted = true // one finding is enough
		answer, err = a.once(q, true)
		a.muted = muted
		return answer, err
	}
	if text := fault(answer, a.name); text != "" {
		a.find(a.opts.finding(noDistribution, text, a.space, q))
	}
	return answer, nil
}

// once asks, and compares the answer with an earlier one. failures says whether failures are compared too.
func (a *asker) once(q inquiry.Vector, failures bool) (*inquiry.Answer, error) {
	question := a.line(q, 0)
	values, event, err := a.state(a, q, question)
	if err != nil {
		return nil, err
	}
	answer := &inquiry.Answer{P: values, Event: event}
	if event == "" || failures {
		a.record.recall(question, query{a.space, q}, answer, a.opts, a.name)
	}
	return answer, nil
}

// PMF audits a program that states its probabilities, on the domain and on a side set of other score vectors and numbers of
// candidates.
func (p Program) PMF(ctx context.Context, o Options) (*Report, error) {
	o, err := p.checked(o)
	if err != nil {
		return nil, err
	}
	return newAsker(ctx, nil, &o).audit(p.Command, farthest)
}

// audit audits what states its probabilities, and looks for cliffs up to reach·Δ from the origin (aside).
func (a *asker) audit(name string, reach int64) (*Report, error) {
	o := a.opts
	if o.Inputs != nil && o.Inputs.rows != nil { // to which the side set is added
		own := *o.Inputs
		own.places = maps.Clone(own.places)
		o.Inputs = &own
	}
	space, dom, err := o.domain(0)
	if err != nil {
		return nil, err
	}
	if err := o.measure(a.ctx, dom); err != nil {
		return nil, err
	}
	a.space = space
	defer a.child.stop()
	smaller, side := a.on(space), a.on(space)
	smaller.muted = true // what it is asked about is not part of the domain
	about := func(b *asker) func(*inquiry.Space) inquiry.Subject {
		return func(space *inquiry.Space) inquiry.Subject {
			b.space = space
			return b
		}
	}
	probe := about(smaller)
	retry := probe
	if o.Inputs != nil { // of which there are none that are known to be smaller
		retry = nil
	}
	references, err := o.references(space)
	if err != nil {
		return nil, err
	}
	var other *asker
	if o.Reference != "" {
		other = a.reference()
		defer other.child.stop()
		references = append(references, reference{Same, o.Reference, other})
	}
	r, err := examine(a.ctx, name, inquiry.Stated(inquiry.Remember(a), dom, true), o, references, retry, func(r *Report) (*inquiry.Question, error) {
		side.trouble = a.trouble
		return o.aside(r, reach, about(side), probe)
	})
	if err != nil {
		return nil, err
	}
	if side.questions > 0 {
		a.trouble = side.trouble
		a.join(side)
	}
	if err := a.again(r); err != nil {
		return nil, err
	}
	if other != nil {
		if err := other.again(&Report{}); err != nil {
			return nil, err
		}
		if same := r.Find(Same); len(other.record.changed) > 0 {
			*same = verify.Result{Name: Same, Verdict: verify.Undecided, Checked: same.Checked, Reason: "of the reference: " + other.record.changed[0].String()}
		}
	}
	a.finish()
	r.somethingChecked()
	if !a.labels.list {
		r.nameOutcomes(a.labels.names)
	}
	r.nameInputs(o.Inputs)
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Verdict == verify.Undecided && a.failures > 0 && !a.answered && a.ctx.Err() == nil {
			p.Reason = fmt.Sprintf("the program failed %d times and never answered with probabilities", a.failures)
		}
	}
	r.account(a)
	return r, nil
}

// join adds to a's account what another asker asked and found.
func (a *asker) join(other *asker) {
	a.questions += other.questions
	for _, f := range other.findings {
		a.findings = addFinding(a.findings, f)
	}
}

// again asks the program again about what a report shows, and about some of all that it was asked about, whatever the limits.
func (a *asker) again(r *Report) error {
	late := a.on(a.space)
	late.trouble, late.questions = a.trouble, a.questions
	late.free, late.answered, late.muted = true, true, true
	for _, at := range a.record.late(r, a.opts, a.space) {
		late.space = at.space
		_, err := late.once(at.q, true)
		a.questions = late.questions
		switch {
		case errors.Is(err, inquiry.ErrUndecided):
			a.record.unasked = reason(err)
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// noAnswer is the event of a witness where nothing was answered.
const noAnswer = "error"

// finish lets the program end, for which there is no time once the audit was stopped.
func (a *asker) finish() {
	if a.ctx.Err() != nil {
		return
	}
	var f *failure
	if err := a.child.finish(); errors.As(err, &f) {
		a.find(Finding{Event: "exit", Detail: f.text})
	}
}
