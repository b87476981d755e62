package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/vipr"
	"optratio/verify/certificate"
)

func newCertExport(s command.Streams) *cobra.Command {
	var vipr bool
	j := command.Job{Streams: s} // without --json, as it writes no document
	var output string
	c := &cobra.Command{
		Use:   "cert-export --vipr FILE [-o FILE]",
		Short: "Write a valid exact certificate in the VIPR format, for a second opinion",
		Long: `Check a certificate with rational e^ε and write what it proves about the minimum of the program in the
VIPR 1.0 format, which independent checkers such as viprchk read.`,
		Args: command.OneFile,
	}
	c.RunE = j.Limited(func(ctx context.Context) error {
		if !vipr {
			return command.Usagef("cert-export: name the format, --vipr")
		}
		return certExport(ctx, &j, c.Flags().Arg(0), output)
	})
	c.Flags().BoolVar(&vipr, "vipr", false, "the VIPR 1.0 format")
	j.Limits.Add(c)
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, standard output if not given")
	return c
}

func certExport(ctx context.Context, j *command.Job, path, output string) error {
	most, _ := j.Bytes() // which start has read
	export := func(w io.Writer) error {
		in, err := command.OpenInput(ctx, "", path)
		if err != nil {
			return err
		}
		defer in.Close()
		return vipr.Export(w, in, certificate.Options{Context: ctx, MaxMemory: most})
	}
	var err error
	if output == "" {
		_, err = command.Await(ctx, command.Grace, func() (any, error) { return nil, export(j.Out) })
	} else {
		file, err2 := command.CreateOutput("-o", output)
		if err2 != nil {
			return err2
		}
		err = file.Commit(ctx, export)
	}
	var e *command.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return command.Ending(ctx, context.Cause(ctx).Error()+"; nothing was written")
	case errors.Is(err, certificate.ErrInvalid):
		return command.Exit(command.Violated, err)
	case errors.Is(err, certificate.ErrLimit):
		return command.Exit(command.Undecided, err)
	case errors.As(err, &e):
		return err
	}
	return command.Usagef("%s: %w", command.Quoted(path), err)
}
