package heterogeneous

import (
	"context"
	"fmt"
	"math/big"

	"optratio/lp/linear"
	"optratio/mechanisms"
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
	basis        *linear.Basis
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
	box := eps.ExpNeg(big.NewRat(1, 1), prec)
	low, _ = box.Lo().Rat(nil)
	high, _ = box.Hi().Rat(nil)
	if one := big.NewRat(1, 1); high.Cmp(one) > 0 {
		high = one
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
	s := &solution{}
	low, high := between(eps, 128)
	// The uniform mechanism and no multipliers are an answer from the start.
	s.take(p, p.uniform(), low, high)
	result, err := p.solveFloat(ctx, solver, s, middle(low, high), report)
	if err != nil {
		return nil, err
	}
	if result.X != nil && result.Duals != nil {
		s.take(p, p.fromFloats(result), low, high)
	}
	// Of numerical trouble the basis may still be good: what settles it decides.
	if result.Outcome != linear.Optimal && (result.Outcome != linear.Failed || s.basis == nil) {
		s.undecided = "the solver " + result.Outcome.String() + " before the optimum"
		if err := context.Cause(ctx); err != nil {
			s.undecided = err.Error()
		}
		return s, nil
	}
	if low.Cmp(high) == 0 {
		err = p.solveExact(ctx, solver, s, low)
	} else if !s.close(gap) {
		err = p.sharpen(ctx, solver, s, eps, gap)
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

// extend makes the solution's basis one of the program with its new rows.
func (p *program) extend(s *solution) {
	s.basis = s.basis.Clone()
	for len(s.basis.Row) < p.fixed()+len(p.rows) {
		s.basis.Row = append(s.basis.Row, linear.Basic)
	}
}

// solveFloat solves in floating point, adding violated rows until there are none.
func (p *program) solveFloat(ctx context.Context, solver linear.Solver, s *solution, z *big.Rat, report func(linear.Progress)) (*linear.Result, error) {
	zf, _ := z.Float64()
	for round := 0; ; round++ {
		before := s.pivots
		o := linear.Options{Basis: s.basis, Report: func(pr linear.Progress) {
			if report != nil {
				pr.Pivots += before
				report(pr)
			}
		}}
		result, err := solver.Solve(ctx, p.rational(z).Model(), o)
		if err != nil {
			return nil, err
		}
		s.pivots += result.Pivots
		if result.Basis != nil {
			s.basis = result.Basis
		}
		if result.Outcome != linear.Optimal || round == rowRounds {
			return result, nil
		}
		x := result.X
		added := p.separate(
			func(i, j int) int { return compareFloats(x[i], x[j]) },
			func(above, below int) bool { return x[above] < zf*x[below]-rowTolerance })
		if added == 0 {
			return result, nil
		}
		p.extend(s)
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
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
func (p *program) solveExact(ctx context.Context, solver linear.Solver, s *solution, z *big.Rat) error {
	for range rowRounds {
		e, err := p.rational(z).Optimize(ctx, s.basis, solver)
		if err != nil {
			return err
		}
		s.basis = e.Basis
		if p.separateBig(e.X.Num, z, new(big.Int)) > 0 {
			p.extend(s)
			continue
		}
		s.take(p, p.fromVectors(e.X, e.Y), z, z)
		if s.lower.Cmp(s.upper) != 0 {
			return fmt.Errorf("heterogeneous: an exact solution gives bounds %s and %s", s.lower.FloatString(20), s.upper.FloatString(20))
		}
		return nil
	}
	return linear.ErrUnsettled
}

// sharpen raises the precision of the basis's solution until the bounds are close.
func (p *program) sharpen(ctx context.Context, solver linear.Solver, s *solution, eps mechanisms.Epsilon, gap *big.Rat) error {
	for shift := uint(192); shift <= maxShift; shift *= 2 {
		low, high := between(eps, shift+64)
		z := middle(low, high)
		for range rowRounds {
			if err := ctx.Err(); err != nil {
				return err
			}
			b, a, err := p.rational(z).Settle(ctx, s.basis, solver, shift)
			if err != nil {
				return err
			}
			s.basis = b
			den := new(big.Int).Lsh(big.NewInt(1), a.Shift)
			s.take(p, p.fromVectors(&linear.Fractions{Num: a.X, Den: den}, &linear.Fractions{Num: a.Y, Den: den}), low, high)
			// Differences in the last third of the bits are noise of tight rows.
			if s.close(gap) || p.separateBig(a.X, z, new(big.Int).Lsh(big.NewInt(1), a.Shift/3)) == 0 {
				break
			}
			p.extend(s)
		}
		if s.close(gap) {
			return nil
		}
	}
	s.undecided = fmt.Sprintf("the gap was not reached with %d bits", maxShift)
	return nil
}
