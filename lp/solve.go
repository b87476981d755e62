package lp

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/linear"
)

// solution is what solving a Program has shown.
type solution struct {
	bounds
	proposal *proposal // the bounds follow from it, nil where they do not
	prec     uint      // bits that its evaluation needed, 0 for exact arithmetic
	pivots   int
	basis    *linear.Basis
	solver   string // the methods that took part
	// undecided says which limit was met before the bounds were as close as asked.
	undecided string
}

// close reports whether upper - lower <= gap · upper.
func (b *bounds) close(gap *big.Rat) bool {
	if b.lower == nil || b.upper == nil {
		return false
	}
	width := new(big.Rat).Sub(b.upper, b.lower)
	return width.Cmp(new(big.Rat).Mul(gap, b.upper)) <= 0
}

const (
	// cutTolerance is the violation, relative to a probability, from which floating-point solutions get a row added.
	cutTolerance = 1e-10
	// cutRounds bounds the rounds of adding rows.
	cutRounds = 200
	// cutBatch bounds the rows added in a round.
	cutBatch = 20000
)

// floatPrecision is the precision in bits with which proposals in floating point are evaluated.
const floatPrecision = 128

// promptVariables is the size up to which bounds are evaluated after the context has ended.
const promptVariables = 150_000

// maxShift bounds the precision at which a basis is solved for an irrational z.
const maxShift = 1 << 13

// effort says how to solve a program.
type effort struct {
	solver linear.Solver
	direct bool          // by the simplex method alone
	frugal bool          // by the first-order method alone, for as long as the bounds come closer
	start  *linear.Basis // of the simplex method, nil for permute-and-flip's or what the first-order method points to
	gap    *big.Rat
	report func(Progress)
	// publish, where not nil, takes what is proved so far; its proposal changes when publish has returned.
	publish func(solution)
}

// solve finds certified bounds within the gap of each other, or the exact optimum where z is rational.
// A large program goes through the first-order method first, which may be enough; otherwise the embedded solver goes on from
// the point that it leads to, and the given one from the basis that this ends with.
func (p *program) solve(ctx context.Context, e effort) (*solution, error) {
	s := &solution{solver: e.solver.Name()}
	g := &linear.Growing{Solver: e.solver, Basis: e.start, Rounds: cutRounds, Report: reported(e.report)}
	defer func() { s.basis, s.pivots = g.Basis, g.Pivots }()
	_, rational := p.Epsilon.Z()
	enough := func() bool { return !rational && s.close(e.gap) }
	if !e.direct && e.start == nil && (e.frugal || p.variables() >= firstOrderVariables) {
		if err := p.approach(ctx, e, g, s, enough); err != nil || ctx.Err() != nil || e.frugal || enough() {
			return s, err
		}
	}
	if g.Basis == nil {
		g.Basis = p.permuteAndFlipBasis()
	}
	result, err := g.Float(ctx, linear.Primal, p.model, func(x []float64) int { return p.separate(x, cutTolerance) })
	if err != nil {
		return nil, err
	}
	// Whatever the solver says of its answer, bounds evaluated from it hold. After a stop only what is quick is evaluated.
	if stopped := ctx.Err() != nil; !stopped || p.variables() <= promptVariables {
		if result.Duals != nil && result.Basis != nil {
			p.prove(s, p.fromResult(result))
		}
		if !s.close(e.gap) {
			p.prove(s, p.closedProposal())
		}
	}
	switch {
	case enough():
		return s, nil
	case result.Outcome != linear.Optimal:
		s.undecided = result.Unfinished(ctx)
		return s, nil
	case rational:
		err = p.solveExact(ctx, g, s)
	default:
		err = p.sharpen(ctx, g, s, e.gap)
	}
	s.undecided, err = linear.Reason(ctx, s.undecided, err)
	return s, err
}

// approach leads near the optimum by the first-order method, and from there to a basis unless the bounds are as close as asked by then. What
// it has proved is published as it goes.
func (p *program) approach(ctx context.Context, e effort, g *linear.Growing, s *solution, enough func() bool) error {
	s.solver = "first-order"
	publish := func(prop *proposal) {
		p.prove(s, prop)
		if e.publish != nil {
			e.publish(*s)
		}
	}
	p.prove(s, p.closedProposal())
	o := p.firstOrder(e.gap)
	o.frugal = e.frugal
	o.run(ctx, e.report, func() bool {
		publish(o.proposal())
		return enough()
	})
	if o.proved < o.ascent.Iterations && (ctx.Err() == nil || p.variables() <= promptVariables) {
		publish(o.proposal())
	}
	switch {
	case ctx.Err() != nil:
		s.undecided = context.Cause(ctx).Error()
		return nil
	case enough():
		return nil
	case e.frugal:
		s.undecided = "the first-order method comes no closer, and there is no memory for more; raise the limit of memory"
		return nil
	}
	s.solver = "first-order and embedded"
	result, err := linear.Embedded{}.Crossover(ctx, p.model(), o.start(), reported(e.report))
	if err != nil {
		return err
	}
	g.Basis, g.Pivots = result.Basis, result.Pivots
	switch {
	case ctx.Err() != nil:
		s.undecided = result.Unfinished(ctx)
	case result.Outcome == linear.Optimal:
		publish(p.fromResult(result))
	}
	return nil
}

// prove takes what a proposal proves in outward-rounded arithmetic.
func (p *program) prove(s *solution, prop *proposal) {
	s.accept(prop, p.enclose(prop, floatPrecision), floatPrecision)
}

// accept takes each bound of a proposal that is better than the one so far, with the part of the proposal that it
// follows from: the multipliers for the lower one, the injections for the upper one.
func (s *solution) accept(prop *proposal, b bounds, prec uint) {
	if s.proposal == nil {
		s.proposal = &proposal{}
	}
	if b.lower != nil && (s.lower == nil || b.lower.Cmp(s.lower) > 0) {
		s.lower, s.prec = b.lower, prec
		s.proposal.Dual, s.proposal.Cuts, s.proposal.Multiplier = prop.Dual, prop.Cuts, prop.Multiplier
	}
	if b.upper != nil && (s.upper == nil || b.upper.Cmp(s.upper) < 0) {
		s.upper, s.prec = b.upper, prec
		s.proposal.Injection = prop.Injection
	}
}

// addCuts adds the rows of the level that are violated and not in force yet, at most cutBatch, and returns how many.
func (p *program) addCuts(violated func(cut) bool) int {
	have := make(map[cut]bool, len(p.cuts))
	for _, c := range p.cuts {
		have[c] = true
	}
	before := len(p.cuts)
	p.eachCut(func(c cut) bool {
		if violated(c) && !have[c] {
			have[c] = true
			p.cuts = append(p.cuts, c)
		}
		return len(p.cuts)-before < cutBatch
	})
	return len(p.cuts) - before
}

// separate adds the rows of the level that the masses x (in Model's scaling) violate by more than the tolerance.
func (p *program) separate(x []float64, tolerance float64) int {
	z := p.Epsilon.FloatZ()
	probability := func(j int32) float64 { return x[j] / float64(p.vars.Count[j]) }
	return p.addCuts(func(c cut) bool {
		below := probability(c.Below)
		if c.Private {
			below *= z
		}
		return probability(c.Above) < below-tolerance
	})
}

// separateExact adds the rows of the level that masses in units of a common denominator violate by more than
// spare units.
func (p *program) separateExact(u []*big.Int, z *big.Rat, spare *big.Int) int {
	var left, right big.Int
	return p.addCuts(func(c cut) bool {
		// x_a >= ρ x_b with x = u/w: u_a w_b den(ρ) >= u_b w_a num(ρ).
		left.Add(u[c.Above], spare)
		left.Mul(&left, p.chainWeight(c.Below))
		right.Mul(u[c.Below], p.chainWeight(c.Above))
		if c.Private {
			left.Mul(&left, z.Denom())
			right.Mul(&right, z.Num())
		}
		return left.Cmp(&right) < 0
	})
}

// solveExact turns the basis into the exact optimum at the rational z.
func (p *program) solveExact(ctx context.Context, g *linear.Growing, s *solution) error {
	z, _ := p.Epsilon.Z()
	e, err := g.Exact(ctx, func() *linear.Rational { return p.rational(z) },
		func(e *linear.Exact) int { return p.separateExact(e.X.Num, z, new(big.Int)) })
	if err != nil {
		return err
	}
	s.accept(p.fromValues(e.Basis, z, e.X.Rat, e.Y.Rat), bounds{e.Objective, e.Objective}, 0)
	if s.lower.Cmp(e.Objective) != 0 || s.upper.Cmp(e.Objective) != 0 {
		return fmt.Errorf("lp: bounds %s and %s contradict the exact optimum %s",
			s.lower.FloatString(20), s.upper.FloatString(20), e.Objective.FloatString(20))
	}
	return nil
}

// sharpen raises the precision of the basis's solution until the bounds are close.
func (p *program) sharpen(ctx context.Context, g *linear.Growing, s *solution, gap *big.Rat) error {
	for shift := uint(192); shift <= maxShift; shift *= 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		prec := shift + 64
		z, _ := p.Epsilon.ExpNeg(big.NewRat(1, 1), prec).Mid().Rat(nil)
		a, err := g.Settle(ctx, shift, func() *linear.Rational { return p.rational(z) },
			func(a *linear.Approximation) int { return p.separateExact(a.X, z, a.Noise()) })
		if err != nil {
			return err
		}
		prop := p.fromApproximation(g.Basis, a, z)
		s.accept(prop, p.enclose(prop, prec), prec)
		if s.close(gap) {
			return nil
		}
	}
	s.undecided = fmt.Sprintf("the gap was not reached with %d bits", maxShift)
	return nil
}

// reported hands a solver's progress on.
func reported(report func(Progress)) func(linear.Progress) {
	if report == nil {
		return nil
	}
	return func(p linear.Progress) { report(Progress{p.Pivots, p.Objective}) }
}
