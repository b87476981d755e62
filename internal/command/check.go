package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify/certificate"
)

// Checker decides a certificate.
type Checker func(io.Reader, certificate.Options) (*certificate.Report, error)

// NewCheck returns the command that checks certificates.
func NewCheck(s Streams, decide Checker) *cobra.Command {
	j := Job{Streams: s}
	var out string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a certificate with code that shares nothing with the solvers",
		Long: `The checker rebuilds the program from the parameters in the file, and decides in exact or outward-rounded arithmetic
whether every claim in the file follows from the values that it holds. For a second opinion, --vipr OUT writes what a
valid certificate with rational e^ε proves about the minimum of the program in the VIPR 1.0 format, which independent
checkers such as viprchk read.`,
		Example: `  optratio ratio -n 4 -k 4 --exp-eps 3/2 --cert ratio.cert
  optratio check ratio.cert`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return Usagef("check takes one certificate file, got %d arguments", len(args))
			}
			return nil
		},
	}
	c.RunE = j.Limited(func(ctx context.Context) error { return decide.run(ctx, &j, c.Flags().Arg(0), out) })
	j.AddLimits(c)
	c.Flags().StringVar(&out, "vipr", "", "write the proof to this file too, in the VIPR 1.0 format")
	return c
}

func (decide Checker) run(ctx context.Context, j *Job, path, out string) error {
	var second *OutputFile
	var err error
	if out != "" {
		if second, err = CreateOutput("--vipr", out); err != nil {
			return err
		}
	}
	most, _ := j.Bytes() // which start has read
	q := &job.Check{File: path, Remedy: "; --time-limit and --max-memory raise the limits", Decide: decide}
	found, err := job.Ask(ctx, &job.Host{Open: Open, MaxMemory: most, Begin: job.Quietly}, q)
	if err != nil {
		return err
	}
	doc := found.Documents[0].(*document.Check)
	if doc.Valid {
		err = second.Commit(ctx, func(w io.Writer) error {
			err := doc.WriteVIPR(w)
			if errors.Is(err, certificate.ErrLimit) {
				return Exit(Undecided, err)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	j.Show(doc, func(w io.Writer) { printReport(w, doc.Report) })
	return Ended(ctx, found)
}

// epsilonOf says at which ε a certificate's problem is.
func epsilonOf(p *certificate.Problem) string {
	switch _, rational := p.Eps.Rat(); {
	case rational:
		return "ε = " + p.Eps.String()
	case !p.ExpEps.IsValid():
		return "a range of z = e^-ε"
	}
	return "e^ε = " + Fraction(p.ExpEps)
}

// Meaning says in words what an objective and constraints ask for: what the error is a mean over, and which mechanisms the optimum is the least of.
func Meaning(objective, constraints string) string {
	over := map[string]string{
		"box": "mean over all score vectors of the box", "minimax": "at the worst score vector", "worst": "at the worst score vector",
	}[objective]
	const below = " mechanism has less (privacy is asked towards the worst neighbors only)"
	optimum := map[string]string{
		"paper":       "no shift-invariant ε-DP" + below,
		"dp":          "the least of all shift-invariant ε-DP mechanisms",
		"monotone":    "no monotone, shift-invariant ε-DP" + below,
		"full":        "the least of all monotone, shift-invariant ε-DP mechanisms",
		"approximate": "the least of all shift-invariant (ε,δ)-DP mechanisms",
	}[constraints]
	return cmp.Or(over, "mean over all score vectors") + "; optimum: " + optimum
}

// Fraction writes an exact number as a Fraction while that is short.
func Fraction(x number.Number) string {
	if r, ok := x.Rat(); ok && r.Num().BitLen()+r.Denom().BitLen() <= 96 {
		return r.RatString()
	}
	return x.String()
}

func printReport(w io.Writer, r *certificate.Report) {
	if p := r.Problem; p != nil && p.About != "" {
		Say(w, "%s: %s, %s", p.Kind, p.About, epsilonOf(p))
	} else if p != nil {
		eps := epsilonOf(p)
		step := ""
		if p.Step > 1 {
			step = fmt.Sprintf(", scores 2Δ/%d apart", p.Step)
		}
		if p.Top > 1 {
			step += fmt.Sprintf(", top %d", p.Top)
		}
		if p.Delta != nil {
			step += ", δ = " + Fraction(*p.Delta)
		}
		Say(w, "n = %d, k = %d, %s%s; proof: %s", p.N, p.K, eps, step, p.Proof)
		Say(w, "error: %s", Meaning(p.Objective, p.Constraints))
	}
	if !r.Valid {
		return
	}
	fmt.Fprintln(w, "valid: every claim follows from the values in the file")
	if r.Proves != "" {
		Say(w, "proved: %s", r.Proves)
	}
	t := decimal.Table(w, 3)
	for _, q := range r.Claims {
		fmt.Fprintf(t, "%s\t%s\n", escape.Line(q.On), q.Value)
	}
	t.Flush()
}
