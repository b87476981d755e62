package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"optratio/internal/evaluate"
	"optratio/lp"
	"optratio/mechanisms"
)

const pfSource = "McKenna & Sheldon 2020, Fig. "

var (
	pointsParam    = Param{"points", "100", "number of values of ε or of another quantity on the axis"}
	epsOne         = Param{"eps", "1", "privacy parameter ε"}
	objectiveParam = Param{"objective", "box", "weights of score vectors: paper (the lattice's, as the source's text has it) or box (as its published program has it)"}
	ratioEps       = Param{"eps-range", "0.01:10", "ends of the axis of ε"}
	ratioPoints    = Param{"points", "250", pointsParam.Usage}
)

var pfSpecs = []Spec{
	{
		Name: "pf-1a", Shows: "expected error of em and pf on their worst kind of scores, over p", Source: pfSource + "1a",
		Params: []Param{{"n", "3", "number of candidates"}, epsOne, pointsParam},
		Fast:   map[string]string{"points": "9"},
		draw:   drawWorstErrors,
	},
	{
		Name: "pf-1b", Shows: "ratio of the expected errors of em and pf on their worst kind of scores, over p", Source: pfSource + "1b",
		Open:   "n, in the text; those of the published program are taken",
		Params: []Param{{"n", "2,3,4,10", "numbers of candidates, a curve for each"}, pointsParam},
		Fast:   map[string]string{"points": "9"},
		draw:   drawWorstErrorRatios,
	},
	{
		Name: "pf-1c", Shows: "worst expected error of em and pf over the number of candidates, with the source's bounds", Source: pfSource + "1c",
		Params: []Param{{"n-range", "2:10000", "ends of the axis of n"}, epsOne, pointsParam},
		Fast:   map[string]string{"points": "9"},
		draw:   drawWorstCase,
	},
	{
		Name: "pf-2a", Shows: "ratio of pf's mean error to the optimum over ε, for several n", Source: pfSource + "2a",
		Open:   "n; the objective: the text has paper, the published program box",
		Params: []Param{{"n", "3:6", "numbers of candidates, a curve for each"}, {"k", "4", "depth of the lattice, in steps of 2Δ"}, ratioEps, ratioPoints, objectiveParam},
		Fast:   map[string]string{"n": "3", "points": "5"},
		draw:   func(ctx context.Context, a *Args) *Figure { return drawRatios(ctx, a, "pf", "n") },
	},
	{
		Name: "pf-2b", Shows: "ratio of pf's mean error to the optimum over ε, for several k", Source: pfSource + "2b",
		Open:   "the objective, as in pf-2a",
		Params: []Param{{"n", "4", "number of candidates"}, {"k", "2,4,6,8", "depths of the lattice, in steps of 2Δ, a curve for each"}, ratioEps, ratioPoints, objectiveParam},
		Fast:   map[string]string{"k": "2", "points": "5"},
		draw:   func(ctx context.Context, a *Args) *Figure { return drawRatios(ctx, a, "pf", "k") },
	},
	{
		Name: "pf-2c", Shows: "ratio of em's mean error to the optimum over ε, for several k", Source: pfSource + "2c",
		Open:   "the objective, as in pf-2a",
		Params: []Param{{"n", "4", "number of candidates"}, {"k", "2,4,6,8", "depths of the lattice, in steps of 2Δ, a curve for each"}, ratioEps, ratioPoints, objectiveParam},
		Fast:   map[string]string{"k": "2", "points": "5"},
		draw:   func(ctx context.Context, a *Args) *Figure { return drawRatios(ctx, a, "em", "k") },
	},
	{
		Name: "pf-4", Shows: "expected error of report noisy max with Laplace noise, em and pf on (c, c, 0)", Source: pfSource + "4 (supplement)",
		Open:   "the range of c",
		Params: []Param{{"c-range", "-12:0", "ends of the axis of c"}, epsOne, pointsParam},
		Fast:   map[string]string{"points": "7"},
		draw:   drawLaplace,
	},
}

// oneBest returns the probability that a mechanism misses the one best of n candidates, the others having weight p = e^{εc/2Δ}.
func oneBest(m mechanisms.Mechanism, n int, p float64) float64 {
	return float64(n-1) * m.(mechanisms.Weighted).WeightedFloat([]float64{1, p}, []int{1, n - 1})[1]
}

func drawWorstErrors(_ context.Context, a *Args) *Figure {
	n, points := a.Int("n", 2, 1e6), a.Int("points", 2, 10000)
	eps := a.Float("eps", positive, wantPositive)
	ps := evenly(1/float64(points), 1, points)
	return &Figure{
		Title:    "Expected error on the worst kind of scores",
		Subtitle: fmt.Sprintf("Scores (c, …, c, 0), n = %d, ε = %s, Δ = 1; p = exp(εc/2Δ). From the mechanisms' probabilities. After %s.", n, digits(eps), pfSource+"1a"),
		Panels: single(&Panel{
			X: Axis{Name: "p", Label: "p = exp(εc/2Δ)", Min: 0, Max: 1},
			Y: Axis{Name: "error", Label: "expected error (units of the scores)"},
			Series: []*Series{
				sample("em", Curve, ps, func(p float64) float64 { return -2 / eps * math.Log(p) * oneBest(mechanisms.Exponential(), n, p) }),
				sample("pf", Curve, ps, func(p float64) float64 { return -2 / eps * math.Log(p) * oneBest(mechanisms.PermuteAndFlip(), n, p) }),
			},
		}),
	}
}

func drawWorstErrorRatios(_ context.Context, a *Args) *Figure {
	ns, points := a.Ints("n", 2, 1e6), a.Int("points", 2, 10000)
	p := &Panel{X: Axis{Name: "p", Label: "p = exp(εc/2Δ)", Min: 0, Max: 1}, Y: Axis{Name: "ratio", Label: "expected error of em / of pf", Min: 1, Max: 2}}
	for _, n := range ns {
		p.Series = append(p.Series, sample(fmt.Sprintf("n = %d", n), Curve, evenly(1/float64(points), 1, points), func(p float64) float64 {
			return oneBest(mechanisms.Exponential(), n, p) / oneBest(mechanisms.PermuteAndFlip(), n, p)
		}))
	}
	return &Figure{
		Title:    "How much better permute-and-flip is on the worst kind of scores",
		Subtitle: "Scores (c, …, c, 0); p = exp(εc/2Δ). The ratio depends on ε and Δ through p alone; it tends to 2 as p → 0 and is 1 at p = 1. From the mechanisms' probabilities. After " + pfSource + "1b.",
		Panels:   single(p),
	}
}

func drawWorstCase(ctx context.Context, a *Args) *Figure {
	from, to := a.Range("n-range", true)
	if from < 2 {
		a.fail("n-range", "give from:to with 2 <= from < to <= 1e6")
	}
	eps, points := a.Epsilon("eps"), a.Int("points", 2, 10000)
	em, pf := &Series{Name: "em", Kind: Curve}, &Series{Name: "pf", Kind: Curve}
	for i, x := range geometrically(from, to, points) {
		a.step(i, points)
		n := math.Round(x)
		if len(em.X) > 0 && n <= em.X[len(em.X)-1] {
			continue
		}
		worst := must(evaluate.NewWorstCase(int(n), big.NewRat(1, 1), false))
		for _, s := range []*Series{em, pf} {
			ensure(context.Cause(ctx))
			m := must(mechanisms.Lookup(s.Name))
			most, _, err := worst.Worst(m, eps)
			ensure(err)
			s.certify(n, most)
		}
	}
	return &Figure{
		Title:    "Worst expected error over the number of candidates",
		Subtitle: fmt.Sprintf("The largest expected error of any scores, which (c, …, c, 0) attain, enclosed; ε = %s, Δ = 1. After %s.", a.Text("eps"), pfSource+"1c"),
		Panels: single(&Panel{
			X: Axis{Name: "n", Label: "candidates n", Log: true},
			Y: Axis{Name: "error", Label: "worst expected error (units of the scores)", Log: true},
			Series: []*Series{
				em, pf,
				sample("upper bound (2Δ/ε) ln n", Reference, em.X, func(n float64) float64 { return 2 / eps.Float() * math.Log(n) }),
				sample("lower bound (Δ/2ε) ln n", Reference, em.X, func(n float64) float64 { return math.Log(n) / (2 * eps.Float()) }),
			},
		}),
	}
}

// drawRatios draws a mechanism's ratio to the optimum over ε, a curve for each n or each k.
func drawRatios(ctx context.Context, a *Args, name, curves string) *Figure {
	ns, ks := a.Ints("n", 2, 12), a.Ints("k", 1, 30)
	from, to := a.Range("eps-range", true)
	points, objective := a.Int("points", 2, 2000), a.Objective()
	if len(ns) > 1 && curves == "k" {
		a.fail("n", "give one number")
	}
	if len(ks) > 1 && curves == "n" {
		a.fail("k", "give one number")
	}
	m := must(mechanisms.Lookup(name))
	p := &Panel{
		X: Axis{Name: "eps", Label: "ε", Log: true},
		Y: Axis{Name: "ratio", Label: "mean error of " + name + " / optimum"},
	}
	grid := geometrically(from, to, points)
	for i, n := range ns {
		for j, k := range ks {
			s := &Series{Name: fmt.Sprintf("n = %d", n), Kind: Curve}
			if curves == "k" {
				s.Name = fmt.Sprintf("k = %d", k)
			}
			for e, eps := range grid {
				a.step((i+j)*len(grid)+e, max(len(ns), len(ks))*len(grid))
				answer := rate(ctx, lp.Request{N: n, K: k, Epsilon: exactly(eps), Objective: objective, Gap: big.NewRat(1, 1e8), Mechanisms: []mechanisms.Mechanism{m}})
				s.certify(eps, answer.Mechanisms[0].Ratio)
			}
			p.Series = append(p.Series, s)
		}
	}
	fixed, letter := fmt.Sprintf("k = %d", ks[0]), "a"
	if curves == "k" {
		fixed, letter = fmt.Sprintf("n = %d", ns[0]), map[string]string{"pf": "b", "em": "c"}[name]
	}
	weights := map[string]string{"paper": "all score vectors of the lattice, as the source's text has it", "box": "all vectors of the box {-k..0}^n, as the source's published program has it"}[objective.String()]
	long := map[string]string{"pf": "permute-and-flip", "em": "the exponential mechanism"}[name]
	return &Figure{
		Title:    fmt.Sprintf("How far %s is from optimal, for several %s", long, curves),
		Subtitle: fmt.Sprintf("Mean error over the optimum of the source's program, certified to 1e-8; %s; mean over %s. After %s2%s.", fixed, weights, pfSource, letter),
		Panels:   single(p),
	}
}

func drawLaplace(_ context.Context, a *Args) *Figure {
	from, to := a.Range("c-range", false)
	eps, points := a.Float("eps", positive, wantPositive), a.Int("points", 2, 2000)
	if to > 0 {
		a.fail("c-range", "give from:to with from < to <= 0")
	}
	p := &Panel{X: Axis{Name: "c", Label: "c"}, Y: Axis{Name: "error", Label: "expected error (units of the scores)"}}
	for _, name := range []string{"rnm-laplace", "em", "pf"} {
		s := &Series{Name: name, Kind: Curve}
		for _, c := range evenly(from, to, points) {
			pmf := floats(name, &mechanisms.FloatInstance{Scores: []float64{c, c, 0}, Sensitivities: []float64{1}, Epsilon: eps})
			s.add(c, -c*(pmf[0]+pmf[1]))
		}
		p.Series = append(p.Series, s)
	}
	return &Figure{
		Title:    "Report noisy max with Laplace noise beside em and pf",
		Subtitle: fmt.Sprintf("Expected error on scores (c, c, 0), ε = %s, Δ = 1, from the mechanisms' probabilities. After %s4; its range of c is open.", digits(eps), pfSource),
		Panels:   single(p),
	}
}

// floats returns a registered mechanism's probabilities in float64.
func floats(name string, in *mechanisms.FloatInstance) []float64 {
	m := must(mechanisms.Lookup(name))
	return must(m.(mechanisms.FloatScorer).FloatScores(in))
}
