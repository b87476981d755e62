package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/patience"
	"optratio/internal/table"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/mechanisms"
	"optratio/number"
)

// Varied reports whether a request asks more than the published program. Its bounds then are on the mean, or largest, loss itself instead of on
// a total over the lattice.
func (r *Request) Varied() bool {
	_, named := objectiveOf(r.Prior, r.Objective)
	return r.Step > 1 || r.Worst || !r.Loss.IsMean() || !named || r.Delta != nil
}

// objectiveOf returns the objective that a prior is: o for none. It reports false where the prior is no objective.
func objectiveOf(prior *variant.Prior, o totals.Objective) (totals.Objective, bool) {
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
	case r.Objective == totals.Box:
		q.Prior = variant.Box()
	}
	return q
}

// chained reports whether the request's program is one of chains, whatever its loss and prior: a mean on the lattice of step 2Δ.
func (r *Request) chained() bool { return !r.Worst && r.Delta == nil && r.Step <= 1 }

// enclosed returns a number between bounds; without an upper one it is at most the largest loss.
func (j *job) enclosed(b table.Bounds, prec uint) value {
	if b.Exact() {
		return exactValue(b.Low)
	}
	high := b.High
	if high == nil {
		high = j.closed.MaxLoss
	}
	return boxValue(number.Hull(number.FromRat(b.Low, prec), number.FromRat(high, prec)))
}

// closedForms bounds the optimum of a varied request by theorems.
func (j *job) closedForms() (o outcome, err error) {
	if j.closed, err = j.question().Closed(j.prec); err != nil {
		return o, err
	}
	c := j.closed
	o = outcome{lower: j.enclosed(table.Bounds{Low: c.Optimum.Low, High: c.Optimum.Low}, j.prec), upper: exactValue(c.MaxLoss), proof: ProofClosedForm, flipOptimal: c.PFOptimal}
	if c.Optimum.High != nil {
		o.upper = exactValue(c.Optimum.High)
	}
	if c.PFOptimal != nil && *c.PFOptimal && j.Method != Enumerated {
		o.proof = ProofRecurrence
	}
	if j.Method == ClosedForm {
		if !c.Theorem {
			return o, fmt.Errorf("%w: no theorem bounds this optimum from below; use method lp", ErrMethod)
		}
		o.undecided = "the closed-form bound does not reach the gap; try method lp"
	}
	return o, nil
}

// written answers a varied request by its lattice: by the linear-time test for permute-and-flip, else by the program.
func (j *job) written(ctx context.Context) outcome {
	o := j.best
	q := j.question()
	p, err := variant.New(q)
	if err != nil {
		return outcome{err: err}
	}
	o.orbits = p
	if j.answer.PFOptimal == nil {
		if optimal, decided := p.PermuteAndFlipOptimal(); decided {
			o.flipOptimal = &optimal
		}
		if o.flipOptimal != nil && *o.flipOptimal && j.Method == Auto {
			flip, err := p.Rate(ctx, mechanisms.PermuteAndFlip(), j.prec)
			if err == nil {
				o.lower, o.upper, o.proof = j.enclosed(flip, j.prec), j.enclosed(flip, j.prec), ProofRecurrence
			} else if ctx.Err() != nil {
				o.undecided, err = context.Cause(ctx).Error(), nil
			}
			o.err = err
			return o
		}
	}
	gap := new(big.Rat).Mul(j.Gap, big.NewRat(999, 1000)) // what rounding adds when a mechanism is rated fits beside it
	if j.chained() {
		return j.solved(ctx, o, gap)
	}
	s, err := p.Solve(ctx, j.Solver, gap, j.Report)
	if err != nil {
		return outcome{err: err}
	}
	o.solver, o.pivots, o.undecided = j.Solver.Name(), s.Pivots, s.Undecided
	if o.undecided == "" || s.Optimum.Low.Cmp(o.lower.exact) >= 0 {
		o.lower, o.proof, o.evidence = exactValue(s.Optimum.Low), ProofLP, &Evidence{table: s}
	}
	if o.undecided == "" || s.Optimum.High.Cmp(o.upper.exact) < 0 {
		o.upper = exactValue(s.Optimum.High)
	}
	if o.undecided == "" {
		if j.Delta != nil {
			price := s.Price()
			o.price = new(number.Bounds(price.Low, price.High))
		}
		if j.Exact && !j.reaches(o) {
			o.undecided = "the optimum is not known exactly"
		}
	}
	return o
}

// tooMany says why the lattice of a varied request is not enumerated; it is empty where it can be.
func (j *job) tooMany() string {
	q := j.question()
	if why := q.TooMany(); why != "" {
		return why
	}
	need, limit := j.ProgramMemory(), big.NewInt(j.memory())
	if need.Cmp(limit) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s, about %s of memory, over the limit of %s; use smaller n or k, a coarser step, or more memory", q.Size(), bytesText(need), bytesText(limit))
}

// byTheorem returns a mechanism's loss where a theorem gives it.
func (j *job) byTheorem(m mechanisms.Mechanism, prec uint) (*table.Bounds, error) {
	c, err := j.closed, error(nil)
	if prec != j.prec {
		c, err = j.question().Closed(prec)
	}
	switch {
	case err != nil:
		return nil, err
	case m == mechanisms.PermuteAndFlip():
		return c.PermuteAndFlip, nil
	case m == mechanisms.Exponential():
		return c.Exponential, nil
	}
	return nil, nil
}

// lossOf returns a mechanism's loss in a varied request: by theorem, but for a request for the program, which is a route of its own, or from its
// probabilities on the lattice.
func (j *job) lossOf(ctx context.Context, m mechanisms.Mechanism, prec uint) (value, error) {
	known, err := j.byTheorem(m, prec)
	if err != nil {
		return value{}, err
	}
	p := j.orbits
	switch {
	case known != nil && (p == nil || j.Method != Enumerated):
		return j.enclosed(*known, prec), nil
	case p == nil:
		if o, named := objectiveOf(j.Prior, j.Objective); named && m == mechanisms.Exponential() && !j.Worst && j.Step <= 1 && j.Loss.IsMean() {
			v, err := total(ctx, m, j.N, j.K, o, j.Level, j.Epsilon, prec) // of its own mean error, which δ does not change
			return v.over(o.Total(j.N, j.K), prec), err
		}
		return j.enclosed(table.Bounds{Low: new(big.Rat)}, prec), nil
	}
	if err := arrangeable(m, j.N, j.K*max(1, j.Step)); err != nil {
		return value{}, err
	}
	m = mechanisms.Within(ctx, m)
	b, err := p.Rate(ctx, m, prec)
	v := value{method: "floating-point sum over the lattice"}
	switch {
	case err == nil:
		return j.enclosed(b, prec), nil
	case errors.Is(err, mechanisms.ErrNoEnclosure):
		v.estimate, err = p.Estimate(ctx, m)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", m.Info().Name, err)
	}
	return v, err
}

// enumerate writes out the lattice of a varied request where a mechanism is to be rated on it that no theorem rates.
func (j *job) enumerate(ctx context.Context) error {
	asks := slices.ContainsFunc(j.Mechanisms, func(m mechanisms.Mechanism) bool {
		known, err := j.byTheorem(m, j.prec)
		return known == nil || err != nil
	})
	if j.orbits != nil || !asks || j.tooMany() != "" {
		return nil
	}
	type written struct {
		*variant.Program
		err error
	}
	w, ok := patience.Await(ctx, 0, func() written {
		p, err := variant.New(j.question())
		return written{p, err}
	})
	if ok {
		j.orbits = w.Program
	}
	return w.err
}

// variedRatio returns a mechanism's loss over the optimum, 1 where both are 0.
func (j *job) variedRatio(m mechanisms.Mechanism, loss value, prec uint) number.Number {
	isPF := m == mechanisms.PermuteAndFlip()
	best := j.optimum()
	switch {
	case isPF && j.answer.Proof == ProofRecurrence:
		return number.Int(1)
	case !loss.rigorous():
		at, _ := new(big.Rat).Add(best.Low, best.High).Float64()
		switch {
		case at > 0:
			return number.Estimate(2*loss.estimate/at, loss.method)
		case loss.estimate == 0:
			return number.Int(1)
		}
		return number.Infinity()
	}
	ratio := boundsOf(loss, prec).Over(best)
	if low, ok := ratio.Lower(); ok && isPF && low.Cmp(big.NewRat(1, 1)) < 0 {
		// It satisfies every level's rows: the optimum is at most its loss.
		high, _ := ratio.Upper()
		return number.Bounds(big.NewRat(1, 1), high)
	}
	return ratio
}

// optimum returns the bounds of a varied request.
func (j *job) optimum() table.Bounds {
	return table.Bounds{Low: boundsOf(j.best.lower, j.prec).Low, High: boundsOf(j.best.upper, j.prec).High}
}

// boundsOf returns rationals on either side of a rigorous value.
func boundsOf(v value, prec uint) table.Bounds {
	if v.exact != nil {
		return table.Bounds{Low: v.exact, High: v.exact}
	}
	low, high := table.Ends(v.enclosure(prec))
	return table.Bounds{Low: low, High: high}
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
