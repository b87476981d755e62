package figures

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/number"
)

// TestThresholdCurve: the logarithms of the golden ratio and of the tribonacci constant, and the limit ln 2.
func TestThresholdCurve(t *testing.T) {
	f := drawn(t, "threshold", "k", "1,2,3,30")
	s := series(t, f, "every n ≥ 3")
	for i, want := range []float64{0, math.Log((1 + math.Sqrt(5)) / 2), math.Log(1.8392867552141612), math.Ln2} {
		assert.InDelta(t, want, s.Y[i], 1e-8)
	}
	box := series(t, f, "n = 3, weights of the box")
	for i := range box.Y[1:] {
		assert.Less(t, box.Y[i+1], s.Y[i+1])
	}
}

// TestWorstRatios: values of research/docs/levels.md, and that monotonicity brings the optimum closer.
func TestWorstRatios(t *testing.T) {
	f := drawn(t, "worst-ratio", "n", "3", "k", "3", "eps-range", "0.3:0.4", "points", "11")
	paper, monotone := f.each()[0].Cells, f.each()[1].Cells
	assert.Less(t, monotone.Z[0][0], paper.Z[0][0])
	assert.LessOrEqual(t, paper.Lower[0][0], paper.Z[0][0])
	// At e^ε = 3/2, ε = 0.405, the ratios are 40832/40581 and 1856/1845: close to the largest ones.
	assert.InDelta(t, 40832.0/40581, paper.Z[0][0], 5e-4)
	assert.InDelta(t, 1856.0/1845, monotone.Z[0][0], 5e-4)
}

// TestResolutionCurve: digits of research/docs/resolution.md at (3,3), ε = 1, and that at L = 1 geometric noisy max is permute-and-flip.
func TestResolutionCurve(t *testing.T) {
	f := drawn(t, "resolution", "k", "3")
	pf, geo := series(t, f, "pf"), series(t, f, "geo")
	assert.InDelta(t, 1.05002, pf.Y[1], 1e-5)
	assert.InDelta(t, 1.00046, geo.Y[1], 1e-5)
	assert.InDelta(t, pf.Y[0], geo.Y[0], 1e-6)
}

// TestPrivateStoppingCurve: values of research/docs/stopping.md at n = 10.
func TestPrivateStoppingCurve(t *testing.T) {
	f := drawn(t, "private-stopping", "n", "5,10")
	best, mix := series(t, f, "best private rule"), series(t, f, "best p-mix of the secretary rule")
	assert.InDelta(t, 0.38166219, best.Y[1], 1e-8)
	assert.InDelta(t, 0.24249933, mix.Y[1], 1e-8)
	bound, secretary := series(t, f, "bound for any private choice, even of one who sees all"), series(t, f, "secretary rule, not private")
	for i := range best.Y {
		assert.Less(t, best.Upper[i], bound.Y[i])
		assert.Less(t, best.Upper[i], secretary.Y[i])
	}
	// Σ z^k over five ranks, z = e^{-1/2}
	z := math.Exp(-0.5)
	assert.InDelta(t, (1-z)/(1-math.Pow(z, 5)), bound.Y[0], 1e-12)
}

// TestStoppingRuleCells: at n = 30 the rule passes 9 candidates and takes whoever is best so far from the tenth on; time 30 takes anybody.
func TestStoppingRuleCells(t *testing.T) {
	g := drawn(t, "stopping-rule", "n", "30").each()[0].Cells
	for i := range g.X {
		want := 0.0
		if i >= 9 {
			want = 1
		}
		assert.InDelta(t, want, g.Z[i][0], 1e-12, "time %d", i+1) // the exactly private rule mixes in a little of everything
		for j := range g.Y {
			assert.Equal(t, j > i, math.IsNaN(g.Z[i][j]))
		}
	}
	assert.InDelta(t, 1, slices.Min(g.Z[29]), 1e-12)
}

// TestWitnessLeavesTheBand: the exponential mechanism at twice the claimed ε leaves the band at the candidate that the verifier names, permute-and-flip at the
// claimed ε does not.
func TestWitnessLeavesTheBand(t *testing.T) {
	outside := func(f *Figure) int {
		second, band := f.each()[0].Series[1], f.each()[0].Series[2]
		n := 0
		for i, x := range second.Y {
			if x < band.Lower[i]*(1-1e-12) || x > band.Upper[i]*(1+1e-12) {
				n++
			}
		}
		return n
	}
	f := drawn(t, "witness")
	assert.Positive(t, outside(f))
	assert.Contains(t, f.Subtitle, "breaks the claim")
	f = drawn(t, "witness", "mechanism", "pf", "runs-at", "0.5")
	assert.Zero(t, outside(f))
	assert.Contains(t, f.Subtitle, "is within the claim")
}

// TestEndsEncloseTheNumber: floats are rounded outward, by one step at most.
func TestEndsEncloseTheNumber(t *testing.T) {
	for _, r := range []*big.Rat{big.NewRat(1, 3), big.NewRat(2, 3), big.NewRat(-1, 3), big.NewRat(1, 10), big.NewRat(1, 2)} {
		low, at, high := ends(number.Bounds(r, r))
		assert.LessOrEqual(t, new(big.Rat).SetFloat64(low).Cmp(r), 0)
		assert.GreaterOrEqual(t, new(big.Rat).SetFloat64(high).Cmp(r), 0)
		assert.LessOrEqual(t, high, math.Nextafter(low, 1))
		assert.True(t, low <= at && at <= high)
	}
}

// TestEqualRhoCurve: values of research/docs/zcdp.md at ρ = 0.1, and what it proves: the exponential mechanism is ahead for every number of candidates.
func TestEqualRhoCurve(t *testing.T) {
	f := drawn(t, "optratio-rho", "n", "2,50", "rho-range", "0.1:2", "points", "2")
	assert.InDelta(t, 0.501049, series(t, f, "pf").Y[0], 1e-6)
	assert.InDelta(t, 0.899404, series(t, f, "em").Y[0], 1e-6)
	assert.InDelta(t, 0.450975, series(t, f, "geo").Y[0], 1e-6)
	assert.InDelta(t, 1/0.593749678614, series(t, f, "n = 50").Y[0], 1e-8)
	for _, name := range []string{"n = 2", "n = 50"} {
		for _, y := range series(t, f, name).Lower {
			assert.Greater(t, y, 1.0)
		}
	}
}

// TestOptimumTables: at e^ε = 4 up to ten digits the first problem's table is geometric noise, cut off, and the third one randomised response
// (values of research/docs/optimum.md); columns sum to 1.
func TestOptimumTables(t *testing.T) {
	f := drawn(t, "optimum", "eps", "1.3862943611", "size", "6")
	panels := f.each()
	assert.Len(t, panels, 6)
	for _, p := range panels {
		for _, column := range p.Cells.Z {
			total := 0.0
			for _, y := range column {
				total += y
			}
			assert.InDelta(t, 1, total, 1e-12, p.Title)
		}
	}
	assert.Equal(t, "input\nloss 0.4318", panels[0].X.Label) // 7737/17920
	assert.Equal(t, "input\nloss 0.3429", panels[1].X.Label) // 12/35
	assert.Equal(t, "input\nloss 0.6000", panels[2].X.Label) // 6/(6+4)
	assert.InDelta(t, .8, panels[0].Cells.Z[0][0], 1e-9)
	assert.InDelta(t, .6, panels[0].Cells.Z[3][3], 1e-9)
	assert.InDelta(t, .4, panels[2].Cells.Z[5][5], 1e-9)
}
