package main

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/evaluate"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/worst"
)

type worstFlags struct {
	command.Job
	epsilon job.Epsilon
	n       int
}

func newWorstCase(s command.Streams) *cobra.Command {
	f := worstFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "worst-case -n N (--eps E | --exp-eps A/B)",
		Short: "Expected errors of pf and em on the worst scores for each",
		Long: `The largest expected error of a mechanism over all scores of n candidates, in units of their sensitivity. It is that of scores
(c, …, c, 0), and the answer says how far below the best score that c is.`,
		Example: "  research worst-case -n 10 --eps 1",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	command.CountVar(c.Flags(), &f.n, "n", "n", 0, "number of candidates")
	command.AddFields(c, &f.epsilon, nil)
	f.Job.Add(c)
	return c
}

// worstDoc is the JSON document of worst errors.
type worstDoc struct {
	N          int      `json:"n"`
	Eps        *string  `json:"eps"`
	ExpEps     *string  `json:"exp_eps"`
	Mechanisms []worsts `json:"mechanisms"`
}

type worsts struct {
	Name  string        `json:"name"`
	Error number.Number `json:"worst_error"`
	Gap   number.Number `json:"gap"`   // of the others' scores to the best one
	Ratio number.Number `json:"ratio"` // to permute-and-flip's
}

// Schema names the form of the JSON document.
func (worstDoc) Schema() string { return "optratio.worst-case/1" }

func (f *worstFlags) run(ctx context.Context) error {
	eps, err := f.epsilon.Parse()
	if err != nil {
		return err
	}
	if f.n < 1 {
		return command.Usagef("-n is missing or 0: give the number of candidates, at least 1")
	}
	w, err := worst.New(f.n, big.NewRat(1, 1))
	if err != nil {
		return err
	}
	doc, err := job.Await(ctx, job.Grace, func() (*worstDoc, error) {
		doc := &worstDoc{N: f.n, Eps: document.Optional(f.epsilon.Eps), ExpEps: document.Optional(f.epsilon.Exp)}
		for _, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()} {
			row := worsts{Name: m.Info().Name, Ratio: number.Int(1)}
			if row.Error, row.Gap, err = w.Worst(m, eps); err != nil {
				return nil, err
			}
			if len(doc.Mechanisms) > 0 {
				row.Ratio = evaluate.Ratio(row.Error, doc.Mechanisms[0].Error)
			}
			doc.Mechanisms = append(doc.Mechanisms, row)
		}
		return doc, nil
	})
	if err != nil {
		return err
	}
	f.Show(doc, doc.print)
	return nil
}

func (d *worstDoc) print(w io.Writer) {
	fmt.Fprintf(w, "%d candidates, Δ = 1\n\n", d.N)
	t := decimal.Table(w, 3)
	fmt.Fprintln(t, "mechanism\tworst error\ttimes pf's\tothers are below the best by")
	for _, m := range d.Mechanisms {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Error, m.Ratio, m.Gap)
	}
	t.Flush()
}
