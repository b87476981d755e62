package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"optratio/verify/certificate"
)

func init() { commands = append(commands, newCertExport) }

func newCertExport(s streams) *cobra.Command {
	var vipr bool
	var output string
	c := &cobra.Command{
		Use:   "cert-export --vipr FILE [-o FILE]",
		Short: "Write a valid exact certificate in the VIPR format, for a second opinion",
		Long: `Check a certificate with rational e^ε and write what it proves about the minimum of the program in the
VIPR 1.0 format, which independent checkers such as viprchk read.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("cert-export takes one certificate file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !vipr {
				return usagef("cert-export: name the format, --vipr")
			}
			return certExport(c.Context(), s, args[0], output)
		},
	}
	c.Flags().BoolVar(&vipr, "vipr", false, "the VIPR 1.0 format")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, standard output if not given")
	return c
}

func certExport(ctx context.Context, s streams, path, output string) error {
	in, err := openRegular(path)
	if err != nil {
		return err
	}
	defer in.Close()
	export := func(w io.Writer) error {
		return certificate.ExportVIPR(w, in, certificate.Options{Context: ctx})
	}
	if output == "" {
		err = export(s.out)
	} else {
		file, err2 := createOutput("-o", output)
		if err2 != nil {
			return err2
		}
		err = file.commit(export)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &exit{exitInterrupted, errInterrupted}
	case errors.Is(err, certificate.ErrInvalid):
		return &exit{exitViolated, err}
	}
	return usagef("%s: %w", quoted(path), err)
}
