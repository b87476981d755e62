package lp

import (
	"context"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// maxTabled bounds the variables of programs of other questions than the published one.
const maxTabled = 2_000_000

// program is a question written out: the orbits of its lattice as the groups of a table, variables as its cells, and the rows between them.
type program struct {
	*table.Program
	question *Request
	lat      *lattice.Lattice
	vars     *lattice.Numbering
	unit     *big.Rat   // the program's losses are integers in this unit
	mass     *big.Rat   // and its weights in this one; 1 with Worst
	vectors  []*big.Int // N(m) of the orbits
	weights  []*big.Rat // of the orbits; nil with Worst
}

// newProgram writes a question out, for as long as the context lasts.
func newProgram(ctx context.Context, q *Request) (*program, error) {
	lat, err := lattice.New(q.N, q.depths())
	if err != nil {
		return nil, err
	}
	p := &program{question: q, lat: lat, vars: lat.Number(), mass: big.NewRat(1, 1)}
	rows := table.Lattice{Vars: p.vars, L: q.parts()}
	t := &table.Program{First: p.vars.First, Worst: q.Worst, Each: kept(func(visit func(table.Row) bool) bool { return q.eachRow(rows, visit) })}
	p.Program = t
	if q.Delta != nil {
		t.Delta, t.Pairs = q.Delta, rows.Pairs
	}
	var integers []*big.Int
	integers, p.unit = arith.Multiples(q.losses())
	for j := range len(p.vars.Orbit) {
		t.Count = append(t.Count, int64(p.vars.Count[j]))
		t.Loss = append(t.Loss, integers[p.vars.Depth[j]])
	}
	of := q.Prior.weigher(q)
	for i, m := range lat.All() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.vectors = append(p.vectors, lattice.Multiplicity(m))
		if !q.Worst {
			w := new(big.Rat).SetInt(p.vectors[i])
			p.weights = append(p.weights, w.Mul(w, of(m)))
		}
	}
	if !q.Worst {
		t.Weight, p.mass = arith.Multiples(p.weights)
	}
	rows.Worst(func(r table.Row) bool {
		t.Start = append(t.Start, r)
		return true
	})
	if q.chained() {
		t.Chains = &table.Chains{Up: p.vars.Up, Interior: p.interior}
		t.Chains.Start, t.Chains.Order = p.vars.Chains()
		t.Basis = p.flipBasis()
		return p, nil
	}
	t.Interior = p.interior()
	if len(p.vars.Orbit) >= nearVariables && q.Delta == nil {
		t.Near = p.near()
	}
	return p, nil
}

// eachRow visits all rows of the question.
//
// Where scores are 2Δ apart, monotonicity with the paper's rows implies all of DP's, so that Full needs no more than Monotone. Let q' = q + s with s in {0,1}^n
// after a shift, both in Q(n,k). Where s_r = 1, shift by -1: r stays and the others do not rise, so x_r(q') >= x_r(q) >= z x_r(q). Where
// s_r = 0 and r is not at the top of q', q'+e_r is in Q(n,k), x_r(q') >= z x_r(q'+e_r) by (P), and x_r(q'+e_r) >= x_r(q), again after a shift by -1.
// Where s_r = 0 and r is at the top of q', it is at the top of q as well, q-e_r is in Q(n,k), and
// x_r(q') >= x_r(q-e_r) >= z x_r(q), the others being no higher in q' than in q-e_r after a shift by +1.
func (q *Request) eachRow(rows table.Lattice, visit func(table.Row) bool) bool {
	privacy := rows.Worst
	switch {
	case q.Delta != nil: // has pairs instead
		privacy = func(func(table.Row) bool) bool { return true }
	case q.Level == DP || q.Level == Full && q.parts() > 1:
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

// flipBasis returns the basis of permute-and-flip: every (E) and (P) row tight, every column and the slacks of (T) rows basic. It is primal feasible at
// every ε.
func (p *program) flipBasis() *linear.Basis {
	b := &linear.Basis{Col: make([]linear.VarStatus, len(p.vars.Orbit)), Row: make([]linear.VarStatus, p.lat.Len(), p.lat.Len()+len(p.Start))}
	for j := range b.Col {
		b.Col[j] = linear.Basic
	}
	for _, r := range p.Start {
		var s linear.VarStatus
		if p.vars.Depth[r.Above] == 0 {
			s = linear.Basic
		}
		b.Row = append(b.Row, s)
	}
	return b
}

// nearVariables is the number of variables from which a program is solved from a table near its optimum.
const nearVariables = 1000

// near returns a mechanism that is near the optimum: permute-and-flip, or geometric noisy max on lattices of smaller steps. Both satisfy the rows of every
// level. It returns nil where a probability is too small for a float64.
func (p *program) near() []float64 {
	m := mechanisms.PermuteAndFlip()
	if p.question.parts() > 1 {
		m, _ = mechanisms.Lookup("geo")
	}
	out := make([]float64, len(p.vars.Orbit))
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
func (p *program) interior() []*big.Rat {
	half := -math.Expm1(-p.question.Epsilon.Float()/float64(p.question.parts())) / 2
	base := big.NewRat(1, 1)
	if half > math.Ldexp(1, -200) {
		bits := 20 - math.Ilogb(half)
		part := new(big.Rat).SetFloat64(math.Ldexp(math.Floor(math.Ldexp(half, bits)), -bits))
		base.Sub(base, part)
	}
	_, k := p.lat.Size()
	power := arith.Powers(arith.Rat{}, base, k)
	out := make([]*big.Rat, len(p.vars.Orbit))
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

// proof is what solving a program has shown.
type proof struct {
	*table.Solution
	program *program
	flip    bool // permute-and-flip is the table instead
}

// solve bounds the optimum: exactly where e^ε is rational, to the gap otherwise, or as far as the context lets it. publish, where not nil, takes what is
// known so far.
func (p *program) solve(ctx context.Context, gap *big.Rat, publish func(*proof)) (*proof, error) {
	if publish != nil {
		p.Publish = func(s table.Solution) { publish(&proof{Solution: &s, program: p}) }
	}
	s, err := p.Solve(ctx, p.question.Epsilon, p.question.solver, gap, reported(p.question.Report))
	if err != nil {
		return nil, err
	}
	return &proof{Solution: s, program: p}, nil
}

// optimum and price are those of the solution, in units of the loss.
func (s *proof) optimum() number.Number { return s.Optimum().Mul(number.Exact(s.program.unit)) }
func (s *proof) price() number.Number   { return s.Price().Mul(number.Exact(s.program.unit)) }

// reported hands a solver's progress on.
func reported(report func(int, float64)) func(linear.Progress) {
	if report == nil {
		return nil
	}
	return func(p linear.Progress) { report(p.Pivots, p.Objective) }
}
