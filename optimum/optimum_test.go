package optimum

import (
	"bytes"
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	engine "optratio/internal/optimum"
	"optratio/number"
	"optratio/verify"
)

// Every part of a problem and of a request reaches the engine, and its answers come back.
func TestEverythingArrives(t *testing.T) {
	ctx := context.Background()
	half, third, tenth := rat(1, 2), rat(1, 3), rat(1, 10)
	one, zero := number.Int(1), number.Int(0)
	for _, text := range []string{
		`{"inputs":["a","b","c"],"outputs":["x","y"],"pairs":[["a","b"],["b","c","2"]],"loss":[["0","1"],["1","0"],["3","1"]],"prior":["1/2","1/4","1/4"],"forbidden":[["c","x"]]}`,
		`{"inputs":["a","b","c"],"outputs":["x","y"],"directed":true,"pairs":[["a","b"],["b","c","1/2"]],"loss":[["0","1"],["1","0"],["3","1"]]}`,
	} {
		p, err := ReadJSON("p.json", strings.NewReader(text))
		require.NoError(t, err)
		q, err := engine.ReadJSON("p.json", strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, q, (*engine.Problem)(p))
		rate := [][]number.Number{{half, half}, {third, rat(2, 3)}, {zero, one}}
		for _, delta := range []number.Number{zero, tenth} {
			d, _ := delta.Rat()
			eps, err := number.ParseEpsilon("1")
			require.NoError(t, err)
			gap, _ := rat(1, 1000).Rat()
			a, err := Solve(ctx, p, Request{Epsilon: eps, Delta: d, Gap: gap, Rate: rate})
			require.NoError(t, err)
			b, err := engine.Solve(ctx, engine.Request{Problem: q, Epsilon: eps, Delta: d, Gap: gap, Rate: engine.NewTable(q, rate)})
			require.NoError(t, err)
			assert.Equal(t, []any{b.Optimum, exact(b.Table()), b.Undecided}, []any{a.Optimum, a.Table, a.Undecided})
			assert.Equal(t, &Rating{b.Rated.TightEps, b.Rated.DP, b.Rated.Value, b.Rated.Ratio}, a.Rated)
			var ours, theirs bytes.Buffer
			require.NoError(t, a.WriteCertificate(&ours))
			require.NoError(t, b.WriteCertificate(&theirs))
			assert.Equal(t, theirs.String(), ours.String())
		}
	}
}

func TestRate(t *testing.T) {
	p, err := Preset("krr:2")
	require.NoError(t, err)
	eps, err := number.ParseExp("2")
	require.NoError(t, err)
	rate := func(table ...[]number.Number) (*Result, error) {
		return Solve(context.Background(), p, Request{Epsilon: eps, Rate: table})
	}
	most, least := rat(3, 4), rat(1, 4)
	a, err := rate([]number.Number{most, least}, []number.Number{least, most})
	require.NoError(t, err)
	assert.Equal(t, verify.Violated, a.Rated.DP)
	assert.Equal(t, "1/3 1/4 3/4", strings.Join([]string{fraction(t, a.Optimum), fraction(t, a.Rated.Value), fraction(t, a.Rated.Ratio)}, " "))
	assert.InDelta(t, 1.0986, a.Rated.TightEps.Float64(), 1e-4)

	for want, table := range map[string][][]number.Number{
		"table: 1 rows for 2 inputs":                                  {{most, least}},
		`table: 1 probabilities of 2 outputs at "1"`:                  {{most, least}, {most}},
		`table: the probabilities at "0" sum to 1.5, not to 1`:        {{most, most}, {most, least}},
		`table: the probability of "1" at "0" is negative or missing`: {{most, {}}, {most, least}},
	} {
		_, err := rate(table...)
		assert.EqualError(t, err, want)
	}
	_, err = rate([]number.Number{most, number.Infinity()}, []number.Number{most, least})
	assert.EqualError(t, err, `table: the probability of "1" at "0" is negative or missing`)
	_, err = Preset("none")
	assert.ErrorContains(t, err, "no such preset")
}

func fraction(t *testing.T, x number.Number) string {
	q, ok := x.Rat()
	require.True(t, ok)
	return q.RatString()
}

func rat(a, b int64) number.Number { return number.Exact(big.NewRat(a, b)) }
