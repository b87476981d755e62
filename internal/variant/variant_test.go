package variant_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

func epsilon(t *testing.T, s string) number.Epsilon {
	t.Helper()
	eps, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return eps
}

func exp(t *testing.T, s string) number.Epsilon {
	t.Helper()
	eps, err := number.ParseExp(s)
	require.NoError(t, err)
	return eps
}

// solve returns a question's optimum, known to 1e-9.
func solve(t *testing.T, q variant.Question) (*variant.Program, table.Bounds) {
	t.Helper()
	p, err := variant.New(q)
	require.NoError(t, err)
	s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
	require.NoError(t, err)
	require.Empty(t, s.Undecided)
	return p, s.Optimum
}

// ratio returns a mechanism's objective over the optimum, in floating point.
func ratio(t *testing.T, p *variant.Program, optimum table.Bounds, name string) float64 {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	b, err := p.Rate(context.Background(), m, 128)
	require.NoError(t, err)
	r, _ := new(big.Rat).Quo(b.Low, optimum.High).Float64()
	return r
}

// Values computed with HiGHS from programs over all score vectors, to the digits shown.
func TestFinerLattice(t *testing.T) {
	for _, c := range []struct {
		eps     number.Epsilon
		pf, geo float64
	}{{exp(t, "2"), 1.0211, 1.0007}, {epsilon(t, "1"), 1.0500, 1.0005}, {epsilon(t, "2"), 1.2480, 1.0001}} {
		p, optimum := solve(t, variant.Question{N: 3, K: 3, L: 2, Epsilon: c.eps, Neighbors: true})
		assert.InDelta(t, c.pf, ratio(t, p, optimum, "pf"), 5.1e-5)
		assert.InDelta(t, c.geo, ratio(t, p, optimum, "geo"), 5.1e-5)
	}
	// (3,2), L = 2, ε = ln 2: worst neighbors alone leave the program loose.
	loose, worst := solve(t, variant.Question{N: 3, K: 2, L: 2, Epsilon: exp(t, "2")})
	tight, all := solve(t, variant.Question{N: 3, K: 2, L: 2, Epsilon: exp(t, "2"), Neighbors: true})
	assert.InDelta(t, 1.096, ratio(t, loose, worst, "pf"), 5.1e-4)
	assert.InDelta(t, 1.019, ratio(t, tight, all, "pf"), 5.1e-4)
	assert.True(t, all.Exact())
}

// The largest Pr[err >= 2Δ] over the vectors of Q(3,3), ε = 0.7.
func TestWorstTail(t *testing.T) {
	tail, err := variant.Tail(big.NewRat(1, 1))
	require.NoError(t, err)
	for _, c := range []struct {
		neighbors, monotone bool
		want                float64
	}{{false, false, 0.33181}, {true, false, 0.33181}, {false, true, 0.39781}, {true, true, 0.39781}} {
		p, optimum := solve(t, variant.Question{N: 3, K: 3, Epsilon: epsilon(t, "0.7"), Loss: tail, Worst: true, Neighbors: c.neighbors, Monotone: c.monotone})
		got, _ := optimum.Low.Float64()
		assert.InDelta(t, c.want, got, 5.1e-6)
		pf, _ := mechanisms.Lookup("pf")
		b, err := p.Rate(context.Background(), pf, 128)
		require.NoError(t, err)
		got, _ = b.Low.Float64()
		assert.InDelta(t, 0.41439, got, 5.1e-6)
		// 1 - (1-(1-p)^n)/(np) at p = e^{-ε}
		x := math.Exp(-0.7)
		assert.InDelta(t, 1-(1-math.Pow(1-x, 3))/(3*x), got, 1e-12)
	}
}

func TestTop1(t *testing.T) {
	p, optimum := solve(t, variant.Question{N: 3, K: 10, Epsilon: epsilon(t, "0.25"), Loss: variant.Top1()})
	assert.InDelta(t, 1.0520, ratio(t, p, optimum, "pf"), 5.1e-5)
}

// For a product prior with factors ρ^v, ρ <= 1/2, permute-and-flip is optimal at every ε.
func TestGeometricPriorAtSmallEpsilon(t *testing.T) {
	prior, err := variant.Geometric(big.NewRat(1, 2))
	require.NoError(t, err)
	for _, loss := range []variant.Loss{variant.Mean(), variant.Square(), variant.Top1()} {
		p, optimum := solve(t, variant.Question{N: 4, K: 4, Epsilon: exp(t, "21/20"), Prior: prior, Loss: loss})
		pf, _ := mechanisms.Lookup("pf")
		b, err := p.Rate(context.Background(), pf, 128)
		require.NoError(t, err)
		assert.True(t, b.Exact() && optimum.Exact() && b.Low.Cmp(optimum.Low) == 0, "%v: %v, %v", loss, b, optimum)
	}
}

// vectors lists the score vectors of a lattice, as numbers of depths.
func vectors(n, k int) (out [][]int) {
	v := make([]int, n)
	for {
		if slices.Min(v) == 0 {
			out = append(out, slices.Clone(v))
		}
		i := n - 1
		for ; i >= 0; i-- {
			if v[i]++; v[i] <= k {
				break
			}
			v[i] = 0
		}
		if i < 0 {
			return out
		}
	}
}

// The rows between cells are those between candidates of all score vectors, straight from their definitions.
func TestRowsFromTheirDefinitions(t *testing.T) {
	for _, c := range []struct{ n, k, l int }{{1, 2, 2}, {2, 3, 1}, {3, 2, 1}, {3, 2, 2}, {3, 1, 3}, {4, 1, 2}, {2, 2, 4}} {
		q := variant.Question{N: c.n, K: c.k, L: c.l, Epsilon: exp(t, "2"), Neighbors: true, Monotone: true}
		depths := q.Depths()
		lat, err := lattice.New(c.n, depths)
		require.NoError(t, err)
		vars := lat.Number()
		cell := func(v []int, r int) int { return vars.Find(lattice.Count(v, depths), v[r]) }
		private, worst, monotone := map[[2]int]bool{}, map[[2]int]bool{}, map[[2]int]bool{}
		all := vectors(c.n, depths)
		for _, a := range all {
			for _, b := range all {
				low, high := math.MaxInt, math.MinInt // of the changes of depth
				for s := range a {
					low, high = min(low, a[s]-b[s]), max(high, a[s]-b[s])
				}
				for r := range a {
					i, j := cell(a, r), cell(b, r)
					if i == j {
						continue
					}
					if high-low <= c.l {
						private[[2]int{i, j}] = true // x_r(a) >= z x_r(b)
					}
					// a: candidate r lower by L than in b, relative to all others, which do not change among themselves
					others := map[int]bool{}
					for s := range a {
						if s != r {
							others[a[s]-b[s]] = true
						}
					}
					if len(others) == 1 {
						for o := range others {
							if a[r]-b[r]-o == c.l {
								worst[[2]int{i, j}] = true
							}
						}
					}
					// a has r no lower and everyone else no higher than b, after a shift
					ok := true
					for s := range a {
						ok = ok && a[s]-b[s] >= a[r]-b[r]
					}
					if ok {
						monotone[[2]int{i, j}] = true
					}
				}
			}
		}
		gotPrivate, gotMonotone := map[[2]int]bool{}, map[[2]int]bool{}
		variant.EachRow(q, func(above, below int, isPrivate bool) {
			if above == below {
				return
			}
			if isPrivate {
				gotPrivate[[2]int{above, below}] = true
			} else {
				gotMonotone[[2]int{above, below}] = true
			}
		})
		name := fmt.Sprint(c)
		assert.Equal(t, private, gotPrivate, name)
		// Single steps generate the monotone rows: none is wrong, and their closure is all of them.
		for row := range gotMonotone {
			assert.True(t, monotone[row], "%s %v", name, row)
		}
		for changed := true; changed; {
			changed = false
			for a := range gotMonotone {
				for b := range gotMonotone {
					if row := [2]int{a[0], b[1]}; a[1] == b[0] && row[0] != row[1] && !gotMonotone[row] {
						gotMonotone[row], changed = true, true
					}
				}
			}
		}
		for row := range monotone {
			assert.True(t, gotMonotone[row], "%s %v is not generated", name, row)
		}
		q.Neighbors, q.Monotone = false, false
		gotWorst := map[[2]int]bool{}
		variant.EachRow(q, func(above, below int, _ bool) { gotWorst[[2]int{above, below}] = true })
		assert.Equal(t, worst, gotWorst, name)
	}
}
