package heterogeneous

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/optimum"
	"optratio/internal/slowtest"
	"optratio/number"
	"optratio/verify"
)

var update = flag.Bool("update", false, "rewrite the tables of research/docs/heterogeneous.md with what is computed now")

// The tables of research/docs/heterogeneous.md, each between two comments there.

const docsFile = "../../research/docs/heterogeneous.md"

var rated = []string{"pf-pair", "geo-pair", "geo-mixed", "gem", "krr"}

// unlisted are no columns of the tables: all of them lose to pf-pair in every row of the first one, which the test asserts.
var unlisted = []string{"rnm-laplace", "mgem", "combined-gem", "rs"}

// fewer returns geo-pair on 1, 2, …, n-1 of n candidates.
func fewer(n int) (names []string) {
	for m := 1; m < n; m++ {
		names = append(names, fmt.Sprintf("geo-pair:%d", m))
	}
	return names
}

// ratedCells are the ratios of those in rated and of the best one of fewer, with its number of candidates. The best of a row, which is the recommended one, is within
// 16 % of the optimum for e^ε <= 2.
func ratedCells(t *testing.T, a *Result, e string) (cells []string) {
	best := Rating{Ratio: number.Infinity()}
	least, candidates := best, ""
	for i, m := range a.Mechanisms {
		_, few, isFewer := strings.Cut(m.Name, ":")
		switch {
		case i < len(rated):
			cells = append(cells, m.Ratio.Format(5))
		case isFewer && m.Ratio.Float64() < least.Ratio.Float64():
			least, candidates = m, few
		}
		if m.DP == verify.Proved && m.Ratio.Float64() < best.Ratio.Float64() {
			best = m
		}
	}
	assert.Equal(t, best.Name, a.Recommended)
	most, ok := best.Ratio.Upper()
	require.True(t, ok)
	if e != "4" {
		assert.Negative(t, most.Cmp(rat("1154/1000")), "%s: %s", best.Name, best.Ratio)
	}
	return append(cells, candidates+": "+least.Ratio.Format(5))
}

// cases are the sensitivities of the tables with their grids 0, 1, …, steps.
var cases = []struct {
	sensitivities string
	steps         int
}{{"1,1", 6}, {"1,2", 6}, {"1,4", 6}, {"1,1,1", 4}, {"1,1,4", 4}, {"1,2,4", 4}}

func docGrid(i int, shift bool) Grid {
	return grid(cases[i].steps, shift, strings.Split(cases[i].sensitivities, ",")...)
}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func header(cells ...string) string {
	return line(cells...) + "|" + strings.Repeat("---|", len(cells)) + "\n"
}

// short writes an exact number as a fraction while it is readable.
func short(t *testing.T, a *Result) string {
	x, ok := a.Optimum.Rat()
	require.True(t, ok)
	if text := x.RatString(); len(text) <= 24 {
		return text
	}
	return a.Optimum.Format(10)
}

// ratios is the table of ratios to the best shift-invariant mechanism. What is asserted of the rows is asserted at e^ε = 5/4 as well.
func ratios(t *testing.T) string {
	var b strings.Builder
	b.WriteString(header(slices.Concat([]string{"Δ", "e^ε", "optimum"}, rated, []string{"geo-pair:M"})...))
	for i, c := range cases {
		for _, e := range []string{"5/4", "2", "4"} {
			a := solveWith(t, Request{Grid: docGrid(i, true), Epsilon: exp(t, e)}, slices.Concat(rated, unlisted, fewer(strings.Count(c.sensitivities, ",")+1))...)
			for _, m := range a.Mechanisms {
				require.True(t, m.Ratio.IsRigorous(), m.Name)
				require.Equal(t, verify.Proved, m.DP, "%s at Δ = %s", m.Name, c.sensitivities)
				if slices.Contains(unlisted, m.Name) {
					assert.Greater(t, m.Ratio.Float64(), a.Mechanisms[0].Ratio.Float64(), "%s at Δ = %s, e^ε = %s", m.Name, c.sensitivities, e)
				}
			}
			cells := append([]string{c.sensitivities, e, short(t, a)}, ratedCells(t, a, e)...)
			if equal := c.sensitivities == "1,1" || c.sensitivities == "1,1,1"; e != "5/4" && !equal {
				b.WriteString(line(cells...))
			}
		}
	}
	return b.String()
}

// invariance is the table of what shift-invariance costs.
func invariance(t *testing.T) string {
	var b strings.Builder
	b.WriteString(header("Δ", "optimum", "quotient"))
	for i, c := range cases {
		invariant := solveWith(t, Request{Grid: docGrid(i, true), Epsilon: exp(t, "2")})
		free := solveWith(t, Request{Grid: docGrid(i, false), Epsilon: exp(t, "2")})
		quotient := invariant.Optimum.Over(free.Optimum)
		less, known := quotient.Cmp(number.Int(1))
		require.True(t, known && less >= 0)
		b.WriteString(line(c.sensitivities, short(t, free), quotient.Format(5)))
	}
	return b.String()
}

// row is a line of the tables of wider grids and of four candidates.
type row struct {
	sensitivities string
	steps         int
	e             string
}

// wide is the table of wider grids, and of sensitivities of which more than one is large.
func wide(t *testing.T) string {
	return rows(t, func(*testing.T, *Result, string, string) {}, row{"1,4", 40, "2"}, row{"1,1,4", 8, "2"}, row{"1,1,4", 12, "2"}, row{"1,2,4", 8, "2"}, row{"1,4,4", 8, "2"}, row{"1,4,4", 8, "4"}, row{"2,3,4", 8, "2"})
}

// four is the table of four candidates.
func four(t *testing.T) string {
	within := map[string]string{"1,4,4,4": "1.09", "1,2,3,4": "1.09", "1,1,4,4": "1.13", "1,1,1,4": "1.25"}
	claim := func(t *testing.T, a *Result, sensitivities, _ string) {
		i := slices.Index(rated, "geo-mixed")
		most, ok := a.Mechanisms[i].Ratio.Upper()
		require.True(t, ok)
		assert.Negative(t, most.Cmp(rat(within[sensitivities])), sensitivities)
	}
	return rows(t, claim, row{"1,1,1,4", 3, "2"}, row{"1,1,4,4", 3, "2"}, row{"1,4,4,4", 3, "2"}, row{"1,2,3,4", 3, "2"})
}

func rows(t *testing.T, claim func(t *testing.T, a *Result, sensitivities, e string), rows ...row) string {
	var b strings.Builder
	b.WriteString(header(slices.Concat([]string{"Δ", "grid", "e^ε", "optimum"}, rated, []string{"geo-pair:M"})...))
	for _, c := range rows {
		g := grid(c.steps, true, strings.Split(c.sensitivities, ",")...)
		a := solveWith(t, Request{Grid: g, Epsilon: exp(t, c.e)}, slices.Concat(rated, fewer(len(g.Sensitivities)))...)
		claim(t, a, c.sensitivities, c.e)
		for _, m := range a.Mechanisms {
			require.Equal(t, verify.Proved, m.DP, "%s at %v", m.Name, c)
		}
		cells := []string{c.sensitivities, fmt.Sprintf("0..%d", c.steps), c.e, short(t, a)}
		b.WriteString(line(append(cells, ratedCells(t, a, c.e)...)...))
	}
	return b.String()
}

func TestTablesOfTheDocs(t *testing.T) {
	slowtest.Only(t)
	for name, made := range map[string]func(*testing.T) string{"ratios": ratios, "invariance": invariance, "wide": wide, "four": four} {
		compareTable(t, name, made)
	}
}

// compareTable compares a table of the docs with what is computed now, or rewrites it.
func compareTable(t *testing.T, name string, made func(*testing.T) string) {
	text, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	doc, open, end := string(text), "<!-- table "+name+" -->\n", "<!-- end -->"
	_, rest, ok := strings.Cut(doc, open)
	require.True(t, ok, "no table %s", name)
	old, _, ok := strings.Cut(rest, end)
	require.True(t, ok)
	got := made(t)
	if *update {
		require.NoError(t, os.WriteFile(docsFile, []byte(strings.Replace(doc, open+old, open+got, 1)), 0o644))
		return
	}
	assert.Equal(t, old, got, name)
}

// For two candidates gem and mgem are permute-and-flip at S and ε/2, on a difference of scores moved by t(Δ_1 - Δ_2):
// neither needs more than ε/2.
func TestGEMUsesHalfOfEpsilonForTwo(t *testing.T) {
	for _, sensitivities := range [][]string{{"1", "1"}, {"1", "2"}, {"1/2", "7/2"}, {"0", "1"}} {
		for _, e := range []string{"0.25", "1", "3"} {
			eps, err := number.ParseEpsilon(e)
			require.NoError(t, err)
			a := solveWith(t, Request{Grid: grid(8, true, sensitivities...), Epsilon: eps}, "gem", "mgem")
			for _, m := range a.Mechanisms {
				low, ok := m.TightEps.Lower()
				require.True(t, ok)
				half := new(big.Rat).Quo(eps.Eps(), big.NewRat(2, 1))
				assert.LessOrEqual(t, low.Cmp(half), 0, "%s, Δ = %v: %s", m.Name, sensitivities, m.TightEps)
				assert.InDelta(t, eps.Float()/2, m.TightEps.Float64(), 1e-12)
			}
		}
	}
}

// They are no better than permute-and-flip at S and ε/2, which is without the handicap.
func TestHandicapsDoNotPayForTwo(t *testing.T) {
	for _, sensitivities := range [][]string{{"1", "2"}, {"1/2", "7/2"}, {"0", "1"}} {
		for _, squared := range []bool{false, true} {
			g := grid(6, false, sensitivities...)
			full, err := number.ParseEpsilon("2")
			require.NoError(t, err)
			half, err := number.ParseEpsilon("1")
			require.NoError(t, err)
			flip := solveWith(t, Request{Grid: g, Epsilon: half, Squared: squared}, "pf-pair").Mechanisms[0]
			most, ok := flip.Loss.Upper()
			require.True(t, ok)
			for _, m := range solveWith(t, Request{Grid: g, Epsilon: full, Squared: squared}, "gem", "mgem").Mechanisms {
				least, ok := m.Loss.Lower()
				require.True(t, ok)
				assert.Positive(t, least.Cmp(most), "%s, Δ = %v", m.Name, sensitivities)
			}
		}
	}
}

// Twice gem's ε is too much for three candidates.
func TestGEMUsesMoreThanHalfOfEpsilonForThree(t *testing.T) {
	a := solveWith(t, Request{Grid: grid(6, true, "1", "2", "4"), Epsilon: exp(t, "2")}, "gem")
	low, ok := a.Mechanisms[0].TightEps.Lower()
	require.True(t, ok)
	assert.Positive(t, low.Cmp(rat("35/100")), "ln(2)/2 = 0.3466")
}

// The optimum for the mean over 0..4 is the same where the mechanism has to be ε-DP on 0..8: the smaller grid's border does not help it.
func TestLargerGridsLeaveTheOptimum(t *testing.T) {
	for sensitivities, want := range map[string]string{"1,1,4": "56/75", "1,2,4": "104/125"} {
		g := grid(8, true, strings.Split(sensitivities, ",")...)
		p, levels, err := g.problem(false, false)
		require.NoError(t, err)
		for q, at := range levels {
			p.Prior[q].SetFrac64(int64(max(0, 5-slices.Max(at))), 125) // the shifts within 0..4
		}
		found, err := optimum.Solve(context.Background(), optimum.Request{Problem: p, Epsilon: exp(t, "2")})
		require.NoError(t, err)
		got, ok := found.Optimum.Rat()
		require.True(t, ok)
		assert.Zero(t, got.Cmp(rat(want)), "%s: %s", sensitivities, got.RatString())
	}
}

// At very large and very small ε floating point leads to no optimal basis; whole numbers do. 9/8 is the limit of the ratio for large ε.
func TestExtremePrivacy(t *testing.T) {
	slowtest.Only(t)
	for eps, want := range map[string]string{"30": "1.1250000000", "1e-9": "1.00000000"} {
		epsilon, err := number.ParseEpsilon(eps)
		require.NoError(t, err)
		a := solveWith(t, Request{Grid: grid(2, true, "1", "1", "4"), Epsilon: epsilon}, "geo-pair")
		assert.Contains(t, a.Mechanisms[0].Ratio.Format(11), want, "ε = %s", eps)
		assert.Equal(t, verify.Proved, a.Mechanisms[0].DP)
	}
}
