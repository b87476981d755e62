package bandit

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"optratio/mechanisms"
)

// policy chooses arms. Every policy takes each arm once at first.
type policy interface {
	choose() (int, error)
	learn(arm int, reward float64) // reward is in [Low, High]
}

// highest is a policy that takes the arm of the largest score.
type highest struct {
	count  []int
	sum    []float64 // of rewards
	scores []float64
	score  func(arm int) float64
	noted  func(arm int, reward float64) // nil for nothing more than counts and sums
}

func (p *highest) choose() (int, error) {
	if a := slices.Index(p.count, 0); a >= 0 {
		return a, nil
	}
	p.scores = p.scores[:0]
	for a := range p.count {
		p.scores = append(p.scores, p.score(a))
	}
	return bestArm(p.scores), nil
}

func (p *highest) learn(arm int, reward float64) {
	p.count[arm]++
	p.sum[arm] += reward
	if p.noted != nil {
		p.noted(arm, reward)
	}
}

// newUpperBound is UCB: the arm of the largest mean plus α √(ln T/N) (Antonova et al., App. H).
func newUpperBound(alpha float64, horizon, arms int) *highest {
	p := &highest{count: make([]int, arms), sum: make([]float64, arms)}
	bonus := alpha * math.Sqrt(math.Log(float64(horizon)))
	p.score = func(a int) float64 {
		n := float64(p.count[a])
		return p.sum[a]/n + bonus/math.Sqrt(n)
	}
	return p
}

// newThompson is Thompson sampling for rewards in a range (Agrawal & Goyal 2012, Alg. 2): a reward counts as a success with a probability that is its place in
// the range, and an arm's score is drawn from Beta(1 + successes, 1 + failures).
func newThompson(low, high float64, arms int, rng *rand.Rand) *highest {
	p := &highest{count: make([]int, arms), sum: make([]float64, arms)}
	successes := make([]float64, arms)
	p.score = func(a int) float64 {
		return distuv.Beta{Alpha: 1 + successes[a], Beta: 1 + float64(p.count[a]) - successes[a], Src: rng}.Rand()
	}
	p.noted = func(a int, reward float64) {
		if rng.Float64() < (reward-low)/(high-low) {
			successes[a]++
		}
	}
	return p
}

// private selects by a mechanism on private means, with private sensitivities (Antonova et al., App. H). What it releases: of each arm the private running sums, ε_M-DP; of each
// full window of rewards of an arm a pair of quantiles, ε_p-DP, every reward being in one window; and the arms taken, each by a mechanism that is ε_S-DP at those sensitivities.
type private struct {
	config        *Config
	mechanism     mechanisms.Mechanism
	rng           *rand.Rand
	counters      []counter
	count         []int
	sums          []float64 // private
	windows       [][]float64
	question      question
	sensitivities bool // whether they are estimated at all; randomised response needs none
	quantile      func(values []float64, q, epsilon float64) float64
}

func newPrivate(c *Config, m mechanisms.Mechanism, rng *rand.Rand) *private {
	arms := len(c.Before)
	p := &private{
		config: c, mechanism: m, rng: rng, count: make([]int, arms), sums: make([]float64, arms), windows: make([][]float64, arms),
		sensitivities: needsSensitivities(m),
		question:      question{Scores: make([]float64, arms), Sensitivities: make([]float64, arms), Epsilon: c.epsSelect(m), Params: c.Params},
	}
	p.quantile = func(values []float64, q, epsilon float64) float64 {
		return privateQuantile(values, c.Low, c.High, q, epsilon, rng)
	}
	publish := func(value, scale float64) float64 { return value + laplace(scale, rng) }
	for a := range arms {
		p.question.Sensitivities[a] = c.High - c.Low
		if c.Counter == Tree {
			p.counters = append(p.counters, newTree(c.Horizon, c.High-c.Low, c.EpsMean, publish))
		} else {
			p.counters = append(p.counters, newHybrid(c.High-c.Low, c.EpsMean, publish))
		}
	}
	return p
}

// needsSensitivities reports whether the mechanism looks at sensitivities: randomised response and the uniform choice do not.
func needsSensitivities(m mechanisms.Mechanism) bool {
	name := m.Info().Name
	return name != "krr" && name != "uniform"
}

func (p *private) choose() (int, error) {
	for a, n := range p.count {
		if n == 0 {
			return a, nil
		}
		p.question.Scores[a] = p.sums[a] / float64(n)
	}
	return draw(p.mechanism, &p.question, p.rng)
}

// leastSensitivity is what a smaller spread of rewards counts as.
const leastSensitivity = 0.01

func (p *private) learn(arm int, reward float64) {
	c := p.config
	p.count[arm]++
	p.sums[arm] = p.counters[arm].add(reward)
	if !p.sensitivities {
		return
	}
	if p.windows[arm] = append(p.windows[arm], reward); len(p.windows[arm]) < c.Window {
		return
	}
	w := p.windows[arm]
	low, high := p.quantile(w, 0.1, c.EpsQuantile/2), p.quantile(w, 0.9, c.EpsQuantile/2)
	p.question.Sensitivities[arm] = max(math.Abs(high-low), leastSensitivity)
	p.windows[arm] = w[:0]
}
