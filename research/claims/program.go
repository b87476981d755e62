package claims

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/lp"
)

// program is an exact linear program over the symmetric mechanisms on Q(n,k): its columns are the probabilities of one candidate of each orbit and depth.
// It is written out row by row, so that a check can add rows that package lp has no use for.
type program struct {
	vars *lattice.Numbering
	z    *big.Rat
	rows []inequality
}

// inequality says lower <= Σ at[j] x_j <= upper; a nil bound is none.
type inequality struct {
	lower, upper *big.Rat
	at           map[int32]*big.Rat
}

// newProgram returns the program of a level of research/docs/levels.md at z = e^{-ε}.
func newProgram(n, k int, z *big.Rat, level lp.Level) *program {
	l := must(lattice.New(n, k))
	p := &program{vars: l.Number(), z: z}
	one := rat(1, 1)
	for i := range l.Len() {
		at := map[int32]*big.Rat{}
		for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
			at[j] = rat(int64(p.vars.Count[j]), 1)
		}
		p.rows = append(p.rows, inequality{one, one, at})
	}
	seen := map[table.Row]bool{}
	visit := func(r table.Row) bool {
		if !seen[r] {
			seen[r] = true
			p.rows = append(p.rows, p.row(r))
		}
		return true
	}
	rows := table.Lattice{Vars: p.vars, L: 1}
	rows.Worst(visit)
	if level == lp.DP || level == lp.Full {
		rows.Neighbors(visit)
	}
	if level == lp.Monotone || level == lp.Full {
		rows.Monotone(visit)
	}
	return p
}

// row writes x_Above - z x_Below >= 0, without z where the row is not private.
func (p *program) row(r table.Row) inequality {
	below := rat(-1, 1)
	if r.Private {
		below = new(big.Rat).Neg(p.z)
	}
	return inequality{lower: new(big.Rat), at: map[int32]*big.Rat{r.Above: rat(1, 1), r.Below: below}}
}

// depths returns the depths of a column's orbit.
func (p *program) depths(j int32) []int {
	_, k := p.vars.Lattice.Size()
	m := make([]int, k+1)
	p.vars.Lattice.Unrank(int(p.vars.Orbit[j]), m)
	return lattice.Depths(m)
}

// name writes a column as (0,0,2)[2], the depths and that of the candidate.
func (p *program) name(j int32) string {
	return fmt.Sprintf("(%s)[%d]", strings.Trim(strings.ReplaceAll(fmt.Sprint(p.depths(j)), " ", ","), "[]"), p.vars.Depth[j])
}

// raised returns the column of the same candidate after it has been raised to the top.
func (p *program) raised(j int32) int32 {
	depths := p.depths(j)
	depths[slices.Index(depths, int(p.vars.Depth[j]))] = 0
	_, k := p.vars.Lattice.Size()
	return int32(p.vars.Find(lattice.Count(depths, k), 0))
}

// table returns a mechanism's probabilities, column by column.
func (p *program) table(m weighted) []*big.Rat {
	x := make([]*big.Rat, len(p.vars.Orbit))
	for j := range x {
		depths := p.depths(int32(j))
		x[j] = distribution(m, atDepths(p.z, depths))[slices.Index(depths, int(p.vars.Depth[j]))]
	}
	return x
}

// errors returns the coefficients of orbit i's expected error in steps of 2Δ.
func (p *program) errors(i int) map[int32]*big.Rat {
	at := map[int32]*big.Rat{}
	for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
		if v := p.vars.Depth[j]; v > 0 {
			at[j] = rat(int64(v)*int64(p.vars.Count[j]), 1)
		}
	}
	return at
}

// total returns the coefficients of the total error over Q(n,k).
func (p *program) total() map[int32]*big.Rat {
	at := map[int32]*big.Rat{}
	for i, m := range p.vars.Lattice.All() {
		n := new(big.Rat).SetInt(lattice.Multiplicity(m))
		for j, c := range p.errors(i) {
			at[j] = mul(c, n)
		}
	}
	return at
}

// value returns Σ at[j] x_j.
func value(at map[int32]*big.Rat, x []*big.Rat) *big.Rat {
	v := new(big.Rat)
	for j, c := range at {
		v.Add(v, mul(c, x[j]))
	}
	return v
}

// minimise returns the exact minimum of a cost and a point that attains it.
func (p *program) minimise(ctx context.Context, cost map[int32]*big.Rat) (least *big.Rat, x []*big.Rat) {
	return minimise(ctx, len(p.vars.Orbit), p.rows, cost)
}

// minimise returns the exact minimum of a cost over the nonnegative points that satisfy the rows, and a point that attains it.
func minimise(ctx context.Context, columns int, rows []inequality, cost map[int32]*big.Rat) (least *big.Rat, x []*big.Rat) {
	r := new(linear.Rational)
	index := make([][]int32, columns)
	entry := make([][]*big.Rat, columns)
	for _, row := range rows {
		i := int32(r.AddRow(row.lower, row.upper))
		for j, a := range row.at {
			index[j], entry[j] = append(index[j], i), append(entry[j], a)
		}
	}
	for j := range index {
		c, ok := cost[int32(j)]
		if !ok {
			c = new(big.Rat)
		}
		r.AddCol(c, new(big.Rat), nil, index[j], entry[j])
	}
	proposed := must(linear.Embedded{}.Solve(ctx, r.Model(), linear.Options{}))
	exact := must(r.Optimize(ctx, proposed.Basis, linear.Embedded{}))
	for j := range index {
		x = append(x, exact.X.Rat(j))
	}
	return exact.Objective, x
}

// boxes returns {0, …, k}^n.
func boxes(n, k int) [][]int { return combin.Cartesian(slices.Repeat([]int{k + 1}, n)) }

// relaxedProgram is the relaxed program of Appendix D: each probability below the top is tied to that of the same candidate raised to the top.
func relaxedProgram(n, k int, z *big.Rat) *program {
	full := newProgram(n, k, z, lp.Paper)
	p := &program{vars: full.vars, z: z, rows: full.rows[:full.vars.Lattice.Len()]}
	for j, v := range p.vars.Depth {
		if v > 0 {
			p.rows = append(p.rows, inequality{lower: new(big.Rat), at: map[int32]*big.Rat{int32(j): rat(1, 1), p.raised(int32(j)): new(big.Rat).Neg(power(z, int(v)))}})
		}
	}
	return p
}
