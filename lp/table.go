package lp

import (
	"context"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// maxTabled bounds the variables of programs over tables.
const maxTabled = 2_000_000

// tableProgram is any question as a program over tables: the orbits of its lattice, and the rows between them.
type tableProgram struct {
	*table.Program
	question *Request
	lat      *lattice.Lattice
	vars     *lattice.Numbering
	unit     *big.Rat   // the program's losses are integers in this unit
	mass     *big.Rat   // and its weights in this one; 1 with Worst
	weights  []*big.Rat // of the orbits; nil with Worst
}

// newTable writes a question out.
func newTable(q *Request) (*tableProgram, error) {
	lat, err := lattice.New(q.N, q.depths())
	if err != nil {
		return nil, err
	}
	p := &tableProgram{question: q, lat: lat, vars: lat.Number(), mass: big.NewRat(1, 1)}
	rows := table.Lattice{Vars: p.vars, L: q.parts()}
	t := &table.Program{First: p.vars.First, Worst: q.Worst, Each: kept(func(visit func(table.Row) bool) bool { return q.eachRow(rows, visit) })}
	if q.Delta != nil {
		t.Delta, t.Pairs = q.Delta, rows.Pairs
	}
	var integers []*big.Int
	integers, p.unit = arith.Multiples(q.losses())
	for j := range p.vars.Len() {
		t.Count = append(t.Count, int64(p.vars.Count[j]))
		t.Loss = append(t.Loss, integers[p.vars.Depth[j]])
	}
	if !q.Worst {

		of := q.orbitWeight()
		for _, m := range lat.All() {
			p.weights = append(p.weights, of(m))
		}
		t.Weight, p.mass = arith.Multiples(p.weights)
	}
	rows.Worst(func(r table.Row) bool {
		t.Start = append(t.Start, r)
		return true
	})
	t.Interior = p.interior()
	if p.vars.Len() >= nearVariables && q.Delta == nil {
		t.Near = p.near()
	}
	p.Program = t
	return p, nil
}

// eachRow visits all rows of the question.
func (q *Request) eachRow(rows table.Lattice, visit func(table.Row) bool) bool {
	privacy := rows.Worst
	switch {
	case q.Delta != nil: // has pairs instead
		privacy = func(func(table.Row) bool) bool { return true }
	case q.Level.neighbors():
		privacy = rows.Neighbors
	}
	return privacy(visit) && (!q.Level.monotone() || rows.Monotone(visit))
}

// keptRows is the number of rows up to which they are kept instead of being found again each time.
const keptRows = 4_000_000

// kept returns a visitor that keeps what another one visits, if it is no more than keptRows.
func kept(each func(visit func(table.Row) bool) bool) func(visit func(table.Row) bool) bool {
	var rows []table.Row
	if !each(func(r table.Row) bool {
		rows = append(rows, r)
		return len(rows) <= keptRows
	}) {
		return each
	}
	return func(visit func(table.Row) bool) bool {
		for _, r := range rows {
			if !visit(r) {
				return false
			}
		}
		return true
	}
}

// nearVariables is the number of variables from which a program is solved from a table near its optimum.
const nearVariables = 1000

// near returns a mechanism that is near the optimum: permute-and-flip, or geometric noisy max on lattices of smaller steps. Both satisfy the rows of every
// level. It returns nil where a probability is too small for a float64.
func (p *tableProgram) near() []float64 {
	m := mechanisms.PermuteAndFlip()
	if p.question.parts() > 1 {
		m, _ = mechanisms.Lookup("geo")
	}
	out := make([]float64, p.vars.Len())
	for i, counts := range p.lat.All() {
		pmf, err := m.Float(p.question.instance(lattice.Depths(counts)))
		if err != nil {
			return nil
		}
		r := 0
		for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
			if out[j] = pmf[r]; !(out[j] > 0) {
				return nil
			}
			r += int(p.vars.Count[j])
		}
	}
	return out
}

// interior returns the exponential mechanism with a weight per step of the lattice half-way between z^{1/L} and 1, rounded: private
// with a smaller ε and strictly monotone. Where ε is 0, or too small for that to matter, it is the uniform choice.
func (p *tableProgram) interior() []*big.Rat {
	half := -math.Expm1(-p.question.Epsilon.Float()/float64(p.question.parts())) / 2
	base := big.NewRat(1, 1)
	if half > math.Ldexp(1, -200) {
		bits := 20 - math.Ilogb(half)
		part := new(big.Rat).SetFloat64(math.Ldexp(math.Floor(math.Ldexp(half, bits)), -bits))
		base.Sub(base, part)
	}
	power := arith.Powers(arith.Rat{}, base, p.lat.K())
	out := make([]*big.Rat, p.vars.Len())
	for i := range p.lat.Len() {
		sum := new(big.Rat)
		for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
			sum.Add(sum, new(big.Rat).Mul(power[p.vars.Depth[j]], big.NewRat(int64(p.vars.Count[j]), 1)))
		}
		for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
			out[j] = new(big.Rat).Quo(power[p.vars.Depth[j]], sum)
		}
	}
	return out
}

// tableProof is what solving a program over tables has shown.
type tableProof struct {
	*table.Solution
	program *tableProgram
}

// solve bounds the optimum: exactly where e^ε is rational, to the gap otherwise, or as far as the context lets it.
func (p *tableProgram) solve(ctx context.Context, gap *big.Rat) (*tableProof, error) {
	s, err := p.Solve(ctx, p.question.Epsilon, p.question.solver, gap, reported(p.question.Report))
	if err != nil {
		return nil, err
	}
	return &tableProof{s, p}, nil
}

// optimum and price are those of the solution, in units of the loss.
func (s *tableProof) optimum() number.Number { return s.Optimum().Mul(number.Exact(s.program.unit)) }
func (s *tableProof) price() number.Number   { return s.Price().Mul(number.Exact(s.program.unit)) }
