package inquiry

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"math"
	"math/big"
	"math/rand/v2"
	"optratio/internal/arith"
	"optratio/number"
	"testing"
)

func half64(a, b int64) *Value { return Rational(big.NewRat(a, b)) }

// box is the number in [lo, hi], whatever precision it is asked for.
func boxed(lo, hi float64) *Value {
	return &Value{inexact: true, box: func(uint) number.Interval { return number.NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }}
}

// root2 is √2 by enclosures, as the square root's own refinement gives it.
func root2() *Value {
	return Refinable(func(prec uint) number.Interval {
		lo := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).Sqrt(big.NewFloat(2))
		eps := new(big.Float).SetMantExp(big.NewFloat(4), -int(prec))
		return number.NewInterval(new(big.Float).SetPrec(prec).Sub(lo, eps), new(big.Float).SetPrec(prec).Add(lo, eps))
	})
}

// TestValuesInEveryForm compares sums, products and quotients of values in the forms that they have with exact ones.
func TestValuesInEveryForm(t *testing.T) {
	eps := epsilonOf(t, "0.5")
	r := exponentialRing(eps, 1)
	z := function(*fun(t, "z"), r) // e^{-1/2} = 0.60653…
	for _, c := range []struct {
		name     string
		v, w     *Value
		sum, dif *big.Rat // where rational
		cmp      int
	}{
		{"rationals", half64(1, 2), half64(1, 3), big.NewRat(5, 6), big.NewRat(1, 6), 1},
		{"equal rationals", half64(2, 4), half64(1, 2), big.NewRat(1, 1), new(big.Rat), 0},
		{"function and itself", z, z, nil, new(big.Rat), 0},
		{"function and its copy", z, function(*fun(t, "z"), r), nil, new(big.Rat), 0},
		{"function and rational", z, half64(60653, 100000), nil, nil, 1},
		{"rational and function", half64(60654, 100000), z, nil, nil, 1},
		{"functions", z.Mul(z), z, nil, nil, -1},
		{"1-z and z", half64(1, 1).Sub(z), z, big.NewRat(1, 1), nil, -1},
		{"enclosure", root2(), half64(141421356, 100000000), nil, nil, 1},
		{"enclosures", root2().Mul(root2()), half64(19999999, 10000000), nil, nil, 1},
	} {
		sum, dif := c.v.Add(c.w), c.v.Sub(c.w)
		if c.sum != nil {
			s, ok := sum.Compare(Rational(c.sum), 1024)
			assert.True(t, ok && s == 0, c.name)
		}
		if c.dif != nil {
			s, ok := dif.Compare(Rational(c.dif), 1024)
			assert.True(t, ok && s == 0, c.name)
		}
		s, ok := c.v.Compare(c.w, 1024)
		assert.Equal(t, []any{c.cmp, true}, []any{s, ok}, c.name)
		s, ok = c.w.Compare(c.v, 1024)
		assert.Equal(t, []any{-c.cmp, true}, []any{s, ok}, c.name)
		for _, prec := range []uint{64, 200} {
			for _, q := range []struct {
				got  *Value
				want number.Interval
			}{
				{sum, c.v.Enclose(prec).Add(c.w.Enclose(prec))}, {dif, c.v.Enclose(prec).Sub(c.w.Enclose(prec))},
				{c.v.Mul(c.w), c.v.Enclose(prec).Mul(c.w.Enclose(prec))}, {Quotient(c.v, c.w, false), c.v.Enclose(prec).Quo(c.w.Enclose(prec))},
			} {
				_, ok := q.got.Enclose(prec).Intersect(q.want)
				assert.True(t, ok, "%s: %v, %v", c.name, q.got.Enclose(prec), q.want)
				lo, hi := q.got.Floats()
				assert.True(t, q.want.Lo().Cmp(big.NewFloat(hi)) <= 0 && q.want.Hi().Cmp(big.NewFloat(lo)) >= 0, c.name)
				if s, ok := q.got.Sign(64); !ok || s != 0 {
					assert.Less(t, q.got.Narrow().RelWidth(), 1e-30, c.name)
				}
			}
		}
	}
}

func exactRat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// TestBoxesDecideWhatTheyCan: readings that overlap are not told apart, and say so.
func TestBoxesDecideWhatTheyCan(t *testing.T) {
	for _, c := range []struct {
		v, w *Value
		s    int
		ok   bool
	}{
		{boxed(1, 2), boxed(3, 4), -1, true}, {boxed(3, 4), boxed(1, 2), 1, true}, {boxed(1, 2), boxed(2, 3), 0, false}, {boxed(1, 3), boxed(2, 2), 0, false},
		{boxed(2, 2), boxed(2, 2), 0, true}, {boxed(0, 1), half64(0, 1), 0, false}, {boxed(0, 1), half64(-1, 1000), 1, true},
	} {
		s, ok := c.v.Compare(c.w, 1<<20)
		assert.Equal(t, []any{c.s, c.ok}, []any{s, ok}, "%v, %v", c.v.Number(), c.w.Number())
	}
	same := boxed(0, 1)
	s, ok := same.Compare(same, 1024)
	assert.Equal(t, []any{0, true}, []any{s, ok}, "a number is equal to itself, whatever it is")
	assert.False(t, boxed(0, 1).Zero(1024))
	assert.False(t, boxed(0.5, 1).Zero(1024))
	assert.True(t, boxed(0, 0).Zero(1024))
	assert.True(t, half64(0, 1).Zero(1024))
	assert.False(t, half64(-1, 3).Zero(1024))
	assert.False(t, root2().Sub(root2()).Zero(512), "two copies of √2 are not told apart")
	_, ok = root2().Sub(root2()).Sign(512)
	assert.False(t, ok)
	// A difference of 2^-200 needs more than 200 bits.
	near := Rational(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)))
	x := root2()
	other := Refinable(func(prec uint) number.Interval { return x.Enclose(prec).Add(near.Enclose(prec)) })
	_, ok = other.Compare(x, 128)
	assert.False(t, ok)
	s, ok = other.Compare(x, 512)
	assert.Equal(t, []any{1, true}, []any{s, ok})
}

// TestWithin: bounds that a float64 states are kept so, rounded outward; those of extreme magnitude as they are.
func TestWithin(t *testing.T) {
	third, half := big.NewRat(1, 3), big.NewRat(1, 2)
	assert.Zero(t, Within(third, third).Rat().Cmp(third))
	v := Within(third, half)
	lo, hi := v.Floats()
	assert.Equal(t, []float64{1.0 / 3, 0.5}, []float64{lo, hi}) // the float64 is less than 1/3
	assert.True(t, v.Enclose(64).Contains(third) && v.Enclose(64).Contains(half))
	assert.False(t, v.Enclose(64).Contains(big.NewRat(332, 1000)))
	assert.Nil(t, v.Rat())
	tiny := exactRat("1e-300")
	v = Within(tiny, new(big.Rat).Add(tiny, tiny))
	assert.True(t, v.Enclose(64).Contains(tiny))
	s, ok := v.Sign(64)
	assert.Equal(t, []any{1, true}, []any{s, ok}, "no reading of 1e-300 is 0")
	huge := exactRat("1e400")
	v = Within(huge, new(big.Rat).Add(huge, huge))
	lo, hi = v.Floats()
	assert.True(t, lo > 1e308 && math.IsInf(hi, 1))
	s, ok = v.Compare(Rational(exactRat("1e399")), 64)
	assert.Equal(t, []any{1, true}, []any{s, ok})
	assert.Equal(t, 0.25, Nearly(big.NewRat(1, 4), new(big.Rat)).Number().Float64())
}

// TestRings: the number of which probabilities are functions is recognised for what it is.
func TestRings(t *testing.T) {
	for _, c := range []struct {
		eps    string
		parts  int64
		degree int
		power  string
	}{
		{"3/2", 1, 1, "2/3"}, {"9/4", 2, 1, "2/3"}, {"9/4", 4, 2, "2/3"}, {"27/8", 6, 2, "2/3"}, {"3/2", 2, 2, "2/3"}, {"64", 12, 2, "1/2"}, {"8", 3, 1, "1/2"}, {"2", 6, 6, "1/2"}, {"4/3", 2, 2, "3/4"},
	} {
		r := exponentialRing(epsilonOf(t, c.eps), c.parts)
		require.NotNil(t, r, c.eps)
		assert.Equal(t, []any{c.degree, c.power, true}, []any{r.degree, r.power.RatString(), r.positive}, "%+v", c)
		// t^degree = power, and t^parts = e^-ε.
		assert.True(t, r.at(100).Pow(r.degree).Contains(r.power))
		z, _ := epsilonOf(t, c.eps).Z()
		assert.True(t, r.at(100).Pow(int(c.parts)).Contains(z))
		// x^degree - power vanishes and nothing of less degree does.
		p := make([]*big.Int, r.degree+1)
		for i := range p {
			p[i] = new(big.Int)
		}
		p[0].Neg(r.power.Num())
		p[r.degree] = r.power.Denom()
		assert.True(t, r.vanishes(p))
		p[0] = new(big.Int).Add(p[0], big.NewInt(1))
		assert.False(t, r.vanishes(p))
	}
	r := exponentialRing(epsilonOf(t, "0.5"), 3)
	assert.Equal(t, []any{0, "1/6"}, []any{r.degree, r.exponent.RatString()})
	assert.Nil(t, exponentialRing(epsilonOf(t, "0"), 1))
	assert.Nil(t, logarithmRing(epsilonOf(t, "0")))
	assert.Nil(t, logarithmRing(epsilonOf(t, "0.5")))
	l := logarithmRing(epsilonOf(t, "3/2"))
	assert.True(t, l.at(64).Hi().Sign() < 0 && !l.positive)
	// √(2/3)² = 2/3, exactly; √(2/3) is more than 0.816 and less than 0.817.
	r = exponentialRing(epsilonOf(t, "3/2"), 2)
	root := function(*fun(t, "z"), r)
	for _, c := range []struct {
		v, w *Value
		want int
	}{{root.Mul(root), half64(2, 3), 0}, {root, half64(816, 1000), 1}, {root, half64(817, 1000), -1}, {root.Mul(root).Mul(root), root.Mul(half64(2, 3)), 0}} {
		s, ok := c.v.Compare(c.w, 1024)
		assert.Equal(t, []any{c.want, true}, []any{s, ok})
	}
}

// TestRatios: p/q with its bounds, infinite where q = 0.
func TestRatios(t *testing.T) {
	infinite := Quotient(half64(1, 1), half64(0, 1), true)
	r, s := Quotient(half64(1, 2), half64(1, 3), false), Quotient(half64(4, 3), half64(1, 1), false)
	one := half64(7, 9)
	for _, c := range []struct {
		r, s *Value
		want int
	}{
		{r, s, 1}, {s, r, -1}, {r, r, 0}, {infinite, r, 1}, {r, infinite, -1}, {infinite, infinite, 0}, {infinite.Times(r), infinite, 0},
		{r.Times(s), Quotient(half64(2, 1), half64(1, 1), false), 0}, {Quotient(one, one, false), Quotient(half64(3, 1), half64(3, 1), false), 0},
		{r.Times(r), Quotient(rat2("2.2500000000000000000000001"), half64(1, 1), false), -1},
		{Quotient(half64(3, 2), half64(1, 1), false), r, 0},
	} {
		got, ok := c.r.Compare(c.s, 64)
		assert.Equal(t, []any{c.want, true}, []any{got, ok}, "%+v", c)
	}
	assert.True(t, r.lo <= 1.5 && 1.5 <= r.hi && r.hi-r.lo < 1e-14)
	product := r.Times(s)
	assert.True(t, product.lo <= 2 && 2 <= product.hi && product.hi-product.lo < 1e-14)
	wide := Quotient(boxed(1, 2), boxed(0, 1), false)
	assert.True(t, wide.lo <= 1 && wide.lo > 0.99 && math.IsInf(wide.hi, 1))
	_, ok := wide.Compare(r, 64)
	assert.False(t, ok)

	n, e := r.Log()
	assert.Equal(t, "3/2", e.RatString())
	assert.InDelta(t, math.Log(1.5), n.Float64(), 1e-15)
	n, e = Quotient(one, one, false).Log()
	assert.Equal(t, []string{"0", "1"}, []string{n.String(), e.RatString()})
	n, e = infinite.Log()
	assert.True(t, n.IsInf() && e == nil)
	z := function(*fun(t, "z"), exponentialRing(epsilonOf(t, "0.5"), 1))
	n, e = Quotient(half64(1, 1), z.Mul(z).Mul(z), false).Log()
	assert.Equal(t, "3/2", numberRat(t, n))
	assert.Nil(t, e)
	n, _ = Quotient(z, half64(1, 1), false).Log()
	assert.Equal(t, "-1/2", numberRat(t, n))
	n, _ = Quotient(z.Add(half64(1, 1)), half64(2, 1), false).Log()
	_, exact := n.Rat()
	assert.False(t, exact)
	assert.InDelta(t, math.Log((1+math.Exp(-0.5))/2), n.Float64(), 1e-15)
	n, _ = Quotient(z.Mul(half64(2, 1)), half64(1, 1), false).Log()
	assert.InDelta(t, math.Log(2)-0.5, n.Float64(), 1e-15)
}

func rat2(s string) *Value { return Rational(exactRat(s)) }

// A function that is formed late decides as one that is at hand.
func TestLateFunctionsDecideAlike(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	ring := exponentialRing(eps, 1)
	f := arith.Poly{}
	rng := rand.New(rand.NewPCG(3, 4))
	formed := 0
	late := func(x arith.RatFunc) *Value {
		return lately(func(prec uint) number.Interval { return x.Eval(ring.at(prec)) }, ring, func() (arith.RatFunc, bool) {
			formed++
			return x, true
		})
	}
	random := func() arith.RatFunc {
		sum := f.FromRat(big.NewRat(int64(rng.IntN(3)), 1))
		for range 3 {
			sum = f.Add(sum, arith.Pow(f, f.Z(), rng.IntN(3)))
		}
		return sum
	}
	ties := 0
	for range 300 {
		a, b, c, d := random(), random(), random(), random()
		if rng.IntN(3) == 0 {
			c = f.Sub(f.Mul(a, d), b)
		}
		want, ok := function(f.Mul(a, d), ring).Compare(function(f.Add(b, c), ring), 1024)
		require.True(t, ok)
		got, ok := late(a).Mul(late(d)).Compare(late(b).Add(function(c, ring)), 1024)
		require.True(t, ok)
		assert.Equal(t, want, got)
		if want == 0 {
			ties++
		}
	}
	assert.Greater(t, ties, 50)
	assert.LessOrEqual(t, formed, 3*ties, "functions are formed where enclosures tie, and only there")
}

// TestNarrow: a small difference is enclosed to the relative width asked for.
func TestNarrow(t *testing.T) {
	v := root2().Sub(Rational(exactRat("1.414213562373095048801688724209698078569")))
	x := v.Narrow()
	assert.Less(t, x.RelWidth(), 1e-38)
	n := v.Number().Float64()
	assert.InEpsilon(t, 6.7187537694807317667e-40, n, 1e-9)
	// A number that no precision narrows is given as it is.
	asked := 0
	w := Refinable(func(prec uint) number.Interval {
		asked++
		return number.NewInterval(big.NewFloat(1), big.NewFloat(2))
	})
	w.Narrow()
	assert.LessOrEqual(t, asked, 5)
	within := Within(big.NewRat(1, 3), big.NewRat(2, 3))
	assert.True(t, arith.Encloses(within.Enclose(64), within.Enclose(20)) && arith.Encloses(within.Enclose(20), within.Enclose(64)))
	s, ok := Within(exactRat("1e-400"), big.NewRat(1, 1)).Sign(64)
	assert.Equal(t, []any{1, true}, []any{s, ok})
	same := boxed(1, 2)
	r := Quotient(same, same, false)
	assert.Equal(t, []float64{1, 1}, []float64{r.lo, r.hi})
	other := boxed(3, 5)
	c, ok := r.Compare(Quotient(other, other, false), 64)
	assert.False(t, ok && c != 0, "x/x is y/y")
}

// fun makes the function z, the only one that these tests begin with.
func fun(t *testing.T, name string) *arith.RatFunc {
	require.Equal(t, "z", name)
	z := arith.Poly{}.Z()
	return &z
}

func numberRat(t *testing.T, n number.Number) string {
	r, ok := n.Rat()
	require.True(t, ok, n)
	return r.RatString()
}

func exactRats(xs ...string) []*big.Rat {
	var out []*big.Rat
	for _, x := range xs {
		out = append(out, exactRat(x))
	}
	return out
}

// e^{dε} is a rational where it is one: 4^{1/2} = 2, (8/27)^{-2/3} = 9/4.
func TestExpTimes(t *testing.T) {
	for _, c := range []struct{ exp, d, want string }{
		{"4", "1/2", "2"}, {"27/8", "2/3", "9/4"}, {"2", "3", "8"}, {"2", "1/2", ""}, {"4/3", "1/2", ""}, {"9/4", "3/2", "27/8"}, {"1", "1/7", "1"}, {"3/2", "1/64", ""}, {"16", "1/4", "2"}, {"16", "1/8", ""},
	} {
		eps, err := number.ParseExp(c.exp)
		require.NoError(t, err)
		d, _ := new(big.Rat).SetString(c.d)
		got := ExpTimes(eps, d)
		if c.want == "" {
			assert.Nil(t, got.Rat(), "%v", c)
		} else if assert.NotNil(t, got.Rat(), "%v", c) {
			assert.Equal(t, c.want, got.Rat().RatString(), "%v", c)
		}
	}
}

// epsilonOf reads "3/2" as e^ε and "0.5" as ε.
func epsilonOf(t *testing.T, s string) number.Epsilon {
	t.Helper()
	if e, err := number.ParseExp(s); err == nil {
		return e
	}
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

// A function that is met again is the same value, and e^x is a function of the number where it is a power of it.
func TestFunctionsAreKnownAgain(t *testing.T) {
	r := exponentialRing(epsilonOf(t, "0.5"), 2) // e^{-1/4}
	z := function(*fun(t, "z"), r)
	square := arith.Poly{}.Mul(*fun(t, "z"), *fun(t, "z"))
	assert.Same(t, z, function(*fun(t, "z"), r))
	assert.Same(t, function(square, r), function(arith.Poly{}.Mul(*fun(t, "z"), *fun(t, "z")), r))
	assert.NotSame(t, z, function(arith.Poly{}.Neg(*fun(t, "z")), r))
	for _, c := range []struct {
		x     *big.Rat
		exact bool
	}{{big.NewRat(1, 4), true}, {big.NewRat(3, 4), true}, {new(big.Rat), true}, {big.NewRat(1, 3), false}, {big.NewRat(1e9, 4), false}} {
		v := z.Exponential(c.x)
		_, ok := v.form()
		assert.Equal(t, c.exact, ok, c.x)
		got, _ := v.Log()
		assert.InEpsilon(t, 1+got.Float64(), 1+number.Exact(c.x).Float64(), 1e-12)
	}
	s, ok := Quotient(One, z.Mul(z).Mul(z), false).Compare(z.Exponential(big.NewRat(3, 4)), 128)
	assert.Equal(t, []any{0, true}, []any{s, ok})
	assert.Equal(t, "3/2", z.ExpEpsilon(rationalEpsilon(t, "3/2")).Rat().RatString())
}

func rationalEpsilon(t *testing.T, text string) number.Epsilon {
	eps, err := number.ParseExp(text)
	require.NoError(t, err)
	return eps
}
