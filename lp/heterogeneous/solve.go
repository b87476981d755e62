package heterogeneous

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/number/interval"
)

const (
	// rowTolerance is the violation from which floating-point solutions get a row added.
	rowTolerance = 1e-10
	// rowRounds bounds the rounds of adding rows.
	rowRounds = 500
	// maxShift bounds the precision at which a basis is solved for an irrational z.
	maxShift = 1 << 12
)

// solution is what solving a program has shown, in (squared) steps.
type solution struct {
	lower, upper *big.Rat
	table        *table // attains upper
	pivots       int
	undecided    string // which limit was met before the answer was as good as asked
}

// take keeps what a proposal shows beyond what is known, for any z between zLow and zHigh.
func (s *solution) take(p *program, prop *proposal, zLow, zHigh *big.Rat) {
	if b := p.lowerBound(prop, zLow); b != nil && (s.lower == nil || b.Cmp(s.lower) > 0) {
		s.lower = b
	}
	t := p.feasible(prop, zHigh)
	if v := p.value(t); s.upper == nil || v.Cmp(s.upper) < 0 {
		s.upper, s.table = v, t
	}
}

// close reports whether upper - lower <= gap·upper.
func (s *solution) close(gap *big.Rat) bool {
	width := new(big.Rat).Sub(s.upper, s.lower)
	return width.Cmp(new(big.Rat).Mul(gap, s.upper)) <= 0
}

// between returns rationals that z = e^{-ε} lies between, the same one twice where it is rational.
func between(eps mechanisms.Epsilon, prec uint) (low, high *big.Rat) {
	if z, ok := eps.Z(); ok {
		return z, z
	}
	low, high = ends(eps.ExpNeg(big.NewRat(1, 1), prec))
	if one := big.NewRat(1, 1); high.Cmp(one) > 0 {
		high = one
	}
	return low, high
}

// ends returns rationals on either side of what lies in an interval of numbers >= 0. Near 0 they are far from its ends, but not long.
func ends(x interval.Interval) (low, high *big.Rat) {
	n := number.Enclosed(x)
	low, _ = n.Lower()
	high, _ = n.Upper()
	if low.Sign() < 0 {
		low = new(big.Rat)
	}
	return low, high
}

// middle returns (a + b)/2.
func middle(a, b *big.Rat) *big.Rat {
	m := new(big.Rat).Add(a, b)
	return m.Quo(m, big.NewRat(2, 1))
}

// solve bounds the optimum: exactly where z is rational, to the gap otherwise, or as far as a limit lets it.
func (p *program) solve(ctx context.Context, solver linear.Solver, eps mechanisms.Epsilon, gap *big.Rat, report func(linear.Progress)) (*solution, error) {
	s, g := &solution{}, &linear.Growing{Solver: solver, Rounds: rowRounds, Report: report}
	defer func() { s.pivots = g.Pivots }()
	low, high := between(eps, 128)
	// The uniform mechanism and no multipliers are an answer from the start.
	s.take(p, p.uniform(), low, high)
	result, err := p.solveFloat(ctx, g, middle(low, high))
	if err != nil {
		return nil, err
	}
	if result.X != nil && result.Duals != nil {
		s.take(p, p.fromFloats(result), low, high)
	}
	switch {
	// Of numerical trouble the basis may still be good: what settles it decides.
	case result.Outcome != linear.Optimal && (result.Outcome != linear.Failed || g.Basis == nil):
		s.undecided = result.Unfinished(ctx)
		return s, nil
	case low.Cmp(high) == 0:
		err = p.solveExact(ctx, g, s, low)
	case !s.close(gap):
		err = p.sharpen(ctx, g, s, eps, gap)
	}
	s.undecided, err = linear.Reason(ctx, s.undecided, err)
	return s, err
}

// uniform proposes the uniform mechanism, and for Worst equal weights.
func (p *program) uniform() *proposal {
	prop := &proposal{
		&linear.Fractions{Num: make([]*big.Int, p.variables()), Den: big.NewInt(int64(p.n))},
		&linear.Fractions{Num: make([]*big.Int, p.fixed()-p.vectors()+len(p.rows)), Den: big.NewInt(1)},
	}
	for i := range prop.x.Num {
		prop.x.Num[i] = big.NewInt(1)
	}
	for i := range prop.y.Num {
		prop.y.Num[i] = new(big.Int)
		if p.criterion == Worst && i < p.vectors() {
			prop.y.Num[i].SetInt64(1)
		}
	}
	return prop
}

// solveFloat solves in floating point, adding violated rows until there are none.
func (p *program) solveFloat(ctx context.Context, g *linear.Growing, z *big.Rat) (*linear.Result, error) {
	zf, _ := z.Float64()
	model := func() *linear.Model { return p.rational(z).Model() }
	return g.Float(ctx, linear.Auto, model, func(x []float64) int {
		return p.separate(
			func(i, j int) int { return cmp.Compare(x[i], x[j]) },
			func(above, below int) bool { return x[above] < zf*x[below]-rowTolerance })
	})
}

// separateBig is separate for a solution in big numbers, where a row counts as violated from spare
// units over the denominator on.
func (p *program) separateBig(x []*big.Int, z *big.Rat, spare *big.Int) int {
	left, right := new(big.Int), new(big.Int)
	return p.separate(
		func(i, j int) int { return x[i].Cmp(x[j]) },
		func(above, below int) bool {
			left.Mul(left.Add(x[above], spare), z.Denom())
			return left.Cmp(right.Mul(x[below], z.Num())) < 0
		})
}

// solveExact turns the basis into the exact optimum at a rational z.
func (p *program) solveExact(ctx context.Context, g *linear.Growing, s *solution, z *big.Rat) error {
	program := func() *linear.Rational { return p.rational(z) }
	e, err := g.Exact(ctx, program, func(e *linear.Exact) int { return p.separateBig(e.X.Num, z, new(big.Int)) })
	if err != nil {
		return err
	}
	s.take(p, p.fromVectors(e.X, e.Y), z, z)
	if s.lower.Cmp(s.upper) != 0 {
		return fmt.Errorf("heterogeneous: an exact solution gives bounds %s and %s", s.lower.FloatString(20), s.upper.FloatString(20))
	}
	return nil
}

// sharpen raises the precision of the basis's solution until the bounds are close.
func (p *program) sharpen(ctx context.Context, g *linear.Growing, s *solution, eps mechanisms.Epsilon, gap *big.Rat) error {
	for shift := uint(192); shift <= maxShift; shift *= 2 {
		low, high := between(eps, shift+64)
		z := middle(low, high)
		program := func() *linear.Rational { return p.rational(z) }
		_, err := g.Settle(ctx, shift, program, func(a *linear.Approximation) int {
			den := new(big.Int).Lsh(big.NewInt(1), a.Shift)
			s.take(p, p.fromVectors(&linear.Fractions{Num: a.X, Den: den}, &linear.Fractions{Num: a.Y, Den: den}), low, high)
			if s.close(gap) {
				return 0
			}
			return p.separateBig(a.X, z, a.Noise())
		})
		if err != nil || s.close(gap) {
			return err
		}
	}
	s.undecided = fmt.Sprintf("the gap was not reached with %d bits", maxShift)
	return nil
}
