package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"optratio/internal/evaluate"
	"optratio/internal/inquiry"
	"optratio/internal/optimum"
	"optratio/internal/stopping"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/ratiomap"
	"optratio/verify"
)

var (
	severalN = Param{"n", "3:6", "numbers of candidates"}
	depthK   = Param{"k", "2", "depth of the lattice, in steps of 2Δ"}
	epsHalf  = Param{"eps", "0.5", epsOne.Usage}
)

var ownSpecs = []Spec{
	{"threshold", "the ε from which permute-and-flip is optimal, over the depth k of the lattice", "", "", []Param{{"k", "1:16", "depths of the lattice, in steps of 2Δ"}}, map[string]string{"k": "1:5"}, drawThreshold},
	{"worst-ratio", "permute-and-flip's largest ratio to the optimum over ε, for each n and k, with and without monotonicity", "", "",
		[]Param{severalN, {"k", "2:7", "depths of the lattice, in steps of 2Δ"}, {"eps-range", "0.1:0.65", "ends of the grid of ε"}, {"points", "12", pointsParam.Usage}},
		map[string]string{"n": "3:4", "k": "2:3", "points": "4"}, drawWorstRatio},
	{"optratio-map", "proved bounds on permute-and-flip's ratio to the optimum at every ε: the largest for each n and k, and over ε", "", "",
		[]Param{{"n", "3:8", severalN.Usage}, {"k", "2:5", "depths of the lattice, in steps of 2Δ"}, {"target", "1.014", "the bound to be proved, as of research map"},
			{"gap", "0.0005", "how far the largest bound may be above the largest ratio met, as of research map"}},
		map[string]string{"n": "3:4", "k": "2:3", "gap": "0.001"}, drawMap},
	{"resolution", "ratios to the optimum of permute-and-flip, geometric noisy max and the exponential mechanism over the resolution of scores", "", "",
		[]Param{{"n", "3", oneN.Usage}, depthK, {"steps", "1:6", "values of L, for scores 2Δ/L apart"}, {"eps", "0.5,1,2", "values of ε, a panel for each"}},
		map[string]string{"steps": "1:2", "eps": "1"}, drawResolution},
	{"private-stopping", "success of the best private stopping rule and of the best p-mix, with bounds, over the number of candidates", "", "",
		[]Param{{"n", "2:12,14,17,20,25,30,40,50,70,100", severalN.Usage}, epsHalf, lOne}, map[string]string{"n": "2:6"}, drawPrivateStopping},
	{"stopping-rule", "probability that the best private rule stops, by time and relative rank", "", "",
		[]Param{{"n", "30", oneN.Usage}, epsHalf, lOne, {"ranks", "12", "ranks shown, from the best"}}, map[string]string{"n": "8"}, drawStoppingRule},
	{"optratio-rho", "permute-and-flip's mean error over the exponential mechanism's at equal ρ of zero-concentrated privacy, and the parameters of both, over ρ", "", "",
		[]Param{{"n", "2,5,10,50", severalN.Usage}, {"k", "4", depthK.Usage}, {"rho-range", "0.001:4", "ends of the grid of ρ, which is even on a logarithmic axis"}, {"points", "19", "number of values of ρ"}},
		map[string]string{"n": "2,5", "points": "3"}, drawRho},
	{"witness", "two neighbors on which a mechanism is less private than claimed, with the band that ε allows", "", "",
		[]Param{{"mechanism", "em", "mechanism, by name"}, oneN, depthK, {"eps", "0.5", "the ε that is claimed"},
			{"runs-at", "1", "the ε that the mechanism is run at; twice the claimed one is what forgetting the 2 of 2Δ does to the exponential mechanism"}},
		map[string]string{"n": "3"}, drawWitness},
	{"optimum", "the best private mechanisms of six problems, a table of probabilities each", "", "",
		[]Param{epsOne, {"size", "6", "of the problems: the greatest count, and as many inputs that are all neighbors"}}, map[string]string{"size": "2"}, drawOptimum},
}

var (
	depthAxis      = Axis{Name: "k", Label: "depth k, in steps of 2Δ"}
	candidatesAxis = Axis{Name: "n", Label: "candidates n"}
)

// ends returns a number as a float, between floats that enclose it.
func ends(x number.Number) (low, at, high float64) {
	at = x.Float64()
	low, high = at, at
	if r, ok := x.Lower(); ok {
		low = outward(r, math.Inf(-1))
	}
	if r, ok := x.Upper(); ok {
		high = outward(r, math.Inf(1))
	}
	return low, min(max(at, low), high), high
}

// outward returns the float next to r on the side of to, or r itself.
func outward(r *big.Rat, to float64) float64 {
	f, exact := r.Float64()
	if exact {
		return f
	}
	if back := new(big.Rat).SetFloat64(f); back != nil && back.Cmp(r) == map[bool]int{true: 1, false: -1}[to < 0] {
		f = math.Nextafter(f, to)
	}
	return f
}

// certify appends a number and its enclosure.
func (s *Series) certify(x float64, y number.Number) {
	low, at, high := ends(y)
	s.add(x, at)
	s.Lower, s.Upper = append(s.Lower, low), append(s.Upper, high)
}

// rate returns the answer to a request, all of it.
func rate(ctx context.Context, r lp.Request) *lp.Answer {
	answer := must(lp.Ratio(ctx, r))
	settled(ctx, answer.Undecided)
	return answer
}

func drawThreshold(ctx context.Context, a *Args) *Figure {
	ks := a.Ints("k", 1, 200)
	all := []*Series{{Name: "every n ≥ 3", Kind: Marked}, {Name: "n = 3, weights of the box", Kind: Marked}}
	a.steps(len(ks))
	for _, k := range ks {
		for i, objective := range []lp.Prior{{}, lp.Box()} {
			t := must(lp.Threshold(ctx, lp.Request{N: 3, K: k, Prior: objective, Gap: big.NewRat(1, 1e12)}, nil))
			settled(ctx, t.Undecided)
			low, _, _ := ends(t.Ends[0])
			_, _, high := ends(t.Ends[1])
			all[i].add(float64(k), (low+high)/2)
			all[i].Lower, all[i].Upper = append(all[i].Lower, low), append(all[i].Upper, high)
		}
		a.step()
	}
	all = append(all, level("limit ln 2", all[0].X, math.Ln2), level("bound of the source, ln((3+√5)/2)", all[0].X, math.Log((3+math.Sqrt(5))/2)))
	return &Figure{
		Title:    "From which ε on permute-and-flip is optimal",
		Subtitle: "Least ε at which permute-and-flip has the least mean error of all regular ε-DP mechanisms on the lattice of step 2Δ and depth k. For n ≤ 2 it is 0. Certified to a relative 1e-12.",
		Panels:   single(depthAxis, Axis{Name: "eps", Label: "threshold of ε", Min: 0, Max: 1.05}, all...),
	}
}

func drawWorstRatio(ctx context.Context, a *Args) *Figure {
	ns, ks := a.Ints("n", 3, 12), a.Ints("k", 1, 30)
	from, to := a.Range("eps-range", smallest, greatest)
	grid := evenly(from, to, a.Int("points", 2, 200))
	f := &Figure{
		Title: "How far permute-and-flip is from optimal at worst",
		Subtitle: fmt.Sprintf("Largest ratio of its mean error to the optimum over ε = %s … %s (%d values), certified to 1e-6. Constraints paper: the rows of the source's program; monotone: with monotonicity, which regular mechanisms have.",
			digits(roundTo(from, 6)), digits(roundTo(to, 6)), len(grid)),
		Scale: &Scale{Name: "ratio", Label: "largest ratio to the optimum", Min: 1}, Height: 175,
	}
	a.steps(2 * len(ns) * len(ks))
	for _, constraints := range []lp.Level{lp.Paper, lp.Monotone} {
		g := &Cells{X: asFloats(ks), Y: asFloats(ns), Digits: 4}
		for _, k := range ks {
			column, lower := make([]float64, len(ns)), make([]float64, len(ns))
			for i, n := range ns {
				for _, eps := range grid {
					answer := rate(ctx, lp.Request{N: n, K: k, Epsilon: exactly(roundTo(eps, 6)), Level: constraints, Gap: big.NewRat(1, 1e6), Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}})
					low, at, _ := ends(answer.Mechanisms[0].Ratio)
					column[i], lower[i] = max(column[i], at, 1), max(lower[i], low, 1)
				}
				f.Scale.Max = max(f.Scale.Max, column[i])
				a.step()
			}
			g.Z, g.Lower = append(g.Z, column), append(g.Lower, lower)
		}
		f.Panels = append(f.Panels, []*Panel{{Title: "constraints " + constraints.String(), X: depthAxis, Y: candidatesAxis, Cells: g}})
	}
	return f
}

// leastEpsilon is where the axis of ε begins: the bound of the interval that reaches down to 0 is drawn from there.
const leastEpsilon = 0.01

func drawMap(ctx context.Context, a *Args) *Figure {
	ns, ks := a.Ints("n", 3, 60), a.Ints("k", 1, 30)
	target := a.Rat("target", 1+smallest, 10)
	gap := a.Float("gap", ratiomap.MinGap, 1)
	scale := &Scale{Name: "bound", Label: "bound on the ratio at every ε", Min: 1}
	cells := &Cells{X: asFloats(ks), Y: asFloats(ns), Digits: 4}
	curves := &Panel{
		Title: fmt.Sprintf("over ε, k = %d", slices.Max(ks)),
		X:     Axis{Name: "eps", Label: "ε", Log: true, Min: leastEpsilon, Max: 1}, Y: Axis{Name: "bound", Label: "bound on the ratio"},
	}
	a.steps(len(ks) * len(ns))
	for _, k := range ks {
		var column []float64
		for j, n := range ns {
			c, err := ratiomap.Prove(ctx, n, k, lp.Paper, ratiomap.Options{Target: target, Gap: gap})
			if !errors.Is(err, ratiomap.ErrTarget) {
				ensure(err)
			}
			bound := outward(c.Bound(), math.Inf(1))
			column, scale.Max = append(column, bound), max(scale.Max, bound)
			if k == slices.Max(ks) && (j%2 == 0 || len(ns) < 4) {
				curves.Series = append(curves.Series, stairs(fmt.Sprintf("n = %d", n), c))
			}
			a.step()
		}
		cells.Z = append(cells.Z, column)
	}
	return &Figure{
		Title:    "Permute-and-flip's ratio at every ε",
		Subtitle: "Upper bounds on its mean error over the optimum, proved on intervals of ε that leave out none, on the lattice of step 2Δ. They hold against every shift-invariant ε-DP mechanism.",
		Scale:    scale, Panels: [][]*Panel{{{Title: "largest over all ε > 0", X: depthAxis, Y: candidatesAxis, Cells: cells}, curves}},
	}
}

// stairs draws the bound of every interval as a level line, from small ε on.
func stairs(name string, c *ratiomap.Cover) *Series {
	s := &Series{Name: name}
	epsilon := func(z *big.Rat) float64 {
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

func drawResolution(ctx context.Context, a *Args) *Figure {
	n, k := a.Int("n", 2, 6), a.Int("k", 1, 10)
	steps, epsilons := a.Ints("steps", 1, 30), a.Floats("eps", smallest, greatest)
	rated := []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), must(mechanisms.Lookup("geo")), mechanisms.Exponential()}
	var row []*Panel
	a.steps(len(epsilons) * len(steps))
	for _, eps := range epsilons {
		p := &Panel{Title: "ε = " + digits(eps), X: Axis{Name: "L", Label: "L, for scores 2Δ/L apart"}, Y: Axis{Name: "ratio", Label: "mean error / optimum"}}
		for _, m := range rated {
			p.Series = append(p.Series, &Series{Name: m.Info().Name, Kind: Marked})
		}
		for _, step := range steps {
			answer := rate(ctx, lp.Request{N: n, K: k, Epsilon: exactly(eps), Level: lp.DP, Step: step, Gap: big.NewRat(1, 1e6), Mechanisms: rated})
			for m := range rated {
				p.Series[m].certify(float64(step), answer.Mechanisms[m].Ratio)
			}
			a.step()
		}
		row = append(row, p)
	}
	return &Figure{
		Title:    "The resolution of scores decides which mechanism is best",
		Subtitle: fmt.Sprintf("Ratio of the mean error to the optimum of all shift-invariant ε-DP mechanisms for scores 2Δ/L apart; n = %d candidates, depth %d steps of 2Δ. At L = 1 geo (geometric noisy max) is pf (permute-and-flip). Each panel has its own scale. Certified to 1e-6.", n, k),
		Panels:   [][]*Panel{row}, Height: 220,
	}
}

func drawPrivateStopping(ctx context.Context, a *Args) *Figure {
	ns := a.Ints("n", 2, 300)
	eps, l := a.Epsilon("eps"), a.Int("l", 1, 100)
	z := math.Exp(-eps.Float() / float64(l))
	best, mix := &Series{Name: "best private rule", Kind: Marked}, &Series{Name: "best p-mix of the secretary rule", Kind: Marked}
	secretary, any := &Series{Name: "secretary rule, not private", Kind: Marked}, &Series{Name: "bound for any private choice, even of one who sees all"}
	a.steps(len(ns))
	for _, n := range ns {
		a.step()
		if l >= n {
			continue
		}
		problem, sol := bestRule(ctx, n, l, eps)
		best.certify(float64(n), sol.Optimum())
		mix.certify(float64(n), must(problem.SecretaryMix(ctx, sol)).Success)
		secretary.certify(float64(n), number.Exact(sol.Free[0]))
		any.add(float64(n), lawBound(n, l, eps.Float()))
	}
	if len(best.X) == 0 {
		a.fail("n", fmt.Sprintf("give numbers above l = %d", l))
	}
	return &Figure{
		Title:    "What privacy costs in optimal stopping",
		Subtitle: fmt.Sprintf("Probability of taking the best of n candidates under (ε, 0)-privacy, ε = %s, neighboring orders swapping two candidates at most %d apart. Rules certified to a relative 1e-9.", a.Text("eps"), l),
		Panels: single(Axis{Name: "n", Label: "candidates n", Log: true}, Axis{Name: "success", Label: "Pr[the best is taken]", Min: 0, Max: max(0.02, 1.05*secretary.Y[0])}, best, mix, secretary, any,
			level("limit of the rule with constant rate", best.X, (1-z)*-math.Expm1(-z/(1-z)))), // research/docs/stopping.md
	}
}

// lawBound bounds the probability of taking the best of n under (ε, 0)-privacy, by whatever means: 1/Σ_k z^⌈(k-1)/l⌉, z = e^-ε, as the k-th best has at
// least z^⌈(k-1)/l⌉ times that probability (research/docs/stopping.md).
func lawBound(n, l int, eps float64) float64 {
	sum := 0.0
	for k := n; k >= 1; k-- {
		sum += math.Exp(-eps * float64((k-2+l)/l))
	}
	return 1 / sum
}

// bestRule returns the best (ε, 0)-private rule for taking the best of n candidates.
func bestRule(ctx context.Context, n, l int, eps number.Epsilon) (*stopping.Problem, *stopping.Solution) {
	p := &stopping.Problem{Payoff: must(stopping.TopK(n, 1)), L: l, Eps: eps}
	sol := must(stopping.Solve(ctx, p, stopping.Options{}))
	if sol.Stopped != nil {
		settled(ctx, sol.Stopped.Error())
	}
	return p, sol
}

func drawStoppingRule(ctx context.Context, a *Args) *Figure {
	n, eps, l := a.Int("n", 2, 150), a.Epsilon("eps"), a.Int("l", 1, 149)
	if l >= n {
		a.fail("l", fmt.Sprintf("give a number from 1 to n-1 = %d", n-1))
	}
	_, sol := bestRule(ctx, n, l, eps)
	ranks := min(a.Int("ranks", 1, 150), n)
	g := &Cells{X: evenly(1, float64(n), n), Y: evenly(1, float64(ranks), ranks)}
	for i := 1; i <= n; i++ {
		column := make([]float64, ranks)
		for j := range column {
			if column[j] = math.NaN(); j < i && sol.Rule.Reach(i).Sign() > 0 {
				column[j], _ = sol.Rule.Stop(i, j+1).Float64()
			}
		}
		g.Z = append(g.Z, column)
	}
	success, _ := sol.Lower.Float64()
	return &Figure{
		Title:    "The best private stopping rule",
		Subtitle: fmt.Sprintf("Probability that a candidate is taken, given that its time is reached, by its rank among those seen so far (1 is the best). White: not possible. n = %d, ε = %s, δ = 0, l = %d; it takes the best with probability %.6f, exactly private, within a relative 1e-9 of the optimum.", n, a.Text("eps"), l, success),
		Scale:    &Scale{Name: "stop", Label: "Pr[taken]", Min: 0, Max: 1}, Height: 220,
		Panels: [][]*Panel{{{X: Axis{Name: "time", Label: "time (number of the arrival)"}, Y: Axis{Name: "rank", Label: "rank so far"}, Cells: g}}},
	}
}

// atEqualRho returns the largest parameter at which a mechanism is R-zCDP for all real scores: its lower end, and the enclosure.
func atEqualRho(ctx context.Context, m mechanisms.Mechanism, rho *big.Rat) (number.Epsilon, number.Number) {
	out := must(verify.Calibrate(ctx, verify.Claim{Mechanism: m}, 0, 0, verify.Options{Targets: map[verify.Property]*big.Rat{verify.ZCDP: rho}}))
	settled(ctx, out.Undecided)
	low, _ := out.Parameter.Lower()
	return must(number.FromEpsilon(low)), out.Parameter
}

func drawRho(ctx context.Context, a *Args) *Figure {
	ns, k := a.Ints("n", 2, 1000), a.Int("k", 1, 50)
	from, to := a.Range("rho-range", smallest, greatest)
	points := a.Int("points", 2, 200)
	list := []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential(), must(mechanisms.Lookup("geo"))}
	x := Axis{Name: "rho", Label: "ρ of zero-concentrated privacy", Log: true}
	errs := &Panel{Title: "mean errors", X: x, Y: Axis{Name: "ratio", Label: "error of pf / error of em"}}
	parameters := &Panel{Title: "parameters", X: x, Y: Axis{Name: "eps", Label: "largest parameter ε", Log: true}}
	for _, n := range ns {
		errs.Series = append(errs.Series, &Series{Name: "n = " + strconv.Itoa(n), Kind: Marked})
	}
	for _, m := range list {
		parameters.Series = append(parameters.Series, &Series{Name: m.Info().Name})
	}
	a.steps(points * len(ns))
	for _, at := range evenly(math.Log(from), math.Log(to), points) {
		rho, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Exp(at), 'g', 4, 64))
		x, _ := rho.Float64()
		var run [3]number.Epsilon
		for j, m := range list {
			eps, enclosed := atEqualRho(ctx, m, rho)
			parameters.Series[j].certify(x, enclosed)
			run[j] = eps
		}
		for j, n := range ns {
			pf, em := must(lp.MeanError(ctx, list[0], n, k, lp.Prior{}, run[0])), must(lp.MeanError(ctx, list[1], n, k, lp.Prior{}, run[1]))
			errs.Series[j].certify(x, evaluate.Ratio(pf, em))
			a.step()
		}
	}
	errs.Series = append(errs.Series, level("equal", []float64{from, to}, 1))
	return &Figure{
		Title:    "At equal ρ the exponential mechanism is ahead",
		Subtitle: fmt.Sprintf("Each mechanism runs at the largest parameter at which it is ρ-zCDP for all real scores and any number of candidates (research/docs/zcdp.md). Left: mean error of permute-and-flip (pf) over that of the exponential mechanism (em) on the lattice of n candidates, step 2Δ and depth %d steps. Right: the parameters; geo is geometric noisy max. Certified to a relative 1e-9.", k),
		Panels:   [][]*Panel{{errs, parameters}}, Height: 220,
	}
}

func drawWitness(ctx context.Context, a *Args) *Figure {
	m := a.mechanismNames("mechanism")[0]
	n, k := a.Int("n", 2, 8), a.Int("k", 1, 6)
	claimed, runs := a.Epsilon("eps").Float(), a.Epsilon("runs-at")
	report := must(verify.Lattice(ctx, verify.Claim{Mechanism: m, Epsilon: runs}, n, k, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
	r := report.Find(verify.DP)
	w := cmp.Or(r.Attained, r.Witness)
	if w == nil {
		settled(ctx, cmp.Or(r.Reason, "no neighbors were compared"))
	}
	x := Axis{Name: "candidate", Label: "candidate (numbered from 0)"}
	both := []*Series{{Name: "q = " + inquiry.ScoresText(w.Scores), Kind: Bars}, {Name: "q' = " + inquiry.ScoresText(w.Neighbor), Kind: Bars}}
	band := &Series{Name: "allowed at q': within a factor e^ε of q", Kind: Ranges}
	for i, scores := range [][]*big.Rat{w.Scores, w.Neighbor} {
		for c, p := range must(m.Float(&mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: runs})) {
			if both[i].add(float64(c), p); i == 0 {
				x.Names = append(x.Names, fmt.Sprint(c))
				band.add(float64(c)+0.2, p)
				band.Lower, band.Upper = append(band.Lower, p*math.Exp(-claimed)), append(band.Upper, min(math.Exp(math.Log(p)+claimed), 1))
			}
		}
	}
	verdict := "is within"
	if tight, _, _ := ends(r.TightEps); tight > claimed {
		verdict = "breaks"
	}
	return &Figure{
		Title: fmt.Sprintf("The neighbors on which %s is least private", m.Info().Name),
		Subtitle: fmt.Sprintf("Claimed: ε = %s. Run at ε = %s with Δ = 1. Of all neighbors on the lattice with n = %d and depth %d these differ most (up to a shift of all scores), at candidate %d: tight ε = %s, which %s the claim.",
			a.Text("eps"), a.Text("runs-at"), n, k, *w.Candidate, r.TightEps.Format(8), verdict),
		Panels: single(x, Axis{Name: "probability", Label: "probability"}, both[0], both[1], band),
	}
}

// drawOptimum draws the famous cases of research/docs/optimum.md: geometric noise after a remap, once for the mean and once for right or wrong, randomised
// response, partition selection with δ, a grid, and selection itself.
func drawOptimum(ctx context.Context, a *Args) *Figure {
	eps, size := a.Epsilon("eps"), a.Int("size", 2, 12)
	cases := []struct {
		title, preset, loss string
		delta               *big.Rat
	}{
		{"counts, distance", fmt.Sprintf("count:%d", size), "", new(big.Rat)},
		{"counts, right or wrong", fmt.Sprintf("count:%d", size), "zero-one", new(big.Rat)},
		{"all are neighbors", fmt.Sprintf("krr:%d", size+1), "", new(big.Rat)},
		{"partitions, δ = 1/100", fmt.Sprintf("partition:%d", size), "", big.NewRat(1, 100)},
		{"grid of 3×3, distance", "grid:3x3", "", new(big.Rat)},
		{"selection, Q(3,2)", "selection:3,2", "", new(big.Rat)},
	}
	var panels []*Panel
	a.steps(len(cases))
	for _, c := range cases {
		p := must(optimum.Preset(c.preset))
		if c.loss != "" {
			p.Loss = must(optimum.NamedLoss(c.loss, p.Inputs, p.Outputs))
		}
		best := must(optimum.Solve(ctx, optimum.Request{Problem: p, Epsilon: eps, Delta: c.delta}))
		settled(ctx, best.Undecided)
		g := &Cells{X: evenly(0, float64(len(p.Inputs)-1), len(p.Inputs)), Y: evenly(0, float64(len(p.Outputs)-1), len(p.Outputs))}
		for _, row := range best.Table() {
			var column []float64
			for _, probability := range row {
				value, _ := probability.Float64()
				column = append(column, value)
			}
			g.Z = append(g.Z, column)
		}
		y := Axis{Name: "output", Label: "output"}
		if len(p.Outputs) == 2 {
			y.Names = p.Outputs
		}
		panels = append(panels, &Panel{Title: c.title, X: Axis{Name: "input", Label: fmt.Sprintf("input\nloss %.4f", best.Optimum.Float64())}, Y: y, Cells: g})
		a.step()
	}
	return &Figure{
		Title:    "The best private mechanism of six problems",
		Subtitle: fmt.Sprintf("Pr[output | input] of an optimal mechanism at ε = %s, inputs from left to right, outputs upwards; other mechanisms may be optimal too. Prior uniform.", a.Text("eps")),
		Scale:    &Scale{Name: "probability", Label: "Pr[output | input]", Min: 0, Max: 1}, Height: 190,
		Panels: [][]*Panel{panels[:3], panels[3:]},
	}
}
