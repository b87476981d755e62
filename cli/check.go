package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optratio/verify/certificate"
)

func init() { commands = append(commands, newCheck) }

func newCheck(s streams) *cobra.Command {
	var asJSON bool
	var maxMemory string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a certificate with code that shares nothing with the solvers",
		Long: `Check a certificate: rebuild the program from the parameters in the file, and decide whether
every claim in it follows from the values it holds, in exact or outward-rounded arithmetic.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("check takes one certificate file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := parseBytes("max-memory", maxMemory)
			if err != nil {
				return err
			}
			return check(c.Context(), s, args[0], limit, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.Flags().StringVar(&maxMemory, "max-memory", "4G", "refuse certificates whose check would need more bytes")
	return c
}

func check(ctx context.Context, s streams, path string, maxMemory int64, asJSON bool) error {
	file, err := openRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := certificate.Check(file, certificate.Options{Context: ctx, MaxMemory: maxMemory})
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, errInterrupted}
	case err != nil:
		return usagef("%s: %w", quoted(path), err)
	}
	if err := show(s, asJSON, report, func(w io.Writer) error { return printReport(w, report) }); err != nil {
		return err
	}
	if !report.Valid {
		return &exit{exitViolated, errors.New("invalid certificate: " + report.Reason)}
	}
	return nil
}

func printReport(w io.Writer, r *certificate.Report) error {
	if p := r.Problem; p != nil {
		eps := "e^ε = " + p.ExpEps.String()
		if r, ok := p.Eps.Rat(); ok {
			eps = "ε = " + r.RatString()
		}
		fmt.Fprintf(w, "n = %d, k = %d, %s, objective %s, constraints %s, proof %s\n", p.N, p.K, eps, p.Objective, p.Constraints, p.Proof)
	}
	if !r.Valid {
		return nil
	}
	fmt.Fprintln(w, "valid: every claim follows from the values in the file")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, q := range r.Claims {
		fmt.Fprintf(t, "%s\t%s\n", q.On, q.Value)
	}
	return t.Flush()
}
