package number

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const seed = 20201

func newRand(t testing.TB) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomRat returns a dyadic or a general rational of either sign, with many zeros, ones and
// extreme magnitudes among them.
func randomRat(r *rand.Rand) *big.Rat {
	var x *big.Rat
	switch r.IntN(8) {
	case 0:
		return new(big.Rat)
	case 1:
		x = big.NewRat(1, 1)
	case 2:
		x = big.NewRat(r.Int64N(1<<20), 1)
	case 3:
		x = big.NewRat(r.Int64N(1<<62), 1+r.Int64N(1<<62))
	case 4: // one unit beside a power of two
		x = new(big.Rat).SetInt(new(big.Int).Add(new(big.Int).Lsh(one, uint(40+r.IntN(200))), big.NewInt(r.Int64N(3)-1)))
	case 5: // tiny, far below the last place of the others
		x = new(big.Rat).SetFrac(big.NewInt(1+r.Int64N(1000)), new(big.Int).Lsh(one, uint(r.IntN(2000))))
	case 6:
		x = big.NewRat(r.Int64N(1000), 1<<10)
	default:
		x = big.NewRat(r.Int64N(100), 1+r.Int64N(100))
	}
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	return x
}

// sample is an interval with its ends as rationals and a rational in it.
type sample struct {
	Interval
	l, h, in *big.Rat
}

func randomSample(r *rand.Rand, prec uint) sample {
	x := FromRat(randomRat(r), prec)
	if r.IntN(3) > 0 {
		x = Hull(x, FromRat(randomRat(r), prec))
	}
	s := sample{Interval: x}
	s.l, _ = x.lo.Rat(nil)
	s.h, _ = x.hi.Rat(nil)
	// l + (h-l)·q, q in [0, 1]
	q := big.NewRat(r.Int64N(11), 10)
	s.in = new(big.Rat).Sub(s.h, s.l)
	s.in.Mul(s.in, q).Add(s.in, s.l)
	return s
}

func rats(s sample) []*big.Rat { return []*big.Rat{s.l, s.h} }

// tightest returns the outward rounding of the exact range of f over the corners, which is the range
// of f wherever f is monotone in each operand.
func tightest(prec uint, xs, ys []*big.Rat, f func(x, y *big.Rat) *big.Rat) Interval {
	var lo, hi *big.Rat
	for _, x := range xs {
		for _, y := range ys {
			v := f(x, y)
			if lo == nil || v.Cmp(lo) < 0 {
				lo = v
			}
			if hi == nil || v.Cmp(hi) > 0 {
				hi = v
			}
		}
	}
	// Directed rounding of big.Float itself, not by way of this package.
	l := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).SetRat(lo)
	h := new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).SetRat(hi)
	return Interval{l, h}
}

func same(x, y Interval) bool { return x.lo.Cmp(y.lo) == 0 && x.hi.Cmp(y.hi) == 0 }

var (
	ratAdd = func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
	ratSub = func(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
	ratMul = func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	ratQuo = func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
)

func TestOperationsAreTightestEnclosures(t *testing.T) {
	r := newRand(t)
	for range 5000 {
		prec := uint(1 + r.IntN(150))
		x, y := randomSample(r, prec), randomSample(r, prec)
		check := func(name string, got Interval, f func(x, y *big.Rat) *big.Rat) {
			t.Helper()
			if want := tightest(prec, rats(x), rats(y), f); !same(got, want) {
				t.Fatalf("prec %d: %s(%v, %v) = %v, want %v", prec, name, x, y, got, want)
			}
			if v := f(x.in, y.in); !got.Contains(v) {
				t.Fatalf("prec %d: %s(%v, %v) = %v lacks %v", prec, name, x, y, got, v)
			}
		}
		check("add", x.Add(y.Interval), ratAdd)
		check("sub", x.Sub(y.Interval), ratSub)
		check("mul", x.Mul(y.Interval), ratMul)
		if !y.containsZero() {
			check("quo", x.Quo(y.Interval), ratQuo)
		} else if q := x.Quo(y.Interval); !same(q, wholeLine(prec)) {
			t.Fatalf("%v / %v = %v, want the whole line", x, y, q)
		}
	}
}

func TestUnaryOperations(t *testing.T) {
	r := newRand(t)
	for range 5000 {
		prec := uint(1 + r.IntN(150))
		x, y := randomSample(r, prec), randomSample(r, prec)
		contains := func(name string, got Interval, v *big.Rat) {
			t.Helper()
			if !got.Contains(v) {
				t.Fatalf("prec %d: %s(%v) = %v lacks %v", prec, name, x, got, v)
			}
		}
		contains("neg", x.Neg(), new(big.Rat).Neg(x.in))
		contains("abs", x.abs(), new(big.Rat).Abs(x.in))
		contains("sqr", x.Pow(2), ratMul(x.in, x.in))
		if !x.containsZero() {
			contains("inv", x.inv(), new(big.Rat).Inv(x.in))
		}
		if x.abs().lo.Sign() < 0 || x.Pow(2).lo.Sign() < 0 {
			t.Fatalf("|%v| or its square may be negative", x)
		}
		lesser, greater := x.in, y.in
		if lesser.Cmp(greater) > 0 {
			lesser, greater = greater, lesser
		}
		contains("min", x.Min(y.Interval), lesser)
		contains("max", x.Max(y.Interval), greater)
		h := Hull(x.Interval, y.Interval)
		if !h.encloses(x.Interval) || !h.encloses(y.Interval) {
			t.Fatalf("hull(%v, %v) = %v", x, y, h)
		}
		if z, ok := x.Intersect(y.Interval); ok {
			if !x.encloses(z) || !y.encloses(z) {
				t.Fatalf("%v ∩ %v = %v", x, y, z)
			}
		} else if _, decided := x.Cmp(y.Interval); !decided {
			t.Fatalf("%v and %v are disjoint but not comparable", x, y)
		}
		if m := x.Mid(); m.Cmp(x.lo) < 0 || m.Cmp(x.hi) > 0 {
			t.Fatalf("the middle of %v is %g", x, m)
		}
		w, _ := x.width().Rat(nil)
		if w.Cmp(ratSub(x.h, x.l)) < 0 {
			t.Fatalf("the width of %v is %v", x, w)
		}
		if rel := x.RelWidth(); !math.IsInf(rel, 1) {
			least, _ := x.abs().lo.Rat(nil)
			if new(big.Rat).Mul(new(big.Rat).SetFloat64(rel), least).Cmp(ratSub(x.h, x.l)) < 0 {
				t.Fatalf("the relative width of %v is %g", x, rel)
			}
		}
	}
}

func TestPow(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		x := randomSample(r, uint(1+r.IntN(150)))
		n := r.IntN(13)
		want := big.NewRat(1, 1)
		for range n {
			want.Mul(want, x.in)
		}
		if got := x.Pow(n); !got.Contains(want) {
			t.Fatalf("%v^%d = %v lacks %v", x, n, got, want)
		}
		if !x.containsZero() {
			if got := x.Pow(-n); !got.Contains(want.Inv(want)) {
				t.Fatalf("%v^-%d = %v lacks %v", x, n, got, want)
			}
		}
	}
	x := NewInterval(big.NewFloat(-2), big.NewFloat(3))
	for n, want := range map[int][2]float64{0: {1, 1}, 1: {-2, 3}, 2: {0, 9}, 3: {-8, 27}, 4: {0, 81}} {
		if got := x.Pow(n); !same(got, NewInterval(big.NewFloat(want[0]), big.NewFloat(want[1]))) {
			t.Errorf("[-2, 3]^%d = %v, want %v", n, got, want)
		}
	}
	if got := x.Pow(math.MinInt); !same(got, wholeLine(53)) {
		t.Errorf("[-2, 3]^MinInt = %v", got)
	}
	if got := FromInt(1, 53).Pow(math.MinInt); !got.Contains(big.NewRat(1, 1)) {
		t.Errorf("1^MinInt = %v", got)
	}
}

func TestAccumulatorAgreesWithOperations(t *testing.T) {
	r := newRand(t)
	for range 500 {
		a := NewAccumulator(1)
		sum, exact := FromInt(0, 1), new(big.Rat)
		var xs []Interval
		prec := uint(1 + r.IntN(150))
		for range r.IntN(10) {
			x, y := randomSample(r, prec), randomSample(r, prec)
			a.Add(x.Interval)
			sum = sum.Add(x.Interval)
			a.AddMul(x.Interval, y.Interval)
			sum = sum.Add(x.Mul(y.Interval))
			exact.Add(exact, x.in).Add(exact, ratMul(x.in, y.in))
			xs = append(xs, x.Interval, x.Mul(y.Interval))
		}
		if got := a.Value(); !same(got, sum) || !got.Contains(exact) {
			t.Fatalf("accumulator holds %v, sum is %v, exactly %v", got, sum, exact)
		}
		a.Add(FromInt(0, 200))
		a.Add(FromRat(big.NewRat(1, 3), 200))
		if got := a.Value(); got.Prec() != 200 || !got.Contains(ratAdd(exact, big.NewRat(1, 3))) {
			t.Fatalf("after an operand of 200 bits the accumulator holds %v", got)
		}
		again := NewAccumulator(1)
		for _, x := range xs {
			again.Add(x)
		}
		if got := again.Value(); !same(got, sum) {
			t.Fatalf("the sum is %v, want %v", got, sum)
		}
	}
}

// TestValuesAreImmutable uses a value that the accumulator has handed out, and an operand that it
// has taken, after it went on.
func TestValuesAreImmutable(t *testing.T) {
	a := NewAccumulator(64)
	x := FromInt(3, 64)
	a.Add(x)
	before := a.Value()
	a.Add(x)
	a.AddMul(x, x)
	if c, ok := before.Cmp(FromInt(3, 64)); !ok || c != 0 {
		t.Errorf("an earlier value became %v", before)
	}
	if c, ok := x.Cmp(FromInt(3, 64)); !ok || c != 0 {
		t.Errorf("an operand became %v", x)
	}
	lo := big.NewFloat(1)
	n, p := NewInterval(lo, lo), Point(lo)
	lo.SetInt64(7)
	if n.Contains(big.NewRat(7, 1)) || p.Contains(big.NewRat(7, 1)) {
		t.Error("a constructor shares its argument")
	}
}

func TestConstructors(t *testing.T) {
	r := newRand(t)
	for range 3000 {
		prec := uint(1 + r.IntN(100))
		v := randomRat(r)
		if got, want := FromRat(v, prec), tightest(prec, []*big.Rat{v}, []*big.Rat{v}, func(x, _ *big.Rat) *big.Rat { return x }); !same(got, want) {
			t.Fatalf("FromRat(%v, %d) = %v, want %v", v, prec, got, want)
		}
		i := r.Int64() - r.Int64()
		iv := new(big.Rat).SetInt64(i)
		if got := FromInt(i, prec); !same(got, FromRat(iv, prec)) {
			t.Fatalf("FromInt(%d, %d) = %v", i, prec, got)
		}
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		fv := new(big.Rat).SetFloat64(f)
		if got := FromFloat(f, prec); !same(got, FromRat(fv, prec)) || prec >= 53 && !got.isPoint() {
			t.Fatalf("FromFloat(%g, %d) = %v", f, prec, got)
		}
		x := Hull(FromRat(v, prec), FromRat(fv, prec))
		lo, hi := x.Float64()
		if lo > hi || !math.IsInf(lo, 0) && x.lo.Cmp(big.NewFloat(lo)) < 0 || !math.IsInf(hi, 0) && x.hi.Cmp(big.NewFloat(hi)) > 0 {
			t.Fatalf("%v is not within [%g, %g]", x, lo, hi)
		}
		if s := x.SetPrec(1 + uint(r.IntN(20))); s.lo.Cmp(x.lo) > 0 || x.hi.Cmp(s.hi) > 0 {
			t.Fatalf("%v rounds to %v", x, s)
		}
	}
}

func TestDecisions(t *testing.T) {
	iv := func(lo, hi float64) Interval { return NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }
	for _, c := range []struct {
		x  Interval
		s  int
		ok bool
	}{
		{iv(1, 2), 1, true}, {iv(-2, -1), -1, true}, {iv(0, 0), 0, true},
		{iv(0, 1), 0, false}, {iv(-1, 0), 0, false}, {iv(-1, 1), 0, false},
	} {
		if s, ok := c.x.Sign(); s != c.s || ok != c.ok {
			t.Errorf("sign of %v is %d, %t", c.x, s, ok)
		}
	}
	for _, c := range []struct {
		x, y      Interval
		c         int
		ok        bool
		le, leOK  bool
		intersect bool
	}{
		{iv(1, 2), iv(3, 4), -1, true, true, true, false},
		{iv(3, 4), iv(1, 2), 1, true, false, true, false},
		{iv(1, 2), iv(2, 3), 0, false, true, true, true},
		{iv(2, 3), iv(1, 2), 0, false, false, false, true},
		{iv(1, 1), iv(1, 1), 0, true, true, true, true},
		{iv(1, 2), iv(1, 2), 0, false, false, false, true},
		{iv(1, 3), iv(2, 2), 0, false, false, false, true},
	} {
		if got, ok := c.x.Cmp(c.y); got != c.c || ok != c.ok {
			t.Errorf("%v cmp %v is %d, %t", c.x, c.y, got, ok)
		}
		if got, ok := c.x.LessEq(c.y); got != c.le || ok != c.leOK {
			t.Errorf("%v <= %v is %t, %t", c.x, c.y, got, ok)
		}
		if _, ok := c.x.Intersect(c.y); ok != c.intersect {
			t.Errorf("%v ∩ %v: %t", c.x, c.y, ok)
		}
	}
	// 1/3 is between two neighbors of one bit, but in neither point.
	third := big.NewRat(1, 3)
	if x := FromRat(third, 24); !x.Contains(third) || Point(x.Lo()).Contains(third) || Point(x.Hi()).Contains(third) {
		t.Errorf("1/3 in %v", x)
	}
}

// TestLimits goes to the exponents where big.Float overflows to infinity and underflows to 0 against
// its rounding mode.
func TestLimits(t *testing.T) {
	huge := Point(new(big.Float).SetMantExp(big.NewFloat(0.5), big.MaxExp))
	tiny := Point(new(big.Float).SetMantExp(big.NewFloat(0.5), big.MinExp))
	for _, c := range []struct {
		name string
		x    Interval
		sign int // of the value
		inf  bool
	}{
		{"huge²", huge.Mul(huge), 1, true},
		{"-huge²", huge.Mul(huge.Neg()), -1, true},
		{"huge/tiny", huge.Quo(tiny), 1, true},
		{"huge+huge", huge.Add(huge), 1, true},
		{"-huge-huge", huge.Neg().Sub(huge), -1, true},
		{"tiny²", tiny.Mul(tiny), 1, false},
		{"-tiny²", tiny.Mul(tiny.Neg()), -1, false},
		{"tiny/huge", tiny.Quo(huge), 1, false},
		{"tiny^3", tiny.Pow(3), 1, false},
		{"huge^-3", huge.Pow(-3), 1, false},
		{"exp(huge)", Exp(huge), 1, true},
		{"exp(-huge)", Exp(huge.Neg()), 1, false},
		{"exp(2^31)", ExpRat(big.NewRat(1<<31, 1), 64), 1, true},
		{"exp(-2^31)", ExpRat(big.NewRat(-1<<31, 1), 64), 1, false},
	} {
		lo, hi := c.x.lo, c.x.hi
		if c.sign < 0 {
			lo, hi = new(big.Float).Neg(hi), new(big.Float).Neg(lo)
		}
		if c.inf {
			if !isInf(hi, 1) || lo.IsInf() || lo.Cmp(huge.lo) < 0 {
				t.Errorf("%s = %v", c.name, c.x)
			}
		} else if lo.Sign() != 0 || hi.Sign() <= 0 || hi.Cmp(huge.inv().hi) > 0 {
			t.Errorf("%s = %v", c.name, c.x)
		}
	}
	// Unbounded ends.
	whole := wholeLine(64)
	zero := FromInt(0, 64)
	if x := whole.Mul(zero); !same(x, zero) {
		t.Errorf("0·(-Inf, Inf) = %v", x)
	}
	half := Interval{FromInt(2, 64).lo, whole.hi} // [2, Inf)
	for name, c := range map[string]struct{ got, want Interval }{
		"1/[2,Inf)":       {half.inv(), NewInterval(big.NewFloat(0), big.NewFloat(0.5))},
		"[2,Inf)/[2,Inf)": {half.Quo(half), Interval{zero.lo, whole.hi}},
		"-[2,Inf)+whole":  {half.Neg().Add(whole), whole},
		"whole²":          {whole.Pow(2), Interval{zero.lo, whole.hi}},
		"whole·whole":     {whole.Mul(whole), whole},
		"exp(whole)":      {Exp(whole), Interval{zero.lo, whole.hi}},
		"expm1(whole)":    {Expm1(whole), Interval{FromInt(-1, 64).lo, whole.hi}},
		"log([0,Inf))":    {Log(Interval{zero.lo, whole.hi}), whole},
	} {
		if !same(c.got, c.want) {
			t.Errorf("%s = %v, want %v", name, c.got, c.want)
		}
	}
	if half.Mid().Cmp(big.NewFloat(2)) != 0 || whole.Mid().Sign() != 0 || half.Neg().Mid().Cmp(big.NewFloat(-2)) != 0 {
		t.Error("middle of an unbounded interval")
	}
	if !whole.width().IsInf() || !math.IsInf(half.RelWidth(), 1) {
		t.Error("width of an unbounded interval")
	}
}

func TestMisusePanics(t *testing.T) {
	inf := new(big.Float).SetInf(false)
	for name, f := range map[string]func(){
		"reversed":   func() { NewInterval(big.NewFloat(2), big.NewFloat(1)) },
		"at +Inf":    func() { NewInterval(inf, inf) },
		"point +Inf": func() { Point(inf) },
		"NaN":        func() { FromFloat(math.NaN(), 53) },
		"float +Inf": func() { FromFloat(math.Inf(1), 53) },
		"precision":  func() { FromInt(1, 0) },
		"log 0":      func() { Log(FromInt(0, 53)) },
		"log -1":     func() { LogRat(big.NewRat(-1, 1), 53) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// The smallest big.Float is no infinity, as math/big's own conversion has it.
func TestFloat64OfTheLeastExponent(t *testing.T) {
	least := new(big.Float).SetPrec(64).SetMantExp(big.NewFloat(0.5), big.MinExp)
	lo, hi := Hull(FromInt(0, 64), Point(least)).Float64()
	if lo != 0 || hi != math.SmallestNonzeroFloat64 {
		t.Errorf("[0, 2^%d] in float64 is [%g, %g]", big.MinExp-1, lo, hi)
	}
	lo, hi = Hull(Point(new(big.Float).Neg(least)), FromInt(0, 64)).Float64()
	if lo != -math.SmallestNonzeroFloat64 || hi != 0 {
		t.Errorf("[-2^%d, 0] in float64 is [%g, %g]", big.MinExp-1, lo, hi)
	}
}

func (x Interval) encloses(y Interval) bool { return x.lo.Cmp(y.lo) <= 0 && y.hi.Cmp(x.hi) <= 0 }
