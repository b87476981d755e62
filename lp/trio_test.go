package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/mechanisms/totals"
)

// These tests check Theorems 3 and 4 of docs/results/three.md, in exact arithmetic.

// total is the sum of a loss of the depth taken over Q(n,k), score vector by score vector.
func (c *universalCase) total(t *testing.T, m mechanisms.Mechanism, loss func(v int) int64) *big.Rat {
	sum, depths := new(big.Rat), make([]int, c.n)
	var visit func(r int)
	visit = func(r int) {
		if r == c.n {
			in := mechanisms.OnLattice(depths, c.e)
			if in.Best().Sign() < 0 {
				return
			}
			p, err := m.Exact(in)
			require.NoError(t, err)
			for i, v := range depths {
				sum.Add(sum, times(p[i], ratOf(loss(v), 1)))
			}
			return
		}
		for depths[r] = 0; depths[r] <= c.k; depths[r]++ {
			visit(r + 1)
		}
	}
	visit(0)
	return sum
}

// Theorem 3: pf-trio's total is permute-and-flip's less 2β C(n,3) (B'-1) (k-B')^{n-3} Σ c(v) z^v, for losses of all kinds.
func TestTrio(t *testing.T) {
	trio, err := mechanisms.Lookup("pf-trio")
	require.NoError(t, err)
	better := 0
	for _, at := range [][2]int{{3, 2}, {3, 4}, {4, 2}, {4, 3}, {5, 2}} {
		for _, z := range []*big.Rat{ratOf(2, 5), ratOf(1, 2), ratOf(11, 20), ratOf(2, 3), ratOf(7, 8)} {
			c := newUniversal(t, at[0], at[1], z)
			for name, loss := range map[string]func(v int) int64{
				"error": func(v int) int64 { return int64(v) }, "square": func(v int) int64 { return int64(v * v) },
				"top-1": func(v int) int64 { return int64(min(v, 1)) }, "falling": func(v int) int64 { return int64(v * (2 - v)) },
			} {
				rest, triples := difference(ratOf(1, 1), z), new(big.Rat).SetInt(new(big.Int).Binomial(int64(c.n), 3))
				beta := quotient(rest, plus(times(ratOf(2, 1), z), 4))
				if other := quotient(raised(rest, 3), times(ratOf(2, 1), triples, raised(z, 3))); other.Cmp(beta) < 0 {
					beta = other
				}
				if z.Cmp(ratOf(1, 2)) <= 0 {
					beta = new(big.Rat)
				}
				losses := new(big.Rat)
				for v := 1; v <= c.k; v++ {
					losses.Add(losses, times(ratOf(loss(v), 1), raised(z, v)))
				}
				gain := times(ratOf(2, 1), beta, triples, plus(c.b, -1), raised(difference(ratOf(int64(c.k), 1), c.b), c.n-3), losses)
				before, after := c.total(t, mechanisms.PermuteAndFlip(), loss), c.total(t, trio, loss)
				require.Zero(t, gain.Cmp(difference(before, after)), "(%d,%d), z = %s, %s", c.n, c.k, z.RatString(), name)
				if gain.Sign() > 0 {
					better++
				}
			}
		}
	}
	assert.Greater(t, better, 40)
}

// Theorem 4: for n = 3 and z <= 2/3 that is the optimum of dp and of full. Just beyond 2/3 it is not, but for k = 2.
func TestTrioIsOptimalForThree(t *testing.T) {
	trio, err := mechanisms.Lookup("pf-trio")
	require.NoError(t, err)
	value := func(c *universalCase) *big.Rat {
		return difference(c.flip, quotient(times(c.a, plus(c.b, -1), difference(ratOf(1, 1), c.z)), plus(c.z, 2)))
	}
	optimal := 0
	for k := 2; k <= 6; k++ {
		for _, z := range []*big.Rat{ratOf(51, 100), ratOf(4, 7), ratOf(3, 5), ratOf(16, 25), ratOf(2, 3)} {
			c := newUniversal(t, 3, k, z)
			if c.b.Cmp(ratOf(1, 1)) <= 0 {
				continue
			}
			require.Zero(t, c.total(t, trio, func(v int) int64 { return int64(v) }).Cmp(value(c)), "k = %d, z = %s", k, z.RatString())
			require.Equal(t, z.Cmp(ratOf(2, 3)), newThree(t, k, z).value().Cmp(value(c)), "Theorem 1's table: k = %d, z = %s", k, z.RatString())
			for _, level := range []Level{DP, Full} {
				require.Zero(t, exactOptimum(t, 3, k, totals.Paper, level, c.e).Cmp(value(c)), "k = %d, z = %s", k, z.RatString())
				optimal++
			}
		}
		c := newUniversal(t, 3, k, ratOf(7, 10))
		total := c.total(t, trio, func(v int) int64 { return int64(v) })
		assert.Equal(t, k == 2, total.Cmp(exactOptimum(t, 3, k, totals.Paper, Full, c.e)) == 0, "k = %d", k)
	}
	assert.Greater(t, optimal, 30)
	c := newUniversal(t, 3, 4, ratOf(5, 7)) // the document's instance beyond the range
	optimum := exactOptimum(t, 3, 4, totals.Paper, Full, c.e)
	assert.Equal(t, "1.0016", new(big.Rat).Sub(quotient(c.total(t, trio, func(v int) int64 { return int64(v) }), optimum), ratOf(5, 100000)).FloatString(4))
	assert.Equal(t, "1.0065", new(big.Rat).Sub(quotient(c.flip, optimum), ratOf(5, 100000)).FloatString(4))
}

// The dual point of Theorem 4, walked along all chains from its definition, for lattices that no program of the tests has: reduced costs are 0, multipliers nonnegative.
func TestDualPointOfTrio(t *testing.T) {
	walked := 0
	for k := 2; k <= 40; k += 1 + k/8 {
		for i := int64(501); i <= 667; i += 83 {
			z := ratOf(i, 1000)
			if i == 667 {
				z = ratOf(2, 3)
			}
			c := newUniversal(t, 3, k, z)
			if c.b.Cmp(ratOf(1, 1)) <= 0 {
				continue
			}
			walked++
			tau := quotient(times(c.a, plus(c.b, -1)), plus(z, 2))
			y := func(a, b int) *big.Rat {
				switch {
				case a == 0 && b == 1:
					return difference(c.a, tau)
				case a == 0 && b > 1:
					return c.a
				}
				return new(big.Rat)
			}
			m := make([]*big.Rat, k+2) // M_t
			for j := range m {
				m[j] = new(big.Rat)
			}
			g := new(big.Rat)
			for j := k; j >= 2; j-- {
				g.Add(g, times(raised(z, j), difference(c.a, ratOf(int64(j), 1))))
				if g.Sign() > 0 {
					m[j] = times(g, ratOf(1, 2))
				}
			}
			m[1] = tau
			require.Zero(t, m[k].Sign(), "k = %d, z = %s", k, z.RatString())
			mu := make([]*big.Rat, k+1) // of the row from (0,0,u) to (0,1,u+1)
			for u := 1; u < k; u++ {
				mu[u] = quotient(difference(m[u], m[u+1]), raised(z, u+1))
				require.GreaterOrEqual(t, mu[u].Sign(), 0, "k = %d, z = %s, u = %d", k, z.RatString(), u)
			}
			for deep := 0; deep <= k; deep++ { // the others are at 0 and deep
				lambda := new(big.Rat)
				for u := k; u >= deep-k; u-- {
					cost := new(big.Rat)
					if u >= 0 {
						cost = difference(ratOf(int64(u), 1), y(min(u, deep), max(u, deep)))
					}
					if deep == 0 && u >= 1 && u < k {
						cost = plusRat(cost, times(ratOf(2, 1), z, mu[u]))
					}
					if deep == 1 && u >= 2 {
						cost.Sub(cost, mu[u-1])
					}
					lambda = plusRat(cost, times(z, lambda))
					require.GreaterOrEqual(t, lambda.Sign(), 0, "k = %d, z = %s, others at 0 and %d, u = %d", k, z.RatString(), deep, u)
				}
			}
		}
	}
	assert.Greater(t, walked, 40)
}
