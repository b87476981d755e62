// Package bandit simulates the non-stationary bandit of Antonova, Laro, McMillan & Wolf, Private Selection with Heterogeneous Sensitivities (IX and App. H): arms
// of normal rewards, clipped to a range, whose laws change once, and policies that choose among them: UCB and Thompson sampling, and private selection mechanisms
// on private running means with private sensitivities.
//
// Results are estimates from seeded runs with standard errors. The source leaves much open; every such parameter is a field of Config, and Default says what is taken.
package bandit

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/mechanisms"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad bandit")

// Arm is the law of an arm's rewards before they are clipped: normal.
type Arm struct{ Mean, Spread float64 }

// Names of policies that are no mechanisms, and of counters.
const (
	UCB      = "ucb"
	Thompson = "thompson"
	Hybrid   = "hybrid"
	Tree     = "tree"
)

// MostSteps and MostRuns are the largest horizon, and the largest number of runs or of points on a curve.
const (
	MostSteps = 2_000_000_000
	MostRuns  = 1_000_000
)

// Config is a bandit and how policies play it.
type Config struct {
	Horizon       int   // steps, T
	Shift         int   // so many steps have the laws Before, the others After
	Before, After []Arm // as many of either
	Low, High     float64
	Alpha         float64 // UCB's level of optimism

	EpsSelect   float64 // of each choice, ε_S
	EpsKRR      float64 // of each choice of randomised response, which needs no sensitivities
	EpsMean     float64 // of an arm's running sums, ε_M
	EpsQuantile float64 // of a pair of quantiles, ε_p
	Counter     string  // Hybrid or Tree
	Window      int     // rewards of an arm for a pair of quantiles
	Params      mechanisms.Params

	Policies []string // UCB, Thompson or mechanisms by name
	Seed     uint64
	Runs     int
	Points   int // of time at which curves are recorded, evenly spaced, the last one being Horizon
}

// Default is the source's setting where it gives one: two arms whose laws are exchanged at 30000 of 50000 steps (caption of figure 9; the text has 500), α = √2, windows of 200, and
// ε = 1 for all but the choices of randomised response, which have 4. It leaves open the range that rewards are clipped to, here [0,1]; the prior of Thompson sampling,
// here uniform; the candidates of the private quantiles, here all of the range; the first sensitivities, here the width of the range; the least sensitivity, here 0.01.
func Default() Config {
	a, b := Arm{0.2, 0.1}, Arm{0.8, 0.3}
	return Config{
		Horizon: 50_000, Shift: 30_000, Before: []Arm{a, b}, After: []Arm{b, a}, Low: 0, High: 1, Alpha: math.Sqrt2,
		EpsSelect: 1, EpsKRR: 4, EpsMean: 1, EpsQuantile: 1, Counter: Hybrid, Window: 200,
		Policies: []string{UCB, Thompson, "krr", "rnm-exponential", "rs", "gem", "mgem"}, Seed: 1, Runs: 30, Points: 100,
	}
}

// epsSelect is the ε of a mechanism's choices.
func (c *Config) epsSelect(m mechanisms.Mechanism) float64 {
	if m.Info().Name == "krr" {
		return c.EpsKRR
	}
	return c.EpsSelect
}

// Check reports the first thing wrong. The message begins with the name of the command's flag.
func (c *Config) Check() error {
	arms := len(c.Before)
	for _, want := range []struct {
		ok        bool
		otherwise string
	}{
		{arms >= 2 && arms == len(c.After), fmt.Sprintf("means: %d arms before and %d after the shift, want as many of either, at least 2", arms, len(c.After))},
		{c.Horizon <= MostSteps, fmt.Sprintf("horizon %d: want at most %d steps", c.Horizon, MostSteps)},
		{c.Runs <= MostRuns && c.Points <= MostRuns, fmt.Sprintf("runs %d, points %d: want at most %d", c.Runs, c.Points, MostRuns)},
		{c.Horizon >= arms, fmt.Sprintf("horizon %d: want at least one step for each arm", c.Horizon)},
		{c.Shift >= 0 && c.Shift <= c.Horizon, fmt.Sprintf("shift %d: want from 0 to the number of steps, %d", c.Shift, c.Horizon)},
		{c.Low < c.High, fmt.Sprintf("clip %v:%v: want an ascending range", c.Low, c.High)},
		{c.Counter == Hybrid || c.Counter == Tree, fmt.Sprintf("counter %q: want %s or %s", c.Counter, Hybrid, Tree)},
		{c.Window >= 1, fmt.Sprintf("window %d: want at least one reward", c.Window)},
		{c.Runs >= 1 && c.Points >= 1, fmt.Sprintf("runs %d, points %d: want at least 1", c.Runs, c.Points)},
		{len(c.Policies) > 0, "policy: there is none, name at least one"},
	} {
		if !want.ok {
			return fmt.Errorf("%w: %s", ErrConfig, want.otherwise)
		}
	}
	for i, name := range c.Policies {
		if slices.Contains(c.Policies[:i], name) {
			return fmt.Errorf("%w: policy %s: is named twice", ErrConfig, name)
		}
		m, err := c.scorer(name)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		// What is wrong with its parameters shows at once.
		in, err := mechanisms.FromFloats(make([]float64, arms), slices.Repeat([]float64{1}, arms), c.epsSelect(m), c.Params)
		if err == nil {
			in.Scores[0] = big.NewRat(1, 7)
			_, err = m.Float(in)
		}
		if err != nil {
			return fmt.Errorf("%w: policy %s: %w", ErrConfig, name, err)
		}
	}
	return nil
}

// scorer returns the mechanism of a policy; nil for UCB and Thompson sampling.
func (c *Config) scorer(name string) (mechanisms.Mechanism, error) {
	if name == UCB || name == Thompson {
		return nil, nil
	}
	m, err := mechanisms.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("%w: policy %q: is neither %s nor %s nor a registered mechanism", ErrConfig, name, UCB, Thompson)
	}
	return m, nil
}

// clippedMean is the mean of a normal variable clipped to [low, high]: with a and b these ends in standard units,
// low Φ(a) + high (1 - Φ(b)) + m (Φ(b) - Φ(a)) + σ (φ(a) - φ(b)).
func (a Arm) clippedMean(low, high float64) float64 {
	if a.Spread == 0 {
		return min(max(a.Mean, low), high)
	}
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	from, to := (low-a.Mean)/a.Spread, (high-a.Mean)/a.Spread
	return low*cdf(from) + high*cdf(-to) + a.Mean*(cdf(to)-cdf(from)) + a.Spread*(density(from)-density(to))
}
