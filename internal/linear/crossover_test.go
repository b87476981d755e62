package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startNear returns a start at a result's point, moved by up to noise in each column, with what is off its bounds there and the rest as spare.
func startNear(rng *rand.Rand, m *Model, r *Result, noise float64) Start {
	var p Start
	for j, x := range r.X {
		p.X = append(p.X, x+noise*(2*rng.Float64()-1))
		p.add(int32(j), x, m.ColLower[j], m.ColUpper[j])
	}
	for i, a := range activities(m, r.X) {
		p.add(int32(m.Cols()+i), a, m.RowLower[i], m.RowUpper[i])
	}
	return p
}

func activities(m *Model, x []float64) []float64 {
	out := make([]float64, m.Rows())
	for j := range x {
		for p := m.Start[j]; p < m.Start[j+1]; p++ {
			out[m.Index[p]] += m.Value[p] * x[j]
		}
	}
	return out
}

func (p *Start) add(v int32, x, lower, upper float64) {
	if x > lower+1e-7 && x < upper-1e-7 {
		p.Off = append(p.Off, v)
	} else {
		p.Spare = append(p.Spare, v)
	}
}

// TestCrossoverEndsAtTheOptimum: from a point that is optimal but for noise, the basis solves the program, after less pivots than there are rows.
func TestCrossoverEndsAtTheOptimum(t *testing.T) {
	solved, short, long := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 31))
		m := randomProgram(rng, 1+rng.IntN(30), 1+rng.IntN(40), seed%2 == 0, seed%5 > 0)
		cold := solve(t, m, Options{})
		if cold.Outcome != Optimal {
			continue
		}
		solved++
		p := startNear(rng, m, cold, []float64{0, 1e-9, 1e-6}[seed%3])
		rng.Shuffle(len(p.Spare), func(i, j int) { p.Spare[i], p.Spare[j] = p.Spare[j], p.Spare[i] })
		if seed%4 == 0 { // some that are off their bounds go unnoticed, some at their bounds are taken for others
			cut := len(p.Off) * 3 / 4
			p.Off, p.Spare = append(p.Off[:cut:cut], p.Spare[:len(p.Spare)/8]...), append(p.Spare[len(p.Spare)/8:], p.Off[cut:]...)
		}
		r, err := Embedded{}.Crossover(context.Background(), m, p, nil)
		require.NoError(t, err)
		require.NoError(t, r.Basis.Check(m), "seed %d", seed)
		if r.Outcome != Optimal {
			continue
		}
		short++
		again := solve(t, m, Options{Basis: r.Basis})
		require.Equal(t, Optimal, again.Outcome, "seed %d", seed)
		assert.InEpsilon(t, 1+math.Abs(cold.Objective), 1+math.Abs(again.Objective), 1e-7, "seed %d", seed)
		if r.Pivots+again.Pivots > max(m.Rows(), cold.Pivots) {
			long++
		}
	}
	assert.Greater(t, solved, 100)
	assert.Greater(t, short*20, solved*19, "of %d", solved)
	assert.Less(t, long*10, solved)
}

// TestCrossoverFromAnywhere: whatever the start says, the result has a proper basis, and the program is solved from there.
func TestCrossoverFromAnywhere(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 32))
		m := randomProgram(rng, 1+rng.IntN(20), 1+rng.IntN(30), seed%2 == 0, seed%5 > 0)
		cold := solve(t, m, Options{})
		var p Start
		for range m.Cols() {
			p.X = append(p.X, []float64{rng.NormFloat64(), 0, 1e6, math.NaN(), math.Inf(1)}[rng.IntN(5)])
		}
		for range rng.IntN(2 * (m.Rows() + m.Cols())) {
			p.Off = append(p.Off, int32(rng.IntN(m.Rows()+m.Cols())))
			p.Spare = append(p.Spare, int32(rng.IntN(m.Rows()+m.Cols())))
		}
		r, err := Embedded{}.Crossover(context.Background(), m, p, nil)
		require.NoError(t, err)
		require.NoError(t, r.Basis.Check(m), "seed %d", seed)
		again := solve(t, m, Options{Basis: r.Basis})
		if cold.Outcome == Optimal {
			require.Equal(t, Optimal, again.Outcome, "seed %d", seed)
			assert.InEpsilon(t, 1+math.Abs(cold.Objective), 1+math.Abs(again.Objective), 1e-7, "seed %d", seed)
		}
	}
}

// TestCrossoverOfADependentPoint: the optimal face of min x+y+z, x+y+z = 1, x, y, z >= 0 has all three off their bounds inside, of which one is basic in the end.
func TestCrossoverOfADependentPoint(t *testing.T) {
	m := &Model{}
	m.AddRow(1, 1)
	for range 3 {
		m.AddCol(1, 0, math.Inf(1), []int32{0}, []float64{1})
	}
	r, err := Embedded{}.Crossover(context.Background(), m, Start{X: []float64{0.5, 0.3, 0.2}, Off: []int32{0, 1, 2}}, nil)
	require.NoError(t, err)
	assert.Equal(t, Optimal, r.Outcome)
	assert.Equal(t, 1.0, r.Objective)
	assert.NoError(t, r.Basis.Check(m))
	assert.Equal(t, []float64{1, 0, 0}, r.X, "the most certain one stays")
}

func TestCrossoverRefusesWrongStarts(t *testing.T) {
	m := &Model{}
	m.AddRow(1, 1)
	m.AddCol(1, 0, math.Inf(1), []int32{0}, []float64{1})
	for _, p := range []Start{{}, {X: []float64{1}, Off: []int32{2}}, {X: []float64{1}, Spare: []int32{-1}}} {
		_, err := Embedded{}.Crossover(context.Background(), m, p, nil)
		assert.Error(t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Embedded{}.Crossover(ctx, m, Start{X: []float64{1}, Off: []int32{0}}, nil)
	require.NoError(t, err)
	assert.Equal(t, Stopped, r.Outcome)
	assert.NoError(t, r.Basis.Check(m))
}

// TestCrossoverKeepsFeasiblePoints: between two vertices more variables are off their bounds than a basis has room for, and what is left over must be moved
// without leaving the feasible points, where the result then is optimal by itself.
func TestCrossoverKeepsFeasiblePoints(t *testing.T) {
	tried := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 33))
		m := randomProgram(rng, 1+rng.IntN(20), 1+rng.IntN(30), seed%2 == 0, seed%5 > 0)
		other := *m
		other.Cost = nil
		for range m.Cost {
			other.Cost = append(other.Cost, rng.Float64())
		}
		a, b := solve(t, m, Options{}), solve(t, &other, Options{})
		if a.Outcome != Optimal || b.Outcome != Optimal {
			continue
		}
		for j := range a.X {
			a.X[j] = 0.6*a.X[j] + 0.4*b.X[j]
		}
		p := startNear(rng, m, a, 0)
		if len(p.Off) <= m.Rows() {
			continue
		}
		tried++
		r, err := Embedded{}.Crossover(context.Background(), m, p, nil)
		require.NoError(t, err)
		require.Equal(t, Optimal, r.Outcome)
		assert.NoError(t, kkt(m, r, 1e-7), "seed %d", seed)
	}
	assert.Greater(t, tried, 30)
}

// TestCrossoverTakesTheFirstSpareVariable: x + y + z/100 = 1 lacks a basic variable; each order of the spare ones names another, but for z, whose entry is too small.
func TestCrossoverTakesTheFirstSpareVariable(t *testing.T) {
	m := &Model{}
	m.AddRow(1, 1)
	for _, a := range []float64{1, 1, 0.01} {
		m.AddCol(1, 0, 2, []int32{0}, []float64{a})
	}
	for want, spare := range [][]int32{{2, 0, 1}, {1, 0, 2}, {2}, {}} {
		s := newSimplex(m, 1e-9, 1e-9)
		s.ctx = context.Background()
		s.settle(Start{X: []float64{0.5, 0.5, 0}})
		s.complete(spare)
		basic := []int32{0, 1, 2, 3}[want]
		assert.Equal(t, []int32{basic}, s.head)
	}
}
