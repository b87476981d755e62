package number

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"optratio/internal/decimal"
)

func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is not a rational", s)
	}
	return r
}

func TestJSONAndString(t *testing.T) {
	exp := func(x int64, prec uint) Number { return Enclosed(ExpRat(big.NewRat(x, 2), prec)) }
	between := func(lo, hi string) Number { return Bounds(rat(t, lo), rat(t, hi)) }
	for _, c := range []struct {
		n            Number
		json, string string
	}{
		{Number{}, `null`, "-"},
		{Infinity(), `"inf"`, "inf"},
		{Estimate(0.25, "monte carlo"), `{"estimate":"0.25","method":"monte carlo"}`, "≈0.25"},
		{Estimate(math.Inf(-1), "quadrature"), `{"estimate":"-inf","method":"quadrature"}`, "≈-inf"},
		{Int(0), `{"lower":"0","upper":"0","exact":"0"}`, "0"},
		{Int(1), `{"lower":"1","upper":"1","exact":"1"}`, "1"},
		{Int(-1234567890123456789), `{"lower":"-1234567890123456789","upper":"-1234567890123456789","exact":"-1234567890123456789"}`, "-1234567890123456789"},
		{Exact(big.NewRat(4, 6)), `{"lower":"0.66666666666666666666","upper":"0.66666666666666666667","exact":"2/3"}`, "0.666666666666…"},
		{Exact(big.NewRat(-3, 4)), `{"lower":"-0.75","upper":"-0.75","exact":"-3/4"}`, "-0.75"},
		{Exact(rat(t, "-600471190/597437277")), `{"lower":"-1.0050782117500846872","upper":"-1.0050782117500846871","exact":"-600471190/597437277"}`, "-1.00507821175…"},
		{Exact(rat(t, "1000000000000000000001/3")), `{"lower":"333333333333333333330","upper":"333333333333333333340","exact":"1000000000000000000001/3"}`, "3.33333333333…e20"},
		{exp(1, 53), `{"lower":"1.6487212707001279721","upper":"1.6487212707001281942","exact":null}`, "1.64872127070…"},
		{between("1.0085801", "1.0085804"), `{"lower":"1.0085801","upper":"1.0085804","exact":null}`, "1.008580…"},
		{between("-1.0085804", "-1.0085801"), `{"lower":"-1.0085804","upper":"-1.0085801","exact":null}`, "-1.008580…"},
		{between("0.99999999", "1.00000002"), `{"lower":"0.99999999","upper":"1.00000002","exact":null}`, "1.00000000 ± 2e-8"},
		{between("0", "1e-12"), `{"lower":"0","upper":"1e-12","exact":null}`, "[0, 1e-12]"},
		{between("1/3", "2/3"), `{"lower":"0.33333333333333333333","upper":"0.66666666666666666667","exact":null}`, "[0.333333, 0.666667]"},
		{between("1/4", "1/4"), `{"lower":"0.25","upper":"0.25","exact":"1/4"}`, "0.25"},
		{Bounds(big.NewRat(3, 2), nil), `{"lower":"1.5","upper":"inf","exact":null}`, "[1.5, inf]"},
		{Bounds(nil, big.NewRat(3, 2)), `{"lower":"-inf","upper":"1.5","exact":null}`, "[-inf, 1.5]"},
		{Enclosed(wholeLine(64)), `{"lower":"-inf","upper":"inf","exact":null}`, "[-inf, inf]"},
		{exp(-1e10, 64), `{"lower":"0","upper":"1e-10000","exact":null}`, "[0, 1e-10000]"},
		{exp(1e10, 64), `{"lower":"9.9999999999999999999e10000","upper":"inf","exact":null}`, "[9.99999e10000, inf]"},
		{exp(80000, 64), `{"lower":"9.9999999999999999999e10000","upper":"inf","exact":null}`, "[9.99999e10000, inf]"},
	} {
		got, err := json.Marshal(c.n)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.json {
			t.Errorf("JSON of %v: %s, want %s", c.n, got, c.json)
		}
		if s := c.n.String(); s != c.string {
			t.Errorf("%s is written %s, want %s", got, s, c.string)
		}
		var back Number
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s reads back as %s, %v", got, again, err)
		}
	}
}

// randomBounds returns bounds of every magnitude, sign and width.
func randomBounds(r *rand.Rand) (lo, hi *big.Rat) {
	lo = big.NewRat(r.Int64()-r.Int64(), 1+r.Int64N(1<<uint(1+r.IntN(62))))
	if r.IntN(3) == 0 {
		lo.SetInt64(r.Int64N(2001) - 1000)
	}
	power := func(n int) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	if r.IntN(3) == 0 {
		lo.Quo(lo, power(r.IntN(50)))
	}
	w := new(big.Rat).Abs(lo)
	if w.Sign() == 0 {
		w.SetInt64(1)
	}
	w.Mul(w, big.NewRat(r.Int64N(1000), 100)).Quo(w, power(r.IntN(45)))
	if r.IntN(10) == 0 {
		w.SetInt64(0)
	}
	return lo, new(big.Rat).Add(lo, w)
}

// TestPrintedBounds checks that decimals enclose the bounds, and that they widen them no more than
// promised: by 1e-3 of the width or 1e-18 of the magnitude.
func TestPrintedBounds(t *testing.T) {
	const seed = 9
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		lo, hi := randomBounds(r)
		n := Bounds(lo, hi)
		lower, upper, ok := n.Strings()
		if !ok {
			t.Fatalf("[%v, %v] has no bounds", lo, hi)
		}
		l, err := decimal.Parse(lower)
		u, err2 := decimal.Parse(upper)
		if err != nil || err2 != nil || l.Cmp(lo) > 0 || u.Cmp(hi) < 0 {
			t.Fatalf("[%v, %v] became [%s, %s]: %v, %v", lo, hi, lower, upper, err, err2)
		}
		excess := new(big.Rat).Sub(u, l)
		excess.Add(excess, lo).Sub(excess, hi)
		width := new(big.Rat).Sub(hi, lo)
		magnitude := new(big.Rat).Abs(hi)
		if a := new(big.Rat).Abs(lo); a.Cmp(magnitude) > 0 {
			magnitude = a
		}
		limit := magnitude.Mul(magnitude, rat(t, "1e-18"))
		if w := width.Mul(width, rat(t, "1e-3")); w.Cmp(limit) > 0 {
			limit = w
		}
		if excess.Cmp(limit) > 0 {
			t.Fatalf("[%v, %v] became [%s, %s], too wide", lo, hi, lower, upper)
		}
	}
}

// TestOnlyCertainDigits reads the table form back and checks that it encloses the number.
func TestOnlyCertainDigits(t *testing.T) {
	const seed = 10
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	forms := map[string]int{}
	for range 3000 {
		lo, hi := randomBounds(r)
		n := Bounds(lo, hi)
		digits := 1 + r.IntN(15)
		s := n.Format(digits)
		var l, h *big.Rat
		switch {
		case strings.Contains(s, "…"):
			forms["…"]++
			// What stands before and after the ellipsis is a number cut towards 0, so one unit of
			// the last digit shown bounds what is left out.
			mantissa, exponent, _ := strings.Cut(s, "…")
			l = rat(t, mantissa+exponent)
			unit := "1"
			if _, fraction, ok := strings.Cut(mantissa, "."); ok {
				unit = "1e-" + big.NewInt(int64(len(fraction))).String()
			}
			h = rat(t, unit)
			if exponent != "" {
				h.Mul(h, rat(t, "1"+exponent))
			}
			if strings.HasPrefix(s, "-") {
				l, h = new(big.Rat).Sub(l, h), l
			} else {
				h.Add(h, l)
			}
			if shown := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0"); len(shown) > digits {
				t.Fatalf("[%v, %v] in %d digits is %s", lo, hi, digits, s)
			}
		case strings.Contains(s, "±"):
			forms["±"]++
			m, d, _ := strings.Cut(s, " ± ")
			l, h = rat(t, m), rat(t, m)
			l.Sub(l, rat(t, d))
			h.Add(h, rat(t, d))
		case strings.HasPrefix(s, "["):
			forms["[]"]++
			a, b, _ := strings.Cut(strings.Trim(s, "[]"), ", ")
			l, h = rat(t, a), rat(t, b)
		default:
			forms["exact"]++
			l, h = rat(t, s), rat(t, s)
		}
		if l.Cmp(lo) > 0 || h.Cmp(hi) < 0 {
			t.Fatalf("[%s, %s] is written %s with %d digits", lo.FloatString(30), hi.FloatString(30), s, digits)
		}
	}
	for _, f := range []string{"…", "±", "[]", "exact"} {
		if forms[f] < 10 {
			t.Errorf("the form %s came up %d times", f, forms[f])
		}
	}
}

func TestAccessors(t *testing.T) {
	third, half := big.NewRat(1, 3), big.NewRat(1, 2)
	exact, between := Exact(third), Bounds(third, half)
	third.SetInt64(7) // the numbers have copies
	if r, ok := exact.Rat(); !ok || r.Cmp(big.NewRat(1, 3)) != 0 {
		t.Errorf("exact value %v, %t", r, ok)
	}
	lo, ok := between.Lower()
	hi, ok2 := between.Upper()
	if !ok || !ok2 || lo.Cmp(big.NewRat(1, 3)) != 0 || hi.Cmp(half) != 0 {
		t.Errorf("bounds %v, %v", lo, hi)
	}
	lo.SetInt64(0)
	if again, _ := between.Lower(); again.Sign() == 0 {
		t.Error("Lower shares its result")
	}
	if _, ok := between.Rat(); ok {
		t.Error("an enclosure has an exact value")
	}
	estimate := Estimate(0.25, "m")
	for _, c := range []struct {
		n                    Number
		valid, inf, rigorous bool
		float                float64
	}{
		{Number{}, false, false, false, math.NaN()},
		{Infinity(), true, true, true, math.Inf(1)},
		{estimate, true, false, false, 0.25},
		{exact, true, false, true, 1.0 / 3},
		{between, true, false, true, 5.0 / 12},
		{Bounds(half, nil), true, false, true, 0.5},
		{Bounds(nil, half), true, false, true, 0.5},
		{Bounds(nil, nil), true, false, true, math.NaN()},
	} {
		f := c.n.Float64()
		if c.n.IsValid() != c.valid || c.n.IsInf() != c.inf || c.n.IsRigorous() != c.rigorous || f != c.float && !(math.IsNaN(f) && math.IsNaN(c.float)) {
			t.Errorf("%v: valid %t, inf %t, rigorous %t, float %g", c.n, c.n.IsValid(), c.n.IsInf(), c.n.IsRigorous(), f)
		}
	}
	if estimate.Method() != "m" || exact.Method() != "" {
		t.Error("methods")
	}
	if _, _, ok := estimate.Strings(); ok {
		t.Error("an estimate has bounds")
	}
	if l, u, ok := Infinity().Strings(); l != "inf" || u != "inf" || !ok {
		t.Errorf("bounds of infinity: %s, %s", l, u)
	}
	for name, f := range map[string]func(){
		"reversed":  func() { Bounds(half, big.NewRat(1, 3)) },
		"NaN":       func() { Estimate(math.NaN(), "m") },
		"no method": func() { Estimate(1, "") },
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

// TestExtremeEnds: ends that no rational should hold become outer bounds of every sign.
func TestExtremeEnds(t *testing.T) {
	end := func(sign float64, exp int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(sign), exp) }
	for _, c := range []struct {
		lo, hi       *big.Float
		lower, upper string
	}{
		{end(1, -2e9), end(1, 2e9), "0", "inf"},
		{end(-1, 2e9), end(-1, -2e9), "-inf", "0"},
		{end(-1, -2e9), end(1, -2e9), "-1e-10000", "1e-10000"},
		{end(1, 2e9), end(1, 2e9), "9.9999999999999999999e10000", "inf"},
		{end(-1, 2e9), end(-1, 2e9), "-inf", "-9.9999999999999999999e10000"},
	} {
		l, u, _ := Enclosed(NewInterval(c.lo, c.hi)).Strings()
		if l != c.lower || u != c.upper {
			t.Errorf("[%s, %s] became [%s, %s]", c.lo.Text('p', 3), c.hi.Text('p', 3), l, u)
		}
	}
}

func TestUnmarshalRejects(t *testing.T) {
	for _, s := range []string{
		`1`, `"1"`, `"-inf"`, `[]`, `{}`, `{"lower":"1"}`, `{"upper":"1"}`, `{"lower":"2","upper":"1"}`, `{"lower":"nan","upper":"1"}`,
		`{"lower":"1","upper":"nan"}`, `{"lower":1,"upper":2}`, `{"lower":"inf","upper":"inf"}`, `{"lower":"0","upper":"1","exact":"2"}`, `{"lower":"0","upper":"1","exact":"-1/2"}`,
		`{"lower":"0","upper":"1","exact":"1/0"}`, `{"lower":"0","upper":"1","exact":"0.5"}`, `{"lower":"1e99999","upper":"inf"}`, `{"estimate":"1"}`, `{"estimate":"x","method":"m"}`,
		`{"estimate":"1","method":""}`, `{"estimate":"nan","method":"m"}`, `{"estimate":"1e9999","method":"m"}`, `{"estimate":"1","method":"m","lower":"1","upper":"1"}`,
		`{"method":"m","lower":"1","upper":"1"}`,
	} {
		n := Int(5)
		if err := json.Unmarshal([]byte(s), &n); err == nil {
			t.Errorf("%s is taken for %v", s, n)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`null`, `"inf"`, `{"lower":"0.5","upper":"0.7","exact":null}`, `{"lower":"0.6","upper":"0.7","exact":"2/3"}`, `{"estimate":"0.5","method":"m"}`,
		`{"lower":"-inf","upper":"inf"}`, `{"lower":"1e-9999","upper":"1e10000"}`, `{"lower":".1","upper":".1"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var n Number
		if json.Unmarshal(data, &n) != nil {
			return
		}
		_ = n.String()
		first, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var back Number
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatalf("%s became %s: %v", data, first, err)
		}
		if l, ok := n.Lower(); ok {
			if b, ok := back.Lower(); ok && b.Cmp(l) > 0 {
				t.Fatalf("%s became %s", data, first)
			}
		}
		if u, ok := n.Upper(); ok {
			if b, ok := back.Upper(); ok && b.Cmp(u) < 0 {
				t.Fatalf("%s became %s", data, first)
			}
		}
	})
}

// Bounds that no decimal states are moved outward, whatever their sign.
func TestExtremeBounds(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100_000))
	tiny := new(big.Rat).Inv(huge)
	minus := func(x *big.Rat) *big.Rat { return new(big.Rat).Neg(x) }
	one := big.NewRat(1, 1)
	for _, c := range []struct {
		lo, hi       *big.Rat
		lower, upper string
	}{
		{one, huge, "1", "inf"}, {minus(huge), minus(one), "-inf", "-1"},
		{tiny, one, "0", "1"}, {minus(one), minus(tiny), "-1", "0"},
		{minus(one), tiny, "-1", "1e-10000"}, {minus(tiny), one, "-1e-10000", "1"},
	} {
		n := Bounds(c.lo, c.hi)
		lower, upper, ok := n.Strings()
		if !ok || lower != c.lower || upper != c.upper {
			t.Errorf("[%s, %s], want [%s, %s]", lower, upper, c.lower, c.upper)
		}
		if lo, ok := n.Lower(); ok && lo.Cmp(c.lo) > 0 {
			t.Errorf("%s: the lower bound was moved inward", n)
		}
		if hi, ok := n.Upper(); ok && hi.Cmp(c.hi) < 0 {
			t.Errorf("%s: the upper bound was moved inward", n)
		}
	}
	if n := Bounds(huge, huge); !n.IsRigorous() {
		t.Error("exact")
	} else if r, ok := n.Rat(); !ok || r.Cmp(huge) != 0 {
		t.Error("what is exact stays so")
	}
}
