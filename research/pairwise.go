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
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/pairwise"
)

type pairwiseFlags struct {
	command.Job
	epsilon               job.Epsilon
	scores, sensitivities string
}

func newPairwise(s command.Streams) *cobra.Command {
	f := pairwiseFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "pairwise --scores Q,… --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "Candidates of different sensitivities, each pair compared at its own scale",
		Long: `What the mechanism pairwise takes each candidate with, and the parameter at which it is proved to be ε-DP for these sensitivities:
up to 5 candidates, or up to 12 of two different sensitivities; for more it is half of ε. research/docs/unequal.md has the theorems.`,
		Example: "  research pairwise --scores 0,2,3 --sensitivities 1,1,4 --exp-eps 2",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.scores, "scores", "", "scores, comma-separated")
	fs.StringVar(&f.sensitivities, "sensitivities", "", "sensitivities, one for each score")
	command.AddFields(c, &f.epsilon, nil)
	f.Job.Add(c)
	return c
}

// pairwiseDoc is the JSON document of the mechanism's answer.
type pairwiseDoc struct {
	Eps       *string       `json:"eps"`
	ExpEps    *string       `json:"exp_eps"`
	Parameter number.Number `json:"parameter"`
	*mechanisms.Distribution
}

// Schema names the form of the JSON document.
func (pairwiseDoc) Schema() string { return "optratio.pairwise/1" }

func (f *pairwiseFlags) run(ctx context.Context) error {
	in, err := f.instance()
	if err != nil {
		return err
	}
	doc, err := job.Await(ctx, job.Grace, func() (*pairwiseDoc, error) {
		eps := pairwise.Parameter(in)
		a, err := mechanisms.Ask(pairwise.Mechanism{}, in)
		return &pairwiseDoc{document.Optional(f.epsilon.Eps), document.Optional(f.epsilon.Exp), eps.Number(), a}, err
	})
	if err != nil {
		return err
	}
	f.Show(doc, func(w io.Writer) { doc.print(w, in) })
	return nil
}

func (f *pairwiseFlags) instance() (in *mechanisms.Instance, err error) {
	in = &mechanisms.Instance{}
	if in.Epsilon, err = f.epsilon.Parse(); err != nil {
		return nil, err
	}
	any := func(*big.Rat) bool { return true }
	if in.Scores, err = parseList("scores", f.scores, "decimals", any); err != nil {
		return nil, err
	}
	if in.Sensitivities, err = parseList("sensitivities", f.sensitivities, "decimals", any); err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, command.Usagef("--scores, --sensitivities: %w", err)
	}
	return in, nil
}

func (d *pairwiseDoc) print(w io.Writer, in *mechanisms.Instance) {
	fmt.Fprintf(w, "parameter %s, expected error %s\n\n", d.Parameter, d.ExpectedError)
	t := decimal.Table(w, 3)
	fmt.Fprintln(t, "candidate\tscore\tprobability")
	for r, p := range d.PMF {
		fmt.Fprintf(t, "%d\t%s\t%s\n", r, exactText(in.Scores[r]), p)
	}
	t.Flush()
}
