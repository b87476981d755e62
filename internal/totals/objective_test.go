package totals

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
)

// The weight of an orbit is the number of vectors of depths that have its counts, below their best one if the objective is Box.
func TestWeightsCountTheVectors(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {1, 3}, {2, 1}, {2, 4}, {3, 3}, {5, 2}} {
		n, k := s[0], s[1]
		for _, o := range []Objective{Paper, Box} {
			counted := map[string]int64{}
			depths := make([]int, n)
			for done := false; !done; {
				best := slices.Min(depths)
				if o == Box || best == 0 {
					m := make([]int, k+1)
					for _, d := range depths {
						m[d-best]++
					}
					counted[fmt.Sprint(m)]++
				}
				done = true
				for i := range depths {
					if depths[i]++; depths[i] <= k {
						done = false
						break
					}
					depths[i] = 0
				}
			}
			l, err := lattice.New(n, k)
			require.NoError(t, err)
			total := new(big.Int)
			for _, m := range l.All() {
				w := o.Weight(m)
				assert.Equal(t, counted[fmt.Sprint(m)], w.Int64(), "%v %v %v", s, o, m)
				total.Add(total, w)
			}
			assert.Zero(t, total.Cmp(o.Total(n, k)), "%v %v", s, o)
		}
	}
}

func TestParseObjective(t *testing.T) {
	for _, o := range []Objective{Paper, Box} {
		got, err := ParseObjective(o.String())
		require.NoError(t, err)
		assert.Equal(t, o, got)
	}
	_, err := ParseObjective("sphere")
	assert.Error(t, err)
}
