package topk

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// The tables of research/docs/topk.md: ratios to the optimum, those of mechanisms within the budget at ε and pairwise noisy max's at the ε that its sets have, and
// tight ε over the budget.
func TestTables(t *testing.T) {
	slowtest.Only(t)
	text, err := os.ReadFile("../../research/docs/topk.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- table: ratios -->\n")
	require.True(t, found)
	names := strings.Split(standard, ",")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) < 2 && rows > 0 {
			break
		}
		n, err := strconv.Atoi(cells[0])
		if err != nil {
			continue
		}
		rows++
		whole := func(s string) int {
			i, err := strconv.Atoi(s)
			require.NoError(t, err)
			return i
		}
		k, top := whole(cells[1]), whole(cells[2])
		eps, err := number.ParseEpsilon(cells[3])
		require.NoError(t, err)
		a := ask(t, n, k, top, eps, names...)
		want := cells
		got := append([]string{}, cells[:4]...)
		places := func(x interface{ Float64() float64 }, places int) string {
			return fmt.Sprintf("%.*f", places, x.Float64())
		}
		got = append(got, places(a.Optimum, 5))
		for _, m := range a.Mechanisms {
			ratio := m.Ratio
			if m.Name == "pairwise" || m.Name == "completed" {
				ratio = m.Fair
			}
			assert.True(t, ratio.IsRigorous())
			got = append(got, places(ratio, 3))
		}
		got = append(got, fmt.Sprintf("%.3f", a.Mechanisms[0].Sets.Float64()/eps.Float()))
		budget := eps.Float()
		assert.LessOrEqual(t, a.Mechanisms[6].Fair.Float64(), 1.11)
		assert.Equal(t, top == 2 && n == 4 && budget >= 1 || budget == 3, a.Mechanisms[6].Sets.Float64() < budget+1e-12, "where no more than ε is needed")
		assert.LessOrEqual(t, a.Mechanisms[5].Sets.Float64(), 1.06*eps.Float(), "pairwise noisy max needs up to 6 % more")
		assert.Equal(t, strings.Join(want, " | "), strings.Join(got, " | "))
		// What is said beside the table.
		for _, m := range a.Mechanisms[:3] {
			assert.InDelta(t, m.Sets.Float64(), m.Lists.Float64(), 1e-12, "lists give away no more than sets")
		}
		if cells[3] == "1" {
			assert.Greater(t, a.Mechanisms[2].Ratio.Float64(), 1.1)
			assert.Less(t, a.Mechanisms[2].Ratio.Float64(), 1.55)
		}
		assert.Less(t, a.Mechanisms[5].Fair.Float64(), 1.175)
		assert.InDelta(t, eps.Float(), a.Mechanisms[2].Sets.Float64(), 1e-12)
		assert.Less(t, a.Mechanisms[2].Error.Float64(), a.Mechanisms[1].Error.Float64(), "one-shot exponential noise beats peeling permute-and-flip")
		assert.Less(t, a.Mechanisms[1].Error.Float64(), a.Mechanisms[0].Error.Float64(), "which beats peeling the exponential mechanism")
	}
	assert.Equal(t, 8, rows)
}

// standard are the mechanisms that the command rates unless others are asked for.
const standard = "peel:em,peel:pf,one-shot:exponential,joint:em,joint:pf,pairwise,completed"
