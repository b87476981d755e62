package mechanisms

import (
	"math/big"

	"optratio/number"
)

// noisyScore is a candidate's score plus noise, times ε, known as far as needed: score·ε + scale·noise.
type noisyScore struct {
	*quietScore
	noise    exponentialReal
	negative bool
	known    number.Interval // the first enclosure, where it has been computed
}

// quietScore is what is known of a candidate's noisy score before any noise is drawn.
type quietScore struct {
	candidate    int
	score, scale *big.Rat // scale is factor·Δ_a; 0 for no noise
	eps          number.Epsilon
	known, width number.Interval // enclosures of score·ε and scale at firstLook
}

const firstLook = 64 // bits of noise that decide almost always

// quietScores returns one for each candidate, for noise of scale factor·Δ/ε, Δ the largest one for all if
// uniform is set. Scores are relative to the best one.
func (in *Instance) quietScores(factor *big.Rat, uniform bool) []*quietScore {
	best, each := in.Best(), in.eachSensitivity()
	eps := in.Epsilon.Value(firstLook + 64)
	out := make([]*quietScore, len(each))
	for i, d := range each {
		if uniform {
			d = in.Sensitivity()
		}
		s := &quietScore{candidate: i, score: new(big.Rat).Sub(in.Scores[i], best), scale: new(big.Rat).Mul(factor, d), eps: in.Epsilon}
		s.known = eps.Mul(number.FromRat(s.score, firstLook+64))
		s.width = number.FromRat(s.scale, firstLook+64)
		out[i] = s
	}
	return out
}

// draw adds noise.
func (q *quietScore) draw(d dice, laplace bool) *noisyScore {
	s := &noisyScore{quietScore: q, known: q.known}
	if q.scale.Sign() > 0 {
		s.noise = d.exponential()
		s.negative = laplace && d.below(2) == 1
		s.known = s.add(q.known, q.width, firstLook)
	}
	return s
}

// add returns quiet + scale·noise, the noise enclosed to prec bits.
func (s *noisyScore) add(quiet, scale number.Interval, prec uint) number.Interval {
	noise := scale.Mul(s.noise.enclose(prec))
	if s.negative {
		return quiet.Sub(noise)
	}
	return quiet.Add(noise)
}

// enclose returns an interval around the noisy score.
func (s *noisyScore) enclose(prec uint) number.Interval {
	if prec == firstLook {
		return s.known
	}
	quiet := s.eps.Value(prec + 64).Mul(number.FromRat(s.score, prec+64))
	if s.scale.Sign() == 0 {
		return quiet
	}
	return s.add(quiet, number.FromRat(s.scale, prec+64), prec)
}

// beats reports whether s > t. They are equal with probability 0, but where neither has any noise: then the scores decide.
func (s *noisyScore) beats(t *noisyScore) bool {
	if s.scale.Sign() == 0 && t.scale.Sign() == 0 {
		return s.score.Cmp(t.score) > 0
	}
	for prec := uint(firstLook); ; prec *= 2 {
		if c, ok := s.enclose(prec).Cmp(t.enclose(prec)); ok && c != 0 {
			return c > 0
		}
	}
}

// Draws implements Sampler: noise for each candidate, drawn only as far as it takes to see who wins. Candidates
// without noise that share their score are alike, so the first one met in a random order stands for them.
func (m *noisyMax) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	d := newDice(src)
	scores := in.quietScores(big.NewRat(m.factor, 1), m.info.Uniform)
	return func() int {
		var best *noisyScore
		order := d.shuffled(len(scores))
		for _, i := range order {
			s := scores[i].draw(d, m.laplace)
			if best == nil || s.beats(best) {
				best = s
			}
		}
		return best.candidate
	}, nil
}

// shuffled returns a uniformly random order of 0..n-1.
func (d dice) shuffled(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := int(d.below(uint64(i + 1)))
		order[i] = order[j]
		order[j] = i
	}
	return order
}

// stoppingTime returns K from the truncated negative binomial law of rational γ and η. Let m be 1 or ⌈η⌉ if larger.
// Summing the failures before the first success of m coins of probability γ and discarding 0 gives weights
// (1-γ)^k Π_{l<k} (l+m)/(l+1); keeping k with probability Π_{0<l<k} (l+η)/(l+m) makes them those of η.
func (d dice) stoppingTime(gamma, eta *big.Rat) int {
	m := int64(1)
	if eta.Cmp(ratOne) > 0 {
		ceil := new(big.Int).Add(eta.Num(), eta.Denom())
		m = ceil.Sub(ceil, oneInt).Quo(ceil, eta.Denom()).Int64()
	}
	if gamma.Cmp(ratOne) == 0 {
		return 1
	}
	accept := func(k int64) bool {
		for l := int64(1); l < k; l++ {
			p := new(big.Rat).Add(big.NewRat(l, 1), eta)
			p.Quo(p, big.NewRat(l+m, 1))
			if !d.bernoulli(p.Num(), p.Denom()) {
				return false
			}
		}
		return true
	}
	for {
		k := int64(0)
		for range m {
			for !d.bernoulli(gamma.Num(), gamma.Denom()) {
				k++
			}
		}
		if k > 0 && accept(k) {
			return int(k)
		}
	}
}

// Draws implements Sampler.
func (m *randomStopping) Draws(in *Instance, src Source) (func() int, error) {
	gamma, eta, err := m.checked(in)
	if err != nil {
		return nil, err
	}
	d := newDice(src)
	scores := in.quietScores(new(big.Rat).Add(big.NewRat(2, 1), eta), false)
	return func() int {
		var best *noisyScore
		for range d.stoppingTime(gamma, eta) {
			s := scores[d.below(uint64(len(scores)))].draw(d, true)
			if best == nil || s.beats(best) {
				best = s
			}
		}
		return best.candidate
	}, nil
}
