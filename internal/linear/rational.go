package linear

import (
	"fmt"
	"math"
	"math/big"

	"optratio/internal/arith"
)

// Rational is a linear program like Model with exact numbers. A nil bound is
// infinite. Numbers may be shared between entries and must not be modified.
type Rational struct {
	Cost               []*big.Rat
	ColLower, ColUpper []*big.Rat
	RowLower, RowUpper []*big.Rat
	Start              []int
	Index              []int32
	Value              []*big.Rat
}

// Rows returns the number of rows.
func (r *Rational) Rows() int { return len(r.RowLower) }

// Cols returns the number of columns.
func (r *Rational) Cols() int { return len(r.Cost) }

// AddRow appends an empty row with the given bounds and returns its number.
func (r *Rational) AddRow(lower, upper *big.Rat) int {
	r.RowLower = append(r.RowLower, lower)
	r.RowUpper = append(r.RowUpper, upper)
	return len(r.RowLower) - 1
}

// AddCol appends a column and returns its number. The slices are copied.
func (r *Rational) AddCol(cost, lower, upper *big.Rat, index []int32, value []*big.Rat) int {
	if len(r.Start) == 0 {
		r.Start = append(r.Start, 0)
	}
	r.Cost = append(r.Cost, cost)
	r.ColLower = append(r.ColLower, lower)
	r.ColUpper = append(r.ColUpper, upper)
	r.Index = append(r.Index, index...)
	r.Value = append(r.Value, value...)
	r.Start = append(r.Start, len(r.Index))
	return len(r.Cost) - 1
}

// Model returns the program with every number rounded to the nearest float64.
func (r *Rational) Model() *Model {
	round := func(xs []*big.Rat, infinite float64) []float64 {
		out := make([]float64, len(xs))
		for i, x := range xs {
			out[i] = infinite
			if x != nil {
				out[i], _ = x.Float64()
			}
		}
		return out
	}
	return &Model{
		Cost:     round(r.Cost, 0),
		ColLower: round(r.ColLower, math.Inf(-1)), ColUpper: round(r.ColUpper, math.Inf(1)),
		RowLower: round(r.RowLower, math.Inf(-1)), RowUpper: round(r.RowUpper, math.Inf(1)),
		Start: r.Start, Index: r.Index, Value: round(r.Value, 0),
	}
}

// at returns the value of a nonbasic variable with a proper status: its bound, or 0 where it has none.
func at(s VarStatus, lower, upper *big.Rat) *big.Rat {
	switch s {
	case AtLower:
		return lower
	case AtUpper:
		return upper
	}
	return new(big.Rat)
}

// proper returns b with every nonbasic status naming a bound that the variable has, Free only where there is none.
// Solvers are not trusted with this: a multiplier's sign is judged by the bound that its status names.
func (r *Rational) proper(b *Basis) (*Basis, error) {
	if len(b.Col) != r.Cols() || len(b.Row) != r.Rows() {
		return nil, fmt.Errorf("basis of %d columns and %d rows for a program of %d and %d", len(b.Col), len(b.Row), r.Cols(), r.Rows())
	}
	fit := func(s VarStatus, lower, upper *big.Rat) VarStatus {
		switch {
		case s == Basic, s == AtLower && lower != nil, s == AtUpper && upper != nil:
			return s
		case lower != nil:
			return AtLower
		case upper != nil:
			return AtUpper
		}
		return Free
	}
	p := b.Clone()
	for j, s := range p.Col {
		p.Col[j] = fit(s, r.ColLower[j], r.ColUpper[j])
	}
	for i, s := range p.Row {
		p.Row[i] = fit(s, r.RowLower[i], r.RowUpper[i])
	}
	return p, nil
}

// Fractions is a vector of rationals over one positive denominator.
type Fractions struct {
	Num []*big.Int
	Den *big.Int
}

// NewFractions writes numbers over one denominator.
func NewFractions(xs []*big.Rat) *Fractions {
	out := &Fractions{Num: make([]*big.Int, len(xs)), Den: arith.CommonDenominator(xs)}
	for i, x := range xs {
		out.Num[i] = arith.Times(x, out.Den)
	}
	return out
}

// Rat returns entry i in lowest terms.
func (f *Fractions) Rat(i int) *big.Rat { return new(big.Rat).SetFrac(f.Num[i], f.Den) }

// Len returns the number of entries.
func (f *Fractions) Len() int { return len(f.Num) }

// cmp compares entry i with r.
func (f *Fractions) cmp(i int, r *big.Rat) int {
	if r.Sign() == 0 {
		return f.Num[i].Sign()
	}
	var a, b big.Int
	return a.Mul(f.Num[i], r.Denom()).Cmp(b.Mul(r.Num(), f.Den))
}
