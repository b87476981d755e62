package lp

import (
	"context"
	"math"
	"math/big"

	"optratio/internal/linear"
	"optratio/lattice"
	"optratio/number"
)

// program is the linear program of the optimal mechanism on Q(n,k), enumerated. Columns are the
// variables of the lattice in their order; rows are first the (E) rows, one per
// orbit, then a (P) or (T) row for each variable that is not first on its chain, in the order of the variables, then
// the cuts in force. cuts are added while the program is solved, where they are violated.
type program struct {
	N, K    int
	Level   Level
	Epsilon number.Epsilon

	costs
	cuts []cut  // rows of the level in force
	flip []ball // permute-and-flip, from flipped

	lat   *lattice.Lattice
	vars  *lattice.Numbering
	mass  []*big.Int // N(m) of each orbit
	link  []int32    // row of each variable's own (P) or (T) row, -1 for the first of a chain
	chain []int32    // start of each chain in order
	order []int32    // variables chain by chain
}

// enumerate makes the program of a question about a mean on the lattice of step 2Δ, for as long as the context lasts.
func enumerate(ctx context.Context, q *Request) (*program, error) {
	lat, err := lattice.New(q.N, q.K)
	if err != nil {
		return nil, err
	}
	p := &program{N: q.N, K: q.K, Level: q.Level, Epsilon: q.Epsilon, lat: lat, vars: lat.Number()}
	p.mass = make([]*big.Int, lat.Len())
	for i, m := range lat.All() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.mass[i] = lattice.Multiplicity(m)
	}
	p.costs = p.costsOf(q)
	p.link = make([]int32, p.vars.Len())
	row := int32(lat.Len())
	for j, up := range p.vars.Up {
		p.link[j] = -1
		if up >= 0 {
			p.link[j] = row
			row++
		}
	}
	p.chain, p.order = p.vars.Chains()
	return p, nil
}

// orbits returns the number of (E) rows.
func (p *program) orbits() int { return p.lat.Len() }

// variables returns the number of columns.
func (p *program) variables() int { return p.vars.Len() }

// links returns the number of (P) and (T) rows.
func (p *program) links() int { return p.vars.Len() - (len(p.chain) - 1) }

// model returns the program in floating point, at the float64 nearest to z, for
// solvers: in the variables u/N(m), the probability that a vector of the orbit
// puts on depth v, and with every row divided by its own orbit's N(m). Bases are
// those of rational; a proposal undoes the scaling.
func (p *program) model() *linear.Model {
	z := p.Epsilon.FloatZ()
	m := &linear.Model{
		RowLower: make([]float64, 0, p.orbits()+p.links()),
		RowUpper: make([]float64, 0, p.orbits()+p.links()),
	}
	mass, cost := p.floatMass(), p.floatCosts()
	for range mass {
		m.AddRow(1, 1)
	}
	for range p.links() {
		m.AddRow(0, math.Inf(1))
	}
	for range p.cuts {
		m.AddRow(0, math.Inf(1))
	}
	p.columns(func(j int, rows []int32, entries []entry) {
		orbit := p.vars.Orbit[j]
		m.AddCol(cost(int32(j))*mass[orbit], 0, math.Inf(1), rows, numbers(entries, 1, func(e entry) float64 {
			if e.cut == nil {
				return -z * mass[orbit] / mass[p.vars.Orbit[e.down]]
			}
			below := -float64(p.vars.Count[e.cut.Above]) / float64(p.vars.Count[j])
			if e.cut.Private {
				below *= z
			}
			return below
		}))
	})
	return m
}

// floatMass returns N(m) of each orbit, rounded.
func (p *program) floatMass() []float64 {
	mass := make([]float64, p.orbits())
	for i, n := range p.mass {
		mass[i], _ = n.Float64()
	}
	return mass
}

// rational returns the program with exact numbers, at the given rational z.
func (p *program) rational(z *big.Rat) *linear.Rational {
	one, zero, minus := big.NewRat(1, 1), new(big.Rat), new(big.Rat).Neg(z)
	cost := costIn(p, exactNumbers{})
	r := new(linear.Rational)
	for _, mass := range p.mass {
		n := new(big.Rat).SetInt(mass)
		r.AddRow(n, n)
	}
	for range p.links() {
		r.AddRow(zero, nil)
	}
	for range p.cuts {
		r.AddRow(zero, nil)
	}
	p.columns(func(j int, rows []int32, entries []entry) {
		r.AddCol(cost(int32(j)), zero, nil, rows, numbers(entries, one, func(e entry) *big.Rat {
			if e.cut == nil {
				return minus
			}
			below := p.weightRatio(*e.cut)
			if e.cut.Private {
				below.Mul(below, z)
			}
			return below.Neg(below)
		}))
	})
	return r
}

// entry is a column's entry in a row: 1 where the row bounds the variable from below, and otherwise what the row takes of it to bound another one.
type entry struct {
	one  bool
	down int32 // the variable that is bounded, in a row (P) or (T)
	cut  *cut  // the row, where it is a cut
}

// numbers returns the entries as numbers, those that are not 1 as below has it.
func numbers[T any](entries []entry, one T, below func(e entry) T) []T {
	values := make([]T, len(entries))
	for i, e := range entries {
		if values[i] = one; !e.one {
			values[i] = below(e)
		}
	}
	return values
}

// columns visits the columns: column j's rows and its entries there.
func (p *program) columns(visit func(j int, rows []int32, entries []entry)) {
	cuts := map[int32][]int{}
	for i, c := range p.cuts {
		cuts[c.Above] = append(cuts[c.Above], i)
		cuts[c.Below] = append(cuts[c.Below], i)
	}
	down := p.vars.DownAll()
	var rows []int32
	var entries []entry
	add := func(row int32, e entry) { rows, entries = append(rows, row), append(entries, e) }
	for j := range p.vars.Len() {
		rows, entries = rows[:0], entries[:0]
		add(p.vars.Orbit[j], entry{one: true})
		if p.link[j] >= 0 {
			add(p.link[j], entry{one: true})
		}
		if d := down[j]; d >= 0 {
			add(p.link[d], entry{down: d})
		}
		for _, i := range cuts[int32(j)] {
			add(int32(p.orbits()+p.links()+i), entry{one: p.cuts[i].Above == int32(j), cut: &p.cuts[i]})
		}
		visit(j, rows, entries)
	}
}

// permuteAndFlipBasis returns the basis of permute-and-flip: every (E) and (P) row tight, every column
// and the slacks of (T) rows and cuts basic. It is primal feasible at every ε.
func (p *program) permuteAndFlipBasis() *linear.Basis {
	b := &linear.Basis{
		Col: make([]linear.VarStatus, p.variables()),
		Row: make([]linear.VarStatus, p.orbits()+p.links()+len(p.cuts)),
	}
	for j := range b.Col {
		b.Col[j] = linear.Basic
		if p.link[j] >= 0 && p.vars.Depth[j] == 0 {
			b.Row[p.link[j]] = linear.Basic
		}
	}
	for i := range p.cuts {
		b.Row[p.orbits()+p.links()+i] = linear.Basic
	}
	return b
}
