package lattice

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sizes = [][2]int{{1, 1}, {1, 4}, {2, 1}, {2, 5}, {3, 1}, {3, 4}, {4, 3}, {5, 2}, {4, 4}, {6, 2}}

func mustNew(t testing.TB, n, k int) *Lattice {
	l, err := New(n, k)
	require.NoError(t, err)
	return l
}

// vectors lists {0..k}^n as depths, those of Q(n,k) only where not box.
func vectors(n, k int, box bool) [][]int {
	var out [][]int
	d := make([]int, n)
	for {
		if box || slices.Min(d) == 0 {
			out = append(out, slices.Clone(d))
		}
		i := 0
		for i < n && d[i] == k {
			d[i] = 0
			i++
		}
		if i == n {
			return out
		}
		d[i]++
	}
}

func TestEnumerationMeetsEveryOrbitOnceInOrder(t *testing.T) {
	for _, s := range sizes {
		l := mustNew(t, s[0], s[1])
		want := map[string]bool{}
		for _, d := range vectors(s[0], s[1], false) {
			want[fmt.Sprint(Count(d, s[1]))] = true
		}
		var prev []int
		count := 0
		for i, m := range l.All() {
			assert.Equal(t, count, i)
			assert.True(t, want[fmt.Sprint(m)], "%v: %v is not an orbit", s, m)
			if prev != nil {
				assert.Positive(t, slices.Compare(prev, m), "%v: %v before %v", s, prev, m)
			}
			prev = slices.Clone(m)
			count++
			assert.Equal(t, i, l.rank(m))
			back := make([]int, s[1]+1)
			l.Unrank(i, back)
			assert.Equal(t, m, back)
		}
		assert.Len(t, want, count)
		assert.Equal(t, count, l.Len())
		assert.EqualValues(t, count, Orbits(s[0], s[1]).Int64())
	}
}

func TestRankAndUnrankOfLargeLattices(t *testing.T) {
	for _, s := range [][2]int{{60, 3}, {3, 200}, {20, 8}, {2, 5000}, {5000, 2}} {
		l := mustNew(t, s[0], s[1])
		m := make([]int, s[1]+1)
		for i := range 300 {
			rank := int(uint64(i*7919+i*i*104729) % uint64(l.Len()))
			l.Unrank(rank, m)
			sum := 0
			for _, c := range m {
				sum += c
			}
			require.Equal(t, s[0], sum)
			require.GreaterOrEqual(t, m[0], 1)
			require.Equal(t, rank, l.rank(m), "%v", m)
		}
	}
}

func TestMultiplicityCountsTheVectors(t *testing.T) {
	for _, s := range sizes {
		counted := map[string]int64{}
		for _, d := range vectors(s[0], s[1], false) {
			counted[fmt.Sprint(Count(d, s[1]))]++
		}
		for _, m := range mustNew(t, s[0], s[1]).All() {
			assert.Equal(t, counted[fmt.Sprint(m)], Multiplicity(m).Int64(), "%v %v", s, m)
		}
	}
}

func TestChainsPartitionTheVariables(t *testing.T) {
	for _, s := range sizes {
		n, k := s[0], s[1]
		l := mustNew(t, n, k)
		vs := l.Number()
		require.EqualValues(t, Variables(n, k).Int64(), len(vs.Orbit))
		down := make([]int, len(vs.Orbit))
		for j := range down {
			down[j] = -1
		}
		starts, m := 0, make([]int, k+1)
		for j := range len(vs.Orbit) {
			l.Unrank(int(vs.Orbit[j]), m)
			v := int(vs.Depth[j])
			require.Equal(t, j, vs.Find(m, v))
			require.Equal(t, int(vs.Count[j]), m[v])
			if vs.Up[j] < 0 {
				starts++
			} else {
				require.Equal(t, -1, down[vs.Up[j]], "two chains meet")
				down[vs.Up[j]] = j
				require.NotEqual(t, int(vs.Up[j]), j)
			}
			if v > 0 {
				require.Less(t, vs.Orbit[vs.Up[j]], vs.Orbit[j], "raising leads to an earlier orbit")
			}
		}
		if n == 1 {
			continue
		}
		start, order := vs.Chains()
		require.Len(t, start, starts+1)
		require.Len(t, order, len(vs.Orbit))
		for c := range starts {
			chain := order[start[c]:start[c+1]]
			require.EqualValues(t, -1, vs.Up[chain[0]])
			for i, j := range chain[1:] {
				require.Equal(t, chain[i], vs.Up[j])
			}
		}
		// C(n+k-2, k) chains, each of 2k-M+1 positions with M the depth of the deepest other.
		assert.EqualValues(t, Orbits(n-1, k).Int64(), starts)
		for j := range len(vs.Orbit) {
			if vs.Up[j] >= 0 {
				continue
			}
			length, last := 0, j
			for i := j; i >= 0; i = down[i] {
				length, last = length+1, i
			}
			l.Unrank(int(vs.Orbit[last]), m)
			require.Equal(t, k, int(vs.Depth[last]))
			m[k]--
			assert.Equal(t, 2*k-Deepest(m)+1, length)
		}
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	for _, s := range [][2]int{{0, 1}, {1, 0}, {-3, 4}, {100, 100}, {1 << 40, 2}, {3, 1 << 60}} {
		_, err := New(s[0], s[1])
		assert.ErrorIs(t, err, ErrSize, "%v", s)
	}
}

func TestCountInvertsDepths(t *testing.T) {
	for _, m := range mustNew(t, 5, 3).All() {
		assert.Equal(t, m, Count(Depths(m), 3))
	}
}

func BenchmarkNumber88(b *testing.B) {
	l := mustNew(b, 8, 8)
	for range b.N {
		l.Number()
	}
}

func TestMoveTakesOneCandidate(t *testing.T) {
	m, to := []int{2, 0, 3}, make([]int, 3)
	assert.True(t, move(m, 2, 0, to))
	assert.Equal(t, []int{3, 0, 2}, to)
	assert.True(t, move(m, 0, 1, to))
	assert.Equal(t, []int{1, 1, 3}, to)
	assert.False(t, move(m, 1, 0, to), "nobody is there")
	assert.False(t, move([]int{1, 0, 1}, 0, 2, to), "nobody is left at the top")
}
