package certificate

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClassesHoldTheirVectors counts the score vectors of each class orbit by orbit, and walks the chain of every orbit of the others: it visits the classes that the
// chain of its class visits.
func TestClassesHoldTheirVectors(t *testing.T) {
	for n := 3; n <= 6; n++ {
		for k := 1; k <= 5; k++ {
			for top := 1; top <= k+1; top++ {
				c, err := newClasses(n, k, top, 1e6)
				require.NoError(t, err)
				count := make([]*big.Int, len(c.mass))
				for i := range count {
					count[i] = new(big.Int)
				}
				l := newLattice(n, k)
				for _, m := range l.orbits() {
					i, ok := c.index[c.name(m)]
					require.True(t, ok, "%v", m)
					count[i].Add(count[i], l.multiplicity(m))
				}
				assert.Equal(t, c.mass, count, "n = %d, k = %d, top = %d", n, k, top)
				if top == k+1 {
					assert.Len(t, c.mass, orbitCount(n, k))
				}
				// Every chain of the lattice, found by the lattice's own enumerator, is one of the classes' chains.
				known := map[string]bool{}
				name := ""
				for i := range c.class {
					name += string(rune(c.class[i])) + string(rune(c.depth[i]))
					if c.last[i] {
						known[name], name = true, ""
					}
				}
				for chain := range l.chains() {
					name := ""
					for at := range chain {
						name += string(rune(c.index[c.name(at.m)])) + string(rune(at.v))
					}
					assert.True(t, known[name], "n = %d, k = %d, top = %d", n, k, top)
				}
			}
		}
	}
	_, err := newClasses(8, 6, 3, 100)
	assert.ErrorIs(t, err, ErrLimit)
}
