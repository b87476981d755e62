package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newStopping(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Stopping](), certifies: true, draws: true, plain: true}
	return a.command(s, &cobra.Command{
		Use:   "stopping -n N",
		Short: "Private optimal stopping: the best private rule, and the secretary rule beside it",
		Long: `The secretary problem with n candidates under differential privacy. Neighboring preference orders swap two candidates
at most l places apart. With --eps, stopping finds the best rule that is (ε, δ)-private, with a certificate, and says
how far from it the best p-mix of the secretary rule and the blind choice is. With or without --eps it says how often
the p-mix of the secretary rule, which is optimal without privacy, takes the best, the second best and so on, and how
private that is: its least ε at --delta, and its least δ at --eps.`,
		Example: `  optratio stopping -n 8
  optratio stopping -n 30 -l 3 --p 0.5 --eps 1
  optratio stopping -n 30 --eps 0.5 --rule`,
	})
}
