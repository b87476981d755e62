package recommend

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
)

// Scenario is a named generator of trials (Antonova et al., VI and App. F).
type Scenario struct {
	Number  int
	Summary string
	fixed   bool // all trials are alike
	scores  func(rng *rand.Rand, trials int) [][]float64
	given   []float64 // sensitivities, where they do not come from the scores
}

// candidates is the number of candidates of every scenario.
const candidates = 100

// Scenarios lists them in the order of their numbers, from 1. Second parameters of normal laws are read as
// standard deviations, but for scenario 4, which has σ² there. The noise of scenarios 7 and 8, whose mean the source leaves
// open, has mean 0.
var Scenarios = []Scenario{
	bimodal(1, "two groups, the better one is more sensitive", func(i int) float64 {
		if i < candidates/2 {
			return 1.8
		}
		return 1
	}),
	bimodal(2, "two groups, the better one is less sensitive", func(i int) float64 {
		if i < candidates/2 {
			return 1
		}
		return 1.8
	}),
	bimodal(3, "two groups, sensitivities have nothing to do with them", func(i int) float64 {
		if i%2 == 0 {
			return 1.8
		}
		return 1
	}),
	{Number: 4, Summary: "logarithmic scores, spreads that grow with them", scores: func(rng *rand.Rand, trials int) [][]float64 {
		spread := spreads(rng)
		slices.Sort(spread)
		return normal(rng, trials, func(_, a int) (float64, float64) { return math.Log(float64(a + 1)), spread[a] })
	}},
	{Number: 5, Summary: "linear scores, spreads that shrink", scores: func(rng *rand.Rand, trials int) [][]float64 {
		return normal(rng, trials, func(_, a int) (float64, float64) { return 0.1 * float64(a+1), 2.3 - 0.02*float64(a+1) })
	}},
	{Number: 6, Summary: "scores and spreads drawn independently", scores: func(rng *rand.Rand, trials int) [][]float64 {
		mean := make([]float64, candidates)
		for a := range mean {
			mean[a] = rng.Float64()
		}
		spread := spreads(rng)
		return normal(rng, trials, func(_, a int) (float64, float64) { return mean[a], spread[a] })
	}},
	polarised(7, "half the trials correlate positively, half negatively, strongly", 0.5),
	polarised(8, "half the trials correlate positively, half negatively, weakly", 3),
}

// bimodal has 50 scores of 1 and 50 of -1.
func bimodal(number int, summary string, sensitivity func(i int) float64) Scenario {
	s := Scenario{Number: number, Summary: summary, fixed: true}
	for i := range candidates {
		s.given = append(s.given, sensitivity(i))
	}
	s.scores = func(_ *rand.Rand, trials int) [][]float64 {
		return normal(nil, trials, func(_, a int) (float64, float64) {
			if a < candidates/2 {
				return 1, 0
			}
			return -1, 0
		})
	}
	return s
}

// polarised has scores that rise in the first half of the trials and fall in the second.
func polarised(number int, summary string, spread float64) Scenario {
	return Scenario{Number: number, Summary: summary, scores: func(rng *rand.Rand, trials int) [][]float64 {
		return normal(rng, trials, func(trial, a int) (float64, float64) {
			base := -8 + 8*float64(a)/candidates
			if trial >= trials/2 {
				base = -base
			}
			return base, spread
		})
	}}
}

// normal draws scores with given means and standard deviations, trial by trial.
func normal(rng *rand.Rand, trials int, law func(trial, a int) (mean, spread float64)) [][]float64 {
	out := make([][]float64, trials)
	for t := range out {
		out[t] = make([]float64, candidates)
		for a := range out[t] {
			mean, spread := law(t, a)
			if out[t][a] = mean; spread > 0 {
				out[t][a] += spread * rng.NormFloat64()
			}
		}
	}
	return out
}

// spreads draws from the normal law of mean 0.5 and standard deviation 1, truncated to [0.01, 0.7].
func spreads(rng *rand.Rand) []float64 {
	out := make([]float64, candidates)
	for a := range out {
		for out[a] = 0; out[a] < 0.01 || out[a] > 0.7; {
			out[a] = 0.5 + rng.NormFloat64()
		}
	}
	return out
}

// Trials are score vectors with sensitivities common to all.
type Trials struct {
	Scores        [][]float64
	Sensitivities []float64
}

// Find returns the scenario of a number.
func Find(number int) (Scenario, error) {
	if number < 1 || number > len(Scenarios) {
		return Scenario{}, fmt.Errorf("no scenario %d, want 1 to %d", number, len(Scenarios))
	}
	return Scenarios[number-1], nil
}

// Generate draws trials from a seed; at least 2, unless all are alike. A candidate's sensitivity is the distance between the first and the last
// decile of its scores over all trials, and scores beyond these are clipped to them.
func (s Scenario) Generate(seed uint64, trials int) (*Trials, error) {
	if s.fixed {
		trials = 1
	} else if trials < 2 {
		return nil, fmt.Errorf("scenario %d: %d trials, want at least 2", s.Number, trials)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(s.Number)))
	out := &Trials{Scores: s.scores(rng, trials), Sensitivities: slices.Clone(s.given)}
	if s.given != nil {
		return out, nil
	}
	column := make([]float64, trials)
	for a := range candidates {
		for t := range out.Scores {
			column[t] = out.Scores[t][a]
		}
		slices.Sort(column)
		lo, hi := quantile(column, 0.1), quantile(column, 0.9)
		out.Sensitivities = append(out.Sensitivities, hi-lo)
		for t := range out.Scores {
			out.Scores[t][a] = min(max(out.Scores[t][a], lo), hi)
		}
	}
	return out, nil
}

// quantile interpolates between order statistics: position p (n-1) from 0 in the sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// MSE returns a mechanism's mean squared error q* - q_M, averaged over the trials; in each trial it is the exact
// mean up to float64 rounding and quadrature, not a sample.
func (t *Trials) MSE(ctx context.Context, m mechanisms.FloatScorer, epsilon float64, params mechanisms.Params) (float64, error) {
	total := 0.0
	for _, scores := range t.Scores {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		p, err := m.FloatScores(&mechanisms.FloatInstance{Scores: scores, Sensitivities: t.Sensitivities, Epsilon: epsilon, Params: params})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		best := slices.Max(scores)
		for a, q := range scores {
			total += p[a] * (best - q) * (best - q)
		}
	}
	return total / float64(len(t.Scores)), nil
}
