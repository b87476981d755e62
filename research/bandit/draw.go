package bandit

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
)

// question is what a mechanism is asked at a step.
type question struct {
	Scores, Sensitivities []float64
	Epsilon               float64
	Params                mechanisms.Params
}

// stopping are the mechanisms that a simulation runs by their noise, which is much faster than computing their probabilities: the best of K draws, each with Laplace noise
// of factor·Δ_a/ε. In float64 it leaks: it is no basis for a release of private data.
var stopping = map[string]struct{ eta, factor float64 }{"rs": {1, 3}, "rs-log": {0, 2}}

// draw runs a mechanism once: by its noise where it has any, else by its probabilities.
func draw(m mechanisms.Mechanism, q *question, rng *rand.Rand) (int, error) {
	law, ok := stopping[m.Info().Name]
	if !ok {
		return byProbabilities(m, q, rng)
	}
	taken, best := 0, math.Inf(-1)
	for range draws(gamma(q.Params), law.eta, rng) {
		i := rng.IntN(len(q.Scores))
		noise := law.factor * q.Sensitivities[i] / q.Epsilon * rng.ExpFloat64()
		if rng.Uint64()&1 == 1 {
			noise = -noise
		}
		// Of draws that tie, which have no noise, the first counts: which candidate that is of is uniform among them.
		if x := q.Scores[i] + noise; x > best {
			taken, best = i, x
		}
	}
	return taken, nil
}

func gamma(p mechanisms.Params) float64 {
	if p.Gamma == nil {
		p.Gamma = big.NewRat(1, 20)
	}
	x, _ := p.Gamma.Float64()
	return x
}

// draws returns K of the geometric or the logarithmic law, η = 1 or 0, by inversion: Pr[K=k+1] = Pr[K=k] (1-γ)(k+η)/(k+1). Sums of probabilities that stay below the
// uniform number for ever, by rounding, end where nothing is added any more.
func draws(gamma, eta float64, rng *rand.Rand) int {
	p := gamma // Pr[K=1]
	if eta == 0 && gamma < 1 {
		p = (1 - gamma) / -math.Log(gamma)
	}
	u, k := rng.Float64(), 1
	for sum := p; sum <= u; k++ {
		p = float64(p * ((1 - gamma) * (float64(k) + eta) / float64(k+1)))
		if sum+p == sum {
			break
		}
		sum += p
	}
	return k
}

func byProbabilities(m mechanisms.Mechanism, q *question, rng *rand.Rand) (int, error) {
	in, err := mechanisms.FromFloats(q.Scores, q.Sensitivities, q.Epsilon, q.Params)
	if err != nil {
		return 0, err
	}
	p, err := m.Float(in)
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
