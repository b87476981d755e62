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
	a := asking{
		question: q, certifies: withCert, draws: true, print: one(func(w io.Writer, d *document.Heterogeneous) { printHeterogeneous(w, q.Epsilon, d) }),
		help: map[string]string{"mechanism": "mechanisms to rate, by name; NAME:M is NAME on the M least sensitive candidates, see optratio mechanisms --help (default " + job.RatedByDefault + ", and geo-pair:M for every M below n)"},
	}
	return a.command(s, &cobra.Command{
		Use:   "heterogeneous --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "Certified ratio of mechanisms to the best one for unequal sensitivities, on a small grid",
		Long: `The least error that any ε-DP mechanism can have on a grid of score vectors where each
candidate has its own sensitivity, how far given mechanisms are from it, and whether they are ε-DP on
the grid. Errors are in the units of the scores (of their squares with --loss mse).
With --shift-invariant the best mechanism may look at differences of scores only, as all registered
ones do.`,
		Example: `  optratio heterogeneous --sensitivities 1,2 --grid 0:4 --exp-eps 2
  optratio heterogeneous --sensitivities 1,2,4 --shift-invariant --eps 0.5 --mechanism gem,krr --json`,
	})
}

// printHeterogeneous writes the table for people.
func printHeterogeneous(w io.Writer, eps job.Epsilon, d *document.Heterogeneous) {
	plainly := func(xs []number.Number) string {
		texts := make([]string, len(xs))
		for i, x := range xs {
			texts[i] = command.Fraction(x)
		}
		return strings.Join(texts, ", ")
	}
	command.Say(w, "sensitivities %s, scores %s, %s", plainly(d.Sensitivities), d.Grid, eps)
	fmt.Fprintf(w, "%d score vectors%s, %d pairs of neighbors, %d rows generated\n",
		d.Vectors, job.Choose(d.ShiftInvariant, " up to shifts", ""), d.Neighbors, d.Rows)
	what := job.Choose(d.Loss == "mse", "mean squared error", "expected error")
	what = job.Choose(d.Objective == "worst", "largest "+what, what+", mean over the grid")
	fmt.Fprintf(w, "optimum: %s (%s)\n\n", command.Fraction(d.Optimum), what)
	t := command.Table(w, 3)
	fmt.Fprintf(t, "mechanism\terror (%s)\tratio to the optimum\tε-DP on the grid\ttight ε there\n",
		job.Choose(d.Loss == "mse", "squares of the scores' units", "units of the scores"))
	for _, m := range d.Mechanisms {
		tight := m.TightEps.String()
		if e := m.TightExpEps; e != nil && m.TightEps.Float64() > 0 {
			tight += ", e^ε = " + command.Fraction(number.Exact(e))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.Loss, m.Ratio, m.DP, tight)
	}
	t.Flush()
	for _, m := range d.Mechanisms {
		if v := m.Witness; v != nil {
			fmt.Fprintf(w, "\n%s is not ε-DP there: %s (candidates counted from 0)\n", m.Name, v)
		}
	}
	if d.Recommended != "" {
		fmt.Fprintf(w, "\nrecommended for scores in this range, which has to be public: %s\n", d.Recommended)
	}
	if d.Optimal == nil {
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintln(t, "scores\tprobabilities of an optimal mechanism")
	for _, row := range d.Optimal {
		fmt.Fprintf(t, "%s\t%s\n", plainly(row.Scores), plainly(row.PMF))
	}
	t.Flush()
}
