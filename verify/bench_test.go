package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// BenchmarkLattice decides all properties of permute-and-flip on a lattice.
func BenchmarkLattice(b *testing.B) {
	half, err := number.ParseEpsilon("0.5")
	require.NoError(b, err)
	rational, err := number.ParseExp("3/2")
	require.NoError(b, err)
	for _, eps := range []number.Epsilon{half, rational} {
		for _, size := range [][2]int{{5, 5}, {3, 50}} {
			b.Run(fmt.Sprintf("n=%d/k=%d/eps=%.1f", size[0], size[1], eps.Float()), func(b *testing.B) {
				for b.Loop() {
					report, err := Lattice(b.Context(), Claim{Mechanism: mechanisms.PermuteAndFlip(), Epsilon: eps}, size[0], size[1], Options{})
					require.NoError(b, err)
					require.Equal(b, Proved, report.Find(DP).Verdict)
				}
			})
		}
	}
}
