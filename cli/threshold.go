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

func newThreshold(s command.Streams) *cobra.Command {
	q := job.NewThreshold()
	a := asking{
		question: q, plain: true, help: map[string]string{"loss": "", "worst": "", "step": "", "delta": "", "monotonic-scores": "", "solver": ""},
		print: one(func(w io.Writer, d *document.Threshold) { printThreshold(w, q, d) }),
	}
	return a.command(s, &cobra.Command{
		Use:   "threshold -n N -k K",
		Short: "The ε from which on permute-and-flip is optimal",
		Long: `Permute-and-flip has the least mean loss of all mechanisms with the given constraints from this ε on, on the lattice
of n candidates, depth k and steps of 2Δ. It does not matter which loss, as long as it does not fall with the depth;
the prior matters. On finer lattices permute-and-flip is optimal at no ε as soon as a depth between the multiples of
2Δ has a weight and a loss. optratio ratio --exp-eps X --method lp --cert FILE writes a certificate at either end.`,
		Example: `  optratio threshold -n 4 -k 4
  optratio threshold -n 4 -k 4 --prior geometric:0.8`,
	})
}

func printThreshold(w io.Writer, q *job.Threshold, d *document.Threshold) {
	question := latticeText(&q.Lattice)
	step := strings.ReplaceAll(d.Step, "delta", "Δ")
	if d.Upper.IsInf() || d.Upper.IsValid() && d.Upper.Float64() == 0 {
		fmt.Fprintf(w, "n = %d, k = %d%s: on the lattice of step %s permute-and-flip is optimal at %s ε\n", d.N, d.K, question, step, job.Choose(d.Upper.IsInf(), "no", "every"))
		return
	}
	fmt.Fprintf(w, "n = %d, k = %d%s, lattice of step %s; proof: %s\nerror: %s\n", d.N, d.K, question, step, d.Proof, command.Meaning(d.Objective, d.Constraints))
	for _, end := range []struct {
		says     string
		eps, exp number.Number
	}{{"not optimal", d.Lower, d.LowerExp}, {"optimal", d.Upper, d.UpperExp}} {
		if r, ok := end.exp.Rat(); ok {
			fmt.Fprintf(w, "permute-and-flip is %s at ε = %s (e^ε = %s)\n", end.says, end.eps, r.RatString())
		}
	}
}
