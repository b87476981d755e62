package figures

import (
	"context"
	"fmt"
	"slices"

	"optratio/mechanisms"
	"optratio/research/bandit"
	"optratio/research/scenario"
)

var trialSpecs = []Spec{
	{
		Name: "het-6", Shows: "scenarios of increasing correlation: scores and sensitivities, and mean squared errors over ε", Source: hetSource + "6",
		Open: "the sensitivities, which are not defined: here 0.1 at least, and linear in the part of the scores that stays; what is drawn anew in each trial",
		Params: []Param{
			{"slopes", "-5,-0.8,-0.3,0,0.3,0.8,5", "t of the source: scores are (t·x + z)/5; two panels for each"}, {"eps", "0.1,0.5,1,2,4,8,16", "values of ε"},
			{"mechanism", "rnm-exponential,gem,mgem,rs", "mechanisms, by name"}, gammaParam, drawsParam, {"trials", "5", trials.Usage}, seedParam,
		},
		Fast: map[string]string{"slopes": "-5,5", "mechanism": "rnm-exponential,gem", "eps": "1,4", "draws": "20", "trials": "2"},
		draw: drawCorrelations,
	},
	{
		Name: "het-9", Shows: "the bandit whose arms change: rewards of policies, and what one of them knows", Source: hetSource + "9",
		Open: "the number of runs, clipping, the grid of the quantiles, the prior of Thompson sampling: as in `research bandit`; the step of the change, 30000 in the caption, 500 in the text",
		Params: []Param{
			{"horizon", "50000", "number of steps"}, {"shift", "30000", "steps after which the arms change; 30000 in the source's caption, 500 in its text"},
			{"mechanism", "ucb,thompson,krr,rnm-exponential,rs,gem,mgem", "policies: ucb, thompson and mechanisms, by name"},
			{"policy", "mgem", "the policy whose estimates and quantiles are shown"}, {"runs", "10", "runs that rewards are averaged over"}, seedParam, {"points", "100", pointsParam.Usage},
		},
		Fast: map[string]string{"horizon": "600", "shift": "300", "mechanism": "ucb,mgem", "runs": "2", "points": "5"},
		draw: drawBandit,
	},
}

// perRow is how many slopes stand side by side.
const perRow = 4

func drawCorrelations(ctx context.Context, a *Args) *Figure {
	slopes := a.Floats("slopes", moderate, wantModerate)
	epsilons, list := a.Floats("eps", positive, wantPositives), a.floatMechanisms()
	draws, rated, seed := a.Int("draws", 2, 100_000), a.Int("trials", 1, 10_000), a.Seed()
	params, _ := a.gammas()
	rated = min(rated, draws)
	f := &Figure{
		Title: "Scores and sensitivities of increasing correlation",
		Subtitle: fmt.Sprintf("Above: candidates; below: mean squared error, averaged over %d of %d draws (seed %d). The source does not define the sensitivities: here they are 0.1 at least and linear in the part of the scores that does not change from draw to draw. After %s6.",
			rated, draws, seed, hetSource),
		Height: 140,
	}
	done := 0
	for chunk := range slices.Chunk(slopes, perRow) {
		var top, bottom []*Panel
		for _, slope := range chunk {
			t := must(scenario.Correlated(slope).Generate(seed, draws))
			cloud := candidateMeans("candidates", Points, t.Scores)
			cloud.X = t.Sensitivities
			top = append(top, &Panel{Title: "t = " + digits(slope), X: Axis{Name: "sensitivity", Label: "sensitivity"}, Y: Axis{Name: "score", Label: "mean score"}, Series: []*Series{cloud}})
			p := &Panel{X: Axis{Name: "eps", Label: "ε", Log: true}, Y: Axis{Name: "mse", Label: "MSE"}}
			few := t.Few(rated)
			for _, m := range list {
				curve := &Series{Name: short(m), Kind: lineOf(m, Marked)}
				for _, eps := range epsilons {
					e := must(few.Errors(ctx, m, eps, params[0]))
					curve.add(eps, e.MSE)
					done++
					a.step(done, len(slopes)*len(list)*len(epsilons))
				}
				p.Series = append(p.Series, curve)
			}
			bottom = append(bottom, p)
		}
		f.Panels = append(f.Panels, top, bottom)
	}
	for _, row := range f.Panels {
		for _, p := range row[1:] {
			p.Y.Label = ""
		}
	}
	return f
}

func drawBandit(ctx context.Context, a *Args) *Figure {
	c := bandit.Default()
	c.Horizon = a.Int("horizon", 10, 1_000_000)
	c.Shift, c.Runs, c.Points = a.Int("shift", 0, c.Horizon), a.Int("runs", 1, 1000), a.Int("points", 2, 1000)
	c.Seed, c.Policies = a.Seed(), slices.Collect(a.texts("mechanism"))
	which := slices.Index(c.Policies, a.Text("policy"))
	if which < 0 || a.Text("policy") == bandit.UCB || a.Text("policy") == bandit.Thompson {
		a.fail("policy", "give one of the mechanisms of --mechanism")
	}
	result := must(bandit.Run(ctx, c, a.step))
	times := asFloats(result.Times)
	rewards := &Panel{Title: "Cumulative reward", X: Axis{Name: "step", Label: "step"}, Y: Axis{Name: "reward", Label: "reward"}}
	for i, o := range result.Outcomes {
		s := &Series{Name: c.Policies[i], Kind: Curve}
		if m, err := mechanisms.Lookup(s.Name); err == nil {
			s.Name = short(m)
		}
		for t, r := range o.Reward {
			s.add(times[t], r.Value)
			s.Lower, s.Upper = append(s.Lower, r.Value-2*r.StdErr), append(s.Upper, r.Value+2*r.StdErr)
		}
		rewards.Series = append(rewards.Series, s)
	}
	states := result.Outcomes[which].Runs[0].States
	means := &Panel{Title: "Means known to " + a.Text("policy"), X: rewards.X, Y: Axis{Name: "mean", Label: "estimated mean reward"}}
	bottom := []*Panel{}
	for arm := range c.Before {
		estimates := &Series{Name: fmt.Sprintf("arm %d", arm), Kind: Reference}
		low, high := &Series{Name: "private first and last decile", Kind: Points}, &Series{Name: "private first and last decile", Kind: Points}
		less, more := &Series{Name: "deciles of the rewards", Kind: Reference}, &Series{Name: "deciles of the rewards", Kind: Reference}
		for t, s := range states {
			estimates.add(times[t], s.Means[arm])
			law := c.Before[arm]
			if result.Times[t] > c.Shift {
				law = c.After[arm]
			}
			const z90 = 1.2815515655446004 // of the standard normal law
			less.add(times[t], min(max(law.Mean-z90*law.Spread, c.Low), c.High))
			more.add(times[t], min(max(law.Mean+z90*law.Spread, c.Low), c.High))
			if s.Low != nil {
				low.add(times[t], s.Low[arm])
				high.add(times[t], s.High[arm])
			}
		}
		means.Series = append(means.Series, estimates)
		bottom = append(bottom, &Panel{
			Title: fmt.Sprintf("Deciles of arm %d", arm), X: rewards.X, Y: Axis{Name: "reward", Label: "reward of a step", Min: c.Low - 0.05, Max: c.High + 0.05},
			Series: []*Series{low, high, less, more},
		})
	}
	return &Figure{
		Title: "A bandit whose arms change: private selection among policies",
		Subtitle: fmt.Sprintf("Simulation: rewards are means of %d runs (seed %d), the rest is the first run; arms change after %d of %d steps. What the source leaves open is as in research bandit. After %s9.",
			c.Runs, c.Seed, c.Shift, c.Horizon, hetSource),
		Panels: [][]*Panel{{rewards, means}, bottom}, Height: 200,
	}
}
