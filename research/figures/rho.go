package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"optratio/internal/evaluate"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/mechanisms/totals"
	"optratio/number"
	"optratio/verify"
)

var rhoSpec = Spec{
	Name:  "optratio-rho",
	Shows: "permute-and-flip's mean error over the exponential mechanism's at equal ρ of zero-concentrated privacy, and the parameters of both, over ρ",
	Params: []Param{
		{"n", "2,5,10,50", "numbers of candidates"},
		{"k", "4", "depth of the lattice, in steps of 2Δ"},
		{"rho-range", "0.001:4", "ends of the grid of ρ, which is even on a logarithmic axis"},
		{"points", "19", "number of values of ρ"},
	},
	Fast: map[string]string{"n": "2,5", "points": "3"},
	draw: drawRho,
}

// atEqualRho returns the largest parameter at which a mechanism is R-zCDP for all real scores: its lower end, and the enclosure.
func atEqualRho(ctx context.Context, m mechanisms.Mechanism, rho *big.Rat) (mechanisms.Epsilon, number.Number) {
	c := verify.Calibrator{Claim: verify.Claim{Mechanism: m}, Target: verify.Target{Rho: rho}, AllScores: true}
	out := must(c.Calibrate(ctx))
	settled(ctx, out.Undecided)
	low, _ := out.Parameter.Lower()
	return must(mechanisms.FromEpsilon(low)), out.Parameter
}

func drawRho(ctx context.Context, a *Args) *Figure {
	ns, k := a.Ints("n", 2, 1000), a.Int("k", 1, 50)
	from, to := a.Range("rho-range", true)
	points := a.Int("points", 2, 200)
	geo := must(mechanisms.Lookup("geo"))
	list := []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential(), geo}
	x := Axis{Name: "rho", Label: "ρ of zero-concentrated privacy", Log: true}
	errors := &Panel{Title: "mean errors", X: x, Y: Axis{Name: "ratio", Label: "error of pf / error of em"}}
	parameters := &Panel{Title: "parameters", X: x, Y: Axis{Name: "eps", Label: "largest parameter ε", Log: true}}
	for _, n := range ns {
		errors.Series = append(errors.Series, &Series{Name: "n = " + strconv.Itoa(n), Kind: Marked})
	}
	for _, m := range list {
		parameters.Series = append(parameters.Series, &Series{Name: m.Info().Name, Kind: Curve})
	}
	for i, at := range evenly(math.Log(from), math.Log(to), points) {
		text := strconv.FormatFloat(math.Exp(at), 'g', 4, 64)
		rho, _ := new(big.Rat).SetString(text)
		x, _ := rho.Float64()
		var run [2]mechanisms.Epsilon
		for j, m := range list {
			eps, enclosed := atEqualRho(ctx, m, rho)
			if parameters.Series[j].certify(x, enclosed); j < len(run) {
				run[j] = eps
			}
		}
		for j, n := range ns {
			a.step(i*len(ns)+j, points*len(ns))
			var mean [2]number.Number
			for h := range mean {
				mean[h] = must(lp.MeanError(ctx, list[h], n, k, totals.Paper, run[h]))
			}
			errors.Series[j].certify(x, evaluate.Ratio(mean[0], mean[1]))
		}
	}
	errors.Series = append(errors.Series, sample("equal", Reference, []float64{from, to}, func(float64) float64 { return 1 }))
	return &Figure{
		Title:    "At equal ρ the exponential mechanism is ahead",
		Subtitle: fmt.Sprintf("Each mechanism runs at the largest parameter at which it is ρ-zCDP for all real scores and any number of candidates (docs/results/zcdp.md). Left: mean error of permute-and-flip (pf) over that of the exponential mechanism (em) on the lattice of n candidates, step 2Δ and depth %d steps. Right: the parameters; geo is geometric noisy max. Certified to a relative 1e-9.", k),
		Panels:   [][]*Panel{{errors, parameters}}, Height: 220,
	}
}
