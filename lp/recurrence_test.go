package lp

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/mechanisms"
)

// chains returns a question's program in chain form.
func chains(t *testing.T, q Request) *program {
	t.Helper()
	p, err := newProgram(t.Context(), &q)
	require.NoError(t, err)
	return p
}

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
		loss, err := Losses(losses)
		require.NoError(t, err)
		prior := Prior{}
		switch trial % 3 {
		case 1:
			factors := []*big.Rat{big.NewRat(int64(1+rng.IntN(4)), 1)}
			for range k {
				factors = append(factors, big.NewRat(int64(rng.IntN(4)), 2))
			}
			prior, err = Product(factors)
		case 2:
			lat, _ := lattice.New(n, k)
			var depths [][]int
			var weights []*big.Rat
			for _, m := range lat.All() {
				depths = append(depths, lattice.Depths(m))
				weights = append(weights, big.NewRat(int64(rng.IntN(5)), 1))
			}
			weights[0].SetInt64(1)
			prior, err = Weighted(depths, weights)
		}
		require.NoError(t, err)
		q := Request{N: n, K: k, Epsilon: exp(t, []string{"5/4", "3/2", "2", "4"}[rng.IntN(4)]), Loss: loss, Prior: prior,
			Level: Level(rng.IntN(4))}
		p, err := newTestTable(q)
		require.NoError(t, err)
		optimal, decided := chains(t, q).flipOptimal()
		require.True(t, decided)
		s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.Empty(t, s.Undecided)
		optimum := enclosureOf(s.optimum())
		b, err := rated(p, pf, 128)
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
		prior, err := Product([]*big.Rat{big.NewRat(1, 1), big.NewRat(1, 2), last})
		require.NoError(t, err)
		for _, loss := range []Loss{Loss{}, Loss{kind: "square"}, Loss{kind: "top1"}} {
			for n := 3; n <= 6; n++ {
				optimal, decided := chains(t, Request{N: n, K: 2, Epsilon: exp(t, "3/2"), Loss: loss, Prior: prior}).flipOptimal()
				assert.True(t, decided)
				assert.Equal(t, c.want, optimal, "n = %d, %v", n, loss)
			}
		}
	}
	// ρ = 1/2 at ε = 0.05, an irrational e^ε
	prior, err := ParsePrior("geometric:" + big.NewRat(1, 2).RatString())
	require.NoError(t, err)
	optimal, decided := chains(t, Request{N: 5, K: 8, Epsilon: epsilon(t, "0.05"), Prior: prior}).flipOptimal()
	assert.True(t, optimal && decided)
}
