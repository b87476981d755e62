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

// noisy are the mechanisms that a simulation runs by their noise, which is much faster than computing their probabilities. In float64 it leaks: it is no
// basis for a release of private data.
var noisy = map[string]struct {
	factor   float64 // of Δ_a/ε, or of Δ/ε for the largest Δ where uniform is set
	uniform  bool
	laplace  bool // otherwise exponential
	stopping bool // the best of K draws, for which the factor is 2+η
	eta      float64
}{
	"rnm-laplace":  {factor: 2, uniform: true, laplace: true},
	"rnmh":         {factor: 2},
	"rnmh-laplace": {factor: 1, laplace: true},
	"rs":           {factor: 3, laplace: true, stopping: true, eta: 1},
	"rs-log":       {factor: 2, laplace: true, stopping: true},
	"rs-tnb":       {factor: 3, laplace: true, stopping: true, eta: 1},
}

// draw runs a mechanism once: by its noise where it has any, else by its probabilities.
func draw(m mechanisms.Mechanism, q *question, rng *rand.Rand) (int, error) {
	law, ok := noisy[m.Info().Name]
	if !ok {
		return byProbabilities(m, q, rng)
	}
	if q.Params.Eta != nil && m.Info().Name == "rs-tnb" {
		law.eta, _ = q.Params.Eta.Float64()
		law.factor = 2 + law.eta
	}
	score := func(i int) float64 {
		d := q.Sensitivities[i]
		if law.uniform {
			d = slices.Max(q.Sensitivities)
		}
		noise := law.factor * d / q.Epsilon * rng.ExpFloat64()
		if law.laplace && rng.Uint64()&1 == 1 {
			noise = -noise
		}
		return q.Scores[i] + noise
	}
	taken, best := 0, math.Inf(-1)
	if law.stopping {
		for range draws(gamma(q.Params), law.eta, rng) {
			// Of draws that tie, which have no noise, the first counts: which candidate that is of is uniform among them.
			i := rng.IntN(len(q.Scores))
			if x := score(i); x > best {
				taken, best = i, x
			}
		}
		return taken, nil
	}
	ties := 0 // only candidates without noise tie: they are taken uniformly
	for i := range q.Scores {
		switch x := score(i); {
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

func gamma(p mechanisms.Params) float64 {
	if p.Gamma == nil {
		p.Gamma = big.NewRat(1, 20)
	}
	x, _ := p.Gamma.Float64()
	return x
}

// draws returns K of the truncated negative binomial law by inversion: Pr[K=k+1] = Pr[K=k] (1-γ)(k+η)/(k+1). Sums of probabilities that stay below the
// uniform number for ever, by rounding, end where nothing is added any more.
func draws(gamma, eta float64, rng *rand.Rand) int {
	p := 1.0 // Pr[K=1]
	switch {
	case gamma == 1:
	case eta == 0:
		p = (1 - gamma) / -math.Log(gamma)
	default:
		p = (1 - gamma) * eta / math.Expm1(-eta*math.Log(gamma))
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
