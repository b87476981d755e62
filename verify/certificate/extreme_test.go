package certificate_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/verify/certificate"
)

// An end of a claim that is beyond the numbers that are kept is not judged by one further out, which says less: that is undecided.
func TestClaimsBeyondAllNumbers(t *testing.T) {
	text, err := os.ReadFile("../../proofs/testdata/3-3.cert")
	require.NoError(t, err)
	claim, zeros := regexp.MustCompile(`(?m)^(claim .*) (\S+) (\S+)$`), strings.Repeat("0", 13_000)
	for _, ends := range []string{"$1 $2 1" + zeros, "$1 -1" + zeros + " $3", "$1 1/1" + zeros + " $3"} {
		_, err := certificate.Check(strings.NewReader(claim.ReplaceAllString(string(text), ends)), certificate.Options{})
		require.ErrorIs(t, err, certificate.ErrLimit, ends[:12])
	}
}
