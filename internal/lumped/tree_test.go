package lumped

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
)

// partition is a tree with the boxes of its classes.
type partition struct {
	*Tree
	boxes []box
	leaf  []int32
	n     int
}

func onePart(n, k int) *partition { return &partition{newTree(), []box{newBox(n, k)}, []int32{0}, n} }

// ask divides a class, if both answers are possible.
func (p *partition) ask(class int, depth, count int32) bool {
	less, more := p.boxes[class].clone(), p.boxes[class].clone()
	if count <= less.lo[depth] || count > less.hi[depth] {
		return false
	}
	less.below(depth, count)
	more.from(depth, count)
	if !less.holds(p.n) || !more.holds(p.n) {
		return false
	}
	a, b := p.split(p.leaf[class], depth, count)
	p.leaf[class], p.boxes[class] = a, less
	p.leaf, p.boxes = append(p.leaf, b), append(p.boxes, more)
	return true
}

// random asks so many random questions.
func randomPartition(rng *rand.Rand, n, k, questions int) *partition {
	p := onePart(n, k)
	for range 20 * questions {
		if p.Classes() <= questions {
			p.ask(rng.IntN(p.Classes()), int32(rng.IntN(k+1)), int32(1+rng.IntN(min(n, 4))))
		}
	}
	return p
}

// statistics divides classes until they tell apart, with start = 0 where m_0 >= 2 and else the second best depth: start, the deepest depth, and the counts at
// top depths from start on.
func statistics(n, k, top int) *partition {
	p := onePart(n, k)
	p.ask(0, 0, 2)
	for class := 0; class < p.Classes(); {
		b := &p.boxes[class]
		deepest, start := k, 0
		for deepest > 0 && b.hi[deepest] == 0 {
			deepest--
		}
		if b.lo[0] < 2 {
			for start = 1; start < deepest && b.hi[start] == 0; start++ {
			}
		}
		divided := b.lo[deepest] == 0 && p.ask(class, int32(deepest), 1) || start > 0 && b.lo[start] == 0 && p.ask(class, int32(start), 1)
		for v := start; v <= min(start+top-1, k) && !divided; v++ {
			divided = p.ask(class, int32(v), p.boxes[class].lo[v]+1)
		}
		if !divided {
			class++
		}
	}
	return p
}

func partitions(t *testing.T, n, k int) map[string]*partition {
	rng := random(t)
	m := map[string]*partition{"one class": onePart(n, k)}
	for i := range 4 {
		m[fmt.Sprintf("random %d", i)] = randomPartition(rng, n, k, 1<<(2*i))
	}
	r := newRefinement(n, k, 0.6, 1000)
	r.grow(40)
	m["refined"] = &partition{r.tree, r.classes, r.leaf, n}
	return m
}

var sizes = [][2]int{{2, 1}, {2, 5}, {3, 1}, {3, 4}, {4, 4}, {5, 3}, {7, 2}, {5, 5}, {8, 3}, {9, 1}}

// each runs f for every size and some partitions.
func each(t *testing.T, f func(t *testing.T, n, k int, p *partition)) {
	for _, s := range sizes {
		for name, p := range partitions(t, s[0], s[1]) {
			t.Run(fmt.Sprintf("%d,%d %s", s[0], s[1], name), func(t *testing.T) { f(t, s[0], s[1], p) })
		}
	}
}

func mustBuild(t testing.TB, n, k int, p *partition, o bool) *program {
	t.Helper()
	prog, err := build(context.Background(), n, k, p.Tree, p.boxes, o, 0)
	require.NoError(t, err)
	return prog
}

// TestClassesAreWhatTheyAreSaidToBe lists all count vectors: each is in the box of its class, and the weights are right.
func TestClassesAreWhatTheyAreSaidToBe(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p *partition) {
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		weight := make([]big.Int, p.Classes())
		for _, m := range l.All() {
			c := p.Of(m)
			for v, count := range m {
				require.True(t, int(p.boxes[c].lo[v]) <= count && count <= int(p.boxes[c].hi[v]), "%v is not in the box of class %d", m, c)
			}
			weight[c].Add(&weight[c], lattice.Multiplicity(m))
		}
		prog := mustBuild(t, n, k, p, false)
		for c := range weight {
			require.Positive(t, weight[c].Sign(), "class %d is empty", c)
			require.Zero(t, weight[c].Cmp(prog.weight[c]), "class %d: weight %v, want %v", c, prog.weight[c], &weight[c])
			require.Equal(t, c, p.Of(p.boxes[c].any(n)))
		}
	})
}

// TestVisitTellsTheTree: questions and classes in preorder are the tree.
func TestVisitTellsTheTree(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p *partition) {
		type item struct{ depth, count, class int }
		var items []item
		p.Visit(func(depth, count int) { items = append(items, item{depth, count, -1}) }, func(class int) { items = append(items, item{class: class}) })
		require.Len(t, items, 2*p.Classes()-1)
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		for _, m := range l.All() {
			i := 0
			for items[i].class < 0 {
				fewer := m[items[i].depth] < items[i].count
				i++
				for skip := 1; !fewer && skip > 0; i++ { // past all below the answer "fewer"
					if skip--; items[i].class < 0 {
						skip += 2
					}
				}
			}
			require.Equal(t, p.Of(m), items[i].class)
		}
	})
}

// TestSequencesMergeTheChains lists all chains of the lattice and what classes they visit.
func TestSequencesMergeTheChains(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p *partition) {
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		vs := l.Number()
		start, order := vs.Chains()
		m := make([]int, k+1)
		for _, o := range []bool{false, true} {
			want := map[string]*big.Int{}
			for c := range len(start) - 1 {
				var s []int
				var weight *big.Int
				for _, j := range order[start[c]:start[c+1]] {
					l.Unrank(int(vs.Orbit[j]), m)
					cost := int(vs.Depth[j])
					if o {
						cost *= int(int64(len(m) - lattice.Deepest(m)))
					}
					s = append(s, p.Of(m), cost)
					w := lattice.Multiplicity(m)
					w.Mul(w, big.NewInt(int64(vs.Count[j])))
					if weight != nil {
						require.Zero(t, weight.Cmp(w), "the weight changes along a chain")
					}
					weight = w
				}
				add(want, s, weight)
			}
			prog := mustBuild(t, n, k, p, o)
			got := map[string]*big.Int{}
			for i, sh := range prog.shapes {
				var s []int
				for j := sh.sequence; j >= 0; j = prog.next[j] {
					s = append(s, int(prog.visit[j]), int(prog.cost[j]))
					require.Equal(t, j == sh.sequence, prog.first[j])
				}
				require.Equal(t, i, prog.byOthers.Of(sh.others.any(n-1)))
				add(got, s, sh.weight)
			}
			require.Equal(t, want, got, "%v", o)
		}
	})
}

func add(m map[string]*big.Int, sequence []int, weight *big.Int) {
	key := fmt.Sprint(sequence)
	if m[key] == nil {
		m[key] = new(big.Int)
	}
	m[key].Add(m[key], weight)
}

// TestTails counts, in random boxes, the score vectors with more than lo+j candidates at a depth.
func TestTails(t *testing.T) {
	each(t, func(t *testing.T, n, k int, p *partition) {
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		w := newWeights(n)
		for c := range p.boxes {
			b := &p.boxes[c]
			above, all := map[[2]int]float64{}, 0.0
			for _, m := range l.All() {
				if p.Of(m) == c {
					mass, _ := new(big.Float).SetInt(lattice.Multiplicity(m)).Float64()
					all += mass
					for v, count := range m {
						for j := int(b.lo[v]); j < count; j++ {
							above[[2]int{v, j}] += mass
						}
					}
				}
			}
			told := map[int]bool{}
			w.tails(b, func(v int, shares []float64) {
				told[v] = true
				for j, share := range shares {
					require.InDelta(t, above[[2]int{v, int(b.lo[v]) + j}]/all, share, 1e-12)
				}
			})
			for v := range b.lo {
				require.Equal(t, b.lo[v] < b.hi[v], told[v])
			}
		}
	})
}

// TestWordCounts lists all words over small alphabets.
func TestWordCounts(t *testing.T) {
	rng := random(t)
	for range 300 {
		n := 1 + rng.IntN(6)
		w := newWeights(n)
		free := rng.IntN(3)
		spans := make([]span, rng.IntN(3))
		for i := range spans {
			lo := int32(rng.IntN(3))
			spans[i] = span{lo, min(int32(n), lo+1+int32(rng.IntN(4)))} // n is an open end
			spans[i].lo = min(spans[i].lo, spans[i].hi-1)
		}
		letters, brute := free+len(spans), int64(0)
		for word := range power(letters, n) {
			counts := make([]int32, letters)
			for range n {
				counts[word%letters]++
				word /= letters
			}
			fits := true
			for i, s := range spans {
				fits = fits && s.lo <= counts[i] && counts[i] <= s.hi
			}
			if fits {
				brute++
			}
		}
		require.Equal(t, brute, w.count(int32(n), spans, free).Int64(), "words of %d letters, %v and %d more", n, spans, free)
	}
}

func power(x, n int) int {
	p := 1
	for range n {
		p *= x
	}
	return p
}

// TestLargeWeightsAddUp: what cannot be enumerated must at least sum to |Q|, and n|Q| along all positions.
func TestLargeWeightsAddUp(t *testing.T) {
	for _, s := range [][2]int{{40, 12}, {300, 6}, {3, 200}} {
		r := newRefinement(s[0], s[1], 0.6, 1000)
		r.grow(200)
		prog := mustBuild(t, s[0], s[1], &partition{r.tree, r.classes, r.leaf, s[0]}, false)
		sum := new(big.Int)
		for _, w := range prog.weight {
			assert.Positive(t, w.Sign())
			sum.Add(sum, w)
		}
		total := lattice.Vectors(s[0], s[1], false)
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

// TestRefinementEndsAtOrbits: asked for more classes than there are orbits it has one for each, never an empty one, and its order does not depend on the steps in which it is asked.
func TestRefinementEndsAtOrbits(t *testing.T) {
	for _, s := range sizes {
		n, k := s[0], s[1]
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		whole := newRefinement(n, k, 0.7, 1<<20)
		whole.grow(1 << 20)
		assert.Len(t, whole.classes, l.Len())
		assert.False(t, whole.grow(1<<20))
		steps := newRefinement(n, k, 0.7, 1<<20)
		for c := 3; c < 3*l.Len(); c = 2 * c {
			steps.grow(c)
		}
		assert.Equal(t, whole.tree, steps.tree)
	}
}

func TestBuildStopsAtTheLimit(t *testing.T) {
	p := randomPartition(random(t), 6, 6, 50)
	_, err := build(context.Background(), 6, 6, p.Tree, p.boxes, false, 20_000)
	assert.ErrorIs(t, err, ErrTooMany)
	_, err = build(context.Background(), 6, 6, p.Tree, p.boxes, false, 1_000_000)
	assert.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = build(ended, 6, 6, p.Tree, p.boxes, false, 0)
	assert.ErrorIs(t, err, context.Canceled)
}
