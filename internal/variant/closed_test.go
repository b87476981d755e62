package variant_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/variant"
	"optratio/mechanisms"
	"optratio/number"
)

// What theorems say is what the program says: mechanisms' objectives are equal to those summed over the lattice, lower bounds are not above
// exact optima and permute-and-flip is found optimal exactly where it is.
func TestTheoremsAgreeWithPrograms(t *testing.T) {
	rho, err := variant.Geometric(big.NewRat(2, 3))
	require.NoError(t, err)
	uneven, err := variant.Product([]*big.Rat{big.NewRat(2, 1), big.NewRat(1, 3), big.NewRat(3, 1)})
	require.NoError(t, err)
	tail2, err := variant.ParseLoss("tail:2")
	require.NoError(t, err)
	tailHalf, err := variant.ParseLoss("tail:3/2")
	require.NoError(t, err)
	optimal := map[bool]int{}
	check := func(q variant.Question, e string) {
		t.Helper()
		q.Epsilon, err = number.ParseExp(e)
		require.NoError(t, err)
		name := fmt.Sprintf("%d %d %d %s %s worst %v monotone %v e^ε = %s", q.N, q.K, q.L, q.Loss, q.Prior, q.Worst, q.Monotone, e)
		c, err := q.Closed(256)
		require.NoError(t, err)
		p, err := variant.New(q)
		require.NoError(t, err)
		for m, known := range map[mechanisms.Mechanism]*variant.Closed{mechanisms.PermuteAndFlip(): c, mechanisms.Exponential(): c} {
			got := known.PermuteAndFlip
			if m == mechanisms.Exponential() {
				got = known.Exponential
			}
			if got == nil {
				require.True(t, !q.Worst && m == mechanisms.Exponential(), name)
				continue
			}
			want, err := p.Rate(context.Background(), m, 256)
			require.NoError(t, err)
			if q.L == 1 {
				require.True(t, want.Exact() && got.Exact(), name)
			}
			assert.LessOrEqual(t, want.Low.Cmp(got.High), 0, name)
			assert.LessOrEqual(t, got.Low.Cmp(want.High), 0, name)
			width := new(big.Rat).Sub(got.High, got.Low)
			assert.Negative(t, width.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200))), name)
		}
		s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.True(t, s.Optimum.Exact(), name)
		assert.LessOrEqual(t, c.Optimum.Low.Cmp(s.Optimum.Low), 0, name)
		assert.GreaterOrEqual(t, c.Optimum.High.Cmp(s.Optimum.Low), 0, name)
		assert.GreaterOrEqual(t, c.MaxLoss.Cmp(s.Optimum.Low), 0, name)
		if c.PFOptimal != nil {
			assert.Equal(t, *c.PFOptimal, c.PermuteAndFlip.Low.Cmp(s.Optimum.Low) <= 0, name)
			optimal[*c.PFOptimal]++
			if !q.Worst && q.L == 1 {
				again, decided := p.PermuteAndFlipOptimal()
				assert.True(t, decided && again == *c.PFOptimal, name)
			}
		}
	}
	for _, n := range []int{1, 2, 3, 4} {
		for _, e := range []string{"5/4", "2"} {
			for _, loss := range []variant.Loss{variant.Mean(), variant.Square(), variant.Top1(), tail2} {
				for _, prior := range []variant.Prior{variant.Uniform(), rho, uneven} {
					check(variant.Question{N: n, K: 2, L: 1, Loss: loss, Prior: prior}, e)
				}
			}
			for _, monotone := range []bool{false, true} {
				for _, neighbors := range []bool{false, true} {
					check(variant.Question{N: n, K: 2, L: 1, Loss: variant.Top1(), Worst: true, Monotone: monotone, Neighbors: neighbors}, e)
					check(variant.Question{N: n, K: 2, L: 1, Loss: tail2, Worst: true, Monotone: monotone, Neighbors: neighbors}, e)
				}
			}
		}
	}
	for _, n := range []int{2, 3} {
		for _, loss := range []variant.Loss{variant.Top1(), tailHalf, tail2} {
			check(variant.Question{N: n, K: 2, L: 2, Loss: loss, Worst: true}, "3/2")
			check(variant.Question{N: n, K: 2, L: 2, Loss: loss, Worst: true, Neighbors: true}, "3/2")
		}
		check(variant.Question{N: n, K: 1, L: 2, Loss: variant.Square(), Prior: uneven, Neighbors: true}, "3/2")
		for _, loss := range []variant.Loss{variant.Mean(), tailHalf} { // Theorem 5 of docs/results/resolution.md
			for _, monotone := range []bool{false, true} {
				for _, e := range []string{"9/8", "4"} {
					check(variant.Question{N: n, K: 2, L: 2, Loss: loss, Prior: rho, Neighbors: true, Monotone: monotone}, e)
				}
			}
		}
		check(variant.Question{N: n, K: 1, L: 3, Loss: variant.Top1(), Neighbors: true}, "3")
	}
	assert.Greater(t, min(optimal[true], optimal[false]), 10)
}

// Where nothing can be enumerated the theorems still answer, in numbers of sensible length.
func TestTheoremsOfLargeLattices(t *testing.T) {
	eps, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	q := variant.Question{N: 100_000, K: 50, L: 3, Epsilon: eps, Loss: variant.Top1(), Worst: true}
	c, err := q.Closed(256)
	require.NoError(t, err)
	require.True(t, c.Theorem)
	ratio := c.PermuteAndFlip.Over(c.Optimum)
	assert.Less(t, ratio.Float64(), 1.2)
	assert.GreaterOrEqual(t, ratio.Float64(), 1.0)
	q = variant.Question{N: 1000, K: 20, Epsilon: eps, Loss: variant.Square()}
	c, err = q.Closed(256)
	require.NoError(t, err)
	assert.True(t, c.PFOptimal != nil && *c.PFOptimal, "ε = 0.7 is above ln 2")
}

// What is said of all ε, where no depth weighs and costs, where only multiples of 2Δ do, and elsewhere.
func TestWherePermuteAndFlipIsOptimal(t *testing.T) {
	factors := func(xs ...int64) variant.Prior {
		var g []*big.Rat
		for _, x := range xs {
			g = append(g, big.NewRat(x, 4))
		}
		p, err := variant.Product(g)
		require.NoError(t, err)
		return p
	}
	tail2, err := variant.ParseLoss("tail:2")
	require.NoError(t, err)
	for i, c := range []struct {
		q    variant.Question
		want variant.Where
	}{
		{variant.Question{N: 3, K: 3}, variant.FromSomeOn},
		{variant.Question{N: 3, K: 1}, variant.Everywhere},
		{variant.Question{N: 3, K: 1, Prior: factors(1, 2)}, variant.FromSomeOn},
		{variant.Question{N: 2, K: 3, Prior: factors(1, 2, 3, 4)}, variant.Everywhere},
		{variant.Question{N: 3, K: 2, Prior: factors(4, 3, 1)}, variant.Everywhere},
		{variant.Question{N: 3, K: 2, Prior: factors(1, 9, 0), Loss: tail2}, variant.Everywhere},
		{variant.Question{N: 3, K: 3, Prior: variant.Box()}, variant.Unknown},
		{variant.Question{N: 3, K: 3, Worst: true}, variant.Unknown},
		{variant.Question{N: 2, K: 3, L: 2}, variant.Nowhere},
		{variant.Question{N: 5, K: 3, L: 7, Loss: variant.Square()}, variant.Nowhere},
		{variant.Question{N: 3, K: 2, L: 2, Loss: tail2}, variant.Unknown},
		{variant.Question{N: 2, K: 1, L: 2, Prior: factors(1, 0, 3)}, variant.Unknown},
		{variant.Question{N: 1, K: 3, L: 2}, variant.Everywhere},
	} {
		got, err := c.q.FlipOptimal()
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "case %d", i)
	}
}
