package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"sync/atomic"
	"time"

	"optratio/internal/lumped"
	"optratio/internal/patience"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// job is a request at work.
type job struct {
	Request
	answer *Answer
	best   outcome // so far
	known  *theorems
	// early is what the method at work has found so far, for when it does not end in time.
	early atomic.Pointer[outcome]
}

// bounds holds a lower and an upper bound on the optimum.
type bounds struct{ lower, upper *big.Rat }

// close reports whether upper - lower <= gap · upper.
func (b *bounds) close(gap *big.Rat) bool {
	width := new(big.Rat).Sub(b.upper, b.lower)
	return width.Cmp(new(big.Rat).Mul(gap, b.upper)) <= 0
}

// outcome is what a method has found.
type outcome struct {
	bounds
	proof string // of the lower bound; empty where nothing is proved
	// evidence is what a certificate has to hold: a *proof or *lumpedProof, nil where theorems are all.
	evidence  any
	solver    string // empty where none was called
	pivots    int
	pfOptimal *bool  // whether permute-and-flip attains the optimum, where the method decided that
	limit     string // which limit was met; empty where the method went to its end
}

func (o *outcome) optimum() number.Number { return number.Bounds(o.lower, o.upper) }

// lumpedProof is what a lower bound from classes of orbits follows from; permute-and-flip is the feasible point.
type lumpedProof struct {
	classes *lumped.Result
	prec    uint
}

// add takes what an outcome adds.
func (j *job) add(o outcome) {
	if o.pfOptimal != nil {
		j.answer.PFOptimal = o.pfOptimal
	}
	if o.solver != "" {
		j.answer.Solver, j.answer.Pivots = o.solver, o.pivots
	}
	if o.proof != "" {
		j.keep(o)
	}
	if j.answer.Undecided = o.limit; j.reached(j.best) {
		j.answer.Undecided = ""
	}
}

// keep takes bounds that are better than the best so far: those that alone reach the gap, or of the greater lower bound. An upper bound goes with the lower bound of its
// own method where that has a certificate that claims both.
func (j *job) keep(p outcome) {
	other := p
	if j.best.proof == "" || j.better(p) {
		j.best, other = p, j.best
	}
	loose := j.best.proof == proofMonotone || j.best.proof == proofLumped && !j.Certified
	own := !j.published() && !j.reached(j.best) // certificates of tables claim what their own table proves
	if other.proof != "" && (loose || own) && other.upper.Cmp(j.best.upper) < 0 {
		j.best.upper = other.upper
		if loose {
			j.best.evidence = nil
		}
	}
	j.answer.Proof, j.answer.evidence = j.best.proof, j.best.evidence
}

// better reports whether bounds are to replace the best ones. A method that was asked for needs only reach the gap.
func (j *job) better(p outcome) bool {
	now, then := j.reached(p), j.reached(j.best)
	if now != then || now && j.Method != methodAuto {
		return now
	}
	return p.lower.Cmp(j.best.lower) > 0
}

// reached reports whether bounds are as close as asked.
func (j *job) reached(p outcome) bool {
	return p.proof != "" && (p.lower.Cmp(p.upper) == 0 || !j.Exact && p.close(j.Gap))
}

// undecided says which limit was met, unless something else was in the way before.
func (j *job) undecided(why string) { j.answer.Undecided = cmp.Or(j.answer.Undecided, why) }

// bound bounds the optimum by the method asked for, or, with methodAuto, by one method after the other until the gap is reached, the cheapest first:
//
//   - the theorems;
//   - lumping where the whole program is too large for the limits, or large while the closed-form bound is close already;
//   - the whole program.
func (j *job) bound(ctx context.Context) error {
	if err := j.byTheorems(ctx); err != nil || j.Method == methodClosedForm || j.best.proof == proofRecurrence {
		return err
	}
	if ctx.Err() != nil {
		if !j.reached(j.best) {
			j.answer.Undecided = context.Cause(ctx).Error()
		}
		return nil
	}
	if j.Method == methodLumped {
		return j.try(ctx, func() (outcome, error) { return j.lumped(ctx, lumped.Options{}) })
	}
	if j.Method == methodAuto {
		if j.reached(j.best) {
			return nil
		}
		if err := j.some(ctx); err != nil || j.reached(j.best) {
			return err
		}
	}
	if why := j.beyond(); why != "" {
		if j.answer.Undecided != "" && j.Method == methodAuto {
			why = j.answer.Undecided + "; " + why
		}
		if !j.reached(j.best) {
			j.answer.Undecided = why
		}
		return nil
	}
	err := j.try(ctx, func() (outcome, error) { return j.enumerated(ctx) })
	if t, ok := j.best.evidence.(*proof); ok && j.Delta != nil && t.Undecided == "" {
		j.answer.Price = new(t.price())
	}
	return err
}

// How long after the end of the context bounds are still waited for, and mechanisms still rated. Together they keep to the two seconds that
// every limit leaves for ending.
const (
	boundGrace  = 800 * time.Millisecond
	ratingGrace = 1100 * time.Millisecond
)

// try takes what a method finds.
func (j *job) try(ctx context.Context, method func() (outcome, error)) error {
	type end struct {
		outcome
		err error
	}
	e, ok := patience.Await(ctx, boundGrace, func() end {
		o, err := method()
		return end{o, err}
	})
	if !ok {
		if early := j.early.Load(); early != nil {
			e.outcome = *early
		}
		e.limit = context.Cause(ctx).Error()
	}
	if e.err == nil {
		j.add(e.outcome)
	}
	return e.err
}

// byTheorems bounds the optimum without a program.
func (j *job) byTheorems(ctx context.Context) error {
	t, ok := patience.Await(ctx, boundGrace, func() *theorems { return j.theorems(ctx, j.precision()) })
	if !ok {
		t = j.trivial()
	}
	j.known = t
	if ok && t.proof == "" && j.Method == methodClosedForm && !j.published() {
		return fmt.Errorf("%w: no theorem bounds this optimum from below; use method lp", errMethod)
	}
	o := outcome{bounds: bounds{t.low, t.high}, proof: cmp.Or(t.proof, proofClosedForm), pfOptimal: t.pfOptimal}
	if t.proof == proofRecurrence && j.Method == methodLP {
		o.proof = proofClosedForm // the program is a route of its own
	}
	switch {
	case ctx.Err() != nil && t.proof != proofRecurrence:
		o.limit = context.Cause(ctx).Error()
	case j.Method == methodClosedForm && t.proof != proofRecurrence:
		o.limit = "the closed-form bound does not reach the gap; try method lp"
		if j.published() {
			o.limit += " or lumped"
		}
	}
	j.add(o)
	return nil
}

// How long lumping goes on where no limit was set, what of a limit it leaves for proving the bound, and what it may cost before the whole program is
// tried, in visits of positions, at some 10 ns each.
const (
	lumpedTime    = 100 * time.Second
	lumpedReserve = 500 * time.Millisecond
	promisingWork = 300_000_000
	lumpedImprove = 0.01 // of the distance to permute-and-flip, below which more classes are not worth their time
)

// promisingVariables is the number of variables from which lumping is tried before the whole program where it may be enough.
const promisingVariables = 20_000

// some tries lumping where it may spare the whole program or must stand in for it. With y from classes of orbits the bound comes some orders
// of magnitude closer to the optimum than the closed-form one, which in turn is the closer the more candidates there are.
func (j *job) some(ctx context.Context) error {
	o := lumped.Options{}
	switch {
	case !j.published() || j.Exact || j.Certified && max(j.N, j.K) > maxLumped:
		return nil
	case j.beyond() != "" || j.frugal():
	case j.hasMore(promisingVariables-1) && j.best.close(big.NewRat(1, 1000)):
		o.MaxWork = promisingWork
	default:
		return nil
	}
	return j.try(ctx, func() (outcome, error) { return j.lumped(ctx, o) })
}

// closely is the gap that solvers are given: what rounding adds when a mechanism is rated fits beside it.
func (j *job) closely() *big.Rat { return new(big.Rat).Mul(j.Gap, big.NewRat(999, 1000)) }

// enumerated solves the whole program, unless permute-and-flip is optimal, which the linear-time test decides where no theorem has: of means on the lattice of step 2Δ, with
// δ = 0 too.
func (j *job) enumerated(ctx context.Context) (found outcome, err error) {
	p, err := newProgram(ctx, &j.Request)
	if err != nil {
		if ctx.Err() != nil {
			return outcome{limit: context.Cause(ctx).Error()}, nil
		}
		return found, err
	}
	pfOptimal := j.answer.PFOptimal
	if !j.Worst && j.parts() == 1 && (j.Delta == nil || j.Delta.Sign() == 0) && pfOptimal == nil {
		if optimal, decided := p.flipOptimal(); decided {
			pfOptimal = &optimal
		}
		if pfOptimal != nil && *pfOptimal && j.Method == methodAuto {
			return j.flipIsBest(ctx, outcome{pfOptimal: pfOptimal})
		}
	}
	publish := func(s *proof) { j.early.Store(new(j.found(s))) }
	if p.Chains != nil && !j.direct() && (j.frugal() || len(p.vars.Orbit) >= firstOrderVariables) {
		o := p.firstOrder(j.closely())
		o.frugal = j.frugal()
		p.Chains.Lead = o.lead
	}
	s, err := p.solve(ctx, j.closely(), publish)
	if err != nil {
		return found, err
	}
	found = j.found(s)
	found.pfOptimal = pfOptimal
	return found, nil
}

// flipIsBest takes permute-and-flip's objective for the optimum.
func (j *job) flipIsBest(ctx context.Context, o outcome) (outcome, error) {
	x, err := j.objective(ctx, mechanisms.PermuteAndFlip(), j.precision())
	if ctx.Err() != nil {
		o.limit, err = context.Cause(ctx).Error(), nil
	} else if err == nil {
		o.proof = proofRecurrence
		o.lower, o.upper = x.Ends()
	}
	return o, err
}

// found returns what solving the whole program has shown.
func (j *job) found(s *proof) outcome {
	solver := j.solver.Name()
	switch {
	case s.Led && !s.Crossed:
		solver = "first-order"
	case s.Led:
		solver = "first-order and embedded"
	}
	o := outcome{proof: proofLP, evidence: s, solver: solver, pivots: s.Pivots, limit: s.Undecided}
	o.lower, o.upper = s.optimum().Ends()
	if j.published() && j.known.high.Cmp(o.upper) < 0 {
		o.upper, s.flip = j.known.high, true
	}
	if o.limit == "" && j.Exact && !j.reached(o) {
		o.limit = "the optimum is not known exactly"
	}
	return o
}

// lumped bounds the optimum from classes of orbits, at any level: more rows only raise it.
func (j *job) lumped(ctx context.Context, o lumped.Options) (outcome, error) {
	inner := ctx
	if j.MaxWork > 0 { // the clock must have no say
		o.MaxWork = min(cmp.Or(o.MaxWork, j.MaxWork), j.MaxWork)
	} else {
		most := lumpedTime
		if deadline, limited := ctx.Deadline(); limited {
			most = time.Until(deadline)
			most -= min(most/10, lumpedReserve)
			if j.frugal() { // the program comes next, and further
				most /= 4
			}
		}
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	box, prec := j.Prior.box(), j.precision()
	size := new(big.Rat).SetInt(lattice.Vectors(j.N, j.K, box))
	gap, _ := j.Gap.Float64()
	each := new(big.Rat).SetInt(lattice.Vectors(j.N, j.K, false))
	upper, _ := each.Quo(new(big.Rat).Mul(j.known.high, size), each).Float64()
	o.Target, o.Improve, o.Report = upper*(1-float64(gap/2)), lumpedImprove, j.Report
	o.Precision, o.Gap, o.MaxMemory = prec, min(lumped.DefaultGap, gap), min(j.memory(), lumped.DefaultMaxMemory)
	out := outcome{solver: "lumped", limit: "the bound over classes does not reach the gap; it is what lumping gives here"}
	result, err := lumped.Bound(inner, j.N, j.K, j.Epsilon, box, o)
	switch {
	case err == nil:
		out.pivots = result.Iterations
		lower, _ := number.Enclosed(result.Lower).Lower()
		if lower.Quo(lower, size).Cmp(j.known.low) > 0 {
			out.bounds, out.proof, out.evidence = bounds{lower, j.known.high}, proofLumped, &lumpedProof{result, prec}
		}
	case inner.Err() == nil && !errors.Is(err, lumped.ErrTooMany):
		return out, err
	case inner.Err() == nil:
		out.limit = "lumping: " + err.Error()
	}
	switch {
	case ctx.Err() != nil:
		out.limit = context.Cause(ctx).Error()
	case inner.Err() != nil:
		out.limit = "the bound over classes does not reach the gap in the time that there was"
	}
	return out, nil
}

// guarded returns report, or nil where that is, as a function that does nothing once silence was called: what goes on in the background
// reports no more.
func guarded(report func(int, float64)) (guard func(int, float64), silence func()) {
	if report == nil {
		return nil, func() {}
	}
	var mu sync.Mutex
	silent := false
	return func(pivots int, objective float64) {
			mu.Lock()
			defer mu.Unlock()
			if !silent {
				report(pivots, objective)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			silent = true
		}
}
