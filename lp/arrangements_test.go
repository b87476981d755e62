package lp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/lattice"
)

// Every arrangement of an orbit is met once, in order.
func TestArrangements(t *testing.T) {
	for _, m := range [][]int{{1}, {3}, {1, 2}, {2, 0, 1}, {1, 1, 1, 1}, {2, 1, 0, 2}} {
		met, last := 0, []int(nil)
		for d := range arrangements(m) {
			assert.Equal(t, m, lattice.Count(d, len(m)-1))
			assert.Positive(t, slices.Compare(d, last), fmt.Sprint(d))
			met, last = met+1, slices.Clone(d)
		}
		assert.EqualValues(t, lattice.Multiplicity(m).Int64(), met)
	}
}
