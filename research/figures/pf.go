package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"optratio/lp"
	"optratio/mechanisms"
	"optratio/research/worst"
)

const pfSource = "McKenna & Sheldon 2020, Fig. "

var (
	pointsParam    = Param{"points", "100", "number of values of ε or of another quantity on the axis"}
	epsOne         = Param{"eps", "1", "privacy parameter ε"}
	oneN           = Param{"n", "4", "number of candidates"}
	severalK       = Param{"k", "2,4,6,8", "depths of the lattice, in steps of 2Δ, a curve for each"}
	objectiveParam = Param{"objective", "box", "weights of score vectors: paper (the lattice's, as the source's text has it) or box (as its published program has it)"}
	ratioEps       = Param{"eps-range", "0.01:10", "ends of the axis of ε"}
	ratioPoints    = Param{"points", "250", pointsParam.Usage}
	fast           = map[string]string{"points": "9"}
	fastRatios     = map[string]string{"k": "2", "points": "5"}
)

var pfSpecs = []Spec{
	{"pf-1a", "expected error of em and pf on their worst kind of scores, over p", pfSource + "1a", "", []Param{{"n", "3", oneN.Usage}, epsOne, pointsParam}, fast, drawWorstErrors},
	{"pf-1b", "ratio of the expected errors of em and pf on their worst kind of scores, over p", pfSource + "1b",
		"n, in the text; those of the published program are taken", []Param{{"n", "2,3,4,10", "numbers of candidates, a curve for each"}, pointsParam}, fast, drawWorstErrorRatios},
	{"pf-1c", "worst expected error of em and pf over the number of candidates, with the source's bounds", pfSource + "1c", "",
		[]Param{{"n-range", "2:10000", "ends of the axis of n"}, epsOne, pointsParam}, fast, drawWorstCase},
	{"pf-2a", "ratio of pf's mean error to the optimum over ε, for several n", pfSource + "2a", "n; the objective: the text has paper, the published program box",
		[]Param{{"n", "3:6", "numbers of candidates, a curve for each"}, {"k", "4", "depth of the lattice, in steps of 2Δ"}, ratioEps, ratioPoints, objectiveParam},
		map[string]string{"n": "3", "points": "5"}, ratios("pf", "n", "a")},
	{"pf-2b", "ratio of pf's mean error to the optimum over ε, for several k", pfSource + "2b", "the objective, as in pf-2a",
		[]Param{oneN, severalK, ratioEps, ratioPoints, objectiveParam}, fastRatios, ratios("pf", "k", "b")},
	{"pf-2c", "ratio of em's mean error to the optimum over ε, for several k", pfSource + "2c", "the objective, as in pf-2a",
		[]Param{oneN, severalK, ratioEps, ratioPoints, objectiveParam}, fastRatios, ratios("em", "k", "c")},
	{"pf-4", "expected error of report noisy max with Laplace noise, em and pf on (c, c, 0)", pfSource + "4 (supplement)", "the range of c",
		[]Param{{"c-range", "-12:0", "ends of the axis of c"}, epsOne, pointsParam}, map[string]string{"points": "7"}, drawLaplace},
}

var (
	pAxis     = Axis{Name: "p", Label: "p = exp(εc/2Δ)", Min: 0, Max: 1}
	errorAxis = Axis{Name: "error", Label: "expected error (units of the scores)"}
)

// oneBest returns the probability that a mechanism misses the one best of n candidates, the others having weight p = e^{εc/2Δ}.
func oneBest(m mechanisms.Mechanism, n int, p float64) float64 {
	return float64(n-1) * m.(interface {
		WeightedFloat(weights []float64, counts []int) []float64
	}).WeightedFloat([]float64{1, p}, []int{1, n - 1})[1]
}

func drawWorstErrors(_ context.Context, a *Args) *Figure {
	n, points := a.Int("n", 2, 1e6), a.Int("points", 2, 10000)
	eps := a.Float("eps", smallest, greatest)
	of := func(name string) *Series {
		m := must(mechanisms.Lookup(name))
		return sample(name, Curve, evenly(1/float64(points), 1, points), func(p float64) float64 { return -2 / eps * math.Log(p) * oneBest(m, n, p) })
	}
	return &Figure{
		Title:    "Expected error on the worst kind of scores",
		Subtitle: fmt.Sprintf("Scores (c, …, c, 0), n = %d, ε = %s, Δ = 1; p = exp(εc/2Δ). From the mechanisms' probabilities. After %s.", n, digits(eps), pfSource+"1a"),
		Panels:   single(pAxis, errorAxis, of("em"), of("pf")),
	}
}

func drawWorstErrorRatios(_ context.Context, a *Args) *Figure {
	ns, points := a.Ints("n", 2, 1e6), a.Int("points", 2, 10000)
	var curves []*Series
	for _, n := range ns {
		curves = append(curves, sample(fmt.Sprintf("n = %d", n), Curve, evenly(1/float64(points), 1, points), func(p float64) float64 {
			return oneBest(mechanisms.Exponential(), n, p) / oneBest(mechanisms.PermuteAndFlip(), n, p)
		}))
	}
	return &Figure{
		Title:    "How much better permute-and-flip is on the worst kind of scores",
		Subtitle: "Scores (c, …, c, 0); p = exp(εc/2Δ). The ratio depends on ε and Δ through p alone; it tends to 2 as p → 0 and is 1 at p = 1. From the mechanisms' probabilities. After " + pfSource + "1b.",
		Panels:   single(pAxis, Axis{Name: "ratio", Label: "expected error of em / of pf", Min: 1, Max: 2}, curves...),
	}
}

func drawWorstCase(ctx context.Context, a *Args) *Figure {
	from, to := a.Range("n-range", 2, greatest)
	eps, points := a.Epsilon("eps"), a.Int("points", 2, 10000)
	em, pf := &Series{Name: "em"}, &Series{Name: "pf"}
	a.steps(points)
	for _, x := range geometrically(from, to, points) {
		a.step()
		n := math.Round(x)
		if len(em.X) > 0 && n <= em.X[len(em.X)-1] {
			continue
		}
		worst := must(worst.New(int(n), big.NewRat(1, 1)))
		for _, s := range []*Series{em, pf} {
			ensure(context.Cause(ctx))
			most, _, err := worst.Worst(must(mechanisms.Lookup(s.Name)), eps)
			ensure(err)
			s.certify(n, most)
		}
	}
	return &Figure{
		Title:    "Worst expected error over the number of candidates",
		Subtitle: fmt.Sprintf("The largest expected error of any scores, which (c, …, c, 0) attain, enclosed; ε = %s, Δ = 1. After %s.", a.Text("eps"), pfSource+"1c"),
		Panels: single(Axis{Name: "n", Label: "candidates n", Log: true}, Axis{Name: "error", Label: "worst expected error (units of the scores)", Log: true}, em, pf,
			sample("upper bound (2Δ/ε) ln n", Curve, em.X, func(n float64) float64 { return 2 / eps.Float() * math.Log(n) }),
			sample("lower bound (Δ/2ε) ln n", Curve, em.X, func(n float64) float64 { return math.Log(n) / (2 * eps.Float()) })),
	}
}

// ratios draws a mechanism's ratio to the optimum over ε, a curve for each n or each k.
func ratios(name, curves, letter string) func(context.Context, *Args) *Figure {
	return func(ctx context.Context, a *Args) *Figure {
		var ns, ks []int
		var fixed string
		if curves == "n" {
			ns, ks = a.Ints("n", 2, 12), []int{a.Int("k", 1, 30)}
			fixed = fmt.Sprintf("k = %d", ks[0])
		} else {
			ns, ks = []int{a.Int("n", 2, 12)}, a.Ints("k", 1, 30)
			fixed = fmt.Sprintf("n = %d", ns[0])
		}
		from, to := a.Range("eps-range", smallest, greatest)
		grid := geometrically(from, to, a.Int("points", 2, 2000))
		objective := a.Text("objective")
		prior, known := map[string]lp.Prior{"paper": {}, "box": lp.Box()}[objective]
		if !known {
			a.fail("objective", "give paper or box")
		}
		var all []*Series
		a.steps(len(ns) * len(ks) * len(grid))
		for _, n := range ns {
			for _, k := range ks {
				s := &Series{Name: map[string]string{"n": fmt.Sprintf("n = %d", n), "k": fmt.Sprintf("k = %d", k)}[curves]}
				for _, eps := range grid {
					answer := rate(ctx, lp.Request{N: n, K: k, Epsilon: exactly(eps), Prior: prior, Gap: big.NewRat(1, 1e8), Mechanisms: []mechanisms.Mechanism{must(mechanisms.Lookup(name))}})
					s.certify(eps, answer.Mechanisms[0].Ratio)
					a.step()
				}
				all = append(all, s)
			}
		}
		weights := map[string]string{"paper": "all score vectors of the lattice, as the source's text has it", "box": "all vectors of the box {-k..0}^n, as the source's published program has it"}[objective]
		return &Figure{
			Title:    fmt.Sprintf("How far %s is from optimal, for several %s", map[string]string{"pf": "permute-and-flip", "em": "the exponential mechanism"}[name], curves),
			Subtitle: fmt.Sprintf("Mean error over the optimum of the source's program, certified to 1e-8; %s; mean over %s. After %s2%s.", fixed, weights, pfSource, letter),
			Panels:   single(Axis{Name: "eps", Label: "ε", Log: true}, Axis{Name: "ratio", Label: "mean error of " + name + " / optimum"}, all...),
		}
	}
}

func drawLaplace(_ context.Context, a *Args) *Figure {
	from, to := a.Range("c-range", -greatest, 0)
	eps, points := a.Float("eps", smallest, greatest), a.Int("points", 2, 2000)
	var curves []*Series
	for _, name := range []string{"rnm-laplace", "em", "pf"} {
		curves = append(curves, sample(name, Curve, evenly(from, to, points), func(c float64) float64 {
			pmf := floats(name, []float64{c, c, 0}, 1, eps)
			return -c * (pmf[0] + pmf[1])
		}))
	}
	return &Figure{
		Title:    "Report noisy max with Laplace noise beside em and pf",
		Subtitle: fmt.Sprintf("Expected error on scores (c, c, 0), ε = %s, Δ = 1, from the mechanisms' probabilities. After %s4; its range of c is open.", digits(eps), pfSource),
		Panels:   single(Axis{Name: "c", Label: "c"}, errorAxis, curves...),
	}
}

// floats returns a registered mechanism's probabilities in float64.
func floats(name string, scores []float64, sensitivity, eps float64) []float64 {
	in := must(mechanisms.FromFloats(scores, []float64{sensitivity}, eps, mechanisms.Params{}))
	return must(must(mechanisms.Lookup(name)).Float(in))
}
