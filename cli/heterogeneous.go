package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

func newHeterogeneous(s command.Streams) *cobra.Command {
	q := job.NewHeterogeneous()
	a := &asking{
		mechanism: func(found *job.Answer, lines bool) func(io.Writer) error {
			return optimalRows(found.Documents[0].(*document.Heterogeneous).Optimal, lines)
		},
		question: q, certifies: true, draws: true, plain: true,
		help: map[string]string{"mechanism": "mechanisms to rate, by name; NAME:M is NAME on the M least sensitive candidates, see optratio mechanisms --help (default " + strings.ReplaceAll(job.RatedByDefault, ",", ", ") + ", and geo-pair:M for every M below n)"},
	}
	a.prepare = func() { q.Optimal = a.optimal != "" }
	return a.command(s, &cobra.Command{
		Use:   "heterogeneous --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "The ratio to the best mechanism where candidates have unequal sensitivities, on a small grid",
		Long: `The least error that any ε-DP mechanism can have on a grid of score vectors where each candidate has its own
sensitivity, how far given mechanisms are from it, and whether they are ε-DP on the grid. Errors are in the units of
the scores (of their squares with --loss square). With --shift-invariant the best mechanism may look at differences
of scores only, as all mechanisms of the library do.`,
		Example: `  optratio heterogeneous --sensitivities 1,2 --grid 0:4 --exp-eps 2
  optratio heterogeneous --sensitivities 1,2,4 --shift-invariant --eps 0.5 --mechanism gem,krr --json`,
	})
}

// optimalRows writes a mechanism, a line for each score vector: the scores and as many probabilities.
func optimalRows(rows []document.OptimalRow, lines bool) func(io.Writer) error {
	if rows == nil {
		return nil
	}
	return func(w io.Writer) (err error) {
		for _, row := range rows {
			if lines {
				_, err = fmt.Fprintf(w, "{\"scores\":[%s],\"pmf\":[%s]}\n", fractions(row.Scores, `"`), fractions(row.PMF, `"`))
			} else {
				_, err = fmt.Fprintf(w, "%s,%s\n", fractions(row.Scores, ""), fractions(row.PMF, ""))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// fractions writes exact numbers with commas between, each between quotes.
func fractions(xs []number.Number, quote string) string {
	texts := make([]string, len(xs))
	for i, x := range xs {
		r, _ := x.Rat()
		texts[i] = quote + r.RatString() + quote
	}
	return strings.Join(texts, ",")
}
