package arith

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
)

func ints(cs ...int64) poly {
	p := make(poly, len(cs))
	for i, c := range cs {
		p[i] = big.NewInt(c)
	}
	return p
}

func randomPoly(r *rand.Rand, degree int) poly {
	p := make(poly, degree+1)
	for i := range p {
		p[i] = big.NewInt(0)
		if r.IntN(4) > 0 {
			p[i].SetInt64(r.Int64N(19) - 9)
		}
	}
	if p[degree].Sign() == 0 {
		p[degree].SetInt64(1 + r.Int64N(5))
	}
	return p
}

func randomFunc(r *rand.Rand) RatFunc {
	return newRatFunc(randomPoly(r, r.IntN(6)), randomPoly(r, r.IntN(6)))
}

// checkCanonical checks the invariants in RatFunc's documentation.
func checkCanonical(t *testing.T, f RatFunc) {
	t.Helper()
	if len(f.Den) == 0 || f.Den[len(f.Den)-1].Sign() <= 0 {
		t.Fatalf("%v: leading coefficient of the denominator", f)
	}
	if f.IsZero() {
		if !isOne(f.Den) {
			t.Fatalf("0 is %v", f)
		}
		return
	}
	if f.Num[len(f.Num)-1].Sign() == 0 {
		t.Fatalf("%v ends in 0", f)
	}
	if g := euclid(f.Num, f.Den); len(g) != 1 {
		t.Fatalf("%v has the common factor %v", f, g)
	}
	if c := new(big.Int).GCD(nil, nil, content(f.Num), content(f.Den)); c.Cmp(one) != 0 {
		t.Fatalf("%v has the common content %v", f, c)
	}
}

// euclid returns a greatest common divisor over the rationals by Euclid's algorithm with
// pseudo-remainders, made primitive: the oracle for the modular method.
func euclid(p, q poly) poly {
	p, _ = primitive(p)
	for len(q) > 0 {
		q, _ = primitive(q)
		r := clonePoly(p)
		for len(r) >= len(q) {
			lr, lq := new(big.Int).Set(r[len(r)-1]), q[len(q)-1]
			shift := len(r) - len(q)
			for i := range r {
				r[i].Mul(r[i], lq)
			}
			for i, c := range q {
				r[shift+i].Sub(r[shift+i], new(big.Int).Mul(lr, c))
			}
			r = trim(r)
		}
		p, q = q, r
	}
	return normalSign(p)
}

func TestGCDAgreesWithEuclid(t *testing.T) {
	r := newRand(t)
	for i := range 400 {
		d := randomPoly(r, r.IntN(5))
		p, q := mulPoly(d, randomPoly(r, r.IntN(8))), mulPoly(d, randomPoly(r, r.IntN(8)))
		if i%10 == 0 { // coefficients beyond one prime: several images to combine
			scale := new(big.Int).Lsh(one, 150)
			d[0].Add(d[0], scale)
			p, q = mulPoly(d, randomPoly(r, 3)), mulPoly(d, randomPoly(r, 4))
		}
		if len(trim(p)) == 0 || len(trim(q)) == 0 {
			continue
		}
		g := gcdPoly(p, q)
		got, c := primitive(g)
		if want := euclid(p, q); !equalPoly(normalSign(got), want) {
			t.Fatalf("gcd(%s, %s) = %s, want %s", formatPoly(p), formatPoly(q), formatPoly(g), formatPoly(want))
		}
		if want := new(big.Int).GCD(nil, nil, content(p), content(q)); c.Cmp(want) != 0 {
			t.Fatalf("content of gcd(%s, %s) = %v, want %v", formatPoly(p), formatPoly(q), c, want)
		}
	}
}

// TestGCDSurvivesUnluckyPrimes uses polynomials that are coprime but have a common factor modulo the
// first prime, and some whose leading coefficient that prime divides.
func TestGCDSurvivesUnluckyPrimes(t *testing.T) {
	m := new(big.Int).SetUint64(firstPrime)
	x, y := ints(1, 1), poly{new(big.Int).Add(m, one), one} // z + 1, z + 1 + m
	if g := gcdPoly(x, y); !isOne(g) {
		t.Errorf("gcd = %s", formatPoly(g))
	}
	c := ints(3, 0, 2)
	if g := gcdPoly(mulPoly(x, c), mulPoly(y, c)); !equalPoly(g, c) {
		t.Errorf("gcd = %s, want %s", formatPoly(g), formatPoly(c))
	}
	l := poly{one, m}
	if g := gcdPoly(mulPoly(l, c), mulPoly(l, x)); !equalPoly(g, l) {
		t.Errorf("gcd = %s, want %s", formatPoly(g), formatPoly(l))
	}
}

// TestRatFuncAgreesWithValues compares each operation with the rationals at points that are not poles.
func TestRatFuncAgreesWithValues(t *testing.T) {
	r := newRand(t)
	f := Poly{}
	for range 400 {
		a, b := randomFunc(r), randomFunc(r)
		results := map[string]struct {
			f  RatFunc
			op func(x, y *big.Rat) *big.Rat
		}{
			"+": {f.Add(a, b), Rat{}.Add},
			"-": {f.Sub(a, b), Rat{}.Sub},
			"*": {f.Mul(a, b), Rat{}.Mul},
		}
		if !b.IsZero() {
			results["/"] = struct {
				f  RatFunc
				op func(x, y *big.Rat) *big.Rat
			}{f.Quo(a, b), Rat{}.Quo}
		}
		checkCanonical(t, a)
		for op, res := range results {
			checkCanonical(t, res.f)
			for range 5 {
				z := randomRat(r)
				x, ok := a.EvalRat(z)
				y, ok2 := b.EvalRat(z)
				if !ok || !ok2 || op == "/" && y.Sign() == 0 {
					continue
				}
				want := res.op(x, y)
				got, ok := res.f.EvalRat(z)
				if !ok || got.Cmp(want) != 0 {
					t.Fatalf("(%v) %s (%v) = %v, at %v it is %v, want %v", a, op, b, res.f, z, got, want)
				}
				if e := res.f.Eval(number.FromRat(z, 80)); !e.Contains(want) {
					t.Fatalf("%v at %v is %v, not in %v", res.f, z, want, e)
				}
			}
		}
		if d := f.Sub(f.Add(a, b), b); !equal(d, a) {
			t.Fatalf("a + b - b = %v, want %v", d, a)
		}
		if !b.IsZero() && !equal(f.Mul(f.Quo(a, b), b), a) {
			t.Fatalf("(%v)/(%v)·b differs", a, b)
		}
	}
}

func TestRatFuncForms(t *testing.T) {
	f := Poly{}
	z := f.Z()
	var zero RatFunc
	for want, got := range map[string]RatFunc{
		"0":                     zero,
		"1":                     f.Quo(z, z),
		"-z":                    f.Neg(z),
		"(1)/(z)":               Pow[RatFunc](f, z, -1),
		"1 + z + z^2":           f.Quo(f.Sub(f.One(), Pow[RatFunc](f, z, 3)), f.Sub(f.One(), z)),
		"(1 - 2z)/(3z)":         newRatFunc(ints(-2, 4), ints(0, -6)),
		"(-1)/(1 + z)":          newRatFunc(ints(1, -1), ints(-1, 0, 1)),
		"(1)/(2)":               f.FromRat(big.NewRat(1, 2)),
		"(2 + z^2)/(-3 + 5z^4)": newRatFunc(ints(4, 0, 2, 0), ints(-6, 0, 0, 0, 10, 0)),
	} {
		if got.String() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if !zero.IsZero() || !equal(zero, f.Zero()) || !equal(f.Add(zero, z), z) || !f.Mul(zero, z).IsZero() || !f.Quo(zero, z).IsZero() || !f.Sub(z, z).IsZero() {
		t.Error("the zero value is not 0")
	}
	if equal(z, f.One()) || equal(z, f.Mul(z, z)) || equal(f.FromInt(2), f.FromRat(big.NewRat(1, 2))) {
		t.Error("different functions are equal")
	}
	if _, ok := f.Quo(f.One(), z).EvalRat(new(big.Rat)); ok {
		t.Error("1/z has a value at 0")
	}
	if _, ok := z.Rat(); ok {
		t.Error("z is a rational number")
	}
	for name, op := range map[string]func(){
		"1/0":       func() { f.Quo(f.One(), f.Zero()) },
		"z/zero":    func() { f.Quo(z, zero) },
		"[1]/[0 0]": func() { newRatFunc(ints(1), ints(0, 0)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			op()
		}()
	}
}

// TestSignAtTranscendental decides signs of functions whose value at z = e^(-1/2) is 0 to hundreds of bits.
func TestSignAtTranscendental(t *testing.T) {
	f := Poly{}
	at := func(prec uint) number.Interval { return number.ExpRat(big.NewRat(-1, 2), prec) }
	l, h := at(400).Lo(), at(400).Hi()
	for _, c := range []struct {
		end  *big.Float
		sign int
	}{{l, 1}, {h, -1}} {
		r, _ := c.end.Rat(nil)
		d := f.Sub(f.Z(), f.FromRat(r))
		for n, sign := range map[int]int{1: c.sign, 2: 1, 3: c.sign, -1: c.sign} {
			if got, ok := Pow[RatFunc](f, d, n).SignUpTo(1<<12, at); !ok || got != sign {
				t.Errorf("sign of (z - %.10g)^%d is %d, want %d", c.end, n, got, sign)
			}
		}
	}
	if s, ok := f.Zero().SignUpTo(64, at); !ok || s != 0 {
		t.Errorf("sign of 0 is %d", s)
	}
}

// BenchmarkSum60 sums fractions of degree about 60 with different denominators, as an exact pmf does.
func BenchmarkSum60(b *testing.B) {
	f := Poly{}
	z := Powers[RatFunc](f, f.Z(), 60)
	b.ReportAllocs()
	for b.Loop() {
		s := f.Zero()
		for i := 1; i < 10; i++ {
			d := f.Add(f.FromInt(int64(i)), f.Add(z[i], z[60-i]))
			s = f.Add(s, f.Quo(z[60], d))
		}
	}
}

// BenchmarkSumSameDenominator adds polynomials of degree 60 over one denominator.
func BenchmarkSumSameDenominator(b *testing.B) {
	f := Poly{}
	z := Powers[RatFunc](f, f.Z(), 60)
	d := f.FromInt(360360)
	x, y := f.Quo(Sum[RatFunc](f, z...), d), f.Quo(Sum[RatFunc](f, z[:30]...), d)
	b.ReportAllocs()
	for b.Loop() {
		f.Add(x, y)
	}
}

// Long polynomials with few terms: sums and products have the values that they should have, and operands keep theirs. Enclosures hold the
// exact value, at arguments of either sign and at 0, and are narrow.
func TestSparsePolynomials(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	f := Poly{}
	sparse := func() RatFunc {
		p := f.Zero()
		for range 1 + r.IntN(4) {
			p = f.Add(p, f.Mul(f.FromInt(r.Int64N(19)-9), Pow(f, f.Z(), r.IntN(90))))
		}
		return p
	}
	for range 300 {
		a, b := sparse(), sparse()
		before := a.String() + b.String()
		sum, product, difference := f.Add(a, b), f.Mul(a, b), f.Sub(a, b)
		require.Equal(t, before, a.String()+b.String())
		for _, z := range []*big.Rat{new(big.Rat), big.NewRat(3, 5), big.NewRat(-4, 3), big.NewRat(1, 1)} {
			x, _ := a.EvalRat(z)
			y, _ := b.EvalRat(z)
			for got, want := range map[*RatFunc]*big.Rat{&sum: new(big.Rat).Add(x, y), &product: new(big.Rat).Mul(x, y), &difference: new(big.Rat).Sub(x, y)} {
				v, ok := got.EvalRat(z)
				require.True(t, ok)
				require.Zero(t, want.Cmp(v))
				box := got.Eval(number.FromRat(z, 300))
				require.True(t, box.Contains(want), "%s at %s: %v, want %s", got, z, box, want)
				size, _ := new(big.Rat).Abs(want).Float64()
				width, _ := box.Sub(box).Hi().Float64()
				require.Less(t, width, 1e-50*(1+size+math.Pow(1.34, 180)))
			}
		}
	}
}
