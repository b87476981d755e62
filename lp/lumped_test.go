package lp

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/lp/linear"
)

// The enclosure that lumping gives holds the optimum, at every level and for both objectives.
func TestLumpedEnclosesTheOptimum(t *testing.T) {
	for _, s := range [][2]int{{3, 3}, {4, 4}, {5, 3}} {
		for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
			for _, level := range []Level{Paper, Full} {
				r := Request{N: s[0], K: s[1], Epsilon: decimalEps(t, "0.4"), Objective: o, Level: level, Mechanisms: pfAndEM(t),
					Method: Lumped, Solver: linear.Embedded{}, Gap: big.NewRat(1, 1e9)}
				wide, err := Ratio(context.Background(), r)
				require.NoError(t, err)
				assert.Equal(t, ProofLumped, wide.Proof)
				r.Method = Enumerated
				exact, err := Ratio(context.Background(), r)
				require.NoError(t, err)
				for i := range wide.Mechanisms {
					lo, _ := wide.Mechanisms[i].Ratio.Lower()
					hi, _ := wide.Mechanisms[i].Ratio.Upper()
					truth, _ := exact.Mechanisms[i].Ratio.Lower()
					above, _ := exact.Mechanisms[i].Ratio.Upper()
					assert.LessOrEqual(t, lo.Cmp(above), 0)
					assert.LessOrEqual(t, truth.Cmp(hi), 0)
				}
			}
		}
	}
}
