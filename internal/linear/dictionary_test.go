package linear

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// private is the program of the best mechanism for a chain of inputs and as many outputs, at z = e^{-ε}, with random losses.
func private(rng *rand.Rand, inputs int, z *big.Rat) *Rational {
	r := &Rational{}
	one, zero := big.NewRat(1, 1), new(big.Rat)
	index, value := make([][]int32, inputs*inputs), make([][]*big.Rat, inputs*inputs)
	put := func(row, column int, x *big.Rat) {
		index[column], value[column] = append(index[column], int32(row)), append(value[column], x)
	}
	for x := range inputs {
		row := r.AddRow(one, one)
		for o := range inputs {
			put(row, x*inputs+o, one)
		}
	}
	for x := 1; x < inputs; x++ {
		for o := range inputs {
			for _, pair := range [][2]int{{x, x - 1}, {x - 1, x}} {
				row := r.AddRow(zero, nil)
				put(row, pair[0]*inputs+o, one)
				put(row, pair[1]*inputs+o, new(big.Rat).Neg(z))
			}
		}
	}
	for x := range inputs {
		for o := range inputs {
			loss := big.NewRat(1+rng.Int64N(4), 1+rng.Int64N(3))
			if x == o {
				loss = zero
			}
			r.AddCol(loss, zero, nil, index[x*inputs+o], value[x*inputs+o])
		}
	}
	return r
}

// TestPivotsWithManyBits: the solution is feasible and optimal by the exact check that every solution meets, and equals the one that floating point
// leads to where it leads to one. At z = 10^-13 and below, losses are far below what floating point tells from 0.
func TestPivotsWithManyBits(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		z := big.NewRat(1+rng.Int64N(9), 10)
		if seed%3 == 0 {
			z = new(big.Rat).SetFrac(big.NewInt(3), new(big.Int).Exp(big.NewInt(10), big.NewInt(13+100*int64(seed%2)), nil))
		}
		r := private(rng, 3+int(seed%3), z)
		e, err := r.pivotExact(ctx)
		require.NoError(t, err)
		v := r.violations(e.Basis, e.X, e.Y, new(big.Rat))
		require.True(t, v.none(), "seed %d", seed)
		if seed%3 == 0 {
			require.Positive(t, e.Objective.Sign())
			require.Negative(t, e.Objective.Cmp(big.NewRat(1, 1_000_000)))
			continue
		}
		require.NoError(t, e.Basis.Check(r.Model()))
		other, err := r.Optimize(ctx, e.Basis, Embedded{})
		require.NoError(t, err)
		require.Equal(t, other.Objective.RatString(), e.Objective.RatString())
		result, err := Embedded{}.Solve(ctx, r.Model(), Options{})
		require.NoError(t, err)
		cold, err := r.Optimize(ctx, result.Basis, Embedded{})
		require.NoError(t, err)
		require.Equal(t, cold.Objective.RatString(), e.Objective.RatString())
	}
	// No solution, negative costs, other bounds and large programs are for other methods.
	one, zero := big.NewRat(1, 1), new(big.Rat)
	for name, change := range map[string]func(*Rational){
		"no solution":   func(r *Rational) { r.AddRow(one, nil) },
		"negative cost": func(r *Rational) { r.Cost[1] = big.NewRat(-1, 1) },
		"upper bound":   func(r *Rational) { r.ColUpper[0] = one },
		"lower bound":   func(r *Rational) { r.ColLower[0] = one },
		"large": func(r *Rational) {
			for range mostEntries {
				r.AddRow(zero, nil)
			}
		},
	} {
		r := private(rand.New(rand.NewPCG(1, 1)), 3, big.NewRat(1, 2))
		change(r)
		_, err := r.pivot(ctx, fewBits)
		require.ErrorIs(t, err, ErrUnsettled, name)
	}
}
