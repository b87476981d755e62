package linear

import (
	"context"
	"errors"
	"math/big"
	"slices"
)

// Limits of a dictionary: its entries, and the bits of its numbers.
const (
	mostEntries = 200_000
	fewBits     = 1 << 10
	manyBits    = 1 << 13
)

// dictionary is a linear program with costs >= 0, variables >= 0 and rows A x >= b, in floating-point numbers of prec bits:
//
//	basic_i = value_i + Σ_j entry_ij · outside_j.
type dictionary struct {
	prec           uint
	value          []*big.Float // of each row, and of the objective at the end
	entry          [][]*big.Float
	basic, outside []int  // variables: the columns of the program, then the sides of its rows
	sides          []side // basic at first
}

// side is one side of a row of the program.
type side struct {
	row    int
	status VarStatus
}

// pivot returns an optimal dictionary, found by the dual simplex method from the basis of all slacks on. It is for small programs
// in which float64 does not see what matters: numbers of very different sizes. ErrUnsettled is what it says of any other program: of larger ones,
// of ones with negative costs, columns with other bounds than x >= 0 or x = 0, or no solution.
func (r *Rational) pivot(ctx context.Context, prec uint) (*dictionary, error) {
	t := r.dictionary(prec)
	if t == nil {
		return nil, ErrUnsettled
	}
	for pivots, rows := 0, len(t.basic); pivots < 10*rows; pivots++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		leaving := t.leaving(pivots > 5*rows)
		if leaving < 0 {
			return t, nil
		}
		entering := t.entering(leaving)
		if entering < 0 {
			break
		}
		t.exchange(leaving, entering)
	}
	return nil, ErrUnsettled
}

// pivots gives take optimal dictionaries with ever more bits, at first a number above twice shift, until it takes one.
func (r *Rational) pivots(ctx context.Context, shift uint, take func(t *dictionary) bool) error {
	for prec := uint(fewBits); prec <= manyBits; prec *= 2 {
		t, err := r.pivot(ctx, prec+2*shift)
		if err != nil && !errors.Is(err, ErrUnsettled) || err == nil && take(t) {
			return err
		}
	}
	return ErrUnsettled
}

// pivotExact returns the fractions that an optimal dictionary stands for, with as many bits as it takes to see that they are optimal.
func (r *Rational) pivotExact(ctx context.Context) (e *Exact, err error) {
	err = r.pivots(ctx, 0, func(t *dictionary) bool {
		b, a := t.solution(r, t.prec/2)
		x, known := recoverFractions(ctx, a.X, a.Shift)
		y, also := recoverFractions(ctx, a.Y, a.Shift)
		if !known || !also {
			return false
		}
		e = &Exact{Basis: b, X: x, Y: y, Objective: r.objective(x)}
		v := r.violations(b, x, y, new(big.Rat))
		return v.none() && !v.unsolved
	})
	return e, err
}

// lost reports whether an error says that float64 leads to no optimal basis.
func lost(err error) bool { return errors.Is(err, ErrUnsettled) || errors.Is(err, ErrSingular) }

// dictionary returns that of the program, with all slacks basic; nil where the program has not the form.
func (r *Rational) dictionary(prec uint) *dictionary {
	t := &dictionary{prec: prec}
	fixed := func(j int) bool { return r.ColUpper[j] != nil && r.ColUpper[j].Sign() == 0 }
	for j, c := range r.Cost {
		if c.Sign() < 0 || r.ColUpper[j] != nil && !fixed(j) || r.ColLower[j] == nil || r.ColLower[j].Sign() != 0 {
			return nil
		}
		t.outside = append(t.outside, j)
	}
	places := t.slacks(r)
	if len(t.basic)*r.Cols() > mostEntries {
		return nil
	}
	t.value = append(t.value, new(big.Float))
	for range t.value {
		t.entry = append(t.entry, slices.Repeat([]*big.Float{new(big.Float)}, r.Cols()))
	}
	for j, c := range r.Cost {
		t.entry[len(t.basic)][j] = t.float(c)
		for p := r.Start[j]; p < r.Start[j+1] && !fixed(j); p++ { // without entries, what is fixed at 0 stays outside
			for k, at := range places[r.Index[p]] {
				if at >= 0 {
					t.entry[at][j] = signed(t.float(r.Value[p]), k == 1)
				}
			}
		}
	}
	return t
}

// slacks makes the slack of either side of every row basic, and returns the places of the two, -1 for none.
func (t *dictionary) slacks(r *Rational) [][2]int {
	places := make([][2]int, r.Rows())
	for i := range places {
		for k, bound := range []*big.Rat{r.RowLower[i], r.RowUpper[i]} {
			if places[i][k] = -1; bound != nil {
				places[i][k] = len(t.sides)
				t.sides = append(t.sides, side{i, AtLower + VarStatus(k)})
				t.basic = append(t.basic, r.Cols()+len(t.basic))
				t.value = append(t.value, signed(t.float(bound), k == 0))
			}
		}
	}
	return places
}

func (t *dictionary) float(x *big.Rat) *big.Float { return new(big.Float).SetPrec(t.prec).SetRat(x) }

// signed returns x or -x.
func signed(x *big.Float, negative bool) *big.Float {
	if negative {
		return x.Neg(x)
	}
	return x
}

// solution reads the dictionary with shift bits after the binary point: values of basic variables, and reduced costs of slacks, which are the
// multipliers of their rows.
func (t *dictionary) solution(r *Rational, shift uint) (*Basis, *Approximation) {
	b := &Basis{Col: make([]VarStatus, r.Cols()), Row: slices.Repeat([]VarStatus{Basic}, r.Rows())}
	a := &Approximation{Shift: shift, X: zeros(r.Cols()), Y: zeros(r.Rows())}
	rounded := func(x *big.Float) *big.Int {
		n, _ := new(big.Float).SetMantExp(x, int(shift)).Int(nil)
		return n
	}
	for i, v := range t.basic {
		if v < r.Cols() {
			b.Col[v], a.X[v] = Basic, rounded(t.value[i])
		}
	}
	for j, v := range t.outside {
		if v >= r.Cols() {
			s := t.sides[v-r.Cols()]
			price := rounded(signed(t.entry[len(t.basic)][j], s.status == AtUpper))
			b.Row[s.row], a.Y[s.row] = s.status, price.Add(price, a.Y[s.row])
		}
	}
	return b, a
}

// leaving returns the row with the least value below 0, or, which ends for certain (Bland 1977), of those below 0 the one of the first variable;
// -1 where there is none.
func (t *dictionary) leaving(first bool) int {
	at := -1
	for i := range t.basic {
		if t.value[i].Sign() < 0 && (at < 0 || first && t.basic[i] < t.basic[at] || !first && t.value[i].Cmp(t.value[at]) < 0) {
			at = i
		}
	}
	return at
}

// entering returns the column that keeps all reduced costs at 0 or above when it comes in for the row, of several the one of the first variable.
func (t *dictionary) entering(row int) int {
	costs, entries := t.entry[len(t.basic)], t.entry[row]
	at := -1
	var a, b big.Float
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
func (t *dictionary) exchange(row, col int) {
	pivot := t.entry[row]
	inverse := new(big.Float).Quo(big.NewFloat(1).SetPrec(t.prec), pivot[col])
	less := new(big.Float).Neg(inverse)
	for j, x := range pivot {
		if x.Sign() != 0 {
			pivot[j] = new(big.Float).Mul(x, less)
		}
	}
	pivot[col] = inverse
	t.value[row] = new(big.Float).Mul(t.value[row], less)
	for i, entries := range t.entry {
		factor := entries[col]
		if i == row || factor.Sign() == 0 {
			continue
		}
		t.value[i] = t.sum(t.value[i], factor, t.value[row])
		for j, y := range pivot {
			if j != col && y.Sign() != 0 {
				entries[j] = t.sum(entries[j], factor, y)
			}
		}
		entries[col] = new(big.Float).Mul(factor, inverse)
	}
	t.basic[row], t.outside[col] = t.outside[col], t.basic[row]
}

// sum returns x + factor·y, or 0 where half the bits or more cancel.
func (t *dictionary) sum(x, factor, y *big.Float) *big.Float {
	product := new(big.Float).Mul(factor, y)
	z := new(big.Float).Add(x, product)
	if z.Sign() != 0 && z.MantExp(nil) < product.MantExp(nil)-int(t.prec/2) {
		return new(big.Float)
	}
	return z
}
