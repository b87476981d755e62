package job

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/verify"
)

// Names of properties are read once each; others are refused, as are other neighbors.
func TestNamesOfVerdicts(t *testing.T) {
	for names, want := range map[string][]verify.Property{"dp,sum,dp": {verify.DP, verify.Sum}, "": nil} {
		assert.Equal(t, want, (&Target{Property: names}).properties())
	}
	assert.ErrorContains(t, caught(func() { (&Target{Property: "dp,privacy"}).properties() }), `unknown property "privacy"`)
	where := &Domain{Domain: "../../testdata/spiky.csv", Neighbors: "l1"}
	in := &reading{ctx: t.Context(), Host: &Host{Open: func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("0,-1")), nil
	}}}
	assert.ErrorContains(t, caught(func() { where.vectors(in, nil) }), `neighbors "l1" are neither linf nor monotonic`)
}
