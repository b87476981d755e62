package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"

	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/number/arith"
)

const (
	// rowTolerance is the violation from which floating-point solutions get a row added.
	rowTolerance = 1e-10
	// rowRounds bounds the rounds of adding rows.
	rowRounds = 500
	// maxShift bounds the precision, in bits, at which a basis is solved for an irrational z.
	maxShift = 1 << 14
)

// Solution is what solving a program has shown: Lower <= optimum <= Upper, the dual that Lower follows from, and the
// table that attains Upper.
type Solution struct {
	Lower, Upper *big.Rat
	Dual         *Dual
	Table        *Table
	Rows         int // generated
	Pivots       int // of the floating-point solver
	// ZLow and ZHigh enclose z = e^{-ε}: Lower holds for every z >= ZLow, the table satisfies the rows at every z <= ZHigh.
	ZLow, ZHigh *big.Rat
	Undecided   string // which limit was met before the answer was as good as asked; empty where it was
}

// take keeps what a proposal shows beyond what is known.
func (s *Solution) take(p *Program, prop *proposal, zLow, zHigh *big.Rat) {
	d := p.dual(prop)
	if b := p.LowerBound(d, zLow); b != nil && (s.Lower == nil || b.Cmp(s.Lower) > 0) {
		s.Lower, s.Dual, s.ZLow = b, d, zLow
	}
	t := p.feasible(prop, zHigh)
	if v := t.Value(); s.Upper == nil || v.Cmp(s.Upper) < 0 {
		s.Upper, s.Table, s.ZHigh = v, t, zHigh
	}
}

// Prove returns what a proposal shows without a solver: masses of the cells and multipliers of rows, in the units of Dual, for a z between the ends.
func (p *Program) Prove(mass []*big.Rat, rows []Row, multiplier []*big.Rat, zLow, zHigh *big.Rat) (*Solution, error) {
	p.Start = rows
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Solution{Rows: len(rows)}
	s.take(p, &proposal{fractions(mass), fractions(multiplier)}, zLow, zHigh)
	return s, nil
}

// fractions writes numbers over one denominator.
func fractions(xs []*big.Rat) *linear.Fractions {
	out := &linear.Fractions{Den: arith.CommonDenominator(xs)}
	for _, x := range xs {
		n := new(big.Int).Quo(out.Den, x.Denom())
		out.Num = append(out.Num, n.Mul(n, x.Num()))
	}
	return out
}

// close reports whether Upper - Lower <= gap·Upper.
func (s *Solution) close(gap *big.Rat) bool {
	width := new(big.Rat).Sub(s.Upper, s.Lower)
	return width.Cmp(new(big.Rat).Mul(gap, s.Upper)) <= 0
}

// Between returns rationals that z = e^{-ε} lies between, the same one twice where it is rational.
func Between(eps mechanisms.Epsilon, prec uint) (low, high *big.Rat) {
	if z, ok := eps.Z(); ok {
		return z, z
	}
	low, high = Ends(eps.ExpNeg(big.NewRat(1, 1), prec))
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

// Solve bounds the optimum: exactly where z is rational, to the gap (Upper-Lower)/Upper otherwise, or as far as the
// context lets it, which Undecided then says.
func (p *Program) Solve(ctx context.Context, eps mechanisms.Epsilon, solver linear.Solver, gap *big.Rat, report func(linear.Progress)) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Solution{}
	low, high := Between(eps, 128)
	// The interior table and no multipliers are an answer from the start.
	s.take(p, p.start(), low, high)
	err := p.solve(ctx, s, eps, solver, gap, report)
	if embedded := (linear.Embedded{}); errors.Is(err, linear.ErrUnsettled) && solver.Name() != embedded.Name() {
		// Another solver may be content with a basis that exact arithmetic is not: CLP, with losses of 10^-13 at ε = 30.
		err = p.solve(ctx, s, eps, embedded, gap, report)
	}
	s.Rows = len(p.rows)
	if err != nil && ctx.Err() != nil {
		s.Undecided, err = context.Cause(ctx).Error(), nil
	}
	s.Undecided, err = linear.Reason(ctx, s.Undecided, err)
	return s, err
}

func (p *Program) solve(ctx context.Context, s *Solution, eps mechanisms.Epsilon, solver linear.Solver, gap *big.Rat, report func(linear.Progress)) error {
	low, high := Between(eps, 128)
	z := middle(low, high)
	larger := p.larger(z)
	if len(larger) > 0 {
		z = larger[0]
	}
	g := &linear.Growing{Solver: solver, Rounds: rowRounds, Report: report}
	var broken error // what ended the search for violated rows
	model := func() *linear.Model { return p.rational(z).Model() }
	if p.Near != nil && p.Pairs == nil && len(larger) == 0 {
		if err := p.cross(ctx, g, z, report); err != nil {
			return err
		}
	}
	result, err := g.Float(ctx, linear.Auto, model, func(x []float64) (added int) {
		added, broken = p.separateFloat(ctx, x, z)
		return added
	})
	if err != nil {
		return err
	}
	s.Pivots = g.Pivots
	if len(larger) == 0 && result.X != nil && result.Duals != nil && len(result.Duals) == p.fixed()+len(p.rows) {
		s.take(p, &proposal{dyadic(result.X[:p.cells()]), dyadic(result.Duals[p.groups():])}, low, high)
	}
	// The program has a solution, the interior table, and no loss is negative: another outcome is numerical trouble, of which the basis may still
	// be good. What settles it decides.
	if broken != nil || result.Outcome == linear.Stopped || result.Outcome != linear.Optimal && g.Basis == nil {
		s.Undecided = result.Unfinished(ctx)
		return nil
	}
	for _, z := range larger {
		if err := p.settle(ctx, g, z); err != nil {
			return err
		}
	}
	if low.Cmp(high) == 0 {
		return p.solveExact(ctx, g, s, low)
	}
	if s.close(gap) {
		return nil
	}
	return p.sharpen(ctx, g, s, eps, gap)
}

// start proposes the interior table, and with Worst equal weights.
func (p *Program) start() *proposal {
	prop := &proposal{
		&linear.Fractions{Num: make([]*big.Int, p.cells()), Den: big.NewInt(1)},
		&linear.Fractions{Num: make([]*big.Int, p.fixed()-p.groups()+len(p.rows)), Den: big.NewInt(1)},
	}
	for j := range prop.x.Num {
		prop.x.Num[j] = big.NewInt(2) // more than a probability: the interior table alone
	}
	for i := range prop.y.Num {
		prop.y.Num[i] = new(big.Int)
		if p.Worst && i < p.groups() {
			prop.y.Num[i].SetInt64(1)
		}
	}
	return prop
}

// separateFloat is separate for a solution in floating point.
func (p *Program) separateFloat(ctx context.Context, columns []float64, z *big.Rat) (int, error) {
	zf, _ := z.Float64()
	x := func(j int32) float64 { return columns[j] / float64(p.Count[j]) }
	slack, _ := p.slack(z).Float64()
	var event []Part
	events, err := p.separatePairs(ctx, func(q Pair) ([]Part, float64, bool) {
		event = event[:0]
		sum := 0.0
		for _, part := range q {
			if over := zf*x(part.Below) - x(part.Above); over > 0 {
				event = append(event, part)
				sum += float64(part.Candidates) * over
			}
		}
		return event, sum, sum > slack+rowTolerance
	})
	if err != nil {
		return 0, err
	}
	rows, err := p.separate(ctx,
		func(i, j int32) bool { return x(i) > x(j) },
		func(r Row) bool {
			below := x(r.Below)
			if r.Private {
				below *= zf
			}
			return x(r.Above) < below-rowTolerance
		})
	return events + rows, err
}

// separateBig is separate for a solution in big numbers, where a row counts as violated from spare units over the
// denominator den on.
func (p *Program) separateBig(ctx context.Context, x []*big.Int, den *big.Int, z *big.Rat, spare *big.Int) (int, error) {
	share := p.shares(x)
	room := new(big.Int).Mul(spare, p.common)
	var left, right, term big.Int
	slack := p.slack(z)
	// of an event, in units of 1/(common·den·denominator of z), with spare units for each cell of it
	bound := new(big.Int).Mul(p.common, den)
	bound.Mul(bound, z.Denom()).Mul(bound, slack.Num()).Quo(bound, slack.Denom())
	events, err := p.separatePairs(ctx, func(q Pair) ([]Part, float64, bool) {
		event, sum := q.excess(func(part *Part) *big.Int {
			over := new(big.Int).Mul(share[part.Below], z.Num())
			over.Sub(over, term.Mul(share[part.Above], z.Denom()))
			return over
		})
		sum.Sub(sum, bound)
		if sum.Sub(sum, term.Mul(term.Mul(room, z.Denom()), left.SetInt64(int64(len(event))))).Sign() <= 0 {
			return nil, 0, false
		}
		amount, _ := new(big.Float).SetInt(sum).Float64()
		return event, amount, true
	})
	if err != nil {
		return 0, err
	}
	rows, err := p.separate(ctx,
		func(i, j int32) bool { return share[i].Cmp(share[j]) > 0 },
		func(r Row) bool {
			left.Add(share[r.Above], term.Quo(room, term.SetInt64(p.Count[r.Above])))
			right.Set(share[r.Below])
			if r.Private {
				left.Mul(&left, z.Denom())
				right.Mul(&right, z.Num())
			}
			return left.Cmp(&right) < 0
		})
	return events + rows, err
}

// exact turns the basis into the exact optimum at a rational z.
func (p *Program) exact(ctx context.Context, g *linear.Growing, z *big.Rat) (*linear.Exact, error) {
	var broken error
	e, err := g.Exact(ctx, func() *linear.Rational { return p.rational(z) }, func(e *linear.Exact) (added int) {
		added, broken = p.separateBig(ctx, e.X.Num, e.X.Den, z, new(big.Int))
		return added
	})
	return e, cmp.Or(err, broken)
}

// solveExact takes the exact optimum at z = e^{-ε} where that is rational.
func (p *Program) solveExact(ctx context.Context, g *linear.Growing, s *Solution, z *big.Rat) error {
	e, err := p.exact(ctx, g, z)
	if err != nil {
		return err
	}
	s.take(p, p.read(e.X, e.Y), z, z)
	if s.Lower.Cmp(s.Upper) != 0 {
		return fmt.Errorf("table: an exact solution gives bounds %s and %s", s.Lower.FloatString(20), s.Upper.FloatString(20))
	}
	return nil
}

// larger returns values from a moderate one down at which the basis is to be made optimal, one after the other, before it is at z. Far below them
// solvers work with numbers that they take for 0, and a basis that is optimal where z is small beside 1 and δ mostly stays so for every smaller z.
func (p *Program) larger(z *big.Rat) (out []*big.Rat) {
	one, small := big.NewRat(1, 1), big.NewRat(1, 1<<20)
	last := one
	if p.Delta.Sign() > 0 && p.Delta.Cmp(one) < 0 {
		last = new(big.Rat).Mul(p.Delta, small)
	}
	for x := new(big.Rat).Set(small); x.Cmp(z) > 0; x = new(big.Rat).Mul(x, small) {
		if out = append(out, x); x.Cmp(last) < 0 {
			break
		}
	}
	return out
}

// nothing asks whether the optimum is 0, which no approximation shows: whether it is at a z' >= high with so many bits. A larger z allows fewer
// tables, so that the one found there serves. Where the optimum is 0 at the true z, which is transcendental, it is 0 at some greater one as well: the greatest
// z where it is 0 is algebraic.
func (p *Program) nothing(ctx context.Context, g *linear.Growing, s *Solution, high *big.Rat, bits uint) error {
	scale := new(big.Int).Lsh(big.NewInt(1), bits)
	up := new(big.Int).Mul(high.Num(), scale)
	up.Quo(up, high.Denom())
	z := new(big.Rat).SetFrac(up.Add(up, big.NewInt(1)), scale)
	if z.Cmp(big.NewRat(1, 1)) > 0 {
		return nil
	}
	other := &linear.Growing{Solver: g.Solver, Basis: g.Basis, Rounds: g.Rounds, Report: g.Report}
	e, err := p.exact(ctx, other, z)
	if err == nil {
		s.take(p, p.read(e.X, e.Y), s.ZLow, z)
	}
	return err
}

// settle makes the basis optimal at z.
func (p *Program) settle(ctx context.Context, g *linear.Growing, z *big.Rat) error {
	var broken error
	_, err := g.Settle(ctx, 0, func() *linear.Rational { return p.rational(z) }, func(a *linear.Approximation) (added int) {
		added, broken = p.separateBig(ctx, a.X, new(big.Int).Lsh(big.NewInt(1), a.Shift), z, a.Noise())
		return added
	})
	return cmp.Or(err, broken)
}

// sharpen raises the precision of the basis's solution until the bounds are close.
func (p *Program) sharpen(ctx context.Context, g *linear.Growing, s *Solution, eps mechanisms.Epsilon, gap *big.Rat) error {
	least, _ := Between(eps, 128)
	small := max(0, least.Denom().BitLen()-least.Num().BitLen()) // losses are as small as z
	for shift := uint(192 + small); shift <= maxShift; shift *= 2 {
		low, high := Between(eps, shift+64)
		z := middle(low, high)
		var broken error
		_, err := g.Settle(ctx, shift, func() *linear.Rational { return p.rational(z) }, func(a *linear.Approximation) (added int) {
			den := new(big.Int).Lsh(big.NewInt(1), a.Shift)
			s.take(p, p.read(&linear.Fractions{Num: a.X, Den: den}, &linear.Fractions{Num: a.Y, Den: den}), low, high)
			if s.close(gap) {
				return 0
			}
			added, broken = p.separateBig(ctx, a.X, den, z, a.Noise())
			return added
		})
		if err != nil || broken != nil {
			return cmp.Or(err, broken)
		}
		if s.close(gap) {
			return nil
		}
		if s.Lower.Sign() == 0 && p.Delta.Sign() > 0 {
			if err := p.nothing(ctx, g, s, high, shift/12); err != nil || s.Upper.Sign() == 0 {
				return err
			}
		}
	}
	s.Undecided = fmt.Sprintf("the gap was not reached with %d bits", maxShift)
	return nil
}
