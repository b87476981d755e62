package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// TestEveryOrbitIsDrawn: a lattice of few orbits is seen as a whole, however many vectors it has; of one with many, the leader and ties at every gap are.
func TestEveryOrbitIsDrawn(t *testing.T) {
	for _, c := range []struct{ n, depth, count, orbits int }{{10, 3, 1000, 220}, {4, 5, 200, 56}, {1, 4, 20, 1}, {2, 9, 19, 0}, {30, 12, 100, 0}} {
		vectors := drawGrid(c.n, c.depth, 2, c.count, rand.New(rand.NewPCG(1, 2)))
		require.Len(t, vectors, c.count)
		orbits := map[string]bool{}
		for _, q := range vectors {
			sorted := slices.Sorted(slices.Values(q))
			require.Zero(t, sorted[len(q)-1])
			require.GreaterOrEqual(t, sorted[0], int64(-2*c.depth))
			orbits[fmt.Sprint(sorted)] = true
		}
		if c.orbits > 0 {
			assert.Len(t, orbits, c.orbits)
		}
		for gap := 1; gap <= c.depth && c.n > 1; gap++ {
			for _, top := range []int{1, 2, c.n - 1} {
				if top >= c.n {
					continue
				}
				q := slices.Concat(slices.Repeat([]int64{int64(-2 * gap)}, c.n-top), make([]int64, top))
				assert.True(t, orbits[fmt.Sprint(q)] || c.count < 6*c.depth, "n = %d: %v", c.n, q)
			}
		}
	}
}

// TestFarTies: a mechanism that is wrong only where one of ten leads by 3Δ or more and all others are tied is refuted, though the lattice has 989,527 vectors.
func TestFarTies(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	broken := func(q []float64) []float64 { // the others share half of what they should have
		p, top := softmaxLaw(1, 1)(q), slices.Max(q)
		sorted := slices.Sorted(slices.Values(q))
		if n := len(q); sorted[0] == sorted[n-2] && top-sorted[0] >= 3 {
			at := slices.Index(q, top)
			for r := range p {
				if r != at {
					p[r] /= 2
					p[at] += p[r]
				}
			}
		}
		return p
	}
	for i := range uint64(runs(1)) {
		o := samplerOptions(t, "1", 3_000_000)
		o.N, o.K, o.Seed = 10, 3, firstSeed()+i
		r, err := draw("far ties", newLawSampler(broken, o.Seed), o)
		require.NoError(t, err)
		t.Logf("ε >= %v, %v", r.LowerBound, r.Find(verify.DP).Attained)
		assert.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "seed %d", o.Seed)
	}
}
