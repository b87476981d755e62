package lp

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// What exact verification says of the optimal mechanism at each level, against research/docs/levels.md. That of monotone
// and full is regular and ε-DP, as the theorem has it; the paper's is neither wherever its optimum is lower.
func TestOptimaAreVerified(t *testing.T) {
	registered, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	everything := []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum, verify.DominatesEM}
	for _, c := range []struct {
		n, k  int
		a, b  int64
		fails map[Level][]verify.Property
	}{
		{3, 3, 3, 2, map[Level][]verify.Property{Paper: {verify.DP, verify.Monotone, verify.DominatesEM}}},
		{3, 4, 5, 4, map[Level][]verify.Property{Paper: {verify.Monotone}, DP: {verify.Monotone}}},
		{3, 5, 5, 4, map[Level][]verify.Property{Paper: {verify.Monotone}, DP: {verify.Monotone}}},
		{4, 3, 3, 2, map[Level][]verify.Property{Paper: {verify.DP, verify.Monotone}}},
		{4, 4, 5, 4, map[Level][]verify.Property{Paper: {verify.DP, verify.Monotone}}},
		{5, 3, 3, 2, map[Level][]verify.Property{Paper: {verify.DP, verify.Monotone}}},
	} {
		for level := Paper; level <= Full; level++ {
			m := onLattice(registered, 0, Prior{}, level)
			p := verify.Claim{Mechanism: m, Epsilon: expEps(t, c.a, c.b), Sensitivities: []*big.Rat{big.NewRat(1, 2)}}
			report, err := verify.Lattice(context.Background(), p, c.n, c.k, verify.Options{})
			require.NoError(t, err)
			for _, property := range everything {
				want := verify.Proved
				if slices.Contains(c.fails[level], property) {
					want = verify.Violated
				}
				result := report.Find(property)
				require.NotNil(t, result, property)
				assert.Equal(t, want, result.Verdict, "(%d,%d), e^ε = %d/%d, %v: %v", c.n, c.k, c.a, c.b, level, property)
			}
		}
	}
}
