package linear

import (
	"context"
	"errors"
	"math/big"

	"optratio/internal/arith"
)

// maxBits bounds the precision that exact solutions are sought with.
const maxBits = 1 << 20

// Approximation is a basic solution of a Rational at high precision: entry x stands for x/2^Shift,
// with an error of a few units that is not proved. X has a value per column, Y per row, the
// latter with the sign convention of Result.Duals.
type Approximation struct {
	Shift uint
	X, Y  []*big.Int
}

// Noise returns a bound on what differences of tight rows may come to, in units of 2^-Shift: a third of the bits, which is far more than
// rounding costs and far less than rows that matter are violated by.
func (a *Approximation) Noise() *big.Int { return new(big.Int).Lsh(unit, a.Shift/3) }

// Exact is a basic solution of a Rational in exact arithmetic: primal values per column and duals per row.
type Exact struct {
	Basis *Basis
	X, Y  *Fractions
	// Objective is Σ cost·x.
	Objective *big.Rat
}

// approximate returns the basis's solution with shift bits after the binary point.
func (s *basisSystem) approximate(ctx context.Context, shift uint) (*Approximation, error) {
	x, err := s.solve(ctx, shift, false, nil, 0)
	if err != nil {
		return nil, err
	}
	y, err := s.solve(ctx, shift, true, nil, 0)
	if err != nil {
		return nil, err
	}
	a := &Approximation{Shift: shift, X: make([]*big.Int, s.r.Cols()), Y: make([]*big.Int, s.r.Rows())}
	for j, st := range s.basis.Col {
		if st != Basic {
			v := at(st, s.r.ColLower[j], s.r.ColUpper[j])
			a.X[j] = new(big.Int).Lsh(v.Num(), shift)
			a.X[j].Quo(a.X[j], v.Denom())
		}
	}
	for c, j := range s.cols {
		a.X[j] = x[c]
	}
	for i := range a.Y {
		if k := s.rowAt[i]; k >= 0 {
			a.Y[i] = y[k]
		} else {
			a.Y[i] = new(big.Int)
		}
	}
	return a, nil
}

// exact returns the basis's solution exactly, with as many bits as its fractions take. It does not ask whether the solution is feasible or optimal.
func (s *basisSystem) exact(ctx context.Context) (*Exact, violation, error) {
	var x, y []*big.Int
	for shift, last := uint(256), uint(0); shift <= maxBits; shift, last = 2*shift, shift {
		var err error
		if x, err = s.solve(ctx, shift, false, x, last); err != nil {
			return nil, violation{}, err
		}
		if y, err = s.solve(ctx, shift, true, y, last); err != nil {
			return nil, violation{}, err
		}
		basic, known := recoverFractions(ctx, x, shift)
		tight, also := recoverFractions(ctx, y, shift)
		if !known || !also {
			continue
		}
		e := &Exact{Basis: s.basis, X: s.primal(basic), Y: s.dual(tight)}
		if v := s.r.violations(e.Basis, e.X, e.Y, new(big.Rat)); !v.unsolved {
			e.Objective = s.r.objective(e.X)
			return e, v, nil
		}
	}
	return nil, violation{}, ErrSingular
}

// primal returns the value of every column, given those of the basic ones.
func (s *basisSystem) primal(basic *Fractions) *Fractions {
	den := []*big.Int{basic.Den}
	for j, st := range s.basis.Col {
		if st != Basic {
			includeDenominator(den, 0, at(st, s.r.ColLower[j], s.r.ColUpper[j]))
		}
	}
	out := &Fractions{Num: make([]*big.Int, s.r.Cols()), Den: den[0]}
	up := new(big.Int).Quo(out.Den, basic.Den)
	for c, j := range s.cols {
		out.Num[j] = basic.Num[c]
		if up.Cmp(unit) != 0 {
			out.Num[j] = new(big.Int).Mul(basic.Num[c], up)
		}
	}
	for j, st := range s.basis.Col {
		if st != Basic {
			out.Num[j] = arith.Times(at(st, s.r.ColLower[j], s.r.ColUpper[j]), out.Den)
		}
	}
	return out
}

// dual returns the multiplier of every row, given those of the rows whose logicals are nonbasic; the others are 0.
func (s *basisSystem) dual(tight *Fractions) *Fractions {
	out := &Fractions{Num: make([]*big.Int, s.r.Rows()), Den: tight.Den}
	for i := range out.Num {
		out.Num[i] = new(big.Int)
		if k := s.rowAt[i]; k >= 0 {
			out.Num[i] = tight.Num[k]
		}
	}
	return out
}

// objective returns Σ cost·x.
func (r *Rational) objective(x *Fractions) *big.Rat {
	scale := units(1)
	for _, c := range r.Cost {
		includeDenominator(scale, 0, c)
	}
	sum, term := new(big.Int), new(big.Int)
	for j, c := range r.Cost {
		if c.Sign() != 0 {
			sum.Add(sum, term.Mul(arith.Times(c, scale[0]), x.Num[j]))
		}
	}
	return new(big.Rat).SetFrac(sum, term.Mul(scale[0], x.Den))
}

// violation is how far a basic solution is from optimal, exactly or at high precision.
type violation struct {
	primal, dual *big.Rat // largest bound violation of a basic variable, largest wrong sign of a reduced cost
	unsolved     bool     // a row with a nonbasic logical is not tight, or a basic column has a reduced cost: it is not the basis's solution
}

func (v *violation) none() bool { return v.primal.Sign() == 0 && v.dual.Sign() == 0 }

// activities returns A x over x's denominator times the returned row scales.
func (r *Rational) activities(x *Fractions) (*Fractions, []*big.Int) {
	scale := units(r.Rows())
	for j := range r.Cols() {
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			includeDenominator(scale, int(r.Index[p]), r.Value[p])
		}
	}
	out := &Fractions{Num: make([]*big.Int, r.Rows()), Den: x.Den}
	for i := range out.Num {
		out.Num[i] = new(big.Int)
	}
	var term big.Int
	for j := range r.Cols() {
		if x.Num[j].Sign() == 0 {
			continue
		}
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			i := r.Index[p]
			out.Num[i].Add(out.Num[i], term.Mul(arith.Times(r.Value[p], scale[i]), x.Num[j]))
		}
	}
	return out, scale
}

// reduced returns cost - Aᵀ y over y's denominator times the returned column scales.
func (r *Rational) reduced(y *Fractions) (*Fractions, []*big.Int) {
	scale := units(r.Cols())
	out := &Fractions{Num: make([]*big.Int, r.Cols()), Den: y.Den}
	var term big.Int
	for j := range r.Cols() {
		includeDenominator(scale, j, r.Cost[j])
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			includeDenominator(scale, j, r.Value[p])
		}
		d := arith.Times(r.Cost[j], scale[j])
		d = new(big.Int).Mul(d, y.Den)
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			if v := y.Num[r.Index[p]]; v.Sign() != 0 {
				d.Sub(d, term.Mul(arith.Times(r.Value[p], scale[j]), v))
			}
		}
		out.Num[j] = d
	}
	return out, scale
}

// raise makes worst at least amount where that exceeds slack.
func raise(worst, amount, slack *big.Rat) {
	if amount.Cmp(slack) > 0 && amount.Cmp(worst) > 0 {
		worst.Set(amount)
	}
}

// outside takes account of a basic variable's value and bounds; nil bounds are none.
func (v *violation) outside(value, lower, upper, slack *big.Rat) {
	if lower != nil && value.Cmp(lower) < 0 {
		raise(v.primal, new(big.Rat).Sub(lower, value), slack)
	}
	if upper != nil && value.Cmp(upper) > 0 {
		raise(v.primal, new(big.Rat).Sub(value, upper), slack)
	}
}

// wrong takes account of a nonbasic variable's reduced cost d != 0: it is wrong where the variable could move to lower the objective.
func (v *violation) wrong(s VarStatus, d, lower, upper, slack *big.Rat) {
	fixed := lower != nil && upper != nil && lower.Cmp(upper) == 0
	if !fixed && (d.Sign() < 0 && s != AtUpper || d.Sign() > 0 && s != AtLower) {
		raise(v.dual, new(big.Rat).Abs(d), slack)
	}
}

// violations measures a solution with the given proper basis, nonbasic variables being at the bounds that it names; values of magnitude at most slack (over the
// solution's own denominators) count as zero. Where slack is 0, the common cases are settled by signs, without a quotient, and it is seen whether
// that is the solution of the basis.
func (r *Rational) violations(b *Basis, x, y *Fractions, slack *big.Rat) violation {
	v := violation{primal: new(big.Rat), dual: new(big.Rat)}
	quick := slack.Sign() == 0
	activity, rowScale := r.activities(x)
	for i, s := range b.Row {
		lower, upper := r.RowLower[i], r.RowUpper[i]
		if quick && s != Basic {
			bound := at(s, lower, upper)
			is, want := new(big.Int).Mul(activity.Num[i], bound.Denom()), new(big.Int).Mul(rowScale[i], x.Den)
			v.unsolved = v.unsolved || is.Cmp(want.Mul(want, bound.Num())) != 0
		}
		switch {
		case s == Basic && quick && upper == nil && lower != nil && lower.Sign() == 0 && activity.Num[i].Sign() >= 0:
		case s == Basic:
			v.outside(new(big.Rat).Quo(activity.Rat(i), new(big.Rat).SetInt(rowScale[i])), lower, upper, slack)
		case y.Num[i].Sign() == 0 || quick && s == AtLower && y.Num[i].Sign() > 0:
		default: // the row's own multiplier is the reduced cost of its logical
			v.wrong(s, y.Rat(i), lower, upper, slack)
		}
	}
	d, colScale := r.reduced(y)
	for j, s := range b.Col {
		lower, upper := r.ColLower[j], r.ColUpper[j]
		v.unsolved = v.unsolved || quick && s == Basic && d.Num[j].Sign() != 0
		switch {
		case s == Basic && quick && upper == nil && lower != nil && x.cmp(j, lower) >= 0:
		case s == Basic:
			v.outside(x.Rat(j), lower, upper, slack)
		case d.Num[j].Sign() == 0 || quick && s == AtLower && d.Num[j].Sign() > 0:
		default:
			v.wrong(s, new(big.Rat).Quo(d.Rat(j), new(big.Rat).SetInt(colScale[j])), lower, upper, slack)
		}
	}
	return v
}

// ErrUnsettled says that no optimal basis was found within the rounds allowed.
var ErrUnsettled = errors.New("no optimal basis found")

// Reason sorts the error of Optimize or Settle: where the context ended the work, or no solution could be settled, it returns
// that as the reason why nothing is decided, and no error; otherwise the reason so far and err.
func Reason(ctx context.Context, soFar string, err error) (reason string, rest error) {
	switch {
	case err == nil:
		return soFar, nil
	case ctx.Err() != nil:
		return context.Cause(ctx).Error(), nil
	case errors.Is(err, ErrSingular), errors.Is(err, ErrUnsettled):
		return err.Error(), nil
	}
	return soFar, err
}

// Optimize returns an exact optimal basic solution, starting from a basis that some solver
// proposes. The basis is solved at high precision; where that shows it infeasible or
// not optimal, solver pivots on the program magnified around that solution (iterative
// refinement: Gleixner, Steffy & Wolter 2016) until it is; then the basis is solved and
// checked in exact arithmetic. What the high precision did not show, as violations of 10^-36 near e^ε = 1, is magnified from
// the exact solution in the same way.
func (r *Rational) Optimize(ctx context.Context, b *Basis, solver Solver) (*Exact, error) {
	for range settleRounds {
		settled, s, _, err := r.settle(ctx, b, solver, 0)
		if err != nil {
			return nil, err
		}
		e, v, err := s.exact(ctx)
		if err != nil {
			return nil, err
		}
		if v.none() {
			return e, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b, err = r.magnify(ctx, settled, e.X, e.Y, v, solver); err != nil {
			return nil, err
		}
	}
	return nil, ErrUnsettled
}

// Settle is Optimize without the exact last step: the optimal basis, as far as half of its bits can tell, and its solution with shift bits
// after the binary point, at least settleShift.
func (r *Rational) Settle(ctx context.Context, b *Basis, solver Solver, shift uint) (*Basis, *Approximation, error) {
	b, _, a, err := r.settle(ctx, b, solver, shift)
	return b, a, err
}

const (
	settleShift  = 192
	settleRounds = 30
)

// settle finds a basis whose solution at settleShift bits, and then at shift bits, violates nothing by more than half of these bits show.
func (r *Rational) settle(ctx context.Context, b *Basis, solver Solver, shift uint) (*Basis, *basisSystem, *Approximation, error) {
	next, bits := b, uint(settleShift)
	for range settleRounds {
		b, err := r.proper(next)
		if err != nil {
			return nil, nil, nil, err
		}
		s, err := newBasisSystem(r, b)
		if err != nil {
			return nil, nil, nil, err
		}
		for {
			a, err := s.approximate(ctx, bits)
			if err != nil {
				return nil, nil, nil, err
			}
			den := new(big.Int).Lsh(unit, a.Shift)
			x, y := &Fractions{a.X, den}, &Fractions{a.Y, den}
			v := r.violations(b, x, y, new(big.Rat).SetFrac(unit, new(big.Int).Lsh(unit, bits/2)))
			if !v.none() {
				if err := ctx.Err(); err != nil {
					return nil, nil, nil, err
				}
				if next, err = r.magnify(ctx, b, x, y, v, solver); err != nil {
					return nil, nil, nil, err
				}
				break
			}
			if bits >= shift {
				return b, s, a, nil
			}
			bits = shift
		}
	}
	return nil, nil, nil, ErrUnsettled
}
