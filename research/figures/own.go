package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"optratio/lp"
	"optratio/lp/stopping"
	"optratio/mechanisms"
	"optratio/mechanisms/totals"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify"
)

var ownSpecs = []Spec{
	{
		Name:  "threshold",
		Shows: "the ε from which permute-and-flip is optimal, over the depth k of the lattice",
		Params: []Param{
			{"k", "1:16", "depths of the lattice, in steps of 2Δ"},
		},
		Fast: map[string]string{"k": "1:5"},
		draw: drawThreshold,
	},
	{
		Name:  "worst-ratio",
		Shows: "permute-and-flip's largest ratio to the optimum over ε, for each n and k, with and without monotonicity",
		Params: []Param{
			{"n", "3:6", "numbers of candidates"},
			{"k", "2:7", "depths of the lattice, in steps of 2Δ"},
			{"eps-range", "0.1:0.65", "ends of the grid of ε"},
			{"points", "12", "number of values of ε or of another quantity on the axis"},
		},
		Fast: map[string]string{"n": "3:4", "k": "2:3", "points": "4"},
		draw: drawWorstRatio,
	},
	mapSpec,
	{
		Name:  "resolution",
		Shows: "ratios to the optimum of permute-and-flip, geometric noisy max and the exponential mechanism over the resolution of scores",
		Params: []Param{
			{"n", "3", "number of candidates"},
			{"k", "2", "depth of the lattice, in steps of 2Δ"},
			{"steps", "1:6", "values of L, for scores 2Δ/L apart"},
			{"eps", "0.5,1,2", "values of ε, a panel for each"},
		},
		Fast: map[string]string{"steps": "1:2", "eps": "1"},
		draw: drawResolution,
	},
	{
		Name:  "private-stopping",
		Shows: "success of the best private stopping rule and of the best p-mix, with bounds, over the number of candidates",
		Params: []Param{
			{"n", "2:12,14,17,20,25,30,40,50,70,100", "numbers of candidates"},
			{"eps", "0.5", "privacy parameter ε"},
			{"l", "1", "neighbors swap two candidates at most l places apart"},
		},
		Fast: map[string]string{"n": "2:6"},
		draw: drawPrivateStopping,
	},
	{
		Name:  "stopping-rule",
		Shows: "probability that the best private rule stops, by time and relative rank",
		Params: []Param{
			{"n", "30", "number of candidates"},
			{"eps", "0.5", "privacy parameter ε"},
			{"l", "1", "neighbors swap two candidates at most l places apart"},
			{"ranks", "12", "ranks shown, from the best"},
		},
		Fast: map[string]string{"n": "8"},
		draw: drawStoppingRule,
	},
	rhoSpec,
	{
		Name:  "witness",
		Shows: "two neighbors on which a mechanism is less private than claimed, with the band that ε allows",
		Params: []Param{
			{"mechanism", "em", "mechanism, by name"},
			{"n", "4", "number of candidates"},
			{"k", "2", "depth of the lattice that is searched, in steps of 2Δ"},
			{"eps", "0.5", "the ε that is claimed"},
			{"runs-at", "1", "the ε that the mechanism is run at; twice the claimed one is what forgetting the 2 of 2Δ does to the exponential mechanism"},
		},
		Fast: map[string]string{"n": "3"},
		draw: drawWitness,
	},
	{
		Name:  "optimum",
		Shows: "the best private mechanisms of six problems, a table of probabilities each",
		Params: []Param{
			{"eps", "1", "privacy parameter ε"},
			{"size", "6", "of the problems: the greatest count, and as many inputs that are all neighbors"},
		},
		Fast: map[string]string{"size": "2"},
		draw: drawOptimum,
	},
}

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

func drawThreshold(ctx context.Context, a *Args) *Figure {
	ks := a.Ints("k", 1, 200)
	paper := &Series{Name: "every n ≥ 3", Kind: Marked}
	box := &Series{Name: "n = 3, weights of the box", Kind: Marked}
	for i, k := range ks {
		a.step(i, len(ks))
		for _, c := range []struct {
			to        *Series
			objective totals.Objective
		}{{paper, totals.Paper}, {box, totals.Box}} {
			t := must(lp.Threshold(ctx, lp.ThresholdRequest{N: 3, K: k, Objective: c.objective, Gap: big.NewRat(1, 1e12)}))
			settled(ctx, t.Undecided)
			low, _, _ := ends(t.Lower)
			_, _, high := ends(t.Upper)
			c.to.add(float64(k), (low+high)/2)
			c.to.Lower, c.to.Upper = append(c.to.Lower, low), append(c.to.Upper, high)
		}
	}
	x := []float64{float64(ks[0]), float64(ks[len(ks)-1])}
	limit := sample("limit ln 2", Reference, x, func(float64) float64 { return math.Ln2 })
	source := sample("bound of the source, ln((3+√5)/2)", Reference, x, func(float64) float64 { return math.Log((3 + math.Sqrt(5)) / 2) })
	return &Figure{
		Title:    "From which ε on permute-and-flip is optimal",
		Subtitle: "Least ε at which permute-and-flip has the least mean error of all regular ε-DP mechanisms on the lattice of step 2Δ and depth k. For n ≤ 2 it is 0. Certified to a relative 1e-12.",
		Panels: single(&Panel{
			X:      Axis{Name: "k", Label: "depth k of the lattice, in steps of 2Δ", Whole: true},
			Y:      Axis{Name: "eps", Label: "threshold of ε", Min: 0, Max: 1.05},
			Series: []*Series{paper, box, limit, source},
		}),
	}
}

// ErrUndecided is wrapped where a number of a figure could not be certified.
var ErrUndecided = errors.New("undecided")

// settled ends the figure where a computation says why it is undecided.
func settled(ctx context.Context, why string) {
	if why != "" {
		ensure(cmp.Or(context.Cause(ctx), fmt.Errorf("%w: %s", ErrUndecided, why)))
	}
}

// rate returns the answer to a request, all of it.
func rate(ctx context.Context, r lp.Request) *lp.Answer {
	answer := must(lp.Ratio(ctx, r))
	settled(ctx, answer.Undecided)
	return answer
}

// exactly returns the ε that is the given short decimal.
func exactly(x float64) mechanisms.Epsilon {
	return must(mechanisms.ParseEpsilon(strconv.FormatFloat(x, 'f', -1, 64)))
}

func drawWorstRatio(ctx context.Context, a *Args) *Figure {
	ns, ks := a.Ints("n", 3, 12), a.Ints("k", 1, 30)
	from, to := a.Range("eps-range", true)
	points := a.Int("points", 2, 200)
	grid := evenly(from, to, points)
	scale := &Scale{Name: "ratio", Label: "largest ratio to the optimum", Min: 1}
	f := &Figure{
		Title: "How far permute-and-flip is from optimal at worst",
		Subtitle: fmt.Sprintf("Largest ratio of its mean error to the optimum over ε = %s … %s (%d values), certified to 1e-6. Constraints paper: the rows of the source's program; monotone: with monotonicity, which regular mechanisms have.",
			digits(roundTo(from, 6)), digits(roundTo(to, 6)), points),
		Scale: scale, Height: 175,
	}
	done := 0
	for _, level := range []lp.Level{lp.Paper, lp.Monotone} {
		p := &Panel{
			Title: "constraints " + level.String(),
			X:     Axis{Name: "k", Label: "depth k, in steps of 2Δ", Whole: true},
			Y:     Axis{Name: "n", Label: "candidates n", Whole: true},
			Cells: &Cells{X: asFloats(ks), Y: asFloats(ns), Digits: 4},
		}
		for _, k := range ks {
			var column, lower []float64
			for _, n := range ns {
				most, sure := 1.0, 1.0
				for _, eps := range grid {
					answer := rate(ctx, lp.Request{
						N: n, K: k, Epsilon: exactly(roundTo(eps, 6)), Level: level, Gap: big.NewRat(1, 1e6),
						Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
					})
					low, at, _ := ends(answer.Mechanisms[0].Ratio)
					most, sure = max(most, at), max(sure, low)
				}
				done++
				a.step(done, 2*len(ns)*len(ks))
				column, lower = append(column, most), append(lower, sure)
				scale.Max = max(scale.Max, most)
			}
			p.Cells.Z, p.Cells.Lower = append(p.Cells.Z, column), append(p.Cells.Lower, lower)
		}
		f.Panels = append(f.Panels, []*Panel{p})
	}
	return f
}

func asFloats(values []int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

func drawResolution(ctx context.Context, a *Args) *Figure {
	n, k := a.Int("n", 2, 6), a.Int("k", 1, 10)
	steps := a.Ints("steps", 1, 30)
	list, shown := a.Epsilons("eps")
	geo := must(mechanisms.Lookup("geo"))
	rated := []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), geo, mechanisms.Exponential()}
	var row []*Panel
	for i, eps := range list {
		p := &Panel{
			Title: "ε = " + shown[i],
			X:     Axis{Name: "L", Label: "L, for scores 2Δ/L apart", Whole: true},
			Y:     Axis{Name: "ratio", Label: "mean error / optimum"},
		}
		if i > 0 {
			p.Y.Label = ""
		}
		for _, m := range rated {
			p.Series = append(p.Series, &Series{Name: m.Info().Name, Kind: Marked})
		}
		for j, step := range steps {
			a.step(i*len(steps)+j, len(list)*len(steps))
			answer := rate(ctx, lp.Request{N: n, K: k, Epsilon: eps, Level: lp.DP, Step: step, Gap: big.NewRat(1, 1e6), Mechanisms: rated})
			for m := range rated {
				p.Series[m].certify(float64(step), answer.Mechanisms[m].Ratio)
			}
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
	best := &Series{Name: "best private rule", Kind: Marked}
	mix := &Series{Name: "best p-mix of the secretary rule", Kind: Marked}
	secretary := &Series{Name: "secretary rule, not private", Kind: Marked}
	any := &Series{Name: "bound for any private choice, even of one who sees all", Kind: Reference}
	for i, n := range ns {
		a.step(i, len(ns))
		if l >= n {
			continue
		}
		problem, sol := bestRule(ctx, n, l, eps)
		best.certify(float64(n), sol.Optimum())
		m := must(problem.SecretaryMix(ctx, sol))
		mix.certify(float64(n), m.Success)
		secretary.certify(float64(n), number.Exact(sol.Free[0]))
		any.add(float64(n), lawBound(n, l, eps.Float()))
	}
	if len(best.X) == 0 {
		a.fail("n", fmt.Sprintf("give numbers above l = %d", l))
	}
	limit := sample("limit of the rule with constant rate", Reference, []float64{best.X[0], best.X[len(best.X)-1]}, func(float64) float64 { return constantRate(eps.Float(), l) })
	return &Figure{
		Title:    "What privacy costs in optimal stopping",
		Subtitle: fmt.Sprintf("Probability of taking the best of n candidates under (ε, 0)-privacy, ε = %s, neighboring orders swapping two candidates at most %d apart. Rules certified to a relative 1e-9.", a.Text("eps"), l),
		Panels: single(&Panel{
			X:      Axis{Name: "n", Label: "candidates n", Log: true},
			Y:      Axis{Name: "success", Label: "Pr[the best is taken]", Min: 0, Max: max(0.02, 1.05*secretary.Y[0])},
			Series: []*Series{best, mix, secretary, any, limit},
		}),
	}
}

// lawBound bounds the probability of taking the best of n under (ε, 0)-privacy, by whatever means: 1/Σ_k z^⌈(k-1)/l⌉, z = e^-ε, as the k-th best has at
// least z^⌈(k-1)/l⌉ times that probability (docs/results/stopping.md).
func lawBound(n, l int, eps float64) float64 {
	sum := 0.0
	for k := n; k >= 1; k-- {
		sum += math.Exp(-eps * float64((k-2+l)/l))
	}
	return 1 / sum
}

// constantRate is the limit, for many candidates, of the success of the private rule that stops at a constant rate: (1-ζ)(1-e^{-ζ/(1-ζ)}), ζ = e^{-ε/l}
// (docs/results/stopping.md).
func constantRate(eps float64, l int) float64 {
	z := math.Exp(-eps / float64(l))
	return (1 - z) * -math.Expm1(-z/(1-z))
}

// bestRule returns the best (ε, 0)-private rule for taking the best of n candidates.
func bestRule(ctx context.Context, n, l int, eps mechanisms.Epsilon) (*stopping.Problem, *stopping.Solution) {
	payoff := must(stopping.TopK(n, 1))
	p := &stopping.Problem{Payoff: payoff, L: l, Eps: eps}
	sol := must(stopping.Solve(ctx, p, stopping.Options{}))
	if sol.Stopped != nil {
		settled(ctx, sol.Stopped.Error())
	}
	return p, sol
}

func drawStoppingRule(ctx context.Context, a *Args) *Figure {
	n, eps := a.Int("n", 2, 150), a.Epsilon("eps")
	l := a.Int("l", 1, 149)
	if l >= n {
		a.fail("l", fmt.Sprintf("give a number from 1 to n-1 = %d", n-1))
	}
	_, sol := bestRule(ctx, n, l, eps)
	ranks := min(a.Int("ranks", 1, 150), n)
	g := &Cells{Y: evenly(1, float64(ranks), ranks)}
	for i := 1; i <= n; i++ {
		g.X = append(g.X, float64(i))
		column := make([]float64, ranks)
		for j := 1; j <= ranks; j++ {
			column[j-1] = math.NaN()
			if j <= i && sol.Rule.Reach(i).Sign() > 0 {
				column[j-1], _ = sol.Rule.Stop(i, j).Float64()
			}
		}
		g.Z = append(g.Z, column)
	}
	success, _ := sol.Lower.Float64()
	return &Figure{
		Title:    "The best private stopping rule",
		Subtitle: fmt.Sprintf("Probability that a candidate is taken, given that its time is reached, by its rank among those seen so far (1 is the best). White: not possible. n = %d, ε = %s, δ = 0, l = %d; it takes the best with probability %.6f, exactly private, within a relative 1e-9 of the optimum.", n, a.Text("eps"), l, success),
		Scale:    &Scale{Name: "stop", Label: "Pr[taken]", Min: 0, Max: 1},
		Panels: single(&Panel{
			X:     Axis{Name: "time", Label: "time (number of the arrival)", Whole: true},
			Y:     Axis{Name: "rank", Label: "rank so far", Whole: true},
			Cells: g,
		}),
		Height: 220,
	}
}

func drawWitness(ctx context.Context, a *Args) *Figure {
	list := a.mechanismNames("mechanism")
	n, k := a.Int("n", 2, 8), a.Int("k", 1, 6)
	claimed, runs := a.Epsilon("eps"), a.Epsilon("runs-at")
	m := list[0]
	report := must(verify.Lattice(ctx, verify.Claim{Mechanism: m, Epsilon: runs}, n, k, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}))
	r := report.Find(verify.DP)
	w := cmp.Or(r.Attained, r.Witness)
	if w == nil {
		settled(ctx, cmp.Or(r.Reason, "no neighbors were compared"))
	}
	p := &Panel{
		X: Axis{Name: "candidate", Label: "candidate (numbered from 0)"},
		Y: Axis{Name: "probability", Label: "probability"},
	}
	first, second := &Series{Name: "q = " + verify.ScoresText(w.Scores), Kind: Bars}, &Series{Name: "q' = " + verify.ScoresText(w.Neighbor), Kind: Bars}
	band := &Series{Name: "allowed at q': within a factor e^ε of q", Kind: Ranges}
	for i, scores := range [][]*big.Rat{w.Scores, w.Neighbor} {
		pmf := must(m.Float(&mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: runs}))
		for c, x := range pmf {
			[]*Series{first, second}[i].add(float64(c), x)
			if i == 0 {
				p.X.Names = append(p.X.Names, fmt.Sprint(c))
				band.add(float64(c)+0.2, x)
				eps := claimed.Float()
				band.Lower, band.Upper = append(band.Lower, x*math.Exp(-eps)), append(band.Upper, min(math.Exp(math.Log(x)+eps), 1))
			}
		}
	}
	p.Series = []*Series{first, second, band}
	verdict := "is within"
	if tight, _, _ := ends(r.TightEps); tight > claimed.Float() {
		verdict = "breaks"
	}
	return &Figure{
		Title: fmt.Sprintf("The neighbors on which %s is least private", m.Info().Name),
		Subtitle: fmt.Sprintf("Claimed: ε = %s. Run at ε = %s with Δ = 1. Of all neighbors on the lattice with n = %d and depth %d these differ most (up to a shift of all scores), at candidate %d: tight ε = %s, which %s the claim.",
			a.Text("eps"), a.Text("runs-at"), n, k, *w.Candidate, r.TightEps.Format(8), verdict),
		Panels: single(p),
	}
}

// drawOptimum draws the famous cases of docs/results/optimum.md: geometric noise after a remap, once for the mean and once for right or wrong, randomised
// response, partition selection with δ, a grid, and selection itself.
func drawOptimum(ctx context.Context, a *Args) *Figure {
	eps, size := a.Epsilon("eps"), a.Int("size", 2, 12)
	f := &Figure{
		Title:    "The best private mechanism of six problems",
		Subtitle: fmt.Sprintf("Pr[output | input] of an optimal mechanism at ε = %s, inputs from left to right, outputs upwards; other mechanisms may be optimal too. Prior uniform.", a.Text("eps")),
		Scale:    &Scale{Name: "probability", Label: "Pr[output | input]", Min: 0, Max: 1},
		Height:   190,
	}
	cases := []struct{ title, preset, loss, delta string }{
		{"counts, distance", fmt.Sprintf("count:%d", size), "", "0"},
		{"counts, right or wrong", fmt.Sprintf("count:%d", size), "zero-one", "0"},
		{"all are neighbors", fmt.Sprintf("krr:%d", size+1), "", "0"},
		{"partitions, δ = 1/100", fmt.Sprintf("partition:%d", size), "", "1/100"},
		{"grid of 3×3, distance", "grid:3x3", "", "0"},
		{"selection, Q(3,2)", "selection:3,2", "", "0"},
	}
	for i, c := range cases {
		a.step(i, len(cases))
		p := must(optimum.Preset(c.preset))
		if c.loss != "" {
			p.Loss = must(optimum.NamedLoss(c.loss, p.Inputs, p.Outputs))
		}
		delta, _ := new(big.Rat).SetString(c.delta)
		best := must(optimum.Solve(ctx, optimum.Request{Problem: p, Epsilon: eps, Delta: delta}))
		settled(ctx, best.Undecided)
		cells := &Cells{}
		for o := range p.Outputs {
			cells.Y = append(cells.Y, float64(o))
		}
		for x, row := range best.Table() {
			var column []float64
			for _, probability := range row {
				value, _ := probability.Float64()
				column = append(column, value)
			}
			cells.X, cells.Z = append(cells.X, float64(x)), append(cells.Z, column)
		}
		panel := &Panel{
			Title: c.title,
			X:     Axis{Name: "input", Label: fmt.Sprintf("input (loss %.4f)", best.Optimum.Float64()), Whole: true},
			Y:     Axis{Name: "output", Label: "output", Whole: true},
			Cells: cells,
		}
		if len(p.Outputs) == 2 {
			panel.Y.Names = p.Outputs
		}
		if i%3 == 0 {
			f.Panels = append(f.Panels, nil)
		}
		f.Panels[i/3] = append(f.Panels[i/3], panel)
	}
	return f
}
