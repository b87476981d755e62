package main

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
	"optratio/number"
	"optratio/research/coins"
)

type coinsFlags struct {
	command.Job
	epsilon   job.Epsilon
	histogram string
	median    bool
}

func newCoins(s command.Streams) *cobra.Command {
	f := coinsFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "coins --histogram FILE (--eps E | --exp-eps A/B)",
		Short: "How many coins permute-and-flip flips",
		Long: `The expected number of coins that permute-and-flip flips: so many scores it has to evaluate where the best one is
known in advance. Scores are those of the histogram's mode, or with --median of its median, each with sensitivity 1.`,
		Example: "  research coins --histogram testdata/spiky.csv --eps 0.1",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.histogram, "histogram", "", "file of counts, .npy or one per line, the last of two columns")
	fs.BoolVar(&f.median, "median", false, "select the median of the histogram, not its mode")
	command.AddFields(c, &f.epsilon, nil)
	f.Job.Add(c)
	return c
}

// coinsDoc is the JSON document of expected coins.
type coinsDoc struct {
	Candidates int           `json:"candidates"`
	Eps        *string       `json:"eps"`
	ExpEps     *string       `json:"exp_eps"`
	Coins      number.Number `json:"coins"`
}

// Schema names the form of the JSON document.
func (coinsDoc) Schema() string { return "optratio.coins/1" }

func (f *coinsFlags) run(ctx context.Context) error {
	eps, err := f.epsilon.Parse()
	if err != nil {
		return err
	}
	if f.histogram == "" {
		return command.Usagef("--histogram is missing: name a file of counts")
	}
	counts, err := (&job.Host{Open: command.Open}).ReadHistogram(ctx, f.histogram)
	if err != nil {
		return err
	}
	if _, err := evaluate.Total(counts); err != nil {
		return command.Usagef("%s: %w", f.histogram, err)
	}
	if f.median {
		if counts, err = evaluate.MedianScores(counts); err != nil {
			return command.Usagef("--median: %w", err)
		}
	}
	var scores []*big.Rat
	for _, q := range counts {
		scores = append(scores, new(big.Rat).SetInt64(q))
	}
	x, err := job.Await(ctx, job.Grace, func() (number.Number, error) { return coins.Expected(scores, big.NewRat(1, 1), eps) })
	if err != nil {
		return err
	}
	doc := coinsDoc{Candidates: len(scores), Eps: document.Optional(f.epsilon.Eps), ExpEps: document.Optional(f.epsilon.Exp), Coins: x}
	f.Show(doc, func(w io.Writer) {
		fmt.Fprintf(w, "pf flips %s coins in the mean: of %d scores so many are evaluated, if the best is known in advance\n", x, len(scores))
	})
	return nil
}
