//go:build clp

package clp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"optratio/lp/linear"
)

// Available says whether this build contains CLP.
const Available = true

// New returns CLP as a solver. It holds no state: one solver serves any
// number of goroutines at the same time.
func New() (linear.Solver, error) { return solver{}, nil }

type solver struct{}

// Name returns "clp".
func (solver) Name() string { return "clp" }

const (
	reportEvery = 100 * time.Millisecond
	stopEvery   = 2 * time.Millisecond // how often a stop is repeated until CLP has seen it
	maxRuns     = 5                    // runs of CLP for one answer, the first included
)

// Solve implements linear.Solver. Tolerances are absolute in the units of m,
// but never finer than 1e-11 of the largest cost, and of the largest bound
// where that is beyond 2^±20. Slices of the Result are filled for every
// outcome: after Stopped and Failed they describe the last basis, after
// Infeasible and Unbounded the one at which CLP found out.
//
// Auto starts with the dual simplex from a basis that is dual feasible
// and not primal feasible, otherwise with the primal simplex. Where finite
// bounds are some ten orders of magnitude apart every Algorithm is the primal
// simplex: CLP's dual simplex can abort the process there.
func (solver) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	if err := check(m, o); err != nil {
		return nil, err
	}
	p := scale(m)
	s := &session{given: m, m: p.program, o: o, p: p}
	s.feasible, s.optimal = s.p.tolerances(o)
	s.n = newNative(s.p)
	defer s.n.close()
	s.n.setPerturbation(perturbNever)
	s.n.setScaling(scalingGeometric)
	s.n.setTolerances(s.feasible, s.optimal)
	return s.solve(ctx), nil
}

// check refuses what CLP must not see.
func check(m *linear.Model, o linear.Options) error {
	if err := m.Check(); err != nil {
		return err
	}
	if len(m.Index) > math.MaxInt32 || m.Rows()+m.Cols() > math.MaxInt32 {
		return fmt.Errorf("%w: %d rows, %d columns and %d entries are too many for CLP", linear.ErrModel, m.Rows(), m.Cols(), len(m.Index))
	}
	if max(o.Feasible, o.Optimal) >= 1 {
		return fmt.Errorf("clp: tolerances %g and %g, want both in [0, 1)", o.Feasible, o.Optimal)
	}
	return o.Check(m)
}

// session is one call of Solve.
type session struct {
	given, m          *linear.Model // m without bounds that CLP cannot tell from infinity
	o                 linear.Options
	p                 *scaled
	n                 *native
	feasible, optimal float64 // tolerances in scaled units
	pivots            int
}

// solve runs CLP until an answer stands up to a second look: an optimum is
// measured on the unscaled program, infeasible and unbounded must be said
// twice, the second time by the primal simplex without scaling.
func (s *session) solve(ctx context.Context) *linear.Result {
	start := slackBasis(s.m)
	if s.o.Basis != nil {
		start = s.o.Basis
	}
	s.n.setStatuses(statuses(s.m, start))
	algorithm := s.o.Algorithm
	switch {
	case s.p.wide:
		algorithm = linear.Primal
	case algorithm == linear.Auto:
		algorithm = s.choose(ctx)
		s.n.setStatuses(statuses(s.m, start))
	}
	said := -1
	for attempt := range maxRuns {
		limit := math.MaxInt32
		if s.o.MaxPivots > 0 {
			limit = max(0, s.o.MaxPivots-s.pivots)
		}
		before := s.pivots
		s.run(ctx, algorithm, limit)
		status := s.n.status()
		r, proper := s.result(linear.Failed)
		switch {
		case status == statusOptimal && proper && s.holds(r):
			r.Outcome = linear.Optimal
			return r
		case status == statusInfeasible && said == status:
			r.Outcome = linear.Infeasible
			return r
		case status == statusUnbounded && said == status && s.canBeUnbounded():
			r.Outcome = linear.Unbounded
			return r
		case ctx.Err() != nil, s.pivots-before >= limit:
			r.Outcome = linear.Stopped
			return r
		case attempt == maxRuns-1:
			return r
		}
		// Again from the basis reached, with nothing between CLP and the
		// program: no scaling, and tighter tolerances if that was not enough.
		said, algorithm = status, linear.Primal
		s.n.setStatuses(statuses(s.m, r.Basis))
		s.n.setScaling(scalingOff)
		if attempt >= 1 {
			s.n.setTolerances(s.feasible/10, s.optimal/10)
		}
	}
	panic("unreachable")
}

// canBeUnbounded refuses CLP's word where no column goes on for ever.
func (s *session) canBeUnbounded() bool {
	return slices.Contains(s.given.ColLower, math.Inf(-1)) || slices.Contains(s.given.ColUpper, math.Inf(1))
}

// choose looks at the starting basis: a run without pivots factorises it and
// measures both infeasibilities. Of the dual simplex, as the primal one would
// report infeasibilities with respect to the costs of its first phase.
func (s *session) choose(ctx context.Context) linear.Algorithm {
	s.run(ctx, linear.Dual, 0)
	if s.n.primalInfeasible() > 0 && s.n.dualInfeasible() == 0 {
		return linear.Dual
	}
	return linear.Primal
}

// run lets CLP work on a thread of its own and meanwhile, on the caller's
// goroutine, reports and passes on a stop. It returns when CLP has.
func (s *session) run(ctx context.Context, algorithm linear.Algorithm, limit int) {
	s.n.setLimit(limit)
	if ctx.Err() != nil {
		s.n.setLimit(0)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if algorithm == linear.Dual {
			s.n.dual()
		} else {
			s.n.primal()
		}
	}()
	defer func() { // also when Report panics: the model must outlive the run
		for {
			select {
			case <-done:
				s.pivots += s.n.pivots()
				return
			case <-time.After(stopEvery):
				s.n.stop()
			}
		}
	}()
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			s.n.stop()
			return
		case <-ticker.C:
			if s.o.Report != nil {
				s.o.Report(s.progress())
			}
		}
	}
}

// progress reads CLP's counters while it runs: each is a number of its own,
// together they need not be of the same pivot.
func (s *session) progress() linear.Progress {
	return linear.Progress{
		Pivots:           s.pivots + s.n.pivots(),
		Objective:        math.Ldexp(s.n.objective(), s.p.boundExp-s.p.costExp),
		PrimalInfeasible: math.Ldexp(s.n.primalInfeasible(), s.p.boundExp),
		DualInfeasible:   math.Ldexp(s.n.dualInfeasible(), -s.p.costExp),
	}
}
