package lp

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/mechanisms"
)

// byEnumeration sums a mechanism's exact errors over the orbits.
func byEnumeration(t *testing.T, name string, n, k int, o lattice.Objective, e mechanisms.Epsilon) *big.Rat {
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	lat, err := lattice.New(n, k)
	require.NoError(t, err)
	z, _ := e.Z()
	v, err := totalExact(context.Background(), m.(mechanisms.Weighted), lat, o, z)
	require.NoError(t, err)
	return v.exact
}

func TestPermuteAndFlipTotalEqualsEnumeration(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {1, 4}, {2, 3}, {3, 1}, {3, 4}, {4, 3}, {5, 2}, {6, 3}} {
		for _, ab := range [][2]int64{{1, 1}, {6, 5}, {3, 2}, {4, 1}} {
			for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
				e := expEps(t, ab[0], ab[1])
				z, _ := e.Z()
				want := byEnumeration(t, "pf", s[0], s[1], o, e)
				got := PermuteAndFlipTotalExact(s[0], s[1], o, z)
				require.Zero(t, want.Cmp(got), "%v %v %v: %s, %s", s, ab, o, want, got)
				assert.True(t, PermuteAndFlipTotal(s[0], s[1], o, e, 128).Contains(want))
			}
		}
	}
}

// The closed-form bound is a bound, for both objectives and every level, and its dual point is worth just that.
func TestClosedBoundIsBelowTheOptimum(t *testing.T) {
	for _, s := range [][2]int{{2, 3}, {3, 2}, {3, 4}, {4, 3}, {5, 2}, {6, 2}} {
		for _, ab := range [][2]int64{{1, 1}, {6, 5}, {3, 2}, {2, 1}, {5, 1}} {
			e := expEps(t, ab[0], ab[1])
			z, _ := e.Z()
			for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
				bound := ClosedBoundExact(s[0], s[1], o, z)
				assert.LessOrEqual(t, bound.Cmp(exactOptimum(t, s[0], s[1], o, Paper, e)), 0, "%v %v %v", s, ab, o)
				assert.True(t, ClosedBound(s[0], s[1], o, e, 128).Contains(bound))
			}
			p := newProgram(t, s[0], s[1], lattice.Paper, Paper, e)
			a, b := powerSums(exactNumbers{}, z, s[1])
			level := a.Quo(a, b.Add(b, big.NewRat(1, 1)))
			prop := &Proposal{}
			m := make([]int, s[1]+1)
			for i := range p.Orbits() {
				p.lat.Unrank(i, m)
				prop.Dual = append(prop.Dual, new(big.Rat))
				if m[0] >= 2 {
					prop.Dual[i] = level
				}
			}
			value := lowerBound(p, exactNumbers{}, z, prop)
			assert.Zero(t, value.Cmp(ClosedBoundExact(s[0], s[1], lattice.Paper, z)), "%v %v", s, ab)
		}
	}
}

// The theorem: permute-and-flip is optimal iff n <= 2, k = 1 or Σ z^v <= 1. Checked against the
// exact optimum of the program on both sides, close to the threshold.
func TestThresholdIsSharp(t *testing.T) {
	for _, s := range [][2]int{{2, 4}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {5, 2}, {4, 4}} {
		n, k := s[0], s[1]
		// e^ε just below and above the root of x^k = x^{k-1} + … + 1.
		below, above := rootOf(k)
		for _, x := range []*big.Rat{below, above, big.NewRat(1, 1), big.NewRat(21, 20), big.NewRat(2, 1)} {
			t.Run(fmt.Sprint(s, x.FloatString(6)), func(t *testing.T) {
				e, err := mechanisms.FromExp(x)
				require.NoError(t, err)
				z, _ := e.Z()
				optimum := exactOptimum(t, n, k, lattice.Paper, Paper, e)
				flip := PermuteAndFlipTotalExact(n, k, lattice.Paper, z)
				if e.IsZero() && n >= 3 && k >= 2 {
					// At ε = 0 every mechanism is constant and all are optimal; the theorem speaks of ε > 0.
					assert.Zero(t, optimum.Cmp(flip))
					return
				}
				assert.Equal(t, optimum.Cmp(flip) == 0, PermuteAndFlipOptimal(n, k, e))
			})
		}
	}
}

// rootOf brackets the root of x^k = x^{k-1} + … + 1 within 2^-20.
func rootOf(k int) (below, above *big.Rat) {
	below, above = big.NewRat(1, 1), big.NewRat(2, 1)
	for range 20 {
		middle := new(big.Rat).Add(below, above)
		middle.Quo(middle, big.NewRat(2, 1))
		_, b := powerSums(exactNumbers{}, new(big.Rat).Inv(middle), k)
		if b.Cmp(big.NewRat(1, 1)) > 0 {
			below = middle
		} else {
			above = middle
		}
	}
	return below, above
}

// The decision for decimal ε is that of the theorem, however close.
func TestThresholdDecidesDecimals(t *testing.T) {
	// ln of the golden ratio is 0.48121182505960344749775891342436842…
	assert.True(t, PermuteAndFlipOptimal(5, 2, decimalEps(t, "0.48121182505960344749775891342436843")))
	assert.False(t, PermuteAndFlipOptimal(5, 2, decimalEps(t, "0.48121182505960344749775891342436842")))
	assert.True(t, PermuteAndFlipOptimal(100000, 100, decimalEps(t, "0.7")))
	assert.True(t, PermuteAndFlipOptimal(1<<40, 1<<10, decimalEps(t, "0.69314718055994530942")))
	assert.False(t, PermuteAndFlipOptimal(3, 60, decimalEps(t, "0.6931471805599453")))
	assert.True(t, PermuteAndFlipOptimal(9, 9, expEps(t, 2, 1)))
}

// For fixed k permute-and-flip is optimal up to an exponentially small factor in n, at
// every ε: the closed-form bound shows it without any program.
func TestClosedBoundIsSharpForManyCandidates(t *testing.T) {
	for _, c := range []struct {
		n, k int
		eps  string
		most float64
	}{{60, 3, "0.5", 1e-6}, {1000, 10, "0.1", 1e-37}, {100000, 10, "0.01", 1e-60}} {
		e := decimalEps(t, c.eps)
		ratio := PermuteAndFlipTotal(c.n, c.k, lattice.Paper, e, 256).Quo(ClosedBound(c.n, c.k, lattice.Paper, e, 256))
		excess, _ := ratio.Hi().Float64()
		_ = excess
		one := big.NewFloat(1)
		f, _ := new(big.Float).Sub(ratio.Hi(), one).Float64()
		assert.Less(t, f, c.most, "%+v", c)
		assert.GreaterOrEqual(t, ratio.Hi().Cmp(one), 0)
	}
}
