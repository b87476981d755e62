package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
)

// These tests check Theorems 3 to 5 of research/docs/three.md, in exact arithmetic.

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
	for _, at := range [][2]int{{3, 2}, {4, 2}, {3, 4}, {4, 3}, {5, 2}} {
		if at[0]+at[1] > 6 && !slowtest.Enabled {
			break
		}
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
	assert.Greater(t, better, 15)
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
				require.Zero(t, exactOptimum(t, 3, k, Prior{}, level, c.e).Cmp(value(c)), "k = %d, z = %s", k, z.RatString())
				optimal++
			}
		}
		c := newUniversal(t, 3, k, ratOf(7, 10))
		total := c.total(t, trio, func(v int) int64 { return int64(v) })
		assert.Equal(t, k == 2, total.Cmp(exactOptimum(t, 3, k, Prior{}, Full, c.e)) == 0, "k = %d", k)
	}
	assert.Greater(t, optimal, 30)
	c := newUniversal(t, 3, 4, ratOf(5, 7)) // the document's instance beyond the range
	optimum := exactOptimum(t, 3, 4, Prior{}, Full, c.e)
	assert.Equal(t, "1.0016", new(big.Rat).Sub(quotient(c.total(t, trio, func(v int) int64 { return int64(v) }), optimum), ratOf(5, 100000)).FloatString(4))
	assert.Equal(t, "1.0065", new(big.Rat).Sub(quotient(c.flip, optimum), ratOf(5, 100000)).FloatString(4))
}

// walk follows all chains with y(a,b) at (0,a,b), a <= b, and the multipliers of the rows from (0,0,u) to (0,1,u+1), or from (0,0,k) to (0,1,k), that M_t = m[t] is the sum of
// from u = t on: these and all others are nonnegative.
func (c *universalCase) walk(t *testing.T, y func(a, b int) *big.Rat, m []*big.Rat) {
	mu := make([]*big.Rat, c.k+1)
	for u := 1; u < c.k; u++ {
		mu[u] = quotient(difference(m[u], m[u+1]), raised(c.z, u+1))
		require.GreaterOrEqual(t, mu[u].Sign(), 0, "k = %d, z = %s, u = %d", c.k, c.z.RatString(), u)
	}
	for deep := 0; deep <= c.k; deep++ { // the others are at 0 and deep
		lambda := new(big.Rat)
		for u := c.k; u >= deep-c.k; u-- {
			var cost *big.Rat
			if u >= 0 {
				cost = difference(ratOf(int64(u), 1), y(min(u, deep), max(u, deep)))
			} else {
				cost = new(big.Rat).Neg(y(-u, deep-u))
			}
			if deep == 0 && u >= 1 && u < c.k {
				cost = plusRat(cost, times(ratOf(2, 1), c.z, mu[u]))
			}
			if deep == 1 && u >= 2 {
				cost.Sub(cost, mu[u-1])
			}
			if u == c.k && deep <= 1 {
				last := quotient(m[u], raised(c.z, u))
				cost = plusRat(cost, times(last, ratOf(int64(2-3*deep), 1)))
			}
			lambda = plusRat(cost, times(c.z, lambda))
			require.GreaterOrEqual(t, lambda.Sign(), 0, "k = %d, z = %s, others at 0 and %d, u = %d", c.k, c.z.RatString(), deep, u)
		}
	}
}

// sum adds up y(a,b) over all score vectors (0,a,b) of Q(3,k), a <= b, in all orders.
func (c *universalCase) sum(y func(a, b int) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for a := range c.k + 1 {
		for b := a; b <= c.k; b++ {
			count := int64(6)
			switch {
			case b == 0:
				count = 1
			case a == 0 || a == b:
				count = 3
			}
			sum.Add(sum, times(y(a, b), ratOf(count, 1)))
		}
	}
	return sum
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
			c.walk(t, y, m)
		}
	}
	assert.Greater(t, walked, 40)
}

// pairTable is the table of Theorem 6 of research/docs/three.md: it takes each of the two best at (0,0,u) with probability h_u.
type pairTable struct {
	*universalCase
	h []*big.Rat
}

// newBeyond is the table of Theorem 5, beyond z = 2/3.
func newBeyond(t *testing.T, k int, z *big.Rat) pairTable {
	c := pairTable{newUniversal(t, 3, k, z), make([]*big.Rat, k+1)}
	first := quotient(plus(times(ratOf(3, 1), z), -1), times(ratOf(6, 1), z, z))
	cube := raised(z, 3)
	if other := quotient(times(z, difference(ratOf(2, 1), z)), plus(difference(times(ratOf(2, 1), cube), times(cube, z)), 2)); other.Cmp(first) > 0 {
		first = other
	}
	for u := range c.h {
		c.h[u] = times(ratOf(1, 2), difference(ratOf(1, 1), times(raised(z, u), first)))
	}
	c.h[0], c.h[1] = ratOf(1, 3), first
	return c
}

// pmf is the table at depths in any order.
func (c pairTable) pmf(q [3]int) (p [3]*big.Rat) {
	least := min(q[0], q[1], q[2])
	sum := new(big.Rat)
	for r := range q {
		a, b := q[(r+1)%3]-least, q[(r+2)%3]-least
		switch own := q[r] - least; {
		case own == 0:
			continue
		case a == 0 && b == 0:
			p[r] = difference(ratOf(1, 1), times(ratOf(2, 1), c.h[own]))
		default:
			p[r] = times(raised(c.z, own), c.h[a+b]) // one of the others is the best
		}
		sum.Add(sum, p[r])
	}
	tied := int64(0)
	for _, v := range q {
		if v == least {
			tied++
		}
	}
	for r, v := range q {
		if v == least {
			p[r] = times(difference(ratOf(1, 1), sum), ratOf(1, tied))
		}
	}
	return p
}

// beyondValue is the optimum that Theorem 5 states.
func (c pairTable) beyondValue() *big.Rat {
	one, h := ratOf(1, 1), c.h[1]
	gain := times(ratOf(3, 1), c.a, plus(c.b, -1), difference(h, ratOf(1, 3)))
	loss := times(ratOf(3, 1), plus(c.a, -1), difference(times(plus(c.z, 2), h), one))
	return plusRat(difference(c.flip, gain), loss)
}

// total is the sum of the table's errors over Q(3,k).
func (c pairTable) total() *big.Rat {
	sum := new(big.Rat)
	for i := range (c.k + 1) * (c.k + 1) * (c.k + 1) {
		q := [3]int{i % (c.k + 1), i / (c.k + 1) % (c.k + 1), i / (c.k + 1) / (c.k + 1)}
		if min(q[0], q[1], q[2]) == 0 {
			for r, x := range c.pmf(q) {
				sum.Add(sum, times(x, ratOf(int64(q[r]), 1)))
			}
		}
	}
	return sum
}

// regular reports whether a candidate that sinks by a step loses at most the factor z on Q(3,k), and with monotone whether the others then lose nothing.
func (c pairTable) regular(monotone bool) bool {
	for i := range (c.k + 1) * (c.k + 1) * (c.k + 1) {
		q := [3]int{i % (c.k + 1), i / (c.k + 1) % (c.k + 1), i / (c.k + 1) / (c.k + 1)}
		if min(q[0], q[1], q[2]) > 0 {
			continue
		}
		p := c.pmf(q)
		for s := range q {
			sunk := q
			if sunk[s]++; max(sunk[0], sunk[1], sunk[2])-min(sunk[0], sunk[1], sunk[2]) > c.k {
				continue
			}
			after := c.pmf(sunk)
			for r := range q {
				if r == s && after[r].Cmp(times(c.z, p[r])) < 0 || monotone && r != s && after[r].Cmp(p[r]) < 0 || p[r].Sign() < 0 {
					return false
				}
			}
		}
	}
	return true
}

// Theorem 5: the table is regular up to the root of 2 - 2z - 4z⁴ + 4z⁵ - z⁶, where the row (0,1,3) to (0,0,2) is tight, and optimal at full; at dp where A <= k.
func TestThreeCandidatesBeyondTwoThirds(t *testing.T) {
	optimal := 0
	for k := 3; k <= 8; k++ {
		for _, z := range []*big.Rat{ratOf(2, 3), ratOf(7, 10), ratOf(5, 7), ratOf(18, 25), ratOf(733, 1000), ratOf(74, 100), ratOf(7514, 10000), ratOf(7515, 10000)} {
			c := newBeyond(t, k, z)
			require.Zero(t, c.total().Cmp(c.beyondValue()), "k = %d, z = %s", k, z.RatString())
			require.Equal(t, z.Cmp(ratOf(7515, 10000)) < 0, c.regular(true), "k = %d, z = %s", k, z.RatString())
			if k > 6 || !c.regular(true) {
				continue
			}
			for _, level := range []Level{DP, Full} {
				want := 0
				if level == DP && c.a.Cmp(ratOf(int64(k), 1)) > 0 {
					want = -1
				}
				require.Equal(t, want, exactOptimum(t, 3, k, Prior{}, level, c.e).Cmp(c.beyondValue()), "k = %d, z = %s", k, z.RatString())
				optimal++
			}
		}
	}
	assert.Greater(t, optimal, 20)
}

// The dual point of Theorem 5, walked as that of Theorem 4.
func TestDualPointBeyondTwoThirds(t *testing.T) {
	walked, monotone := 0, 0
	for k := 3; k <= 40; k += 1 + k/8 {
		for _, i := range []int64{6667, 6850, 7000, 7200, 7386, 7387, 7450, 7514} {
			c := newUniversal(t, 3, k, ratOf(i, 10000))
			walked++
			if c.a.Cmp(ratOf(int64(k), 1)) > 0 {
				monotone++
			}
			m, g := make([]*big.Rat, k+2), new(big.Rat)
			m[k+1] = new(big.Rat)
			for j := k; j >= 2; j-- {
				g.Add(g, times(raised(c.z, j), difference(c.a, ratOf(int64(j), 1))))
				m[j] = new(big.Rat)
				if g.Sign() > 0 {
					m[j] = times(g, ratOf(1, 2))
				}
			}
			require.Equal(t, max(0, c.a.Cmp(ratOf(int64(k), 1))), m[k].Sign(), "the row from (0,0,k) to (0,1,k) is monotonicity's")
			require.Positive(t, m[2].Sign())
			excess, square := difference(plus(c.a, -1), m[2]), times(c.z, c.z)
			rho, sigma := quotient(excess, square), new(big.Rat)
			if i > 7386 {
				sigma = quotient(excess, plus(times(square, difference(c.z, times(square, ratOf(1, 2)))), 1))
				rho = new(big.Rat)
				m[2] = difference(m[2], times(square, square, sigma, ratOf(1, 2)))
			}
			m[1] = m[2]
			y := func(a, b int) *big.Rat {
				switch {
				case b == 0:
					return new(big.Rat).Neg(rho)
				case a == 1 && b == 1:
					return times(c.z, rho)
				case a == 1 && b == 2:
					return times(c.z, sigma)
				case a == 0 && b == 1:
					return ratOf(1, 1)
				case a == 0 && b == 2:
					return difference(c.a, times(square, sigma))
				case a == 0:
					return c.a
				}
				return new(big.Rat)
			}
			c.walk(t, y, m)
			require.Zero(t, c.sum(y).Cmp(newBeyond(t, k, c.z).beyondValue()), "k = %d, z = %s", k, c.z.RatString())
		}
	}
	assert.Greater(t, walked, 60)
	assert.Greater(t, monotone, 5)
}
