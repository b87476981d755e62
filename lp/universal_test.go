package lp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/number"
)

// These tests check research/docs/universal.md, in exact arithmetic unless they say otherwise.

// universalCase is a lattice, z = e^{-ε}, and the sums A and B' of research/docs/universal.md.
type universalCase struct {
	n, k int
	z    *big.Rat
	e    number.Epsilon
	a, b *big.Rat // A = Σ v z^v and B' = Σ z^v over v = 1, …, k
	flip *big.Rat // permute-and-flip's total error
}

func ratOf(a, b int64) *big.Rat { return big.NewRat(a, b) }

func times(xs ...*big.Rat) *big.Rat {
	p := ratOf(1, 1)
	for _, x := range xs {
		p.Mul(p, x)
	}
	return p
}

func raised(x *big.Rat, n int) *big.Rat { return arith.Pow(arith.Rat{}, x, n) }

func plus(x *big.Rat, i int64) *big.Rat { return new(big.Rat).Add(x, ratOf(i, 1)) }

func quotient(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }

func difference(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }

func newUniversal(t *testing.T, n, k int, z *big.Rat) *universalCase {
	e, err := number.FromExp(new(big.Rat).Inv(z))
	require.NoError(t, err)
	c := &universalCase{n: n, k: k, z: z, e: e}
	c.a, c.b = arith.PowerSums(arith.Rat{}, z, k)
	c.flip = flipTotalExact(n, k, Prior{}, z)
	return c
}

// randomUniversal returns lattices small enough to be walked, and z from 1/8 to 1.
func randomUniversal(t *testing.T, r *rand.Rand) *universalCase {
	n := 2 + r.IntN(5)
	k := 1 + r.IntN([]int{0, 0, 14, 10, 7, 5, 4}[n])
	return newUniversal(t, n, k, ratOf(int64(5+r.IntN(36)), 40))
}

// worth returns what a dual point y proves by a walk along all chains, and what it would prove if it were feasible, Σ N(m) y(m).
func (c *universalCase) worth(t *testing.T, y func(depths []int) *big.Rat) (proved, claimed *big.Rat) {
	p := testProgram(t, c.n, c.k, Prior{}, Paper, c.e)
	var dual []*big.Rat
	m := make([]int, c.k+1)
	claimed = new(big.Rat)
	for i := range p.lat.Len() {
		p.lat.Unrank(i, m)
		v := y(lattice.Depths(m))
		dual = append(dual, v)
		claimed.Add(claimed, times(v, new(big.Rat).SetInt(lattice.Multiplicity(m))))
	}
	return dualValue(p, c.z, dual), claimed
}

// deepest is Theorem 1's dual point.
func (c *universalCase) deepest(q []int) *big.Rat {
	up := ratOf(int64(c.k-q[len(q)-1]), 1)
	return times(quotient(c.a, plus(c.b, 1)), difference(ratOf(1, 1), quotient(up, c.b)))
}

// gap is Theorem 2's dual point for a width w.
func (c *universalCase) gap(w int, q []int) *big.Rat {
	if q[1] > w {
		return new(big.Rat)
	}
	full := plus(c.b, 1)
	return times(quotient(c.a, full), raised(quotient(c.b, full), min(w, c.k-q[len(q)-1]+q[1])))
}

// feasible reports whether y is dual feasible for the loss c, from the definition: on every chain, given by the depths o of the n-1 other candidates
// with the least one 0, all sums Σ_{u >= t} z^u (c(u) - y) down from the deep end are nonnegative. It shares nothing with the program's own walk.
func feasible(n, k int, z *big.Rat, loss func(u int) *big.Rat, y func(depths []int) *big.Rat) bool {
	var walk func(o []int) bool
	walk = func(o []int) bool {
		if len(o) < n-1 {
			for v := o[len(o)-1]; v <= k; v++ {
				if !walk(append(slices.Clone(o), v)) {
					return false
				}
			}
			return true
		}
		tail := new(big.Rat)
		for u := k; u >= o[len(o)-1]-k; u-- {
			q := slices.Clone(o)
			for i := range q {
				q[i] -= min(u, 0)
			}
			q = append(q, max(u, 0))
			slices.Sort(q)
			tail.Add(tail, times(raised(z, u), difference(loss(max(u, 0)), y(q))))
			if tail.Sign() < 0 {
				return false
			}
		}
		return true
	}
	return walk([]int{0})
}

// The dual points of Theorems 1 and 2 are feasible for every nondecreasing loss.
func TestUniversalDualsForEveryLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		c := randomUniversal(t, r)
		losses := make([]*big.Rat, c.k+1)
		losses[0], c.a = new(big.Rat), new(big.Rat)
		for v := 1; v <= c.k; v++ {
			losses[v] = plus(losses[v-1], int64(r.IntN(3)*r.IntN(20)))
			c.a.Add(c.a, times(losses[v], raised(c.z, v)))
		}
		loss := func(u int) *big.Rat { return losses[u] }
		w := r.IntN(c.k + 1)
		require.True(t, feasible(c.n, c.k, c.z, loss, c.deepest), "%+v, %v", c, losses)
		require.True(t, feasible(c.n, c.k, c.z, loss, func(q []int) *big.Rat { return c.gap(w, q) }), "%+v, w = %d, %v", c, w, losses)
		if c.a.Sign() > 0 && c.b.Cmp(ratOf(int64(c.k), 1)) < 0 {
			more := func(q []int) *big.Rat { return times(ratOf(1001, 1000), c.deepest(q)) }
			require.False(t, feasible(c.n, c.k, c.z, loss, more), "%+v, %v", c, losses)
		}
	}
}

func TestDeepestDualIsFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 120 {
		c := randomUniversal(t, r)
		full := plus(c.b, 1)
		proved, claimed := c.worth(t, c.deepest)
		require.Zero(t, proved.Cmp(claimed), "%+v", c)
		require.Zero(t, c.deep().Cmp(claimed), "%+v", c)
		// What permute-and-flip's error exceeds it by.
		rest := quotient(times(c.a, raised(difference(ratOf(int64(c.k), 1), c.b), c.n)), times(c.b, full))
		require.Zero(t, difference(c.flip, claimed).Cmp(rest), "%+v", c)
		if c.b.Cmp(ratOf(int64(c.k), 1)) < 0 {
			// A point that is a little larger proves less than it claims.
			proved, claimed = c.worth(t, func(q []int) *big.Rat { return times(ratOf(1001, 1000), c.deepest(q)) })
			require.Negative(t, proved.Cmp(claimed), "%+v", c)
		}
	}
}

// deep is the value of Theorem 1's dual point, A [(k+1)^n/(1+B') - k^n/B'].
func (c *universalCase) deep() *big.Rat {
	return times(c.a, difference(quotient(raised(ratOf(int64(c.k+1), 1), c.n), plus(c.b, 1)), quotient(raised(ratOf(int64(c.k), 1), c.n), c.b)))
}

// piece returns ∫_lo^hi (j+y)^p (s + t y) dy for j + lo >= 0.
func piece(j int, p int, s, t, lo, hi *big.Rat) *big.Rat {
	at := func(y *big.Rat) *big.Rat { // an antiderivative in u = j + y, where s + t y = (s - t j) + t u
		u := plus(y, int64(j))
		first := quotient(times(difference(s, times(t, ratOf(int64(j), 1))), raised(u, p+1)), ratOf(int64(p+1), 1))
		return first.Add(first, quotient(times(t, raised(u, p+2)), ratOf(int64(p+2), 1)))
	}
	return difference(at(hi), at(lo))
}

// overLevels returns n(n-1) Σ_i ∫₀¹ e_i(y) F(y, i) dy, the sum over i = 0, …, k, e_i(y) = (k-i+y)^p - (k-i-1+y)⁺^p, p = n-2, for an F that is s + t y on [0, cut] and
// s' + t' y beyond; linear returns the four and the cut.
func (c *universalCase) overLevels(linear func(i int) (cut, s, t, s1, t1 *big.Rat)) *big.Rat {
	total, zero, one := new(big.Rat), new(big.Rat), ratOf(1, 1)
	for i := range c.k + 1 {
		cut, s, t, s1, t1 := linear(i)
		for sign, j := range []int{c.k - i, c.k - i - 1} {
			if j < 0 {
				continue // the term is 0: n >= 3
			}
			v := piece(j, c.n-2, s, t, zero, cut)
			v.Add(v, piece(j, c.n-2, s1, t1, cut, one))
			total.Add(total, times(v, ratOf(int64(1-2*sign), 1)))
		}
	}
	return total.Mul(total, ratOf(int64(c.n*(c.n-1)), 1))
}

// Both sides of Theorem 2 as sums over levels.
func TestLevelsOfTheUniversalBound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	one, zero := ratOf(1, 1), new(big.Rat)
	for range 100 {
		c := randomUniversal(t, r)
		if c.n < 3 {
			continue
		}
		scale := quotient(plus(c.b, 1), c.a)
		flip := c.overLevels(func(i int) (cut, s, t, s1, t1 *big.Rat) {
			// 1 - y plus the sum of (1 - (g-y)/B')⁺ over g = 1, …, i: the term of g is positive where y > g - B'.
			whole := new(big.Int).Quo(c.b.Num(), c.b.Denom()).Int64()
			cut = difference(c.b, ratOf(whole, 1)) // below 1 - cut the term of g = whole + 1 is 0
			cut = difference(one, cut)
			sum := func(last int64) (s, t *big.Rat) {
				s, t = ratOf(1, 1), ratOf(-1, 1)
				for g := int64(1); g <= min(int64(i), last); g++ {
					s.Add(s, difference(one, quotient(ratOf(g, 1), c.b)))
					t.Add(t, quotient(one, c.b))
				}
				return s, t
			}
			s, t = sum(whole)
			s1, t1 = sum(whole + 1)
			return cut, s, t, s1, t1
		})
		require.Zero(t, flip.Cmp(times(c.flip, scale)), "%+v", c)
		w := r.IntN(c.k + 1)
		rho := quotient(c.b, plus(c.b, 1))
		proved, claimed := c.worth(t, func(q []int) *big.Rat { return c.gap(w, q) })
		require.GreaterOrEqual(t, proved.Cmp(claimed), 0, "%+v, w = %d", c, w)
		dual := c.overLevels(func(i int) (cut, s, t, s1, t1 *big.Rat) {
			m := min(i, w)
			s, t = times(raised(rho, m), ratOf(int64(m+1), 1)), times(raised(rho, m), ratOf(-1, 1))
			return zero, s, t, s, t
		})
		require.Zero(t, dual.Cmp(times(claimed, scale)), "%+v, w = %d", c, w)
	}
}

// universalWidth is Theorem 2's w, the least integer that is at least B' - 1/2.
func universalWidth(b *big.Rat) int {
	w := 0
	for ratOf(int64(2*w+1), 2).Cmp(b) < 0 {
		w++
	}
	return w
}

// factor is C_w(B') = (1+B') / ((1+2w) ρ^w), ρ = B'/(1+B').
func factor(b *big.Rat, w int) *big.Rat {
	full := plus(b, 1)
	return quotient(full, times(ratOf(int64(1+2*w), 1), raised(quotient(b, full), w)))
}

// The integrals over y of both sides, given t, are N(t) and D(t); N is at most C_w(B') D.
func TestSharesOfTheUniversalBound(t *testing.T) {
	slowtest.Only(t)
	r := rand.New(rand.NewPCG(3, 3))
	one, half := ratOf(1, 1), ratOf(1, 2)
	for range 4000 {
		b := ratOf(int64(1+r.IntN(300)), int64(1+r.IntN(60)))
		w, full := universalWidth(b), plus(b, 1)
		rho, c := quotient(b, full), factor(b, w)
		at := quotient(ratOf(int64(r.IntN(1000)), 100), one)
		i := int(new(big.Int).Quo(at.Num(), at.Denom()).Int64())
		phi := difference(at, ratOf(int64(i), 1))
		reach := at
		if reach.Cmp(b) > 0 {
			reach = b
		}
		n := new(big.Rat).Add(half, difference(reach, quotient(times(reach, reach), times(ratOf(2, 1), b))))
		low, high := min(i, w), min(i+1, w)
		rest := difference(one, phi)
		// ∫ (1-y) over [0, 1-φ] and over [1-φ, 1].
		upper := times(half, phi, phi)
		lower := difference(half, upper)
		d := times(raised(rho, low), lower.Add(lower, times(rest, ratOf(int64(low), 1))))
		d.Add(d, times(raised(rho, high), upper.Add(upper, times(phi, ratOf(int64(high), 1)))))
		require.LessOrEqual(t, n.Cmp(times(c, d)), 0, "B' = %v, t = %v", b, at)
		if b.Cmp(one) >= 0 {
			require.LessOrEqual(t, c.Cmp(ratOf(25, 18)), 0, "B' = %v", b)
		}
	}
	// The constant is that of B' = 3/2, for w = 1 and 2 alike, and no smaller one would do there; it falls towards e/2 with B'.
	assert.Zero(t, factor(ratOf(3, 2), 1).Cmp(ratOf(25, 18)))
	assert.Zero(t, factor(ratOf(3, 2), 2).Cmp(ratOf(25, 18)))
	assert.Equal(t, 1, universalWidth(ratOf(3, 2)))
	large, _ := factor(ratOf(100001, 2), 50000).Float64()
	assert.InDelta(t, math.E/2, large, 1e-4)
}

// third is Theorem 3's dual point: H where the second best lies at most w, and the third at least l below the best.
func (c *universalCase) third(w, l int, h *big.Rat, q []int) *big.Rat {
	if q[1] > w || q[2] < l {
		return new(big.Rat)
	}
	return h
}

// theorem3 returns H and L for a width w.
func (c *universalCase) theorem3(w int) (h *big.Rat, l int) {
	sum := ratOf(1, 1)
	for u := 1; u <= w; u++ {
		sum.Add(sum, raised(c.z, u))
		sum.Add(sum, raised(c.z, -u))
	}
	h = quotient(c.a, sum)
	l = 2*w + 1
	for ratOf(int64(l), 1).Cmp(h) < 0 {
		l++
	}
	return h, l
}

func TestThirdDualIsFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for done := 0; done < 80; {
		c := randomUniversal(t, r)
		w := r.IntN(4)
		h, l := c.theorem3(w)
		if c.n < 3 || l > c.k {
			continue
		}
		done++
		proved, claimed := c.worth(t, func(q []int) *big.Rat { return c.third(w, l, h, q) })
		require.GreaterOrEqual(t, proved.Cmp(claimed), 0, "%+v, w = %d", c, w)
		value := times(h, ratOf(int64(c.n*(c.n-1)), 1), ratOf(int64(2*w+1), 2), raised(ratOf(int64(c.k+1-l), 1), c.n-2))
		require.Zero(t, value.Cmp(claimed), "%+v, w = %d", c, w)
		// Permute-and-flip's error is at most A/2 · n (n-1) (k+1)^{n-2}, from which the theorem's factor follows.
		most := times(quotient(c.a, ratOf(2, 1)), ratOf(int64(c.n*(c.n-1)), 1), raised(ratOf(int64(c.k+1), 1), c.n-2))
		require.LessOrEqual(t, c.flip.Cmp(most), 0)
		if l+w > c.k {
			continue // no chain goes through all of the positions that a larger H overburdens
		}
		h = times(ratOf(101, 100), h)
		proved, claimed = c.worth(t, func(q []int) *big.Rat { return c.third(w, l, h, q) })
		require.Negative(t, proved.Cmp(claimed), "a larger H would do: %+v, w = %d", c, w)
	}
}

// The theorems against exact optima, at the paper's level, whose optimum is the least.
func TestUniversalFactorsHold(t *testing.T) {
	worst := 1.0
	for _, s := range [][2]int{{3, 3}, {3, 6}, {3, 12}, {4, 4}, {5, 4}, {6, 3}} {
		for _, z := range []*big.Rat{ratOf(1, 2), ratOf(3, 5), ratOf(2, 3), ratOf(3, 4), ratOf(9, 10), ratOf(1, 1)} {
			c := newUniversal(t, s[0], s[1], z)
			optimum := exactOptimum(t, c.n, c.k, Prior{}, Paper, c.e)
			require.LessOrEqual(t, c.flip.Cmp(times(ratOf(25, 18), optimum)), 0)
			require.LessOrEqual(t, c.deep().Cmp(optimum), 0)
			nu, _ := times(c.b, ratOf(int64(c.n), int64(c.k))).Float64()
			ratio, _ := quotient(c.flip, optimum).Float64()
			if nu > 1 {
				assert.LessOrEqual(t, ratio, 1+math.Exp(-nu)/(nu-1)+1e-12)
			}
			worst = max(worst, ratio)
		}
	}
	assert.Greater(t, worst, 1.01)
}

// What Theorem 1 says of the ratio for many candidates.
func TestDeepestFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 400 {
		c := newUniversal(t, 2+r.IntN(60), 1+r.IntN(20), ratOf(int64(10+r.IntN(31)), 40))
		nu, _ := times(c.b, ratOf(int64(c.n), int64(c.k))).Float64()
		if nu <= 1 {
			continue
		}
		excess, _ := difference(quotient(c.flip, c.deep()), ratOf(1, 1)).Float64()
		require.LessOrEqual(t, excess, math.Exp(-nu)/(nu-1)*(1+1e-12), "%+v", c)
	}
}
