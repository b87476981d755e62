package cli

import (
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/inquiry"
	"optratio/internal/job"
)

func newPMF(s command.Streams) *cobra.Command {
	q := job.NewPMF()
	q.Mechanism = "pf"
	a := asking{question: q, print: func(w io.Writer, found *job.Answer) { printPMF(w, q.Vector, found) }}
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

// printPMF writes a table with a column for each mechanism.
func printPMF(w io.Writer, scores []*big.Rat, found *job.Answer) {
	var docs []*document.PMF
	for _, d := range found.Documents {
		docs = append(docs, d.(*document.PMF))
	}
	t := decimal.Table(w, 3)
	rows, all := 0, true
	row := func(head string, value func(*document.PMF) string) {
		fmt.Fprint(t, head)
		for _, d := range docs {
			fmt.Fprintf(t, "\t%s", value(d))
		}
		fmt.Fprintln(t)
	}
	row("candidate (from 0)\tscore", func(d *document.PMF) string { return job.Choose(len(docs) == 1, "probability", d.Mechanism) })
	for _, d := range docs {
		rows, all = max(rows, min(job.MostRows, len(d.PMF))), all && len(d.PMF) <= job.MostRows
	}
	for i := range rows {
		row(fmt.Sprintf("%d\t%s", i, inquiry.ScoreText(scores[i])), func(d *document.PMF) string {
			if i >= len(d.PMF) {
				return "-" // nothing is known of so many
			}
			return d.PMF[i].String()
		})
	}
	if !all {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", len(scores))
	}
	fmt.Fprintln(t)
	row("expected error, in units of the scores\t", func(d *document.PMF) string { return d.ExpectedError.String() })
	row("mean squared error, in their squares\t", func(d *document.PMF) string { return d.MSE.String() })
	t.Flush()
}
