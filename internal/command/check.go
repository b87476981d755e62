package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/report"
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
	c.Flags().StringVar(&out, "vipr", "", "also write the proof to this file, in the VIPR 1.0 format")
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
	j.Show(doc, report.New(found, report.Context{Terminal: true}).WriteText)
	return Ended(ctx, found)
}
