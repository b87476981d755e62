package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/verify"
	"optratio/verify/certificate"
)

func newCheck(s command.Streams) *cobra.Command { return command.NewCheck(s, certificate.Check) }

// addCert adds --cert.
func addCert(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "cert", "", "write a certificate to this file, for optratio check")
}

// checkCert refuses --cert where no violation that may be found has a certificate: of one of these properties, by a mechanism of this name, or by stated numbers
// where name is "".
func checkCert(name string, asked []verify.Property) error {
	switch known := certificate.Mechanisms(); {
	case name != "" && !slices.Contains(known, name):
		return command.Usagef("--cert: the checker knows the probabilities of %s, and not those of %s; leave it out", strings.Join(known, ", "), name)
	case !slices.ContainsFunc(asked, func(p verify.Property) bool { return slices.Contains(verify.Certifiable(name == ""), p) }):
		return command.Usagef("--cert: certificates are about violations of dp and approximate-dp, and by named mechanisms of dominates-em; add one to --property, or leave --cert out")
	}
	return nil
}
