package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"optratio/internal/patience"
	"optratio/lattice"
	"optratio/lp/table"
	"optratio/lp/variant"
	"optratio/mechanisms"
	"optratio/number"
)

// Varied reports whether a request asks more than the published program: then package variant answers it.
func (r *Request) Varied() bool {
	_, named := objectiveOf(r.Prior, r.Objective)
	return r.Step > 1 || r.Worst || !r.Loss.IsMean() || !named || r.Delta != nil
}

// objectiveOf returns the objective that a prior is: o for none. It reports false where the prior is no objective.
func objectiveOf(prior *variant.Prior, o lattice.Objective) (lattice.Objective, bool) {
	if prior == nil {
		return o, true
	}
	return prior.Objective()
}

// question returns the request as package variant takes it.
func (r *Request) question() variant.Question {
	q := variant.Question{
		N: r.N, K: r.K, L: max(1, r.Step), Epsilon: r.Epsilon, Loss: r.Loss, Worst: r.Worst,
		Neighbors: r.Level == DP || r.Level == Full, Monotone: r.Level == Monotone || r.Level == Full, Delta: r.Delta,
	}
	switch {
	case r.Prior != nil:
		q.Prior = *r.Prior
	case r.Objective == lattice.Box:
		q.Prior = variant.Box()
	}
	return q
}

// variedJob is a varied request at work.
type variedJob struct {
	Request
	answer  *Answer
	prec    uint
	closed  *variant.Closed
	program *variant.Program // nil where the lattice is not enumerated
	optimum table.Bounds
}

// variedRatio answers a varied request: by theorems alone where they settle it, or where the lattice is too large to be enumerated; by the
// linear-time test for permute-and-flip; else by the program.
func variedRatio(ctx context.Context, r Request) (*Answer, error) {
	q := r.question()
	j := &variedJob{Request: r, prec: 192 + 2*uint(bitLength(r.N)+bitLength(r.K)) + uint(r.Gap.Denom().BitLen())}
	j.answer = &Answer{Request: r, Orbits: lattice.Orbits(r.N, q.Depths()), Variables: lattice.Variables(r.N, q.Depths()), Solver: "none"}
	var err error
	if j.closed, err = q.Closed(j.prec); err != nil {
		return nil, err
	}
	j.optimum, j.answer.Proof, j.answer.PFOptimal = j.closed.Optimum, ProofClosedForm, j.closed.PFOptimal
	if j.flipOptimal() {
		j.answer.Proof = ProofRecurrence
	}
	if err := j.bound(ctx); err != nil {
		return nil, err
	}
	j.answer.Optimum = number.Bounds(j.optimum.Low, j.optimum.High)
	return j.answer, j.rate(ctx)
}

func (j *variedJob) flipOptimal() bool { return j.answer.PFOptimal != nil && *j.answer.PFOptimal }

// bound bounds the optimum.
func (j *variedJob) bound(ctx context.Context) error {
	if j.Method == ClosedForm {
		if !j.closed.Theorem {
			return fmt.Errorf("%w: no theorem bounds this optimum from below; use --method lp", ErrMethod)
		}
		if !j.reached() {
			j.answer.Undecided = "the closed-form bound does not reach the gap; try --method lp"
		}
		return nil
	}
	if j.Method == Auto && j.reached() && j.ratedByTheorems() {
		return nil
	}
	if why := j.beyond(); why != "" {
		if j.Method != Auto || !j.reached() {
			j.answer.Undecided = why
		}
		return nil
	}
	type written struct {
		program *variant.Program
		optimal *bool // whether permute-and-flip is
		err     error
	}
	w, ok := patience.Await(ctx, boundGrace, func() written {
		p, err := variant.New(j.question())
		if err != nil || j.closed.PFOptimal != nil {
			return written{p, j.closed.PFOptimal, err}
		}
		optimal, decided := p.PermuteAndFlipOptimal()
		if !decided {
			return written{program: p}
		}
		return written{program: p, optimal: &optimal}
	})
	if !ok {
		j.answer.Undecided = context.Cause(ctx).Error()
		return nil
	}
	if w.err != nil {
		return w.err
	}
	j.program, j.answer.PFOptimal = w.program, w.optimal
	if j.flipOptimal() && j.Method == Auto {
		j.answer.Proof = ProofRecurrence
		if j.closed.PermuteAndFlip != nil {
			j.optimum = *j.closed.PermuteAndFlip
			return nil
		}
		flip, err := j.program.Rate(ctx, mechanisms.PermuteAndFlip(), j.prec)
		if err == nil {
			j.optimum = flip
		} else if ctx.Err() != nil {
			j.answer.Undecided, err = context.Cause(ctx).Error(), nil
		}
		return err
	}
	return j.solve(ctx)
}

// solve bounds the optimum by the program.
func (j *variedJob) solve(ctx context.Context) error {
	if !j.Worst && j.Delta == nil && j.Step <= 1 {
		return j.solveChains(ctx)
	}
	type solved struct {
		*variant.Solution
		err error
	}
	// what rounding adds when a mechanism is rated fits beside this gap
	gap := new(big.Rat).Mul(j.Gap, big.NewRat(999, 1000))
	s, ok := patience.Await(ctx, boundGrace, func() solved {
		s, err := j.program.Solve(ctx, j.Solver, gap, j.Report)
		return solved{s, err}
	})
	if !ok {
		j.answer.Undecided = context.Cause(ctx).Error()
		return nil
	}
	if s.err != nil {
		return s.err
	}
	a := j.answer
	a.Solver, a.Pivots, a.Undecided, a.varied = j.Solver.Name(), s.Pivots, s.Undecided, s.Solution
	if j.Delta != nil && s.Undecided == "" {
		price := s.Price()
		a.Price = new(number.Bounds(price.Low, price.High))
	}
	alone := a.Undecided == "" || j.Certified // a certificate proves both ends or none
	if alone || s.Optimum.Low.Cmp(j.optimum.Low) >= 0 {
		a.Proof, j.optimum.Low = ProofLP, s.Optimum.Low
	}
	if alone || s.Optimum.High.Cmp(j.optimum.High) < 0 {
		j.optimum.High = s.Optimum.High
	}
	if j.Exact && a.Undecided == "" && !j.optimum.Exact() {
		a.Undecided = "the optimum is not known exactly"
	}
	return nil
}

// solveChains bounds the optimum by the program in chain form.
func (j *variedJob) solveChains(ctx context.Context) error {
	type solved struct {
		outcome
		err error
	}
	known := outcome{lower: exactValue(j.optimum.Low), upper: exactValue(j.optimum.High)}
	// what rounding adds when a mechanism is rated fits beside this gap
	gap := new(big.Rat).Mul(j.Gap, big.NewRat(999, 1000))
	var published atomic.Pointer[outcome]
	s, ok := patience.Await(ctx, boundGrace, func() solved {
		p, err := enumerate(ctx, j.N, j.K, j.Objective, j.Level, j.Epsilon)
		if err != nil {
			return solved{err: err}
		}
		if p.costs, err = p.costsOf(j.question()); err != nil {
			return solved{err: err}
		}
		s, err := p.solve(ctx, effort{
			solver: j.Solver, direct: j.Direct, gap: gap, report: j.Report,
			publish: func(s solution) {
				so := known.from(p, &s, j.prec)
				published.Store(&so)
			},
		})
		if err != nil {
			return solved{err: err}
		}
		return solved{outcome: known.from(p, s, j.prec)}
	})
	switch {
	case !ok && published.Load() == nil:
		j.answer.Undecided = context.Cause(ctx).Error()
		return nil
	case !ok:
		s.outcome = *published.Load()
		s.undecided = context.Cause(ctx).Error()
	case s.err != nil && ctx.Err() != nil:
		j.answer.Undecided = context.Cause(ctx).Error()
		return nil
	case s.err != nil:
		return s.err
	}
	a := j.answer
	a.Solver, a.Pivots, a.Undecided, a.Basis = s.solver, s.pivots, s.undecided, s.basis
	if s.proof != "" && (a.Undecided == "" || s.lower.exact.Cmp(j.optimum.Low) >= 0) {
		a.Proof, a.Evidence = ProofLP, s.evidence
	}
	if s.lower.exact.Cmp(j.optimum.Low) > 0 {
		j.optimum.Low = s.lower.exact
	}
	if s.upper.exact.Cmp(j.optimum.High) < 0 {
		j.optimum.High = s.upper.exact
	}
	if j.reached() {
		a.Undecided = ""
	} else if j.Exact && a.Undecided == "" {
		a.Undecided = "the optimum is not known exactly"
	}
	return nil
}

// beyond says why the lattice is not enumerated; it is empty where it can be.
func (j *variedJob) beyond() string {
	limit := j.MaxMemory
	if limit == 0 {
		limit = DefaultMemory
	}
	q := j.question()
	if why := q.TooMany(); why != "" {
		return why
	}
	if need := new(big.Int).Mul(j.answer.Variables, big.NewInt(bytesPerVariable)); need.Cmp(big.NewInt(limit)) > 0 {
		return fmt.Sprintf("%s, about %s of memory, over the limit of %s; use smaller n or k, a coarser step, or --max-memory",
			q.Size(), bytesText(need), bytesText(big.NewInt(limit)))
	}
	return ""
}

// reached reports whether the optimum is known as closely as asked.
func (j *variedJob) reached() bool {
	return j.optimum.Exact() || !j.Exact && near(number.Bounds(j.optimum.Low, j.optimum.High), j.Gap)
}

// near reports whether upper - lower <= gap·upper; of estimates and infinities it has no complaint.
func near(x number.Number, gap *big.Rat) bool {
	if !x.IsRigorous() || x.IsInf() {
		return true
	}
	low, ok := x.Lower()
	high, finite := x.Upper()
	return ok && finite && new(big.Rat).Sub(high, low).Cmp(new(big.Rat).Mul(gap, high)) <= 0
}

// byTheorem returns a mechanism's objective where a theorem gives it.
func (j *variedJob) byTheorem(m mechanisms.Mechanism) *table.Bounds {
	switch m {
	case mechanisms.PermuteAndFlip():
		return j.closed.PermuteAndFlip
	case mechanisms.Exponential():
		return j.closed.Exponential
	}
	return nil
}

func (j *variedJob) ratedByTheorems() bool {
	return !slices.ContainsFunc(j.Mechanisms, func(m mechanisms.Mechanism) bool { return j.byTheorem(m) == nil })
}

// rate evaluates the mechanisms against the optimum.
func (j *variedJob) rate(ctx context.Context) error {
	for _, m := range j.Mechanisms {
		rated, err := j.rateOne(ctx, m)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			j.answer.Undecided = context.Cause(ctx).Error()
			return nil
		case errors.Is(err, mechanisms.ErrAnswer):
			rated.Finding = rated.Name + ": " + err.Error()
		default:
			return fmt.Errorf("%s: %w", rated.Name, err)
		}
		j.answer.Mechanisms = append(j.answer.Mechanisms, rated)
		if j.answer.Undecided == "" && !near(rated.Ratio, RatioGap(j.Gap, m)) {
			j.answer.Undecided = unreached(m)
		}
	}
	return nil
}

// known returns what is known of a mechanism's objective without asking it, nil where it is to be asked.
func (j *variedJob) known(m mechanisms.Mechanism) *table.Bounds {
	b := j.byTheorem(m)
	switch {
	case b == nil && j.program == nil:
		return &table.Bounds{Low: new(big.Rat), High: j.closed.MaxLoss}
	case j.program != nil && j.Method == Enumerated: // a route of its own
		return nil
	}
	return b
}

func (j *variedJob) rateOne(ctx context.Context, m mechanisms.Mechanism) (rated Rated, err error) {
	rated.Name = m.Info().Name
	if known := j.known(m); known != nil {
		rated.Error, rated.Ratio = number.Bounds(known.Low, known.High), known.Over(j.optimum)
	} else if rated.Error, rated.Ratio, err = variedRating(ctx, j.program, m, j.optimum, j.prec); err != nil {
		return rated, err
	}
	if m != mechanisms.PermuteAndFlip() {
		return rated, nil
	}
	if j.flipOptimal() && j.Method != Enumerated {
		rated.Ratio = number.Int(1)
	} else if low, ok := rated.Ratio.Lower(); ok && low.Cmp(big.NewRat(1, 1)) < 0 {
		// It satisfies every level's rows: the optimum is at most its loss.
		high, _ := rated.Ratio.Upper()
		rated.Ratio = number.Bounds(big.NewRat(1, 1), high)
	}
	return rated, nil
}

// variedRating returns a mechanism's objective and its ratio to the optimum, 1 where both are 0.
func variedRating(ctx context.Context, p *variant.Program, m mechanisms.Mechanism, optimum table.Bounds, prec uint) (loss, ratio number.Number, err error) {
	m = mechanisms.Within(ctx, m)
	b, err := p.Rate(ctx, m, prec)
	if errors.Is(err, mechanisms.ErrNoEnclosure) {
		x, err := p.Estimate(ctx, m)
		if err != nil {
			return loss, ratio, err
		}
		const method = "floating-point sum over the lattice"
		at, _ := new(big.Rat).Add(optimum.Low, optimum.High).Float64()
		switch {
		case at > 0:
			ratio = number.Estimate(2*x/at, method)
		case x == 0:
			ratio = number.Int(1)
		default:
			ratio = number.Infinity()
		}
		return number.Estimate(x, method), ratio, nil
	}
	if err != nil {
		return loss, ratio, err
	}
	return number.Bounds(b.Low, b.High), b.Over(optimum), nil
}
