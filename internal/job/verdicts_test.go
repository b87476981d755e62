package job

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/inquiry"
	"optratio/verify"
)

// Names of properties and neighbors are read once each; others are refused.
func TestNamesOfVerdicts(t *testing.T) {
	for names, want := range map[string][]verify.Property{"dp,sum,dp": {verify.DP, verify.Sum}, "": nil} {
		assert.Equal(t, want, (&Target{Property: names}).properties())
	}
	assert.ErrorContains(t, caught(func() { (&Target{Property: "dp,privacy"}).properties() }), `unknown property "privacy"`)
	for _, m := range []bool{false, true} {
		back, err := neighborhood(inquiry.Model(m))
		assert.NoError(t, err)
		assert.Equal(t, m, back)
	}
	_, err := neighborhood("l1")
	assert.Error(t, err)
}
