package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newVerify(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Verify](), help: map[string]string{
		"property":  "which properties decide the exit code, by name (default dp; symmetry, shift, monotone, sum and dominates-em are listed too, as facts)",
		"neighbors": "on the lattice linf, or worst (only the worst neighbors, which suffices for mechanisms that were proved regular); with --domain FILE linf or monotonic",
	}}
	c := &cobra.Command{
		Use:   "verify --mechanism NAME -n N -k K (--eps E | --exp-eps A/B)",
		Short: "Decide exactly which properties a mechanism of the library has",
		Long: `Is the mechanism ε-DP, symmetric, shift-invariant, monotone, and never worse than the exponential mechanism? verify
looks at every score vector of n candidates on the lattice (best score 0, in steps of 2Δ down to -2Δk), and at all
pairs of neighbors among them. The exit code is about the properties that --property names (dp by default); the others
are facts. The answer says how private the mechanism is (tight ε, with the pair that attains it), and shows the
smallest witness of what fails. Other properties: bounded-range, dominates-em-mean, rdp, zcdp. --rho R decides R-zCDP,
--range R bounded range R (by default ε), and --delta D decides (ε,D)-DP in place of ε-DP and says which δ would do.
rdp is about the Rényi divergences of orders 2 to 32, which are to be finite; --order 1.5,2,inf --claimed 0.1,0.2,1
decides whether that of each order is at most the number claimed of it. --profile lists them, and the least δ at
several ε.

With --domain real theorems answer for all real scores and all their neighbors: about dp, rdp, zcdp and the profile of
em, pf, geo and, but for zcdp, krr with -n candidates.

With --domain FILE (score vectors, one per line, comma-separated or JSON arrays) it does the same for these vectors
and their neighbors: every score moves by up to its sensitivity up or down (--neighbors linf), or all one way
(monotonic). --neighbors monotonic leaves the mechanism as it is: it is ε/2-DP then if it is ε-DP and shift-invariant.
--monotonic-scores takes the same neighbors, on the lattice in steps of Δ, and runs it with 2Δ replaced by Δ.`,
		Example: `  optratio verify --mechanism pf -n 4 -k 3 --exp-eps 3/2
  optratio verify --mechanism geo -n 3 -k 2 --step delta --exp-eps 3/2
  optratio verify --mechanism krr -n 3 -k 2 --eps 0.5 --property dp,bounded-range
  optratio verify --mechanism em -n 3 -k 2 --eps 1 --rho 0.125 --range 1
  optratio verify --mechanism em -n 3 -k 2 --eps 0.8 --delta 1e-3
  optratio verify --mechanism em -n 2 -k 4 --eps 1 --property rdp --order 2,8 --claimed 0.2273,0.4324
  optratio verify --mechanism rnmh --domain scores.txt --sensitivities 0,1 --eps 1 --property dp`,
	}
	return a.judge(s, c, false)
}
