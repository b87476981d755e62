package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newEvaluate(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Evaluate]()}
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
comma or a tab where it has two columns. A first line of names is skipped. Several ε, separated by commas, give
one table (with --json an array).`,
		Example: `  optratio evaluate --task mode --histogram testdata/spiky.csv --eps 0.05,0.1 --monotonic-scores
  optratio evaluate --task median --histogram testdata/spiky.npy --bins 256 --eps 0.01
  optratio evaluate --task quantile:0.9 --histogram testdata/spiky.npy --target-error 50`,
	})
}
