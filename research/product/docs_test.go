package product

import (
	"context"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/lp"
	"optratio/number"
)

// TestDocument: the lattices of the table in research/docs/product.md have ratios with that lower end, and the solved ones lie within.
func TestDocument(t *testing.T) {
	file, err := os.ReadFile("../docs/product.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (\d+) \| (\d+) \| \[([\d.]+), ([\d.]+)\] \| ([\d.]*) *\|$`).FindAllStringSubmatch(string(file), -1)
	require.Len(t, rows, 5)
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	for _, row := range rows {
		n, _ := strconv.Atoi(row[1])
		k, _ := strconv.Atoi(row[2])
		require.Equal(t, lattice.Orbits(n, k).String(), row[3])
		stated := func(text string) *big.Rat {
			x, ok := new(big.Rat).SetString(text)
			require.True(t, ok, text)
			return x
		}
		if n+k > 16 && !slowtest.Enabled {
			continue
		}
		r, err := Bound(context.Background(), n, k, eps, 256, quiet)
		require.NoError(t, err)
		flip := lp.PermuteAndFlipTotal(n, k, eps, 256)
		low, ok := number.Enclosed(flip.Quo(flip.Sub(r.Saving))).Lower()
		require.True(t, ok)
		require.GreaterOrEqual(t, low.Cmp(stated(row[4])), 0, "%s: %s", row[0], low.FloatString(8))
		require.LessOrEqual(t, low.Cmp(stated(row[5])), 0, row[0])
		if row[6] != "" {
			require.LessOrEqual(t, low.Cmp(stated(row[6])), 0, row[0])
			require.LessOrEqual(t, stated(row[6]).Cmp(stated(row[5])), 0, row[0])
		}
	}
}
