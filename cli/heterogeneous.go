package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newHeterogeneous(s command.Streams) *cobra.Command {
	a := &asking{
		question: job.New[job.Heterogeneous](), certifies: true, draws: true, plain: true,
		help: map[string]string{"mechanism": "mechanisms to rate, by name; NAME:M is NAME on the M least sensitive candidates, see optratio mechanisms --help (default " + strings.ReplaceAll(job.RatedByDefault, ",", ", ") + ", and geo-pair:M for every M below n)"},
	}
	return a.command(s, &cobra.Command{
		Use:   "heterogeneous --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "The ratio to the best mechanism where candidates have unequal sensitivities, on a small grid",
		Long: `The least error that any ε-DP mechanism can have on a grid of score vectors where each candidate has its own
sensitivity, how far given mechanisms are from it, and whether they are ε-DP on the grid. Errors are in the units of
the scores. With --shift-invariant the best mechanism may look at differences
of scores only, as all mechanisms of the library do.`,
		Example: `  optratio heterogeneous --sensitivities 1,2 --grid 0:4 --exp-eps 2
  optratio heterogeneous --sensitivities 1,2,4 --shift-invariant --eps 0.5 --mechanism gem,krr --json`,
	})
}
