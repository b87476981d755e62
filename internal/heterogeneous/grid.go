// Package heterogeneous finds the best ε-DP selection mechanism for candidates of different
// sensitivities on a small grid of score vectors, and says how far other mechanisms are from it.
//
// Candidate a has sensitivity Δ_a; score vectors q and q' are neighbors iff |q'_a - q_a| <= Δ_a for every
// a. Package optimum solves the problem that a Grid describes: its inputs are the vectors and its outputs the candidates, and taking r at q costs q* - q_r or its
// square. Neither symmetry nor monotonicity is assumed: the optimum bounds every mechanism that is ε-DP on the grid. On request mechanisms are
// shift-invariant, x_r(q + c) = x_r(q) for every real c; then inputs are the differences of scores.
//
// The package does not make mechanisms, does not treat grids beyond a few thousand vectors, and
// knows one ε-DP neighbor relation, the one above.
package heterogeneous

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/certtext"
	"optratio/internal/optimum"
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
	Steps         int        // 1 to MaxVectors
	// ShiftInvariant restricts mechanisms to functions of the differences of scores. The vectors are then those with
	// least level 0, each standing for all its shifts within the grid; and two are neighbors iff
	// they are after some real shift, that is iff each difference of two scores changes by at most Δ_a + Δ_b.
	ShiftInvariant bool
}

// Check reports sensitivities that are none, and grids that are too large.
func (g *Grid) Check() error {
	n := len(g.Sensitivities)
	if n < 1 || n > maxCandidates {
		return fmt.Errorf("%w: %d sensitivities, want 1 to %d", ErrGrid, n, maxCandidates)
	}
	in := mechanisms.Instance{Scores: slices.Repeat([]*big.Rat{new(big.Rat)}, n), Sensitivities: g.Sensitivities}
	if err := in.CheckScores(); err != nil {
		return fmt.Errorf("%w: %w", ErrGrid, err)
	}
	total := 1
	for range n {
		if total *= g.Steps + 1; total > MaxVectors && !g.ShiftInvariant || total > 64*MaxVectors {
			return fmt.Errorf("%w: more than %d score vectors; take fewer candidates or a coarser grid", ErrGrid, MaxVectors)
		}
	}
	return nil
}

// problem describes a grid to package optimum, and lists the levels of its vectors, in steps above From.
func (g *Grid) problem(squared, worst bool) (p *optimum.Problem, levels [][]int, err error) {
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	p, total := &optimum.Problem{}, new(big.Rat)
	at := make([]int, len(g.Sensitivities))
	for r := range at {
		p.Outputs = append(p.Outputs, strconv.Itoa(r))
	}
	for more := true; more; more = advance(at, g.Steps) {
		weight := int64(1) // how many vectors of the grid it stands for
		if g.ShiftInvariant {
			if slices.Min(at) > 0 {
				continue
			}
			weight += int64(g.Steps - slices.Max(at))
		}
		if len(levels) == MaxVectors {
			return nil, nil, fmt.Errorf("%w: more than %d score vectors; take fewer candidates or a coarser grid", ErrGrid, MaxVectors)
		}
		levels = append(levels, slices.Clone(at))
		p.Inputs = append(p.Inputs, strings.Trim(fmt.Sprint(at), "[]"))
		var losses []*big.Rat
		for _, level := range at {
			x := new(big.Rat).Mul(g.Step, big.NewRat(int64(slices.Max(at)-level), 1))
			if squared {
				x.Mul(x, x)
			}
			losses = append(losses, x)
		}
		p.Loss, p.Prior = append(p.Loss, losses), append(p.Prior, big.NewRat(weight, 1))
		total.Add(total, big.NewRat(weight, 1))
	}
	for _, w := range p.Prior {
		w.Quo(w, total)
	}
	if worst {
		p.Prior = nil
	}
	p.Pairs, err = g.pairs(levels)
	return p, levels, err
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

// reach is by how many steps a score may change, alone (of a and a) or relative to another one; no difference of the grid changes by more than twice its steps.
func (g *Grid) reach() [][]int {
	steps := func(d *big.Rat) int {
		d = new(big.Rat).Quo(d, g.Step)
		floor := new(big.Int).Quo(d.Num(), d.Denom())
		if most := 2 * g.Steps; floor.Cmp(big.NewInt(int64(most))) > 0 {
			return most
		}
		return int(floor.Int64())
	}
	reach := make([][]int, len(g.Sensitivities))
	for a, da := range g.Sensitivities {
		for _, db := range g.Sensitivities {
			reach[a] = append(reach[a], steps(new(big.Rat).Add(da, db)))
		}
		if !g.ShiftInvariant {
			reach[a][a] = steps(da)
		}
	}
	return reach
}

// near reports whether two vectors are neighbors. For shifts: the intervals of shifts that suit single candidates have a common point iff any two of them do (Helly).
func (g *Grid) near(reach [][]int, p, q []int) bool {
	for a := range p {
		change := q[a] - p[a]
		if !g.ShiftInvariant && max(change, -change) > reach[a][a] {
			return false
		}
		for b := range a {
			if relative := change - (q[b] - p[b]); g.ShiftInvariant && max(relative, -relative) > reach[a][b] {
				return false
			}
		}
	}
	return true
}

// pairs finds the neighbors.
func (g *Grid) pairs(levels [][]int) (pairs []optimum.Pair, err error) {
	reach := g.reach()
	for i, p := range levels {
		for j := range i {
			if !g.near(reach, p, levels[j]) {
				continue
			}
			if len(pairs) == maxPairs {
				return nil, fmt.Errorf("%w: more than %d pairs of neighbors; take fewer candidates or a coarser grid", ErrGrid, maxPairs)
			}
			pairs = append(pairs, optimum.Pair{From: i, To: j})
		}
	}
	return pairs, nil
}

// statement is how a certificate states the problem (docs/reference/certificate.md).
func (g *Grid) statement(squared, worst bool) []string {
	text := func(xs ...*big.Rat) string {
		out := ""
		for _, x := range xs {
			out += " " + certtext.Value(x)
		}
		return out
	}
	return []string{
		"heterogeneous", "sensitivities" + text(g.Sensitivities...), "from" + text(g.From), "step" + text(g.Step), fmt.Sprint("steps ", g.Steps),
		"mechanisms " + map[bool]string{false: "all", true: "shift-invariant"}[g.ShiftInvariant],
		"loss " + map[bool]string{false: "error", true: "mse"}[squared],
		"prior " + map[bool]string{false: "uniform", true: "worst"}[worst],
	}
}

// scores returns a vector in the user's units.
func (g *Grid) scores(levels []int) []*big.Rat {
	out := make([]*big.Rat, len(levels))
	for a, level := range levels {
		out[a] = new(big.Rat).Mul(g.Step, big.NewRat(int64(level), 1))
		out[a].Add(out[a], g.From)
	}
	return out
}
