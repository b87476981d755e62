package optimum

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// TestLargeEpsilon: where ε is large and δ > 0 the numbers of a program differ by many orders, and some solves in floating point fail. Every small problem is decided all
// the same, with a certificate that check accepts, and where e^ε is rational as the dense program is in exact arithmetic.
func TestLargeEpsilon(t *testing.T) {
	problems := 300
	if slowtest.Enabled {
		problems = 800
	}
	rng := rand.New(rand.NewPCG(35, 10))
	decided := 0
	for i := range problems {
		p := random(rng)
		eps := []int64{8, 12, 20, 40}[rng.IntN(4)]
		e, err := number.FromEpsilon(big.NewRat(eps, 1))
		require.NoError(t, err)
		delta := []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 1000), big.NewRat(1, 3), big.NewRat(1, 1_000_000)}[rng.IntN(4)]
		exp := upper(e)
		exp = new(big.Rat).SetInt(new(big.Int).Quo(exp.Num(), exp.Denom()))
		if i%2 == 0 {
			e, err = number.FromExp(exp)
			require.NoError(t, err)
		}
		a, err := Solve(context.Background(), Request{Problem: p, Epsilon: e, Delta: delta})
		if errors.Is(err, ErrProblem) {
			continue
		}
		require.NoError(t, err, "%d: %+v", i, p)
		require.Empty(t, a.Undecided, "%d: ε = %d, δ = %s, %+v", i, eps, delta.RatString(), p)
		checked(t, a)
		decided++
		if i%6 == 0 {
			got, ok := a.Optimum.Rat()
			require.True(t, ok, i)
			want := dense(t, p, exp, delta)
			require.NotNil(t, want, i)
			require.Equal(t, want.RatString(), got.RatString(), "%d: %+v", i, p)
		}
	}
	require.Greater(t, decided, problems/2)
}
