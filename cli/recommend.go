package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/internal/recommend"
)

func newRecommend(s command.Streams) *cobra.Command {
	a := asking{question: job.NewRecommend(), print: one(printRecommendation)}
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

func printRecommendation(w io.Writer, r *recommend.Recommendation) {
	var known, declared []recommend.Rated
	for _, m := range r.Mechanisms {
		if m.Declared {
			declared = append(declared, m)
		} else {
			known = append(known, m)
		}
	}
	for i, list := range [][]recommend.Rated{known, declared, r.NotPrivate} {
		if len(list) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w, []string{1: "\nthese claim ε-DP, which is not proved here (optratio verify asks):", 2: "\nnot ε-DP for all sensitivities, for comparison only:"}[i])
		}
		t := decimal.Table(w, 3)
		fmt.Fprintln(t, "mechanism\texpected error (in units of the scores)\tmean squared error (in squared units)")
		for _, m := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.ExpectedError, m.MSE)
		}
		t.Flush()
	}
	for _, line := range r.Unanswered {
		command.Say(w, "no answer from %s", line)
	}
	h := r.Heuristics
	fmt.Fprintf(w, "\nrecommended, by %s: %s\n", r.By(), cmp.Or(r.Recommended, "none"))
	if h.Pearson.IsValid() { // scores and sensitivities both differ
		fmt.Fprintf(w, "correlation of scores and sensitivities: Spearman %s, Pearson %s, bucket-weighted %s\n", h.Spearman, h.Pearson, h.BucketCorrelation)
		fmt.Fprintf(w, "bounds on the error that hold with probability 1-β: gem %s%s, noisy max %s\n",
			h.Bounds.GEM, job.Choose(h.Bounds.GEMVacuous, " (more than the scores differ by, so it says nothing)", ""), h.Bounds.RNM)
	}
	fmt.Fprintf(w, "note: %s\n", r.Warning)
}
