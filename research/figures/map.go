package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/lp"
	"optratio/research/ratiomap"
)

var mapSpec = Spec{
	Name:  "optratio-map",
	Shows: "proved bounds on permute-and-flip's ratio to the optimum at every ε: the largest for each n and k, and over ε",
	Params: []Param{
		{"n", "3:8", "numbers of candidates"},
		{"k", "2:5", "depths of the lattice, in steps of 2Δ"},
		{"target", "1.014", "the bound to be proved, as of research map"},
		{"gap", "0.0005", "how far the largest bound may be above the largest ratio met, as of research map"},
	},
	Fast: map[string]string{"n": "3:4", "k": "2:3", "gap": "0.001"},
	draw: drawMap,
}

// leastEpsilon is where the axis of ε begins: the bound of the interval that reaches down to 0 is drawn from there.
const leastEpsilon = 0.01

func drawMap(ctx context.Context, a *Args) *Figure {
	ns, ks := a.Ints("n", 3, 60), a.Ints("k", 1, 30)
	target := a.Rat("target", func(x float64) bool { return x > 1 }, "give a decimal above 1 such as 1.014")
	gap := a.Float("gap", func(x float64) bool { return x == 0 || x >= ratiomap.MinGap }, fmt.Sprintf("give 0, or at least %g", ratiomap.MinGap))
	scale := &Scale{Name: "bound", Label: "bound on the ratio at every ε", Min: 1}
	cells := &Panel{
		Title: "largest over all ε > 0",
		X:     Axis{Name: "k", Label: "depth k, in steps of 2Δ", Whole: true},
		Y:     Axis{Name: "n", Label: "candidates n", Whole: true},
		Cells: &Cells{X: asFloats(ks), Y: asFloats(ns), Digits: 4},
	}
	curves := &Panel{
		Title: fmt.Sprintf("over ε, k = %d", slices.Max(ks)),
		X:     Axis{Name: "eps", Label: "ε", Log: true, Min: leastEpsilon, Max: 1},
		Y:     Axis{Name: "bound", Label: "bound on the ratio"},
	}
	for i, k := range ks {
		var column []float64
		for j, n := range ns {
			c, err := ratiomap.Prove(ctx, n, k, lp.Paper, ratiomap.Options{Target: target, Gap: gap})
			if !errors.Is(err, ratiomap.ErrTarget) {
				ensure(err)
			}
			bound := outward(c.Bound(), math.Inf(1))
			column, scale.Max = append(column, bound), max(scale.Max, bound)
			if k == slices.Max(ks) && (j%2 == 0 || len(ns) < 4) {
				curves.Series = append(curves.Series, steps(fmt.Sprintf("n = %d", n), c))
			}
			a.step(i*len(ns)+j+1, len(ks)*len(ns))
		}
		cells.Cells.Z = append(cells.Cells.Z, column)
	}
	return &Figure{
		Title: "Permute-and-flip's ratio at every ε",
		Subtitle: "Upper bounds on its mean error over the optimum, proved on intervals of ε that leave out none, on the lattice of step 2Δ. " +
			"They hold against every shift-invariant ε-DP mechanism.",
		Scale: scale, Panels: [][]*Panel{{cells, curves}},
	}
}

// steps draws the bound of every interval as a level line, from small ε on.
func steps(name string, c *ratiomap.Cover) *Series {
	s := &Series{Name: name, Kind: Curve}
	epsilon := func(z *big.Rat) float64 {
		if z.Sign() == 0 {
			return 1
		}
		f, _ := z.Float64()
		return min(max(-math.Log(f), leastEpsilon), 1)
	}
	for _, i := range slices.Backward(c.Intervals) {
		if from, to := epsilon(i.To), epsilon(i.From); from < to {
			s.add(from, outward(i.Bound, math.Inf(1)))
			s.add(to, outward(i.Bound, math.Inf(1)))
		}
	}
	return s
}
