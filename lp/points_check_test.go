package lp

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// errorLoss is the mean error's loss.
func errorLoss(u int) *big.Rat { return ratOf(int64(u), 1) }

// Theorem 4: where the path test passes the table is feasible on every chain, for this and larger n and k; it is worth what the formula says. Proposals raised by a
// few percent fail the path test and, at some sizes, on a chain.
func TestTablesOfCounts(t *testing.T) {
	passed, refused := 0, 0
	for _, c := range []struct {
		n, k   int
		z      *big.Rat
		j, top int
	}{{4, 5, ratOf(7, 10), 1, 3}, {4, 6, ratOf(3, 4), 2, 4}, {5, 5, ratOf(4, 5), 3, 4}, {6, 4, ratOf(2, 3), 2, 5}, {3, 9, ratOf(3, 4), 2, 3}, {4, 6, ratOf(17, 20), 4, 3}} {
		f, p := proposeCounts(t, c.n, c.k, func() float64 { z, _ := c.z.Float64(); return z }(), c.j, c.top), newPowers(c.k, c.z)
		require.NotNil(t, f)
		require.True(t, f.feasible(p), "%v", c)
		for _, n := range []int{c.n, c.n - 1, c.n + 1} {
			u := newUniversal(t, n, c.k, c.z)
			require.True(t, feasible(n, c.k, c.z, errorLoss, f.at), "%v at n = %d", c, n)
			proved, claimed := u.worth(t, f.at)
			require.Zero(t, claimed.Cmp(f.value(n, c.k)), "%v at n = %d", c, n)
			require.Zero(t, proved.Cmp(claimed))
			passed++
		}
		require.True(t, feasible(c.n, c.k+2, c.z, errorLoss, f.at))
		more := slices.Clone(f)
		for j := range more {
			more[j] = slices.Clone(more[j])
			for i := range more[j] {
				more[j][i] = times(more[j][i], ratOf(21, 20))
			}
		}
		require.False(t, more.feasible(p))
		if !feasible(c.n, c.k, c.z, errorLoss, more.at) {
			refused++
		}
	}
	assert.Greater(t, passed, 10)
	assert.Greater(t, refused, 1, "the path test is no stronger than it has to be")
}

// Random tables: whenever the path test passes, every chain does.
func TestPathTestIsSafe(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 16))
	passed, failed := 0, 0
	for range 700 {
		n, k, j, most := 3+rng.IntN(2), 3+rng.IntN(3), 1+rng.IntN(3), 2+rng.IntN(3)
		j = min(j, k-1)
		z := ratOf(int64(10+rng.IntN(10)), 20)
		f := make(countTable, j)
		for r := range f {
			f[r] = []*big.Rat{new(big.Rat)}
			for range most - 1 {
				f[r] = append(f[r], ratOf(int64(rng.IntN(16)-4), 20))
			}
		}
		safe, really := f.feasible(newPowers(k, z)), feasible(n, k, z, errorLoss, f.at)
		require.False(t, safe && !really, "%v at n = %d, k = %d, z = %s", f, n, k, z)
		if safe {
			passed++
		}
		if !really {
			failed++
		}
	}
	assert.Greater(t, passed, 50)
	assert.Greater(t, failed, 50)
}

// Theorem 5, for proposals, random Φ and the closed form (A/B)(1 - min(w,k-D)/B').
func TestCutTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 16))
	passed, failed, closed := 0, 0, 0
	for range 300 {
		n, k, w := 3+rng.IntN(2), 3+rng.IntN(4), rng.IntN(4)
		z := ratOf(int64(10+rng.IntN(10)), 20)
		u, p := newUniversal(t, n, k, z), newPowers(k, z)
		zf, _ := z.Float64()
		c := proposeCut(k, zf, w)
		if rng.IntN(2) == 0 {
			for d := range c.phi {
				c.phi[d] = times(c.phi[d], ratOf(int64(8+rng.IntN(5)), 10))
			}
		}
		really := feasible(n, k, z, errorLoss, c.at)
		if c.feasible(p) {
			passed++
			require.True(t, really, "n = %d, k = %d, w = %d, z = %s: %v", n, k, w, z, c.phi)
			_, claimed := u.worth(t, c.at)
			require.Zero(t, claimed.Cmp(c.value(n, k)))
		} else if !really {
			failed++
		}
		if ratOf(int64(w), 1).Cmp(u.b) <= 0 {
			closed++
			for d := range c.phi {
				up := ratOf(int64(min(w, k-d)), 1)
				c.phi[d] = times(quotient(u.a, plus(u.b, 1)), difference(ratOf(1, 1), quotient(up, u.b)))
			}
			require.True(t, feasible(n, k, z, errorLoss, c.at), "n = %d, k = %d, w = %d, z = %s", n, k, w, z)
		}
	}
	assert.Greater(t, passed, 50)
	assert.Greater(t, failed, 15)
	assert.Greater(t, closed, 50)
}

// refined is Theorem 6's dual point: the sum of y over the w coarse grids.
func refined(y func(q []int) *big.Rat, k, w int) func(q []int) *big.Rat {
	return func(q []int) *big.Rat {
		sum := new(big.Rat)
		for a := range w {
			coarse := make([]int, len(q))
			for i, v := range q {
				coarse[i] = max(0, (v-a+w-1)/w)
				if v <= a {
					coarse[i] = 0
				}
			}
			if coarse[len(q)-1] <= k {
				sum.Add(sum, y(coarse))
			}
		}
		return sum
	}
}

// Theorem 6: a point that is feasible at z^w on Q(n,k) is, refined, feasible at z on Q(n,K) for K = w(k+1) - 1 and more, and worth w^n times as much. The coarse points are
// exact optimal duals as well as tables; on one step less than K it is not so.
func TestRefinedPoints(t *testing.T) {
	short := 0
	for _, c := range []struct {
		n, k, w int
		z       *big.Rat
	}{{3, 2, 2, ratOf(9, 10)}, {3, 3, 2, ratOf(9, 10)}, {4, 2, 2, ratOf(17, 20)}, {3, 2, 3, ratOf(9, 10)}, {4, 1, 3, ratOf(19, 20)}} {
		coarse := raised(c.z, c.w)
		zf, _ := coarse.Float64()
		points := map[string]func(q []int) *big.Rat{"cut": proposeCut(c.k, zf, 1).at, "deepest": newUniversal(t, c.n, c.k, coarse).deepest}
		if c.k > 1 {
			points["counts"] = proposeCounts(t, c.n, c.k, zf, 1, 3).at
		}
		for name, y := range points {
			if !feasible(c.n, c.k, coarse, errorLoss, y) {
				require.Equal(t, "cut", name, "%v: of the proposals only a cut of this width may be infeasible", c)
				continue
			}
			_, worth := newUniversal(t, c.n, c.k, coarse).worth(t, y)
			fine := refined(y, c.k, c.w)
			for more := range 2 {
				k := c.w*(c.k+1) - 1 + more
				require.True(t, feasible(c.n, k, c.z, errorLoss, fine), "%s %v at k = %d", name, c, k)
				_, claimed := newUniversal(t, c.n, k, c.z).worth(t, fine)
				require.Zero(t, claimed.Cmp(times(worth, raised(ratOf(int64(c.w), 1), c.n))), fmt.Sprint(name, c, k))
			}
			if !feasible(c.n, c.w*(c.k+1)-2, c.z, errorLoss, fine) {
				short++
			}
		}
	}
	assert.Positive(t, short)
}
