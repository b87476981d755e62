package heterogeneous

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// private requires that rows are probabilities and satisfy every row of the grid at z, by the relation itself.
func private(t *testing.T, g *Grid, rows []chosen, z, tick *big.Rat) {
	for _, p := range rows {
		sum := new(big.Rat)
		for _, x := range p.PMF {
			require.GreaterOrEqual(t, x.Sign(), 0)
			sum.Add(sum, x)
		}
		require.Zero(t, sum.Cmp(big.NewRat(1, 1)))
		for _, q := range rows {
			if !neighbors(g, p.Scores, q.Scores, tick) {
				continue
			}
			for r, x := range p.PMF {
				least := new(big.Rat).Mul(z, x)
				require.GreaterOrEqual(t, q.PMF[r].Cmp(least), 0, "%v %v candidate %d", p.Scores, q.Scores, r)
			}
		}
	}
}

// chosen is a score vector of the grid and the probabilities of a mechanism there.
type chosen struct{ Scores, PMF []*big.Rat }

func TestMechanismAttainsTheOptimum(t *testing.T) {
	for _, r := range []Request{
		{Grid: grid(4, false, "1", "2"), Epsilon: exp(t, "2")},
		{Grid: grid(4, true, "1", "2"), Epsilon: exp(t, "2"), Squared: true},
		{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "3/2"), Worst: true},
		{Grid: grid(2, true, "1/2", "1", "1/2"), Epsilon: exp(t, "2")},
	} {
		a, err := Solve(context.Background(), r)
		require.NoError(t, err)
		var rows []chosen
		for q, pmf := range a.Table() {
			rows = append(rows, chosen{a.Scores[q], pmf})
		}
		z, _ := r.Epsilon.Z()
		private(t, &r.Grid, rows, z, rat("1/2"))
		sum, most, weights := new(big.Rat), new(big.Rat), new(big.Rat)
		for _, row := range rows {
			in := mechanisms.Instance{Scores: row.Scores}
			at, weight := new(big.Rat), big.NewRat(1, 1)
			if r.Grid.ShiftInvariant { // the shifts within the grid
				weight.SetInt64(int64(1 + r.Grid.Steps))
				weight.Sub(weight, in.Best())
			}
			for c, x := range row.PMF {
				loss := new(big.Rat).Sub(in.Best(), row.Scores[c])
				if r.Squared {
					loss.Mul(loss, loss)
				}
				at.Add(at, loss.Mul(loss, x))
			}
			if at.Cmp(most) > 0 {
				most.Set(at)
			}
			sum.Add(sum, at.Mul(at, weight))
			weights.Add(weights, weight)
		}
		if !r.Worst {
			most.Quo(sum, weights)
		}
		want, ok := a.Optimum.Rat()
		require.True(t, ok)
		assert.Zero(t, most.Cmp(want), "got %s, want %s", most.RatString(), want.RatString())
	}
}

// The optimum falls as ε grows; the enclosure at an ε with irrational e^ε lies between exact neighbors, and is as narrow as asked.
func TestIrrationalExpIsEnclosed(t *testing.T) {
	half, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	for _, g := range []Grid{grid(4, false, "1", "2"), grid(2, true, "1/2", "1", "1")} {
		for _, worst := range []bool{false, true} {
			high := solved(t, Request{Grid: g, Epsilon: exp(t, "164872127/100000000"), Worst: worst})
			low := solved(t, Request{Grid: g, Epsilon: exp(t, "164872128/100000000"), Worst: worst})
			for _, gap := range []string{"1e-9", "1e-40"} {
				r := Request{Grid: g, Epsilon: half, Worst: worst, Gap: rat(gap)}
				a, err := Solve(context.Background(), r)
				require.NoError(t, err)
				require.Empty(t, a.Undecided)
				lower, _ := a.Optimum.Lower()
				upper, _ := a.Optimum.Upper()
				assert.Negative(t, lower.Cmp(high))
				assert.Positive(t, upper.Cmp(low))
				width := new(big.Rat).Sub(upper, lower)
				assert.Positive(t, width.Sign())
				assert.LessOrEqual(t, width.Cmp(new(big.Rat).Mul(rat(gap), upper)), 0)
			}
		}
	}
}

func TestStoppedWorkIsCertifiedAllTheSame(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	r := Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2")}
	truth := solved(t, r)
	a, err := Solve(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", a.Undecided)
	lower, _ := a.Optimum.Lower()
	upper, _ := a.Optimum.Upper()
	assert.LessOrEqual(t, lower.Cmp(truth), 0)
	assert.GreaterOrEqual(t, upper.Cmp(truth), 0)
}

// One mechanism that fails does not take the others' rows with it, and says why it has none.
func TestOneMechanismFails(t *testing.T) {
	broken := mechanisms.FromRational(mechanisms.Info{Name: "broken", ShiftInvariant: true}, func(*mechanisms.Instance) ([]*big.Rat, error) { return nil, errors.New("overflow") })
	r := Request{Grid: grid(2, false, "1", "2"), Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{broken, lookup(t, "krr")}}
	a, err := Solve(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "broken: ")
	assert.Contains(t, a.Undecided, "overflow")
	require.Len(t, a.Mechanisms, 2)
	assert.Equal(t, verify.Undecided, a.Mechanisms[0].DP)
	assert.Equal(t, verify.Proved, a.Mechanisms[1].DP)
}

func TestBadGridsAreRefused(t *testing.T) {
	ok := grid(3, false, "1", "2")
	require.NoError(t, ok.Check())
	for name, change := range map[string]func(*Grid){
		"no candidates":   func(g *Grid) { g.Sensitivities = nil },
		"nine candidates": func(g *Grid) { g.Sensitivities = rats("1", "1", "1", "1", "1", "1", "1", "1", "1") },
		"negative":        func(g *Grid) { g.Sensitivities = rats("1", "-1") },
		"all public":      func(g *Grid) { g.Sensitivities = rats("0", "0") },
		"too many":        func(g *Grid) { g.Steps = 64 },
		"too many shifts": func(g *Grid) { g.Steps, g.ShiftInvariant = 3000, true },
	} {
		g := ok
		change(&g)
		_, err := Solve(context.Background(), Request{Grid: g, Epsilon: exp(t, "2")})
		assert.ErrorIs(t, err, ErrGrid, name)
	}
}

// unclaimed is a mechanism without its claim of privacy.
type unclaimed struct{ mechanisms.Mechanism }

func (u unclaimed) Info() mechanisms.Info {
	info := u.Mechanism.Info()
	info.Private = false
	return info
}

// What errs least is not recommended where it is not ε-DP on the grid, or does not claim to be ε-DP elsewhere.
func TestRecommendedIsPrivate(t *testing.T) {
	g := grid(4, true, "1", "2")
	r := Request{Grid: g, Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{unclaimed{lookup(t, "geo-pair")}}}
	a := solveWith(t, r, "2×geo-pair", "uniform", "pf-pair:1")
	assert.Equal(t, "uniform", a.Recommended)
}
