package mechanisms

import (
	"math"
	"math/rand/v2"
	"slices"
)

// FloatSampler is a mechanism that simulations can run on float64 scores, much faster than its probabilities could be computed. Unlike those
// of a Sampler, its draws are no basis for a release of private data: float64 noise leaks.
type FloatSampler interface {
	FloatScorer
	// FloatDraw runs the mechanism once and returns the index of the candidate taken.
	FloatDraw(in *FloatInstance, rng *rand.Rand) (int, error)
}

// draw returns a noisy score: Laplace noise, or exponential noise.
func (l noiseLaw) draw(laplace bool, rng *rand.Rand) float64 {
	noise := l.scale * rng.ExpFloat64()
	if laplace && rng.Uint64()&1 == 1 {
		noise = -noise
	}
	return l.at + noise
}

// FloatDraw implements FloatSampler. Ties, which only candidates without noise have, are broken uniformly.
func (m *noisyMax) FloatDraw(in *FloatInstance, rng *rand.Rand) (int, error) {
	if err := in.Check(); err != nil {
		return 0, err
	}
	laws, err := in.boundedLaws(float64(m.factor), m.info.Uniform)
	if err != nil {
		return 0, err
	}
	taken, best, ties := 0, math.Inf(-1), 0
	for i, l := range laws {
		switch x := l.draw(m.laplace, rng); {
		case x > best:
			taken, best, ties = i, x, 1
		case x == best:
			if ties++; rng.IntN(ties) == 0 {
				taken = i
			}
		}
	}
	return taken, nil
}

// FloatDraw implements FloatSampler: K by its law, then the best of K draws.
func (m *randomStopping) FloatDraw(in *FloatInstance, rng *rand.Rand) (int, error) {
	if err := in.Check(); err != nil {
		return 0, err
	}
	law, err := m.law(in.Params)
	if err != nil {
		return 0, err
	}
	laws, err := in.boundedLaws(2+law.eta, false)
	if err != nil {
		return 0, err
	}
	taken, best := 0, math.Inf(-1)
	for range law.draw(rng) {
		// Of draws that tie, which have no noise, the first counts: which candidate that is of is uniform among them.
		i := rng.IntN(len(laws))
		if x := laws[i].draw(true, rng); x > best {
			taken, best = i, x
		}
	}
	return taken, nil
}

// draw returns K, by inversion: Pr[K=k+1] = Pr[K=k] (1-γ)(k+η)/(k+1), Pr[K=1] = φ'(0). Sums of probabilities that stay below the uniform number for ever, by
// rounding, end where nothing is added any more.
func (l stoppingLaw) draw(rng *rand.Rand) int {
	u, k, p := rng.Float64(), 1, l.derivative(1)
	for sum := p; sum <= u; k++ {
		p = float64(p * ((1 - l.gamma) * (float64(k) + l.eta) / float64(k+1)))
		if sum+p == sum {
			break
		}
		sum += p
	}
	return k
}

// FloatDraw runs a mechanism once on float64 scores: by itself where it is a FloatSampler, else by its probabilities.
func FloatDraw(m FloatScorer, in *FloatInstance, rng *rand.Rand) (int, error) {
	if s, ok := m.(FloatSampler); ok {
		return s.FloatDraw(in, rng)
	}
	p, err := m.FloatScores(in)
	if err != nil {
		return 0, err
	}
	u := rng.Float64()
	for i, x := range p {
		if u -= x; u < 0 {
			return i, nil
		}
	}
	return slices.Index(p, slices.Max(p)), nil // sums of rounded probabilities may end just below 1
}
