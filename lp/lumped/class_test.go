package lumped

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
)

var sizes = [][2]int{{2, 1}, {2, 5}, {3, 1}, {3, 4}, {4, 4}, {5, 3}, {7, 2}, {5, 5}, {8, 3}}

var partitions = []Partition{
	Coarse, Fine, {Top: 3}, {Top: 9}, {Top: 1, Bottom: 1}, {Top: 1, Bottom: 2}, {Top: 2, Bottom: 1},
	{Top: 1, Cap: 2}, {Top: 2, Cap: 3}, {Top: 1, Bottom: 1, Cap: 2}, {Top: 2, Bottom: 2, Cap: 3}, {Top: 3, Bottom: 1, Cap: 4},
}

// each runs f for every size and partition.
func each(t *testing.T, f func(t *testing.T, n, k int, p Partition)) {
	for _, s := range sizes {
		for _, p := range partitions {
			t.Run(fmt.Sprintf("%d,%d %v", s[0], s[1], p), func(t *testing.T) { f(t, s[0], s[1], p) })
		}
	}
}

func mustBuild(t testing.TB, n, k int, p Partition, o lattice.Objective) *program {
	t.Helper()
	prog, err := build(context.Background(), n, k, p, o, 0, 0)
	require.NoError(t, err)
	return prog
}

// naive classes a count vector by the definition of Partition, in words.
func naive(m []int, p Partition) string {
	deepest, second := lattice.Deepest(m), 0
	if m[0] == 1 {
		for second = 1; m[second] == 0; second++ {
		}
	}
	count := func(v int) string {
		switch {
		case v < 0 || v >= len(m):
			return "-"
		case p.Cap > 0 && m[v] >= p.Cap:
			return "many"
		}
		return fmt.Sprint(m[v])
	}
	s := fmt.Sprint(second, deepest)
	for i := range p.Top {
		s += " " + count(second+i)
	}
	for i := range p.Bottom {
		s += " " + count(deepest-i)
	}
	return s
}

func TestClassesAreWhatTheyAreSaidToBe(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p Partition) {
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		classes := map[string]string{} // by naive name
		weight := map[string]*big.Int{}
		for _, m := range l.All() {
			c := p.Of(m)
			key := string(c.key(nil))
			name := naive(m, p)
			if other, ok := classes[name]; ok {
				require.Equal(t, other, key, "%v", m)
			}
			classes[name] = key
			if weight[key] == nil {
				weight[key] = new(big.Int)
			}
			weight[key].Add(weight[key], lattice.Multiplicity(m))
		}
		require.Len(t, weight, len(classes), "vectors that differ in a statistic share a class")

		prog := mustBuild(t, n, k, p, lattice.Paper)
		require.Len(t, prog.classes, len(weight))
		for i := range prog.classes {
			want := weight[string(prog.classes[i].key(nil))]
			require.NotNil(t, want, "%v is no class", prog.classes[i])
			assert.Zero(t, want.Cmp(prog.weight[i]), "%v: weight %v, want %v", prog.classes[i], prog.weight[i], want)
		}
	})
}

// TestSequencesMergeTheChains lists all chains of the lattice and what classes they visit.
func TestSequencesMergeTheChains(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p Partition) {
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		vs := l.Number()
		start, order := vs.Chains()
		want := map[string]*big.Int{}
		m := make([]int, k+1)
		for c := range len(start) - 1 {
			var s []string
			var weight *big.Int
			for _, j := range order[start[c]:start[c+1]] {
				l.Unrank(int(vs.Orbit[j]), m)
				cl := p.Of(m)
				s = append(s, fmt.Sprint(cl, vs.Depth[j]))
				w := lattice.Multiplicity(m)
				w.Mul(w, big.NewInt(int64(vs.Count[j])))
				if weight != nil {
					require.Zero(t, weight.Cmp(w), "the weight changes along a chain")
				}
				weight = w
			}
			key := fmt.Sprint(s)
			if want[key] == nil {
				want[key] = new(big.Int)
			}
			want[key].Add(want[key], weight)
		}

		prog := mustBuild(t, n, k, p, lattice.Paper)
		got := map[string]*big.Int{}
		for _, sh := range prog.shapes {
			var s []string
			for j := sh.sequence; j >= 0; j = prog.next[j] {
				s = append(s, fmt.Sprint(prog.classes[prog.visit[j]], prog.depth[j]))
				assert.Equal(t, j == sh.sequence, prog.first(int(j)))
			}
			key := fmt.Sprint(s)
			if got[key] == nil {
				got[key] = new(big.Int)
			}
			got[key].Add(got[key], sh.weight)
		}
		require.Len(t, got, len(want))
		for key, w := range want {
			require.NotNil(t, got[key], "no sequence %s", key)
			require.Zero(t, w.Cmp(got[key]), "%s: weight %v, want %v", key, got[key], w)
		}
	})
}

func TestWordCounts(t *testing.T) {
	for r := range 7 {
		for j := range 3 {
			for o := range 3 {
				for _, limit := range []int{2, 3} {
					letters := j + o
					var brute int64
					word := make([]int, r)
					for {
						counts := make([]int, letters)
						for _, x := range word {
							if letters > 0 {
								counts[x]++
							}
						}
						if (letters > 0 || r == 0) && !slices.ContainsFunc(counts[:j], func(c int) bool { return c < limit }) {
							brute++
						}
						i := 0
						for i < r && word[i] >= letters-1 {
							word[i] = 0
							i++
						}
						if i == r {
							break
						}
						word[i]++
					}
					w := newWeights(Partition{Top: 1, Cap: limit}, r)
					assert.Equal(t, brute, w.count(r, j, o).Int64(), "F(%d, %d, %d) with counts below %d", r, j, o, limit)
				}
			}
		}
	}
}

// TestLargeWeightsAddUp: what cannot be enumerated must at least sum to |Q|, and n|Q| along all positions.
func TestLargeWeightsAddUp(t *testing.T) {
	for _, s := range [][2]int{{40, 12}, {300, 6}} {
		prog := mustBuild(t, s[0], s[1], Partition{Top: 2, Bottom: 1, Cap: 3}, lattice.Paper)
		sum := new(big.Int)
		for _, w := range prog.weight {
			assert.Positive(t, w.Sign())
			sum.Add(sum, w)
		}
		total := lattice.Paper.Total(s[0], s[1])
		assert.Zero(t, sum.Cmp(total))
		sum.SetInt64(0)
		for _, sh := range prog.shapes {
			for j := sh.sequence; j >= 0; j = prog.next[j] {
				sum.Add(sum, sh.weight)
			}
		}
		assert.Zero(t, sum.Cmp(total.Mul(total, big.NewInt(int64(s[0])))))
	}
}

func TestBuildStopsAtTheLimit(t *testing.T) {
	whole := mustBuild(t, 6, 6, Fine, lattice.Paper)
	_, err := build(context.Background(), 6, 6, Fine, lattice.Paper, len(whole.classes)-1, 0)
	assert.ErrorIs(t, err, ErrTooMany)
	_, err = build(context.Background(), 6, 6, Fine, lattice.Paper, len(whole.classes), 0)
	assert.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = build(ended, 6, 6, Fine, lattice.Paper, 0, 0)
	assert.ErrorIs(t, err, context.Canceled)
}
