package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Duration is a time limit.
type Duration = time.Duration

const (
	mostTimeouts  = 3       // after so many the program is not asked again
	mostLosses    = 100     // likewise, of failures after which it was started again
	mostSilence   = 10      // likewise, of all failures, where it never answered at all
	mostFindings  = 20      // kinds kept for the report
	mostQuestions = 500_000 // about different score vectors
	askedTwice    = 50      // questions that are repeated at the end
)

// Finding is something that a program did which it should not, whatever its probabilities.
type Finding struct {
	Event  string          // "error", "different answers" or "exit"
	Detail string          // what happened, the first time
	Scores []*big.Rat      // what it was asked then, nil for what happened outside a question
	Input  json.RawMessage // likewise, where it was no score vector
	Times  int64           // how often something of this kind happened
}

func (f Finding) String() string {
	text := f.Event + ": "
	if f.Scores != nil {
		text += "scores " + verify.ScoresText(f.Scores) + ": "
	}
	if f.Input != nil {
		text += "input " + verify.InputText(f.Input) + ": "
	}
	text += f.Detail
	if f.Times > 1 {
		text += fmt.Sprintf(" (the first of %d of this kind)", f.Times)
	}
	return text
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

// asker puts questions to a program and keeps account of what goes wrong.
type asker struct {
	ctx       context.Context
	opts      *Options
	space     *verify.Space
	child     *child
	epsilon   string
	questions int64
	numbers   int64 // probabilities asked for
	failures  int
	losses    int // failures after which there was no process any more
	timeouts  int
	answered  bool
	findings  []Finding
	muted     bool // failures are no findings: the question was not part of the domain
	texts     scoreTexts
	labels    *labelled // of stated probabilities; nil where outcomes are candidates
}

// scoreTexts keeps how scores are written, by their number in units of a space.
type scoreTexts struct {
	space *verify.Space
	known map[int64]json.RawMessage
}

const mostScoreTexts = 1 << 16 // kept

// of returns how the scores of q are written.
func (t *scoreTexts) of(space *verify.Space, q verify.Vector) []json.RawMessage {
	if t.space != space {
		t.space, t.known = space, map[int64]json.RawMessage{}
	}
	out := make([]json.RawMessage, len(q))
	for r, x := range q {
		text, ok := t.known[x]
		if !ok {
			text = verify.ScoresJSON(space.Scores(verify.Vector{x}))[0]
			if len(t.known) < mostScoreTexts {
				t.known[x] = text
			}
		}
		out[r] = text
	}
	return out
}

// line returns the question about q.
func (a *asker) line(q verify.Vector, samples int64) []byte {
	if in := a.opts.Inputs; in != nil {
		asked := question{input: in.Values[q[0]], epsilon: a.epsilon, sensitivity: a.opts.Sensitivity, samples: samples}
		return asked.line()
	}
	asked := question{
		scores: a.texts.of(a.space, q), epsilon: a.epsilon, sensitivity: a.opts.Sensitivity,
		monotonic: a.opts.Neighbors == verify.Monotonic, samples: samples,
	}
	return asked.line()
}

func newAsker(ctx context.Context, command string, space *verify.Space, o *Options) *asker {
	return &asker{
		ctx: ctx, opts: o, space: space, epsilon: epsilonText(o.Epsilon),
		child: &child{command: command, timeout: o.Timeout, clean: o.CleanEnv},
	}
}

// epsilonText writes ε as a decimal: exactly where it is one, otherwise the nearest double.
func epsilonText(e mechanisms.Epsilon) string {
	if r := e.Eps(); r != nil {
		if digits, exact := r.FloatPrec(); exact && digits <= 30 {
			return r.FloatString(digits)
		}
	}
	return strconv.FormatFloat(e.Float(), 'g', -1, 64)
}

// errStopped says that an audit was cancelled or had no time left.
var errStopped = fmt.Errorf("%w: it was stopped", verify.ErrUndecided)

// ask puts one question and reads the answer with parse. event is what came instead of an answer.
func ask[T any](a *asker, q verify.Vector, samples int64, parse func(line []byte) (T, error)) (answer T, event string, err error) {
	if a.ctx.Err() != nil {
		return answer, "", errStopped
	}
	if a.child.confused != "" {
		return answer, "", fmt.Errorf("%w: %s", verify.ErrUndecided, confusion(a.child))
	}
	if a.timeouts >= mostTimeouts || a.losses >= mostLosses || a.failures >= mostSilence && !a.answered {
		return answer, "", fmt.Errorf("%w: the program failed %d times and is not asked again", verify.ErrUndecided, a.failures)
	}
	if a.questions >= mostQuestions || a.numbers+int64(len(q)) > mostNumbers && a.numbers > 0 {
		return answer, "", fmt.Errorf("%w: the limit of %d questions or %d probabilities was reached, after %d questions", verify.ErrUndecided, mostQuestions, mostNumbers, a.questions)
	}
	a.questions++
	if samples == 0 { // whose answers are kept
		a.numbers += int64(len(q))
	}
	if a.opts.Progress != nil {
		a.opts.Progress(a.questions)
	}
	began := time.Now()
	line, err := a.child.ask(a.ctx, a.line(q, samples))
	if err == nil {
		if answer, err = parse(line); err == nil {
			a.answered, a.child.spoke = true, true
			return answer, "", nil
		}
		if errors.Is(err, ErrOptions) { // of a limit on what is asked about
			return answer, "", err
		}
		if errors.Is(err, errNoAnswer) {
			a.child.stop()
			a.child.confused = err.Error()
		}
		err = &failure{text: err.Error()}
	}
	if refused := a.refusal(line, err, samples, time.Since(began)); refused != nil {
		a.child.stop()
		return answer, "", refused
	}
	var f *failure
	switch {
	case a.ctx.Err() != nil:
		return answer, "", errStopped
	case !errors.As(err, &f):
		return answer, "", err
	}
	if f.long && a.labels != nil {
		return answer, "", fmt.Errorf("%w: the answer is %s, which is the limit: make outcomes coarser", ErrOptions, f.text)
	}
	a.failures++
	if f.timeout {
		a.timeouts++
	}
	if a.child.p == nil {
		a.losses++
	}
	a.find(a.opts.finding("error", f.text, a.space, q))
	return answer, f.text, nil
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

// probabilities is a program that states its probabilities, as a Subject.
type probabilities struct{ *asker }

// Answer asks the program. What it does not answer it is asked again: a failure that comes again is an event that has the probability 1
// there, as far as can be told, and one that does not has an unknown one.
func (p probabilities) Answer(q verify.Vector) (*verify.Answer, error) {
	muted := p.muted
	a, steady, err := twice(func(again bool) (*verify.Answer, error) {
		p.muted = muted || again // one finding is enough
		return p.once(q)
	})
	p.muted = muted
	if err == nil && !steady {
		p.find(Finding{Event: "different answers", Detail: answeredOnce, Scores: p.space.Scores(q)})
	}
	return a, err
}

// answeredOnce describes a failure that does not come again.
const answeredOnce = "an answer once, an error the other time"

// twice asks once, and again where an event came; steady is false where that did not come again.
func twice(ask func(again bool) (*verify.Answer, error)) (a *verify.Answer, steady bool, err error) {
	if a, err = ask(false); err != nil || a.Event == "" {
		return a, true, err
	}
	again, err := ask(true)
	if err != nil {
		return nil, true, err
	}
	return &verify.Answer{Event: a.Event, Unsteady: again.Event == ""}, again.Event != "", nil
}

func (p probabilities) once(q verify.Vector) (*verify.Answer, error) {
	values, event, err := ask(p.asker, q, 0, func(line []byte) ([]*verify.Value, error) {
		if p.labels != nil {
			return p.labels.parsePMF(line, p.opts.Precision)
		}
		return parsePMF(line, len(q), p.opts.Precision)
	})
	if err != nil {
		return nil, err
	}
	p.numbers += int64(max(0, len(values)-len(q)))
	return &verify.Answer{P: values, Event: event}, nil
}

// PMF audits a program that states its probabilities, on the domain and on a side set of other score vectors and numbers of
// candidates.
func PMF(ctx context.Context, command string, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.domain(0)
	if err != nil {
		return nil, err
	}
	a := newAsker(ctx, command, space, &o)
	defer a.child.stop()
	if o.Outcomes == Labels || o.Inputs != nil {
		a.labels = newLabelled(&o)
	}
	first := &transcript{inner: probabilities{a}}
	var smaller *asker // asks about smaller cases, which are not part of the domain
	var retry func(space *verify.Space) verify.Subject
	if o.Inputs == nil { // of inputs there are none that are known to be smaller
		retry = func(space *verify.Space) verify.Subject {
			if smaller == nil {
				smaller = &asker{ctx: ctx, opts: &o, child: a.child, epsilon: a.epsilon, muted: true, labels: a.labels}
			}
			smaller.space = space
			return probabilities{smaller}
		}
	}
	var side *asker
	var second *transcript
	r, err := examine(ctx, command, &questioned{first, space, dom}, &o, retry, func(r *Report) (*questioned, error) {
		return o.aside(r, farthest, func(space *verify.Space) verify.Subject {
			side = &asker{
				ctx: ctx, opts: &o, space: space, epsilon: a.epsilon, child: a.child,
				answered: a.answered, failures: a.failures, losses: a.losses, timeouts: a.timeouts, labels: a.labels,
			}
			second = &transcript{inner: probabilities{side}}
			return second
		}, retry)
	})
	if err != nil {
		return nil, err
	}
	if side != nil {
		if err := side.repeat(second); err != nil {
			return nil, err
		}
		a.questions += side.questions
	}
	if err := a.repeat(first); err != nil {
		return nil, err
	}
	if err := a.confirm(r); err != nil {
		return nil, err
	}
	a.finish()
	if side != nil {
		for _, f := range side.findings {
			a.findings = addFinding(a.findings, f)
		}
	}
	r.somethingChecked()
	r.account(a)
	if a.labels != nil && !a.labels.list {
		r.nameOutcomes(a.labels.names)
	}
	r.nameInputs(o.Inputs)
	return r, nil
}

// confirm asks again, now that other questions came in between, about the witnesses in which the program did not answer at one of two
// vectors. Where it does not fail at the same one alone, the property is undecided.
func (a *asker) confirm(r *Report) error {
	for i := range r.Properties {
		p := &r.Properties[i]
		w := p.Witness
		if p.Verdict != verify.Violated || w == nil || w.Event != noAnswer || len(w.Neighbor) == 0 {
			continue
		}
		failed, err := a.fails(w.Scores)
		if err != nil {
			return err
		}
		other, err := a.fails(w.Neighbor)
		if err != nil {
			return err
		}
		if failed && !other || a.ctx.Err() != nil {
			continue
		}
		a.find(Finding{Event: "different answers", Detail: answeredOnce, Scores: w.Scores})
		*p = verify.Result{Name: p.Name, Fact: p.Fact, Verdict: verify.Undecided, Checked: p.Checked, Reason: "the failure at " + verify.ScoresText(w.Scores) + " did not come again"}
		if p.Name == verify.DP {
			r.TightEps, r.DomainEps = number.Number{}, number.Number{}
		}
	}
	r.Witness = nil
	r.chooseWitness()
	return nil
}

// noAnswer is the event of a witness where nothing was answered.
const noAnswer = "error"

// fails asks about scores once more, whatever the limits, and reports whether there is no answer.
func (a *asker) fails(scores []*big.Rat) (bool, error) {
	space := &verify.Space{Unit: verify.Unit([][]*big.Rat{scores, {a.opts.Sensitivity}})}
	q, err := space.Vector(scores)
	if err != nil {
		return false, err
	}
	more := &asker{ctx: a.ctx, opts: a.opts, space: space, epsilon: a.epsilon, child: a.child, answered: true, muted: true, labels: a.labels}
	answer, err := probabilities{more}.once(q)
	if errors.Is(err, verify.ErrUndecided) {
		return false, nil
	}
	return err == nil && answer.Event != "", err
}

// finish lets the program end.
func (a *asker) finish() {
	var f *failure
	if err := a.child.finish(); errors.As(err, &f) {
		a.find(Finding{Event: "exit", Detail: f.text})
	}
}

// transcript remembers what was answered, in order.
type transcript struct {
	inner   verify.Subject
	asked   []verify.Vector
	answers []*verify.Answer
}

func (t *transcript) Answer(q verify.Vector) (*verify.Answer, error) {
	a, err := t.inner.Answer(q)
	if err == nil && len(t.asked) < mostQuestions {
		t.asked, t.answers = append(t.asked, q), append(t.answers, a)
	}
	return a, err
}

// repeat asks some questions again, in another order, and records answers that no reading reconciles.
func (a *asker) repeat(t *transcript) error {
	rng := rand.New(rand.NewPCG(a.opts.Seed, 0x7477696365))
	order := rng.Perm(len(t.asked))
	order = order[:min(askedTwice, len(order))]
	if len(order) > 0 {
		order = append(order, 0) // the first question of all, now last
	}
	for _, i := range order {
		q, before := t.asked[i], t.answers[i]
		again, err := probabilities{a}.once(q)
		switch {
		case errors.Is(err, verify.ErrUndecided):
			return nil
		case err != nil:
			return err
		}
		if detail := a.difference(before, again); detail != "" {
			a.find(a.opts.finding("different answers", detail, a.space, q))
		}
	}
	return nil
}

// difference describes how two answers to one question differ, "" where they need not.
func (a *asker) difference(first, again *verify.Answer) string {
	if (first.Event == "") != (again.Event == "") {
		return answeredOnce
	}
	zero := verify.Rational(new(big.Rat))
	at := func(p []*verify.Value, r int) *verify.Value {
		if r < len(p) {
			return p[r]
		}
		return zero
	}
	for r := range max(len(first.P), len(again.P)) {
		p, o := at(first.P, r), at(again.P, r)
		if s, ok := p.Compare(o); ok && s != 0 {
			name := fmt.Sprintf("candidate %d", r)
			if a.labels != nil && !a.labels.list {
				name = fmt.Sprintf("output %q", a.labels.names[r])
			}
			return fmt.Sprintf("asked twice, %s has probability %s, then %s", name, p.Number(), o.Number())
		}
	}
	return ""
}
