package pairwise

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/heterogeneous"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// The table of research/docs/unequal.md: pairwise is ε-DP on each grid, no worse than pf-pair, and for three candidates and e^ε <= 2 within 9.2 % of the optimum.
func TestTableOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/unequal.md")
	require.NoError(t, err)
	for i, c := range []struct {
		sensitivities string
		steps         int
		exp           string
	}{
		{"1,1,4", 4, "2"}, {"1,1,4", 4, "4"}, {"1,2,4", 4, "2"}, {"1,2,4", 4, "4"},
		{"1,1,4", 8, "2"}, {"1,1,4", 12, "2"}, {"1,2,4", 8, "2"}, {"1,4,4", 8, "2"}, {"1,4,4", 8, "4"}, {"2,3,4", 8, "2"},
		{"1,1,1,4", 3, "2"}, {"1,1,4,4", 3, "2"}, {"1,4,4,4", 3, "2"}, {"1,2,3,4", 3, "2"},
	} {
		if i > 0 && !slowtest.Enabled {
			break
		}
		d := rats(t, strings.Split(c.sensitivities, ",")...)
		eps, err := number.ParseExp(c.exp)
		require.NoError(t, err)
		a, err := heterogeneous.Solve(context.Background(), heterogeneous.Request{
			Grid:    heterogeneous.Grid{Sensitivities: d, From: new(big.Rat), Step: big.NewRat(1, 1), Steps: c.steps, ShiftInvariant: true},
			Epsilon: eps, Mechanisms: []mechanisms.Mechanism{same(), Mechanism{}},
		})
		require.NoError(t, err)
		flip, own := a.Mechanisms[0], a.Mechanisms[1]
		assert.Contains(t, string(text), fmt.Sprintf("| %s | 0..%d | %s | %s | %s |\n", c.sensitivities, c.steps, c.exp, flip.Ratio.Format(5), own.Ratio.Format(5)))
		assert.Equal(t, verify.Proved, own.DP, c)
		assert.Less(t, own.Ratio.Float64(), flip.Ratio.Float64(), c)
		if most, ok := own.Ratio.Upper(); len(d) == 3 && c.exp == "2" {
			require.True(t, ok)
			assert.Negative(t, most.Cmp(big.NewRat(1092, 1000)), c)
		}
	}
}
