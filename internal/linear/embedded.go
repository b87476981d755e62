package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Embedded is a revised simplex solver for sparse programs in pure Go: primal and dual algorithms over sparse
// LU factors. Its zero value is ready; it may be used from several goroutines at once.
//
// The primal works first from a primal feasible basis, the dual from any other: costs are shifted where the basis
// is not dual feasible either, and the primal finishes with the true costs. Whatever was
// perturbed against cycling is taken back, and the other algorithm cleans up.
//
// Tolerances are absolute, but not below 1e-14, or that part of the largest cost: reduced costs cannot be told from 0 below that.
// Rows and columns are not scaled: entries are best of the order of 1.
type Embedded struct{}

// Name returns "embedded".
func (Embedded) Name() string { return "embedded" }

// rounds is the number of times the algorithms may take turns.
const rounds = 24

// Solve solves m. See Solver for the conventions.
func (Embedded) Solve(ctx context.Context, m *Model, o Options) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := o.Check(m); err != nil {
		return nil, err
	}
	if len(m.Start) == 0 {
		c := *m
		c.Start = []int{0}
		m = &c
	}
	if o.Feasible == 0 {
		o.Feasible = 1e-9
	}
	if o.Optimal == 0 {
		o.Optimal = 1e-9
	}
	s := newSimplex(m, o.Feasible, o.Optimal)
	s.ctx, s.limit, s.report = ctx, o.MaxPivots, o.Report
	s.rng = rand.New(rand.NewPCG(1, 2))
	s.begin(o.Basis)
	return s.result(m, s.run()), nil
}

// begin sets up the starting basis.
func (s *simplex) begin(b *Basis) {
	for v := range s.total {
		s.status[v] = AtLower
		switch {
		case b != nil && v < s.cols:
			s.status[v] = b.Col[v]
		case b != nil:
			s.status[v] = b.Row[v-s.cols]
		case v >= s.cols:
			s.status[v] = Basic
		}
		s.place[v] = -1
		s.weight[v] = 1
		if s.status[v] == Basic {
			s.place[v] = int32(len(s.head))
			s.head = append(s.head, int32(v))
		} else {
			s.rest(int32(v))
		}
	}
	s.refactor()
	s.values()
	s.prices()
}

// run lets the algorithms take turns until the basis is optimal for the true bounds and costs.
func (s *simplex) run() Outcome {
	dual := s.infeasible() > 0
	for round := range rounds {
		s.perturb = max(perturbation*math.Pow(0.1, float64(round)), leastPerturb)
		algorithm := s.primal
		if dual {
			algorithm = s.dual
		}
		v := algorithm()
		switch v {
		case stopped:
			return Stopped
		case noPoint:
			return Infeasible
		case noBound:
			return Unbounded
		}
		feasible := s.infeasible() == 0
		if v == done && feasible && s.dualInfeasible() == 0 {
			return Optimal
		}
		dual = !dual && (v == trouble || !feasible)
	}
	return Failed
}

// result takes the final basis back to the model's units.
func (s *simplex) result(m *Model, out Outcome) *Result {
	res := &Result{
		Outcome: out, Pivots: s.pivots, X: slices.Clone(s.x[:s.cols]), Duals: make([]float64, s.rows),
		Basis: &Basis{Col: slices.Clone(s.status[:s.cols]), Row: slices.Clone(s.status[s.cols:])},
	}
	for j, x := range res.X {
		res.Objective += float64(m.Cost[j] * x)
	}
	for i := range res.Duals {
		res.Duals[i] = s.d[s.cols+i] / s.unit
	}
	return res
}
