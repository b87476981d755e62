package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

func newVerify(s command.Streams) *cobra.Command {
	q := job.NewVerify()
	a := asking{question: q, help: map[string]string{
		"property":  "properties, by name (default dp, with symmetry, shift, monotone, sum and dominates-em as facts that do not change the exit code)",
		"neighbors": "linf, or worst: on the lattice, the worst neighbors of mechanisms that were proved regular; with --domain FILE linf or monotonic",
	}}
	c := &cobra.Command{
		Use:   "verify --mechanism NAME -n N -k K (--eps E | --exp-eps A/B)",
		Short: "Decide exactly which properties a mechanism of the library has",
		Long: `On the lattice: every score vector of n candidates with best score 0 and steps of 2Δ down to -2Δk, and all neighbors
among them. Is the mechanism ε-DP, symmetric, shift-invariant, monotone, and never worse than the exponential
mechanism? The exit code tells about what --property names, which is dp by default; the others are facts. The answer
says how private the mechanism is (tight ε, with the pair that attains it), and shows the smallest witness of what
fails. Other properties: bounded-range, dominates-em-mean, rdp, zcdp. --rho R decides R-zCDP, --range R bounded
range R (by default ε), and --delta D decides (ε,D)-DP in place of ε-DP and says which δ would do.

With --domain FILE (score vectors, one a line, comma-separated or JSON arrays) it does the same for these vectors and
their neighbors: every score moves by up to its sensitivity up or down (--neighbors linf), or all one way (monotonic).
--neighbors monotonic leaves the mechanism as it is: it is ε/2-DP then if it is ε-DP and shift-invariant.
--monotonic-scores takes the same neighbors, on the lattice in steps of Δ, and runs it with 2Δ replaced by Δ.`,
		Example: `  optratio verify --mechanism pf -n 4 -k 3 --exp-eps 3/2
  optratio verify --mechanism geo -n 3 -k 2 --step delta --exp-eps 3/2
  optratio verify --mechanism krr -n 3 -k 2 --eps 0.5 --property dp,bounded-range
  optratio verify --mechanism em -n 3 -k 2 --eps 1 --rho 0.125 --range 1
  optratio verify --mechanism em -n 3 -k 2 --eps 0.8 --delta 1e-3
  optratio verify --mechanism rnmh --domain scores.txt --sensitivities 0,1 --eps 1 --property dp`,
	}
	return a.judge(s, c, false, func(found *job.Answer) []judgement {
		r := found.Documents[0].(*verify.Report)
		title := fmt.Sprintf("%s on %s, %s", r.Mechanism, r.Domain, q.Epsilon)
		if r.Precision != nil {
			title += fmt.Sprintf("; properties hold to the relative precision %s of its probabilities", number.Exact(r.Precision))
		}
		return []judgement{{title: title, units: units(&q.Domain), report: r}}
	})
}

// scoreUnits says what the numbers of witnesses are, at a sensitivity.
func scoreUnits(sensitivity string) string {
	return "scores and errors are in your units, with " + sensitivity + "; other numbers after a colon are probabilities"
}

// units says what the numbers of witnesses are. A smaller witness than was given has some of the candidates.
func units(d *job.Domain) string {
	return scoreUnits(job.Choose(d.Sensitivities != "", "sensitivities out of "+d.Sensitivities, "Δ = "+d.Sensitivity))
}

// askedFirst puts the facts, which nobody asked for, behind what was asked for, and returns how many that is.
func askedFirst(properties []verify.Result) (sorted []verify.Result, asked int) {
	sorted = slices.Clone(properties)
	slices.SortStableFunc(sorted, func(a, b verify.Result) int {
		return job.Choose(a.Fact, 1, 0) - job.Choose(b.Fact, 1, 0)
	})
	for asked < len(sorted) && !sorted[asked].Fact {
		asked++
	}
	return sorted, asked
}

// printVerdicts writes the table for people, then the witnesses, and the units of what is in them.
func printVerdicts(w io.Writer, title, units string, properties []verify.Result) {
	command.Say(w, "%s", title)
	var table strings.Builder
	t := decimal.Table(&table, 3)
	properties, asked := askedFirst(properties)
	for _, r := range properties {
		fmt.Fprintf(t, "%s\t%s\t%d checked\t%s\n", r.Name, inquiry.Word(r.Fact, string(r.Verdict)), r.Checked, escape.Line(r.Remark()))
	}
	t.Flush()
	for i, line := range slices.Collect(strings.Lines(table.String())) {
		if i == asked {
			fmt.Fprintln(w, "beside what was asked for:")
		}
		fmt.Fprint(w, line)
	}
	shown := false
	for _, r := range properties {
		shown = shown || r.Witness != nil || r.Attained != nil
		if r.Witness != nil {
			command.Say(w, "%s", witnessLine(&r))
		}
	}
	for _, r := range properties {
		if r.Attained != nil && r.Witness == nil && (r.Name != verify.DP || !r.TightEps.IsValid() || r.Stopped || inquiry.Says(r.TightEps)) {
			drawn := ""
			if p, q := r.Attained.P.Method(), r.Attained.PNeighbor.Method(); p != "" && q != "" {
				drawn = fmt.Sprintf(", by %s and %s, which is not significantly more than is claimed", p, q)
			}
			command.Say(w, "%s is closest to failing%s at %s%s", r.Name, job.Choose(r.Stopped, ", of what was compared,", ""), r.Attained, drawn)
		}
		if r.Name != verify.RDP {
			continue
		}
		for _, o := range r.Orders {
			alpha, _ := o[0].Rat()
			fmt.Fprintf(w, "order %s: ε(α) = %s\n", inquiry.ScoreText(alpha), o[1])
		}
	}
	if shown {
		command.Say(w, "%s", units)
	}
}
