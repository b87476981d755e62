package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"optratio/mechanisms"
	"optratio/research/scenario"
)

const hetSource = "Antonova et al., Private Selection with Heterogeneous Sensitivities, Fig. "

var (
	hetEps     = Param{"eps", "0.1,0.25,0.5,0.75,1,1.5,2,3,4,6,8,16", "values of ε"}
	hetNames   = Param{"mechanism", "rnm-exponential,rnmh,gem,mgem,rs,rs-log,krr,uniform", "mechanisms, by name"}
	drawsParam = Param{"draws", "1000", "score vectors drawn, whose deciles are the sensitivities"}
	trials     = Param{"trials", "10", "drawn score vectors that errors are averaged over"}
	seedParam  = Param{"seed", "1", "seed of what is drawn"}
	gammaParam = Param{"gamma", "0.05", "γ of random stopping"}
	deltaRange = Param{"delta-range", "0.1:4.1", "ends of the axes of both sensitivities"}
	cells      = Param{"points", "21", pointsParam.Usage}
	fastRun    = map[string]string{"mechanism": "rnm-exponential,gem", "eps": "1,4", "draws": "50", "trials": "2"}
	fastMap    = map[string]string{"points": "3"}
)

var hetSpecs = []Spec{
	{
		Name: "het-1", Shows: "scenarios 1 to 3: scores and sensitivities, and mean squared errors over ε", Source: hetSource + "1",
		Open:   "the values of ε",
		Params: []Param{hetEps, hetNames, gammaParam}, Fast: map[string]string{"mechanism": "rnm-exponential,gem", "eps": "1,4"},
		draw: func(ctx context.Context, a *Args) *Figure { return drawScenarios(ctx, a, 1, 2, 3) },
	},
	{
		Name: "het-2", Shows: "how much more often random stopping takes the better of two candidates than report noisy max", Source: hetSource + "2",
		Open:   "the range of sensitivities; how many trials its estimates have",
		Params: []Param{{"eps", "0.1", "privacy parameter ε"}, {"gap", "1", "difference of the two scores"}, {"gamma", "0.01", "γ of random stopping"}, deltaRange, {"points", "41", cells.Usage}}, Fast: fastMap,
		draw: func(ctx context.Context, a *Args) *Figure { return drawGains(ctx, a, "2", "rs") },
	},
	{
		Name: "het-5", Shows: "scenarios 4 to 6: scores and sensitivities, and mean squared errors over ε", Source: hetSource + "5",
		Open:   "the number of draws, the seed, whether second parameters are σ or σ², the values of ε",
		Params: []Param{hetEps, hetNames, gammaParam, drawsParam, trials, seedParam}, Fast: fastRun,
		draw: func(ctx context.Context, a *Args) *Figure { return drawScenarios(ctx, a, 4, 5, 6) },
	},
	{
		Name: "het-7", Shows: "scenarios 7 and 8: scores and sensitivities by group, and mean squared errors of the adaptive choice over ε", Source: hetSource + "7",
		Open:   "the mean of the noise (0 here), the values of ε",
		Params: []Param{hetEps, {"mechanism", "rnm-exponential,gem,mgem,combined-gem", "mechanisms, by name"}, gammaParam, {"draws", "5000", drawsParam.Usage}, {"trials", "40", trials.Usage}, seedParam}, Fast: fastRun,
		draw: func(ctx context.Context, a *Args) *Figure { return drawScenarios(ctx, a, 7, 8) },
	},
	{
		Name: "het-10", Shows: "het-2 for several γ", Source: hetSource + "10",
		Open:   "the list of γ, the range of sensitivities",
		Params: []Param{{"eps", "0.1", "privacy parameter ε"}, {"gap", "1", "difference of the two scores"}, {"gamma", "0.5,0.1,0.01,0.001", "γ of random stopping, a panel for each"}, deltaRange, cells}, Fast: fastMap,
		draw: func(ctx context.Context, a *Args) *Figure { return drawGains(ctx, a, "10", "rs") },
	},
	{
		Name: "het-11", Shows: "how much more often noise by each candidate's sensitivity takes the better of two candidates, over ε and gaps", Source: hetSource + "11",
		Open:   "the range of sensitivities",
		Params: []Param{{"eps", "0.1,1,3", "values of ε, a row for each"}, {"gap", "0.1,1,2,5", "differences of the two scores, a column for each"}, deltaRange, cells}, Fast: fastMap,
		draw: func(ctx context.Context, a *Args) *Figure { return drawGains(ctx, a, "11", "rnmh") },
	},
	{
		Name: "het-12", Shows: "het-2 over ε and gaps", Source: hetSource + "12",
		Open:   "the range of sensitivities",
		Params: []Param{{"eps", "0.1,1,3", "values of ε, a row for each"}, {"gap", "0.1,1,2,5", "differences of the two scores, a column for each"}, {"gamma", "0.01", "γ of random stopping"}, deltaRange, cells}, Fast: fastMap,
		draw: func(ctx context.Context, a *Args) *Figure { return drawGains(ctx, a, "12", "rs") },
	},
	{
		Name: "het-13", Shows: "mean squared errors over the share of high scores, scenarios 1 to 3", Source: hetSource + "13",
		Open:   "the grid of shares",
		Params: []Param{{"eps", "2", "privacy parameter ε"}, hetNames, gammaParam, {"share", "1,3:97:2,99", "numbers of high scores among the 100"}}, Fast: map[string]string{"mechanism": "rnm-exponential,gem", "share": "10,50"},
		draw: drawShares,
	},
	{
		Name: "het-14", Shows: "distribution of scores by candidate and group, strong polarisation", Source: hetSource + "14",
		Open:   "the mean of the noise; of whom the 5 and 95 % lines are: both readings are drawn",
		Params: []Param{{"sigma", "0.5", "standard deviation of the noise"}, {"t", "0", "mean of the noise"}},
		draw:   func(_ context.Context, a *Args) *Figure { return drawGroups(a, 14) },
	},
	{
		Name: "het-15", Shows: "distribution of scores by candidate and group, weak polarisation", Source: hetSource + "15",
		Open:   "as in het-14",
		Params: []Param{{"sigma", "3", "standard deviation of the noise"}, {"t", "0", "mean of the noise"}},
		draw:   func(_ context.Context, a *Args) *Figure { return drawGroups(a, 15) },
	},
	{
		Name: "het-17", Shows: "density of the largest of independent Laplace variables of various scales", Source: hetSource + "17",
		Open:   "the number of variables",
		Params: []Param{{"n", "20", "number of variables"}, {"x-range", "-2:90", "ends of the axis"}, {"points", "400", pointsParam.Usage}}, Fast: map[string]string{"points": "20"},
		draw: drawLargestLaplace,
	},
}

// floatMechanisms returns the mechanisms named, which all have float64 probabilities.
func (a *Args) floatMechanisms() []mechanisms.FloatScorer {
	var out []mechanisms.FloatScorer
	for _, m := range a.mechanismNames("mechanism") {
		f, ok := m.(mechanisms.FloatScorer)
		if !ok {
			a.fail("mechanism", m.Info().Name+" has no probabilities for scores off a lattice; leave it out")
			return nil
		}
		out = append(out, f)
	}
	return out
}

// gammas returns γ as parameters of mechanisms.
func (a *Args) gammas() (list []mechanisms.Params, shown []string) {
	inside := func(x float64) bool { return positive(x) && x <= 1 }
	for _, x := range a.Floats("gamma", inside, "give numbers from 1e-6 to 1, separated by commas") {
		list = append(list, mechanisms.Params{Gamma: new(big.Rat).SetFloat64(x)})
		shown = append(shown, digits(x))
	}
	return list, shown
}

// short is the source's name of a mechanism in legends.
func short(m mechanisms.Mechanism) string {
	if name := m.Info().Name; name != "rnm-exponential" {
		return name
	}
	return "rnm"
}

// lineOf is how a mechanism's curve is drawn; that of no choice at all is there to compare with.
func lineOf(m mechanisms.Mechanism, usual Kind) Kind {
	if m.Info().Name == "uniform" {
		return Reference
	}
	return usual
}

// drawScenarios draws scores and sensitivities above, and mean squared errors below.
func drawScenarios(ctx context.Context, a *Args, numbers ...int) *Figure {
	epsilons := a.Floats("eps", positive, wantPositives)
	list, params := a.floatMechanisms(), mechanisms.Params{}
	if gamma, _ := a.gammas(); len(gamma) > 0 {
		params = gamma[0]
	}
	draws, rated, seed := 1, 1, uint64(1)
	if _, random := a.values["draws"]; random {
		draws, rated, seed = a.Int("draws", 2, 100_000), a.Int("trials", 1, 10_000), a.Seed()
		rated = min(rated, draws)
	}
	var top, bottom []*Panel
	for column, number := range numbers {
		s := must(scenario.Find(number))
		t := must(s.Generate(seed, draws))
		p := &Panel{
			X: Axis{Name: "eps", Label: "ε", Log: true}, Y: Axis{Name: "mse", Label: "mean squared error"},
			Series: []*Series{},
		}
		total := len(numbers) * len(list) * len(epsilons)
		few := t.Few(rated)
		for i, m := range list {
			curve := &Series{Name: short(m), Kind: lineOf(m, Marked)}
			for j, eps := range epsilons {
				a.step((column*len(list)+i)*len(epsilons)+j, total)
				e := must(few.Errors(ctx, m, eps, params))
				curve.add(eps, e.MSE)
			}
			p.Series = append(p.Series, curve)
		}
		bottom = append(bottom, p)
		top = append(top, candidatesOf(t, number))
		if column > 0 {
			p.Y.Label, top[column].Y.Label = "", ""
		}
	}
	how := "Errors are means over the mechanisms' probabilities."
	if draws > 1 {
		how = fmt.Sprintf("Sensitivities: ranges from the first to the last decile of %d draws (seed %d), to which scores are clipped. Errors: over the mechanisms' probabilities, averaged over %d of the draws.", draws, seed, rated)
	}
	return &Figure{
		Title:    fmt.Sprintf("Scores and sensitivities, and mechanisms' errors: scenarios %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")),
		Subtitle: fmt.Sprintf("Above: each candidate's mean score and its sensitivity%s. Below: mean squared difference to the best score. %s After %s%s.", map[bool]string{true: ", as a bar up and down"}[numbers[0] < 7], how, hetSource, map[int]string{1: "1", 4: "5", 7: "7"}[numbers[0]]),
		Panels:   [][]*Panel{top, bottom}, Height: 190,
	}
}

// candidatesOf draws each candidate's mean score with its sensitivity, for each group of trials apart where there are two.
func candidatesOf(t *scenario.Trials, number int) *Panel {
	p := &Panel{Title: fmt.Sprintf("Scenario %d", number), X: Axis{Name: "candidate", Label: "candidate"}, Y: Axis{Name: "score", Label: "score"}}
	if number < 7 {
		s := candidateMeans(scoreSeries, Points, t.Scores)
		for c, d := range t.Sensitivities {
			s.Lower, s.Upper = append(s.Lower, s.Y[c]-d), append(s.Upper, s.Y[c]+d)
		}
		p.Series = []*Series{s}
		return p
	}
	half := len(t.Scores) / 2
	sensitivity := &Series{Name: "sensitivity", Kind: Curve}
	for c, d := range t.Sensitivities {
		sensitivity.add(float64(c), d)
	}
	p.Series = []*Series{candidateMeans("score in group 0", Reference, t.Scores[:half]), candidateMeans("score in group 1", Reference, t.Scores[half:]), sensitivity}
	p.Y.Label = "score, sensitivity"
	return p
}

// scoreSeries has a look of its own.
const scoreSeries = "score ± sensitivity"

// candidateMeans is each candidate's mean score.
func candidateMeans(name string, kind Kind, scores [][]float64) *Series {
	s := &Series{Name: name, Kind: kind}
	for c := range scores[0] {
		mean := 0.0
		for _, q := range scores {
			mean += q[c] / float64(len(scores))
		}
		s.add(float64(c), mean)
	}
	return s
}

// drawGains draws maps of HG(rnm, other) over the sensitivities of two candidates: a panel for each γ, or for each ε and gap.
func drawGains(ctx context.Context, a *Args, number, other string) *Figure {
	epsilons, gaps := a.Floats("eps", positive, wantPositives), a.Floats("gap", positive, wantPositives)
	from, to := a.Range("delta-range", true)
	points := a.Int("points", 2, 200)
	params, gammas := []mechanisms.Params{{}}, []string{""}
	if other == "rs" {
		params, gammas = a.gammas()
	}
	for _, name := range []string{"eps", "gap", "gamma"} {
		single := number == "2" || number == "10" && name != "gamma" || name == "gamma" && number == "12"
		if single && strings.ContainsAny(a.values[name], ",:") {
			a.fail(name, "give one number")
		}
	}
	rnm := must(mechanisms.Lookup("rnm-exponential"))
	m := must(mechanisms.Lookup(other))
	deltas := evenly(from, to, points)
	f := &Figure{Scale: &Scale{Name: "gain", Label: "Pr[rnm errs] − Pr[" + other + " errs]", Diverging: true}}
	done := 0
	var all []*Panel
	most := 0.0
	for g := range params {
		for _, eps := range epsilons {
			for _, gap := range gaps {
				p := &Panel{X: Axis{Name: "delta1", Label: "Δ₁"}, Y: Axis{Name: "delta2", Label: "Δ₂"}, Cells: &Cells{X: deltas, Y: deltas}}
				switch number {
				case "10":
					p.Title = "γ = " + gammas[g]
				case "11", "12":
					p.Title = fmt.Sprintf("ε = %s, gap %s", digits(eps), digits(gap))
				}
				for _, d1 := range deltas {
					ensure(context.Cause(ctx))
					column := make([]float64, len(deltas))
					for j, d2 := range deltas {
						column[j] = must(scenario.Gain(rnm.(mechanisms.FloatScorer), m.(mechanisms.FloatScorer), d1, d2, gap, eps, params[g]))
						most = max(most, math.Abs(column[j]))
					}
					p.Cells.Z = append(p.Cells.Z, column)
					done++
					a.step(done, len(params)*len(epsilons)*len(gaps)*len(deltas))
				}
				all = append(all, p)
			}
		}
	}
	f.Scale.Min, f.Scale.Max = -most, most
	columns := map[string]int{"2": 1, "10": 2, "11": len(gaps), "12": len(gaps)}[number]
	for row := range slices.Chunk(all, columns) {
		f.Panels = append(f.Panels, row)
	}
	f.trimLabels()
	f.Height = map[int]float64{1: 300, 2: 190}[columns]
	if f.Height == 0 {
		f.Height = 420 / float64(columns)
	}
	fixed := ""
	if number == "2" || number == "10" {
		fixed = fmt.Sprintf("scores 0 and %s, ε = %s; ", digits(gaps[0]), digits(epsilons[0]))
	}
	if other == "rs" && number != "10" {
		fixed += "γ = " + gammas[0] + "; "
	}
	f.Title = map[string]string{"rs": "Two candidates: random stopping against report noisy max", "rnmh": "Two candidates: noise by each one's sensitivity against report noisy max"}[other]
	f.Subtitle = fmt.Sprintf("How much more often %s takes the better one, of sensitivity Δ₂, than rnm does, from the mechanisms' probabilities; %sblue where rnm is better. After %s%s, whose range of sensitivities is open.", other, fixed, hetSource, number)
	return f
}

// trimLabels leaves labels of axes at the left and at the bottom alone.
func (f *Figure) trimLabels() {
	for i, row := range f.Panels {
		for j, p := range row {
			if i < len(f.Panels)-1 {
				p.X.Label = ""
			}
			if j > 0 {
				p.Y.Label = ""
			}
		}
	}
}

func drawShares(ctx context.Context, a *Args) *Figure {
	eps := a.Float("eps", positive, wantPositive)
	list, shares := a.floatMechanisms(), a.Ints("share", 1, scenario.Candidates-1)
	params, _ := a.gammas()
	var row []*Panel
	for number := 1; number <= 3; number++ {
		s := must(scenario.Find(number))
		p := &Panel{
			Title: fmt.Sprintf("Scenario %d", number),
			X:     Axis{Name: "high", Label: "high scores of 100"}, Y: Axis{Name: "mse", Label: "mean squared error"},
		}
		if number > 1 {
			p.Y.Label = ""
		}
		for i, m := range list {
			curve := &Series{Name: short(m), Kind: lineOf(m, Curve)}
			for j, high := range shares {
				a.step(((number-1)*len(list)+i)*len(shares)+j, 3*len(list)*len(shares))
				split := must(s.WithHigh(high))
				t := must(split.Generate(1, 1))
				e := must(t.Errors(ctx, m, eps, params[0]))
				curve.add(float64(high), e.MSE)
			}
			p.Series = append(p.Series, curve)
		}
		row = append(row, p)
	}
	return &Figure{
		Title:    "Errors over the share of high scores",
		Subtitle: fmt.Sprintf("Scores 1 and -1, sensitivities 1.8 and 1: scenario 1 gives the larger ones to high scores, 2 to low scores, 3 to every other candidate. ε = %s; errors over the mechanisms' probabilities. After %s13.", digits(eps), hetSource),
		Panels:   [][]*Panel{row},
	}
}

// Quantiles of the standard normal law: of 3/4 and of 95/100.
const (
	z75 = 0.6744897501960817
	z95 = 1.6448536269514722
)

func drawGroups(a *Args, number int) *Figure {
	sigma := a.Float("sigma", positive, wantPositive)
	t := a.Float("t", moderate, wantModerate)
	var row []*Panel
	for group, sign := range []float64{1, -1} {
		p := &Panel{Title: fmt.Sprintf("Group %d", group), X: Axis{Name: "candidate", Label: "candidate"}, Y: Axis{Name: "score", Label: "score", Min: -8 - 2*sigma + min(t, 0), Max: 8 + 2*sigma + max(t, 0)}}
		quartiles := &Series{Name: "median and quartiles", Kind: Area}
		low, high := &Series{Name: "5 and 95 % of the group", Kind: Curve}, &Series{Name: "5 and 95 % of the group", Kind: Curve}
		less, more := &Series{Name: "5 and 95 % of all users", Kind: Reference}, &Series{Name: "5 and 95 % of all users", Kind: Reference}
		for c := range scenario.Candidates {
			x, base := float64(c), -8+8*float64(c)/scenario.Candidates
			mean := sign*base + t
			quartiles.add(x, mean)
			quartiles.Lower, quartiles.Upper = append(quartiles.Lower, mean-z75*sigma), append(quartiles.Upper, mean+z75*sigma)
			low.add(x, mean-z95*sigma)
			high.add(x, mean+z95*sigma)
			less.add(x, t+mixtureQuantile(0.05, base, sigma))
			more.add(x, t+mixtureQuantile(0.95, base, sigma))
		}
		if group > 0 {
			p.Y.Label = ""
		}
		p.Series = []*Series{quartiles, low, high, less, more}
		row = append(row, p)
	}
	return &Figure{
		Title:    "Scores by candidate and group: " + map[int]string{14: "strong", 15: "weak"}[number] + " polarisation",
		Subtitle: fmt.Sprintf("Scores are -8 + 8a/100 in group 0, its negative in group 1, plus normal noise of mean %s and standard deviation %s. Quantiles of these laws, not of a sample. After %s%d.", digits(t), digits(sigma), hetSource, number),
		Panels:   [][]*Panel{row},
	}
}

// mixtureQuantile returns the quantile of an even mixture of two normal laws with means base and -base, by bisection.
func mixtureQuantile(p, base, sigma float64) float64 {
	cdf := func(x float64) float64 {
		return (math.Erfc((base-x)/(sigma*math.Sqrt2)) + math.Erfc((-base-x)/(sigma*math.Sqrt2))) / 4
	}
	low, high := -math.Abs(base)-40*sigma, math.Abs(base)+40*sigma
	for range 200 {
		if mid := (low + high) / 2; cdf(mid) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// laplaceMaximum returns the density at x of the largest of independent Laplace variables with the given scales: Π F_b · Σ f_a/F_a.
func laplaceMaximum(x float64, scales []float64) float64 {
	product, sum := 1.0, 0.0
	for _, b := range scales {
		tail := math.Exp(-math.Abs(x)/b) / 2
		below := 1 - tail
		if x < 0 {
			below = tail
		}
		product *= below
		sum += tail / b / below
	}
	return product * sum
}

func drawLargestLaplace(_ context.Context, a *Args) *Figure {
	n, points := a.Int("n", 2, 10_000), a.Int("points", 2, 20_000)
	from, to := a.Range("x-range", false)
	const small, large = 0.5, 10
	p := &Panel{X: Axis{Name: "x", Label: "x"}, Y: Axis{Name: "density", Label: "density of the largest variable", Log: true, Min: 1e-4, Max: 2}}
	one := slices.Repeat([]float64{small}, n)
	one[0] = large
	for _, c := range []struct {
		name   string
		scales []float64
	}{
		{"all scales 0.5", slices.Repeat([]float64{small}, n)}, {"one scale 10, others 0.5", one}, {"scales from 0.5 to 10", evenly(small, large, n)}, {"all scales 10", slices.Repeat([]float64{large}, n)},
	} {
		p.Series = append(p.Series, sample(c.name, Curve, evenly(from, to, points), func(x float64) float64 { return laplaceMaximum(x, c.scales) }))
	}
	return &Figure{
		Title:    "The largest of independent Laplace variables",
		Subtitle: fmt.Sprintf("Exact density for %d variables, on a logarithmic scale. After %s17, which has an estimate, and does not say how many variables.", n, hetSource),
		Panels:   single(p),
	}
}
