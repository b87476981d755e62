package figures

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// TestWorstErrorsAreEquations7And8: in units of 2Δ/ε the errors are ln(1/p)(1 - 1/(1+(n-1)p)) and ln(1/p)(1 - (1-(1-p)^n)/(np)).
func TestWorstErrorsAreEquations7And8(t *testing.T) {
	for text, n := range map[string]float64{"2": 2, "3": 3, "10": 10, "1000": 1000} {
		f := drawn(t, "pf-1a", "n", text, "points", "40", "eps", "0.7")
		em, pf := series(t, f, "em"), series(t, f, "pf")
		for i, p := range em.X {
			unit := -2 / 0.7 * math.Log(p)
			assert.InDelta(t, unit*(1-1/(1+(n-1)*p)), em.Y[i], 1e-12)
			assert.InDelta(t, unit*(1-(1-math.Pow(1-p, n))/(n*p)), pf.Y[i], 1e-12)
		}
		assert.Zero(t, em.Y[39], "no error at p = 1")
		assert.Zero(t, pf.Y[39])
	}
}

// TestRatioOfWorstErrors: the ratio is near 2 where p is small, falls in p and in n, and is 1 at p = 1.
func TestRatioOfWorstErrors(t *testing.T) {
	f := drawn(t, "pf-1b", "points", "1000")
	last := series(t, f, "n = 2")
	assert.InDelta(t, 2, last.Y[0], 0.003)
	for _, p := range f.each()[0].Series {
		for i := range p.X {
			assert.GreaterOrEqual(t, last.Y[i], p.Y[i]-1e-12)
			if i > 0 {
				assert.Less(t, p.Y[i], p.Y[i-1])
			}
		}
		assert.InDelta(t, 1, p.Y[len(p.Y)-1], 1e-12)
		last = p
	}
}

// TestWorstCase compares the largest errors with a closed form, (2Δ/ε) W((n-1)/e) for the exponential mechanism, and the ratio at n = 2 with
// 1.51389, and puts them between the source's bounds.
func TestWorstCase(t *testing.T) {
	f := drawn(t, "pf-1c", "eps", "0.5", "points", "30")
	em, pf := series(t, f, "em"), series(t, f, "pf")
	upper, lower := series(t, f, "upper bound (2Δ/ε) ln n"), series(t, f, "lower bound (Δ/2ε) ln n")
	assert.Equal(t, 2.0, em.X[0])
	assert.InDelta(t, 1.51389, em.Y[0]/pf.Y[0], 5e-6)
	for i, n := range em.X {
		w := em.Y[i] / 4 // in units of 2Δ/ε
		assert.InDelta(t, (n-1)/math.E, w*math.Exp(w), 1e-9*n)
		assert.Less(t, lower.Y[i], pf.Y[i])
		assert.Less(t, pf.Y[i], em.Y[i])
		assert.Less(t, em.Y[i], upper.Y[i])
	}
}

// TestRatiosAreExact: the curves of pf-2a to pf-2c, drawn through the default points, pass within 0.7 points of exact ratios at fractions e^ε
// that are not among those points.
func TestRatiosAreExact(t *testing.T) {
	for _, c := range []struct {
		figure, curve, n, k string
		nk                  [2]int
	}{{"pf-2a", "n = 3", "3", "4", [2]int{3, 4}}, {"pf-2b", "k = 2", "4", "2", [2]int{4, 2}}, {"pf-2c", "k = 4", "4", "4", [2]int{4, 4}}} {
		for name, objective := range map[string]lp.Prior{"paper": {}, "box": lp.Box()} {
			f := drawn(t, c.figure, "n", c.n, "k", c.k, "points", "250", "objective", name)
			s := series(t, f, c.curve)
			wide := 0.7 / (rowHeight - 60) * (slices.Max(s.Y) - slices.Min(s.Y))
			for _, exp := range []*big.Rat{big.NewRat(21, 20), big.NewRat(6, 5), big.NewRat(4, 3), big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(9, 1)} {
				eps, err := number.FromExp(exp)
				require.NoError(t, err)
				m, err := mechanisms.Lookup(map[string]string{"pf-2a": "pf", "pf-2b": "pf", "pf-2c": "em"}[c.figure])
				require.NoError(t, err)
				answer, err := lp.Ratio(context.Background(), lp.Request{N: c.nk[0], K: c.nk[1], Epsilon: eps, Prior: objective, Exact: true, Method: "lp", Mechanisms: []mechanisms.Mechanism{m}})
				require.NoError(t, err)
				want, exact := answer.Mechanisms[0].Ratio.Rat()
				require.True(t, exact)
				at, _ := want.Float64()
				assert.InDelta(t, at, between(s, eps.Float()), wide, "%s, objective %s, e^ε = %s", c.figure, objective, exp)
			}
		}
	}
}

// between reads a curve over a logarithmic axis at x.
func between(s *Series, x float64) float64 {
	i := 1
	for s.X[i] < x {
		i++
	}
	t := math.Log(x/s.X[i-1]) / math.Log(s.X[i]/s.X[i-1])
	return s.Y[i-1] + t*(s.Y[i]-s.Y[i-1])
}

// TestLaplaceCurve: known values at c = -2, and the crossing of report noisy max and the exponential mechanism at c = -3.7014.
func TestLaplaceCurve(t *testing.T) {
	f := drawn(t, "pf-4", "c-range", "-4:0", "points", "3")
	assert.InDelta(t, 0.8196280031, series(t, f, "rnm-laplace").Y[1], 1e-9)
	assert.InDelta(t, 0.8477662305, series(t, f, "em").Y[1], 1e-9)
	assert.InDelta(t, 0.6455353602, series(t, f, "pf").Y[1], 1e-9)
	f = drawn(t, "pf-4", "c-range", "-3.7015:-3.7013", "points", "2")
	rnm, em := series(t, f, "rnm-laplace"), series(t, f, "em")
	assert.Greater(t, rnm.Y[0], em.Y[0])
	assert.Less(t, rnm.Y[1], em.Y[1])
}
