package heterogeneous

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

// ErrGrid is wrapped by errors about grids.
var ErrGrid error = number.InputError("grid")

// Limits of grids: score vectors, pairs of neighbors, and candidates.
const (
	MaxVectors    = 4096
	maxPairs      = 1 << 22
	maxCandidates = 8
)

// Grid is the set of score vectors {From, From + Step, …, From + Steps·Step}^n for n = len(Sensitivities)
// candidates.
type Grid struct {
	Sensitivities []*big.Rat // one each, >= 0, not all 0; in the units of the scores
	From, Step    *big.Rat   // Step > 0
	Steps         int        // >= 1
	// ShiftInvariant restricts mechanisms to functions of the differences of scores. The vectors are then those with
	// least level 0, each standing for all its shifts within the grid; and two are neighbors iff
	// they are after some real shift, that is iff each difference of two scores changes by at most Δ_a + Δ_b.
	ShiftInvariant bool
}

// Check reports the first thing wrong with the grid.
func (g *Grid) Check() error {
	n := len(g.Sensitivities)
	if n < 1 || n > maxCandidates {
		return fmt.Errorf("%w: %d sensitivities, want 1 to %d", ErrGrid, n, maxCandidates)
	}
	in := mechanisms.Instance{Scores: slices.Repeat([]*big.Rat{new(big.Rat)}, n), Sensitivities: g.Sensitivities}
	if err := in.CheckScores(); err != nil {
		return fmt.Errorf("%w: %w", ErrGrid, err)
	}
	if g.From == nil || g.Step == nil || g.Step.Sign() <= 0 {
		return fmt.Errorf("%w: the step must be > 0", ErrGrid)
	}
	if g.Steps < 1 || g.Steps > MaxVectors {
		return fmt.Errorf("%w: %d steps, want 1 to %d", ErrGrid, g.Steps, MaxVectors)
	}
	total := 1
	for range n {
		if total *= g.Steps + 1; total > MaxVectors && !g.ShiftInvariant || total > 64*MaxVectors {
			return fmt.Errorf("%w: more than %d score vectors; take fewer candidates or a coarser grid", ErrGrid, MaxVectors)
		}
	}
	return nil
}

// space is a Grid written out.
type space struct {
	grid      *Grid
	n         int
	levels    [][]int   // of each vector, in steps above From
	weight    []int64   // grid vectors that it stands for
	neighbors [][]int32 // of each vector, itself excluded, ascending
}

// newSpace lists the vectors and the neighbors of a grid.
func newSpace(g *Grid) (*space, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	s := &space{grid: g, n: len(g.Sensitivities)}
	at := make([]int, s.n)
	for more := true; more; more = advance(at, g.Steps) {
		weight := 1
		if g.ShiftInvariant {
			if slices.Min(at) > 0 {
				continue
			}
			weight += g.Steps - slices.Max(at)
		}
		if len(s.levels) == MaxVectors {
			return nil, fmt.Errorf("%w: more than %d score vectors; take fewer candidates or a coarser grid", ErrGrid, MaxVectors)
		}
		s.levels = append(s.levels, slices.Clone(at))
		s.weight = append(s.weight, int64(weight))
	}
	return s, s.link()
}

// advance counts up, the last candidate fastest, and reports false after the last vector.
func advance(at []int, top int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] < top {
			at[i]++
			return true
		}
		at[i] = 0
	}
	return false
}

// link finds the neighbors.
func (s *space) link() error {
	alone, pair := s.reach()
	s.neighbors = make([][]int32, len(s.levels))
	pairs := 0
	for i, p := range s.levels {
		for j := range i {
			if !s.near(p, s.levels[j], alone, pair) {
				continue
			}
			s.neighbors[i] = append(s.neighbors[i], int32(j))
			s.neighbors[j] = append(s.neighbors[j], int32(i))
			if pairs++; pairs > maxPairs {
				return fmt.Errorf("%w: more than %d pairs of neighbors; take fewer candidates or a coarser grid", ErrGrid, maxPairs)
			}
		}
	}
	return nil
}

// reach returns by how many steps a score may change, and a difference of two scores.
func (s *space) reach() (alone []int, pair [][]int) {
	steps := func(d *big.Rat) int {
		d = new(big.Rat).Quo(d, s.grid.Step)
		floor := new(big.Int).Quo(d.Num(), d.Denom())
		if most := 2 * s.grid.Steps; floor.Cmp(big.NewInt(int64(most))) > 0 {
			return most // no difference of the grid changes by more
		}
		return int(floor.Int64())
	}
	alone, pair = make([]int, s.n), make([][]int, s.n)
	for a, da := range s.grid.Sensitivities {
		alone[a], pair[a] = steps(da), make([]int, s.n)
		for b, db := range s.grid.Sensitivities {
			pair[a][b] = steps(new(big.Rat).Add(da, db))
		}
	}
	return alone, pair
}

// near reports whether two vectors are neighbors. For shifts: the intervals of shifts that
// suit single candidates have a common point iff any two of them do (Helly).
func (s *space) near(p, q []int, alone []int, pair [][]int) bool {
	for a := range p {
		change := q[a] - p[a]
		if !s.grid.ShiftInvariant {
			if max(change, -change) > alone[a] {
				return false
			}
			continue
		}
		for b := range a {
			relative := change - (q[b] - p[b])
			if max(relative, -relative) > pair[a][b] {
				return false
			}
		}
	}
	return true
}

// scores returns a vector in the user's units.
func (s *space) scores(q int) []*big.Rat {
	out := make([]*big.Rat, s.n)
	for a, level := range s.levels[q] {
		out[a] = new(big.Rat).SetInt64(int64(level))
		out[a].Mul(out[a], s.grid.Step)
		out[a].Add(out[a], s.grid.From)
	}
	return out
}

// gap returns how many steps candidate r is below the best one at q.
func (s *space) gap(q, r int) int64 { return int64(slices.Max(s.levels[q]) - s.levels[q][r]) }
