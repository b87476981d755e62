package arith

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/number"
)

// TestZero: 0 is one function, however it is made, and its sign is 0 at any precision.
func TestZero(t *testing.T) {
	f := Poly{}
	z := f.Z()
	at := func(prec uint) number.Interval { return number.ExpRat(big.NewRat(-1, 2), prec) }
	for name, x := range map[string]RatFunc{
		"value": {}, "zero": f.Zero(), "new": newRatFunc(nil, ints(3, 1)), "zeros": newRatFunc(ints(0, 0), ints(0, -2)), "int": f.FromInt(0), "rat": f.FromRat(new(big.Rat)),
		"difference": f.Sub(z, z), "product": f.Mul(z, f.Zero()), "product of the value": f.Mul(RatFunc{}, z), "quotient": f.Quo(RatFunc{}, z), "sum": f.Add(RatFunc{}, RatFunc{}),
	} {
		assert.True(t, x.IsZero(), name)
		assert.True(t, equal(x, f.Zero()) && equal(f.Zero(), x), name)
		assert.Equal(t, "0", x.String(), name)
		s, ok := x.SignUpTo(64, at)
		assert.Equal(t, []any{0, true}, []any{s, ok}, name)
		s, ok = x.SignNear0(big.NewFloat(1e9))
		assert.Equal(t, []any{0, true}, []any{s, ok}, name)
		r, ok := x.Rat()
		assert.True(t, ok && r.Sign() == 0, name)
		r, ok = x.EvalRat(big.NewRat(1, 3))
		assert.True(t, ok && r.Sign() == 0, name)
		assert.True(t, equal(f.Add(x, z), z) && equal(f.Add(z, x), z), name)
		assert.Panics(t, func() { f.Quo(z, x) }, name)
	}
	assert.False(t, z.IsZero())
	assert.Panics(t, func() { newRatFunc(ints(1), nil) })
	assert.Panics(t, func() { newRatFunc(ints(1), ints(0, 0)) })
}

// TestForms: one function has one form, in lowest terms with a positive leading coefficient below.
func TestForms(t *testing.T) {
	f := Poly{}
	for _, c := range []struct {
		num, den poly
		want     string
	}{
		{ints(1), ints(1), "1"}, {ints(2, 4), ints(6, 2), "(1 + 2z)/(3 + z)"}, {ints(1, -1), ints(-1, 1), "-1"}, {ints(1, 0, -1), ints(1, 1), "1 - z"},
		{ints(0, 0, 3), ints(0, 6), "(z)/(2)"}, {ints(4), ints(0, -6), "(-2)/(3z)"}, {ints(1, -2, 1), ints(-1, 1), "-1 + z"}, {ints(0, 5, 0, 7), ints(1), "5z + 7z^3"},
	} {
		x := newRatFunc(c.num, c.den)
		assert.Equal(t, c.want, x.String())
		assert.Equal(t, c.want, f.Quo(newRatFunc(c.num, ints(1)), newRatFunc(c.den, ints(1))).String())
		assert.Equal(t, c.want, f.Neg(f.Neg(x)).String())
	}
	// Values at z = 1/3 and poles.
	third := big.NewRat(1, 3)
	v, ok := newRatFunc(ints(1, 2), ints(3, 1)).EvalRat(third)
	assert.True(t, ok && v.Cmp(big.NewRat(1, 2)) == 0, v)
	_, ok = newRatFunc(ints(1), ints(-1, 3)).EvalRat(third)
	assert.False(t, ok)
	_, ok = newRatFunc(ints(1, 2), ints(1)).Rat()
	assert.False(t, ok)
	_, ok = newRatFunc(ints(1), ints(1, 2)).Rat()
	assert.False(t, ok)
	v, ok = newRatFunc(ints(4), ints(-6)).Rat()
	assert.True(t, ok && v.Cmp(big.NewRat(-2, 3)) == 0, v)
}

// TestDivision: a quotient exists where multiplication gives the dividend back, and nowhere else.
func TestDivision(t *testing.T) {
	for _, c := range []struct {
		p, d poly
		q    string // "" where there is none
	}{
		{ints(0, 1), ints(0, 0, 1), ""}, {ints(1), ints(0, 1), ""}, {ints(1, 2), ints(2), ""}, {ints(1, 1, 1), ints(1, 1), ""}, {ints(1, 0, 1), ints(1, 1), ""},
		{ints(2, 4), ints(2), "1 + 2z"}, {ints(-1, 0, 1), ints(1, 1), "-1 + z"}, {nil, ints(1, 1), "0"}, {ints(3, 1), ints(1), "3 + z"}, {ints(0, 0, 1), ints(0, 1), "z"},
		{ints(1, 0, 0, 1), ints(1, 1), "1 - z + z^2"}, {ints(6, 5, 1), ints(2, 1), "3 + z"},
	} {
		q, ok := tryQuoPoly(c.p, c.d)
		assert.Equal(t, c.q != "", ok, "%v / %v", c.p, c.d)
		if ok {
			assert.Equal(t, c.q, formatPoly(q))
			assert.Equal(t, c.q, formatPoly(quoPoly(c.p, c.d)))
		} else {
			assert.Panics(t, func() { quoPoly(c.p, c.d) })
		}
	}
}

// TestResidues: lift takes the residues of small numbers back to them, and the arithmetic modulo a prime is that of the integers.
func TestResidues(t *testing.T) {
	for _, m := range []int64{7, 101} {
		for x := -m / 2; x <= m/2; x++ {
			residue := reduceInt(big.NewInt(x), uint64(m))
			assert.Equal(t, uint64((x+m)%m), residue)
			got := lift([]*big.Int{new(big.Int).SetUint64(residue)}, big.NewInt(m))
			assert.Zero(t, got[0].Cmp(big.NewInt(x)), "%d mod %d lifts to %v", x, m, got)
			for y := -m / 2; y <= m/2; y += 3 {
				other := uint64((y + m) % m)
				assert.Equal(t, uint64(((x-y)%m+m)%m), subMod(residue, other, uint64(m)))
				assert.Equal(t, uint64(((x*y)%m+m)%m), mulMod(residue, other, uint64(m)))
			}
			if x != 0 {
				assert.Equal(t, uint64(1), mulMod(residue, inverseMod(residue, uint64(m)), uint64(m)))
			}
		}
	}
	assert.True(t, new(big.Int).SetUint64(firstPrime).ProbablyPrime(20))
	assert.Equal(t, uint64(97), primeBelow(101))
	assert.Equal(t, uint64(89), primeBelow(97))
}

// TestPowersByDefinition: n+1 powers, from 1 on, each the product of n factors.
func TestPowersByDefinition(t *testing.T) {
	for n := range 6 {
		p := Powers(Rat{}, big.NewRat(2, 3), n)
		assert.Len(t, p, n+1)
		want := big.NewRat(1, 1)
		for i, x := range p {
			assert.Zero(t, x.Cmp(want), "(2/3)^%d = %v", i, x)
			assert.Zero(t, Pow(Rat{}, big.NewRat(2, 3), i).Cmp(want))
			assert.Zero(t, Pow(Rat{}, big.NewRat(3, 2), -i).Cmp(want))
			want = new(big.Rat).Mul(want, big.NewRat(2, 3))
		}
	}
	assert.Equal(t, 0.0, Sum(Float{}))
	assert.Equal(t, 6.0, Sum(Float{}, 1, 2, 3))
}

func TestCommonDenominator(t *testing.T) {
	third := big.NewRat(1, 3)
	for want, xs := range map[int64][]*big.Rat{
		1:  {},
		7:  {big.NewRat(-5, 7)},
		3:  {third, third, big.NewRat(2, 3), big.NewRat(4, 1)},
		60: {big.NewRat(1, 4), big.NewRat(1, 6), big.NewRat(7, 10), big.NewRat(1, 4)},
	} {
		assert.Zero(t, CommonDenominator(xs).Cmp(big.NewInt(want)), "%v", xs)
	}
	assert.Zero(t, third.Cmp(big.NewRat(1, 3)))
}

// Division by 0 is a mistake, of 0 too.
func TestQuotientByZeroPanics(t *testing.T) {
	f := Poly{}
	for _, a := range []RatFunc{f.Zero(), f.One(), f.Z(), {}} {
		for _, b := range []RatFunc{f.Zero(), {}} {
			assert.PanicsWithValue(t, "arith: division by the rational function 0", func() { f.Quo(a, b) })
		}
	}
}
