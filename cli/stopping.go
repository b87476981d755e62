package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/secretary"
	"optratio/number"
)

func newStopping(s command.Streams) *cobra.Command {
	a := asking{question: job.NewStopping(), certifies: true, draws: true, plain: true, print: one(printStopping)}
	return a.command(s, &cobra.Command{
		Use:   "stopping -n N",
		Short: "Private optimal stopping: the best private rule, and the secretary rule beside it",
		Long: `The secretary problem with n candidates under differential privacy. Neighboring preference orders swap two candidates
at most l places apart. With --eps: the best rule that is (ε, δ)-private, certified, and how far the best p-mix of the
secretary rule and the blind choice is from it. Beside it, or without --eps: the outcome law of the p-mix of the
secretary rule, which is optimal without privacy, the least ε that it has at --delta and the least δ at --eps.`,
		Example: `  optratio stopping -n 8
  optratio stopping -n 30 -l 3 --p 0.5 --eps 1
  optratio stopping -n 30 --eps 0.5 --rule`,
	})
}

// shownRanks is how many ranks the table for people shows.
const shownRanks = 12

func printStopping(w io.Writer, d *document.Stopping) {
	eps := ""
	if said := d.Said(); said != "" {
		eps = ", " + said
	}
	fmt.Fprintf(w, "n = %d, l = %d%s, δ = %s\n", d.N, d.L, eps, d.Delta)
	taken := job.Choose(d.Win == 1, "takes the best", fmt.Sprintf("takes one of the best %d", d.Win))
	if b := d.BestRule; b != nil {
		fmt.Fprintf(w, "the best private rule %s with probability %s\n", taken, b.Optimum)
		fmt.Fprintf(w, "best p-mix of the secretary rule: %s, p = %s; the best private rule is %s times as good\n", b.PMixBest.Success, b.PMixBest.P, b.Ratio)
		if m := b.WinMixBest; m != nil {
			fmt.Fprintf(w, "best p-mix of the best rule without privacy for one of the best %d: %s, p = %s\n", d.Win, m.Success, m.P)
		}
		fmt.Fprintln(w)
	}
	rule := "the secretary rule"
	if d.Threshold > 0 {
		rule = fmt.Sprintf("the secretary rule (pass %d, then take the next best so far)", d.Threshold-1)
	}
	if d.P != "1" {
		rule = fmt.Sprintf("the p-mix, p = %s, of %s and the blind choice", d.P, rule)
	}
	fmt.Fprintf(w, "%s %s with probability %s\n", rule, taken, d.Success)
	fmt.Fprintf(w, "it is private for this δ from ε = %s on", d.TightEps)
	if d.TightDelta != nil {
		fmt.Fprintf(w, ", for this ε from δ = %s on", d.TightDelta)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w)
	t := decimal.Table(w, 3)
	head := "rank (1 is the best)\t" + job.Choose(d.P == "1", "secretary rule", "p-mix")
	ranks := d.Outcome[:min(shownRanks, len(d.Outcome))]
	both := d.BestRule != nil && len(d.OptimalOutcome) >= len(ranks)
	if both {
		head += "\tbest private rule"
	}
	fmt.Fprintln(t, head)
	for k, q := range ranks {
		fmt.Fprintf(t, "%d\t%s", k+1, q)
		if both {
			fmt.Fprintf(t, "\t%s", d.OptimalOutcome[k])
		}
		fmt.Fprintln(t)
	}
	if len(d.Outcome) > shownRanks {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", d.N)
	}
	if d.BestRule != nil && len(d.Rule) > 0 {
		fmt.Fprintln(t, "\ntime\treached\ttake relative ranks (with probability)")
		for _, r := range d.Rule {
			fmt.Fprintf(t, "%d\t%s\t%s\n", r.Time, short(r.Reach), takes(r.Take))
		}
	}
	t.Flush()
}

// short is a probability for a table where its digits do not matter.
func short(x number.Number) string { return fmt.Sprintf("%.6f", x.Float64()) }

func takes(list []secretary.Take) string {
	var parts []string
	for _, t := range list {
		part := strconv.Itoa(t.From)
		if t.To > t.From {
			part += "-" + strconv.Itoa(t.To)
		}
		if r, exact := t.Stop.Rat(); !exact || !r.IsInt() {
			part += " (" + short(t.Stop) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
