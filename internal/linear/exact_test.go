package linear

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomRational returns a bounded feasible program with small rational data: rows of every kind around a random point.
func randomRational(rng *rand.Rand, rows, cols int) *Rational {
	r := new(Rational)
	point := make([]*big.Rat, cols)
	for j := range point {
		point[j] = big.NewRat(rng.Int64N(7), 1+rng.Int64N(3))
	}
	entries, index := make([][]*big.Rat, cols), make([][]int32, cols)
	for i := range rows {
		activity := new(big.Rat)
		for j := range cols {
			if rng.IntN(3) > 0 {
				continue
			}
			v := big.NewRat(rng.Int64N(9)-4, 1+rng.Int64N(4))
			if v.Sign() != 0 {
				entries[j], index[j] = append(entries[j], v), append(index[j], int32(i))
				activity.Add(activity, new(big.Rat).Mul(v, point[j]))
			}
		}
		lower := new(big.Rat).Sub(activity, big.NewRat(rng.Int64N(3), 1))
		upper := new(big.Rat).Add(activity, big.NewRat(rng.Int64N(3), 1))
		switch rng.IntN(4) {
		case 0:
			r.AddRow(activity, activity)
		case 1:
			r.AddRow(lower, nil)
		case 2:
			r.AddRow(nil, upper)
		default:
			r.AddRow(lower, upper)
		}
	}
	for j := range cols {
		r.AddCol(big.NewRat(rng.Int64N(21)-10, 1+rng.Int64N(5)), new(big.Rat), big.NewRat(10+rng.Int64N(10), 1), index[j], entries[j])
	}
	return r
}

// duality checks an exact solution from the definitions alone: feasible in every row and bound, and
// worth as much as its multipliers prove.
func duality(t *testing.T, r *Rational, e *Exact) {
	activity := make([]*big.Rat, r.Rows())
	for i := range activity {
		activity[i] = new(big.Rat)
	}
	bound := new(big.Rat)
	worth := func(multiplier, lower, upper *big.Rat) {
		if multiplier.Sign() == 0 {
			return
		}
		at := lower
		if multiplier.Sign() < 0 {
			at = upper
		}
		require.NotNil(t, at, "a multiplier pushes against an infinite bound")
		bound.Add(bound, new(big.Rat).Mul(multiplier, at))
	}
	inside := func(x, lower, upper *big.Rat) {
		if lower != nil {
			require.GreaterOrEqual(t, x.Cmp(lower), 0)
		}
		if upper != nil {
			require.LessOrEqual(t, x.Cmp(upper), 0)
		}
	}
	value := new(big.Rat)
	for j := range r.Cols() {
		x, d := e.X.Rat(j), new(big.Rat).Set(r.Cost[j])
		inside(x, r.ColLower[j], r.ColUpper[j])
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			i := r.Index[p]
			activity[i].Add(activity[i], new(big.Rat).Mul(r.Value[p], x))
			d.Sub(d, new(big.Rat).Mul(r.Value[p], e.Y.Rat(int(i))))
		}
		value.Add(value, new(big.Rat).Mul(r.Cost[j], x))
		worth(d, r.ColLower[j], r.ColUpper[j])
	}
	for i, a := range activity {
		inside(a, r.RowLower[i], r.RowUpper[i])
		worth(e.Y.Rat(i), r.RowLower[i], r.RowUpper[i])
	}
	require.Zero(t, value.Cmp(e.Objective))
	require.Zero(t, bound.Cmp(value), "primal %s, dual %s", value, bound)
}

func slackBasis(r *Rational) *Basis {
	b := &Basis{Col: make([]VarStatus, r.Cols()), Row: make([]VarStatus, r.Rows())}
	for i := range b.Row {
		b.Row[i] = Basic
	}
	return b
}

func TestOptimizeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		r := randomRational(rng, 1+rng.IntN(8), 1+rng.IntN(12))
		result, err := Embedded{}.Solve(context.Background(), r.Model(), Options{})
		require.NoError(t, err)
		require.Equal(t, Optimal, result.Outcome)
		e, err := r.Optimize(context.Background(), result.Basis, Embedded{})
		require.NoError(t, err)
		duality(t, r, e)
		got, _ := e.Objective.Float64()
		assert.InDelta(t, result.Objective, got, 1e-6)
	}
}

// A wrong basis is corrected, not believed: from the slack basis, neither feasible
// nor optimal, the same exact value comes out.
func TestOptimizeCorrectsAWrongBasis(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		r := randomRational(rng, 2+rng.IntN(6), 3+rng.IntN(9))
		result, err := Embedded{}.Solve(context.Background(), r.Model(), Options{})
		require.NoError(t, err)
		want, err := r.Optimize(context.Background(), result.Basis, Embedded{})
		require.NoError(t, err)
		got, err := r.Optimize(context.Background(), slackBasis(r), Embedded{})
		require.NoError(t, err)
		duality(t, r, got)
		assert.Zero(t, want.Objective.Cmp(got.Objective))
	}
}

// Two bases whose floating-point solutions cannot be told apart: the optimum lies 2^-70 from
// a vertex that is optimal to any float tolerance.
func TestOptimizeSeesWhatFloatsCannot(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 70))
	one := big.NewRat(1, 1)
	r := new(Rational)
	r.AddRow(one, one)
	r.AddCol(one, new(big.Rat), nil, []int32{0}, []*big.Rat{one})
	r.AddCol(new(big.Rat).Sub(one, tiny), new(big.Rat), nil, []int32{0}, []*big.Rat{one})
	wrong := &Basis{Col: []VarStatus{Basic, AtLower}, Row: []VarStatus{AtLower}}
	e, err := r.Optimize(context.Background(), wrong, Embedded{})
	require.NoError(t, err)
	assert.Zero(t, e.Objective.Cmp(new(big.Rat).Sub(one, tiny)))
	duality(t, r, e)
}

// system returns the square system of a basis that may be improper.
func system(r *Rational, b *Basis) (*basisSystem, error) {
	b, err := r.proper(b)
	if err != nil {
		return nil, err
	}
	return newBasisSystem(r, b)
}

// exactly returns a basis's solution, feasible or not.
func exactly(r *Rational, b *Basis) (*Exact, error) {
	s, err := system(r, b)
	if err != nil {
		return nil, err
	}
	e, _, err := s.exact(context.Background())
	return e, err
}

// nearly is exactly with shift bits after the binary point.
func nearly(r *Rational, b *Basis, shift uint) (*Approximation, error) {
	s, err := system(r, b)
	if err != nil {
		return nil, err
	}
	return s.approximate(context.Background(), shift)
}

// A cancelled context ends exact work at any bits.
func TestExactWorkEndsWithTheContext(t *testing.T) {
	r := randomRational(rand.New(rand.NewPCG(3, 4)), 3, 5)
	result, err := Embedded{}.Solve(context.Background(), r.Model(), Options{})
	require.NoError(t, err)
	s, err := system(r, result.Basis)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = s.exact(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.approximate(ctx, 1<<14)
	assert.ErrorIs(t, err, context.Canceled)
	_, ok := recoverFractions(ctx, []*big.Int{big.NewInt(0)}, 64)
	assert.False(t, ok)
}

func TestSingularBasisIsRefused(t *testing.T) {
	one := big.NewRat(1, 1)
	r := new(Rational)
	r.AddRow(one, nil)
	r.AddRow(one, nil)
	for range 2 {
		r.AddCol(one, new(big.Rat), nil, []int32{0, 1}, []*big.Rat{one, one})
	}
	b := &Basis{Col: []VarStatus{Basic, Basic}, Row: []VarStatus{AtLower, AtLower}}
	_, err := exactly(r, b)
	assert.ErrorIs(t, err, ErrSingular)
}

func TestApproximateNearsTheExactSolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		r := randomRational(rng, 3, 5)
		result, err := Embedded{}.Solve(context.Background(), r.Model(), Options{})
		require.NoError(t, err)
		e, err := exactly(r, result.Basis)
		require.NoError(t, err)
		a, err := nearly(r, result.Basis, 300)
		require.NoError(t, err)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 280))
		for j := range a.X {
			d := new(big.Rat).SetFrac(a.X[j], new(big.Int).Lsh(big.NewInt(1), a.Shift))
			d.Sub(d, e.X.Rat(j))
			assert.LessOrEqual(t, d.Abs(d).Cmp(unit), 0)
		}
	}
}

func TestRecoverFractionsFindsCommonDenominators(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		shift := uint(256)
		var x []*big.Int
		var want []*big.Rat
		for range 6 {
			v := big.NewRat(rng.Int64N(1<<40)-1<<39, 1+rng.Int64N(1<<10))
			want = append(want, v)
			scaled := new(big.Int).Lsh(v.Num(), shift)
			scaled.Add(scaled, big.NewInt(rng.Int64N(3)-1))
			x = append(x, scaled.Quo(scaled, v.Denom()))
		}
		f, ok := recoverFractions(context.Background(), x, shift)
		require.True(t, ok)
		for i := range want {
			assert.Zero(t, want[i].Cmp(f.Rat(i)))
		}
	}
	// A denominator beyond half the bits cannot be told apart: no guess is made.
	p := new(big.Int).Lsh(big.NewInt(1), 200)
	num := new(big.Int).Lsh(big.NewInt(3), 256)
	_, ok := recoverFractions(context.Background(), []*big.Int{num.Quo(num, p.Add(p, big.NewInt(235)))}, 256)
	assert.False(t, ok)
}

// Statuses that name a bound which is not there are corrected, not believed: they would let a multiplier of
// the wrong sign pass for an optimum.
func TestImproperStatusesProveNothing(t *testing.T) {
	one, zero := big.NewRat(1, 1), new(big.Rat)
	r := new(Rational) // min -x, x + y = 1: optimum -1
	r.AddRow(one, one)
	r.AddCol(big.NewRat(-1, 1), zero, nil, []int32{0}, []*big.Rat{one})
	r.AddCol(zero, zero, nil, []int32{0}, []*big.Rat{one})
	for _, s := range []VarStatus{AtLower, AtUpper, Free} {
		for _, row := range []VarStatus{AtLower, AtUpper, Free} {
			e, err := r.Optimize(context.Background(), &Basis{Col: []VarStatus{s, Basic}, Row: []VarStatus{row}}, Embedded{})
			require.NoError(t, err)
			assert.Zero(t, e.Objective.Cmp(big.NewRat(-1, 1)), "x %v, row %v", s, row)
			duality(t, r, e)
		}
	}
	r = new(Rational) // min x, x = 1
	r.AddRow(one, one)
	r.AddCol(one, nil, nil, []int32{0}, []*big.Rat{one})
	e, err := r.Optimize(context.Background(), &Basis{Col: []VarStatus{Basic}, Row: []VarStatus{Free}}, Embedded{})
	require.NoError(t, err)
	assert.Zero(t, e.Objective.Cmp(one))
	_, err = exactly(r, &Basis{Col: []VarStatus{Basic}})
	assert.Error(t, err)
}
