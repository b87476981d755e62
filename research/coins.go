package main

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/evaluate"
	"optratio/internal/job"
	"optratio/number"
	"optratio/research/coins"
)

type coinsFlags struct {
	scoreFlags
	histogram, scores string
	median            bool
}

func newCoins(s command.Streams) *cobra.Command {
	f := coinsFlags{scoreFlags: scoreFlags{Job: command.Job{Streams: s}}}
	c := &cobra.Command{
		Use:   "coins (--histogram FILE | --scores Q,…) (--eps E | --exp-eps A/B)",
		Short: "How many coins permute-and-flip flips in the mean",
		Long: `The expected number of coins that permute-and-flip flips: so many scores it has to evaluate where the best one is
known in advance. --histogram reads counts as optratio evaluate does, and takes the mode's scores, or with --median the median's.`,
		Example: "  research coins --histogram testdata/spiky.csv --eps 0.1\n  research coins --scores 0,-1,-3 --exp-eps 2",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.histogram, "histogram", "", "file of counts, .npy or one a line, the last of two columns")
	fs.StringVar(&f.scores, "scores", "", "scores, comma-separated")
	fs.BoolVar(&f.median, "median", false, "select the median of the histogram, not its mode")
	f.add(c)
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

func (f *coinsFlags) list(ctx context.Context) (scores []*big.Rat, err error) {
	switch {
	case (f.histogram == "") == (f.scores == ""):
		return nil, command.Usagef("--histogram or --scores: give one of them")
	case f.scores != "":
		return parseList("scores", f.scores, "decimals", func(*big.Rat) bool { return true })
	case f.median && f.monotonic:
		return nil, command.Usagef("--monotonic-scores: one more item raises some scores of a median and lowers others; leave it out")
	}
	counts, err := (&job.Host{Open: command.Open}).ReadHistogram(ctx, f.histogram)
	if err != nil {
		return nil, err
	}
	if _, err := evaluate.Total(counts); err != nil {
		return nil, command.Usagef("%s: %w", f.histogram, err)
	}
	if f.median {
		if counts, err = evaluate.MedianScores(counts); err != nil {
			return nil, command.Usagef("--median: %w", err)
		}
	}
	for _, q := range counts {
		scores = append(scores, new(big.Rat).SetInt64(q))
	}
	return scores, nil
}

func (f *coinsFlags) run(ctx context.Context) error {
	eps, sensitivity, err := f.parse()
	if err != nil {
		return err
	}
	scores, err := f.list(ctx)
	if err != nil {
		return err
	}
	x, err := job.Await(ctx, job.Grace, func() (number.Number, error) { return coins.Expected(scores, sensitivity, eps) })
	if err != nil {
		return err
	}
	doc := coinsDoc{Candidates: len(scores), Eps: job.Optional(f.epsilon.Eps), ExpEps: job.Optional(f.epsilon.Exp), Coins: x}
	f.Show(doc, func(w io.Writer) {
		fmt.Fprintf(w, "pf flips %s coins in the mean: of %d scores so many are evaluated, if the best is known in advance\n", x, len(scores))
	})
	return nil
}
