package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
)

func newCalibrate(s command.Streams) *cobra.Command {
	q := job.NewCalibrate()
	a := asking{
		question: q, plain: true, help: map[string]string{"neighbors": ""},
		print: one(func(w io.Writer, d *document.Calibration) { printCalibration(w, q, d) }),
	}
	return a.command(s, &cobra.Command{
		Use:   "calibrate --mechanism NAME (-n N -k K | --domain FILE | --domain real) (--eps E | --exp-eps A/B | --rho R)",
		Short: "The largest parameter at which a mechanism is ε-DP, or ρ-zCDP",
		Long: `The largest parameter ε' at which a mechanism is E-DP (or R-zCDP) on the lattice of n candidates and depth k, or on
given score vectors and their neighbors. Bisection finds it: the mechanism meets the target at the lower end of what
is printed and misses it at the upper end; other parameters and scores are not looked at. Where a theorem knows the
largest parameter for all real scores, that is printed too. --domain real with --rho asks for that alone, for any
number of candidates; theorems know it for pf, em and geo.`,
		Example: `  optratio calibrate --mechanism rnm-laplace -n 3 -k 2 --eps 1
  optratio calibrate --mechanism em -n 3 -k 2 --rho 0.125
  optratio calibrate --mechanism pf --domain real --rho 0.125
  optratio calibrate --mechanism gem --domain scores.txt --sensitivities 1,2 --eps 1`,
	})
}

func printCalibration(w io.Writer, q *job.Calibrate, r *document.Calibration) {
	target := job.Choose(q.Rho != "", q.Rho+"-zCDP", "ε-DP with "+q.Epsilon.String())
	command.Say(w, "%s, target %s, on %s", r.Mechanism, target, r.Domain)
	theorem := r.Proof == "theorem"
	if theorem && q.Rho != "" {
		fmt.Fprintf(w, "parameter ε' = %s: by theorem the target is met for all scores at the lower end, and missed at the upper end\n", r.Parameter)
		return
	}
	if r.AllScores.IsValid() {
		defer fmt.Fprintf(w, "for all real scores: parameter ε' = %s, by theorem\n", r.AllScores)
	}
	if theorem {
		fmt.Fprintf(w, "parameter ε' = %s: by theorem the target is met there then, and at no larger parameter\n", r.Parameter)
		return
	}
	fmt.Fprintf(w, "parameter ε' = %s, from %d parameters that were decided\n", r.Parameter, r.Tried)
	fmt.Fprintln(w, "at the lower end the target is met on this domain; other scores were not looked at")
	if r.Attained != nil {
		fmt.Fprintf(w, "closest to missing it there: %s\n", r.Attained)
	}
	if r.Violated != nil {
		fmt.Fprintf(w, "at the upper end it is missed at %s\n", r.Violated)
	}
	if r.Attained != nil || r.Violated != nil {
		command.Say(w, "%s", units(&q.Domain))
	}
}
