package heterogeneous

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// estimated is a mechanism of which only floating-point probabilities are known.
type estimated struct{ m mechanisms.Mechanism }

func (e estimated) Info() mechanisms.Info { return e.m.Info() }

func (estimated) Exact(*mechanisms.Instance) ([]*big.Rat, error) {
	return nil, mechanisms.ErrNotRational
}

func (estimated) Enclose(*mechanisms.Instance, uint) ([]number.Interval, error) {
	return nil, mechanisms.ErrNoEnclosure
}

func (e estimated) Float(in *mechanisms.Instance) ([]float64, error) { return e.m.Float(in) }

// Of a mechanism of which only estimates are known nothing is said.
func TestEstimatesSayNothing(t *testing.T) {
	r := Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{lookup(t, "gem"), lookup(t, "≈gem")}}
	a, err := Solve(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "only floating-point estimates are known")
	assert.Equal(t, verify.Proved, a.Mechanisms[0].DP)
	assert.Equal(t, verify.Undecided, a.Mechanisms[1].DP)
	assert.Equal(t, number.Bounds(new(big.Rat), nil), a.Mechanisms[1].Loss)
}

// doubled is a mechanism at twice its ε, which it takes as a rational e^ε.
type doubled struct{ mechanisms.Mechanism }

func (d doubled) twice(in *mechanisms.Instance) *mechanisms.Instance {
	out := *in
	square, err := number.ParseExp(new(big.Rat).Mul(in.Epsilon.Exp(), in.Epsilon.Exp()).RatString())
	if err != nil {
		panic(err)
	}
	out.Epsilon = square
	return &out
}

func (d doubled) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	return d.Mechanism.Exact(d.twice(in))
}

func (d doubled) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	return d.Mechanism.Enclose(d.twice(in), prec)
}

// lookup finds a mechanism; ≈ before its name leaves only estimates of it, and 2× runs it at twice the ε.
func lookup(t *testing.T, name string) mechanisms.Mechanism {
	plain, isEstimate := strings.CutPrefix(name, "≈")
	plain, isDoubled := strings.CutPrefix(plain, "2×")
	m, err := mechanisms.LookupFewer(plain)
	require.NoError(t, err)
	switch {
	case isEstimate:
		return estimated{m}
	case isDoubled:
		return doubled{m}
	}
	return m
}

func solveWith(t *testing.T, r Request, names ...string) *Result {
	for _, name := range names {
		r.Mechanisms = append(r.Mechanisms, lookup(t, name))
	}
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	require.Len(t, a.Mechanisms, len(r.Mechanisms))
	return a
}

// tightest goes through all neighbors among the grid's vectors with a mechanism's exact probabilities, and returns the largest
// quotient of two. Mechanisms that depend on ε times scores alone are asked at scores times parts and at e^{ε/parts}, so that depths are integers.
func tightest(t *testing.T, g *Grid, name string, root number.Epsilon, parts int64, tick *big.Rat) *big.Rat {
	m, vectors, most := lookup(t, name), box(g), new(big.Rat)
	pmfs := make([][]*big.Rat, len(vectors))
	for i, v := range vectors {
		in := &mechanisms.Instance{Sensitivities: g.Sensitivities, Epsilon: root}
		for _, x := range v {
			in.Scores = append(in.Scores, new(big.Rat).Mul(x, big.NewRat(parts, 1)))
		}
		var err error
		pmfs[i], err = m.Exact(in)
		require.NoError(t, err, "%s at %v", name, v)
	}
	for i, v := range vectors {
		for j, w := range vectors {
			for r, p := range pmfs[i] {
				if x := new(big.Rat).Quo(p, pmfs[j][r]); x.Cmp(most) > 0 && neighbors(g, v, w, tick) {
					most = x
				}
			}
		}
	}
	return most
}

// Verdict, tight e^ε and witness are those of a plain search, exactly.
func TestPrivacyIsWhatTheRowsSay(t *testing.T) {
	tick := big.NewRat(1, 2)
	shifted := grid(3, false, "1", "2")
	shifted.From = big.NewRat(-7, 3)
	violated := 0
	for _, c := range []struct {
		g         Grid
		exp, root string
		parts     int64 // e^ε is the root to this power
		names     []string
	}{
		{grid(3, false, "1", "2"), "16", "2", 4, []string{"rnm-exponential", "em"}},
		{grid(3, true, "1", "2"), "16", "2", 4, []string{"rnm-exponential", "em"}},
		{grid(3, true, "1", "2"), "5/2", "5/2", 1, []string{"krr", "uniform"}},
		{shifted, "8", "2", 3, []string{"pf-pair"}},
		{shifted, "8", "8", 1, []string{"krr", "2×krr"}},
		{grid(3, true, "1", "2"), "8", "2", 3, []string{"pf-pair"}},
		{grid(2, false, "1/2", "1/2", "1"), "9/4", "3/2", 2, []string{"em"}},
		{grid(4, false, "1", "1"), "4", "2", 2, []string{"pf", "em", "pf-pair"}},
	} {
		a := solveWith(t, Request{Grid: c.g, Epsilon: exp(t, c.exp)}, c.names...)
		for i, m := range a.Mechanisms {
			want := tightest(t, &c.g, c.names[i], exp(t, c.root), c.parts, tick)
			context := fmt.Sprintf("%s, Δ = %v, e^ε = %s", c.names[i], c.g.Sensitivities, c.exp)
			require.NotNil(t, m.TightExpEps, context)
			assert.Equal(t, want.RatString(), m.TightExpEps.RatString(), context)
			assert.InDelta(t, math.Log(number.Exact(want).Float64()), m.TightEps.Float64(), 1e-14)
			if want.Cmp(rat(c.exp)) <= 0 {
				assert.Equal(t, verify.Proved, m.DP, context)
				assert.Nil(t, m.Witness)
				continue
			}
			violated++
			assert.Equal(t, verify.Violated, m.DP, context)
			assert.True(t, neighbors(&c.g, m.Witness.Scores, m.Witness.Neighbor, tick), "%s: %s", context, m.Witness)
			p, _ := m.Witness.P.Rat()
			o, _ := m.Witness.PNeighbor.Rat()
			assert.Equal(t, want.RatString(), new(big.Rat).Quo(p, o).RatString(), context)
		}
	}
	assert.Positive(t, violated)
}

// From is part of a witness's scores.
func TestWitnessesAreOnTheGrid(t *testing.T) {
	g := grid(3, false, "1", "3")
	g.From = big.NewRat(1, 3)
	w := solveWith(t, Request{Grid: g, Epsilon: exp(t, "2")}, "rnmh").Mechanisms[0].Witness
	require.NotNil(t, w)
	for _, scores := range [][]*big.Rat{w.Scores, w.Neighbor} {
		for _, x := range scores {
			steps := new(big.Rat).Sub(x, g.From)
			assert.True(t, steps.IsInt() && steps.Sign() >= 0 && steps.Cmp(rat("3")) <= 0, "%s", w)
		}
	}
	assert.True(t, neighbors(&g, w.Scores, w.Neighbor, big.NewRat(1, 1)))
}

// Randomised response looks at ties alone: however fine the steps are, it has an exact form, and a tight row.
func TestRandomisedResponseIsDecidedOnFineSteps(t *testing.T) {
	g := grid(2, true, "1", "2.37")
	g.Step = big.NewRat(1, 3)
	for _, e := range []string{"0.5", "7"} {
		eps, err := number.ParseEpsilon(e)
		require.NoError(t, err)
		m := solveWith(t, Request{Grid: g, Epsilon: eps}, "krr").Mechanisms[0]
		assert.Equal(t, verify.Proved, m.DP)
		tight, ok := m.TightEps.Rat()
		require.True(t, ok, "%s", m.TightEps)
		assert.Zero(t, tight.Cmp(eps.Eps()))
	}
}

// Rows that are tight for every ε are recognised where e^ε is irrational, too.
func TestTightRowsAreDecided(t *testing.T) {
	for _, c := range []struct {
		g     Grid
		names []string
	}{
		{grid(4, false, "1", "1"), []string{"rnm-exponential", "krr", "pf-pair"}},
		{grid(4, true, "1", "2"), []string{"pf-pair", "krr"}},
		{grid(3, true, "1/2", "1/2", "1/2"), []string{"rnm-exponential"}},
	} {
		for _, e := range []string{"0.5", "1", "7/3"} {
			eps, err := number.ParseEpsilon(e)
			if err != nil {
				eps = exp(t, e)
			}
			a := solveWith(t, Request{Grid: c.g, Epsilon: eps}, c.names...)
			for _, m := range a.Mechanisms {
				assert.Equal(t, verify.Proved, m.DP, m.Name)
				assert.InDelta(t, eps.Float(), m.TightEps.Float64(), 1e-15, "%s has a tight row", m.Name)
			}
		}
	}
}

// Noise by candidate is not private; with Δ = (0, 1), and exponential noise, at no ε.
func TestNoiseByCandidateIsRefuted(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(3, false, "1", "3"), Epsilon: exp(t, "2")}, "rnmh")
	m := a.Mechanisms[0]
	require.Equal(t, verify.Violated, m.DP)
	w := m.Witness
	p, _ := w.P.Lower()
	o, _ := w.PNeighbor.Upper()
	assert.Positive(t, p.Cmp(new(big.Rat).Mul(rat("2"), o)), "the witness shows it")

	a = solveWith(t, Request{Grid: grid(2, false, "0", "1"), Epsilon: exp(t, "2")}, "rnmh")
	assert.Equal(t, verify.Violated, a.Mechanisms[0].DP)
	assert.True(t, a.Mechanisms[0].TightEps.IsInf(), "%s", a.Mechanisms[0].TightEps)

	// Better than any private mechanism can be.
	a = solveWith(t, Request{Grid: grid(3, true, "1/2", "1/2", "1/2"), Epsilon: exp(t, "2")}, "rnmh-laplace", "pf-pair")
	high, _ := a.Mechanisms[0].Ratio.Upper()
	assert.Negative(t, high.Cmp(big.NewRat(1, 1)))
	assert.Equal(t, verify.Violated, a.Mechanisms[0].DP)
	one, ok := a.Mechanisms[1].Ratio.Rat()
	assert.True(t, ok && one.Cmp(big.NewRat(1, 1)) == 0)
}

// Permute-and-flip may count S, the sum of the two largest sensitivities, for 2Δ. Where all but the largest sensitivity are
// equal, moving that candidate by S against all others is a tight row.
func TestPairIsPrivateAndTight(t *testing.T) {
	for _, sensitivities := range [][]string{{"1", "2"}, {"1", "2", "3"}, {"1/2", "1", "2"}, {"0", "0", "1"}, {"1", "1", "1", "2"}} {
		tight := sensitivities[0] == sensitivities[len(sensitivities)-2]
		steps := 8
		if len(sensitivities) > 2 {
			steps = 7 - len(sensitivities)
		}
		g := grid(steps, true, sensitivities...)
		for _, e := range []string{"0.25", "3"} {
			eps, err := number.ParseEpsilon(e)
			require.NoError(t, err)
			m, err := mechanisms.Lookup("pf-pair")
			require.NoError(t, err)
			described, levels, err := g.problem(false, false)
			require.NoError(t, err)
			own := inquiry.ForMechanism(m, &inquiry.Space{Unit: g.Step, Gap: 1, Sensitivities: g.Sensitivities, Epsilon: eps})
			answers, err := ask(context.Background(), own, levels)
			require.NoError(t, err)
			p, err := privacy(context.Background(), answers, own.ExpEpsilon(), described.Pairs)
			require.NoError(t, err)
			assert.Equal(t, verify.Proved, p.Verdict, "Δ = %v", sensitivities)
			if tight {
				assert.InDelta(t, eps.Float(), p.TightEps.Float64(), 1e-12, "a step of S is a tight row, Δ = %v", sensitivities)
			}
		}
	}
}

func TestRatiosWhereTheOptimumIsZero(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(1, false, "0", "1"), Epsilon: exp(t, "2")}, "krr")
	assert.True(t, a.Mechanisms[0].Ratio.IsInf())
	a = solveWith(t, Request{Grid: grid(3, false, "1"), Epsilon: exp(t, "2")}, "krr")
	one, ok := a.Mechanisms[0].Ratio.Rat()
	assert.True(t, ok && one.Cmp(big.NewRat(1, 1)) == 0, "a single candidate")
}

// A mechanism that looks at a score itself, not only at differences, is refused: relative to the best one it would be another.
func TestMechanismsThatAreNotShiftInvariant(t *testing.T) {
	threshold := mechanisms.FromRational(mechanisms.Info{Name: "threshold", Private: true}, func(*mechanisms.Instance) ([]*big.Rat, error) {
		return []*big.Rat{big.NewRat(1, 1), new(big.Rat)}, nil
	})
	_, err := Solve(t.Context(), Request{Grid: grid(6, false, "1", "1"), Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{threshold}})
	require.ErrorIs(t, err, mechanisms.ErrInstance)
}

// At (1,2,4) mixed depths are multiples of 1/120, and pf-mixed uses all of ε between two vectors of this grid: no enclosure tells that it does not exceed it.
func TestMixedDepthsAreDecidedWhereTheyAreTight(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(12, true, "1", "2", "4"), Epsilon: exp(t, "2"), Gap: big.NewRat(1, 1)}, "pf-mixed")
	assert.Equal(t, verify.Proved, a.Mechanisms[0].DP)
	assert.InDelta(t, math.Ln2, a.Mechanisms[0].TightEps.Float64(), 1e-12)
}

// A candidate without sensitivity has a score that is public: the optimum bounds geo-pair:1, which takes it always.
func TestCandidatesWithoutSensitivity(t *testing.T) {
	for _, each := range [][]string{{"1", "0"}, {"1", "1", "0"}, {"2", "0", "0"}} {
		a := solveWith(t, Request{Grid: grid(2, false, each...), Epsilon: exp(t, "2")}, "pf-pair", "geo-mixed", "gem", "rs", "geo-pair:1", "gem:2")
		assert.Empty(t, a.Undecided, each)
		for _, m := range a.Mechanisms {
			assert.Equal(t, verify.Proved, m.DP, "%v: %+v", each, m)
		}
		assert.Zero(t, a.Mechanisms[4].TightEps.Float64(), each)
	}
}
