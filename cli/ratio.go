package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
)

func newRatio(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Ratio](), certifies: true, draws: true, help: map[string]string{
		"pmf-exec": "rate this program too, as subject: it states probabilities as for optratio audit",
		"pmf-file": `rate this table of probabilities too, as subject: a line {"scores":[0,-2],"pmf":[0.7,0.3]} for each score vector`,
	}}
	return a.command(s, &cobra.Command{
		Use:   "ratio -n N -k K (--eps E | --exp-eps A/B | --rho R)",
		Short: "How far mechanisms are from the best possible one, certified",
		Long: `The score of each of n candidates lies 0, 1, …, k steps of 2Δ below the best: these score vectors are the lattice. A
mechanism's error is how far below the best its choice lies, in steps of 2Δ, as a mean over all these score vectors.
The ratio compares it with a certified lower bound on what any shift-invariant ε-DP mechanism can have there.
--constraints, --loss, --objective, --prior, --worst and --step ask about other mechanisms, losses, means and
lattices.

--pmf-exec and --pmf-file rate your own mechanism beside the others, as subject. It is asked about every score vector;
if it looks only at differences of scores, these answers also tell how private it is. Several ε, separated by commas,
give one table (with --json an array).

--rho R compares the mechanisms with each other: each runs at the largest parameter at which it is R-zCDP on the
lattice, and the first named is 1. Equal ρ, not equal ε, is what counts where many choices are composed.`,
		Example: `  optratio -n 4 -k 4 --eps 0.5
  optratio -n 4 -k 4 --eps 0.1,0.5,1
  optratio -n 3 -k 3 --eps 1 --step delta --constraints dp --mechanism pf,geo
  optratio -n 4 -k 3 --rho 0.1 --mechanism pf,em,krr
  optratio -n 3 -k 2 --eps 1 --pmf-exec 'python3 examples/audit/em.py'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && strings.ContainsAny(args[0], "./") {
				return command.NoArgs(c, args)
			}
			if len(args) > 0 {
				if meant := map[string]string{"rate": "ratio", "choose": "recommend"}[args[0]]; meant != "" {
					return command.Usagef("there is no command %s; optratio %s does that", args[0], meant)
				}
				var names []string
				for _, other := range c.Root().Commands() {
					if !other.Hidden {
						names = append(names, other.Name())
					}
				}
				return command.Usagef("unknown command or argument %s; optratio --help lists the commands%s", escape.Quoted(args[0]), job.DidYouMean(args[0], names))
			}
			return nil
		},
	})
}
