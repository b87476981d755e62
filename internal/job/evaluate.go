package job

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number"
)

// Evaluate asks for the errors of mechanisms on a histogram, or on given scores. Several ε, separated by commas, have a list of answers.
type Evaluate struct {
	Task      string `json:"task" help:"mode, median, quantile:P or scores"`
	Histogram string `json:"histogram" help:"file of counts, .npy or one a line, the last of two columns"`
	Epsilon
	Mechanism   string `json:"mechanism" help:"mechanisms to rate, by name"`
	Scores      string `json:"scores" help:"scores, comma-separated, or a file with one a line"`
	Bins        int    `json:"bins" help:"sum adjacent bins so that so many remain, a divisor of those there are (default: all)"`
	Sensitivity string `json:"sensitivity" help:"sensitivity Δ of the scores"`
	OneWay
	Target string `json:"target-error" help:"also find the ε at which each mechanism has this expected error; {eps} may be left out then"`
}

// NewEvaluate returns the question with its defaults.
func NewEvaluate() *Evaluate { return &Evaluate{Mechanism: "pf,em", Sensitivity: "1"} }

func (*Evaluate) standard() (string, any) { return "evaluate", NewEvaluate() }

// evaluation is a question that was read.
type evaluation struct {
	problem *evaluate.Problem
	list    []mechanisms.Mechanism
	target  *big.Rat // nil for none
	eps     []Epsilon
	doc     document.Evaluate // with what is the same for every ε
}

func (q *Evaluate) read(ctx context.Context, h *Host) (e evaluation, err error) {
	if e.eps, err = q.Epsilon.List(); err != nil {
		return e, err
	}
	if q.Eps != "" && q.Exp != "" || q.Epsilon == (Epsilon{}) && q.Target == "" {
		_, err := q.Epsilon.Parse()
		return e, err
	}
	if e.list, err = FindMechanisms(q.Mechanism, mechanisms.Lookup); err != nil {
		return e, err
	}
	sensitivity, err := ParsePositive("sensitivity", q.Sensitivity)
	if err != nil {
		return e, err
	}
	if q.Target != "" {
		if e.target, err = ParsePositive("target-error", q.Target); err != nil {
			return e, err
		}
	}
	if err := monotonicToo(q.Monotonic, e.list, sensitivity); err != nil {
		return e, err
	}
	e.doc = document.Evaluate{Task: q.Task, Sensitivity: q.Sensitivity, Monotonic: q.Monotonic, TargetError: Optional(q.Target)}
	switch q.Task {
	case "worst-case":
		err = refuse("{task} worst-case moved to bin/research worst-case: make research")
	case "scores":
		err = q.ownScores(ctx, h, &e, sensitivity)
	default:
		err = q.histogram(ctx, h, &e, sensitivity)
	}
	return e, err
}

func (q *Evaluate) ownScores(ctx context.Context, h *Host, e *evaluation, sensitivity *big.Rat) error {
	if q.Scores == "" || q.Histogram != "" || q.Bins != 0 {
		return refuse("{task} scores takes {scores}, a list or a file, and neither {histogram} nor {bins}")
	}
	scores, err := h.numbers(ctx, "scores", q.Scores)
	if err != nil {
		return err
	}
	p, err := Await(ctx, Grace, func() (*evaluate.Problem, error) { return evaluate.NewRational(scores, sensitivity, q.Monotonic) })
	if cause := context.Cause(ctx); cause != nil && p == nil {
		return cause
	}
	if err != nil {
		return refuse("{scores} %s: %w", escape.Quoted(q.Scores), err)
	}
	e.problem, e.doc.Bins, e.doc.Classes = p, len(scores), p.Classes()
	return nil
}

// histogram reads a histogram and makes the scores of the task from it.
func (q *Evaluate) histogram(ctx context.Context, h *Host, e *evaluation, sensitivity *big.Rat) error {
	quantile, err := q.quantile()
	switch {
	case err != nil:
		return err
	case quantile != nil && q.Monotonic:
		return refuse("{monotonic-scores}: one more item raises some scores of a quantile and lowers others; leave it out")
	case q.Histogram == "":
		return refuse("{task} %s: the histogram is missing: give {histogram} FILE", q.Task)
	case q.Scores != "":
		return refuse("{task} %s takes {histogram}, not {scores}: leave that out", q.Task)
	}
	scores, err := h.ReadHistogram(ctx, q.Histogram)
	if err != nil {
		return err
	}
	items, err := evaluate.Total(scores)
	if err != nil {
		return refuse("%s: %w", q.Histogram, err)
	}
	if q.Bins != 0 {
		if scores, err = evaluate.Fold(scores, q.Bins); err != nil {
			return refuse("{bins}: %w", err)
		}
	}
	if quantile != nil {
		if scores, err = evaluate.QuantileScores(scores, quantile); err != nil {
			return refuse("{task} %s: %w", q.Task, err)
		}
	}
	p, err := evaluate.New(scores, sensitivity, q.Monotonic)
	if err != nil {
		return refuse("%s: %w", q.Histogram, err)
	}
	e.problem, e.doc.Bins, e.doc.Items, e.doc.Classes = p, len(scores), &items, p.Classes()
	return nil
}

// quantile reads the task: the P of a quantile, nil for the mode.
func (q *Evaluate) quantile() (*big.Rat, error) {
	switch text, isQuantile := strings.CutPrefix(q.Task, "quantile:"); {
	case q.Task == "mode":
		return nil, nil
	case q.Task == "median":
		return big.NewRat(1, 2), nil
	case isQuantile:
		p, err := within("task", text, "", func(x *big.Rat) bool { return x.Sign() > 0 && x.Cmp(big.NewRat(1, 1)) < 0 })
		if err != nil {
			err = refuse("{task} %s: give a decimal or a fraction between 0 and 1 after quantile:, such as quantile:0.9", escape.Quoted(q.Task))
		}
		return p, err
	}
	return nil, refuse("{task} %s: give mode, median, quantile:P or scores%s", escape.Quoted(q.Task), DidYouMean(q.Task, Choices("task")))
}

// Answer answers it.
func (q *Evaluate) Answer(ctx context.Context, h *Host) (*Answer, error) {
	e, err := q.read(ctx, h)
	if err != nil {
		return nil, err
	}
	report, err := h.Begin(q.Task, number.Epsilon{})
	if err != nil {
		return nil, err
	}
	all := &Answer{List: len(e.eps) > 1}
	for i, eps := range e.eps {
		doc := e.doc
		doc.Eps, doc.ExpEps = Optional(eps.Eps), Optional(eps.Exp)
		at := &evaluating{evaluation: &e, ctx: ctx, doc: &doc, report: report}
		if eps != (Epsilon{}) {
			if at.at, err = eps.Parse(); err != nil {
				return nil, err
			}
		}
		if err := at.fill(); err != nil {
			return nil, err
		}
		last := ctx.Err() != nil && i+1 < len(e.eps)
		if last {
			doc.Undecided = fmt.Sprintf("%d of %d ε were answered; %s", i, len(e.eps), doc.Undecided)
		}
		all.Documents = append(all.Documents, &doc)
		if all.Undecided == "" {
			all.Undecided = doc.Undecided
		}
		if last {
			break
		}
	}
	return all, nil
}

// evaluating fills the document of one ε.
type evaluating struct {
	*evaluation
	ctx    context.Context
	doc    *document.Evaluate
	at     number.Epsilon // not set where only a target is asked for
	report func(format string, args ...any)
}

// number computes one number under the limits. Once these are reached, it is only known to be at least 0.
func (e *evaluating) number(m mechanisms.Mechanism, what string, compute func() (number.Number, error)) (number.Number, error) {
	unknown := func(why string) number.Number {
		if e.doc.Undecided == "" {
			e.doc.Undecided = fmt.Sprintf("%s of %s: %s", what, m.Info().Name, why)
		}
		return number.Bounds(new(big.Rat), nil)
	}
	if cause := context.Cause(e.ctx); cause != nil {
		return unknown(cause.Error()), nil
	}
	e.report("%s of %s", what, m.Info().Name)
	x, err := Settle(e.ctx, compute, unknown)
	return x, aboutMechanism(m, err)
}

func (e *evaluating) fill() error {
	pf, em := mechanisms.PermuteAndFlip(), mechanisms.Exponential()
	found := map[mechanisms.Mechanism]number.Number{}
	if e.at.IsSet() {
		for _, m := range append([]mechanisms.Mechanism{pf, em}, e.list...) {
			x, err := e.number(m, "the expected error", func() (number.Number, error) { return e.problem.ExpectedError(mechanisms.Within(e.ctx, m), e.at) })
			if err != nil {
				return err
			}
			found[m] = x
		}
		e.doc.Ratio = evaluate.Ratio(found[em], found[pf])
	}
	for _, m := range e.list {
		row := document.Evaluated{Name: m.Info().Name, ExpectedError: found[m]}
		if e.at.IsSet() {
			row.Ratio = number.Int(1)
			if m != pf {
				row.Ratio = evaluate.Ratio(found[m], found[pf])
			}
		}
		if err := e.reach(&row, m, found[pf]); err != nil {
			return err
		}
		e.doc.Mechanisms = append(e.doc.Mechanisms, row)
	}
	return nil
}

// reach finds the ε at which a mechanism has permute-and-flip's error, and the target error.
func (e *evaluating) reach(row *document.Evaluated, m mechanisms.Mechanism, pfError number.Number) (err error) {
	at := func(target number.Number) (number.Number, error) {
		return e.number(m, "the ε for an error", func() (number.Number, error) {
			return e.problem.Reaching(e.ctx, mechanisms.Within(e.ctx, m), target)
		})
	}
	if _, bounded := pfError.Upper(); m == mechanisms.PermuteAndFlip() && e.at.IsSet() {
		row.EquivalentEps = e.at.Number()
	} else if bounded || pfError.Method() != "" {
		if row.EquivalentEps, err = at(pfError); err != nil {
			return err
		}
	}
	if e.target != nil {
		x, err := at(number.Exact(e.target))
		row.TargetEps = &x
		return err
	}
	return nil
}
