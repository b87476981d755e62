package bandit

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"optratio/mechanisms"
)

// policy chooses arms. Every policy takes each arm once at first.
type policy interface {
	choose() (int, error)
	learn(arm int, reward float64) // reward is in [Low, High]
	state() State
}

// State is what a policy knows of each arm; nil where it has no such thing.
type State struct {
	Scores        []float64 // what it compares
	Means         []float64 // its estimates of the mean rewards
	Sensitivities []float64
	Low, High     []float64 // private quantiles of the last full window
}

// running are the counts and sums of rewards of each arm.
type running struct {
	count []int
	sum   []float64
}

func newRunning(arms int) running { return running{make([]int, arms), make([]float64, arms)} }

func (r *running) learn(arm int, reward float64) {
	r.count[arm]++
	r.sum[arm] += reward
}

// untried returns an arm that was never taken, -1 for none.
func (r *running) untried() int {
	for a, n := range r.count {
		if n == 0 {
			return a
		}
	}
	return -1
}

func (r *running) means() []float64 {
	out := make([]float64, len(r.sum))
	for a, s := range r.sum {
		out[a] = s / float64(r.count[a])
	}
	return out
}

// upperBound is UCB: the arm of the largest mean plus α √(ln T/N) (Antonova et al., App. H).
type upperBound struct {
	running
	bonus  float64 // α √(ln T)
	scores []float64
}

func newUpperBound(alpha float64, horizon, arms int) *upperBound {
	return &upperBound{running: newRunning(arms), bonus: alpha * math.Sqrt(math.Log(float64(horizon)))}
}

func (p *upperBound) choose() (int, error) {
	if a := p.untried(); a >= 0 {
		return a, nil
	}
	p.scores = p.scores[:0]
	best := 0
	for a, n := range p.count {
		p.scores = append(p.scores, p.sum[a]/float64(n)+p.bonus/math.Sqrt(float64(n)))
		if p.scores[a] > p.scores[best] {
			best = a
		}
	}
	return best, nil
}

func (p *upperBound) state() State {
	return State{Means: p.means(), Scores: append([]float64(nil), p.scores...)}
}

// thompson is Thompson sampling for rewards in a range (Agrawal & Goyal 2012, Alg. 2): a reward counts as a success with a probability that is its place in
// the range, and an arm's score is drawn from Beta(1 + successes, 1 + failures).
type thompson struct {
	running
	low, width float64
	successes  []float64
	scores     []float64
	rng        *rand.Rand
}

func (p *thompson) choose() (int, error) {
	if a := p.untried(); a >= 0 {
		return a, nil
	}
	p.scores = p.scores[:0]
	best := 0
	for a, n := range p.count {
		s := p.successes[a]
		p.scores = append(p.scores, distuv.Beta{Alpha: 1 + s, Beta: 1 + float64(n) - s, Src: p.rng}.Rand())
		if p.scores[a] > p.scores[best] {
			best = a
		}
	}
	return best, nil
}

func (p *thompson) learn(arm int, reward float64) {
	p.running.learn(arm, reward)
	if p.rng.Float64() < (reward-p.low)/p.width {
		p.successes[arm]++
	}
}

func (p *thompson) state() State {
	return State{Means: p.means(), Scores: append([]float64(nil), p.scores...)}
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
	low, high     []float64
	question      question
	sensitivities bool // whether they are estimated at all; randomised response needs none
	quantile      func(values []float64, q, epsilon float64) float64
}

func newPrivate(c *Config, m mechanisms.Mechanism, rng *rand.Rand) *private {
	arms := len(c.Before)
	p := &private{
		config: c, mechanism: m, rng: rng, count: make([]int, arms), sums: make([]float64, arms), windows: make([][]float64, arms),
		low: make([]float64, arms), high: make([]float64, arms), sensitivities: needsSensitivities(m),
		question: question{Scores: make([]float64, arms), Sensitivities: make([]float64, arms), Epsilon: c.epsSelect(m), Params: c.Params},
	}
	p.quantile = func(values []float64, q, epsilon float64) float64 {
		return privateQuantile(values, c.Low, c.High, q, epsilon, c.Grid, rng)
	}
	publish := func(value, scale float64) float64 { return value + laplace(scale, rng) }
	for a := range arms {
		p.question.Sensitivities[a] = c.High - c.Low
		p.low[a], p.high[a] = c.Low, c.High
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
	p.low[arm] = p.quantile(w, c.Quantiles[0], c.EpsQuantile/2)
	p.high[arm] = p.quantile(w, c.Quantiles[1], c.EpsQuantile/2)
	p.question.Sensitivities[arm] = max(math.Abs(p.high[arm]-p.low[arm]), c.Floor)
	p.windows[arm] = w[:0]
}

func (p *private) state() State {
	scores := append([]float64(nil), p.question.Scores...)
	return State{
		Means: scores, Scores: scores, Sensitivities: append([]float64(nil), p.question.Sensitivities...),
		Low: append([]float64(nil), p.low...), High: append([]float64(nil), p.high...),
	}
}
