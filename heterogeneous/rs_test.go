package heterogeneous

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// The estimates of random stopping in the docs against its enclosures, which are slow; they also prove it ε-DP on every grid there.
func TestRandomStoppingRigorously(t *testing.T) {
	slowtest.Only(t)
	for i, c := range cases {
		for _, e := range []string{"5/4", "2", "4"} {
			a := solveWith(t, Request{Grid: docGrid(i, true), Epsilon: exp(t, e)}, "rs", "≈rs")
			assert.Equal(t, verify.Proved, a.Mechanisms[0].DP, "Δ = %s", c.sensitivities)
			assert.True(t, a.Mechanisms[0].Ratio.IsRigorous())
			assert.InEpsilon(t, a.Mechanisms[0].Ratio.Float64(), a.Mechanisms[1].Ratio.Float64(), 1e-8)
			exact := strings.TrimSuffix(a.Mechanisms[0].Ratio.Format(4), "…")
			assert.Contains(t, a.Mechanisms[1].Ratio.Format(5), exact)
		}
	}
}
