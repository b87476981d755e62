package verify

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// e^-ε below all floating-point numbers of any precision is still positive, and comparisons are decided.
func TestHugeEpsilon(t *testing.T) {
	for _, eps := range []string{"900", "8192"} {
		for name, dominates := range map[string]Verdict{"pf": Proved, "em": Proved, "rnm-laplace": Violated} {
			m, err := mechanisms.Lookup(name)
			require.NoError(t, err)
			e, err := number.ParseEpsilon(eps)
			require.NoError(t, err)
			p := Claim{Mechanism: m, Epsilon: e, Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
			r, err := Lattice(context.Background(), p, 3, 2, Options{})
			require.NoError(t, err)
			for _, p := range r.Properties {
				want := Proved
				if p.Name == DominatesEM {
					want = dominates
				}
				require.Equal(t, want, p.Verdict, "%s at ε = %s: %s %s", name, eps, p.Name, p.Reason)
			}
		}
	}
}
