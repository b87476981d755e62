package chain

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProjection checks the conditions that characterise the nearest point x of the cone to a: x in the cone, a - x at right angles to x
// and at no acute angle to any generator (0, …, 0, 1, z, z², …).
func TestProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, z := range []float64{1, 0.9, 0.6, 0.01} {
		f := &Form{Z: z}
		f.Prepare(12)
		for range 300 {
			a := make([]float64, 1+rng.IntN(12))
			for i := range a {
				a[i] = rng.NormFloat64() * math.Pow(z, float64(i)*rng.Float64())
			}
			x := slices.Clone(a)
			f.project(x, make([]block, 13))
			dot := 0.0
			for i := range x {
				dot += (a[i] - x[i]) * x[i]
				if i > 0 {
					require.GreaterOrEqual(t, x[i], z*x[i-1]*(1-1e-12))
				}
			}
			require.GreaterOrEqual(t, x[0], 0.0)
			require.InDelta(t, 0, dot, 1e-12)
			for i := range x {
				angle, power := 0.0, 1.0
				for j := i; j < len(x); j++ {
					angle += power * (a[j] - x[j])
					power *= z
				}
				require.LessOrEqual(t, angle, 1e-12)
			}
		}
	}
}
