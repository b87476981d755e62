package pairwise

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strconv"
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

// The table of research/docs/unequal.md, Theorem 11: ε₀ is the program's, and at the parameter beside it the candidate loses more than e^ε between two neighbors.
func TestLargestParameterOfThree(t *testing.T) {
	text, err := os.ReadFile("../docs/unequal.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- table: parameters -->\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	assert.Len(t, rows, 12)
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		in := &mechanisms.Instance{Sensitivities: rats(t, strings.Split(cells[0], ",")...), Scores: rats(t, strings.Split(cells[4], ",")...), Epsilon: epsilon(t, cells[1])}
		safe := Parameter(in)
		assert.True(t, strings.HasPrefix(fmt.Sprint(safe.Number()), cells[2]), "%s: ε₀ is %s", row, safe.Number())
		above := epsilon(t, cells[3])
		within := 1.017
		if cells[1] != "0.7" {
			within = 1.004
		}
		assert.Less(t, above.Float(), within*safe.Float(), row)

		loser, err := strconv.Atoi(cells[5])
		require.NoError(t, err)
		near := *in
		near.Scores = nil
		for s, q := range in.Scores {
			move := in.Sensitivities[s]
			if s == loser {
				move = new(big.Rat).Neg(move)
			}
			near.Scores = append(near.Scores, new(big.Rat).Add(q, move))
		}
		f, sum := sharesOf(in, above)
		g, other := sharesOf(&near, above)
		c, sure := f[loser].Quo(sum).Cmp(g[loser].Quo(other).Mul(in.Epsilon.ExpNeg(big.NewRat(-1, 1), 100)))
		assert.True(t, sure && c > 0, row)
		fell, sure := f[loser].Cmp(g[loser].Mul(above.ExpNeg(big.NewRat(-1, 1), 100)))
		assert.True(t, !sure || fell == 0, "f falls by e^p: %s", row)
	}
}
