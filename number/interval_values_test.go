package number

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// float returns mant·2^exp at a precision.
func float(prec uint, mant int64, exp int) *big.Float {
	z := new(big.Float).SetPrec(prec).SetInt64(mant)
	return z.SetMantExp(z, exp)
}

// TestEndsAndKinds reads an interval's ends, precision, and whether it is a point or bounded.
func TestEndsAndKinds(t *testing.T) {
	inf := wholeLine(53)
	one, three := float(53, 1, 0), float(53, 3, 0)
	for _, c := range []struct {
		name          string
		x             Interval
		lo, hi        *big.Float
		point, finite bool
	}{
		{"[1, 3]", NewInterval(one, three), one, three, false, true},
		{"1", Point(one), one, one, true, true},
		{"[1, 1]", NewInterval(one, one), one, one, true, true},
		{"[1, Inf)", NewInterval(one, inf.Hi()), one, inf.Hi(), false, false},
		{"(-Inf, 1]", NewInterval(inf.Lo(), one), inf.Lo(), one, false, false},
		{"whole", inf, inf.Lo(), inf.Hi(), false, false},
	} {
		assert.Zero(t, c.x.Lo().Cmp(c.lo), c.name)
		assert.Zero(t, c.x.Hi().Cmp(c.hi), c.name)
		assert.Equal(t, c.point, c.x.isPoint(), c.name)
		assert.Equal(t, c.finite, c.x.isFinite(), c.name)
	}
	assert.Equal(t, uint(64), Point(new(big.Float)).Prec(), "a float of precision 0 is 0, of the usual 64 bits")
	huge := Point(float(53, 1, 1<<30))
	assert.Equal(t, "[1, 3]", NewInterval(one, three).String())
	assert.Equal(t, "[0.3333333134651184082, 0.3333333432674407959]", FromRat(big.NewRat(1, 3), 24).String())
	assert.Equal(t, "[0x.8p+1073741825, 0x.8p+1073741825]", huge.String())
	assert.Equal(t, "[0x.8p-1073741823, 0x.8p-1073741823]", huge.inv().String())
}

// TestMixedPrecision: a result has the larger precision at both ends, and no end moves on the way there.
func TestMixedPrecision(t *testing.T) {
	short, long := NewInterval(float(4, 1, 0), float(4, 5, 0)), NewInterval(float(60, 1, -50), float(60, 1<<50+1, -50))
	accumulate := func(x, y Interval) Interval {
		a := NewAccumulator(1)
		a.Add(x)
		a.Add(y)
		return a.Value()
	}
	cut := func(x, y Interval) Interval {
		z, ok := x.Intersect(y)
		require.True(t, ok)
		return z
	}
	for name, c := range map[string]struct {
		f    func(x, y Interval) Interval
		want Interval
	}{
		"hull":      {Hull, NewInterval(long.Lo(), short.Hi())},
		"intersect": {cut, NewInterval(short.Lo(), long.Hi())},
		"min":       {Interval.Min, NewInterval(long.Lo(), long.Hi())},
		"max":       {Interval.Max, NewInterval(short.Lo(), short.Hi())},
		"add":       {Interval.Add, NewInterval(float(60, 1<<50+1, -50), float(60, 6<<50+1, -50))},
		"sum":       {accumulate, NewInterval(float(60, 1<<50+1, -50), float(60, 6<<50+1, -50))},
		"mul":       {Interval.Mul, NewInterval(float(60, 1, -50), float(60, 5<<50+5, -50))},
	} {
		for _, got := range []Interval{c.f(short, long), c.f(long, short)} {
			assert.Truef(t, same(c.want, got), "%s: %v, want %v", name, got, c.want)
			assert.Equal(t, []uint{60, 60}, []uint{got.Lo().Prec(), got.Hi().Prec()}, name)
		}
	}
}

func TestEncloses(t *testing.T) {
	iv := func(lo, hi float64) Interval { return NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }
	for _, c := range []struct {
		y    Interval
		want bool
	}{
		{iv(1, 4), true}, {iv(1, 2), true}, {iv(3, 4), true}, {iv(2, 3), true}, {iv(2, 2), true},
		{iv(0, 2), false}, {iv(3, 5), false}, {iv(0, 5), false}, {iv(5, 6), false}, {iv(-1, 0), false},
	} {
		assert.Equal(t, c.want, iv(1, 4).encloses(c.y), c.y.String())
	}
	assert.True(t, iv(0, 1).containsZero())
	assert.True(t, iv(-1, 0).containsZero())
	assert.False(t, iv(1, 2).containsZero())
	assert.False(t, iv(-2, -1).containsZero())
}

// TestMidIsTheMiddle compares with (lo + hi)/2 in rationals, rounded to nearest once.
func TestMidIsTheMiddle(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		x := randomSample(r, uint(1+r.IntN(80)))
		sum := ratAdd(x.l, x.h)
		want := new(big.Float).SetPrec(x.Prec()).SetRat(sum.Quo(sum, big.NewRat(2, 1)))
		if got := x.Mid(); got.Cmp(want) != 0 {
			t.Fatalf("the middle of %v is %g, not %g", x, got, want)
		}
	}
	// Where half of an end underflows to 0, the end itself is the nearest number in the interval.
	tiny := Point(float(53, 1, big.MinExp-1))
	assert.Zero(t, tiny.Mid().Cmp(tiny.Lo()))
	assert.Zero(t, tiny.Neg().Mid().Cmp(tiny.Neg().Lo()))
	assert.Zero(t, Hull(tiny, tiny.Neg()).Mid().Sign())
}

// TestNear: at the least exponent of a big.Float its Float64 gives infinity (Go 1.26) where 0 is near.
func TestNear(t *testing.T) {
	for _, x := range []Interval{Point(float(53, 1, big.MinExp-1)), Point(float(53, -1, big.MinExp-1)), Point(float(53, 1, big.MinExp))} {
		assert.Zero(t, x.Near(), "%v", x)
	}
	assert.Equal(t, 1.5, Hull(FromInt(1, 64), FromInt(2, 64)).Near())
	assert.Equal(t, -0.75, FromRat(big.NewRat(-3, 4), 64).Near())
	assert.True(t, math.IsInf(Point(float(53, 1, big.MaxExp-1)).Near(), 1))
}

// TestSumsThatOverflowKeepABound: the end that overflowed inwards stays at the last number that big.Float can state.
func TestSumsThatOverflowKeepABound(t *testing.T) {
	huge := Point(float(64, 1, big.MaxExp-1))
	for _, x := range []Interval{huge, huge.Neg()} {
		want := x.Add(x)
		sum := NewAccumulator(64)
		sum.Add(x)
		sum.Add(x)
		if got := sum.Value(); !same(got, want) || got.isFinite() || got.Lo().IsInf() == got.Hi().IsInf() {
			t.Errorf("%v + %v = %v, want %v", x, x, got, want)
		}
		a := NewAccumulator(64)
		a.AddMul(x, FromInt(2, 64))
		if got := a.Value(); !same(got, x.Mul(FromInt(2, 64))) || got.Lo().IsInf() == got.Hi().IsInf() {
			t.Errorf("2·%v = %v", x, got)
		}
	}
}

// TestExpUpToTheLastExponent: e^x is narrow while it is below 2^MaxExp, that is for x < 1.488·10⁹, whatever
// the number of bits of x, and a bound of its magnitude beyond.
func TestExpUpToTheLastExponent(t *testing.T) {
	for _, x := range []*big.Rat{big.NewRat(1200000000, 1), big.NewRat(1<<32, 3), big.NewRat(1488522000, 1), big.NewRat(1<<30+1, 1)} {
		y, z := ExpRat(x, 64), Exp(FromRat(x, 64))
		for _, e := range []Interval{y, z, y.inv(), z.inv()} {
			assert.Less(t, e.RelWidth(), 1e-8, x.String()) // at 64 bits; x = 2³²/3 is rounded in z
		}
		_, ok := y.Intersect(z)
		assert.True(t, ok, x.String())
		minus := ExpRat(new(big.Rat).Neg(x), 64)
		assert.Less(t, minus.RelWidth(), 1e-17, x.String())
		assert.True(t, minus.Mul(y).Contains(big.NewRat(1, 1)), x.String())
	}
	assert.Less(t, ExpRat(big.NewRat(1488522235, 1), 64).RelWidth(), 1e-17, "MaxExp·ln 2 = 1488522235.2")
	for _, x := range []*big.Rat{big.NewRat(1488522236, 1), big.NewRat(1<<31-1, 1), big.NewRat(1<<40, 1)} {
		for _, y := range []Interval{ExpRat(x, 64), Exp(FromRat(x, 64))} {
			assert.True(t, y.Hi().IsInf() && y.Lo().MantExp(nil) == big.MaxExp, x.String())
			assert.False(t, y.Lo().IsInf(), x.String())
		}
	}
}

// TestLn2HasItsBits: ln2 promises a relative width of at most 2^-prec, and the same enclosure whatever was asked before.
func TestLn2HasItsBits(t *testing.T) {
	var precisions []uint
	for prec := uint(1); prec <= 100; prec++ {
		precisions = append(precisions, prec, 2500+prec)
	}
	slices.Sort(precisions)
	fresh := map[uint]Interval{}
	for _, prec := range precisions {
		ln2Known.Clear()
		fresh[prec] = ln2(prec)
	}
	for _, prec := range slices.Backward(precisions) {
		y := ln2(prec)
		limit := float(64, 1, -int(prec))
		assert.LessOrEqual(t, y.width().Cmp(new(big.Float).Mul(limit, y.Lo())), 0, prec)
		assert.True(t, prec > 100 || Exp(y).Contains(big.NewRat(2, 1)), prec)
		assert.True(t, y.Lo().Cmp(fresh[prec].Lo()) == 0 && y.Hi().Cmp(fresh[prec].Hi()) == 0, "%d bits depend on what was asked before", prec)
	}
}

func TestMoreMisusePanics(t *testing.T) {
	one, inf := big.NewFloat(1), wholeLine(53)
	for name, f := range map[string]func(){
		"at -Inf":         func() { NewInterval(inf.Lo(), inf.Lo()) },
		"no precision":    func() { NewInterval(new(big.Float), new(big.Float)) },
		"point -Inf":      func() { Point(inf.Lo()) },
		"float -Inf":      func() { FromFloat(inf64(-1), 53) },
		"exp precision":   func() { ExpRat(big.NewRat(1, 2), 0) },
		"exp 0 precision": func() { ExpRat(new(big.Rat), 0) },
		"log precision":   func() { LogRat(big.NewRat(1, 2), 0) },
		"round to 0":      func() { Point(one).SetPrec(0) },
		"sum of 0 bits":   func() { NewAccumulator(0) },
		"log 0 to 0":      func() { LogRat(new(big.Rat), 53) },
		"not reduced":     func() { expSeries(new(big.Int).Lsh(big.NewInt(1), 60), 60) },
	} {
		assert.Panics(t, f, name)
	}
}

func inf64(sign int) float64 { f, _ := new(big.Float).SetInf(sign < 0).Float64(); return f }
