package linear

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"optratio/internal/arith"
)

// mostEntries is how many entries a table of integers may have: it is rewritten at every pivot.
const mostEntries = 100_000

// integers is a linear program with costs >= 0, variables >= 0 and rows A x >= b, as a dictionary over whole numbers with one common
// denominator:
//
//	den · basic_i = value_i + Σ_j entry_ij · nonbasic_j.
//
// Every pivot divides by the denominator before it, without a remainder (Edmonds 1967).
type integers struct {
	value          []*big.Int // of each row, and of the objective at the end
	entry          [][]*big.Int
	den            *big.Int
	unit           *big.Int // what costs are multiplied by
	basic, outside []int    // variables: the columns of the program, then its rows
}

// pivot returns an optimal solution that is found by the dual simplex method in whole numbers, from the basis of all slacks on. It is for small programs
// in which floating point does not see what matters: numbers of very different sizes. ErrUnsettled is what it says of any other program: of larger ones,
// of ones with negative costs, columns with other bounds than x >= 0 or x = 0, or no solution.
func (r *Rational) pivot(ctx context.Context) (*Exact, error) {
	t, rows := r.integers()
	if t == nil {
		return nil, ErrUnsettled
	}
	for pivots := 0; ; pivots++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		leaving := t.leaving(pivots > 20*len(t.entry))
		if leaving < 0 {
			return t.solution(r, rows), nil
		}
		entering := t.entering(leaving)
		if entering < 0 {
			return nil, ErrUnsettled
		}
		t.exchange(leaving, entering)
	}
}

// solution reads the dictionary: values of basic variables, and reduced costs of slacks, which are the multipliers of their rows.
func (t *integers) solution(r *Rational, rows []side) *Exact {
	e := &Exact{Basis: &Basis{Col: make([]VarStatus, r.Cols()), Row: make([]VarStatus, r.Rows())}}
	x, y := make([]*big.Rat, r.Cols()), make([]*big.Rat, r.Rows())
	for j := range x {
		x[j], e.Basis.Col[j] = new(big.Rat), AtLower
	}
	for i := range y {
		y[i], e.Basis.Row[i] = new(big.Rat), Basic
	}
	for i, v := range t.basic {
		if v < r.Cols() {
			e.Basis.Col[v] = Basic
			x[v].SetFrac(t.value[i], t.den)
		}
	}
	costs := t.entry[len(t.entry)-1]
	for j, v := range t.outside {
		if v < r.Cols() {
			continue
		}
		s := rows[v-r.Cols()]
		e.Basis.Row[s.of] = s.status
		price := new(big.Rat).SetFrac(new(big.Int).Mul(costs[j], s.scale), new(big.Int).Mul(t.den, t.unit))
		if s.status == AtUpper {
			price.Neg(price)
		}
		y[s.of].Add(y[s.of], price)
	}
	e.X, e.Y = NewFractions(x), NewFractions(y)
	e.Objective = r.objective(e.X)
	return e
}

// NewFractions writes numbers over one denominator.
func NewFractions(xs []*big.Rat) *Fractions {
	out := &Fractions{Num: make([]*big.Int, len(xs)), Den: arith.CommonDenominator(xs)}
	for i, x := range xs {
		out.Num[i] = scaled(x, out.Den)
	}
	return out
}

// rounded returns the solution with shift bits after the binary point.
func (e *Exact) rounded(shift uint) *Approximation {
	a := &Approximation{Shift: shift, X: make([]*big.Int, e.X.Len()), Y: make([]*big.Int, e.Y.Len())}
	for out, f := range map[*[]*big.Int]*Fractions{&a.X: e.X, &a.Y: e.Y} {
		for i, n := range f.Num {
			(*out)[i] = new(big.Int).Lsh(n, shift)
			(*out)[i].Quo((*out)[i], f.Den)
		}
	}
	return a
}

// lost reports whether an error says that floating point leads to no optimal basis.
func lost(err error) bool { return errors.Is(err, ErrUnsettled) || errors.Is(err, ErrSingular) }

// side is one side of a row of the program, multiplied by scale.
type side struct {
	of     int
	status VarStatus
	scale  *big.Int
}

// integers returns the program as whole numbers, and what its rows are; nil where it has not the form.
func (r *Rational) integers() (*integers, []side) {
	var rows []side
	for i := range r.Rows() {
		if r.RowLower[i] != nil {
			rows = append(rows, side{i, AtLower, nil})
		}
		if r.RowUpper[i] != nil {
			rows = append(rows, side{i, AtUpper, nil})
		}
	}
	if (len(rows)+1)*(r.Cols()+1) > mostEntries {
		return nil, nil
	}
	fixed := func(j int) bool { return r.ColUpper[j] != nil && r.ColUpper[j].Sign() == 0 }
	for j, c := range r.Cost {
		if c.Sign() < 0 || r.ColUpper[j] != nil && !fixed(j) || r.ColLower[j] == nil || r.ColLower[j].Sign() != 0 {
			return nil, nil
		}
	}
	dense := make([][]*big.Rat, r.Rows())
	for i := range dense {
		dense[i] = slices.Repeat([]*big.Rat{new(big.Rat)}, r.Cols())
	}
	for j := range r.Cols() {
		for p := r.Start[j]; p < r.Start[j+1] && !fixed(j); p++ { // without entries, what is fixed at 0 stays outside
			dense[r.Index[p]][j] = r.Value[p]
		}
	}
	t := &integers{den: big.NewInt(1)}
	for k, s := range rows {
		if s.status == AtLower {
			rows[k].scale = t.add(dense[s.of], r.RowLower[s.of], 1)
		} else {
			rows[k].scale = t.add(dense[s.of], r.RowUpper[s.of], -1)
		}
		t.basic = append(t.basic, r.Cols()+k)
	}
	t.unit = t.add(r.Cost, new(big.Rat), 1)
	for j := range r.Cols() {
		t.outside = append(t.outside, j)
	}
	return t, rows
}

// add appends the row sign·(Σ coefficients·x - value), multiplied by the least number that makes it whole, and returns that number.
func (t *integers) add(coefficients []*big.Rat, value *big.Rat, sign int64) *big.Int {
	row := NewFractions(append(coefficients, value))
	for _, x := range row.Num {
		x.Mul(x, big.NewInt(sign))
	}
	last := len(coefficients)
	t.entry, t.value = append(t.entry, row.Num[:last]), append(t.value, row.Num[last].Neg(row.Num[last]))
	return row.Den
}

// leaving returns the row with the least value below 0, or, which ends for certain (Bland 1977), of those below 0 the one of the first variable;
// -1 where there is none.
func (t *integers) leaving(first bool) int {
	at := -1
	for i := range t.basic {
		if t.value[i].Sign() < 0 && (at < 0 || first && t.basic[i] < t.basic[at] || !first && t.value[i].Cmp(t.value[at]) < 0) {
			at = i
		}
	}
	return at
}

// entering returns the column that keeps all reduced costs at 0 or above when it comes in for the row, of several the one of the first variable.
func (t *integers) entering(row int) int {
	costs, entries := t.entry[len(t.entry)-1], t.entry[row]
	at := -1
	var a, b big.Int
	for j, x := range entries {
		if x.Sign() <= 0 {
			continue
		}
		if at >= 0 {
			if c := a.Mul(costs[j], entries[at]).Cmp(b.Mul(costs[at], x)); c > 0 || c == 0 && t.outside[j] > t.outside[at] {
				continue
			}
		}
		at = j
	}
	return at
}

// exchange makes the variable of a column basic in place of that of a row.
func (t *integers) exchange(row, col int) {
	p := t.entry[row][col]
	var product big.Int
	step := func(x, factor, y *big.Int) { // x = (x p - factor y)/den
		x.Mul(x, p)
		if factor.Sign() != 0 && y.Sign() != 0 {
			x.Sub(x, product.Mul(factor, y))
		}
		x.Quo(x, t.den)
	}
	for i, entries := range t.entry {
		if i == row {
			continue
		}
		factor := entries[col]
		step(t.value[i], factor, t.value[row])
		for j, x := range entries {
			if j != col {
				step(x, factor, t.entry[row][j])
			}
		}
	}
	t.value[row].Neg(t.value[row])
	for j, x := range t.entry[row] {
		if j != col {
			x.Neg(x)
		}
	}
	t.entry[row][col], t.den = t.den, p
	t.basic[row], t.outside[col] = t.outside[col], t.basic[row]
}
