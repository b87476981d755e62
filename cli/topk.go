package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newTopK(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.TopK](), certifies: true, plain: true}
	return a.command(s, &cobra.Command{
		Use:   "topk -n N -k K --top T (--eps E | --exp-eps A/B)",
		Short: "Choose the top T of n candidates: mechanisms against the best ε-DP choice",
		Long: `The least mean regret that any shift-invariant ε-DP choice of T of n candidates can have on the lattice of depth k
and steps of 2Δ, and how far mechanisms with the same budget of ε in all are from it. The regret of a set is the sum
of its candidates' distances below the best score minus the least such sum, in steps of 2Δ. The table
also says how private the sets, and the lists, of each mechanism really are on the lattice, and its ratio to the
optimum at that ε. The mechanisms:
  peel:NAME             take one candidate with NAME at ε/T, T times; peel:em is the same as Gumbel noise, once
  one-shot:exponential  add exponential noise once, and take the T largest
  joint:NAME            take one of all sets with NAME
  pairwise              compare every two sets at a scale of their own
  completed             as pairwise, but never draw again`,
		Example: `  optratio topk -n 4 -k 3 --top 2 --exp-eps 4
  optratio topk -n 4 -k 3 --top 2 --eps 1 --mechanism peel:pf,peel:krr --json`,
	})
}
