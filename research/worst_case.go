package main

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/evaluate"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/worst"
)

type worstFlags struct {
	scoreFlags
	n                 int
	mechanism, target string
}

func newWorstCase(s command.Streams) *cobra.Command {
	f := worstFlags{scoreFlags: scoreFlags{Job: command.Job{Streams: s}}}
	c := &cobra.Command{
		Use:   "worst-case -n N (--eps E | --exp-eps A/B)",
		Short: "Expected errors of pf and em on the worst scores for each",
		Long: `The largest expected error of a mechanism over all scores of n candidates. It is that of scores (c, …, c, 0),
and the answer says how far below the best score that c is. --target-error also finds the ε at which the worst error is
the target. Errors are in the units of the scores.`,
		Example: "  research worst-case -n 10 --eps 1",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates")
	fs.StringVar(&f.mechanism, "mechanism", "pf,em", "mechanisms to rate: pf and em")
	fs.StringVar(&f.target, "target-error", "", "also find the ε at which each mechanism has this worst error")
	f.add(c)
	return c
}

// worstDoc is the JSON document of worst errors.
type worstDoc struct {
	N           int      `json:"n"`
	Eps         *string  `json:"eps"`
	ExpEps      *string  `json:"exp_eps"`
	Sensitivity string   `json:"sensitivity"`
	Mechanisms  []worsts `json:"mechanisms"`
}

type worsts struct {
	Name      string         `json:"name"`
	Error     number.Number  `json:"worst_error"`
	Gap       number.Number  `json:"gap"`   // of the others' scores to the best one
	Ratio     number.Number  `json:"ratio"` // to permute-and-flip's
	TargetEps *number.Number `json:"target_eps,omitempty"`
}

// Schema names the form of the JSON document.
func (worstDoc) Schema() string { return "optratio.worst-case/1" }

func (f *worstFlags) run(ctx context.Context) error {
	eps, sensitivity, err := f.parse()
	if err != nil {
		return err
	}
	names, err := job.SplitNames("mechanism", f.mechanism)
	if err != nil {
		return err
	}
	var target *big.Rat
	if f.target != "" {
		if target, err = job.Positive("target-error", f.target); err != nil {
			return err
		}
	}
	if f.n < 1 {
		return command.Usagef("-n is missing or 0: give the number of candidates, at least 1")
	}
	w, err := worst.New(f.n, sensitivity)
	if err != nil {
		return err
	}
	doc, err := job.Await(ctx, job.Grace, func() (*worstDoc, error) {
		flip, _, err := w.Worst(mechanisms.PermuteAndFlip(), eps)
		if err != nil {
			return nil, err
		}
		doc := &worstDoc{N: f.n, Eps: job.Optional(f.epsilon.Eps), ExpEps: job.Optional(f.epsilon.Exp), Sensitivity: f.sensitivity}
		for _, name := range names {
			row, err := rateWorst(w, name, eps, flip, target)
			if err != nil {
				return nil, command.Usagef("--mechanism %s: %w", name, err)
			}
			doc.Mechanisms = append(doc.Mechanisms, row)
		}
		return doc, nil
	})
	if err != nil {
		return err
	}
	f.Show(doc, func(w io.Writer) { doc.print(w, f.target) })
	return nil
}

// rateWorst is one mechanism's line, beside permute-and-flip's worst error; target may be nil.
func rateWorst(w *worst.Case, name string, eps number.Epsilon, flip number.Number, target *big.Rat) (row worsts, err error) {
	m, err := mechanisms.Lookup(name)
	if err != nil {
		return row, err
	}
	row.Name = m.Info().Name
	if row.Error, row.Gap, err = w.Worst(m, eps); err != nil {
		return row, err
	}
	if row.Ratio = number.Int(1); m != mechanisms.PermuteAndFlip() {
		row.Ratio = evaluate.Ratio(row.Error, flip)
	}
	if target != nil {
		x, err := w.Reaching(m, number.Exact(target))
		row.TargetEps = &x
		return row, err
	}
	return row, nil
}

func (d *worstDoc) print(w io.Writer, target string) {
	fmt.Fprintf(w, "%d candidates, Δ = %s\n\n", d.N, d.Sensitivity)
	t := decimal.Table(w, 3)
	fmt.Fprint(t, "mechanism\tworst error\ttimes pf's\tothers are below the best by")
	if target != "" {
		fmt.Fprintf(t, "\tε for the error %s", target)
	}
	fmt.Fprintln(t)
	for _, m := range d.Mechanisms {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s", m.Name, m.Error, m.Ratio, m.Gap)
		if m.TargetEps != nil {
			fmt.Fprintf(t, "\t%s", *m.TargetEps)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
