package number

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFormats has the forms that a number takes at the limits between them.
func TestFormats(t *testing.T) {
	between := func(lo, hi string) Number { return Bounds(rat(t, lo), rat(t, hi)) }
	for _, c := range []struct {
		n      Number
		digits int
		want   string
	}{
		{Exact(rat(t, "3.7")), 1, "3…"},
		{Exact(rat(t, "-3.7")), 1, "-3…"},
		{Exact(rat(t, "3.7")), 2, "3.7"},
		{Exact(rat(t, "1/30")), 1, "0.03…"},
		{Exact(rat(t, "1000000000000000000001/3")), 1, "3…e20"},
		{Exact(rat(t, "1000000000000000000001/3")), 2, "3.3…e20"},
		{Exact(rat(t, "1/3000000000000000000000000000000")), 3, "3.33…e-31"},
		{Exact(rat(t, "-2/3000000000000000000000000000000")), 1, "-6…e-31"},
		{Exact(rat(t, "100000001/100000000")), 3, "1.00…"}, // zeros that are digits are shown
		{Exact(rat(t, "100.00001")), 5, "100.00…"},
		{Exact(rat(t, "100.00001")), 3, "100…"},
		{Exact(rat(t, "9223372036854775807")), 12, "9223372036854775807"}, // 63 bits: in full
		{Exact(rat(t, "-9223372036854775807")), 12, "-9223372036854775807"},
		{Exact(rat(t, "9223372036854775808")), 12, "9.22337203685…e18"},
		{Exact(rat(t, "1e10001")), 12, "[9.99999e10000, inf]"}, // beyond the exponents that are printed
		{Exact(rat(t, "-1e10001")), 12, "[-inf, -9.99999e10000]"},
		{Exact(rat(t, "1e-10001")), 12, "[0, 1e-10000]"},
		{between("1e10001", "2e10001"), 12, "[9.99999e10000, inf]"},
		{between("1", "1e10001"), 12, "[1, inf]"},
		{between("1.23455999", "1.23456001"), 12, "1.23456000 ± 1e-8"}, // the digits in common are three fewer than those known
		{between("1.23455990", "1.23455999"), 12, "1.2345599…"},
		{between("0", "1"), 12, "[0, 1]"},
		{between("-1", "0"), 12, "[-1, 0]"},
		{between("-1", "1"), 1, "[-1, 1]"},
		{between("2", "3"), 1, "2.5 ± 0.5"}, // m ± r, bounds and integers have the digits that they need, however few are asked for
		{between("0.99999999", "1.00000002"), 3, "1.00000000 ± 2e-8"},
		{between("1", "1.5"), 1, "1…"},
		{between("-1.2345", "7"), 1, "[-1.2345, 7]"},
		{Exact(rat(t, "1234567")), 1, "1234567"},
		{Exact(rat(t, "12345/10000")), 1, "1…"},
		{Bounds(nil, nil), 12, "[-inf, inf]"},
		{Estimate(1.0/3, "m"), 3, "≈0.333"},
		{Number{}, 3, "-"},
		{Infinity(), 3, "inf"},
	} {
		assert.Equal(t, c.want, c.n.Format(c.digits))
	}
	third := Exact(big.NewRat(1, 3))
	assert.Equal(t, third.Format(12), third.String())
}

// TestPlusMinus: around 1 there are no digits in common. The form "m ± r" has one digit of r, encloses the bounds, and is
// not wider than it must be: rounding m costs half a unit of r's digit and rounding r one unit.
func TestPlusMinus(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		below, above := big.NewRat(1+r.Int64N(400), 1e9), big.NewRat(1+r.Int64N(400), 1e9)
		center := big.NewRat(1, 1)
		if r.IntN(2) == 0 {
			center.Neg(center)
		}
		lo, hi := new(big.Rat).Sub(center, below), new(big.Rat).Add(center, above)
		s := Bounds(lo, hi).Format(12)
		m, d, ok := strings.Cut(s, " ± ")
		require.True(t, ok, s)
		middle, radius := rat(t, m), rat(t, d)
		assert.LessOrEqual(t, new(big.Rat).Sub(middle, radius).Cmp(lo), 0, "%s from %v", s, lo)
		assert.GreaterOrEqual(t, new(big.Rat).Add(middle, radius).Cmp(hi), 0, "%s to %v", s, hi)
		digit := strings.Trim(strings.Split(d, "e")[0], "0.")
		require.Len(t, digit, 1, s)
		unit := new(big.Rat).Quo(radius, rat(t, digit))
		widest := new(big.Rat).Sub(hi, lo)
		widest.Quo(widest, big.NewRat(2, 1)).Add(widest, unit.Mul(unit, big.NewRat(5, 2)))
		assert.LessOrEqual(t, radius.Cmp(widest), 0, "%s for [%s, %s]", s, lo.FloatString(10), hi.FloatString(10))
	}
}

// TestCommonDigits against powers of ten, which have -log10 of the relative width as it is, to within the digit that "about"
// leaves; and a sign changes nothing.
func TestCommonDigits(t *testing.T) {
	for _, c := range []struct {
		lo, hi string
		want   int
	}{{"1", "2", 0}, {"1", "100", 0}, {"1", "1.1", 1}, {"1", "1.001", 3}, {"999", "1000", 3}, {"1", "1.0000000001", 10}, {"-1", "1", 0}, {"0", "1", 0}, {"-1", "100", 0}} {
		lo, hi := rat(t, c.lo), rat(t, c.hi)
		got := commonDigits(lo, hi)
		assert.InDelta(t, c.want, got, 1, "[%s, %s]", c.lo, c.hi)
		if c.lo == "0" {
			assert.Equal(t, got, commonDigits(big.NewRat(1, 1000), hi), "widths are relative to the greater magnitude")
		}
		assert.Equal(t, got, commonDigits(new(big.Rat).Neg(hi), new(big.Rat).Neg(lo)), "[%s, %s]", c.lo, c.hi)
	}
}

func TestUnmarshalReplaces(t *testing.T) {
	for text, want := range map[string]Number{
		`null`:                         {},
		`"inf"`:                        Infinity(),
		`{"lower":"1","upper":"2"}`:    Bounds(big.NewRat(1, 1), big.NewRat(2, 1)),
		`{"lower":"1","upper":"1"}`:    Int(1),
		`{"lower":"-inf","upper":"2"}`: Bounds(nil, big.NewRat(2, 1)),
		`{"lower":"0.33","upper":"0.34","exact":"1/3"}`: Exact(big.NewRat(1, 3)),
		`{"lower":"0.5","upper":"0.6","exact":"1/2"}`:   Exact(big.NewRat(1, 2)), // the exact value at either end
		`{"lower":"0.4","upper":"0.5","exact":"1/2"}`:   Exact(big.NewRat(1, 2)),
		`{"estimate":"0.25","method":"m"}`:              Estimate(0.25, "m"),
		`{"estimate":"inf","method":"m"}`:               Estimate(Infinity().Float64(), "m"),
		`{"estimate":"-inf","method":"m"}`:              Estimate(-Infinity().Float64(), "m"),
	} {
		n := Int(5)
		require.NoError(t, json.Unmarshal([]byte(text), &n), text)
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(n)
		assert.Equal(t, string(a), string(b), text)
		assert.Equal(t, want.IsValid(), n.IsValid(), text)
	}
	for _, text := range []string{
		`{"estimate":"1","method":"m","upper":"1"}`, `{"estimate":"1","method":"m","lower":"1"}`, `{"estimate":"1","method":"m","exact":"1"}`,
		`{"lower":"1","upper":"2","method":"m"}`, `{"lower":"1","upper":"2","estimate":"1"}`, `{"exact":"1"}`, `{"lower":"1","exact":"1"}`,
	} {
		n := Int(5)
		assert.Error(t, json.Unmarshal([]byte(text), &n), text)
		r, ok := n.Rat()
		assert.True(t, ok && r.Cmp(big.NewRat(5, 1)) == 0, "%s changed the number to %v", text, n)
	}
}

// TestBoundsOfExtremeMagnitude: bounds beyond 2^±40000 are moved outward, to there, to 0 or to none; what lies within stays, however
// many digits it has.
func TestBoundsOfExtremeMagnitude(t *testing.T) {
	power := func(e int) *big.Rat {
		x := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
		if e < 0 {
			x.Inv(x)
		}
		return x
	}
	neg := func(x *big.Rat) *big.Rat { return new(big.Rat).Neg(x) }
	long := func(i int64) *big.Rat {
		den := new(big.Int).Lsh(big.NewInt(1), 50000)
		return new(big.Rat).SetFrac(new(big.Int).Add(den, big.NewInt(2*i+1)), den)
	}
	for name, c := range map[string]struct{ lo, hi, wantLo, wantHi *big.Rat }{
		"large":        {power(50000), power(60000), power(40000), nil},
		"large below":  {neg(power(60000)), neg(power(50000)), nil, neg(power(40000))},
		"small":        {power(-60000), power(-50000), new(big.Rat), power(-40000)},
		"small below":  {neg(power(-50000)), neg(power(-60000)), neg(power(-40000)), new(big.Rat)},
		"both":         {neg(power(60000)), power(60000), nil, nil},
		"moderate":     {power(-30000), power(30000), power(-30000), power(30000)},
		"at the limit": {power(-39990), power(39990), power(-39990), power(39990)},
		"just within":  {power(-40000), power(40000), power(-40000), power(40000)},
		"just beyond":  {power(40001), power(40002), power(40000), nil},
		"just below":   {power(-40002), power(-40001), new(big.Rat), power(-40000)},
		"long":         {long(1), long(2), long(1), long(2)},
		"zero":         {new(big.Rat), power(-50000), new(big.Rat), power(-40000)},
	} {
		n := Bounds(c.lo, c.hi)
		lo, ok := n.Lower()
		require.Equal(t, c.wantLo != nil, ok, name)
		assert.True(t, !ok || lo.Cmp(c.wantLo) == 0, "%s: lower bound", name)
		hi, ok := n.Upper()
		require.Equal(t, c.wantHi != nil, ok, name)
		assert.True(t, !ok || hi.Cmp(c.wantHi) == 0, "%s: upper bound", name)
	}
}
