package number

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// expBracket returns rational bounds on e^x from the Taylor polynomial of degree n and the Lagrange
// remainder |x|^(n+1)/(n+1)!·max(1, e^x), e^x <= 3^⌈x⌉. Exact arithmetic, no reduction: the
// oracle for the fixed-point series.
func expBracket(x *big.Rat, n int) (lo, hi *big.Rat) {
	// With x = a/b, sum = Σ a^i·b^(n-i)·n!/i! over b^n·n!.
	sum, power, scale := big.NewInt(1), big.NewInt(1), big.NewInt(1)
	for i := 1; i <= n; i++ {
		bi := new(big.Int).Mul(x.Denom(), big.NewInt(int64(i)))
		power.Mul(power, x.Num())
		sum.Mul(sum, bi).Add(sum, power)
		scale.Mul(scale, bi)
	}
	rest := new(big.Rat).SetFrac(power.Abs(power), scale)
	rest.Mul(rest, new(big.Rat).Abs(x)).Quo(rest, big.NewRat(int64(n+1), 1))
	for limit := new(big.Rat).Set(x); limit.Sign() > 0; limit.Sub(limit, big.NewRat(1, 1)) {
		rest.Mul(rest, big.NewRat(3, 1))
	}
	mid := new(big.Rat).SetFrac(sum, scale)
	return new(big.Rat).Sub(mid, rest), new(big.Rat).Add(mid, rest)
}

// meets reports whether x and [lo, hi] have a number in common. Brackets are far narrower than the
// intervals under test, so that a bound off by one unit in the last place misses them.
func meets(x Interval, lo, hi *big.Rat) bool {
	l, _ := x.lo.Rat(nil)
	h, _ := x.hi.Rat(nil)
	return l.Cmp(hi) <= 0 && h.Cmp(lo) >= 0
}

// smallDyadic returns a dyadic of at most 24 bits of mantissa and magnitude below 2^maxExp.
func smallDyadic(r *rand.Rand, maxExp int) *big.Rat {
	f := new(big.Float).SetInt64(r.Int64N(1<<24) - 1<<23)
	f.SetMantExp(f, maxExp-24-r.IntN(30))
	x, _ := f.Rat(nil)
	return x
}

func TestExpMeetsTaylorBracket(t *testing.T) {
	r := newRand(t)
	for i := range 60 {
		x := smallDyadic(r, 4)
		if i%3 == 0 {
			x = big.NewRat(r.Int64N(160)-80, 1+r.Int64N(10))
		}
		lo, hi := expBracket(x, 150)
		for _, prec := range []uint{1, 2, 24, 53, 100, 200} {
			for name, y := range map[string]Interval{
				"ExpRat": ExpRat(x, prec),
				"Exp":    Exp(FromRat(x, 400)).SetPrec(prec),
				"Expm1":  Expm1(FromRat(x, 400)).Add(FromInt(1, 400)).SetPrec(prec),
			} {
				if !meets(y, lo, hi) {
					t.Fatalf("%s(%v) at %d bits = %v, not in [%s, %s]", name, x, prec, y, lo.FloatString(60), hi.FloatString(60))
				}
			}
		}
		// An interval argument at its own precision.
		y := Exp(FromRat(x, 53))
		if !meets(y, lo, hi) {
			t.Fatalf("Exp(%v) at 53 bits = %v", x, y)
		}
	}
}

// TestLogInvertsTaylorBracket checks exp(lo) <= x <= exp(hi) for [lo, hi] = ln x with the exact Taylor
// bounds on exp.
func TestLogInvertsTaylorBracket(t *testing.T) {
	r := newRand(t)
	check := func(name string, prec uint, y Interval, x *big.Rat) {
		t.Helper()
		l, _ := y.lo.Rat(nil)
		h, _ := y.hi.Rat(nil)
		low, _ := expBracket(l, 60)
		_, high := expBracket(h, 60)
		if low.Cmp(x) > 0 || high.Cmp(x) < 0 {
			t.Fatalf("%s(%v) at %d bits = %v", name, x, prec, y)
		}
	}
	for range 40 {
		x := new(big.Rat).Abs(smallDyadic(r, r.IntN(8)))
		x.Add(x, big.NewRat(1, 1<<10))
		if r.IntN(3) == 0 { // beside 1
			x = new(big.Rat).Add(big.NewRat(1, 1), smallDyadic(r, -r.IntN(60)-1))
		}
		for _, prec := range []uint{1, 24, 53, 100} {
			check("LogRat", prec, LogRat(x, prec), x)
			check("Log", prec, Log(FromRat(x, 300)).SetPrec(prec), x)
		}
	}
}

// TestFunctionsAreNarrow: an enclosure of a function of a point is at most 4 units in the last place
// wide, for every magnitude and precision.
func TestFunctionsAreNarrow(t *testing.T) {
	for _, prec := range []uint{8, 24, 53, 64, 128, 129, 500, 1000} {
		limit := new(big.Float).SetMantExp(big.NewFloat(1), 3-int(prec))
		for _, mant := range []float64{0.5, -0.5, 0.625, -0.625, 0.9921875} {
			for _, exp := range []int{-5000, -140, -60, -9, -1, 0, 1, 2, 5, 8, 20, 30, 40, 200} {
				x := Point(new(big.Float).SetMantExp(big.NewFloat(mant).SetPrec(prec), exp))
				results := map[string]Interval{}
				if exp <= 30 {
					results["exp"] = Exp(x)
					results["expm1"] = Expm1(x)
					if exp > -200 {
						r, _ := x.lo.Rat(nil)
						results["exprat"] = ExpRat(r, prec)
					}
				}
				if mant > 0 {
					results["log"] = Log(x)
				}
				for name, y := range results {
					if y.isPoint() {
						if name != "log" || x.lo.Cmp(big.NewFloat(1)) != 0 {
							t.Errorf("%s(%v) = %v, but it is irrational", name, x, y)
						}
						continue
					}
					least := y.abs().lo
					if w := y.width(); w.Cmp(new(big.Float).Mul(least, limit)) > 0 || w.IsInf() {
						t.Errorf("%s(%v) at %d bits = %v is too wide", name, x, prec, y)
					}
				}
			}
		}
	}
	for _, prec := range []uint{24, 128} {
		for name, y := range map[string]Interval{"exp(0)": Exp(FromInt(0, prec)).Sub(FromInt(1, prec)), "exprat(0)": ExpRat(new(big.Rat), prec).Sub(FromInt(1, prec)),
			"expm1(0)": Expm1(FromInt(0, prec)), "log(1)": Log(FromInt(1, prec)), "lograt(1)": LogRat(big.NewRat(7, 7), prec)} {
			if s, ok := y.Sign(); !ok || s != 0 {
				t.Errorf("%s is not exact: %v", name, y)
			}
		}
	}
}

// TestFunctionsAgree checks identities between the functions, across magnitudes that the rational
// oracles do not reach, and precisions against each other.
func TestFunctionsAgree(t *testing.T) {
	r := newRand(t)
	meet := func(what string, x *big.Rat, y, z Interval) {
		t.Helper()
		if _, ok := y.Intersect(z); !ok {
			t.Fatalf("%s at %v: %v and %v are disjoint", what, x, y, z)
		}
	}
	for range 300 {
		x, y := smallDyadic(r, 1+r.IntN(29)), smallDyadic(r, 1+r.IntN(29))
		p := uint(30 + r.IntN(200))
		ex := ExpRat(x, p)
		meet("exp(x)exp(y) = exp(x+y)", x, ex.Mul(ExpRat(y, p)), ExpRat(ratAdd(x, y), p))
		meet("exp(x)exp(-x) = 1", x, ex.Mul(ExpRat(new(big.Rat).Neg(x), p)), FromInt(1, p))
		meet("log(exp(x)) = x", x, Log(ex), FromRat(x, p))
		meet("exp at two precisions", x, ex, ExpRat(x, 3*p))
		meet("exp of a float", x, ex, Exp(FromRat(x, 200)))
		meet("expm1(x) = exp(x) - 1", x, Expm1(FromRat(x, p)), ex.Sub(FromInt(1, p)))
		if a := new(big.Rat).Abs(x); a.Sign() > 0 {
			b := new(big.Rat).Abs(y)
			b.Add(b, big.NewRat(1, 3))
			meet("log(ab) = log a + log b", a, LogRat(a, p).Add(LogRat(b, p)), LogRat(ratMul(a, b), p))
			meet("log at two precisions", a, LogRat(a, p), LogRat(a, 3*p))
			meet("exp(log(a)) = a", a, Exp(LogRat(a, p)), FromRat(a, p))
		}
	}
	for _, exp := range []int{-4000, -300} {
		f := new(big.Float).SetMantExp(big.NewFloat(0.75), exp)
		x, _ := f.Rat(nil)
		meet("expm1", x, Expm1(Point(f)), Expm1(Point(f).SetPrec(5000)))
		low, high := expBracket(x, 3)
		if one := big.NewRat(1, 1); !meets(Expm1(Point(f)), low.Sub(low, one), high.Sub(high, one)) {
			t.Errorf("expm1(%g) = %v", f, Expm1(Point(f)))
		}
	}
}

func TestFunctionsOfIntervals(t *testing.T) {
	r := newRand(t)
	for range 500 {
		a, b := smallDyadic(r, 8), smallDyadic(r, 8)
		x := Hull(FromRat(a, 80), FromRat(b, 80))
		m := ratMul(ratAdd(a, b), big.NewRat(1, 2))
		for _, in := range []*big.Rat{a, b, m} {
			check := func(name string, whole, inner Interval) {
				t.Helper()
				if _, ok := whole.Intersect(inner); !ok || !whole.encloses(inner) && in == m && a.Cmp(b) != 0 && x.width().MantExp(nil) > -60 {
					t.Fatalf("%s(%v) = %v, but at %v it is %v", name, x, whole, in, inner)
				}
			}
			check("exp", Exp(x), ExpRat(in, 160))
			check("expm1", Expm1(x), Expm1(FromRat(in, 160)))
			shift := new(big.Rat).Add(in, big.NewRat(257, 1)) // positive
			y := x.Add(FromInt(257, 80))
			check("log", Log(y), LogRat(shift, 160))
		}
	}
}

func TestKnownDigits(t *testing.T) {
	// OEIS A001113, A002162, A002392.
	for digits, y := range map[string]Interval{
		"2.71828182845904523536028747135266249775724709369995": ExpRat(big.NewRat(1, 1), 160),
		"0.69314718055994530941723212145817656807550013436025": LogRat(big.NewRat(2, 1), 160),
		"2.30258509299404568401799145468436420760110148862877": LogRat(big.NewRat(10, 1), 160),
	} {
		lo, ok := new(big.Rat).SetString(digits)
		if !ok {
			t.Fatal(digits)
		}
		hi := ratAdd(lo, new(big.Rat).SetFrac(one, new(big.Int).Exp(big.NewInt(10), big.NewInt(50), nil)))
		l, _ := y.lo.Rat(nil)
		h, _ := y.hi.Rat(nil)
		// 160 bits are 48 digits: the enclosure and the digits meet and both are narrow.
		if !meets(y, lo, hi) || ratSub(h, l).Cmp(big.NewRat(1, 1e15)) > 0 {
			t.Errorf("%s: [%s, %s]", digits, l.FloatString(52), h.FloatString(52))
		}
	}
}

func benchmarkOperands() (x, y Interval) {
	return FromRat(big.NewRat(1, 3), 128), FromRat(big.NewRat(2, 7), 128)
}

func BenchmarkAdd(b *testing.B) {
	x, y := benchmarkOperands()
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

func BenchmarkMul(b *testing.B) {
	x, y := benchmarkOperands()
	b.ReportAllocs()
	for b.Loop() {
		x.Mul(y)
	}
}

func BenchmarkMulSigned(b *testing.B) {
	x, y := benchmarkOperands()
	x = x.Neg()
	b.ReportAllocs()
	for b.Loop() {
		x.Mul(y)
	}
}

func BenchmarkQuo(b *testing.B) {
	x, y := benchmarkOperands()
	b.ReportAllocs()
	for b.Loop() {
		x.Quo(y)
	}
}

func BenchmarkAddMul(b *testing.B) {
	x, y := benchmarkOperands()
	a := NewAccumulator(128)
	b.ReportAllocs()
	for b.Loop() {
		a.AddMul(x, y)
	}
}

func BenchmarkExpRat(b *testing.B) {
	x := big.NewRat(-1, 2)
	b.ReportAllocs()
	for b.Loop() {
		ExpRat(x, 128)
	}
}

func BenchmarkLogRat(b *testing.B) {
	x := big.NewRat(3, 7)
	b.ReportAllocs()
	for b.Loop() {
		LogRat(x, 128)
	}
}
