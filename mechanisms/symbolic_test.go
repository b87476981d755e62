package mechanisms

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"optratio/number"
)

// The same body over rational functions and over rationals: substituting z = 2/3 must give the
// exact probabilities at e^ε = 3/2, and substituting y² = z those of half-integer depths.
func TestSymbolicAgreesWithExact(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	z, _ := eps.Z()
	for _, name := range []string{"em", "pf"} {
		m := registry[name].(regular)
		for _, depths := range [][]int{{0}, {0, 0}, {1, 0, 3}, {2, 2, 0, 1, 0}} {
			in := OnLattice(depths, eps)
			want, err := m.Exact(in)
			require.NoError(t, err)
			got, err := m.Symbolic(in, big.NewRat(1, 1))
			require.NoError(t, err)
			half, err := m.Symbolic(in, big.NewRat(1, 2))
			require.NoError(t, err)
			for r := range want {
				p, ok := got[r].EvalRat(z)
				require.True(t, ok)
				require.Zero(t, want[r].Cmp(p), "%s %v candidate %d: %s, want %s", name, depths, r, p, want[r])
				y := big.NewRat(5, 7)
				a, _ := got[r].EvalRat(new(big.Rat).Mul(y, y))
				b, _ := half[r].EvalRat(y)
				require.Zero(t, a.Cmp(b))
			}
		}
		_, err := m.Symbolic(OnLattice([]int{0, 1}, eps), big.NewRat(2, 1))
		require.ErrorIs(t, err, ErrNotRational)
	}
}
