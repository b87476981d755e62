package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/lp"
	"optratio/number"
)

type thresholdFlags struct {
	programFlags
	question     questionFlags
	method, cert string
}

func newThreshold(s command.Streams) *cobra.Command {
	f := thresholdFlags{programFlags: programFlags{Job: command.Job{Streams: s}}}
	c := &cobra.Command{
		Use:   "threshold -n N -k K",
		Short: "The ε at which permute-and-flip becomes optimal on the lattice of step 2Δ",
		Long: `The ε from which on permute-and-flip has the least mean loss of all mechanisms with the given
constraints, on the lattice of step 2Δ, for any loss that does not fall with the depth and any product
prior: the loss does not matter, the prior does. On finer lattices (--step) it is optimal at no ε as
soon as a depth between the multiples of 2Δ has a weight and a loss.`,
		Example: `  optratio threshold -n 4 -k 4
  optratio threshold -n 4 -k 4 --loss top1 --prior geometric:0.8
  optratio threshold -n 4 -k 4 --step delta`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	f.programFlags.add(c, "1e-6")
	f.question.add(c)
	c.Flags().StringVar(&f.method, "method", "auto", "auto (by theorem) or lp (by exact optima at either end)")
	c.Flags().StringVar(&f.cert, "cert", "", "with --method lp: write certificates to this name with .lower and .upper added")
	return c
}

func (f *thresholdFlags) request(ctx context.Context) (r lp.ThresholdRequest, err error) {
	p, err := f.programFlags.parse()
	if err != nil {
		return r, err
	}
	r = lp.ThresholdRequest{N: p.n, K: p.k, Objective: p.objective, Level: p.level, Gap: p.gap, Solver: p.solver, MaxMemory: p.maxMemory}
	if r.Gap.Sign() == 0 {
		return r, command.Usagef("--gap 0: thresholds are irrational, give a gap > 0")
	}
	switch f.method {
	case "auto", "closed-form":
	case "lp":
		r.ByLP = true
	default:
		return r, command.Usagef("--method %s: give auto or lp", command.Quoted(f.method))
	}
	if f.cert != "" && !r.ByLP {
		return r, command.Usagef("--cert: certificates come with --method lp")
	}
	if f.question.prior != "" && f.objective != "paper" {
		return r, command.Usagef("--objective %s and --prior exclude each other: give one of them", f.objective)
	}
	asked := lp.Request{N: r.N, K: r.K}
	if err := f.question.apply(ctx, &asked, big.NewRat(1, 1)); err != nil {
		return r, err
	}
	r.Step, r.Loss, r.Prior = asked.Step, asked.Loss, asked.Prior
	return r, nil
}

func (f *thresholdFlags) run(ctx context.Context) error {
	r, err := f.request(ctx)
	if err != nil {
		return err
	}
	var files []*command.CertificateFile
	if f.cert != "" {
		for _, end := range []string{".lower", ".upper"} {
			file, err := f.CreateCertificate(f.cert + end)
			if err != nil {
				return err
			}
			files = append(files, file)
		}
	}
	report, done := command.Progress(f.Streams, fmt.Sprintf("threshold of n = %d, k = %d", f.n, f.k))
	r.Report = func(exp *big.Rat, optimal bool) {
		report("permute-and-flip is %s at e^ε = %s", command.Choose(optimal, "optimal", "not optimal"), exp.RatString())
	}
	a, err := command.Settle(ctx, func() (*lp.ThresholdAnswer, error) { return lp.Threshold(ctx, r) },
		func(why string) *lp.ThresholdAnswer { return &lp.ThresholdAnswer{Proof: "none", Undecided: why} })
	done()
	if err != nil {
		return err
	}
	doc := document.Threshold{
		N: f.n, K: f.k, Objective: f.objective, Constraints: f.constraints,
		Step: f.question.step, Loss: f.question.loss, Prior: cmp.Or(f.question.prior, map[string]string{"paper": "uniform"}[f.objective], f.objective), Lower: a.Lower, Upper: a.Upper,
		LowerExp: bracketEnd(a.LowerExp), UpperExp: bracketEnd(a.UpperExp), Proof: a.Proof, Undecided: a.Undecided,
	}
	f.Show(doc, func(w io.Writer) { printThreshold(w, &doc, f.question.text()) })
	ending := command.Ending(ctx, a.Undecided)
	for i, end := range []*lp.Answer{a.Below, a.Above} {
		if files != nil && end != nil {
			ending = files[i].Commit(ctx, f.Streams, end.WriteCertificate, ending)
		}
	}
	return ending
}

// bracketEnd returns an end of the bracket as a number, none where it was not decided.
func bracketEnd(r *big.Rat) number.Number {
	if r == nil {
		return number.Number{}
	}
	return number.Exact(r)
}

func printThreshold(w io.Writer, d *document.Threshold, question string) {
	step := strings.NewReplacer("delta", "Δ").Replace(d.Step)
	if d.Upper.IsInf() || d.Upper.IsValid() && d.Upper.Float64() == 0 {
		fmt.Fprintf(w, "n = %d, k = %d%s: on the lattice of step %s permute-and-flip is optimal at %s ε\n", d.N, d.K, question, step, command.Choose(d.Upper.IsInf(), "no", "every"))
		return
	}
	fmt.Fprintf(w, "n = %d, k = %d, objective %s, constraints %s%s, lattice of step %s; proof: %s\n", d.N, d.K, d.Objective, command.Explained(d.Constraints), question, step, d.Proof)
	for _, end := range []struct {
		says     string
		eps, exp number.Number
	}{{"not optimal", d.Lower, d.LowerExp}, {"optimal", d.Upper, d.UpperExp}} {
		if r, ok := end.exp.Rat(); ok {
			fmt.Fprintf(w, "permute-and-flip is %s at ε = %s (e^ε = %s)\n", end.says, end.eps, r.RatString())
		}
	}
}
