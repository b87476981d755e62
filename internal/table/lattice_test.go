package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/lattice"
)

// Sinking leads to the next variable on the chain, and nowhere at its end.
func TestSink(t *testing.T) {
	for _, s := range [][2]int{{1, 3}, {2, 1}, {2, 5}, {3, 4}, {5, 2}, {4, 4}} {
		l, err := lattice.New(s[0], s[1])
		require.NoError(t, err)
		vars := l.Number()
		below := map[int32]int{}
		for j, up := range vars.Up {
			below[up] = j
		}
		m, to := make([]int, s[1]+1), make([]int, s[1]+1)
		for j := range int32(len(vars.Orbit)) {
			l.Unrank(int(vars.Orbit[j]), m)
			v := int(vars.Depth[j])
			next, ok := below[j]
			require.Equal(t, ok, sink(m, v, to), "%v, %d", m, v)
			if ok {
				l.Unrank(int(vars.Orbit[next]), m)
				require.Equal(t, m, to)
			}
		}
	}
}
