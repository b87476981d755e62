package lp

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// extended is the mechanism of research/docs/extension.md at real scores, given here as multiples of 1/parts of a lattice step: one uniform offset for all
// candidates, rounding down, depths cut at most, then the table. The offset matters only through its integer part in parts, so
// the average over it is a sum of parts terms.
func extended(table func([]int) []*big.Rat, most, parts int, scores []int) []*big.Rat {
	pmf := make([]*big.Rat, len(scores))
	for r := range pmf {
		pmf[r] = new(big.Rat)
	}
	for offset := range parts {
		rounded := make([]int, len(scores))
		for r, q := range scores {
			rounded[r] = floorDiv(q+offset, parts)
		}
		best := slices.Max(rounded)
		for r := range rounded {
			rounded[r] = min(best-rounded[r], most)
		}
		for r, p := range table(rounded) {
			pmf[r].Add(pmf[r], new(big.Rat).Mul(p, big.NewRat(1, int64(parts))))
		}
	}
	return pmf
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// violations counts how often the extension of a table breaks privacy, symmetry or shift-invariance between random scores, and whether it
// reproduces the table.
func violations(t *testing.T, s small, z *big.Rat, table func([]int) []*big.Rat, parts, trials int) (private int) {
	rng := rand.New(rand.NewPCG(1, 2))
	most := s.k * s.l
	for _, q := range vectors(s.n, most) {
		scores := make([]int, s.n)
		for r, v := range q {
			scores[r] = -v * parts
		}
		want := table(q)
		for r, p := range extended(table, most, parts, scores) {
			assert.Zero(t, p.Cmp(want[r]), "%v", q)
		}
	}
	lattice := vectors(s.n, most)
	for i := range trials {
		q, p := make([]int, s.n), make([]int, s.n)
		for r := range q { // every other pair is on the lattice, with neighbors as far away as they can be: Δ is l/2 steps
			q[r] = -rng.IntN((most + 2) * parts)
			p[r] = q[r] + rng.IntN(s.l*parts+1) - s.l*parts/2
			if i%2 == 0 {
				q[r] = -lattice[i/2%len(lattice)][r] * parts
				p[r] = q[r] + rng.IntN(2)*s.l*parts - s.l*parts/2
			}
		}
		x, y := extended(table, most, parts, q), extended(table, most, parts, p)
		shifted := slices.Clone(q)
		for r := range shifted {
			shifted[r] += 5
		}
		moved := extended(table, most, parts, shifted)
		reversed := slices.Clone(q)
		slices.Reverse(reversed)
		back := extended(table, most, parts, reversed)
		for r := range x {
			if y[r].Cmp(new(big.Rat).Mul(z, x[r])) < 0 || x[r].Cmp(new(big.Rat).Mul(z, y[r])) < 0 {
				private++
			}
			assert.Zero(t, moved[r].Cmp(x[r]), "shift: %v", q)
			assert.Zero(t, back[s.n-1-r].Cmp(x[r]), "symmetry: %v", q)
		}
	}
	return private
}

// Every table that satisfies dp extends to real scores; the optimal table of the paper's program at (3,3), e^ε = 3/2, which is not ε-DP, does not.
func TestExtensionIsPrivate(t *testing.T) {
	z := big.NewRat(2, 3)
	for _, c := range []struct {
		n, k, l int
		level   Level
	}{{2, 3, 1, DP}, {3, 3, 1, DP}, {3, 2, 2, DP}, {3, 2, 3, DP}, {3, 3, 1, Full}, {4, 2, 1, DP}} {
		s := small{n: c.n, k: c.k, l: c.l, level: c.level, loss: depthLoss(c.l)}
		assert.Zero(t, violations(t, s, z, s.table(t, z), 6, 300), "%+v", c)
	}
	s := small{n: 3, k: 3, l: 1, level: Paper, loss: depthLoss(1)}
	assert.Positive(t, violations(t, s, z, s.table(t, z), 6, 300))
	// A little less privacy than the table has is seen as well.
	s.level = DP
	assert.Positive(t, violations(t, s, big.NewRat(67, 100), s.table(t, z), 6, 300))
}

// Clipping breaks monotonicity: permute-and-flip's table on Q(3,1), scores (0, -1, -2): lowering candidate 0 by a step lets candidate 2 win less often.
func TestExtensionIsNotMonotone(t *testing.T) {
	z := big.NewRat(1, 2)
	table := func(q []int) []*big.Rat { return flip(z, q) }
	before := extended(table, 1, 2, []int{0, -2, -4})
	after := extended(table, 1, 2, []int{-2, -2, -4})
	assert.Equal(t, "5/24", before[2].RatString())
	assert.Equal(t, "1/6", after[2].RatString())
}
