package optimum

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// classesOf returns how many classes of inputs a problem has.
func classesOf(t testing.TB, p *Problem, delta *big.Rat) int {
	q, err := newProgram(t.Context(), p, exp(t, "2"), delta)
	require.NoError(t, err)
	return len(q.first)
}

// TestClasses: how many classes of inputs the known groups leave. A change of one thing alone leaves fewer symmetries.
func TestClasses(t *testing.T) {
	for _, delta := range []*big.Rat{new(big.Rat), big.NewRat(1, 10)} {
		for name, want := range map[string]int{"count:6": 4, "krr:7": 1, "grid:5x5": 6, "grid:4x3": 4, "selection:4,2": 10, "histogram:3,2": 4} {
			assert.Equal(t, want, classesOf(t, preset(t, name), delta), name)
		}
		for name, c := range map[string]struct {
			change func(p *Problem)
			want   int
		}{
			"as it is":           {func(*Problem) {}, 1},
			"pairs":              {func(p *Problem) { p.Pairs = p.Pairs[:1] }, 2},
			"a distance":         {func(p *Problem) { p.Pairs[0].Distance = big.NewRat(2, 1) }, 2},
			"a direction":        {func(p *Problem) { p.OneWay = true }, 2},
			"a loss":             {func(p *Problem) { p.Loss[0][1] = big.NewRat(1, 1) }, 3},
			"a forbidden output": {func(p *Problem) { p.forbid(0, 1) }, 3},
			"a prior":            {func(p *Problem) { p.Prior = rats(t, "1/2", "1/2", "0", "0") }, 2},
			"no prior":           {func(p *Problem) { p.Prior = nil }, 1},
		} {
			p := &Problem{Inputs: numerals(4), Outputs: numerals(2), Pairs: []Pair{{From: 0, To: 1}, {From: 2, To: 3}}}
			for range p.Inputs {
				p.Loss = append(p.Loss, rats(t, "0", "0"))
			}
			p.Prior = p.Uniform()
			c.change(p)
			assert.Equal(t, c.want, classesOf(t, p, delta), name)
		}
	}
}

// TestEquitable: classes that are too coarse are not taken, whatever refinement took them for.
func TestEquitable(t *testing.T) {
	for _, delta := range []*big.Rat{new(big.Rat), big.NewRat(1, 10)} {
		q, err := newProgram(t.Context(), preset(t, "count:2"), exp(t, "2"), delta)
		require.NoError(t, err)
		assert.True(t, q.equitable(q.looks(), q.apart()))
		assert.True(t, q.equitable(q.looks(), [][]int32{{0, 1, 2}, {3, 4, 3}, {2, 1, 0}}))
		assert.False(t, q.equitable(q.looks(), [][]int32{{0, 1, 1}, {2, 3, 2}, {1, 1, 0}}), "across arcs")
		assert.False(t, q.equitable(q.looks(), [][]int32{{0, 1, 2}, {2, 1, 0}, {2, 1, 0}}), "across arcs, as many")
		assert.False(t, q.equitable(q.looks(), [][]int32{{0, 1, 2}, {3, 4, 3}, {2, 1, 1}}), "at an input")
		q.problem.Loss[0][2] = big.NewRat(7, 1)
		assert.False(t, q.equitable(q.looks(), [][]int32{{0, 1, 2}, {3, 4, 3}, {2, 1, 0}}), "what they look like")
	}
}

// TestCoarserThanOrbits: a ring of six and two of three look the same to refinement, though no symmetry takes one to the other; the mean over all is as good.
func TestCoarserThanOrbits(t *testing.T) {
	p := &Problem{Inputs: numerals(12), Outputs: numerals(2)}
	for x := range 6 {
		p.Pairs = append(p.Pairs, Pair{From: x, To: (x + 1) % 6}, Pair{From: 6 + x, To: 6 + x/3*3 + (x+1)%3})
	}
	for range p.Inputs {
		p.Loss = append(p.Loss, rats(t, "1", "2"))
	}
	p.Prior = p.Uniform()
	for _, delta := range []*big.Rat{new(big.Rat), big.NewRat(1, 10)} {
		require.Equal(t, 1, classesOf(t, p, delta))
		a := solve(t, Request{Problem: p, Epsilon: exp(t, "2"), Delta: delta})
		got, ok := a.Optimum.Rat()
		require.True(t, ok)
		assert.Equal(t, dense(t, p, big.NewRat(2, 1), delta).RatString(), got.RatString())
		checked(t, a)
	}
}
