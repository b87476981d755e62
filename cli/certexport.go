package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"optratio/verify/certificate"
)

func newCertExport(s streams) *cobra.Command {
	var vipr bool
	j := job{streams: s} // without --json, as it writes no document
	var output string
	c := &cobra.Command{
		Use:   "cert-export --vipr FILE [-o FILE]",
		Short: "Write a valid exact certificate in the VIPR format, for a second opinion",
		Long: `Check a certificate with rational e^ε and write what it proves about the minimum of the program in the
VIPR 1.0 format, which independent checkers such as viprchk read.`,
		Args: oneFile,
	}
	c.RunE = j.limited(func(ctx context.Context) error {
		if !vipr {
			return usagef("cert-export: name the format, --vipr")
		}
		return j.certExport(ctx, c.Flags().Arg(0), output)
	})
	c.Flags().BoolVar(&vipr, "vipr", false, "the VIPR 1.0 format")
	j.limits.add(c)
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, standard output if not given")
	return c
}

func (j *job) certExport(ctx context.Context, path, output string) error {
	most, _ := j.bytes() // which start has read
	export := func(w io.Writer) error {
		in, err := openInput(ctx, "", path)
		if err != nil {
			return err
		}
		defer in.Close()
		return certificate.ExportVIPR(w, in, certificate.Options{Context: ctx, MaxMemory: most})
	}
	var err error
	if output == "" {
		_, err = await(ctx, grace, func() (any, error) { return nil, export(j.out) })
	} else {
		file, err2 := createOutput("-o", output)
		if err2 != nil {
			return err2
		}
		err = file.commit(ctx, export)
	}
	var e *exit
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ending(ctx, context.Cause(ctx).Error()+"; nothing was written")
	case errors.Is(err, certificate.ErrInvalid):
		return &exit{exitViolated, err}
	case errors.Is(err, certificate.ErrLimit):
		return &exit{exitUndecided, err}
	case errors.As(err, &e):
		return err
	}
	return usagef("%s: %w", quoted(path), err)
}
