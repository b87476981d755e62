// Package scenario generates the synthetic score vectors on which Antonova, Laro, McMillan & Wolf, Private Selection with
// Heterogeneous Sensitivities, compare mechanisms (VI, App. E and F), and computes the errors of mechanisms on them.
//
// Scores are random from trial to trial where the source has them so, and are drawn from a seed. What a mechanism loses in a trial
// is not sampled: it is the mean over the mechanism's own randomness, computed from its probabilities in float64. The package checks no privacy claim.
package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Scenario is a named generator of trials.
type Scenario struct {
	Number  int // 1 to 8, or 0 for one of the family of Correlated
	Name    string
	Summary string
	high    int  // of scenarios 1 to 3: how many candidates have the higher score
	halves  bool // of scenarios 7 and 8: the trials of the second half are of another kind than those of the first
	law     func(rng *rand.Rand, trials int) (scores [][]float64, sensitivities []float64)
}

// Candidates is the number of candidates of every scenario.
const Candidates = 100

// Scenarios lists them in the order of their numbers, from 1. Second parameters of normal laws are read as
// standard deviations, but for scenario 4, which has σ² there. The noise of scenarios 7 and 8, whose mean the source leaves
// open, has mean 0.
var Scenarios = []Scenario{
	bimodal(1, "two groups, the better one is more sensitive", Candidates/2),
	bimodal(2, "two groups, the better one is less sensitive", Candidates/2),
	bimodal(3, "two groups, sensitivities have nothing to do with them", Candidates/2),
	drawn(4, "logarithmic scores, spreads that grow with them", func(rng *rand.Rand, trials int) [][]float64 {
		spread := spreads(rng)
		slices.Sort(spread)
		return normal(rng, trials, func(_, a int) (float64, float64) { return math.Log(float64(a + 1)), spread[a] })
	}),
	drawn(5, "linear scores, spreads that shrink", func(rng *rand.Rand, trials int) [][]float64 {
		return normal(rng, trials, func(_, a int) (float64, float64) { return 0.1 * float64(a+1), 2.3 - 0.02*float64(a+1) })
	}),
	drawn(6, "scores and spreads drawn independently", func(rng *rand.Rand, trials int) [][]float64 {
		mean := make([]float64, Candidates)
		for a := range mean {
			mean[a] = rng.Float64()
		}
		spread := spreads(rng)
		return normal(rng, trials, func(_, a int) (float64, float64) { return mean[a], spread[a] })
	}),
	polarised(7, "half the trials correlate positively, half negatively, strongly", 0.5),
	polarised(8, "half the trials correlate positively, half negatively, weakly", 3),
}

// high and low are the sensitivities of scenarios 1 to 3.
const (
	high = 1.8
	low  = 1.0
)

// bimodal has some scores of 1, those of the first candidates, and the others -1. In scenario 1 the higher scores are more sensitive, in scenario
// 2 the lower ones, and in scenario 3 every other candidate.
func bimodal(number int, summary string, better int) Scenario {
	s := Scenario{Number: number, Name: fmt.Sprint(number), Summary: summary, high: better}
	s.law = func(*rand.Rand, int) ([][]float64, []float64) {
		scores, sensitivities := make([]float64, Candidates), make([]float64, Candidates)
		for i := range scores {
			scores[i], sensitivities[i] = -1, low
			if i < better {
				scores[i] = 1
			}
			if number == 1 && i < better || number == 2 && i >= better || number == 3 && i%2 == 0 {
				sensitivities[i] = high
			}
		}
		return [][]float64{scores}, sensitivities
	}
	return s
}

// Fixed reports whether all trials of the scenario are alike, as in scenarios 1 to 3: Generate then gives one.
func (s Scenario) Fixed() bool { return s.high > 0 }

// High returns how many candidates have the higher one of the two scores of scenarios 1 to 3; 0 for the others.
func (s Scenario) High() int { return s.high }

// WithHigh returns scenario 1, 2 or 3 with another number of candidates that have the higher score (App. E); 1 to Candidates-1.
func (s Scenario) WithHigh(better int) Scenario { return bimodal(s.Number, s.Summary, better) }

// drawn is a scenario whose trials differ and whose sensitivities come from the scores.
func drawn(number int, summary string, scores func(rng *rand.Rand, trials int) [][]float64) Scenario {
	return Scenario{Number: number, Name: fmt.Sprint(number), Summary: summary, law: func(rng *rand.Rand, trials int) ([][]float64, []float64) {
		out := scores(rng, trials)
		return out, clip(out)
	}}
}

// leastSensitivity is the smallest sensitivity of Correlated.
const leastSensitivity = 0.1

// Correlated returns the scenario of slope t (VI-d): candidate a has score (t·x_a + z_a)/5, with x_a and z_a standard normal, less the smallest of all.
// The source does not say what its sensitivities are, nor what is drawn anew in each trial. Here x_a belongs to the candidate and z_a to the trial, and the
// sensitivity is 0.1 + (x_a - min x)/5: as far from the least one, which is 0.1, as the scores' systematic part at t = 1. So scores and sensitivities are
// linearly related, with the correlation t/√(1+t²) up to chance.
func Correlated(t float64) Scenario {
	return Scenario{
		Name:    fmt.Sprintf("t=%g", t),
		Summary: fmt.Sprintf("scores and sensitivities with correlation %+.2f", t/math.Hypot(1, t)),
		law: func(rng *rand.Rand, trials int) ([][]float64, []float64) {
			x := make([]float64, Candidates)
			for a := range x {
				x[a] = rng.NormFloat64()
			}
			least := slices.Min(x)
			scores := normal(rng, trials, func(_, a int) (float64, float64) { return t * x[a] / 5, 0.2 })
			for _, q := range scores {
				shift := slices.Min(q)
				for a := range q {
					q[a] -= shift
				}
			}
			for a := range x {
				x[a] = leastSensitivity + (x[a]-least)/5
			}
			return scores, x
		},
	}
}

// polarised has scores that rise in the first half of the trials and fall in the second.
func polarised(number int, summary string, spread float64) Scenario {
	s := drawn(number, summary, func(rng *rand.Rand, trials int) [][]float64 {
		return normal(rng, trials, func(trial, a int) (float64, float64) {
			base := -8 + 8*float64(a)/Candidates
			if trial >= trials/2 {
				base = -base
			}
			return base, spread
		})
	})
	s.halves = true
	return s
}

// normal draws scores with given means and standard deviations, trial by trial.
func normal(rng *rand.Rand, trials int, law func(trial, a int) (mean, spread float64)) [][]float64 {
	out := make([][]float64, trials)
	for t := range out {
		out[t] = make([]float64, Candidates)
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
	out := make([]float64, Candidates)
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
	halves        bool
}

// Generate draws trials from a seed: at least 2, but for scenarios 1 to 3, where one is enough and one is returned. What a seed gives depends on it,
// on the scenario and on the number of trials alone.
func (s Scenario) Generate(seed uint64, trials int) *Trials {
	out := &Trials{halves: s.halves}
	out.Scores, out.Sensitivities = s.law(rand.New(rand.NewPCG(seed, uint64(s.Number))), trials)
	return out
}

// clip returns one sensitivity for each candidate, the distance between the first and the last decile of its scores over all trials, and clips
// the scores to these deciles.
func clip(scores [][]float64) (sensitivities []float64) {
	column := make([]float64, len(scores))
	for a := range Candidates {
		for t := range scores {
			column[t] = scores[t][a]
		}
		slices.Sort(column)
		lo, hi := quantile(column, 0.1), quantile(column, 0.9)
		sensitivities = append(sensitivities, hi-lo)
		for t := range scores {
			scores[t][a] = min(max(scores[t][a], lo), hi)
		}
	}
	return sensitivities
}

// quantile interpolates between order statistics: position p (n-1) from 0 in the sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
