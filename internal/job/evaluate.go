package job

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number"
)

// Evaluate asks for the errors of mechanisms on a histogram, or on given scores. Several ε, separated by commas, have a list of answers.
type Evaluate struct {
	Task      string `json:"task" help:"mode, median, quantile:P or scores"`
	Histogram string `json:"histogram" help:"file of counts: .npy, or one count per line, after a name and a comma or alone"`
	Epsilon
	Mechanism   string `json:"mechanism" default:"pf,em" help:"mechanisms to rate, by name"`
	Scores      string `json:"scores" help:"scores, comma-separated, or a file with one per line"`
	Bins        int    `json:"bins" help:"add up adjacent bins until this many remain; it divides their number (default: all)"`
	Sensitivity string `json:"sensitivity" default:"1" help:"sensitivity Δ of the scores"`
	OneWay
	Target string `json:"target-error" help:"also find the ε at which each mechanism has this expected error; {eps} is optional then"`
}

// evaluation is a question that was read, and the document of one ε.
type evaluation struct {
	*reading
	problem  *evaluate.Problem
	ofCounts *evaluate.Problem // the same of counts, whose neighbors may move all one way; nil for others
	list     []mechanisms.Mechanism
	target   *big.Rat       // nil for none
	at       number.Epsilon // not set where only a target is asked for
	doc      document.Evaluate
}

func (q *Evaluate) answer(in *reading) *Answer {
	e := evaluation{reading: in}
	q.Epsilon.list()
	if q.Eps != "" && q.Exp != "" || q.Epsilon == (Epsilon{}) && q.Target == "" {
		q.Epsilon.field()
	}
	e.list = must(FindMechanisms(q.Mechanism, mechanisms.Lookup))
	sensitivity := positive("sensitivity", q.Sensitivity)
	if q.Target != "" {
		e.target = positive("target-error", q.Target)
	}
	if q.Monotonic {
		oneWay(e.list, sensitivity)
	}
	e.doc = document.Evaluate{Task: q.Task, Sensitivity: q.Sensitivity, Monotonic: q.Monotonic, TargetError: document.Optional(q.Target), Unit: "units of the scores"}
	refuse(q.Task == "worst-case", "{task} worst-case moved to bin/research worst-case: make research")
	if q.Task == "scores" {
		q.ownScores(in, &e, sensitivity)
	} else {
		q.histogram(in, &e, sensitivity)
	}
	in.begin(q.Task, number.Epsilon{})
	return in.atEach(q.Epsilon, func(eps Epsilon) *Answer {
		each := e
		if each.doc.AtEpsilon = document.At(eps.Eps, eps.Exp); eps != (Epsilon{}) {
			each.at = eps.value()
		}
		each.fill()
		return answered(&each.doc, each.doc.Undecided, nil)
	})
}

func (q *Evaluate) ownScores(in *reading, e *evaluation, sensitivity *big.Rat) {
	refuse(q.Scores == "" || q.Histogram != "" || q.Bins != 0, "{task} scores takes {scores}, a list or a file, and neither {histogram} nor {bins}")
	scores := in.numbers("scores", q.Scores)
	p, err := Await(in.ctx, Grace, func() (*evaluate.Problem, error) { return evaluate.NewRational(scores, sensitivity, q.Monotonic) })
	if cause := context.Cause(in.ctx); cause != nil && p == nil {
		throw(cause)
	}
	refuse(err != nil, "{scores} %s: %w", escape.Quoted(q.Scores), err)
	e.problem, e.doc.Bins, e.doc.Classes = p, len(scores), p.Classes()
}

// histogram reads a histogram and makes the scores of the task from it.
func (q *Evaluate) histogram(in *reading, e *evaluation, sensitivity *big.Rat) {
	quantile := q.quantile()
	refuse(quantile != nil && q.Monotonic, "{monotonic-scores}: one more item raises some scores of a quantile and lowers others; leave it out")
	refuse(q.Histogram == "", "{task} %s: the histogram is missing: give {histogram} FILE", q.Task)
	refuse(q.Scores != "", "{task} %s takes {histogram}, not {scores}: leave that out", q.Task)
	scores := in.histogram(q.Histogram)
	items, err := evaluate.Total(scores)
	refuse(err != nil, "%s: %w", q.Histogram, err)
	if q.Bins != 0 {
		scores, err = evaluate.Fold(scores, q.Bins)
		refuse(err != nil, "{bins}: %w", err)
	}
	if quantile != nil {
		scores, err = evaluate.QuantileScores(scores, quantile)
		refuse(err != nil, "{task} %s: %w", q.Task, err)
	}
	p, err := evaluate.New(scores, sensitivity, q.Monotonic)
	refuse(err != nil, "%s: %w", q.Histogram, err)
	e.problem, e.doc.Bins, e.doc.Items, e.doc.Classes = p, len(scores), &items, p.Classes()
	if quantile == nil || quantile.Cmp(big.NewRat(1, 2)) == 0 {
		e.doc.Unit = "items"
	}
	if quantile == nil && !q.Monotonic {
		e.ofCounts = p.OneWay()
	}
}

// quantile reads the task: the P of a quantile, nil for the mode.
func (q *Evaluate) quantile() *big.Rat {
	switch text, isQuantile := strings.CutPrefix(q.Task, "quantile:"); {
	case q.Task == "mode":
		return nil
	case q.Task == "median":
		return big.NewRat(1, 2)
	case isQuantile:
		p, err := decimal.ParseNumber(text)
		refuse(err != nil || p.Sign() <= 0 || p.Cmp(one) >= 0, "{task} %s: give a decimal or a fraction between 0 and 1 after quantile:, such as quantile:0.9", escape.Quoted(q.Task))
		return p
	}
	throw(refusal("{task} %s: give mode, median, quantile:P or scores%s", escape.Quoted(q.Task), DidYouMean(q.Task, Choices("task"))))
	return nil
}

// number computes one number under the limits. Once these are reached, it is only known to be at least 0.
func (e *evaluation) number(m mechanisms.Mechanism, what string, compute func(mechanisms.Mechanism) (number.Number, error)) number.Number {
	unknown := func(why string) number.Number {
		e.doc.Undecided = cmp.Or(e.doc.Undecided, fmt.Sprintf("%s of %s: %s", what, m.Info().Name, why))
		return number.Bounds(new(big.Rat), nil)
	}
	if cause := context.Cause(e.ctx); cause != nil {
		return unknown(cause.Error())
	}
	e.report("%s of %s", what, m.Info().Name)
	x, err := Settle(e.ctx, func() (number.Number, error) { return compute(mechanisms.Within(e.ctx, m)) }, unknown)
	throw(aboutMechanism(m, err))
	return x
}

func (e *evaluation) fill() {
	pf, em := mechanisms.PermuteAndFlip(), mechanisms.Exponential()
	found, given := map[mechanisms.Mechanism]number.Number{}, e.at.Check() == nil
	if given {
		for _, m := range append([]mechanisms.Mechanism{pf, em}, e.list...) {
			if _, known := found[m]; !known {
				found[m] = e.number(m, "the expected error", func(m mechanisms.Mechanism) (number.Number, error) { return e.problem.ExpectedError(m, e.at) })
			}
		}
		e.doc.Ratio = evaluate.Ratio(found[em], found[pf])
	}
	_, bounded := found[pf].Upper()
	for _, m := range e.list {
		row := document.Evaluated{Name: m.Info().Name, ExpectedError: found[m]}
		switch {
		case m == pf && given:
			row.Ratio, row.EquivalentEps = number.Int(1), e.at.Number()
		case given:
			row.Ratio = evaluate.Ratio(found[m], found[pf])
			if bounded || found[pf].Method() != "" {
				row.EquivalentEps = e.reach(m, found[pf])
			}
		}
		if _, err := mechanisms.MonotonicSensitivities(m, []*big.Rat{one}); e.ofCounts != nil && err == nil && given {
			row.OneWayError = new(e.number(m, "the error with monotonic scores", func(m mechanisms.Mechanism) (number.Number, error) { return e.ofCounts.ExpectedError(m, e.at) }))
		}
		if e.target != nil {
			row.TargetEps = new(e.reach(m, number.Exact(e.target)))
		}
		e.doc.Mechanisms = append(e.doc.Mechanisms, row)
	}
}

// reach finds the ε at which a mechanism has an error.
func (e *evaluation) reach(m mechanisms.Mechanism, target number.Number) number.Number {
	return e.number(m, "the ε for an error", func(m mechanisms.Mechanism) (number.Number, error) { return e.problem.Reaching(e.ctx, m, target) })
}
