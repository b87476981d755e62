package constant

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// worth is permute-and-flip's error over the value of the best point.
func worth(t *testing.T, s, j, i int, z float64, k int, at target) float64 {
	f := newFamily(Point{S: s, J: j, I: i}, z, k)
	p, err := f.solve(context.Background(), at)
	require.NoError(t, err)
	require.NotNil(t, p.Y)
	return flip(at, z) / value(p).at(at)
}

// The optima of the family at n = 6, k = 20, z = 0.7, computed by another solver (HiGHS).
func TestBestPoints(t *testing.T) {
	at := target{n: 6, k: 20}
	assert.InDelta(t, 1.036520, worth(t, 3, 4, 5, .7, 20, at), 1e-6)
	assert.InDelta(t, 1.025306, worth(t, 4, 4, 6, .7, 20, at), 1e-6)
}

// Points that look at one candidate more are worth no less. At these targets the simplex method meets bases that are nearly singular; it once called the programs unbounded
// or infeasible, which they are not: 0 is feasible, and the numbers are at most k. At the last it did not end.
func TestMoreCandidatesAreWorthMore(t *testing.T) {
	for _, c := range []struct {
		z  float64
		k  int
		at target
	}{
		{2289. / 4096, 24, target{k: math.Inf(1), mu: 1.152565430651896}}, {3095. / 4096, 109, target{k: math.Inf(1), mu: .504542810985487}},
		{881. / 1024, 86, target{n: 61, k: 200}},
	} {
		t.Run(fmt.Sprint(c.z, c.k), func(t *testing.T) {
			eps := -math.Log(c.z)
			j, i := int(math.Ceil(.68/eps))+1, int(math.Ceil(1.1/eps))
			three, four := worth(t, 3, j, i, c.z, c.k, c.at), worth(t, 4, j, i, c.z, c.k, c.at)
			assert.Less(t, four, three)
			assert.Greater(t, four, 1.0)
		})
	}
}
