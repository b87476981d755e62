package lp

import (
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms/totals"
)

// These tests check docs/results/three.md, in exact arithmetic: three candidates below the threshold, level paper.

// three is Q(3,k) at z with the injection S of the document, and whether the first piece's row is the tight one.
type three struct {
	*universalCase
	first bool
	s     *big.Rat
}

func newThree(t *testing.T, k int, z *big.Rat) *three {
	c := &three{universalCase: newUniversal(t, 3, k, z)}
	cube := raised(difference(ratOf(1, 1), z), 3)
	one := quotient(cube, times(ratOf(3, 1), z, z))
	two := times(cube, quotient(plus(times(ratOf(2, 1), z), 3), plus(times(ratOf(6, 1), z, z, z), 3)))
	c.first, c.s = one.Cmp(two) <= 0, one
	if !c.first {
		c.s = two
	}
	return c
}

// value is permute-and-flip's total less 3A(B'-1)S/z.
func (c *three) value() *big.Rat {
	return difference(c.flip, quotient(times(ratOf(3, 1), c.a, plus(c.b, -1), c.s), c.z))
}

// holds are the conditions under which the document's dual point is feasible.
func (c *three) holds() bool {
	y := c.dual([]int{0, 0, 1})
	if c.first {
		return y.Cmp(ratOf(1, 1)) >= 0
	}
	tail := new(big.Rat)
	for u := 3; u <= c.k; u++ {
		tail.Add(tail, times(raised(c.z, u), difference(ratOf(int64(u), 1), c.a)))
	}
	return y.Cmp(ratOf(1, 1)) >= 0 && tail.Sign() >= 0
}

// dual is y, by depths in ascending order.
func (c *three) dual(q []int) *big.Rat {
	excess := times(c.a, plus(c.b, -1))
	tau := quotient(excess, raised(c.z, 3))
	sigma := quotient(excess, times(c.z, plus(times(ratOf(2, 1), raised(c.z, 3)), 1)))
	switch at := [3]int(q); {
	case c.first && at == [3]int{}:
		return new(big.Rat).Neg(tau)
	case c.first && at == [3]int{0, 1, 1}:
		return times(c.z, tau)
	case c.first && at == [3]int{0, 0, 1}:
		return difference(c.a, times(c.z, c.z, tau))
	case !c.first && at == [3]int{0, 1, 2}:
		return times(c.z, sigma)
	case !c.first && at == [3]int{0, 0, 1}:
		return difference(c.a, times(sigma, plus(raised(c.z, 3), 1)))
	case !c.first && at == [3]int{0, 0, 2}:
		return difference(c.a, times(c.z, c.z, sigma))
	case at[1] == 0 && at[2] > 0:
		return c.a
	}
	return new(big.Rat)
}

// primal returns the document's table at depths in ascending order: the probability of each.
func (c *three) primal(q []int) []*big.Rat {
	beside := func(u int) *big.Rat { // one at depth u below two that are best
		return plusRat(quotient(raised(c.z, u), ratOf(3, 1)), quotient(times(raised(c.z, u), c.s), c.z))
	}
	best := func(u int) *big.Rat { return quotient(difference(ratOf(1, 1), beside(u)), ratOf(2, 1)) }
	if q[1] == 0 {
		if q[2] == 0 {
			return []*big.Rat{ratOf(1, 3), ratOf(1, 3), ratOf(1, 3)}
		}
		return []*big.Rat{best(q[2]), best(q[2]), beside(q[2])}
	}
	a, b := times(raised(c.z, q[1]), best(q[2])), times(raised(c.z, q[2]), best(q[1]))
	return []*big.Rat{difference(difference(ratOf(1, 1), a), b), a, b}
}

func plusRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }

// vectors calls for all of Q(3,k), in ascending order of depths, with the number of score vectors that have them.
func (c *three) vectors(visit func(q []int, count int64)) {
	for a := 0; a <= c.k; a++ {
		for b := a; b <= c.k; b++ {
			count := int64(6)
			switch {
			case b == 0:
				count = 1
			case a == 0 || a == b:
				count = 3
			}
			visit([]int{0, a, b}, count)
		}
	}
}

// private reports whether the table satisfies every row of the program, from the definition: a candidate loses at most the factor z where it falls by a step.
func (c *three) private() bool {
	ok := true
	c.vectors(func(q []int, _ int64) {
		p, sum := c.primal(q), new(big.Rat)
		for r := range q {
			sum.Add(sum, p[r])
			ok = ok && p[r].Sign() >= 0
			for s := range q {
				ok = ok && (q[r] != q[s] || p[r].Cmp(p[s]) == 0)
			}
			next := slices.Clone(q)
			next[r]++
			least := slices.Min(next)
			for i := range next {
				next[i] -= least
			}
			depth := next[r]
			slices.Sort(next)
			if next[2] <= c.k {
				ok = ok && c.primal(next)[slices.Index(next, depth)].Cmp(times(c.z, p[r])) >= 0
			}
		}
		ok = ok && sum.Cmp(ratOf(1, 1)) == 0
	})
	return ok
}

func (c *three) error() *big.Rat {
	total := new(big.Rat)
	c.vectors(func(q []int, count int64) {
		for r, p := range c.primal(q) {
			total.Add(total, times(p, ratOf(count*int64(q[r]), 1)))
		}
	})
	return total
}

// Theorem 1: the table satisfies every row wherever B' >= 1 and is worth what is claimed; where the conditions hold the dual point is feasible, worth the same, and the
// program's exact optimum is that number. Where they fail by much it is not.
func TestThreeCandidatesBelowTheThreshold(t *testing.T) {
	pieces, outside := map[bool]int{}, 0
	for k := 2; k <= 7; k++ {
		for i := int64(50); i < 100; i++ {
			c := newThree(t, k, ratOf(i, 100))
			if c.b.Cmp(ratOf(1, 1)) <= 0 {
				continue
			}
			require.True(t, c.private(), "k = %d, z = %d/100", k, i)
			require.Zero(t, c.error().Cmp(c.value()))
			proved := feasible(3, k, c.z, func(u int) *big.Rat { return ratOf(int64(u), 1) }, c.dual)
			require.Equal(t, c.holds(), proved, "k = %d, z = %d/100", k, i)
			if i%3 != 0 || k > 5 && i%2 != 0 {
				continue
			}
			optimum := exactOptimum(t, 3, k, totals.Paper, Paper, c.e)
			if proved {
				pieces[c.first]++
				_, claimed := c.worth(t, c.dual)
				require.Zero(t, claimed.Cmp(c.value()))
				require.Zero(t, optimum.Cmp(c.value()), "k = %d, z = %d/100", k, i)
			} else {
				outside++
				require.Negative(t, optimum.Cmp(c.value()), "k = %d, z = %d/100", k, i)
			}
		}
	}
	assert.Greater(t, pieces[true], 10)
	assert.Greater(t, pieces[false], 4)
	assert.Greater(t, outside, 20)
	// The table is no more than just feasible: a larger injection violates a row.
	c := newThree(t, 3, ratOf(3, 5))
	c.s = times(c.s, ratOf(101, 100))
	assert.False(t, c.private())
	c = newThree(t, 3, ratOf(11, 20))
	require.False(t, c.first)
	c.s = times(c.s, ratOf(101, 100))
	assert.False(t, c.private())
	// How far the theorem reaches, in thousandths of z.
	for k, last := range map[int]int64{2: 780, 3: 660, 4: 619, 40: 585} {
		for z := int64(545); z <= last; z++ {
			if c := newThree(t, k, ratOf(z, 1000)); c.b.Cmp(ratOf(1, 1)) > 0 {
				require.True(t, c.holds(), "k = %d, z = %d/1000", k, z)
			}
		}
		require.False(t, newThree(t, k, ratOf(last+1, 1000)).holds(), "k = %d", k)
	}
	// (3,2) at e^ε = 3/2: 424/423.
	c = newThree(t, 2, ratOf(2, 3))
	assert.Equal(t, "424/423", quotient(c.flip, c.value()).RatString())
}

// Theorem 2: the largest ratios of the rows (3,2), (3,3) over all ε. The polynomial falls on (0,1), with its root in the bracket; where the first piece ends,
// cells of z follow, in which the ratio is at most permute-and-flip's error at the end over the optimum at the beginning.
func TestPeaksOfThreeCandidates(t *testing.T) {
	for _, c := range []struct {
		k        int
		peak     []int64 // coefficients from that of 1 on
		root     int64   // in millionths, rounded down
		low, end *big.Rat
	}{
		{2, []int64{7, -6, -5, -2, 1}, 693398, ratOf(100259173, 100000000), ratOf(78, 100)},
		{3, []int64{10, -8, -7, -6, -6, 2, 1}, 629901, ratOf(100647312, 100000000), ratOf(66, 100)},
	} {
		at := func(z *big.Rat) *big.Rat {
			sum := new(big.Rat)
			for _, a := range slices.Backward(c.peak) {
				sum.Add(times(sum, z), ratOf(a, 1))
			}
			return sum
		}
		left, right := ratOf(c.root, 1_000_000), ratOf(c.root+1, 1_000_000)
		assert.Positive(t, at(left).Sign(), "k = %d", c.k)
		assert.Negative(t, at(right).Sign(), "k = %d", c.k)
		// It is the numerator of the derivative: kz(1-z)s' - (s-1)(3k+1-s) with s = B'.
		for i := int64(1); i < 9; i++ {
			z := ratOf(i, 9)
			one := newThree(t, c.k, z)
			slope := new(big.Rat) // s'
			for v := 1; v <= c.k; v++ {
				slope.Add(slope, times(ratOf(int64(v), 1), raised(z, v-1)))
			}
			want := difference(times(ratOf(int64(c.k), 1), z, difference(ratOf(1, 1), z), slope),
				times(plus(one.b, -1), difference(ratOf(int64(3*c.k+1), 1), one.b)))
			require.Zero(t, want.Cmp(at(z)))
		}
		peak := newThree(t, c.k, left)
		require.True(t, peak.first && peak.holds())
		most := quotient(peak.flip, peak.value())
		assert.Positive(t, most.Cmp(c.low))
		assert.Negative(t, most.Cmp(plusRat(c.low, ratOf(1, 100000000))))
		require.True(t, newThree(t, c.k, c.end).holds())
		if c.k > 2 && !slowtest.Enabled {
			continue
		}
		const parts, longest = 20_000, 1 << 12 // z in parts, and the longest cell
		last, _ := times(c.end, ratOf(parts, 1)).Float64()
		for from := int64(last); from < parts; {
			optimum := exactOptimum(t, 3, c.k, totals.Paper, Paper, newThree(t, c.k, ratOf(from, parts)).e)
			step := int64(longest)
			for quotient(flipTotalExact(3, c.k, totals.Paper, ratOf(min(from+step, parts), parts)), optimum).Cmp(most) >= 0 {
				require.Greater(t, step, int64(1), "k = %d, stuck at z = %d/%d", c.k, from, parts)
				step /= 2
			}
			from += step
		}
	}
}
