package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newRecommend(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Recommend]()}
	return a.command(s, &cobra.Command{
		Use:   "recommend --scores Q,… --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "Which mechanism to take for scores like these, by its error",
		Long: `The expected error of each mechanism: how far below the best score its choice lies on average, least first, and the
mean squared one (--by mse ranks by that). Mechanisms that do not claim ε-DP for all sensitivities stand apart below, as
do mechanisms of your own, whose claim is not proved here; none of these is recommended. Give typical scores, not the
private ones: a choice that looks at private scores is itself not private.`,
		Example: `  optratio recommend --scores 8,6,5 --eps 1
  optratio recommend --scores 8,6,5 --sensitivities 1,1,4 --eps 1
  optratio recommend --scores scores.txt --eps 0.5 --monotonic-scores --by mse`,
	})
}
