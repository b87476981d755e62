package decimal

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	huge := strings.Repeat("9", MaxLength+1)
	for s, want := range map[string]string{
		"0.5": "1/2", "1e-3": "1/1000", "-2.5E4": "-25000", "+7": "7", "0": "0", "-0": "0", ".5": "1/2", "5.": "5",
		"00012.50": "25/2", "1E+2": "100", "0e10000": "0", "1e-0000000001": "1/10", "0.1": "1/10",
	} {
		got, err := Parse(s)
		if err != nil || got.RatString() != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", s, got, err, want)
		}
	}
	for s, want := range map[string]error{
		"": ErrSyntax, ".": ErrSyntax, "-": ErrSyntax, "e5": ErrSyntax, "nan": ErrSyntax, "NaN": ErrSyntax, "inf": ErrSyntax, "-Inf": ErrSyntax,
		"Infinity": ErrSyntax, "0x1": ErrSyntax, "1e": ErrSyntax, "1e+": ErrSyntax, "1e1.5": ErrSyntax, "1e5e5": ErrSyntax, "--1": ErrSyntax, "1.2.3": ErrSyntax,
		"1_000": ErrSyntax, " 1": ErrSyntax, "1 ": ErrSyntax, "1/2": ErrSyntax, "1,5": ErrSyntax, "٣": ErrSyntax, "1-": ErrSyntax, "0b1": ErrSyntax,
		"1e10001": ErrRange, "1e-10001": ErrRange, "0e99999999999999999999": ErrRange, huge: ErrRange,
	} {
		if got, err := Parse(s); !errors.Is(err, want) {
			t.Errorf("Parse(%.30q) = %v, %v, want %v", s, got, err, want)
		} else if len(err.Error()) > 120 {
			t.Errorf("Parse(%.30q): the message has %d bytes", s, len(err.Error()))
		}
	}
	if x, err := Parse("1e10000"); err != nil || x.Num().BitLen() != 33220 {
		t.Errorf("1e10000: %v", err)
	}
}

func TestParseFraction(t *testing.T) {
	for s, want := range map[string]string{
		"3/2": "3/2", "5": "5", "-6/4": "-3/2", "+1/3": "1/3", "0/7": "0", "-0": "0", "007/014": "1/2", "1/010": "1/10",
	} {
		got, err := ParseFraction(s)
		if err != nil || got.RatString() != want {
			t.Errorf("ParseFraction(%q) = %v, %v, want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", "/", "1/", "/2", "1/0", "1/-2", "1/+2", "1/2/3", "0.5", "1e3", "1.0/2", "0x1/2", " 1/2", "1 /2", "nan", "a/b"} {
		if got, err := ParseFraction(s); !errors.Is(err, ErrSyntax) {
			t.Errorf("ParseFraction(%q) = %v, %v", s, got, err)
		}
	}
	if _, err := ParseFraction("1/" + strings.Repeat("9", MaxLength)); !errors.Is(err, ErrRange) {
		t.Errorf("a long denominator: %v", err)
	}
}

func mustParse(t testing.TB, s string) *big.Rat {
	t.Helper()
	x, err := Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return x
}

// checkBounds checks the promise of Lower and Upper for x within the exponents: that they are bounds,
// that they are not more than a unit of the last digit apart, and that they are one where
// x has so few digits.
func checkBounds(t testing.TB, x *big.Rat, digits int) {
	t.Helper()
	lower, upper := Lower(x, digits), Upper(x, digits)
	lo, hi := mustParse(t, lower), mustParse(t, upper)
	if lo.Cmp(x) > 0 || hi.Cmp(x) < 0 {
		t.Fatalf("%v with %d digits is not in [%s, %s]", x, digits, lower, upper)
	}
	if lo.Cmp(hi) == 0 {
		return
	}
	if lo.Cmp(x) == 0 || hi.Cmp(x) == 0 {
		t.Fatalf("%v is a decimal of %d digits, but its bounds are %s and %s", x, digits, lower, upper)
	}
	// hi - lo <= 10^(1-digits)·|x|
	w := new(big.Rat).Sub(hi, lo)
	w.Mul(w, new(big.Rat).SetInt(pow10(digits-1)))
	if w.Cmp(new(big.Rat).Abs(x)) > 0 {
		t.Fatalf("%v with %d digits: [%s, %s] is too wide", x, digits, lower, upper)
	}
	near := mustParse(t, Nearest(x, digits))
	dist := func(y *big.Rat) *big.Rat { d := new(big.Rat).Sub(y, x); return d.Abs(d) }
	if near.Cmp(lo) != 0 && near.Cmp(hi) != 0 || dist(near).Cmp(dist(lo)) > 0 || dist(near).Cmp(dist(hi)) > 0 {
		t.Fatalf("%v with %d digits: %v is not the nearest of %s and %s", x, digits, near, lower, upper)
	}
}

func TestBoundsHold(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		x := big.NewRat(r.Int64()-r.Int64(), 1+r.Int64N(1<<uint(1+r.IntN(62))))
		switch r.IntN(4) {
		case 0: // around a power of ten, where the number of digits changes
			x.SetInt(pow10(r.IntN(40)))
			x.Add(x, big.NewRat(r.Int64N(3)-1, 1+r.Int64N(1000)))
		case 1:
			x.Quo(x, new(big.Rat).SetInt(pow10(r.IntN(400))))
		}
		if r.IntN(3) == 0 {
			x.Neg(x)
		}
		if x.Sign() != 0 {
			checkBounds(t, x, 1+r.IntN(30))
		}
		// A float is written as the rational that it is.
		f := new(big.Float).SetPrec(uint(1 + r.IntN(200))).SetRat(x)
		fr, _ := f.Rat(nil)
		if d := 1 + r.IntN(30); Lower(f, d) != Lower(fr, d) || Upper(f, d) != Upper(fr, d) || Nearest(f, d) != Nearest(fr, d) {
			t.Fatalf("%g and its rational are written differently with %d digits", f, d)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		x                     string
		digits                int
		lower, nearest, upper string
	}{
		{"0", 3, "0", "0", "0"},
		{"2/3", 3, "0.666", "0.667", "0.667"},
		{"-2/3", 3, "-0.667", "-0.667", "-0.666"},
		{"1/4", 1, "0.2", "0.2", "0.3"},
		{"7/20", 1, "0.3", "0.4", "0.4"},
		{"999/1000", 2, "0.99", "1", "1"},
		{"-999/1000", 2, "-1", "-1", "-0.99"},
		{"123456", 3, "123000", "123000", "124000"},
		{"12345/100", 5, "123.45", "123.45", "123.45"},
		{"1/10000000", 3, "0.0000001", "0.0000001", "0.0000001"},
		{"1/100000000", 3, "1e-8", "1e-8", "1e-8"},
		{"1/300000000", 3, "3.33e-9", "3.33e-9", "3.34e-9"},
		{"100000000000000000000", 3, "100000000000000000000", "100000000000000000000", "100000000000000000000"},
		{"1000000000000000000001", 3, "1e21", "1e21", "1.01e21"},
		{"-1000000000000000000001", 3, "-1.01e21", "-1e21", "-1e21"},
	} {
		x, ok := new(big.Rat).SetString(c.x)
		if !ok {
			t.Fatal(c.x)
		}
		if l, n, u := Lower(x, c.digits), Nearest(x, c.digits), Upper(x, c.digits); l != c.lower || n != c.nearest || u != c.upper {
			t.Errorf("%s with %d digits: %s, %s, %s, want %s, %s, %s", c.x, c.digits, l, n, u, c.lower, c.nearest, c.upper)
		}
	}
}

// TestExtremes: numbers beyond the exponents keep bounds that Parse accepts, or infinities.
func TestExtremes(t *testing.T) {
	power := func(n int) *big.Rat { return new(big.Rat).SetInt(pow10(n)) }
	small := func(n int) *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), pow10(n)) }
	float := func(sign float64, exp int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(sign), exp) }
	inf := new(big.Float).SetInf(false)
	for name, c := range map[string]struct{ got, want string }{
		"1e10000 down":         {Lower(power(10000), 3), "1e10000"},
		"1e10000 up":           {Upper(power(10000), 3), "1e10000"},
		"1e10001 down":         {Lower(power(10001), 3), "9.99e10000"},
		"1e10001 up":           {Upper(power(10001), 3), "inf"},
		"-1e10001 down":        {Lower(new(big.Rat).Neg(power(10001)), 3), "-inf"},
		"-1e10001 up":          {Upper(new(big.Rat).Neg(power(10001)), 3), "-9.99e10000"},
		"1e10001-1 up":         {Upper(new(big.Rat).Sub(power(10001), power(0)), 3), "inf"},
		"1e10001-1 down":       {Lower(new(big.Rat).Sub(power(10001), power(0)), 3), "9.99e10000"},
		"1e-10000 down":        {Lower(small(10000), 3), "1e-10000"},
		"1e-10001 down":        {Lower(small(10001), 3), "0"},
		"1e-10001 up":          {Upper(small(10001), 3), "1e-10000"},
		"-1e-10001 down":       {Lower(new(big.Rat).Neg(small(10001)), 3), "-1e-10000"},
		"-1e-10001 up":         {Upper(new(big.Rat).Neg(small(10001)), 3), "0"},
		"2^2000000000 down":    {Lower(float(1, 2e9), 2), "9.9e10000"},
		"2^2000000000 up":      {Upper(float(1, 2e9), 2), "inf"},
		"-2^2000000000 down":   {Lower(float(-1, 2e9), 2), "-inf"},
		"2^-2000000000 down":   {Lower(float(1, -2e9), 2), "0"},
		"2^-2000000000 up":     {Upper(float(1, -2e9), 2), "1e-10000"},
		"-2^-2000000000 down":  {Lower(float(-1, -2e9), 2), "-1e-10000"},
		"-2^-2000000000 up":    {Upper(float(-1, -2e9), 2), "0"},
		"2^-2000000000 nearer": {Nearest(float(1, -2e9), 2), "0"},
		"inf":                  {Lower(inf, 2), "inf"},
		"-inf":                 {Upper(new(big.Float).Neg(inf), 2), "-inf"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no digits: no panic")
		}
	}()
	Lower(inf, 0)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.5", "1e-3", "-2.5E4", "nan", "inf", "0x1", "", "1e10000", "1e99999999", ".", "5.", "+.5e+5", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s)
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrRange) {
				t.Fatalf("Parse(%q): %v", s, err)
			}
			return
		}
		// math/big accepts more than Parse, and agrees on what Parse accepts.
		if want, ok := new(big.Rat).SetString(s); !ok || x.Cmp(want) != 0 {
			t.Fatalf("Parse(%q) = %v, want %v", s, x, want)
		}
		// Printed with as many digits as it has, it is printed exactly, unless beyond the exponents.
		digits := len(s) + 1
		if l := Lower(x, digits); l == Upper(x, digits) {
			if y := mustParse(t, l); y.Cmp(x) != 0 {
				t.Fatalf("%q prints as %s", s, l)
			}
		} else if strings.ContainsAny(s, "eE") == false && len(s) < 9000 {
			t.Fatalf("%q has the bounds %s and %s", s, l, Upper(x, digits))
		}
	})
}

func FuzzParseFraction(f *testing.F) {
	for _, s := range []string{"3/2", "5", "-6/4", "1/0", "/", "1/-2", "1e5/2", "1/010"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseFraction(s)
		if err != nil {
			return
		}
		// p/q = x in decimal; big.Rat itself would take the denominator 010 for octal.
		num, den, ok := strings.Cut(s, "/")
		if !ok {
			den = "1"
		}
		p, ok := new(big.Int).SetString(num, 10)
		q, ok2 := new(big.Int).SetString(den, 10)
		if !ok || !ok2 || x.Cmp(new(big.Rat).SetFrac(p, q)) != 0 {
			t.Fatalf("ParseFraction(%q) = %v, want %v/%v", s, x, p, q)
		}
		if y, err := ParseFraction(x.RatString()); err != nil || y.Cmp(x) != 0 {
			t.Fatalf("ParseFraction(%q) = %v, which reads back as %v", s, x, y)
		}
	})
}

func FuzzBounds(f *testing.F) {
	f.Add(int64(2), int64(3), 0, 3)
	f.Add(int64(-999), int64(1000), 0, 2)
	f.Add(int64(1), int64(1), 300, 17)
	f.Add(int64(math.MinInt64), int64(7), -400, 40)
	f.Fuzz(func(t *testing.T, p, q int64, exp, digits int) {
		if p == 0 || q == 0 || exp < -2000 || exp > 2000 || digits < 1 || digits > 200 {
			return
		}
		x := new(big.Rat).SetFrac(big.NewInt(p), big.NewInt(q))
		scale := new(big.Rat).SetInt(pow10(max(exp, -exp)))
		if exp < 0 {
			scale.Inv(scale)
		}
		checkBounds(t, x.Mul(x, scale), digits)
	})
}

// Magnitudes whose powers of ten do not fit into memory are written all the same.
func TestPrintExtremes(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1<<31))
	tiny := new(big.Rat).Inv(huge)
	for _, c := range []struct{ got, want string }{
		{Upper(huge, 3), "inf"}, {Lower(huge, 3), "9.99e10000"}, {Lower(tiny, 3), "0"}, {Upper(tiny, 3), "1e-10000"},
		{Lower(new(big.Rat).Neg(tiny), 3), "-1e-10000"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1125899906842623": "1125899906842623", "1125899906842624": "about 1.1e15",
		"12345678901234567890123456789012345678901234567890123456": "about 1.2e55",
	} {
		x, _ := new(big.Int).SetString(text, 10)
		if got := Count(x); got != want {
			t.Errorf("Count(%s) = %s, want %s", text, got, want)
		}
	}
	if got := Count(nil); got != "unknown" {
		t.Errorf("Count(nil) = %s", got)
	}
}
