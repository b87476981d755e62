package variant_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
)

// The recurrence's verdict against exact optima, for random losses, product priors and arbitrary symmetric priors, at several levels.
func TestRecurrenceAgainstThePrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pf, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	yes, no := 0, 0
	for trial := range 120 {
		n, k := 2+rng.IntN(3), 1+rng.IntN(3)
		losses := []*big.Rat{new(big.Rat)}
		for range k {
			losses = append(losses, new(big.Rat).Add(losses[len(losses)-1], big.NewRat(int64(rng.IntN(4)), 2)))
		}
		if losses[k].Sign() == 0 {
			losses[k].SetInt64(1)
		}
		loss, err := variant.Losses(losses)
		require.NoError(t, err)
		prior := variant.Uniform()
		switch trial % 3 {
		case 1:
			factors := []*big.Rat{big.NewRat(int64(1+rng.IntN(4)), 1)}
			for range k {
				factors = append(factors, big.NewRat(int64(rng.IntN(4)), 2))
			}
			prior, err = variant.Product(factors)
		case 2:
			lat, _ := lattice.New(n, k)
			var depths [][]int
			var weights []*big.Rat
			for _, m := range lat.All() {
				depths = append(depths, lattice.Depths(m))
				weights = append(weights, big.NewRat(int64(rng.IntN(5)), 1))
			}
			weights[0].SetInt64(1)
			prior, err = variant.Weighted(depths, weights)
		}
		require.NoError(t, err)
		q := variant.Question{N: n, K: k, Epsilon: exp(t, []string{"5/4", "3/2", "2", "4"}[rng.IntN(4)]), Loss: loss, Prior: prior,
			Neighbors: rng.IntN(2) == 0, Monotone: rng.IntN(2) == 0}
		p, err := variant.New(q)
		require.NoError(t, err)
		optimal, decided := p.PermuteAndFlipOptimal()
		require.True(t, decided)
		s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.Empty(t, s.Undecided)
		optimum := s.Optimum
		b, err := p.Rate(context.Background(), pf, 128)
		require.NoError(t, err)
		require.True(t, optimum.Exact() && b.Exact())
		assert.Equal(t, optimum.Low.Cmp(b.Low) == 0, optimal, "%+v: optimum %s, permute-and-flip %s", q, optimum.Low, b.Low)
		if optimal {
			yes++
		} else {
			no++
		}
	}
	assert.Greater(t, yes, 20)
	assert.Greater(t, no, 20)
}

// For a product prior with factors g and any loss with c(0) = 0 < c(k), n >= 3: iff Σ_{u>=1} z^u g(u) <= g(0). Here the sum is
// 2/3·1/2 + 4/9·3/2 = 1, and the next prior is above it.
func TestProductPriorThreshold(t *testing.T) {
	for _, c := range []struct {
		last string
		want bool
	}{{"3/2", true}, {"151/100", false}} {
		last, _ := new(big.Rat).SetString(c.last)
		prior, err := variant.Product([]*big.Rat{big.NewRat(1, 1), big.NewRat(1, 2), last})
		require.NoError(t, err)
		for _, loss := range []variant.Loss{variant.Mean(), variant.Square(), variant.Top1()} {
			for n := 3; n <= 6; n++ {
				p, err := variant.New(variant.Question{N: n, K: 2, Epsilon: exp(t, "3/2"), Loss: loss, Prior: prior})
				require.NoError(t, err)
				optimal, decided := p.PermuteAndFlipOptimal()
				assert.True(t, decided)
				assert.Equal(t, c.want, optimal, "n = %d, %v", n, loss)
			}
		}
	}
	// ρ = 1/2 at ε = 0.05, an irrational e^ε
	prior, err := variant.Geometric(big.NewRat(1, 2))
	require.NoError(t, err)
	p, err := variant.New(variant.Question{N: 5, K: 8, Epsilon: epsilon(t, "0.05"), Prior: prior})
	require.NoError(t, err)
	optimal, decided := p.PermuteAndFlipOptimal()
	assert.True(t, optimal && decided)
}
