package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newThreshold(s command.Streams) *cobra.Command {
	a := asking{
		question: job.New[job.Threshold](), plain: true, help: map[string]string{"loss": "", "worst": "", "step": "", "delta": "", "monotonic-scores": "", "solver": ""},
	}
	return a.command(s, &cobra.Command{
		Use:   "threshold -n N -k K",
		Short: "The ε from which on permute-and-flip is optimal",
		Long: `Permute-and-flip has the least mean loss of all mechanisms with the given constraints from this ε on, on the lattice
of n candidates, depth k and steps of 2Δ. Which loss is taken does not matter, as long as it does not fall with the
depth; which prior does. On finer lattices permute-and-flip is optimal at no ε as soon as a depth between the
multiples of 2Δ has a weight and a loss. optratio ratio --exp-eps X --method lp --cert FILE writes a certificate at
either end.`,
		Example: `  optratio threshold -n 4 -k 4
  optratio threshold -n 4 -k 4 --prior geometric:0.8`,
	})
}
