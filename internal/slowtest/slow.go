// Package slowtest marks the tests that make test leaves out: recomputed documents, figures and transcripts, large instances,
// long random searches. They run with the build tag slow, by make test-slow.
package slowtest

import "testing"

// Only skips the test where the build tag slow is not set.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled {
		t.Skip("it runs with -tags slow")
	}
}
