package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newCalibrate(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Calibrate](), plain: true, help: map[string]string{"neighbors": ""}}
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
