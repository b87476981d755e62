package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// These tests check research/docs/three.md, in exact arithmetic: three candidates below the threshold, level paper.

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

// table is the document's: permute-and-flip's and the injection.
func (c *three) table() pairTable {
	h := make([]*big.Rat, c.k+1)
	for u := range h {
		h[u] = times(difference(ratOf(1, 1), times(raised(c.z, u), plusRat(ratOf(1, 3), quotient(c.s, c.z)))), ratOf(1, 2))
	}
	h[0] = ratOf(1, 3)
	return pairTable{c.universalCase, h}
}

func plusRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }

// Theorem 1: the table satisfies every row wherever B' >= 1 and is worth what is claimed; where the conditions hold the dual point is feasible, worth the same, and the
// program's exact optimum is that number. Where they fail by much it is not.
func TestThreeCandidatesBelowTheThreshold(t *testing.T) {
	slowtest.Only(t)
	pieces, outside := map[bool]int{}, 0
	for k := 2; k <= 7; k++ {
		for i := int64(50); i < 100; i++ {
			c := newThree(t, k, ratOf(i, 100))
			if c.b.Cmp(ratOf(1, 1)) <= 0 {
				continue
			}
			require.True(t, c.table().regular(false), "k = %d, z = %d/100", k, i)
			require.Zero(t, c.table().total().Cmp(c.value()))
			proved := feasible(3, k, c.z, func(u int) *big.Rat { return ratOf(int64(u), 1) }, c.dual)
			require.Equal(t, c.holds(), proved, "k = %d, z = %d/100", k, i)
			if i%3 != 0 || k > 5 && i%2 != 0 {
				continue
			}
			optimum := exactOptimum(t, 3, k, Prior{}, Paper, c.e)
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
	assert.False(t, c.table().regular(false))
	c = newThree(t, 3, ratOf(11, 20))
	require.False(t, c.first)
	c.s = times(c.s, ratOf(101, 100))
	assert.False(t, c.table().regular(false))
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
