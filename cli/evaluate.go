package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
)

func newEvaluate(s command.Streams) *cobra.Command {
	a := asking{question: job.NewEvaluate(), print: printEvaluation}
	return a.command(s, &cobra.Command{
		Use:   "evaluate --task mode|median|quantile:P|scores (--histogram FILE | --scores Q,…) --eps E",
		Short: "Errors of mechanisms on a histogram's mode or quantiles, or on your scores",
		Long: `The expected errors of mechanisms that select a bin of a histogram, how many times permute-and-flip's error each
has, and the ε at which it reaches permute-and-flip's error, or --target-error. Errors are in units of the scores.

Scores of a bin r with count x_r, where N is the number of items, A_r how many are in bins up
to r, and B_r = A_r - x_r:
  mode        x_r. Sensitivity 1. Where neighbors only add items, all scores move one way:
              --monotonic-scores.
  median      -max(0, N - 2A_r, 2B_r - N + 1): minus the number of items to add or remove
              before r is the median. Sensitivity 1; not monotonic.
  quantile:P  for P = a/b the same for the bin with B_r < P·N <= A_r:
              -⌈max(0, aN - bA_r, bB_r - aN + 1)/max(a, b-a)⌉. Sensitivity 1; not
              monotonic; quantile:1/2 is the median.
  scores      --scores, a list or a file with one score a line.
Neighbors add or remove one item. Where one item moves to another bin instead, the
sensitivity is 1 for the mode, whose scores are not monotonic then, and 2 for quantiles.

A histogram is a .npy file of one dimension, or a text file with one count a line, after the name of its bin and a
comma or a tab where it has two columns; a first line of names is passed over. Several ε, separated by commas, give
one table (with --json an array).`,
		Example: `  optratio evaluate --task mode --histogram testdata/spiky.csv --eps 0.05,0.1 --monotonic-scores
  optratio evaluate --task median --histogram testdata/spiky.npy --bins 256 --eps 0.01
  optratio evaluate --task quantile:0.9 --histogram testdata/spiky.npy --target-error 50`,
	})
}

// printEvaluation writes the table for people.
func printEvaluation(w io.Writer, found *job.Answer) {
	d := found.Documents[0].(*document.Evaluate)
	fmt.Fprintf(w, "task %s, ", d.Task)
	switch {
	case d.Items == nil:
		fmt.Fprintf(w, "%d candidates with %d different scores", d.Bins, d.Classes)
	default:
		fmt.Fprintf(w, "%d bins with %d items and %d different scores", d.Bins, *d.Items, d.Classes)
	}
	fmt.Fprintf(w, ", Δ = %s%s\n", d.Sensitivity, job.Choose(d.Monotonic, ", monotonic scores", ""))
	t := decimal.Table(w, 3)
	if symbol, _ := d.Given(); symbol != "" {
		fmt.Fprintln(w)
		oneWay := slices.ContainsFunc(d.Mechanisms, func(m document.Evaluated) bool { return m.OneWayError != nil })
		fmt.Fprintf(t, "%s\tmechanism\texpected error (%s)\ttimes pf's\tε for pf's error%s\n", symbol, d.Unit, job.Choose(oneWay, "\terror with --monotonic-scores", ""))
		for _, each := range found.Documents {
			d := each.(*document.Evaluate)
			_, eps := d.Given()
			for _, m := range d.Mechanisms {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s", eps, m.Name, m.ExpectedError, m.Ratio, m.EquivalentEps)
				if m.OneWayError != nil {
					fmt.Fprintf(t, "\t%s", *m.OneWayError)
				}
				fmt.Fprintln(t)
			}
		}
		t.Flush()
		if oneWay {
			fmt.Fprintln(w, "\nscores of counts are monotonic where neighbors add or remove an item: --monotonic-scores then gives the errors of the last column, at the same ε")
		}
	}
	if d.TargetError != nil {
		fmt.Fprintln(w)
		fmt.Fprintf(t, "mechanism\tε for the error %s (%s)\n", *d.TargetError, d.Unit)
		for _, m := range d.Mechanisms {
			fmt.Fprintf(t, "%s\t%s\n", m.Name, *m.TargetEps)
		}
	}
	t.Flush()
}
