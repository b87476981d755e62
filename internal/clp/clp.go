//go:build clp && cgo

package clp

/*
#cgo pkg-config: clp
#include <Clp_C_Interface.h>

// A handle spares the Go side a name for the type of the model, which is an
// incomplete struct in some releases of CLP and void in others.
typedef struct {
	Clp_Simplex *model;
} handle;
*/
import "C"

import (
	"context"
	"fmt"
	"math"
	"time"
	"unsafe"

	"optratio/internal/linear"
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
	tolerance   = 1e-9                 // where Options has none
	finest      = 1e-11                // CLP's rounding errors are not far below

	maxRuns = 4 // of CLP for one answer

	noPerturbation = 102
	noScaling      = 0

	// Numbers that are larger confuse CLP, which takes them for infinite or aborts the process.
	largest = 1e15
)

// What a run of CLP ends with (Clp_status).
const (
	optimal = iota
	infeasible
	unbounded
)

// CLP's statuses of variables. A row's variable is its activity, as in linear.Basis.
const (
	isFree = iota
	isBasic
	atUpper
	atLower
)

// Solve implements linear.Solver. The dual tolerance is never finer than 1e-11 of the largest cost.
// Slices of the Result are filled for every outcome, with where CLP stood at its end, but for programs
// with entries or finite bounds beyond 1e15, which CLP cannot hold: these fail at once.
//
// It starts with the dual simplex from a basis that is dual feasible
// and not primal feasible, otherwise with the primal simplex.
func (solver) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	if err := check(m, o); err != nil {
		return nil, err
	}
	if !inRange(m) {
		return &linear.Result{Outcome: linear.Failed}, nil
	}
	s := open(m, o)
	defer C.Clp_deleteModel(s.c.model)
	limit := math.MaxInt32
	if o.MaxPivots > 0 {
		limit = min(o.MaxPivots, limit)
	}
	s.run(ctx, s.dualFirst(ctx), limit)
	// An optimum of CLP's scaled program need not be one of the program (secondary statuses 2 to 4), and what CLP says of programs without an
	// optimum can be wrong the first time: it is asked again, without scaling, until it says so twice.
	for range maxRuns - 1 {
		end, second := C.Clp_status(s.c.model), C.Clp_secondaryStatus(s.c.model)
		if s.pivots >= limit || ctx.Err() != nil || end == optimal && (second < 2 || second > 4) {
			break
		}
		C.Clp_scaling(s.c.model, noScaling)
		s.run(ctx, false, limit-s.pivots)
		if C.Clp_status(s.c.model) == end {
			break
		}
	}
	return s.result(ctx, limit), nil
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

// inRange tells whether CLP can hold the entries and the finite bounds of a program.
func inRange(m *linear.Model) bool {
	for _, list := range [][]float64{m.Value, m.ColLower, m.ColUpper, m.RowLower, m.RowUpper} {
		for _, x := range list {
			if math.Abs(x) > largest && !math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}

// session is one call of Solve. It owns a model of CLP, which keeps no Go pointer: every array is copied.
type session struct {
	m      *linear.Model
	o      linear.Options
	c      C.handle
	unit   int // costs are handed over in units of 2^unit: CLP aborts the process when one reaches 1e25
	pivots int
}

// open loads a program and its starting basis.
func open(m *linear.Model, o linear.Options) *session {
	s := &session{m: m, o: o}
	s.c.model = C.Clp_newModel()
	C.Clp_setLogLevel(s.c.model, 0) // silence; callbacks would need level 1, which prints
	C.Clp_setPerturbation(s.c.model, noPerturbation)
	most := 0.0
	for _, c := range m.Cost {
		most = max(most, math.Abs(c))
	}
	_, s.unit = math.Frexp(most)
	cost := make([]float64, m.Cols())
	for j, c := range m.Cost {
		cost[j] = math.Ldexp(c, -s.unit)
	}
	start := make([]C.CoinBigIndex, m.Cols()+1)
	for j, k := range m.Start {
		start[j] = C.CoinBigIndex(k)
	}
	C.Clp_loadProblem(s.c.model, C.int(m.Cols()), C.int(m.Rows()), unsafe.SliceData(start), (*C.int)(unsafe.SliceData(m.Index)), doubles(m.Value),
		doubles(m.ColLower), doubles(m.ColUpper), doubles(cost), doubles(m.RowLower), doubles(m.RowUpper))
	primal, dual := o.Feasible, o.Optimal
	if primal == 0 {
		primal = tolerance
	}
	if dual == 0 {
		dual = tolerance
	}
	C.Clp_setPrimalTolerance(s.c.model, C.double(max(primal, min(primal, finest))))
	C.Clp_setDualTolerance(s.c.model, C.double(max(math.Ldexp(dual, -s.unit), min(dual, finest))))
	if o.Basis != nil {
		s.start(o.Basis)
	}
	return s
}

// doubles passes a slice for the duration of a call. C has no use for an
// empty array, but some of CLP's defaults hang on the pointer being nil.
func doubles(s []float64) *C.double {
	if len(s) == 0 {
		s = []float64{0}
	}
	return (*C.double)(unsafe.SliceData(s))
}

// start hands over a basis.
func (s *session) start(b *linear.Basis) {
	clp := [...]C.int{linear.AtLower: atLower, linear.AtUpper: atUpper, linear.Basic: isBasic, linear.Free: isFree}
	for j, status := range b.Col {
		C.Clp_setColumnStatus(s.c.model, C.int(j), clp[fit(status, s.m.ColLower[j], s.m.ColUpper[j])])
	}
	for i, status := range b.Row {
		C.Clp_setRowStatus(s.c.model, C.int(i), clp[fit(status, s.m.RowLower[i], s.m.RowUpper[i])])
	}
}

// fit returns the status that is meant for a variable with these bounds.
func fit(status linear.VarStatus, lower, upper float64) linear.VarStatus {
	hasLower, hasUpper := !math.IsInf(lower, -1), !math.IsInf(upper, 1)
	switch {
	case status == linear.Basic, status == linear.AtUpper && hasUpper, status == linear.AtLower && hasLower:
		return status
	case hasLower:
		return linear.AtLower
	case hasUpper:
		return linear.AtUpper
	}
	return linear.Free
}

// dualFirst reports whether the dual simplex is to start. It looks at the starting basis: a run without pivots factorises it and
// measures both infeasibilities. Of the dual simplex, as the primal one would
// report infeasibilities with respect to the costs of its first phase.
func (s *session) dualFirst(ctx context.Context) bool {
	s.run(ctx, true, 0)
	dual := C.Clp_sumPrimalInfeasibilities(s.c.model) > 0 && C.Clp_sumDualInfeasibilities(s.c.model) == 0
	if s.o.Basis != nil {
		s.start(s.o.Basis) // as before that run
	}
	return dual
}

// allow sets the limits of the next run; -1 seconds are no limit. Limits of 0 also stop a run that is under way on another thread: CLP reads
// these words before every pivot. It saves and restores them in places, so a stop is repeated until the run has ended.
func (s *session) allow(pivots int, seconds float64) {
	C.Clp_setMaximumSeconds(s.c.model, C.double(seconds))
	C.Clp_setMaximumIterations(s.c.model, C.int(pivots))
}

// run lets CLP work on a thread of its own and meanwhile, on the caller's
// goroutine, reports and passes on a stop. It returns when CLP has.
func (s *session) run(ctx context.Context, dual bool, limit int) {
	if ctx.Err() != nil {
		limit = 0
	}
	s.allow(limit, -1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if dual {
			C.Clp_dual(s.c.model, 0)
		} else {
			C.Clp_primal(s.c.model, 0)
		}
	}()
	defer func() { // also when Report panics: the model must outlive the run
		for {
			select {
			case <-done:
				s.pivots += int(C.Clp_numberIterations(s.c.model))
				return
			case <-time.After(stopEvery):
				s.allow(0, 0)
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
			s.allow(0, 0)
			return
		case <-ticker.C:
			if s.o.Report != nil { // counters of a run under way: together they need not be of the same pivot
				s.o.Report(linear.Progress{
					Pivots:    s.pivots + int(C.Clp_numberIterations(s.c.model)),
					Objective: math.Ldexp(float64(C.Clp_objectiveValue(s.c.model)), s.unit),
				})
			}
		}
	}
}

// result reads where CLP stands.
func (s *session) result(ctx context.Context, limit int) *linear.Result {
	m := s.m
	r := &linear.Result{
		Outcome: linear.Failed, Pivots: s.pivots,
		X: copied(C.Clp_primalColumnSolution(s.c.model), m.Cols(), 0), Duals: copied(C.Clp_dualRowSolution(s.c.model), m.Rows(), s.unit),
		Basis: &linear.Basis{Col: make([]linear.VarStatus, m.Cols()), Row: make([]linear.VarStatus, m.Rows())},
	}
	reduced := copied(C.Clp_dualColumnSolution(s.c.model), m.Cols(), s.unit)
	for j, c := range m.Cost {
		r.Objective += float64(c * r.X[j])
		r.Basis.Col[j] = status(C.Clp_getColumnStatus(s.c.model, C.int(j)), reduced[j], m.ColLower[j], m.ColUpper[j])
	}
	for i := range r.Duals {
		r.Basis.Row[i] = status(C.Clp_getRowStatus(s.c.model, C.int(i)), r.Duals[i], m.RowLower[i], m.RowUpper[i])
	}
	switch end := C.Clp_status(s.c.model); {
	case r.Basis.Check(m) != nil:
	case end == optimal:
		r.Outcome = linear.Optimal
	case end == infeasible:
		r.Outcome = linear.Infeasible
	case end == unbounded:
		r.Outcome = linear.Unbounded
	case ctx.Err() != nil, s.pivots >= limit:
		r.Outcome = linear.Stopped
	}
	return r
}

// copied is an array of CLP's, in units of 2^unit.
func copied(p *C.double, n, unit int) []float64 {
	s := make([]float64, n)
	if p != nil {
		for i, x := range unsafe.Slice((*float64)(p), n) {
			s[i] = math.Ldexp(x, unit)
		}
	}
	return s
}

// status translates one of CLP's. A fixed variable is at the bound whose sign rule its reduced cost (a row's dual) d obeys; one that
// CLP left between its bounds is said to be at a bound.
func status(clp C.int, d, lower, upper float64) linear.VarStatus {
	switch {
	case clp == isBasic:
		return linear.Basic
	case clp == atUpper, lower == upper && d < 0:
		return fit(linear.AtUpper, lower, upper)
	case clp == isFree:
		return fit(linear.Free, lower, upper)
	}
	return fit(linear.AtLower, lower, upper)
}
