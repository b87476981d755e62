package lp

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// What theorems say is what the program says: mechanisms' objectives are equal to those summed over the lattice, lower bounds are not above
// exact optima and permute-and-flip is found optimal exactly where it is.
func TestTheoremsAgreeWithPrograms(t *testing.T) {
	rho, err := ParsePrior("geometric:" + big.NewRat(2, 3).RatString())
	require.NoError(t, err)
	uneven, err := Product([]*big.Rat{big.NewRat(2, 1), big.NewRat(1, 3), big.NewRat(3, 1)})
	require.NoError(t, err)
	tail2, err := ParseLoss("tail:2")
	require.NoError(t, err)
	tailHalf, err := ParseLoss("tail:3/2")
	require.NoError(t, err)
	optimal := map[bool]int{}
	check := func(q Request, e string) {
		t.Helper()
		q.Epsilon, err = number.ParseExp(e)
		require.NoError(t, err)
		name := fmt.Sprintf("%d %d %d %s %s worst %v monotone %v e^ε = %s", q.N, q.K, q.parts(), q.Loss, q.Prior, q.Worst, q.Level.monotone(), e)
		c := q.theorems(t.Context(), 256)
		p, err := newTestTable(q)
		require.NoError(t, err)
		for m, known := range map[mechanisms.Mechanism]number.Number{mechanisms.PermuteAndFlip(): c.flip, mechanisms.Exponential(): c.exponential} {
			if !known.IsValid() {
				require.True(t, !q.Worst && m == mechanisms.Exponential(), name)
				continue
			}
			got := enclosureOf(known)
			want, err := rated(p, m, 256)
			require.NoError(t, err)
			if q.parts() == 1 {
				require.True(t, want.Exact() && got.Exact(), name)
			}
			assert.LessOrEqual(t, want.Low.Cmp(got.High), 0, name)
			assert.LessOrEqual(t, got.Low.Cmp(want.High), 0, name)
			width := new(big.Rat).Sub(got.High, got.Low)
			assert.Negative(t, width.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200))), name)
		}
		s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.True(t, s.exact(), name)
		assert.LessOrEqual(t, c.low.Cmp(s.low()), 0, name)
		assert.GreaterOrEqual(t, c.high.Cmp(s.low()), 0, name)
		assert.GreaterOrEqual(t, c.most.Cmp(s.low()), 0, name)
		if c.pfOptimal != nil {
			assert.Equal(t, *c.pfOptimal, enclosureOf(c.flip).Low.Cmp(s.low()) <= 0, name)
			optimal[*c.pfOptimal]++
			if !q.Worst && q.parts() == 1 {
				again, decided := chains(t, q).flipOptimal()
				assert.True(t, decided && again == *c.pfOptimal, name)
			}
		}
	}
	for _, n := range []int{1, 2, 3, 4} {
		for _, e := range []string{"5/4", "2"} {
			for _, loss := range []Loss{Loss{}, Loss{kind: "square"}, Loss{kind: "top1"}, tail2} {
				for _, prior := range []Prior{Prior{}, rho, uneven} {
					check(Request{N: n, K: 2, Step: 1, Loss: loss, Prior: prior}, e)
				}
			}
			for level := Paper; level <= Full; level++ {
				check(Request{N: n, K: 2, Step: 1, Loss: Loss{kind: "top1"}, Worst: true, Level: level}, e)
				check(Request{N: n, K: 2, Step: 1, Loss: tail2, Worst: true, Level: level}, e)
			}
		}
	}
	for _, n := range []int{2, 3} {
		for _, loss := range []Loss{Loss{kind: "top1"}, tailHalf, tail2} {
			check(Request{N: n, K: 2, Step: 2, Loss: loss, Worst: true}, "3/2")
			check(Request{N: n, K: 2, Step: 2, Loss: loss, Worst: true, Level: DP}, "3/2")
		}
		check(Request{N: n, K: 1, Step: 2, Loss: Loss{kind: "square"}, Prior: uneven, Level: DP}, "3/2")
		for _, loss := range []Loss{Loss{}, tailHalf} { // Theorem 5 of research/docs/resolution.md
			for _, level := range []Level{DP, Full} {
				for _, e := range []string{"9/8", "4"} {
					check(Request{N: n, K: 2, Step: 2, Loss: loss, Prior: rho, Level: level}, e)
				}
			}
		}
		check(Request{N: n, K: 1, Step: 3, Loss: Loss{kind: "top1"}, Level: DP}, "3")
	}
	assert.Greater(t, min(optimal[true], optimal[false]), 10)
}

// Where nothing can be enumerated the theorems still answer, in numbers of sensible length.
func TestTheoremsOfLargeLattices(t *testing.T) {
	eps, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	q := Request{N: 100_000, K: 50, Step: 3, Epsilon: eps, Loss: Loss{kind: "top1"}, Worst: true}
	c := q.theorems(t.Context(), 256)
	require.NotEmpty(t, c.proof)
	ratio := c.flip.Over(number.Bounds(c.low, c.high))
	assert.Less(t, ratio.Float64(), 1.2)
	assert.GreaterOrEqual(t, ratio.Float64(), 1.0)
	// Totals of a million digits: by research/docs/threshold.md permute-and-flip is optimal up to a part of about n (k/(k+1))^n, 10^-41,386 here.
	q = Request{N: 1_000_000, K: 10, Epsilon: decimalEps(t, "0.1")}
	c = q.theorems(t.Context(), 256)
	assert.Less(t, c.flip.Over(number.Bounds(c.low, c.high)).Float64(), 1+1e-15)
	q = Request{N: 1000, K: 20, Epsilon: eps, Loss: Loss{kind: "square"}}
	c = q.theorems(t.Context(), 256)
	assert.True(t, c.pfOptimal != nil && *c.pfOptimal, "ε = 0.7 is above ln 2")
}

// What is said of all ε, where no depth weighs and costs, where only multiples of 2Δ do, and elsewhere.
func TestWherePermuteAndFlipIsOptimal(t *testing.T) {
	factors := func(xs ...int64) Prior {
		var g []*big.Rat
		for _, x := range xs {
			g = append(g, big.NewRat(x, 4))
		}
		p, err := Product(g)
		require.NoError(t, err)
		return p
	}
	tail2, err := ParseLoss("tail:2")
	require.NoError(t, err)
	for i, c := range []struct {
		q    Request
		want where
	}{
		{Request{N: 3, K: 3, Loss: Loss{kind: "square"}}, optimalFromSomeOn},
		{Request{N: 3, K: 3}, optimalFromSomeOn},
		{Request{N: 3, K: 1}, optimalEverywhere},
		{Request{N: 3, K: 1, Prior: factors(1, 2)}, optimalFromSomeOn},
		{Request{N: 2, K: 3, Prior: factors(1, 2, 3, 4)}, optimalEverywhere},
		{Request{N: 3, K: 2, Prior: factors(4, 3, 1)}, optimalEverywhere},
		{Request{N: 3, K: 2, Prior: factors(1, 9, 0), Loss: tail2}, optimalEverywhere},
		{Request{N: 3, K: 3, Prior: Box(), Loss: tail2}, optimalUnknown},
		{Request{N: 3, K: 3, Worst: true}, optimalUnknown},
		{Request{N: 2, K: 3, Step: 2}, optimalNowhere},
		{Request{N: 5, K: 3, Step: 7, Loss: Loss{kind: "square"}}, optimalNowhere},
		{Request{N: 3, K: 2, Step: 2, Loss: tail2}, optimalUnknown},
		{Request{N: 2, K: 1, Step: 2, Prior: factors(1, 0, 3)}, optimalUnknown},
		{Request{N: 1, K: 3, Step: 2}, optimalEverywhere},
	} {
		got, err := c.q.threshold()
		assert.Equal(t, c.want, got, "case %d", i)
		assert.Equal(t, c.want == optimalUnknown, err != nil, "case %d", i)
	}
}
