package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/verify"
)

// addCert adds --cert.
func addCert(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "cert", "", "write a certificate to this file, for optratio check")
}

// createCert is command.CreateOutput for --cert; nil where it is not given.
func createCert(path string) (*command.OutputFile, error) {
	if path == "" {
		return nil, nil
	}
	return command.CreateOutput("--cert", path)
}

// commitWitness writes the certificate of a violation, and says so where there is none to write.
func commitWitness(ctx context.Context, f *command.OutputFile, s command.Streams, r *verify.Report, about verify.Setting) error {
	err := f.Commit(ctx, func(w io.Writer) error { return r.WriteCertificate(w, about) })
	if errors.Is(err, verify.ErrNoCertificate) {
		fmt.Fprintln(s.Err, err)
		return nil
	}
	return err
}
