package figures

import (
	"context"
	"fmt"
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
	fastRun    = map[string]string{"mechanism": "rnm-exponential,gem", "eps": "1,4", "draws": "50", "trials": "2"}
)

var hetSpecs = []Spec{
	{"het-1", "scenarios 1 to 3: scores and sensitivities, and mean squared errors over ε", hetSource + "1", "the values of ε",
		[]Param{hetEps, hetNames, gammaParam}, map[string]string{"mechanism": "rnm-exponential,gem", "eps": "1,4"}, scenarios("1", 1, 2, 3)},
	{"het-2", "how much more often random stopping takes the better of two candidates than report noisy max", hetSource + "2", "the range of sensitivities; how many trials its estimates have",
		[]Param{{"eps", "0.1", epsOne.Usage}, {"gap", "1", "difference of the two scores"}, {"gamma", "0.01", gammaParam.Usage}, {"delta-range", "0.1:4.1", "ends of the axes of both sensitivities"}, {"points", "41", pointsParam.Usage}},
		map[string]string{"points": "3"}, drawGains},
	{"het-5", "scenarios 4 to 6: scores and sensitivities, and mean squared errors over ε", hetSource + "5",
		"the number of draws, the seed, whether second parameters are σ or σ², the values of ε", []Param{hetEps, hetNames, gammaParam, drawsParam, trials, seedParam}, fastRun, scenarios("5", 4, 5, 6)},
	{"het-7", "scenarios 7 and 8: scores and sensitivities by group, and mean squared errors of the adaptive choice over ε", hetSource + "7", "the mean of the noise (0 here), the values of ε",
		[]Param{hetEps, {"mechanism", "rnm-exponential,gem,mgem,combined-gem", hetNames.Usage}, gammaParam, {"draws", "5000", drawsParam.Usage}, {"trials", "40", trials.Usage}, seedParam}, fastRun, scenarios("7", 7, 8)},
	{"het-13", "mean squared errors over the share of high scores, scenarios 1 to 3", hetSource + "13", "the grid of shares",
		[]Param{{"eps", "2", epsOne.Usage}, hetNames, gammaParam, {"share", "1,3:97:2,99", "numbers of high scores among the 100"}}, map[string]string{"mechanism": "rnm-exponential,gem", "share": "10,50"}, drawShares},
}

// gamma returns γ as a parameter of mechanisms.
func (a *Args) gamma() mechanisms.Params {
	x := a.Float("gamma", smallest, 1)
	return mechanisms.Params{Gamma: new(big.Rat).SetFloat64(x)}
}

// short is the source's name of a mechanism in legends.
func short(m mechanisms.Mechanism) string {
	return strings.Replace(m.Info().Name, "rnm-exponential", "rnm", 1)
}

// scenarios draws scores and sensitivities above, and mean squared errors below.
func scenarios(number string, which ...int) func(context.Context, *Args) *Figure {
	return func(ctx context.Context, a *Args) *Figure {
		epsilons, list := a.Floats("eps", smallest, greatest), a.mechanismNames("mechanism")
		gamma := a.gamma()
		draws, rated, seed := 1, 1, 1
		how := "Errors are means over the mechanisms' probabilities."
		if _, random := a.values["draws"]; random {
			draws, seed = a.Int("draws", 2, 100_000), a.Int("seed", 0, 1<<53)
			rated = min(a.Int("trials", 1, 10_000), draws)
			how = fmt.Sprintf("Sensitivities: ranges from the first to the last decile of %d draws (seed %d), to which scores are clipped. Errors: over the mechanisms' probabilities, averaged over %d of the draws.", draws, seed, rated)
		}
		a.steps(len(which) * len(list) * len(epsilons))
		f := &Figure{
			Title:    "Scores and sensitivities, and mechanisms' errors: scenarios " + strings.Trim(strings.ReplaceAll(fmt.Sprint(which), " ", ", "), "[]"),
			Subtitle: fmt.Sprintf("Above: each candidate's mean score and its sensitivity%s. Below: mean squared difference to the best score. %s After %s%s.", map[bool]string{true: ", as a bar up and down"}[which[0] < 7], how, hetSource, number),
			Panels:   make([][]*Panel, 2), Height: 190,
		}
		for _, number := range which {
			t := scenario.Scenarios[number-1].Generate(uint64(seed), draws)
			p := &Panel{X: Axis{Name: "eps", Label: "ε", Log: true}, Y: Axis{Name: "mse", Label: "mean squared error"}}
			for _, m := range list {
				p.Series = append(p.Series, sample(short(m), Marked, epsilons, func(eps float64) float64 {
					a.step()
					return must(t.Few(rated).Rate(ctx, m, eps, gamma)).MSE.Value
				}))
			}
			f.Panels[0], f.Panels[1] = append(f.Panels[0], candidatesOf(t, number)), append(f.Panels[1], p)
		}
		return f
	}
}

// candidatesOf draws each candidate's mean score with its sensitivity, for each group of trials apart where there are two.
func candidatesOf(t *scenario.Trials, number int) *Panel {
	means := func(name string, kind Kind, scores [][]float64) *Series {
		return sample(name, kind, evenly(0, scenario.Candidates-1, scenario.Candidates), func(c float64) (mean float64) {
			for _, q := range scores {
				mean += q[int(c)] / float64(len(scores))
			}
			return mean
		})
	}
	p := &Panel{Title: fmt.Sprintf("Scenario %d", number), X: Axis{Name: "candidate", Label: "candidate"}, Y: Axis{Name: "score", Label: "score"}}
	if number < 7 {
		s := means("score ± sensitivity", Points, t.Scores)
		for c, d := range t.Sensitivities {
			s.Lower, s.Upper = append(s.Lower, s.Y[c]-d), append(s.Upper, s.Y[c]+d)
		}
		p.Series = []*Series{s}
		return p
	}
	half := len(t.Scores) / 2
	p.Y.Label = "score, sensitivity"
	p.Series = []*Series{means("score in group 0", Curve, t.Scores[:half]), means("score in group 1", Curve, t.Scores[half:]), means("sensitivity", Curve, [][]float64{t.Sensitivities})}
	return p
}

// drawGains draws HG(rnm, rs) over the sensitivities of two candidates.
func drawGains(ctx context.Context, a *Args) *Figure {
	eps, gap, params := a.Float("eps", smallest, greatest), a.Float("gap", smallest, greatest), a.gamma()
	from, to := a.Range("delta-range", smallest, greatest)
	deltas := evenly(from, to, a.Int("points", 2, 200))
	rnm, rs := must(mechanisms.Lookup("rnm-exponential")), must(mechanisms.Lookup("rs"))
	cells := &Cells{X: deltas, Y: deltas}
	most := 0.0
	a.steps(len(deltas))
	for _, d1 := range deltas {
		ensure(context.Cause(ctx))
		column := sample("", Curve, deltas, func(d2 float64) float64 { return must(scenario.Gain(rnm, rs, d1, d2, gap, eps, params)) }).Y
		most = max(most, slices.Max(column), -slices.Min(column))
		cells.Z = append(cells.Z, column)
		a.step()
	}
	return &Figure{
		Title:    "Two candidates: random stopping against report noisy max",
		Subtitle: fmt.Sprintf("How much more often rs takes the better one, of sensitivity Δ₂, than rnm does, from the mechanisms' probabilities; scores 0 and %s, ε = %s; γ = %s; blue where rnm is better. After %s2, whose range of sensitivities is open.", digits(gap), digits(eps), a.Text("gamma"), hetSource),
		Scale:    &Scale{Name: "gain", Label: "Pr[rnm errs] − Pr[rs errs]", Diverging: true, Min: -most, Max: most},
		Panels:   [][]*Panel{{{X: Axis{Name: "delta1", Label: "Δ₁"}, Y: Axis{Name: "delta2", Label: "Δ₂"}, Cells: cells}}},
	}
}

func drawShares(ctx context.Context, a *Args) *Figure {
	eps := a.Float("eps", smallest, greatest)
	list, shares := a.mechanismNames("mechanism"), asFloats(a.Ints("share", 1, scenario.Candidates-1))
	params := a.gamma()
	var row []*Panel
	a.steps(3 * len(list) * len(shares))
	for number := 1; number <= 3; number++ {
		p := &Panel{Title: fmt.Sprintf("Scenario %d", number), X: Axis{Name: "high", Label: "high scores of 100"}, Y: Axis{Name: "mse", Label: "mean squared error"}}
		for _, m := range list {
			p.Series = append(p.Series, sample(short(m), Curve, shares, func(high float64) float64 {
				a.step()
				t := scenario.Scenarios[number-1].WithHigh(int(high)).Generate(1, 1)
				return must(t.Rate(ctx, m, eps, params)).MSE.Value
			}))
		}
		row = append(row, p)
	}
	return &Figure{
		Title:    "Errors over the share of high scores",
		Subtitle: fmt.Sprintf("Scores 1 and -1, sensitivities 1.8 and 1: scenario 1 gives the larger ones to high scores, 2 to low scores, 3 to every other candidate. ε = %s; errors over the mechanisms' probabilities. After %s13.", digits(eps), hetSource),
		Panels:   [][]*Panel{row},
	}
}
