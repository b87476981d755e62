package linear

import (
	"context"
	"errors"
	"math"
	"math/big"

	"optratio/internal/arith"
)

// ErrSingular says that a basis matrix has no inverse, or is too ill-conditioned for
// the floating-point factors to solve with it.
var ErrSingular = errors.New("basis matrix is singular or too ill-conditioned")

// basisSystem is the square part of a basis matrix that matters: the rows whose logicals
// are nonbasic and the columns that are basic. A row with a basic logical only
// defines that logical, and has dual value 0.
type basisSystem struct {
	r          *Rational
	basis      *Basis
	rows, cols []int32 // program numbers of the system's rows and columns
	rowAt      []int32 // place of a program row in rows, -1 where its logical is basic
	lu         *LU
	forward    integerMatrix // rows multiplied by rowScale: M x = b
	backward   integerMatrix // columns multiplied by colScale: Mᵀ y = c
	rhs        []*big.Int    // rowScale · b
	costs      []*big.Int    // colScale · c
}

// integerMatrix is a square sparse matrix of integers by columns, equal to a
// floating-point matrix with its rows (or, transposed, columns) multiplied by scale.
type integerMatrix struct {
	start []int
	index []int32
	value []*big.Int
	scale []*big.Int
}

// newBasisSystem takes a proper basis: see Rational.proper.
func newBasisSystem(r *Rational, b *Basis) (*basisSystem, error) {
	s := &basisSystem{r: r, basis: b, rowAt: make([]int32, r.Rows())}
	for i, st := range b.Row {
		s.rowAt[i] = -1
		if st != Basic {
			s.rowAt[i] = int32(len(s.rows))
			s.rows = append(s.rows, int32(i))
		}
	}
	for j, st := range b.Col {
		if st == Basic {
			s.cols = append(s.cols, int32(j))
		}
	}
	if len(s.rows) != len(s.cols) {
		return nil, ErrSingular
	}
	start, index, value := s.matrix()
	floats := make([]float64, len(value))
	for p, v := range value {
		floats[p], _ = v.Float64()
	}
	var singular *Singular
	if s.lu, singular = Factorize(len(s.rows), start, index, floats); singular != nil {
		return nil, ErrSingular
	}
	s.scaleRows(start, index, value)
	s.scaleColumns(start, index, value)
	return s, nil
}

// matrix returns the system's matrix by columns.
func (s *basisSystem) matrix() (start []int, index []int32, value []*big.Rat) {
	start = []int{0}
	for _, j := range s.cols {
		for p := s.r.Start[j]; p < s.r.Start[j+1]; p++ {
			if i := s.rowAt[s.r.Index[p]]; i >= 0 {
				index, value = append(index, i), append(value, s.r.Value[p])
			}
		}
		start = append(start, len(index))
	}
	return start, index, value
}

// scaleRows multiplies each row of M x = b by what makes it integer.
func (s *basisSystem) scaleRows(start []int, index []int32, value []*big.Rat) {
	right, scale := s.rightSide(), units(len(s.rows))
	for p, i := range index {
		includeDenominator(scale, int(i), value[p])
	}
	for i, b := range right {
		includeDenominator(scale, i, b)
	}
	s.forward = integerMatrix{start: start, index: index, value: make([]*big.Int, len(value)), scale: scale}
	for p, i := range index {
		s.forward.value[p] = arith.Times(value[p], scale[i])
	}
	s.rhs = make([]*big.Int, len(right))
	for i, b := range right {
		s.rhs[i] = arith.Times(b, scale[i])
	}
}

// scaleColumns multiplies each column of M, with its cost, by what makes it integer.
func (s *basisSystem) scaleColumns(start []int, index []int32, value []*big.Rat) {
	scale := units(len(s.cols))
	s.backward = integerMatrix{start: start, index: index, value: make([]*big.Int, len(value)), scale: scale}
	s.costs = make([]*big.Int, len(s.cols))
	for c, j := range s.cols {
		for p := start[c]; p < start[c+1]; p++ {
			includeDenominator(scale, c, value[p])
		}
		includeDenominator(scale, c, s.r.Cost[j])
		for p := start[c]; p < start[c+1]; p++ {
			s.backward.value[p] = arith.Times(value[p], scale[c])
		}
		s.costs[c] = arith.Times(s.r.Cost[j], scale[c])
	}
}

// rightSide returns, for each row of the system, its active bound less the nonbasic columns' part.
func (s *basisSystem) rightSide() []*big.Rat {
	right := make([]*big.Rat, len(s.rows))
	for k, i := range s.rows {
		right[k] = at(s.basis.Row[i], s.r.RowLower[i], s.r.RowUpper[i])
	}
	var term big.Rat
	for j, st := range s.basis.Col {
		if st == Basic {
			continue
		}
		x := at(st, s.r.ColLower[j], s.r.ColUpper[j])
		if x.Sign() == 0 {
			continue
		}
		for p := s.r.Start[j]; p < s.r.Start[j+1]; p++ {
			if k := s.rowAt[s.r.Index[p]]; k >= 0 {
				right[k] = new(big.Rat).Sub(right[k], term.Mul(s.r.Value[p], x))
			}
		}
	}
	return right
}

var unit = big.NewInt(1)

func units(n int) []*big.Int {
	u := make([]*big.Int, n)
	for i := range u {
		u[i] = unit
	}
	return u
}

func zeros(n int) []*big.Int {
	z := make([]*big.Int, n)
	for i := range z {
		z[i] = new(big.Int)
	}
	return z
}

// includeDenominator makes scale[i] a multiple of x's denominator.
func includeDenominator(scale []*big.Int, i int, x *big.Rat) {
	if x.IsInt() || x.Denom().Cmp(scale[i]) == 0 {
		return
	}
	gcd := new(big.Int).GCD(nil, nil, scale[i], x.Denom())
	gcd.Quo(x.Denom(), gcd)
	if gcd.Cmp(unit) != 0 {
		scale[i] = gcd.Mul(gcd, scale[i])
	}
}

// subtract sets r -= M x, or r -= Mᵀ x.
func (m *integerMatrix) subtract(r, x []*big.Int, transposed bool) {
	var term big.Int
	for c := range len(m.start) - 1 {
		if !transposed && x[c].Sign() == 0 {
			continue
		}
		for p := m.start[c]; p < m.start[c+1]; p++ {
			i, from := int(m.index[p]), c
			if transposed {
				i, from = c, i
			}
			if v := m.value[p]; v.IsInt64() && v.Int64() == 1 {
				r[i].Sub(r[i], x[from])
			} else {
				r[i].Sub(r[i], term.Mul(v, x[from]))
			}
		}
	}
}

// solve returns X with |X/2^shift - M⁻¹ rhs| of the order of 2^-shift, by
// iterative refinement: residuals exact, corrections from the floating-point factors. It fails with ErrSingular
// where the corrections do not converge. A solution at fewer bits may be given to go on from. The result is a proposal; nothing
// here proves its error.
func (s *basisSystem) solve(ctx context.Context, shift uint, transposed bool, from []*big.Int, fromShift uint) ([]*big.Int, error) {
	f := s.refinement(shift, transposed)
	for i, x := range from {
		f.x[i].Lsh(x, shift-fromShift)
	}
	// The residual shrinks by some 2^20 or more a round; when it stops shrinking it is at its floor.
	for last := math.MaxInt; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		most := f.measure()
		stuck := most >= last-1
		switch {
		case stuck && most > 30:
			return nil, ErrSingular
		case stuck || most <= 1:
			return f.x, nil
		}
		if !f.correct(most) {
			return nil, ErrSingular
		}
		last = most
	}
}

// refinement is the state of a solve: x in units of 2^-shift, and its residual r = 2^shift rhs - M x.
type refinement struct {
	m          *integerMatrix
	rhs        []*big.Int
	transposed bool
	lu         *LU
	shift      uint
	x, r       []*big.Int
	scale      []float64 // of the matrix's rows, as fractions and binary exponents
	scaleExp   []int
	in, out    []float64
}

// refinement returns the state at x = 0.
func (s *basisSystem) refinement(shift uint, transposed bool) *refinement {
	f := &refinement{m: &s.forward, rhs: s.rhs, transposed: transposed, lu: s.lu, shift: shift}
	if transposed {
		f.m, f.rhs = &s.backward, s.costs
	}
	n := len(f.rhs)
	f.x, f.r = make([]*big.Int, n), make([]*big.Int, n)
	f.in, f.out = make([]float64, n), make([]float64, n)
	f.scale, f.scaleExp = make([]float64, n), make([]int, n)
	for i := range n {
		f.x[i], f.r[i] = new(big.Int), new(big.Int)
		f.scale[i], f.scaleExp[i] = frexp(f.m.scale[i])
	}
	return f
}

// measure computes the residual and returns the binary exponent of its largest entry, in units of 2^-shift before the rows were scaled.
func (f *refinement) measure() (most int) {
	for i, b := range f.rhs {
		f.r[i].Lsh(b, f.shift)
	}
	f.m.subtract(f.r, f.x, f.transposed)
	most = math.MinInt
	for i, r := range f.r {
		if r.Sign() != 0 {
			most = max(most, r.BitLen()-f.scaleExp[i])
		}
	}
	return most
}

// correct adds to x what the floating-point factors make of the residual, whose largest entry has the exponent most. It reports false
// where that is not finite.
func (f *refinement) correct(most int) bool {
	for i, r := range f.r {
		mant, e := frexp(r)
		f.in[i] = math.Ldexp(mant/f.scale[i], e-f.scaleExp[i]-most)
	}
	if f.transposed {
		f.lu.SolveTransposed(f.out, f.in)
	} else {
		f.lu.Solve(f.out, f.in)
	}
	var step big.Int
	for i, d := range f.out {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return false
		}
		mant, e := math.Frexp(d)
		if mant == 0 || e+most < -1 {
			continue
		}
		step.SetInt64(int64(mant * (1 << 62)))
		if by := e + most - 62; by >= 0 {
			step.Lsh(&step, uint(by))
		} else {
			step.Rsh(&step, uint(-by))
		}
		f.x[i].Add(f.x[i], &step)
	}
	return true
}

// frexp returns x = f·2^e with 1/2 <= |f| < 1, or zeros.
func frexp(x *big.Int) (f float64, e int) {
	if x.IsInt64() {
		return math.Frexp(float64(x.Int64()))
	}
	e = x.BitLen()
	top := new(big.Int).Rsh(x, uint(e-62)) // rounds towards -∞, harmless in the top 62 bits
	f, up := math.Frexp(math.Ldexp(float64(top.Int64()), -62))
	return f, e + up
}
