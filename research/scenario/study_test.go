package scenario

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

func TestAdviceByHand(t *testing.T) {
	rate := func(name string, private bool, squares ...float64) Rating {
		return Rating{Mechanism: name, Private: private, Errors: Losses{Squares: squares, Plain: squares}.Errors(), squares: squares}
	}
	// b is worse than a by 0, 2, 0, 2: 1 on average, standard error √(4/3/4) = 0.577, so that 1 < 2·0.577. c is worse by 1 each time.
	a := Advise([]Rating{
		rate("c", true, 2, 2, 2, 2), rate("a", true, 1, 1, 1, 1), rate("b", true, 1, 3, 1, 3), rate("x", false, 0.5, 0.5, 0.5, 0.5), rate("a2", true, 1, 1, 1, 1),
	})
	assert.Equal(t, "a", a.Best)
	assert.InDelta(t, 1, a.MSE, 0)
	assert.Equal(t, []string{"a2", "b"}, a.AsGood)
	assert.Equal(t, map[string]float64{"a": 1, "a2": 1, "b": 2, "c": 2, "x": 0.5}, a.Factors)
	assert.Empty(t, Advise([]Rating{rate("x", false, 1)}).Best, "what claims no privacy is never advised")
	a = Advise([]Rating{rate("exact", true, 0), rate("other", true, 1)})
	assert.Equal(t, map[string]float64{"exact": 1, "other": math.Inf(1)}, a.Factors)
}

// Trials of two kinds are counted by twos, and few of them have as many of either kind.
func TestTrialsOfTwoKinds(t *testing.T) {
	trials, err := Scenarios[6].Generate(1, 100)
	require.NoError(t, err)
	few := trials.Few(4)
	require.Len(t, few.Scores, 4)
	for i, q := range few.Scores {
		assert.Equal(t, i < 2, q[0] < q[99], "scores rise in the first half")
	}
	assert.Equal(t, trials.Sensitivities, few.Sensitivities)
	assert.Same(t, trials, trials.Few(100))
	losses, err := few.Losses(context.Background(), scorer(t, "gem"), 1, mechanisms.Params{})
	require.NoError(t, err)
	require.Len(t, losses.Squares, 2)
	var apart []float64
	for _, q := range few.Scores {
		one := &Trials{Scores: [][]float64{q}, Sensitivities: few.Sensitivities}
		e, err := one.Errors(context.Background(), scorer(t, "gem"), 1, mechanisms.Params{})
		require.NoError(t, err)
		apart = append(apart, e.MSE)
	}
	assert.InDelta(t, (apart[0]+apart[2])/2, losses.Squares[0], 1e-12)
	assert.InDelta(t, (apart[1]+apart[3])/2, losses.Squares[1], 1e-12)
}

// A study says the same whatever runs beside it; exact numbers are those that float64 estimates are of.
func TestStudy(t *testing.T) {
	trials, err := Scenarios[0].Generate(1, 1)
	require.NoError(t, err)
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	var list []mechanisms.Mechanism
	for _, name := range []string{"em", "pf", "gem", "mgem", "krr"} {
		list = append(list, scorer(t, name))
	}
	q := Question{Mechanisms: list, Epsilon: eps}
	floats, unanswered, err := trials.Rate(context.Background(), q)
	require.NoError(t, err)
	assert.Empty(t, unanswered)
	q.Rigorous = true
	exact, unanswered, err := trials.Rate(context.Background(), q)
	require.NoError(t, err)
	assert.Empty(t, unanswered)
	require.Len(t, exact, len(list))
	for i, r := range exact {
		assert.True(t, r.MSE.IsRigorous() && r.Error.IsRigorous(), r.Mechanism)
		assert.Equal(t, list[i].Info().Name, r.Mechanism)
		assert.InEpsilon(t, r.MSE.Float64(), floats[i].MSE.Float64(), 1e-10)
		assert.InEpsilon(t, r.Error.Float64(), floats[i].Error.Float64(), 1e-10)
	}
	// Two scores 2 apart: the squared error is twice the plain one.
	assert.InEpsilon(t, 2*floats[0].Error.Float64(), floats[0].MSE.Float64(), 1e-12)
	q.Params.Beta = trials.Instance(0, eps, q.Params).Scores[99] // -1
	_, _, err = trials.Rate(context.Background(), q)
	assert.ErrorIs(t, err, mechanisms.ErrInstance, "gem has no β below 0")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ratings, unanswered, err := trials.Rate(ctx, q)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, ratings)
	assert.Len(t, unanswered, len(list))
}
