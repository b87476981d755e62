package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
)

func newTopK(s command.Streams) *cobra.Command {
	q := job.NewTopK()
	a := asking{question: q, certifies: true, plain: true, print: one(func(w io.Writer, d *document.TopK) { printTopK(w, q.Epsilon, d) })}
	return a.command(s, &cobra.Command{
		Use:   "topk -n N -k K --top T (--eps E | --exp-eps A/B)",
		Short: "Choose the top T of n candidates: mechanisms against the best ε-DP choice",
		Long: `The least mean regret that any shift-invariant ε-DP choice of T of n candidates can have on the lattice of depth k
and steps of 2Δ, and how far mechanisms with the same budget of ε in all are from it. The regret of a set is the sum
of its candidates' distances below the best score minus the least such sum, in steps of 2Δ. For each mechanism also:
how private its sets, and its lists, really are on the lattice, and the ratio to the optimum at that ε. The
mechanisms:
  peel:NAME             a mechanism at ε/T, again and again; peel:em is one-shot Gumbel noise
  one-shot:exponential  exponential noise once
  joint:NAME            a mechanism among all sets
  pairwise              every two sets are compared at their own scale
  completed             the same without drawing again`,
		Example: `  optratio topk -n 4 -k 3 --top 2 --exp-eps 4
  optratio topk -n 4 -k 3 --top 2 --eps 1 --mechanism peel:pf,peel:krr --json`,
	})
}

// printTopK writes the table for people.
func printTopK(w io.Writer, eps job.Epsilon, d *document.TopK) {
	fmt.Fprintf(w, "top %d of n = %d, k = %d, %s in all\n", d.Top, d.N, d.K, eps)
	if d.Orbits > 0 {
		fmt.Fprintf(w, "%d orbits, %d variables, %d rows\n", d.Orbits, d.Variables, d.Rows)
	}
	fmt.Fprintf(w, "optimum: %s (mean regret of a set, steps of 2Δ)\n", command.Fraction(d.Optimum))
	if len(d.Mechanisms) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := decimal.Table(w, 3)
	fmt.Fprintln(t, "mechanism\tregret (steps of 2Δ)\tratio to the optimum\ttight ε of lists\ttight ε of sets\tratio at that ε")
	for _, m := range d.Mechanisms {
		lists := "-"
		if m.Lists != nil {
			lists = m.Lists.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Error, m.Ratio, lists, m.Sets, m.Fair)
	}
	t.Flush()
	for _, m := range d.Mechanisms {
		if m.Over {
			fmt.Fprintf(w, "\n%s goes over the budget: compare its ratio at the ε that it has\n", m.Name)
		}
	}
}
