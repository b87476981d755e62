package lp

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"optratio/lattice"
	"optratio/mechanisms"
)

// extendedDepth is the depth of the table where none is given.
const extendedDepth = 4

// Extended returns the optimal table at the level dp on the lattice Q(n,k) with scores 2Δ/step apart, as a mechanism for all real scores:
// scores are rounded down after adding one uniform offset, common to all candidates, and depths beyond k count as k. It is ε-DP for
// all scores, and on the lattice it is the table (research/docs/extension.md). Its probabilities are rational at every ε: those
// of a table that satisfies the rows for a z a little above e^{-ε} where that is irrational. k = 0 stands for a depth of 4, or for that of the
// lattice that the mechanism is asked about.
//
// n is limited by the size of the program; beyond it the mechanism fails with mechanisms.ErrInstance.
func Extended(k, step int) mechanisms.Mechanism {
	return newExtended(new(tables), k, step, context.Background())
}

// extension is the mechanism that Extended returns.
type extension struct {
	mechanisms.Mechanism // made of pmf
	tables               *tables
	k, step              int
	ctx                  context.Context
}

func newExtended(tables *tables, k, step int, ctx context.Context) *extension {
	e := &extension{tables: tables, k: k, step: step, ctx: ctx}
	e.Mechanism = mechanisms.FromRational(mechanisms.Info{
		Name:           "lp-extended",
		Summary:        "optimal table at level dp, extended to all scores by rounding with a common offset and clipping",
		Source:         "research/docs/extension.md",
		Claim:          "ε-DP",
		Private:        true,
		ShiftInvariant: true,
		Symmetric:      true,
		Uniform:        true,
	}, e.pmf)
	return e
}

// ForLattice is for mechanisms.ForLattice.
func (e *extension) ForLattice(k int) mechanisms.Mechanism {
	if e.k > 0 {
		return e
	}
	return newExtended(e.tables, k, e.step, e.ctx)
}

// WithContext is for mechanisms.Within.
func (e *extension) WithContext(ctx context.Context) mechanisms.Mechanism {
	return newExtended(e.tables, e.k, e.step, ctx)
}

// pmf averages the table over the offset U: with a_r the scores in steps of the lattice, ⌊a_r + U⌋ changes at U = 1 - frac(a_r) alone.
func (e *extension) pmf(in *mechanisms.Instance) ([]*big.Rat, error) {
	table, err := e.tables.of(e.ctx, &Request{N: len(in.Scores), K: cmp.Or(e.k, extendedDepth), Step: e.step, Epsilon: in.Epsilon, Level: DP}, "lp-extended")
	if err != nil {
		return nil, err
	}
	step := in.Sensitivity()
	step = new(big.Rat).Quo(new(big.Rat).Add(step, step), big.NewRat(int64(e.step), 1))
	whole, change := make([]*big.Int, len(in.Scores)), make([]*big.Rat, len(in.Scores))
	breaks := []*big.Rat{new(big.Rat), big.NewRat(1, 1)}
	for r, q := range in.Scores {
		a := new(big.Rat).Quo(q, step)
		whole[r] = new(big.Int).Div(a.Num(), a.Denom()) // rounded down, as the denominator is positive
		change[r] = new(big.Rat).Sub(new(big.Rat).SetInt(whole[r]), a)
		change[r].Add(change[r], big.NewRat(1, 1))
		breaks = append(breaks, change[r])
	}
	slices.SortFunc(breaks, (*big.Rat).Cmp)
	breaks = slices.CompactFunc(breaks, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	p := make([]*big.Rat, len(in.Scores))
	for r := range p {
		p[r] = new(big.Rat)
	}
	_, k := table.program.lat.Size()
	for i := range len(breaks) - 1 {
		share := new(big.Rat).Sub(breaks[i+1], breaks[i])
		depths := rounded(whole, change, breaks[i], k)
		counts := lattice.Count(depths, k)
		for r, v := range depths {
			p[r].Add(p[r], new(big.Rat).Mul(share, table.probability(counts, v)))
		}
	}
	return p, nil
}

// rounded returns the depths of the scores rounded with an offset, clipped.
func rounded(whole []*big.Int, change []*big.Rat, offset *big.Rat, deepest int) []int {
	scores := make([]*big.Int, len(whole))
	var best *big.Int
	for r, w := range whole {
		scores[r] = w
		if offset.Cmp(change[r]) >= 0 {
			scores[r] = new(big.Int).Add(w, big.NewInt(1))
		}
		if best == nil || scores[r].Cmp(best) > 0 {
			best = scores[r]
		}
	}
	depths := make([]int, len(whole))
	for r, s := range scores {
		depths[r] = deepest
		if d := new(big.Int).Sub(best, s); d.IsInt64() && d.Int64() < int64(deepest) {
			depths[r] = int(d.Int64())
		}
	}
	return depths
}
