package linear

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// polygon maximises x + y over 3x + y <= 3 and x + 3y <= 3 in the unit square; the two rows are hidden until they are violated.
// The optimum is 3/2 at (3/4, 3/4).
type polygon struct{ rows [][2]int64 }

var hidden = [][2]int64{{3, 1}, {1, 3}}

func (p *polygon) rational() *Rational {
	r := new(Rational)
	for range p.rows {
		r.AddRow(nil, big.NewRat(3, 1))
	}
	for j := range 2 {
		var index []int32
		var value []*big.Rat
		for i, row := range p.rows {
			index, value = append(index, int32(i)), append(value, big.NewRat(row[j], 1))
		}
		r.AddCol(big.NewRat(-1, 1), new(big.Rat), big.NewRat(1, 1), index, value)
	}
	return r
}

// add adds one hidden row that exceeds 3 by more than spare, if there is one.
func (p *polygon) add(x, y *big.Rat, spare *big.Rat) int {
	for _, row := range hidden {
		at := new(big.Rat).Mul(x, big.NewRat(row[0], 1))
		at.Add(at, new(big.Rat).Mul(y, big.NewRat(row[1], 1)))
		if at.Sub(at, big.NewRat(3, 1)).Cmp(spare) > 0 {
			p.rows = append(p.rows, row)
			return 1
		}
	}
	return 0
}

func TestGrowingAddsRowsUntilNoneIsViolated(t *testing.T) {
	p := &polygon{}
	pivots := 0
	g := &Growing{Solver: Embedded{}, Rounds: 5, Report: func(q Progress) { pivots = max(pivots, q.Pivots) }}
	result, err := g.Float(context.Background(), func() *Model { return p.rational().Model() }, func(x []float64) int {
		return p.add(new(big.Rat).SetFloat64(x[0]), new(big.Rat).SetFloat64(x[1]), big.NewRat(1, 1e9))
	})
	require.NoError(t, err)
	assert.InDelta(t, -1.5, result.Objective, 1e-12)
	assert.Len(t, p.rows, 2)
	assert.Equal(t, 2, len(g.Basis.Row))
	assert.Positive(t, g.Pivots)
	assert.LessOrEqual(t, pivots, g.Pivots)

	p = &polygon{}
	g = &Growing{Solver: Embedded{}, Rounds: 5, Basis: &Basis{Col: []VarStatus{AtLower, AtLower}}}
	e, err := g.Exact(context.Background(), p.rational, func(e *Exact) int { return p.add(e.X.Rat(0), e.X.Rat(1), new(big.Rat)) })
	require.NoError(t, err)
	assert.Equal(t, "-3/2", e.Objective.RatString())
	assert.Len(t, p.rows, 2)

	p = &polygon{}
	g = &Growing{Solver: Embedded{}, Rounds: 5, Basis: &Basis{Col: []VarStatus{AtLower, AtLower}}}
	a, err := g.Settle(context.Background(), 300, p.rational, func(a *Approximation) int {
		den := new(big.Int).Lsh(unit, a.Shift)
		return p.add(new(big.Rat).SetFrac(a.X[0], den), new(big.Rat).SetFrac(a.X[1], den), new(big.Rat).SetFrac(a.Noise(), den))
	})
	require.NoError(t, err)
	assert.EqualValues(t, 300, a.Shift)
	assert.Len(t, p.rows, 2)
}

func TestGrowingEndsAfterItsRounds(t *testing.T) {
	p := &polygon{}
	g := &Growing{Solver: Embedded{}, Rounds: 1, Basis: &Basis{Col: []VarStatus{AtLower, AtLower}}}
	_, err := g.Exact(context.Background(), p.rational, func(e *Exact) int { return p.add(e.X.Rat(0), e.X.Rat(1), new(big.Rat)) })
	assert.ErrorIs(t, err, ErrUnsettled)
	_, err = g.Settle(context.Background(), 64, p.rational, func(*Approximation) int { return 1 })
	assert.ErrorIs(t, err, ErrUnsettled)
}

// fails is a solver that proposes nothing.
type fails struct{}

func (fails) Name() string { return "fails" }
func (fails) Solve(context.Context, *Model, Options) (*Result, error) {
	return &Result{Outcome: Failed}, nil
}

func TestGrowingGoesOnWhereTheSolverFails(t *testing.T) {
	p := &polygon{rows: hidden}
	g := &Growing{Solver: fails{}}
	result, err := g.Float(context.Background(), func() *Model { return p.rational().Model() }, func([]float64) int { return 0 })
	require.NoError(t, err)
	assert.Equal(t, Optimal, result.Outcome)
}

// failing is a solver that always fails.
type failing struct {
	name  string
	calls *int
}

func (f failing) Name() string { return f.name }

func (f failing) Solve(context.Context, *Model, Options) (*Result, error) {
	*f.calls++
	return &Result{Outcome: Failed}, nil
}

// TestGrowingAsksAFailedSolverNoMore: the embedded solver takes over for all rounds, and where that is the one that fails, the failure is the result.
func TestGrowingAsksAFailedSolverNoMore(t *testing.T) {
	solve := func(g *Growing) *Result {
		p := &polygon{}
		result, err := g.Float(context.Background(), func() *Model { return p.rational().Model() }, func(x []float64) int {
			return p.add(new(big.Rat).SetFloat64(x[0]), new(big.Rat).SetFloat64(x[1]), big.NewRat(1, 1e9))
		})
		require.NoError(t, err)
		return result
	}
	var calls int
	result := solve(&Growing{Solver: failing{"other", &calls}, Rounds: 5})
	assert.InDelta(t, -1.5, result.Objective, 1e-12)
	assert.Equal(t, 1, calls, "there are three rounds")
	calls = 0
	result = solve(&Growing{Solver: failing{"embedded", &calls}, Rounds: 5})
	assert.Equal(t, Failed, result.Outcome)
	assert.Equal(t, 1, calls)
}
