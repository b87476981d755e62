package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/internal/lumped"
	"optratio/internal/patience"
	"optratio/internal/product"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/number"
)

// job is a request at work.
type job struct {
	Request
	answer *Answer
	prec   uint
	best   outcome          // the bounds on the total optimum so far
	flip   *value           // permute-and-flip's total error, once it is known
	closed *variant.Closed  // of a varied request
	orbits *variant.Program // of a varied request, once its lattice is enumerated
	// published is what the method at work has proved so far, for when it does not end in time.
	published atomic.Pointer[outcome]
}

// outcome is what a method says of the total optimum.
type outcome struct {
	lower, upper value
	flip         *value // permute-and-flip's total error, where the method came by it
	flipOptimal  *bool  // whether that is the optimum, where the method decided it
	proof        string
	solver       string
	pivots       int
	evidence     *Evidence
	basis        *linear.Basis
	price        *number.Number   // as Answer has it
	orbits       *variant.Program // the lattice of a varied request, written out
	undecided    string           // which limit was met, empty where the method went to its end
	err          error
}

// take keeps what an outcome adds to the best bounds. An upper bound goes with the lower bound of its own method where that has a certificate,
// which proves both or none.
func (j *job) take(o outcome) error {
	if o.err != nil {
		return o.err
	}
	j.answer.Undecided = o.undecided
	if o.flip != nil {
		j.flip = o.flip
	}
	if o.flipOptimal != nil {
		j.answer.PFOptimal = o.flipOptimal
	}
	if o.orbits != nil {
		j.orbits = o.orbits
	}
	if o.price != nil {
		j.answer.Price = o.price
	}
	if o.solver != "" {
		j.answer.Solver, j.answer.Pivots, j.answer.Basis = o.solver, o.pivots, o.basis
	}
	other := j.best
	if other.proof == "" || j.better(o) {
		j.best = o
	} else {
		other = o
	}
	loose := j.best.proof == ProofMonotone || j.best.proof == ProofLumped && !j.Certified
	if other.proof != "" && loose && j.ceiling(other.upper).Cmp(j.ceiling(j.best.upper)) < 0 {
		j.best.upper, j.best.evidence = other.upper, nil
	}
	if j.Varied() && other.proof != "" && !j.reached() && j.ceiling(other.upper).Cmp(j.ceiling(j.best.upper)) < 0 {
		j.best.upper = other.upper // a certificate claims what its own table proves
	}
	j.answer.Proof, j.answer.Evidence = j.best.proof, j.best.evidence
	if j.reached() {
		j.answer.Undecided = ""
	}
	return nil
}

// better reports whether an outcome is to replace the best one: where it alone reaches the gap, or by its lower bound. A method that was asked for
// needs only reach the gap.
func (j *job) better(o outcome) bool {
	now, then := j.reaches(o), j.reaches(j.best)
	if now != then || now && j.Method != Auto {
		return now
	}
	return j.floor(o.lower).Cmp(j.floor(j.best.lower)) > 0
}

func (j *job) floor(v value) *big.Float   { return v.enclosure(j.prec).Lo() }
func (j *job) ceiling(v value) *big.Float { return v.enclosure(j.prec).Hi() }

// between returns what lies between the bounds of an outcome, at the given precision.
func (o *outcome) between(prec uint) value {
	if o.lower.exact != nil && o.upper.exact != nil && o.lower.exact.Cmp(o.upper.exact) == 0 {
		return o.lower
	}
	return boxValue(number.Hull(o.lower.enclosure(prec), o.upper.enclosure(prec)))
}

// total returns the total optimum as far as it is known.
func (j *job) total() value { return j.best.between(j.prec) }

// reaches reports whether an outcome bounds the optimum as closely as asked.
func (j *job) reaches(o outcome) bool {
	t := o.between(j.prec)
	return t.exact != nil || !j.Exact && narrow(t.box, j.Gap)
}

func (j *job) reached() bool { return j.reaches(j.best) }

// narrow reports whether hi - lo <= gap · hi, for lo >= 0.
func narrow(x number.Interval, gap *big.Rat) bool {
	if !x.IsFinite() {
		return false
	}
	width := number.Point(x.Hi()).Sub(number.Point(x.Lo()))
	allowed := number.Point(x.Hi()).Mul(number.FromRat(gap, x.Prec()))
	less, ok := width.LessEq(allowed)
	return less && ok
}

// bound bounds the optimum by the method asked for, or, with Auto, by one method after the other until the gap is reached, the cheapest first:
//
//   - the theorems;
//   - lumping where the whole program is too large for the limits, or large while the closed-form bound is close already;
//   - the whole program.
func (j *job) bound(ctx context.Context) error {
	var theorems outcome
	if ok := true; j.Varied() {
		var err error
		if theorems, err = j.closedForms(); err != nil {
			return err
		}
	} else if theorems, ok = patience.Await(ctx, boundGrace, func() outcome { return j.theorems(ctx) }); !ok {
		theorems = j.nothing(context.Cause(ctx).Error())
	}
	if err := j.take(theorems); err != nil || j.Method == ClosedForm || j.best.proof == ProofRecurrence {
		return err
	}
	if ctx.Err() != nil {
		if !j.reached() {
			j.answer.Undecided = context.Cause(ctx).Error()
		}
		return nil
	}
	if j.Method == Lumped {
		return j.try(ctx, func() outcome { return j.lumped(ctx, lumped.Options{}) })
	}
	if j.Method == Auto {
		if j.reached() {
			return nil
		}
		if err := j.some(ctx); err != nil || j.reached() {
			return err
		}
	}
	return j.try(ctx, func() outcome { return j.enumerated(ctx) })
}

// try takes what a method finds.
func (j *job) try(ctx context.Context, method func() outcome) error {
	o, ok := patience.Await(ctx, boundGrace, method)
	if ok {
		return j.take(o)
	}
	if early := j.published.Load(); early != nil {
		early.undecided = context.Cause(ctx).Error()
		return j.take(*early)
	}
	j.answer.Undecided = context.Cause(ctx).Error()
	return nil
}

// nothing is what is known without any work: the error is at most k steps everywhere.
func (j *job) nothing(why string) outcome {
	most := j.Objective.Total(j.N, j.K)
	return outcome{
		lower: exactValue(new(big.Rat)), upper: exactValue(new(big.Rat).SetInt(most.Mul(most, big.NewInt(int64(j.K))))),
		proof: ProofClosedForm, undecided: why,
	}
}

// theorems bounds the optimum without a program: by permute-and-flip where that is optimal, otherwise between the best
// lower bound in closed form and permute-and-flip. Only Auto and ClosedForm ask whether permute-and-flip is optimal.
func (j *job) theorems(ctx context.Context) outcome {
	cut := func() bool { return j.Objective == totals.Box && ctx.Err() != nil } // whether sums may have been cut off
	flip := permuteAndFlipValue(ctx, j.N, j.K, j.Objective, j.Epsilon, j.prec)
	if cut() {
		return j.nothing(context.Cause(ctx).Error())
	}
	o := outcome{upper: flip, flip: &flip}
	optimal := PermuteAndFlipOptimal(j.N, j.K, j.Objective, j.Epsilon)
	if !j.Epsilon.IsZero() {
		o.flipOptimal = &optimal
	}
	if optimal && (j.Method == Auto || j.Method == ClosedForm) {
		o.lower, o.proof = flip, ProofRecurrence
		return o
	}
	lower := closedWithin(ctx, j.N, j.K, j.Objective, j.Epsilon, j.prec)
	o.lower, o.proof = boxValue(lower), ProofClosedForm
	if cut() { // each term is a lower bound by itself
		o.undecided = context.Cause(ctx).Error()
	}
	if j.Level >= Monotone && !j.Certified {
		least := flip.enclosure(j.prec).Mul(number.FromRat(big.NewRat(2, int64(j.N)), j.prec))
		if least.Lo().Cmp(lower.Lo()) > 0 {
			o.lower, o.proof = boxValue(least), ProofMonotone
		}
	}
	if j.Method == ClosedForm {
		o.undecided = "the closed-form bound does not reach the gap; try method lp or lumped"
	}
	return o
}

// How long lumping goes on where no limit was set, what of a limit it leaves for proving the bound, and what it may cost before the whole program is
// tried, in visits of positions, at some 10 ns each.
const (
	lumpedTime    = 100 * time.Second
	lumpedReserve = 500 * time.Millisecond
	promisingWork = 300_000_000
	lumpedClasses = 8192 // what a minute is enough for on lattices of 10^10 orbits
	lumpedImprove = 0.01 // of the distance to permute-and-flip, below which more classes are not worth their time
)

// promisingVariables is the number of variables from which lumping is tried before the whole program where it may be enough.
const promisingVariables = 20_000

// some tries lumping where it may spare the whole program or must stand in for it. With y from classes of orbits the bound comes some orders
// of magnitude closer to the optimum than the closed-form one, which in turn is the closer the more candidates there are.
func (j *job) some(ctx context.Context) error {
	o := lumped.Options{}
	switch {
	case j.Varied() || j.Exact || j.Certified && max(j.N, j.K) > maxLumped:
		return nil
	case j.beyond() != "" || j.frugal():
	case j.answer.Variables.Cmp(big.NewInt(promisingVariables)) >= 0 && narrow(j.total().enclosure(j.prec), big.NewRat(1, 1000)):
		o.MaxWork = promisingWork
	default:
		return nil
	}
	return j.try(ctx, func() outcome { return j.lumped(ctx, o) })
}

// maxMassBits bounds the weights of orbits that are handed to floating-point solvers.
const maxMassBits = 900

// What a variable of the enumerated program costs in memory by estimate: with the simplex method, and with the first-order method alone.
const (
	bytesPerVariable  = 4000
	bytesByFirstOrder = 800
)

// ProgramMemory estimates the bytes that the whole program takes.
func (r Request) ProgramMemory() *big.Int {
	need := lattice.Variables(r.N, r.K*max(1, r.Step))
	return need.Mul(need, big.NewInt(bytesPerVariable))
}

// frugal reports whether the whole program fits into memory for the first-order method alone. What that reaches is a question of time, so that it does not
// stand in where the clock must have no say, nor for a method that was asked for, or an exact optimum.
func (r Request) frugal() bool {
	limit := big.NewInt(cmp.Or(r.MaxMemory, DefaultMemory))
	return r.ProgramMemory().Cmp(limit) > 0 && r.frugalMemory().Cmp(limit) <= 0 && r.Method == Auto && r.MaxWork == 0 && !r.Exact && !r.Varied()
}

// frugalMemory estimates the bytes that the whole program takes without the simplex method.
func (r Request) frugalMemory() *big.Int {
	need := lattice.Variables(r.N, r.K)
	return need.Mul(need, big.NewInt(bytesByFirstOrder))
}

// Memory estimates the bytes that answering the request takes at most: those of the whole program, with the first-order method alone where more is beyond
// MaxMemory, or of lumping where that is.
func (r Request) Memory() int64 {
	limit := cmp.Or(r.MaxMemory, DefaultMemory)
	if need := r.ProgramMemory(); need.Cmp(big.NewInt(limit)) <= 0 {
		return need.Int64()
	}
	if r.frugal() {
		return r.frugalMemory().Int64()
	}
	return min(limit, lumped.DefaultMaxMemory)
}

// memory returns how much memory may be used, in bytes.
func (j *job) memory() int64 {
	if j.MaxMemory > 0 {
		return j.MaxMemory
	}
	return DefaultMemory
}

// unchecked reports whether the whole program is too large for a certificate that is asked for.
func (r Request) unchecked() bool {
	return r.Certified && lattice.Variables(r.N, r.K*max(1, r.Step)).Cmp(big.NewInt(maxClaimed)) > 0
}

// beyond says why the whole program cannot be solved within the limits; it is empty where it can.
func (j *job) beyond() string {
	if j.Varied() {
		return j.tooMany()
	}
	if j.unchecked() {
		return fmt.Sprintf("n = %d and k = %d give %s variables, more than the checker of certificates takes", j.N, j.K, decimal.Count(j.answer.Variables))
	}
	need := j.ProgramMemory()
	if limit := big.NewInt(j.memory()); need.Cmp(limit) > 0 && !j.frugal() {
		return fmt.Sprintf("n = %d and k = %d give %s variables, about %s of memory, over the limit of %s; use smaller n and k, or more memory",
			j.N, j.K, decimal.Count(j.answer.Variables), bytesText(need), bytesText(limit))
	}
	if bits := lattice.Vectors(j.N, j.K, false).BitLen(); bits > maxMassBits {
		return fmt.Sprintf("n = %d and k = %d: orbits of up to 2^%d score vectors are beyond floating-point solvers; use method auto", j.N, j.K, bits)
	}
	return ""
}

// enumerated solves the whole program.
func (j *job) enumerated(ctx context.Context) outcome {
	o := j.best
	if o.undecided = j.beyond(); o.undecided != "" {
		if j.answer.Undecided != "" && j.Method == Auto {
			o.undecided = j.answer.Undecided + "; " + o.undecided
		}
		return o
	}
	if j.Varied() {
		return j.written(ctx)
	}
	return j.solved(ctx, o, j.Gap)
}

// solved solves the whole program, in chain form.
func (j *job) solved(ctx context.Context, o outcome, gap *big.Rat) outcome {
	program, err := enumerate(ctx, j.N, j.K, j.Objective, j.Level, j.Epsilon)
	if err == nil && j.Varied() {
		program.costs, err = program.costsOf(j.question())
	}
	if err != nil {
		if ctx.Err() != nil {
			o.undecided = context.Cause(ctx).Error()
			return o
		}
		return outcome{err: err}
	}
	s, err := program.solve(ctx, effort{
		solver: j.Solver, direct: j.Direct, start: j.Start, gap: gap, report: j.Report, frugal: j.frugal(),
		publish: func(s solution) {
			so := o.from(program, &s, j.prec)
			j.published.Store(&so)
		},
	})
	if err != nil {
		return outcome{err: err}
	}
	return o.from(program, s, j.prec)
}

// from returns an outcome with what solving a program has shown beyond it.
func (o outcome) from(p *Program, s *solution, prec uint) outcome {
	o.solver, o.pivots, o.basis, o.undecided = s.solver, s.pivots, s.basis, s.undecided
	if s.lower == nil {
		return o
	}
	proposal := *s.proposal
	o.proof, o.evidence = ProofLP, &Evidence{Program: p, Proposal: &proposal, Prec: s.prec}
	in := func(x *big.Rat) value { return exactValue(new(big.Rat).Mul(x, p.unit)) }
	o.lower = in(s.lower)
	if s.upper != nil && in(s.upper).enclosure(prec).Lo().Cmp(o.upper.enclosure(prec).Hi()) <= 0 {
		o.upper = in(s.upper)
	} else {
		// Permute-and-flip is the better feasible point: the one without injections.
		proposal.Injection = nil
	}
	return o
}

// lumped bounds the optimum from classes of orbits, at any level: more rows only raise it.
func (j *job) lumped(ctx context.Context, o lumped.Options) outcome {
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
	gap, _ := j.Gap.Float64()
	upper := j.best.upper.over(lattice.Vectors(j.N, j.K, false), j.prec).enclosure(j.prec)
	o.Target, o.Improve, o.MaxClasses = upper.Near()*(1-float64(gap/2)), lumpedImprove, lumpedClasses
	o.Precision, o.Gap, o.MaxMemory = j.prec, min(lumped.DefaultGap, gap), min(j.memory(), lumped.DefaultMaxMemory)
	if j.Report != nil {
		o.Report = func(p lumped.Progress) {
			j.Report(linear.Progress{Pivots: p.Iterations, Objective: p.Bound})
		}
	}
	inner, stop := context.WithCancel(inner)
	defer stop()
	point := j.product(inner)
	out := j.best
	out.solver, out.undecided = "lumped", "the bound over classes does not reach the gap; it is what lumping gives here"
	result, err := lumped.Bound(inner, j.N, j.K, j.Epsilon, j.Objective, o)
	switch {
	case err == nil:
		out.pivots = result.Iterations
		if result.Lower.Lo().Cmp(j.floor(out.lower)) > 0 {
			out.lower, out.proof = boxValue(result.Lower), ProofLumped
			out.evidence = &Evidence{Classes: result, Prec: j.prec}
			if j.reaches(out) { // with permute-and-flip as the feasible point
				break
			}
			if p := point(); p != nil {
				out.upper = boxValue(j.flip.enclosure(j.prec).Sub(p.Saving))
				out.evidence.Injections = p.Injections
			}
		}
	case inner.Err() == nil && !errors.Is(err, lumped.ErrTooMany):
		return outcome{err: err}
	case inner.Err() == nil:
		out.undecided = "lumping: " + err.Error()
	}
	switch {
	case ctx.Err() != nil:
		out.undecided = context.Cause(ctx).Error()
	case inner.Err() != nil:
		out.undecided = "the bound over classes does not reach the gap in the time that there was"
	}
	return out
}

// product starts the search for a product point that is better than permute-and-flip, which goes on beside the bounds of lumped classes. The
// function that it returns waits for the end of the search and returns the point, or nil where none was found. Product points are feasible at
// level paper only, and where the whole program can be solved, its solution is better: then no search is started.
func (j *job) product(ctx context.Context) func() *product.Result {
	if j.Level != Paper || j.flip == nil || j.Method != Lumped && j.beyond() == "" {
		return func() *product.Result { return nil }
	}
	done := make(chan *product.Result, 1)
	go func() {
		r, err := product.Bound(ctx, j.N, j.K, j.Epsilon, j.Objective, j.prec)
		if err != nil || len(r.Injections) == 0 {
			r = nil
		}
		done <- r
	}()
	return func() *product.Result { return <-done }
}

// bytesText writes a number of bytes with a unit.
func bytesText(b *big.Int) string {
	f, _ := new(big.Float).SetInt(b).Float64()
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB", "PB"} {
		if f < 1000 {
			return fmt.Sprintf("%.3g %s", f, unit)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.3g EB", f)
}
