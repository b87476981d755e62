package inquiry

import (
	"context"
	"fmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShrinkEndsAtSimpleCases: what is left violates the property, and nothing simpler that Shrink tries does.
func TestShrinkEndsAtSimpleCases(t *testing.T) {
	violates := func(c Case) *Case {
		if len(c.Scores) < 2 {
			return nil
		}
		gap := new(big.Rat).Sub(c.Scores[0], c.Scores[1])
		if gap.Abs(gap).Cmp(big.NewRat(5, 2)) < 0 {
			return nil
		}
		return &Case{Scores: c.Scores}
	}
	start := Case{exactRats("17.25", "3.125", "8/7", "100"), exactRats("1")}
	w := Shrink(context.Background(), start, violates(start), violates)
	require.NotNil(t, w)
	require.Len(t, w.Scores, 2)
	end := Case{w.Scores, start.Sensitivities}
	require.NotNil(t, violates(end))
	for _, c := range Simpler(end) {
		assert.Nil(t, violates(c), "%v is simpler than %v", c.Scores, w.Scores)
		if len(c.Scores) == 2 {
			assert.Negative(t, slices.Compare(effort(c.Scores), effort(end.Scores)))
		}
	}
	assert.Equal(t, []string{"-3", "0"}, []string{ScoreText(w.Scores[0]), ScoreText(w.Scores[1])})
	// Candidates go with their own sensitivities.
	own := Case{exactRats("1", "2", "3"), exactRats("10", "20", "30")}
	var fewer []string
	for _, c := range Simpler(own) {
		if len(c.Scores) == 2 {
			require.Len(t, c.Sensitivities, 2)
			fewer = append(fewer, ScoresText(c.Scores)+ScoresText(c.Sensitivities))
		}
	}
	assert.Equal(t, []string{"(2, 3)(20, 30)", "(1, 3)(10, 30)", "(1, 2)(10, 20)"}, fewer)
	// Attempts are limited, and a context ends them.
	attempts := 0
	Shrink(context.Background(), start, &Case{}, func(c Case) *Case {
		attempts++
		c.Scores[0].Add(c.Scores[0], big.NewRat(1, 1)) // for ever simpler, or so it says
		return &Case{Scores: start.Scores}
	})
	assert.Equal(t, 400, attempts)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	first := &Case{}
	assert.Same(t, first, Shrink(ctx, start, first, func(Case) *Case { t.Error("asked after the end"); return nil }))
	for _, c := range []struct{ q, unit, want string }{{"2.5", "1", "3"}, {"-2.5", "1", "-2"}, {"2.4", "1", "2"}, {"7", "2", "8"}, {"5", "2", "6"}, {"-5", "2", "-4"}, {"0.26", "0.1", "0.3"}} {
		assert.Zero(t, round(exactRat(c.q), exactRat(c.unit)).Cmp(exactRat(c.want)), "%+v", c)
	}
	assert.Equal(t, []int64{2, 2, 1024, 2, 1}, effort(exactRats("1", "0")))
	assert.Equal(t, []int64{2, 4, 512, 2, 0}, effort(exactRats("0", "-0.5")))
	assert.Equal(t, []int64{2, 2, 0, 1, 0}, effort(exactRats("0", "0")))
}

// TestUnits: the greatest number of which all are multiples.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		xs   []string
		want string
	}{{[]string{"1", "2"}, "1"}, {[]string{"1/2", "1/3"}, "1/6"}, {[]string{"-4", "6"}, "2"}, {[]string{"0", "0"}, "0"}, {[]string{"0", "-3/2"}, "3/2"}, {[]string{"3/4", "0", "9/10"}, "3/20"}} {
		unit := Unit([][]*big.Rat{exactRats(c.xs...)})
		assert.Equal(t, c.want, unit.RatString())
		if unit.Sign() == 0 {
			continue
		}
		s := &Space{Unit: unit}
		q, err := s.Vector(exactRats(c.xs...))
		require.NoError(t, err)
		for i, x := range s.Scores(q) {
			assert.Zero(t, x.Cmp(exactRat(c.xs[i])))
		}
	}
	s := &Space{Unit: big.NewRat(2, 1)}
	for _, bad := range []string{"1", "3", "1/2", "9007199254740992"} { // 2^53
		_, err := s.Vector(exactRats(bad))
		assert.ErrorIs(t, err, ErrClaim, bad)
	}
	_, err := s.Vector(exactRats("9007199254740990"))
	assert.NoError(t, err)
}

// TestSortedVectors: ties share the first place.
func TestSortedVectors(t *testing.T) {
	sorted, place := SortVector(Vector{3, 7, 3, 9})
	assert.Equal(t, Vector{9, 7, 3, 3}, sorted)
	assert.Equal(t, []int{2, 1, 2, 0}, place)
	asked := 0
	inner := SubjectFunc(func(q Vector) (*Answer, error) {
		asked++
		a := &Answer{}
		for i := range q {
			a.P = append(a.P, half64(q[i], int64(i+1)))
		}
		return a, nil
	})
	a, err := BySymmetry{inner}.Answer(Vector{3, 7, 3, 9})
	require.NoError(t, err)
	for i, want := range []string{"1", "7/2", "1", "9"} {
		assert.Equal(t, want, a.P[i].Rat().RatString())
	}
	memory := Remember(inner)
	asked = 0
	for range 3 {
		for _, q := range []Vector{{1, 2}, {2, 1}, {-1, 2}, {12}, {1, 2, 0}} {
			_, err := memory.Answer(q)
			require.NoError(t, err)
		}
	}
	assert.Equal(t, 5, asked)
}

// TestStepsOfNeighbors: which vectors are neighbors, by listing them.
func TestStepsOfNeighbors(t *testing.T) {
	list := func(monotonic bool, deltas ...int64) (all []Vector) {
		for s := range Steps(monotonic, deltas, nil) {
			all = append(all, s)
		}
		return all
	}
	assert.ElementsMatch(t, []Vector{{3, 0}, {-3, 0}, {0, 5}, {0, -5}, {3, 5}, {3, -5}, {-3, 5}, {-3, -5}}, list(false, 3, 5))
	assert.ElementsMatch(t, []Vector{{3, 0}, {-3, 0}, {0, 5}, {0, -5}, {3, 5}, {-3, -5}}, list(true, 3, 5))
	assert.Len(t, list(false, 1, 1, 1, 1, 1), 242)
	assert.Len(t, list(true, 1, 1, 1, 1, 1), 62)
}

// TestParts: into how many parts a step of 2Δ has to be cut for all depths to be multiples.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		unit    string
		gap     int64
		deltas  []string
		uniform bool
		want    int64
	}{
		{"1", 2, []string{"1"}, true, 1}, {"1", 1, []string{"1"}, true, 2}, {"1", 0, []string{"1"}, true, 2}, {"1/2", 1, []string{"1"}, true, 4}, {"1/5", 1, []string{"1"}, true, 10},
		{"1", 2, []string{"1"}, false, 2}, {"1", 1, []string{"1", "2"}, true, 4}, {"1", 1, []string{"1", "2"}, false, 12}, {"1/64", 1, []string{"1"}, true, 128},
		{"1/65", 1, []string{"1"}, true, 1}, {"1", 1, []string{"0"}, true, 1}, {"2", 1, []string{"1"}, true, 1},
	} {
		s := &Space{Unit: exactRat(c.unit), Gap: c.gap, Sensitivities: exactRats(c.deltas...), Epsilon: epsilonOf(t, "3/2")}
		assert.Equal(t, c.want, s.parts(c.uniform), "%+v", c)
	}
}

// TestAround: shifts by the greatest sensitivity both ways, and of a few vectors by the far one; one candidate lowered at a time.
func TestAround(t *testing.T) {
	vectors := []Vector{{0, -1}, {5, 5}, {1, 2}, {3, 4}, {5, 6}, {7, 8}}
	for far, want := range map[int64]int{0: 12, 1000: 20} {
		a := Around{Vectors: slices.Values(vectors), Deltas: []int64{2, 3}, Far: far}
		d := a.Domain()
		count, distances := 0, map[int64]int{}
		for q, other := range d.Shifted {
			require.Equal(t, other[0]-q[0], other[1]-q[1])
			count++
			distances[other[0]-q[0]]++
		}
		assert.Equal(t, want, count)
		assert.Equal(t, []int{6, 6, (want - 12) / 2, (want - 12) / 2}, []int{distances[3], distances[-3], distances[1000], distances[-1000]})
		low := map[string]int{}
		for q, other := range d.Lowered {
			low[fmt.Sprint(other[0]-q[0], other[1]-q[1])]++
		}
		assert.Equal(t, map[string]int{"-2 0": 12, "0 -3": 12}, low)
		neighbors := 0
		for range d.Neighbors {
			neighbors++
		}
		assert.Equal(t, 6*8, neighbors)
	}
}

// Above five candidates only extreme and random neighbors are asked for; both models must contain
// the worst one of a regular mechanism.
func TestStepsContainTheWorstNeighbor(t *testing.T) {
	for _, n := range []int{1, 2, 5, 6, 9} {
		deltas := make([]int64, n)
		for i := range deltas {
			deltas[i] = int64(i + 1)
		}
		for _, monotonic := range []bool{false, true} {
			steps := slices.Collect(Steps(monotonic, deltas, rand.New(rand.NewPCG(1, 1))))
			worst := make(Vector, n)
			for i := range worst {
				worst[i] = -deltas[i]
				if monotonic {
					worst[i] = 0
				}
			}
			worst[n-1] = deltas[n-1]
			require.Contains(t, steps, worst, "%t, n = %d", monotonic, n)
			for _, s := range steps {
				low, high := int64(0), int64(0)
				for i, x := range s {
					require.LessOrEqual(t, max(x, -x), deltas[i])
					low, high = min(low, x), max(high, x)
				}
				require.False(t, monotonic && low < 0 && high > 0)
			}
			if n <= allCorners && !monotonic {
				require.Len(t, steps, int(math.Pow(3, float64(n)))-1)
			}
			if n <= allCorners && monotonic {
				require.Len(t, steps, 2*(1<<n-1))
			}
		}
	}
}
