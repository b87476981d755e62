package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/verify/certificate"
)

func newCheck(s command.Streams) *cobra.Command {
	j := command.Job{Streams: s}
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a certificate with code that shares nothing with the solvers",
		Long: `Check a certificate: rebuild the program from the parameters in the file, and decide whether
every claim in it follows from the values it holds, in exact or outward-rounded arithmetic.`,
		Args: oneFile,
	}
	c.RunE = j.Limited(func(ctx context.Context) error { return check(ctx, &j, c.Flags().Arg(0)) })
	j.Add(c)
	return c
}

func check(ctx context.Context, j *command.Job, path string) error {
	most, _ := j.Bytes() // which start has read
	doc, err := command.Settle(ctx, func() (document.Check, error) {
		file, err := command.OpenInput(ctx, "", path)
		if err != nil {
			return document.Check{}, err
		}
		defer file.Close()
		report, err := certificate.Check(file, certificate.Options{Context: ctx, MaxMemory: most, MaxSteps: steps(ctx)})
		if errors.Is(err, certificate.ErrLimit) {
			err = fmt.Errorf("%w; --time-limit and --max-memory raise the limits", err)
		}
		if err != nil {
			return document.Check{}, fmt.Errorf("%s: %w", command.Quoted(path), err)
		}
		return document.Check{Report: report}, nil
	}, func(why string) document.Check {
		return document.Check{Report: &certificate.Report{Reason: "undecided"}, Undecided: why}
	})
	if err != nil {
		return err
	}
	j.Show(doc, func(w io.Writer) { printReport(w, doc.Report) })
	if !doc.Valid && doc.Undecided == "" {
		return command.Exit(command.Violated, errors.New("invalid certificate: "+doc.Reason))
	}
	return command.Ending(ctx, doc.Undecided)
}

// steps returns what a check may cost: as many steps as there is time for, where that is more than without a limit of time.
func steps(ctx context.Context) int {
	if end, ok := ctx.Deadline(); ok {
		return max(defaultSteps, int(time.Until(end)/certificate.StepTime))
	}
	return defaultSteps
}

// defaultSteps are a few seconds.
const defaultSteps = 1 << 29

// epsilonOf says at which ε a certificate's problem is.
func epsilonOf(p *certificate.Problem) string {
	switch _, rational := p.Eps.Rat(); {
	case rational:
		return "ε = " + p.Eps.String()
	case !p.ExpEps.IsValid():
		return "a range of z = e^-ε"
	}
	return "e^ε = " + fraction(p.ExpEps)
}

func printReport(w io.Writer, r *certificate.Report) {
	if p := r.Problem; p != nil && p.About != "" {
		command.Say(w, "%s: %s, %s", p.Kind, p.About, epsilonOf(p))
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
			step += ", δ = " + fraction(*p.Delta)
		}
		command.Say(w, "n = %d, k = %d, %s, objective %s, constraints %s%s, proof %s", p.N, p.K, eps, p.Objective, explained(p.Constraints), step, p.Proof)
	}
	if !r.Valid {
		return
	}
	fmt.Fprintln(w, "valid: every claim follows from the values in the file")
	if r.Proves != "" {
		command.Say(w, "proved: %s", r.Proves)
	}
	t := command.Table(w, 3)
	for _, q := range r.Claims {
		fmt.Fprintf(t, "%s\t%s\n", escape.Line(q.On), q.Value)
	}
	t.Flush()
}
