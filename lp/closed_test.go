package lp

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// byEnumeration sums a mechanism's exact errors over the orbits.
func byEnumeration(t *testing.T, name string, n, k int, o Prior, e number.Epsilon) *big.Rat {
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	lat, err := lattice.New(n, k)
	require.NoError(t, err)
	v, err := totalOfInstances(context.Background(), m, lat, o, e, 64)
	require.NoError(t, err)
	sum, ok := v.Rat()
	require.True(t, ok)
	byWeights, err := totalOfWeights(context.Background(), m.(weighted), lat, o, e, 64)
	require.NoError(t, err)
	require.Equal(t, v, byWeights)
	return sum
}

func TestPermuteAndFlipTotalEqualsEnumeration(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {1, 4}, {2, 3}, {3, 1}, {3, 4}, {4, 3}, {5, 2}, {6, 3}} {
		for _, ab := range [][2]int64{{1, 1}, {6, 5}, {3, 2}, {4, 1}} {
			for _, o := range []Prior{{}, Box()} {
				e := expEps(t, ab[0], ab[1])
				z, _ := e.Z()
				want := byEnumeration(t, "pf", s[0], s[1], o, e)
				got := flipTotalExact(s[0], s[1], o, z)
				require.Zero(t, want.Cmp(got), "%v %v %v: %s, %s", s, ab, o, want, got)
				assert.True(t, flipWithin(s[0], s[1], o, e, 128).Contains(want))
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
			for _, o := range []Prior{{}, Box()} {
				bound := closedExact(s[0], s[1], o, z)
				assert.LessOrEqual(t, bound.Cmp(exactOptimum(t, s[0], s[1], o, Paper, e)), 0, "%v %v %v", s, ab, o)
				assert.True(t, closedWithin(s[0], s[1], o, e, 128).Contains(bound))
			}
			p := testProgram(t, s[0], s[1], Prior{}, Paper, e)
			c := newUniversal(t, s[0], s[1], z)
			level := quotient(c.a, plus(c.b, 1))
			crowded := c.b.Cmp(ratOf(1, 1)) >= 0 && c.b.Cmp(ratOf(int64(c.k), int64(c.n))) > 0
			var dual []*big.Rat
			m := make([]int, s[1]+1)
			for i := range p.lat.Len() {
				p.lat.Unrank(i, m)
				dual = append(dual, new(big.Rat))
				if crowded {
					dual[i] = c.deepest(lattice.Depths(m))
				} else if m[0] >= 2 {
					dual[i] = level
				}
			}
			value := dualValue(p, z, dual)
			assert.Zero(t, value.Cmp(closedExact(s[0], s[1], Prior{}, z)), "%v %v", s, ab)
		}
	}
}

// The theorem: where permute-and-flip is optimal, checked against the exact optimum of the program on both
// sides, close to the threshold, for both objectives and at every level.
func TestThresholdIsSharp(t *testing.T) {
	for _, s := range [][2]int{{2, 4}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {5, 2}, {4, 4}, {3, 6}} {
		n, k := s[0], s[1]
		for _, o := range []Prior{{}, Box()} {
			bracket, err := Threshold(context.Background(), Request{N: n, K: k, Prior: o, Gap: big.NewRat(1, 1<<16)}, nil)
			require.NoError(t, err)
			for _, x := range []*big.Rat{bracket.Exp[0], bracket.Exp[1], big.NewRat(1, 1), big.NewRat(21, 20), big.NewRat(2, 1), big.NewRat(3, 1)} {
				for _, level := range []Level{Paper, DP, Monotone, Full} {
					if level != Paper && n*k > 9 {
						continue
					}
					e, err := number.FromExp(x)
					require.NoError(t, err)
					z, _ := e.Z()
					optimum := exactOptimum(t, n, k, o, level, e)
					flip := flipTotalExact(n, k, o, z)
					want := permuteAndFlipOptimal(n, k, o.box(), e) || e.IsZero()
					assert.Equal(t, optimum.Cmp(flip) == 0, want, "%v %v %v e^ε = %v", s, o, level, x)
				}
			}
		}
	}
}

// The dual point of the theorem, written out orbit by orbit and walked along all chains in exact arithmetic, is
// worth permute-and-flip's error where it is optimal and strictly less elsewhere. At the thresholds' rational
// neighbors this is the proof itself, for every size that it is run on.
func TestDualPointOfTheThreshold(t *testing.T) {
	for _, s := range [][2]int{{3, 2}, {3, 5}, {4, 3}, {5, 3}, {6, 2}} {
		n, k := s[0], s[1]
		for _, o := range []Prior{{}, Box()} {
			bracket, err := Threshold(context.Background(), Request{N: n, K: k, Prior: o, Gap: big.NewRat(1, 1<<20)}, nil)
			require.NoError(t, err)
			for _, x := range []*big.Rat{bracket.Exp[0], bracket.Exp[1]} {
				e, err := number.FromExp(x)
				require.NoError(t, err)
				z, _ := e.Z()
				p := testProgram(t, n, k, o, Paper, e)
				var dual []*big.Rat
				m := make([]int, k+1)
				for i := range p.lat.Len() {
					p.lat.Unrank(i, m)
					y := new(big.Rat)
					for j := k; j >= lattice.Deepest(m) && j >= 1; j-- {
						a, b := arith.PowerSums(arith.Rat{}, z, j)
						level := new(big.Rat)
						for range m[0] - 1 {
							level.Mul(level, b)
							level.Sub(a, level)
						}
						y.Add(y, level)
						if !o.box() {
							break
						}
					}
					dual = append(dual, y)
				}
				value := dualValue(p, z, dual)
				flip := flipTotalExact(n, k, o, z)
				assert.Equal(t, permuteAndFlipOptimal(n, k, o.box(), e), value.Cmp(flip) == 0, "%v %v %v", s, o, x)
				assert.LessOrEqual(t, value.Cmp(flip), 0)
			}
		}
	}
}

// By exact optima of the program and by the theorem, the brackets overlap.
func TestThresholdByLP(t *testing.T) {
	for _, s := range [][2]int{{3, 2}, {3, 3}, {4, 2}, {4, 4}, {3, 8}} {
		for _, o := range []Prior{{}, Box()} {
			gap := big.NewRat(1, 1000000)
			if o.box() && s[0]*s[1] > 12 {
				gap = big.NewRat(1, 1000)
			}
			r := Request{N: s[0], K: s[1], Prior: o, Gap: gap}
			theorem, err := Threshold(context.Background(), r, nil)
			require.NoError(t, err)
			r.Method = methodLP
			program, err := Threshold(context.Background(), r, nil)
			require.NoError(t, err)
			require.Empty(t, program.Undecided)
			assert.Equal(t, theorem.Exp[0].RatString(), program.Exp[0].RatString(), "%v %v", s, o)
			assert.Equal(t, theorem.Exp[1].RatString(), program.Exp[1].RatString(), "%v %v", s, o)
			assert.NotNil(t, program.Optima[0])
			assert.NotNil(t, program.Optima[1])
		}
	}
}

func TestSimplestFraction(t *testing.T) {
	for _, c := range []struct{ lo, hi, want [2]int64 }{
		{[2]int64{1, 3}, [2]int64{2, 5}, [2]int64{1, 3}}, {[2]int64{7, 5}, [2]int64{8, 5}, [2]int64{3, 2}},
		{[2]int64{314, 100}, [2]int64{315, 100}, [2]int64{22, 7}}, {[2]int64{2, 1}, [2]int64{5, 2}, [2]int64{2, 1}},
	} {
		got := simplest(big.NewRat(c.lo[0], c.lo[1]), big.NewRat(c.hi[0], c.hi[1]))
		assert.Zero(t, got.Cmp(big.NewRat(c.want[0], c.want[1])), "%v: %v", c, got)
	}
}

// The decision for decimal ε is that of the theorem, however close.
func TestThresholdDecidesDecimals(t *testing.T) {
	// ln of the golden ratio is 0.48121182505960344749775891342436842…
	assert.True(t, permuteAndFlipOptimal(5, 2, false, decimalEps(t, "0.48121182505960344749775891342436843")))
	assert.False(t, permuteAndFlipOptimal(5, 2, false, decimalEps(t, "0.48121182505960344749775891342436842")))
	assert.True(t, permuteAndFlipOptimal(100000, 100, false, decimalEps(t, "0.7")))
	assert.True(t, permuteAndFlipOptimal(1<<40, 1<<10, true, decimalEps(t, "0.69314718055994530942")))
	assert.False(t, permuteAndFlipOptimal(3, 60, false, decimalEps(t, "0.6931471805599453")))
	assert.True(t, permuteAndFlipOptimal(9, 9, false, expEps(t, 2, 1)))
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
		ratio := flipWithin(c.n, c.k, Prior{}, e, 256).Quo(closedWithin(c.n, c.k, Prior{}, e, 256))
		one := big.NewFloat(1)
		f, _ := new(big.Float).Sub(ratio.Hi(), one).Float64()
		assert.Less(t, f, c.most, "%+v", c)
		assert.GreaterOrEqual(t, ratio.Hi().Cmp(one), 0)
	}
}

// The integral and the sum over orbits enclose the same total of the exponential mechanism.
func TestExponentialTotalBySumAndIntegral(t *testing.T) {
	em, err := mechanisms.Lookup("em")
	require.NoError(t, err)
	for _, o := range []Prior{{}, Box()} {
		e := decimalEps(t, "0.4")
		lat, err := lattice.New(9, 8) // 12870 orbits: past maxSum
		require.NoError(t, err)
		require.Greater(t, lat.Len(), maxSum)
		byIntegral, err := total(context.Background(), em, 9, 8, o, Paper, e, 192)
		require.NoError(t, err)
		bySum, err := totalOfInstances(context.Background(), em, lat, o, e, 192)
		require.NoError(t, err)
		_, overlap := byIntegral.Enclosure(64).Intersect(bySum.Enclosure(64))
		assert.True(t, overlap)
		assert.Less(t, byIntegral.Enclosure(64).RelWidth(), 1e-11)
		assert.Less(t, bySum.Enclosure(64).RelWidth(), 1e-40)
	}
}

// closedExact is closedWithin as a rational, for rational z = e^{-ε}.
func closedExact(n, k int, o Prior, z *big.Rat) *big.Rat {
	f := arith.Rat{}
	return overBox(context.Background(), f, z, o.box(), k, func(a, b *big.Rat, k int) *big.Rat {
		return closedBound(f, a, b, n, k, func(x *big.Rat) (int, bool) { return x.Sign(), true })
	})
}
