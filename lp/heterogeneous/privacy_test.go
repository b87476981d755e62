package heterogeneous

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/number/interval"
	"optratio/verify"
)

// estimated is a mechanism of which only floating-point probabilities are known.
type estimated struct{ m mechanisms.Mechanism }

func (e estimated) Info() mechanisms.Info { return e.m.Info() }

func (estimated) Exact(*mechanisms.Instance) ([]*big.Rat, error) {
	return nil, mechanisms.ErrNotRational
}

func (estimated) Enclose(*mechanisms.Instance, uint) ([]interval.Interval, error) {
	return nil, mechanisms.ErrNoEnclosure
}

func (e estimated) Float(in *mechanisms.Instance) ([]float64, error) { return e.m.Float(in) }

func TestEstimatesAreMarked(t *testing.T) {
	for _, criterion := range []Criterion{Mean, Worst} {
		a := solveWith(t, Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2"), Criterion: criterion, Loss: Squared}, "gem", "≈gem")
		gem, estimate := a.Mechanisms[0], a.Mechanisms[1]
		assert.Equal(t, Proved, gem.DP)
		assert.Equal(t, Undecided, estimate.DP)
		assert.True(t, gem.Loss.IsRigorous() && gem.Ratio.IsRigorous() && gem.TightEps.IsRigorous())
		assert.False(t, estimate.Loss.IsRigorous() || estimate.Ratio.IsRigorous() || estimate.TightEps.IsRigorous())
		assert.InDelta(t, gem.Loss.Float64(), estimate.Loss.Float64(), 1e-12)
		assert.InDelta(t, gem.Ratio.Float64(), estimate.Ratio.Float64(), 1e-12)
		assert.InDelta(t, gem.TightEps.Float64(), estimate.TightEps.Float64(), 1e-12)
	}
}

func solveWith(t *testing.T, r Request, names ...string) *Answer {
	for _, name := range names {
		plain, isEstimate := strings.CutPrefix(name, "≈")
		m, err := mechanisms.Lookup(plain)
		require.NoError(t, err)
		if isEstimate {
			m = estimated{m}
		}
		r.Mechanisms = append(r.Mechanisms, m)
	}
	r.Solver = linear.Embedded{}
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	require.Len(t, a.Mechanisms, len(names))
	return a
}

// verified is package verify's opinion of a mechanism on a grid with step 1.
func verified(t *testing.T, g *Grid, name string, eps mechanisms.Epsilon) *verify.Result {
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	s, err := newSpace(g)
	require.NoError(t, err)
	var vectors []verify.Vector
	for _, levels := range s.levels {
		v := make(verify.Vector, len(levels))
		for i, x := range levels {
			v[i] = int64(x)
		}
		vectors = append(vectors, v)
	}
	space := &verify.Space{Unit: big.NewRat(1, 1), Sensitivities: g.Sensitivities, Epsilon: eps}
	subject := verify.Remember(verify.ForMechanism(m, space))
	report, err := verify.Check(context.Background(), subject, subject, verify.ExpEpsilon(eps), &verify.Domain{
		Name: "grid", Space: space, Vectors: slices.Values(vectors),
		Neighbors: func(yield func(a, b verify.Vector) bool) {
			for q, near := range s.neighbors {
				for _, o := range near {
					if int(o) < q && !yield(vectors[q], vectors[o]) {
						return
					}
				}
			}
		},
	}, verify.Options{Properties: []verify.Property{verify.DP}})
	require.NoError(t, err)
	return report.Find(verify.DP)
}

func TestPrivacyAgreesWithVerify(t *testing.T) {
	names := []string{"pf-pair", "rnm-exponential", "em", "rnm-laplace", "gem", "mgem", "combined-gem", "krr", "uniform", "rnmh", "rnmh-laplace"}
	for _, g := range []Grid{grid(3, false, "1", "2"), grid(4, true, "1", "1"), grid(2, false, "1/2", "1", "2"), grid(2, true, "0", "1", "2")} {
		for _, e := range []string{"2", "6/5"} {
			eps := exp(t, e)
			a := solveWith(t, Request{Grid: g, Epsilon: eps}, names...)
			for i, m := range a.Mechanisms {
				want := verified(t, &g, names[i], eps)
				assert.Equal(t, string(want.Verdict), string(m.DP), "%s, Δ = %v, e^ε = %s", m.Name, g.Sensitivities, e)
				if !m.TightEps.IsRigorous() || want.Verdict == verify.Undecided || want.TightEps.IsInf() {
					assert.Equal(t, want.TightEps.IsInf(), m.TightEps.IsInf(), m.Name)
					continue
				}
				l1, _ := want.TightEps.Lower()
				h1, _ := want.TightEps.Upper()
				l2, _ := m.TightEps.Lower()
				h2, _ := m.TightEps.Upper()
				assert.True(t, l1.Cmp(h2) <= 0 && l2.Cmp(h1) <= 0, "%s: %s and %s", m.Name, want.TightEps, m.TightEps)
				if m.DP == Proved {
					low, ok := m.Ratio.Lower()
					assert.True(t, ok && low.Cmp(big.NewRat(1, 1)) >= 0, "%s is private and better than the optimum", m.Name)
				}
			}
		}
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
			eps, err := mechanisms.ParseEpsilon(e)
			if err != nil {
				eps = exp(t, e)
			}
			a := solveWith(t, Request{Grid: c.g, Epsilon: eps}, c.names...)
			for _, m := range a.Mechanisms {
				assert.Equal(t, Proved, m.DP, m.Name)
				assert.InDelta(t, eps.Float(), m.TightEps.Float64(), 1e-15, "%s has a tight row", m.Name)
			}
		}
	}
}

// Noise by candidate is not private; with Δ = (0, 1), and exponential noise, at no ε.
func TestNoiseByCandidateIsRefuted(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(3, false, "1", "3"), Epsilon: exp(t, "2")}, "rnmh")
	m := a.Mechanisms[0]
	require.Equal(t, Violated, m.DP)
	w := m.Witness
	p, _ := w.P.Lower()
	o, _ := w.PNeighbor.Upper()
	assert.Positive(t, p.Cmp(new(big.Rat).Mul(rat("2"), o)), "the witness shows it")

	a = solveWith(t, Request{Grid: grid(2, false, "0", "1"), Epsilon: exp(t, "2")}, "rnmh")
	assert.Equal(t, Violated, a.Mechanisms[0].DP)
	assert.True(t, a.Mechanisms[0].TightEps.IsInf(), "%s", a.Mechanisms[0].TightEps)

	// Better than any private mechanism can be.
	a = solveWith(t, Request{Grid: grid(3, true, "1/2", "1/2", "1/2"), Epsilon: exp(t, "2")}, "rnmh-laplace", "pf-pair")
	high, _ := a.Mechanisms[0].Ratio.Upper()
	assert.Negative(t, high.Cmp(big.NewRat(1, 1)))
	assert.Equal(t, Violated, a.Mechanisms[0].DP)
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
			eps, err := mechanisms.ParseEpsilon(e)
			require.NoError(t, err)
			m, err := mechanisms.Lookup("pf-pair")
			require.NoError(t, err)
			s, err := newSpace(&g)
			require.NoError(t, err)
			l, err := newLaw(context.Background(), s, m, eps, mechanisms.Params{})
			require.NoError(t, err)
			p, err := l.privacy(context.Background())
			require.NoError(t, err)
			assert.Equal(t, Proved, p.verdict, "Δ = %v", sensitivities)
			if tight {
				assert.InDelta(t, eps.Float(), p.tight.Float64(), 1e-12, "a step of S is a tight row, Δ = %v", sensitivities)
			}
		}
	}
}

func TestRatiosWhereTheOptimumIsZero(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(1, false, "0", "1"), Epsilon: exp(t, "2")}, "krr", "≈krr")
	assert.True(t, a.Mechanisms[0].Ratio.IsInf())
	assert.True(t, a.Mechanisms[1].Ratio.IsInf())
	a = solveWith(t, Request{Grid: grid(3, false, "1"), Epsilon: exp(t, "2")}, "krr")
	one, ok := a.Mechanisms[0].Ratio.Rat()
	assert.True(t, ok && one.Cmp(big.NewRat(1, 1)) == 0, "a single candidate")
}
