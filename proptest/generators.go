package proptest

import (
	"fmt"
	"math/big"
	"math/rand"
	"slices"

	"github.com/leanovate/gopter"

	"optratio/internal/inquiry"
)

// Case is one question to a mechanism. Its numbers are multiples of 1/16384 in all cases that are generated, so
// that float64 holds sums and differences of them exactly.
type Case struct {
	Scores      []float64
	Sensitivity float64
	Epsilon     float64
	Monotonic   bool // neighbors' scores all move in one direction
}

func (c Case) String() string {
	return fmt.Sprintf("scores %v, sensitivity %v, epsilon %v", c.Scores, c.Sensitivity, c.Epsilon)
}

const (
	mostCandidates = 5 // mostly
	rareCandidates = 8
	grain          = 1024
	farthest       = 256 // the largest gap between scores: e^{-ε gap/2Δ} stays far from the limits of float64
)

// drawScores draws a score vector of 1 to 5 candidates, rarely up to 8, in units of Δ, weighted to what goes wrong: one and two
// candidates, ties, near ties, neighbors by the sensitivity, huge gaps, offsets.
func drawScores(rng *rand.Rand) []float64 {
	n := []int{1, 2, 2, 2, 3, 3, 4, mostCandidates}[rng.Intn(8)]
	if rng.Intn(16) == 0 {
		n = mostCandidates + 1 + rng.Intn(rareCandidates-mostCandidates)
	}
	q := make([]float64, n)
	style := rng.Intn(7)
	for r := range q {
		switch style {
		case 0: // all tied
		case 1: // the lattice
			q[r] = -2 * float64(rng.Intn(4))
		case 2: // half steps
			q[r] = -float64(rng.Intn(6))
		case 3: // near ties
			q[r] = -float64(rng.Intn(3)) / grain
		case 4: // anything
			q[r] = -float64(rng.Intn(16*grain)) / grain
		case 5: // huge gaps
			q[r] = -[]float64{0, 1, 40, farthest}[rng.Intn(4)]
		case 6: // the worst case of the expected error: one leader
			if r > 0 {
				q[r] = -3
			}
		}
	}
	rng.Shuffle(n, func(i, j int) { q[i], q[j] = q[j], q[i] })
	offset := []float64{0, 0, 0, 1, -7.5, 1000}[rng.Intn(6)]
	for r := range q {
		q[r] += offset
	}
	return q
}

// drawEpsilon draws a privacy parameter from 1/1024 to 16, mostly between 1/16 and 4.
func drawEpsilon(rng *rand.Rand) float64 {
	if rng.Intn(3) == 0 {
		return []float64{1.0 / grain, 1.0 / 16, 0.5, 1, 4, 16}[rng.Intn(6)]
	}
	return float64(1+rng.Intn(64)) / 16
}

// cases generates whole questions, of sensitivities from 1/8 to 100. They shrink to fewer candidates, smaller scores, ε = 1 and Δ = 1.
func cases() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		c := Case{Sensitivity: []float64{1, 1, 0.5, 3, 0.125, 2, 100}[p.Rng.Intn(7)], Epsilon: drawEpsilon(p.Rng)}
		for _, q := range drawScores(p.Rng) {
			c.Scores = append(c.Scores, q*c.Sensitivity)
		}
		return gopter.NewGenResult(c, func(v any) gopter.Shrink { return shrinkCase(v.(Case)) })
	}
}

// shrinkCase tries ε = 1, Δ = 1 with the scores in proportion, and the simplifications of package verify that float64 holds exactly.
func shrinkCase(c Case) gopter.Shrink {
	var out []Case
	if c.Epsilon != 1 {
		round := c
		round.Epsilon = 1
		out = append(out, round)
	}
	if c.Sensitivity != 1 {
		unit := c
		unit.Sensitivity = 1
		unit.Scores = slices.Clone(c.Scores)
		for r, q := range c.Scores {
			unit.Scores[r] = q / c.Sensitivity
		}
		out = append(out, unit)
	}
	for _, simple := range inquiry.Simpler(c.exact()) {
		next, exact := c, true
		next.Scores = make([]float64, len(simple.Scores))
		for r, q := range simple.Scores {
			var ok bool
			next.Scores[r], ok = q.Float64()
			exact = exact && ok
		}
		if exact {
			out = append(out, next)
		}
	}
	i := 0
	return func() (any, bool) {
		if i == len(out) {
			return Case{}, false
		}
		i++
		return out[i-1], true
	}
}

// exact returns the case's numbers as rationals.
func (c Case) exact() inquiry.Case {
	scores := make([]*big.Rat, len(c.Scores))
	for r, q := range c.Scores {
		scores[r] = new(big.Rat).SetFloat64(q)
	}
	return inquiry.Case{Scores: scores, Sensitivities: []*big.Rat{new(big.Rat).SetFloat64(c.Sensitivity)}}
}
