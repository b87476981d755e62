package decimal

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSettled(t *testing.T) {
	for text, want := range map[string]string{
		"0.9999999999999994 ± 6e-16":        "1",
		"tight ε 2.0000000000 ± 3e-9, and…": "tight ε 2, and…",
		"-0.50000000002 ± 2e-11":            "-0.5",
		"1.2500000000000e-30 ± 3e-40":       "1.25e-30",
		"1.2500000001 ± 1e-11":              "1.2500000001 ± 1e-11", // 1.25 is not between the ends
		"1.000000 ± 2e-6":                   "1.000000 ± 2e-6",      // the sixth digit is not known
		"0.1234565000 ± 3e-9":               "0.1234565000 ± 3e-9",  // seven digits
		"1.00 ± 1e0":                        "1.00 ± 1e0",
		"\"1.0000000001 ± 1e-9\"":           "\"1.0000000001 ± 1e-9\"", // a name
		"scores ± 1":                        "scores ± 1",
	} {
		assert.Equal(t, want, Settled(text, 6), text)
	}
	assert.Equal(t, "2.0000000000 ± 3e-9", Settled("2.0000000000 ± 3e-9", 12))
}
