package claims

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/bandit"
	"optratio/internal/scenario"
	"optratio/mechanisms"
	"optratio/number/interval"
)

func init() {
	entries = append(entries,
		Entry{
			Source: Het, Item: "VI-a, design",
			Statement: "100 candidates, γ = β = 0.05; sensitivities are distances of the 10th and 90th percentiles of N draws, scores are clipped to these, errors are means over the N trials",
			Check:     notCheckable("a design; N and the seeds are not given, so the source's own draws cannot be had again"),
		},
		Entry{
			Source: Het, Item: "VI-b, scenario 1",
			Statement: "In scenario 1 RS and mGEM perform best, then report noisy max, then GEM",
			Note:      "Above ε = 4 it changes: see the next entry.",
			Check:     scenarioOrder(1, [][]string{{"rs", "mgem"}, {"rnm-exponential"}, {"gem"}}, "0.01", "0.1", "0.5", "1", "2", "4"),
		},
		Entry{
			Source: Het, Item: "VI-b, scenario 1, large ε",
			Statement: "The same at larger ε (section VIII names 16 as the largest ε used)",
			Note:      "RS stops after 20 draws on average and may never draw one of the better half: its error has a floor. At ε = 12 report noisy max beats mGEM as well.",
			Check: inOneReading("the sentence on scenario 1 has no range of ε; for every ε up to 16 it is false",
				scenarioOrder(1, [][]string{{"rs", "mgem"}, {"rnm-exponential"}, {"gem"}}, "0.01", "1", "4", "6", "8", "12", "16")),
		},
		Entry{
			Source: Het, Item: "VI-b, scenario 2",
			Statement: "In scenario 2 the order is flipped: GEM, then report noisy max, then RS and mGEM",
			Note:      "At ε = 12 report noisy max beats GEM.",
			Check:     scenarioOrder(2, [][]string{{"gem"}, {"rnm-exponential"}, {"rs", "mgem"}}, "0.01", "0.1", "0.5", "1", "2", "4", "8"),
		},
		Entry{
			Source: Het, Item: "VI-b, deviation",
			Statement: "In scenarios 1 and 2 the deviation between RS, mGEM, report noisy max and GEM is largest for small ε",
			Check:     deviationFalls,
		},
		Entry{
			Source: Het, Item: "VI-b, small ε",
			Statement: "In scenarios 1 and 2, for small ε, the wrong heterogeneous mechanism takes candidates of the lower group most of the time and performs worse than random selection",
			Check:     wrongChoice("0.01", "0.5", "1"),
		},
		Entry{
			Source: Het, Item: "VI-b, scenario 3",
			Statement: "In scenario 3 RS, GEM and mGEM all perform (slightly) worse than report noisy max, and GEM outperforms RS and mGEM",
			Check:     scenarioOrder(3, [][]string{{"rnm-exponential"}, {"gem"}, {"rs", "mgem"}}, allEpsilons...),
		},
		Entry{
			Source: Het, Item: "VI-c, scenario 4",
			Statement: "In scenario 4, of positive correlation, mGEM and RS perform well and GEM does not",
			Note:      "Read as: better and worse than report noisy max. The second parameter of the normal law is read as σ².",
			Check:     drawnOrder(4, []string{"mgem", "rs"}, []string{"gem"}),
		},
		Entry{
			Source: Het, Item: "VI-c, scenario 5",
			Statement: "In scenario 5, of negative correlation, GEM performs well and mGEM and RS do not",
			Note:      "Read as: better and worse than report noisy max. The second parameter of the normal law is read as σ.",
			Check:     drawnOrder(5, []string{"gem"}, []string{"mgem", "rs"}),
		},
		Entry{
			Source: Het, Item: "VI-c, scenario 6",
			Statement: "In scenario 6, without correlation, GEM performs well and mGEM and RS do not",
			Check:     scenarioSix,
		},
		Entry{
			Source: Het, Item: "VI-d, figure 6",
			Statement: "The gain of the best heterogeneous mechanism over report noisy max grows with the strength of the correlation, t = -5, …, 5",
			Check:     notCheckable("the sensitivities of these scenarios are not defined, nor what is drawn anew in each trial; optratio scenario has a family of that kind with both stated"),
		},
		Entry{
			Source: Het, Item: "VII, Algorithm 2",
			Statement: "Combined GEM, randomised response with ε_c for the sign of the correlation, then mGEM or GEM with ε_g, is (ε_c + ε_g)-DP",
			Note:      "Composition: the two steps are ε_c- and ε_g-DP whatever the correlation does between neighbours.",
			Check:     combinedIsPrivate,
		},
		Entry{
			Source: Het, Item: "VII, scenario 7",
			Statement: "In scenario 7, half of strong positive and half of strong negative correlation, choosing the mechanism by the correlation (ε_c = 0.6 ε) can improve much on GEM, mGEM and report noisy max",
			Note:      "For ε >= 1; for ε <= 0.5 report noisy max is better, and in scenarios 1 to 3 at every ε. The mean of the noise, left open, is 0 here.",
			Check:     adaptiveWins("1", "2", "5"),
		},
		Entry{
			Source: Het, Item: "VII, scenario 8",
			Statement: "As correlations get weaker, from scenario 7 to scenario 8, spending ε on the choice gains less",
			Note:      "The source says \"may be less productive\". At ε = 1 both gains are small, and which is larger depends on the draw.",
			Check:     adaptiveGainsLess,
		},
		Entry{
			Source: Het, Item: "VIII, figures 8 and 16",
			Statement: "On three data sets of recommendations correlations are mostly positive, mGEM is the best private mechanism for small ε, and GEM is worse than report noisy max, at small ε even than random selection",
			Check:     notCheckable("needs the SANSA model trained on Netflix, MovieLens 20M and Amazon Books data, none of which is at hand"),
		},
		Entry{
			Source: Het, Item: "IX, UCB after the shift",
			Statement: "After the shift of distributions UCB keeps picking the arm that was the better one, for all remaining steps",
			Check:     banditStays,
		},
		Entry{
			Source: Het, Item: "IX, mGEM in the bandit",
			Statement: "All private variants beat UCB after the shift, mGEM beats all others, and scores and sensitivities correlate positively before and after",
			Check:     notCheckable("the number of runs, the candidates of the private quantiles, the clipping of rewards and α are not given, and the shift is at step 500 in the text and 30000 in the caption"),
		},
	)
}

// scenarioOrder checks at each ε that every mechanism of a group has a smaller mean squared error than every one of the next.
func scenarioOrder(number int, groups [][]string, grid ...string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for _, eps := range grid {
			if ctx.Err() != nil {
				return Finding{}, ctx.Err()
			}
			errs, err := mses(number, eps, slices.Concat(groups...)...)
			if err != nil {
				return Finding{}, err
			}
			for i, group := range groups[1:] {
				for _, worse := range group {
					for _, better := range groups[i] {
						t.expect(below(errs[better], errs[worse]), "ε = %s: %s %.4g, %s %.4g", eps, better, errs[better].Near(), worse, errs[worse].Near())
					}
				}
			}
		}
		return t.finding(fmt.Sprintf("scenario %d, ε = %s, mean squared errors, enclosed", number, strings.Join(grid, ", ")), "")
	}
}

func deviationFalls(context.Context) (Finding, error) {
	var t tally
	names := []string{"rs", "mgem", "rnm-exponential", "gem"}
	for number := 1; number <= 2; number++ {
		var last interval.Interval
		for i, eps := range allEpsilons {
			errs, err := mses(number, eps, names...)
			if err != nil {
				return Finding{}, err
			}
			least, most := errs[names[0]], errs[names[0]]
			for _, name := range names {
				least, most = least.Min(errs[name]), most.Max(errs[name])
			}
			spread := most.Sub(least)
			if i > 0 {
				t.expect(below(spread, last), "scenario %d: %.5g at ε = %s, %.5g at the ε before", number, spread.Near(), eps, last.Near())
			}
			last = spread
		}
	}
	return t.finding("largest less smallest mean squared error, ε = "+strings.Join(allEpsilons, ", ")+", enclosed", "it falls from each ε to the next")
}

// wrongChoice checks gem in scenario 1, mgem and rs in scenario 2.
func wrongChoice(grid ...string) func(context.Context) (Finding, error) {
	return func(context.Context) (Finding, error) {
		var t tally
		for _, eps := range grid {
			for _, wrong := range []struct {
				name   string
				number int
			}{{"gem", 1}, {"mgem", 2}, {"rs", 2}} {
				name, number := wrong.name, wrong.number
				errs, err := mses(number, eps, name, "uniform")
				if err != nil {
					return Finding{}, err
				}
				// the error is 4 in the lower group: above 2 it is taken more often than not
				t.expect(below(errs["uniform"], errs[name]) && below(interval.FromInt(2, enclosedBits), errs[name]), "%s in scenario %d, ε = %s: %.4g", name, number, eps, errs[name].Near())
			}
		}
		return t.finding("GEM in scenario 1, mGEM and RS in scenario 2, ε = "+strings.Join(grid, ", ")+", mean squared errors, enclosed", "")
	}
}

// Trials of scenarios 4 to 8: sensitivities from 400 draws, errors from 16 of them.
const drawnDomain = "100 candidates, sensitivities from 400 draws, mean squared errors over 16 of them, seeds 1, 2, 3, float64 (estimates)"

// squares returns the mean squared errors of mechanisms on drawn trials.
func squares(ctx context.Context, number int, seed uint64, eps string, names ...string) (map[string]float64, error) {
	s, err := scenario.Find(number)
	if err != nil {
		return nil, err
	}
	trials, err := s.Generate(seed, 400)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, name := range names {
		e, err := trials.Few(16).Errors(ctx, named(name).(mechanisms.FloatScorer), epsilonOf(eps).Float(), mechanisms.Params{})
		if err != nil {
			return nil, err
		}
		out[name] = e.MSE
	}
	return out, nil
}

// eachDraw calls f with the mean squared errors for three seeds and each ε.
func eachDraw(ctx context.Context, number int, grid, names []string, f func(at string, errs map[string]float64)) error {
	for seed := uint64(1); seed <= 3; seed++ {
		for _, eps := range grid {
			errs, err := squares(ctx, number, seed, eps, names...)
			if err != nil {
				return err
			}
			f(fmt.Sprintf("seed %d, ε = %s", seed, eps), errs)
		}
	}
	return nil
}

func drawnOrder(number int, good, bad []string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		grid := []string{"0.1", "0.5", "1", "2", "4"}
		err := eachDraw(ctx, number, grid, slices.Concat([]string{"rnm-exponential"}, good, bad), func(at string, errs map[string]float64) {
			for _, name := range good {
				t.expect(errs[name] < errs["rnm-exponential"]*(1-1e-6), "%s: %s %.4g, RNM %.4g", at, name, errs[name], errs["rnm-exponential"])
			}
			for _, name := range bad {
				t.expect(errs[name]*(1-1e-6) > errs["rnm-exponential"], "%s: %s %.4g, RNM %.4g", at, name, errs[name], errs["rnm-exponential"])
			}
		})
		if err != nil {
			return Finding{}, err
		}
		return t.finding("ε = "+strings.Join(grid, ", ")+"; "+drawnDomain, "")
	}
}

func scenarioSix(ctx context.Context) (Finding, error) {
	counts := map[string]int{}
	total := 0
	grid := []string{"0.1", "0.5", "1", "2", "4"}
	err := eachDraw(ctx, 6, grid, []string{"uniform", "rnm-exponential", "gem", "mgem", "rs"}, func(_ string, errs map[string]float64) {
		total++
		for _, name := range []string{"gem", "mgem", "rs"} {
			if errs[name] > errs["rnm-exponential"] {
				counts[name]++
			}
			if errs[name] > errs["uniform"] {
				counts[name+" random"]++
			}
		}
	})
	if err != nil {
		return Finding{}, err
	}
	return Finding{Verdict: NotCheckable, Domain: "ε = " + strings.Join(grid, ", ") + "; " + drawnDomain, Witness: fmt.Sprintf("it depends on ε and on the draw of the scenario, which is not given: of %d cases GEM loses to report noisy max in %d and to random selection in %d, mGEM in %d and %d, RS in %d and %d",
		total, counts["gem"], counts["gem random"], counts["mgem"], counts["mgem random"], counts["rs"], counts["rs random"])}, nil
}

func combinedIsPrivate(context.Context) (Finding, error) {
	var t tally
	for _, choice := range rats("3/5", "1/10") {
		for _, d := range [][]*big.Rat{rats("1", "3"), rats("2", "1"), rats("1", "2", "4"), rats("4", "1", "2")} {
			worst, at, err := costOfNeighbours(named("combined-gem"), expOf(rat(2, 1)), d, mechanisms.Params{EpsChoice: choice})
			if err != nil {
				return Finding{}, err
			}
			t.expect(below(worst, enclose(rat(2, 1))), "ε_c = %s ε, sensitivities %s: %s", choice.RatString(), text(d), at)
		}
	}
	return t.finding("e^ε = 2, ε_c = 0.6 ε and 0.1 ε; four sets of sensitivities, scores (0, 0), (0, 1), (0, 3), (0, 0, 0), (2, 1, 0) and the neighbours that move every score by its sensitivity, not all the same way; enclosed", "")
}

func adaptiveWins(grid ...string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		seen := ""
		others := []string{"rnm-exponential", "gem", "mgem"}
		err := eachDraw(ctx, 7, grid, append(others, "combined-gem"), func(at string, errs map[string]float64) {
			for _, name := range others {
				t.expect(errs["combined-gem"] < errs[name]*(1-1e-6), "%s: combined %.4g, %s %.4g", at, errs["combined-gem"], name, errs[name])
			}
			if at == "seed 1, ε = 2" {
				seen = fmt.Sprintf("%s: combined %.3g, RNM %.3g, GEM %.3g, mGEM %.3g", at, errs["combined-gem"], errs["rnm-exponential"], errs["gem"], errs["mgem"])
			}
		})
		if err != nil {
			return Finding{}, err
		}
		return t.finding("ε = "+strings.Join(grid, ", ")+"; "+drawnDomain, seen)
	}
}

func adaptiveGainsLess(ctx context.Context) (Finding, error) {
	var t tally
	seen := ""
	for seed := uint64(1); seed <= 3; seed++ {
		for _, eps := range []string{"2", "5"} {
			var gain [2]float64 // the best single mechanism's error over that of the combination
			for i, number := range []int{7, 8} {
				errs, err := squares(ctx, number, seed, eps, "rnm-exponential", "gem", "mgem", "combined-gem")
				if err != nil {
					return Finding{}, err
				}
				gain[i] = min(errs["rnm-exponential"], errs["gem"], errs["mgem"]) / errs["combined-gem"]
			}
			seen = fmt.Sprintf("the best single mechanism's error over the combination's, seed %d, ε = %s: %.2f in scenario 7, %.2f in scenario 8", seed, eps, gain[0], gain[1])
			t.expect(gain[1] < gain[0]*(1-1e-6), "%s", seen)
		}
	}
	return t.finding("ε = 2, 5; "+drawnDomain, seen)
}

// banditStays simulates UCB with the level of optimism that the source calls common, and with none.
func banditStays(ctx context.Context) (Finding, error) {
	var parts []string
	config := bandit.Default()
	after := config.Horizon - config.Shift
	for _, alpha := range []float64{math.Sqrt2, 0} {
		config.Alpha, config.Policies, config.Runs, config.Points = alpha, []string{bandit.UCB}, 9, 1
		result, err := bandit.Run(ctx, config, func(int, int) {})
		if err != nil {
			return Finding{}, err
		}
		least, most := 1.0, 0.0 // share of the steps after the shift in which the arm that was the better one is taken
		for _, run := range result.Outcomes[0].Runs {
			least, most = min(least, 1-run.BestAfter), max(most, 1-run.BestAfter)
		}
		parts = append(parts, fmt.Sprintf("at α = %.4g it is picked in %.0f to %.0f of the %d steps", alpha, least*float64(after), most*float64(after), after))
	}
	return Finding{Verdict: NotCheckable, Domain: "the setting of figure 9, rewards clipped to [0, 1], nine seeded runs, simulated", Witness: "it depends on α, of which the source says that √2 is common, not what it used: " + strings.Join(parts, ", ")}, nil
}
