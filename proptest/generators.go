package proptest

import (
	"fmt"
	"math/big"
	"math/rand"
	"reflect"
	"slices"

	"github.com/leanovate/gopter"

	"optratio/verify"
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

// Scores generates score vectors of 1 to 5 candidates, rarely up to 8, in units of Δ, weighted to what goes wrong: one and two
// candidates, ties, near ties, neighbors by the sensitivity, huge gaps, offsets. They shrink towards few
// candidates and round numbers.
func Scores() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(drawScores(p.Rng), shrinkScores)
	}
}

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

// Epsilons generates privacy parameters from 1/1024 to 16, mostly between 1/16 and 4; they shrink to 1.
func Epsilons() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(drawEpsilon(p.Rng), func(v any) gopter.Shrink {
			return stream([]float64{1}, func(e float64) bool { return e != v.(float64) })
		})
	}
}

func drawEpsilon(rng *rand.Rand) float64 {
	if rng.Intn(3) == 0 {
		return []float64{1.0 / grain, 1.0 / 16, 0.5, 1, 4, 16}[rng.Intn(6)]
	}
	return float64(1+rng.Intn(64)) / 16
}

// Permutations generates permutations of n candidates. They shrink to a swap of two neighbors.
func Permutations(n int) gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(p.Rng.Perm(n), func(v any) gopter.Shrink {
			var swaps [][]int
			for i := range n - 1 {
				swap := make([]int, n)
				for j := range swap {
					swap[j] = j
				}
				swap[i], swap[i+1] = i+1, i
				swaps = append(swaps, swap)
			}
			return stream(swaps, func(s []int) bool { return displaced(s) < displaced(v.([]int)) })
		})
	}
}

func displaced(p []int) (count int) {
	for i, j := range p {
		if i != j {
			count++
		}
	}
	return count
}

// Neighbors generates the scores of neighbors of a case: every score moves by at most the sensitivity, mostly by
// all of it or not at all, and in one direction where the case says so. They shrink towards the case's own.
func Neighbors(c Case) gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		sign := float64(2*p.Rng.Intn(2) - 1)
		q := make([]float64, len(c.Scores))
		for r, s := range c.Scores {
			step := []float64{-1, 0, 0, 1, float64(p.Rng.Intn(2*grain+1)-grain) / grain}[p.Rng.Intn(5)]
			if c.Monotonic {
				step = sign * max(step, -step)
			}
			q[r] = s + float64(step*c.Sensitivity)
		}
		return gopter.NewGenResult(q, func(v any) gopter.Shrink {
			var closer [][]float64
			for r, x := range v.([]float64) {
				if x != c.Scores[r] {
					nearer := append([]float64(nil), v.([]float64)...)
					nearer[r] = c.Scores[r]
					closer = append(closer, nearer)
				}
			}
			return stream(closer, func([]float64) bool { return true })
		})
	}
}

// Cases generates whole questions, of sensitivities from 1/8 to 100. They shrink to fewer candidates, smaller scores, ε = 1 and Δ = 1.
func Cases() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		c := Case{Sensitivity: []float64{1, 1, 0.5, 3, 0.125, 2, 100}[p.Rng.Intn(7)], Epsilon: drawEpsilon(p.Rng)}
		for _, q := range drawScores(p.Rng) {
			c.Scores = append(c.Scores, q*c.Sensitivity)
		}
		return gopter.NewGenResult(c, func(v any) gopter.Shrink { return shrinkCase(v.(Case)) })
	}
}

func shrinkScores(v any) gopter.Shrink {
	return shrinkCase(Case{Scores: v.([]float64), Sensitivity: 1, Epsilon: 1}).Map(func(c Case) []float64 { return c.Scores })
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
	for _, simple := range verify.Simpler(c.exact()) {
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
	return stream(out, func(Case) bool { return true })
}

// exact returns the case's numbers as rationals.
func (c Case) exact() verify.Case {
	scores := make([]*big.Rat, len(c.Scores))
	for r, q := range c.Scores {
		scores[r] = new(big.Rat).SetFloat64(q)
	}
	return verify.Case{Scores: scores, Sensitivities: []*big.Rat{new(big.Rat).SetFloat64(c.Sensitivity)}}
}

// stream is a Shrink of the values that pass.
func stream[T any](values []T, pass func(T) bool) gopter.Shrink {
	i := 0
	return func() (any, bool) {
		for i < len(values) {
			v := values[i]
			i++
			if pass(v) {
				return v, true
			}
		}
		return reflect.Zero(reflect.TypeFor[T]()).Interface(), false
	}
}
