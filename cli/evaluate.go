package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/evaluate"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
)

// evaluateFlags are the flags of the evaluate command.
type evaluateFlags struct {
	command.Job
	epsilon                 job.Epsilon
	task, histogram, scores string
	bins                    int
	mechanism, sensitivity  string
	monotonic               bool
	target                  string
}

func newEvaluate(s command.Streams) *cobra.Command {
	f := evaluateFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "evaluate --task mode|median|quantile:P|scores (--histogram FILE | --scores Q,…) --eps E",
		Short: "Expected errors of mechanisms on a histogram's mode or quantiles, or on your scores",
		Long: `Expected errors of mechanisms that select a bin of a histogram, how many times more the
exponential mechanism errs than permute-and-flip, and the ε at which each mechanism reaches
permute-and-flip's error, or --target-error.

Scores of a bin r with count x_r, where N is the number of items, A_r how many are in bins up
to r, and B_r = A_r - x_r:
  mode        x_r. Sensitivity 1, and with --monotonic-scores neighbors only add items.
  median      -max(0, N - 2A_r, 2B_r - N + 1): minus the number of items to add or remove
              before r is the median. Sensitivity 1; not monotonic.
  quantile:P  for P = a/b the same for the bin with B_r < P·N <= A_r:
              -⌈max(0, aN - bA_r, bB_r - aN + 1)/max(a, b-a)⌉. Sensitivity 1; not
              monotonic; quantile:1/2 is the median.
  scores      --scores, a list or a file with one score a line.
Neighbors add or remove one item. Where one item moves to another bin instead, the
sensitivity is 1 for the mode, whose scores are not monotonic then, and 2 for quantiles.

A histogram is a .npy file of one dimension, or a text file with one count a line, after
the name of its bin and a comma or a tab where it has two columns; a first line of names is passed over. Errors are
in units of the scores. Several ε, separated by commas, give one table (with --json an array).`,
		Example: `  optratio evaluate --task mode --histogram testdata/spiky.csv --eps 0.05,0.1 --monotonic-scores
  optratio evaluate --task median --histogram testdata/spiky.npy --bins 256 --eps 0.01
  optratio evaluate --task quantile:0.9 --histogram testdata/spiky.npy --target-error 50`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	command.AddEpsilon(c, &f.epsilon)
	fs := c.Flags()
	fs.StringVar(&f.task, "task", "", "mode, median, quantile:P or scores")
	fs.StringVar(&f.histogram, "histogram", "", "file of counts, .npy or one a line, the last of two columns")
	fs.StringVar(&f.scores, "scores", "", "scores, comma-separated, or a file with one a line")
	command.CountVar(fs, &f.bins, "bins", "", 0, "sum adjacent bins so that so many remain, a divisor of those there are (default: all)")
	fs.StringP("n", "n", "", "")
	fs.Lookup("n").Hidden = true
	fs.StringVar(&f.mechanism, "mechanism", "pf,em", "mechanisms to rate, by name")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ of the scores")
	fs.StringVar(&f.target, "target-error", "", "also find the ε at which each mechanism has this expected error; --eps may be left out then")
	addMonotonic(c, &f.monotonic)
	f.Job.Add(c)
	return c
}

// evaluateInput is what the flags say, checked.
type evaluateInput struct {
	question *evaluate.Problem
	list     []mechanisms.Mechanism
	target   *big.Rat // nil for none
	eps      []string // one by one; one empty text for none
}

func (f *evaluateFlags) run(ctx context.Context) error {
	in, doc, err := f.parse(ctx)
	if err != nil {
		return err
	}
	report, done := command.Progress(f.Streams, f.task)
	defer done()
	to := &f.epsilon.Eps
	if f.epsilon.Exp != "" {
		to = &f.epsilon.Exp
	}
	var docs []*document.Evaluate
	for i, text := range in.eps {
		*to = text
		d := *doc
		e := &evaluation{ctx: ctx, in: in, doc: &d, report: report}
		if d.Eps, d.ExpEps = command.Optional(f.epsilon.Eps), command.Optional(f.epsilon.Exp); text != "" {
			if e.eps, err = f.epsilon.Parse(); err != nil {
				return err
			}
		}
		if err := e.fill(); err != nil {
			return err
		}
		if docs = append(docs, &d); ctx.Err() != nil && i+1 < len(in.eps) {
			d.Undecided = fmt.Sprintf("%d of %d ε were answered; %s", i, len(in.eps), d.Undecided)
			break
		}
	}
	done()
	print := func(w io.Writer) { printEvaluation(w, docs) }
	if len(in.eps) == 1 {
		f.Show(docs[0], print)
	} else {
		command.ShowAll(&f.Job, docs, print)
	}
	for _, d := range docs {
		if err := command.Ending(ctx, d.Undecided); err != nil {
			return err
		}
	}
	return nil
}

// evaluation fills the document of one ε.
type evaluation struct {
	ctx    context.Context
	in     *evaluateInput
	doc    *document.Evaluate
	eps    number.Epsilon // not set where only --target-error is asked for
	report func(format string, args ...any)
}

// number computes one number under the limits. Once these are reached, it is only known to be at least 0.
func (e *evaluation) number(m mechanisms.Mechanism, what string, compute func() (number.Number, error)) (number.Number, error) {
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
	x, err := job.Settle(e.ctx, compute, unknown)
	if err != nil {
		err = fmt.Errorf("--mechanism %s: %w", m.Info().Name, err)
	}
	return x, err
}

func (e *evaluation) fill() error {
	pf, em := mechanisms.PermuteAndFlip(), mechanisms.Exponential()
	found := map[mechanisms.Mechanism]number.Number{}
	if e.eps.IsSet() {
		for _, m := range append([]mechanisms.Mechanism{pf, em}, e.in.list...) {
			x, err := e.number(m, "the expected error", func() (number.Number, error) { return e.in.question.ExpectedError(mechanisms.Within(e.ctx, m), e.eps) })
			if err != nil {
				return err
			}
			found[m] = x
		}
		e.doc.Ratio = evaluate.Ratio(found[em], found[pf])
	}
	for _, m := range e.in.list {
		row := document.Evaluated{Name: m.Info().Name, ExpectedError: found[m]}
		if e.eps.IsSet() {
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
func (e *evaluation) reach(row *document.Evaluated, m mechanisms.Mechanism, pfError number.Number) (err error) {
	at := func(target number.Number) (number.Number, error) {
		return e.number(m, "the ε for an error", func() (number.Number, error) {
			return e.in.question.Reaching(e.ctx, mechanisms.Within(e.ctx, m), target)
		})
	}
	if _, bounded := pfError.Upper(); m == mechanisms.PermuteAndFlip() && e.eps.IsSet() {
		row.EquivalentEps = e.eps.Number()
	} else if bounded || pfError.Method() != "" {
		if row.EquivalentEps, err = at(pfError); err != nil {
			return err
		}
	}
	if e.in.target != nil {
		x, err := at(number.Exact(e.in.target))
		row.TargetEps = &x
		return err
	}
	return nil
}

// printEvaluation writes the table for people.
func printEvaluation(w io.Writer, docs []*document.Evaluate) {
	d := docs[0]
	fmt.Fprintf(w, "task %s, ", d.Task)
	switch {
	case d.Items == nil:
		fmt.Fprintf(w, "%d candidates with %d different scores", d.Bins, d.Classes)
	default:
		fmt.Fprintf(w, "%d bins with %d items and %d different scores", d.Bins, *d.Items, d.Classes)
	}
	fmt.Fprintf(w, ", Δ = %s%s\n", d.Sensitivity, command.Choose(d.Monotonic, ", monotonic scores", ""))
	t := command.Table(w, 3)
	if d.Eps != nil || d.ExpEps != nil {
		fmt.Fprintln(w)
		fmt.Fprintf(t, "%s\tmechanism\texpected error\ttimes pf's\tε for pf's error\n", command.Choose(d.Eps != nil, "ε", "e^ε"))
		for _, d := range docs {
			for _, m := range d.Mechanisms {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", given(d.Eps, d.ExpEps), m.Name, m.ExpectedError, m.Ratio, m.EquivalentEps)
			}
		}
		t.Flush()
	}
	if d.TargetError != nil {
		fmt.Fprintln(w)
		fmt.Fprintf(t, "mechanism\tε for the error %s\n", *d.TargetError)
		for _, m := range d.Mechanisms {
			fmt.Fprintf(t, "%s\t%s\n", m.Name, *m.TargetEps)
		}
	}
	t.Flush()
}
