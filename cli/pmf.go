package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newPMF(s command.Streams) *cobra.Command {
	q := job.New[job.PMF]()
	q.Mechanism = "pf"
	a := asking{question: q}
	return a.command(s, &cobra.Command{
		Use:   "pmf --mechanism NAME,… --scores Q,… (--eps E | --exp-eps A/B)",
		Short: "The probability of each candidate, and the error, on given scores",
		Long: `The probability that a mechanism takes each candidate, its expected error q* - q and its mean squared error, in the
units of the scores. Exact rationals where they are rational, enclosures where a closed form gives them, marked
estimates otherwise.`,
		Example: `  optratio pmf --mechanism pf --scores 0,-1,-3 --eps 1
  optratio pmf --mechanism pf,em --scores testdata/scores.txt --eps 1 --digits 6
  optratio pmf --mechanism gem --scores 0,1,0.4 --sensitivities 1,0.5,2 --eps 0.5`,
	})
}
