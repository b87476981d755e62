package lp

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
)

// The map of research/docs/resolution.md: mean error of geometric noisy max over permute-and-flip's on Q(n,2) with scores 2Δ/L apart. Both are
// enclosed, so that which one is smaller is certain; on the lattice of step 2Δ they are equal, exactly.
func TestMapOfGeometricAgainstPermuteAndFlip(t *testing.T) {
	text, err := os.ReadFile("../research/docs/resolution.md")
	require.NoError(t, err)
	geo, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	better, worse := 0, 0
	for _, l := range []int{1, 2, 4} {
		for _, n := range []int{2, 5} {
			if l*n > 10 && !slowtest.Enabled {
				continue
			}
			cells := []string{fmt.Sprintf("2Δ/%d", l), fmt.Sprint(n)}
			for _, e := range []string{"11/10", "3/2", "2", "4", "10", "50"} {
				p, err := newTestTable(Request{N: n, K: 2, Step: l, Epsilon: exp(t, e), Level: DP})
				require.NoError(t, err)
				a, err := rated(p, geo, 160)
				require.NoError(t, err)
				b, err := rated(p, mechanisms.PermuteAndFlip(), 160)
				require.NoError(t, err)
				low, high := new(big.Rat).Quo(a.Low, b.High), new(big.Rat).Quo(a.High, b.Low)
				one := big.NewRat(1, 1)
				switch {
				case l == 1:
					require.Zero(t, low.Cmp(one))
					require.Zero(t, high.Cmp(one))
				case high.Cmp(one) < 0:
					better++
				case low.Cmp(one) > 0:
					worse++
				default:
					t.Errorf("not decided at n = %d, L = %d, e^ε = %s", n, l, e)
				}
				f, _ := low.Float64()
				g, _ := high.Float64()
				require.Equal(t, fmt.Sprintf("%.4f", f), fmt.Sprintf("%.4f", g))
				cells = append(cells, fmt.Sprintf("%.4f", f))
			}
			row := "| " + strings.Join(cells, " | ") + " |\n"
			assert.True(t, l == 1 || strings.Contains(string(text), row), row)
			if os.Getenv("PRINT_MAP") != "" {
				fmt.Print(row)
			}
		}
	}
	t.Logf("geometric noisy max is better in %d cases, worse in %d", better, worse)
}
