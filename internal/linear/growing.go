package linear

import (
	"context"
	"slices"
)

// Growing solves a program with more rows than are worth writing down. It starts with the rows in force; rows that a
// solution violates are added, their slacks basic, and the program is solved again until a solution violates none.
//
// Each method takes two functions of its caller: one returns the program with the rows in force, the other adds rows that the
// given solution violates and returns how many. A caller that has seen enough returns 0.
type Growing struct {
	Solver Solver
	Basis  *Basis // where the next solve starts, nil for the slack basis; every method leaves its last one here
	// Tolerance of Float, primal and dual; 0 for the solver's own.
	Tolerance float64
	Rounds    int // how often rows may be added in one call
	Pivots    int // of Float, summed over the rounds and calls
	Report    func(Progress)
}

// extend gives rows that are new since the last solve a basic slack.
func (g *Growing) extend(rows int) {
	if g.Basis == nil || len(g.Basis.Row) >= rows {
		return
	}
	g.Basis = g.Basis.Clone()
	for len(g.Basis.Row) < rows {
		g.Basis.Row = append(g.Basis.Row, Basic)
	}
}

// Float solves in floating point. Where a solver fails it is not asked again: the
// embedded one takes over. The result is the last one, whatever its outcome, and may violate rows after the last round.
func (g *Growing) Float(ctx context.Context, program func() *Model, violated func(x []float64) int) (*Result, error) {
	solvers := []Solver{g.Solver, Embedded{}} // to ask, each until it fails
	for round := 0; ; round++ {
		solver := solvers[0]
		m := program()
		g.extend(m.Rows())
		before := g.Pivots
		o := Options{Basis: g.Basis, Feasible: g.Tolerance, Optimal: g.Tolerance, Report: func(p Progress) {
			if g.Report != nil {
				p.Pivots += before
				g.Report(p)
			}
		}}
		result, err := solver.Solve(ctx, m, o)
		if err != nil {
			return nil, err
		}
		g.Pivots += result.Pivots
		if result.Basis != nil {
			g.Basis = result.Basis
		}
		if result.Outcome == Failed {
			solvers = slices.DeleteFunc(solvers, func(s Solver) bool { return s.Name() == solver.Name() })
			if len(solvers) == 0 {
				return result, nil
			}
			continue
		}
		if result.Outcome != Optimal || round >= g.Rounds || violated(result.X) == 0 {
			return result, nil
		}
	}
}

// Exact returns the exact optimum, starting from Basis. The error is that of Optimize, or ErrUnsettled after the last round.
func (g *Growing) Exact(ctx context.Context, program func() *Rational, violated func(e *Exact) int) (*Exact, error) {
	for range g.Rounds {
		r := program()
		g.extend(r.Rows())
		e, err := r.Optimize(ctx, g.Basis, g.Solver)
		if lost(err) {
			e, err = r.pivotExact(ctx)
		}
		if err != nil {
			return nil, err
		}
		g.Basis = e.Basis
		if violated(e) == 0 {
			return e, nil
		}
	}
	return nil, ErrUnsettled
}

// Settle returns the optimal basic solution to shift bits as Rational.Settle does, starting from Basis.
func (g *Growing) Settle(ctx context.Context, shift uint, program func() *Rational, violated func(a *Approximation) int) (*Approximation, error) {
	for range g.Rounds {
		r := program()
		g.extend(r.Rows())
		b, a, err := r.Settle(ctx, g.Basis, g.Solver, shift)
		if lost(err) {
			err = r.pivots(ctx, shift, func(t *dictionary) bool {
				b, a = t.solution(r, max(shift, settleShift))
				return true
			})
		}
		if err != nil {
			return nil, err
		}
		g.Basis = b
		if violated(a) == 0 {
			return a, nil
		}
	}
	return nil, ErrUnsettled
}

// Unfinished says why a result with an outcome other than Optimal is no optimum: what ended the context, or else the outcome.
func (r *Result) Unfinished(ctx context.Context) string {
	if err := context.Cause(ctx); err != nil {
		return err.Error()
	}
	return "the solver found no optimum: " + r.Outcome.String()
}
