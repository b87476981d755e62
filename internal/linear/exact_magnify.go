package linear

import (
	"context"
	"fmt"
	"math"
	"math/big"
)

// Magnified bounds and costs are cut off at far, which begins at farthest: a variable that goes there is sent to its bound, and the
// next round sees what that means. Where the solver does not notice violations of order 1 beside such numbers, they are cut off
// closer by, down to nearest.
const (
	farthest = 1e15
	nearest  = 1e3
)

// magnify returns a basis that is better than b, whose solution is x and y, with the violations v. See magnified.
func (r *Rational) magnify(ctx context.Context, b *Basis, x, y *Fractions, v violation, solver Solver) (next *Basis, err error) {
	for far := farthest; far >= nearest; far /= 1000 {
		if next, err = r.magnified(ctx, b, x, y, v, solver, far); err != nil || !next.equal(b) {
			return next, err
		}
	}
	return next, nil
}

// magnified lets solver pivot on the program seen through a magnifying glass at the
// solution x, y: in variables (x' - x)·zoom with bounds and costs enlarged so that the
// violations v become of order 1. Every row gets a column for its activity, since its
// multiplier y is that column's cost. It returns the new basis of the original program.
func (r *Rational) magnified(ctx context.Context, b *Basis, x, y *Fractions, v violation, solver Solver, far float64) (*Basis, error) {
	zoom := func(amount *big.Rat) *big.Rat {
		if amount.Cmp(big.NewRat(1, 1)) >= 0 || amount.Sign() == 0 {
			return big.NewRat(1, 1)
		}
		return new(big.Rat).Inv(amount)
	}
	zoomX, zoomC := zoom(v.primal), zoom(v.dual)
	bound := func(limit, value *big.Rat, infinite float64) float64 {
		if limit == nil {
			return infinite
		}
		d := new(big.Rat).Sub(limit, value)
		f, _ := d.Mul(d, zoomX).Float64()
		return max(-far, min(far, f))
	}
	cost := func(d *big.Rat) float64 {
		f, _ := new(big.Rat).Mul(d, zoomC).Float64()
		return max(-far, min(far, f))
	}
	activity, rowScale := r.activities(x)
	reduced, colScale := r.reduced(y)
	m := &Model{}
	for range r.Rows() {
		m.AddRow(0, 0)
	}
	shown := &Basis{Row: make([]VarStatus, r.Rows())}
	add := func(s VarStatus, d, lower, upper, value *big.Rat, index []int32, entries []float64) {
		m.AddCol(cost(d), bound(lower, value, math.Inf(-1)), bound(upper, value, math.Inf(1)), index, entries)
		shown.Col = append(shown.Col, s)
	}
	for j := range r.Cols() {
		lo, hi := r.Start[j], r.Start[j+1]
		entries := make([]float64, hi-lo)
		for p := range entries {
			entries[p], _ = r.Value[lo+p].Float64()
		}
		d := new(big.Rat).Quo(reduced.Rat(j), new(big.Rat).SetInt(colScale[j]))
		add(b.Col[j], d, r.ColLower[j], r.ColUpper[j], x.Rat(j), r.Index[lo:hi], entries)
	}
	for i := range r.Rows() {
		value := new(big.Rat).Quo(activity.Rat(i), new(big.Rat).SetInt(rowScale[i]))
		add(b.Row[i], y.Rat(i), r.RowLower[i], r.RowUpper[i], value, []int32{int32(i)}, []float64{-1})
	}
	// The basis is nearly optimal, so that few pivots remain; floating point can go round in circles among bounds that are this large.
	most := 1000 + 20*(m.Rows()+m.Cols())
	result, err := solver.Solve(ctx, m, Options{Basis: shown, MaxPivots: most})
	if err == nil && result.Outcome != Optimal && ctx.Err() == nil {
		result, err = Embedded{}.Solve(ctx, m, Options{Basis: shown, MaxPivots: most})
	}
	if err != nil {
		return nil, err
	}
	if result.Outcome != Optimal || result.Basis == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: magnified program ended %s", ErrUnsettled, result.Outcome)
	}
	next := &Basis{Col: result.Basis.Col[:r.Cols():r.Cols()], Row: make([]VarStatus, r.Rows())}
	for i := range next.Row {
		next.Row[i] = result.Basis.Col[r.Cols()+i]
		if result.Basis.Row[i] == Basic {
			// The equality's own logical is basic at 0: it stands in for the activity's column
			// where that is nonbasic; both cannot leave the original basis short.
			next.Row[i] = Basic
		}
	}
	return next, next.fits(r)
}

func (b *Basis) fits(r *Rational) error {
	return b.Check(&Model{Cost: make([]float64, r.Cols()), RowLower: make([]float64, r.Rows())})
}
