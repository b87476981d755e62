package scenario

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

func TestAdviceByHand(t *testing.T) {
	rate := func(name string, private bool, squares ...float64) Rating {
		return Rating{Mechanism: name, Private: private, MSE: MeanOf(squares), squares: squares}
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
	trials := Scenarios[6].Generate(1, 100)
	few := trials.Few(4)
	require.Len(t, few.Scores, 4)
	for i, q := range few.Scores {
		assert.Equal(t, i < 2, q[0] < q[99], "scores rise in the first half")
	}
	assert.Equal(t, trials.Sensitivities, few.Sensitivities)
	assert.Same(t, trials, trials.Few(100))
	rated, err := few.Rate(context.Background(), scorer(t, "gem"), 1, mechanisms.Params{})
	require.NoError(t, err)
	require.Len(t, rated.squares, 2)
	var apart []float64
	for _, q := range few.Scores {
		one := &Trials{Scores: [][]float64{q}, Sensitivities: few.Sensitivities}
		e, err := one.Rate(context.Background(), scorer(t, "gem"), 1, mechanisms.Params{})
		require.NoError(t, err)
		apart = append(apart, e.MSE.Value)
	}
	assert.InDelta(t, (apart[0]+apart[2])/2, rated.squares[0], 1e-12)
	assert.InDelta(t, (apart[1]+apart[3])/2, rated.squares[1], 1e-12)
}

// A study says the same as exact numbers do, and refuses a bad parameter; one that was cut short says nothing.
func TestStudy(t *testing.T) {
	trials := Scenarios[0].Generate(1, 1)
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	var list []mechanisms.Mechanism
	for _, name := range []string{"em", "pf", "gem", "mgem", "krr"} {
		list = append(list, scorer(t, name))
	}
	floats, unanswered, err := trials.RateAll(context.Background(), list, 1, mechanisms.Params{})
	require.NoError(t, err)
	assert.Empty(t, unanswered)
	require.Len(t, floats, len(list))
	for i, r := range floats {
		assert.Equal(t, list[i].Info().Name, r.Mechanism)
		exact, err := mechanisms.Ask(list[i], trials.Instance(0, eps))
		require.NoError(t, err)
		assert.InEpsilon(t, exact.MSE.Float64(), r.MSE.Value, 1e-10)
		assert.InEpsilon(t, exact.ExpectedError.Float64(), r.Error.Value, 1e-10)
		// Two scores 2 apart: the squared error is twice the plain one.
		assert.InEpsilon(t, 2*r.Error.Value, r.MSE.Value, 1e-12)
	}
	_, _, err = trials.RateAll(context.Background(), list, 1, mechanisms.Params{Beta: big.NewRat(-1, 1)})
	assert.ErrorIs(t, err, mechanisms.ErrInstance, "gem has no β below 0")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ratings, _, err := trials.RateAll(ctx, list, 1, mechanisms.Params{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, ratings)
}
