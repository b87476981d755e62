package variant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Program is a question written out: the orbits of its lattice, their weights and losses, and the rows between them.
type Program struct {
	Question Question
	lat      *lattice.Lattice
	vars     *lattice.Numbering
	weights  []*big.Rat // of each orbit; nil with Worst
	losses   []*big.Rat // of each depth
	unit     *big.Rat   // the losses of table are integers in this unit
	mass     *big.Rat   // and its weights in this one
	table    *table.Program
}

// New writes a question out.
func New(q Question) (*Program, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	losses, err := q.Loss.of(&q)
	if err != nil {
		return nil, err
	}
	lat, err := lattice.New(q.N, q.Depths())
	if err != nil {
		return nil, err
	}
	if why := q.TooMany(); why != "" {
		return nil, fmt.Errorf("%w: %s", lattice.ErrSize, why)
	}
	p := &Program{Question: q, lat: lat, vars: lat.Number(), losses: losses}
	if !q.Worst {
		if p.weights, err = q.Prior.of(&p.Question, lat); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// MaxVariables bounds the programs that New writes out.
const MaxVariables = 2_000_000

// Size says how many variables the question's program has.
func (q *Question) Size() string {
	steps := "2Δ"
	if q.L > 1 {
		steps = fmt.Sprintf("2Δ/%d", q.L)
	}
	return fmt.Sprintf("n = %d, k = %d in steps of %s give %s variables", q.N, q.K, steps, decimal.Count(lattice.Variables(q.N, q.Depths())))
}

// TooMany says why New refuses a question for its size; it is empty where it does not.
func (q *Question) TooMany() string {
	if lattice.Variables(q.N, q.Depths()).Cmp(big.NewInt(MaxVariables)) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s, more than %d; use smaller n or k, or a coarser step", q.Size(), MaxVariables)
}

// tabled returns the program over tables.
func (p *Program) tabled() *table.Program {
	if p.table != nil {
		return p.table
	}
	t := &table.Program{First: p.vars.First, Worst: p.Question.Worst}
	t.Each = p.eachRow()
	if p.Question.Delta != nil {
		t.Delta, t.Pairs = p.Question.Delta, Rows{p.vars, p.Question.L}.Pairs
	}
	var integers []*big.Int
	integers, p.unit = arith.Multiples(p.losses)
	for j := range p.vars.Len() {
		t.Count = append(t.Count, int64(p.vars.Count[j]))
		t.Loss = append(t.Loss, integers[p.vars.Depth[j]])
	}
	if !p.Question.Worst {
		t.Weight, p.mass = arith.Multiples(p.weights)
	}
	Rows{p.vars, p.Question.L}.Worst(func(r table.Row) bool {
		t.Start = append(t.Start, r)
		return true
	})
	t.Interior = p.interior()
	if p.vars.Len() >= nearVariables && p.Question.Delta == nil {
		t.Near = p.near()
	}
	p.table = t
	return t
}

// keptRows is the number of rows up to which they are kept instead of being found again each time.
const keptRows = 4_000_000

// eachRow returns the visitor of all rows.
func (p *Program) eachRow() func(visit func(table.Row) bool) bool {
	var kept []table.Row
	if !p.Question.eachRow(p.vars, func(r table.Row) bool {
		kept = append(kept, r)
		return len(kept) <= keptRows
	}) {
		return func(visit func(table.Row) bool) bool { return p.Question.eachRow(p.vars, visit) }
	}
	return func(visit func(table.Row) bool) bool {
		for _, r := range kept {
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
func (p *Program) near() []float64 {
	m := mechanisms.PermuteAndFlip()
	if p.Question.L > 1 {
		m, _ = mechanisms.Lookup("geo")
	}
	out := make([]float64, p.vars.Len())
	for i, counts := range p.lat.All() {
		pmf, err := m.Float(p.Question.Instance(lattice.Depths(counts)))
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
func (p *Program) interior() []*big.Rat {
	half := -math.Expm1(-p.Question.Epsilon.Float()/float64(p.Question.L)) / 2
	base := big.NewRat(1, 1)
	if half > math.Ldexp(1, -200) {
		bits := 20 - math.Ilogb(half)
		part := new(big.Rat).SetFloat64(math.Ldexp(math.Floor(math.Ldexp(half, bits)), -bits))
		base.Sub(base, part)
	}
	power := []*big.Rat{big.NewRat(1, 1)}
	for range p.lat.K() {
		power = append(power, new(big.Rat).Mul(power[len(power)-1], base))
	}
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

// Solution is a solved program: the optimum in units of the loss, and what it follows from.
type Solution struct {
	*table.Solution
	Optimum table.Bounds
	program *Program
}

// Solve bounds the optimum: exactly where e^ε is rational, to the gap otherwise, or as far as the context lets it.
func (p *Program) Solve(ctx context.Context, solver linear.Solver, gap *big.Rat, report func(linear.Progress)) (*Solution, error) {
	s, err := p.tabled().Solve(ctx, p.Question.Epsilon, solver, gap, report)
	return p.solution(s, err)
}

func (p *Program) solution(s *table.Solution, err error) (*Solution, error) {
	if err != nil {
		return nil, err
	}
	return &Solution{s, table.Bounds{Low: new(big.Rat).Mul(s.Lower, p.unit), High: new(big.Rat).Mul(s.Upper, p.unit)}, p}, nil
}

// Prove returns what a table of masses, by variable, and multipliers of rows show. A row's multiplier is in the units of the prior and the loss, and
// for its upper variable's mass.
func (p *Program) Prove(mass []*big.Rat, rows []table.Row, multiplier []*big.Rat, zLow, zHigh *big.Rat) (*Solution, error) {
	t, unit := p.tabled(), new(big.Rat).Mul(p.unit, p.mass)
	for i, x := range multiplier {
		multiplier[i] = new(big.Rat).Quo(x, unit)
	}
	return p.solution(t.Prove(mass, rows, multiplier, zLow, zHigh))
}

// Price returns by how much the optimum falls at most for each unit of δ: whatever δ', the optimum at δ' is at least the lower end of the optimum minus
// δ' - δ times this. The price comes with the multipliers, which are exact where the optimum is.
func (s *Solution) Price() table.Bounds {
	at := func(z *big.Rat) *big.Rat {
		x := s.program.table.Price(s.Dual, z)
		return x.Mul(x, s.program.unit)
	}
	return table.Bounds{Low: at(s.ZLow), High: at(s.ZHigh)}
}

// Each visits the orbits of the lattice as depths, with each candidate's probability in a mechanism that satisfies every
// row and attains the upper end of the optimum.
func (s *Solution) Each(visit func(depths []int, pmf []*big.Rat)) {
	vars := s.program.vars
	for i, m := range s.program.lat.All() {
		var pmf []*big.Rat
		for j := vars.First[i]; j < vars.First[i+1]; j++ {
			x := s.Table.At(int(j))
			for range vars.Count[j] {
				pmf = append(pmf, x)
			}
		}
		visit(lattice.Depths(m), pmf)
	}
}

// Rate returns a mechanism's objective, in units of the loss: exactly where its probabilities are rational, else enclosed with
// the given precision in bits. It fails with mechanisms.ErrNoEnclosure where there are only estimates.
func (p *Program) Rate(ctx context.Context, m mechanisms.Mechanism, prec uint) (table.Bounds, error) {
	exact, err := objective(ctx, p, m, arith.Rat{}, table.LargerRat, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return mechanisms.ExactDistribution(m, in)
	})
	if err == nil || !errors.Is(err, mechanisms.ErrNotRational) {
		return table.Bounds{Low: exact, High: exact}, err
	}
	box, err := objective(ctx, p, m, arith.Interval{Prec: prec}, number.Interval.Max, func(in *mechanisms.Instance) ([]number.Interval, error) {
		return mechanisms.EnclosedDistribution(m, in, prec)
	})
	if err != nil {
		return table.Bounds{}, err
	}
	low, high := table.Ends(box.Max(number.FromInt(0, prec)))
	return table.Bounds{Low: low, High: high}, nil
}

// Estimate is Rate in float64, without proof.
func (p *Program) Estimate(ctx context.Context, m mechanisms.Mechanism) (float64, error) {
	return objective(ctx, p, m, arith.Float{}, math.Max, m.Float)
}

// objective asks for the probabilities at each orbit and returns the objective that they have.
func objective[T any](ctx context.Context, p *Program, m mechanisms.Mechanism, f arith.Field[T], larger func(a, b T) T, ask func(in *mechanisms.Instance) ([]T, error)) (out T, err error) {
	expected, err := expectations(ctx, p, m, f, larger, ask)
	if err != nil {
		return out, err
	}
	return table.Objective(f, larger, p.weights, expected), nil
}

// expectations asks for the probabilities at each orbit, one by one, and returns the expected losses. Of a mechanism that is not known to be symmetric an
// orbit has the mean loss of its score vectors, or the largest where the objective is the worst score vector.
func expectations[T any](ctx context.Context, p *Program, m mechanisms.Mechanism, f arith.Field[T], larger func(a, b T) T, ask func(in *mechanisms.Instance) ([]T, error)) ([]T, error) {
	var losses []T
	for _, c := range p.losses {
		losses = append(losses, f.FromRat(c))
	}
	out := make([]T, p.lat.Len())
	for i, counts := range p.lat.All() {
		out[i] = f.Zero()
		many := int64(0)
		for depths := range lattice.Arrangements(counts) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			pmf, err := ask(p.Question.Instance(depths))
			if err != nil {
				return nil, err
			}
			loss := f.Zero()
			for r, v := range depths {
				loss = f.Add(loss, f.Mul(losses[v], pmf[r]))
			}
			many++
			if p.weights == nil {
				out[i] = larger(out[i], loss)
			} else {
				out[i] = f.Add(out[i], loss)
			}
			if m.Info().Symmetric {
				break
			}
		}
		if p.weights != nil && many > 1 {
			out[i] = f.Quo(out[i], f.FromInt(many))
		}
	}
	return out, nil
}
