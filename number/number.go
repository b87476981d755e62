package number

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"optratio/internal/decimal"
)

type kind uint8

const (
	none    kind = iota
	bounded      // lo <= value <= hi, where nil means no bound
	boxed        // the value is in box
	exact        // value = lo = hi
	estimate
	infinite
)

// Number is an immutable result. The zero value is not a number.
type Number struct {
	kind     kind
	lo, hi   *big.Rat
	box      Interval
	estimate float64
	method   string
}

// Exact returns the number r. It copies r.
func Exact(r *big.Rat) Number { return exactly(new(big.Rat).Set(r)) }

func exactly(r *big.Rat) Number { return Number{kind: exact, lo: r, hi: r} }

// Int returns the number i.
func Int(i int64) Number { return Exact(new(big.Rat).SetInt64(i)) }

// Bounds returns a number between lo and hi, which is Exact where they are equal. A nil bound is
// none. It panics if lo > hi. Different bounds of extreme magnitude, which no decimal here could state, are moved outward.
func Bounds(lo, hi *big.Rat) Number {
	if lo != nil && hi != nil {
		switch lo.Cmp(hi) {
		case 0:
			return Exact(lo)
		case 1:
			panic("number: lower bound above upper bound")
		}
	}
	return Number{kind: bounded, lo: stated(lo, false), hi: stated(hi, true)}
}

// stated returns a copy of the bound x, or an outer bound of extreme magnitude, or nil for none.
func stated(x *big.Rat, upper bool) *big.Rat {
	if x == nil {
		return nil
	}
	e := x.Num().BitLen() - x.Denom().BitLen() // 2^(e-1) < |x| < 2^(e+1)
	if x.Sign() != 0 && (e-1 >= maxExponent || e+1 <= -maxExponent) {
		return outward(x.Sign(), e > 0, upper)
	}
	return new(big.Rat).Set(x)
}

// Enclosed returns the number in x, with which it calculates in intervals, also where x is a point. Its rational bounds are x's ends, unless they are of extreme magnitude, which no decimal here could state:
// those are moved outward.
func Enclosed(x Interval) Number { return Number{kind: boxed, box: x} }

// Ends returns the bounds, nil where there is none. They must not be modified.
func (n Number) Ends() (lo, hi *big.Rat) {
	if n.kind == boxed {
		return finite(n.box.lo, false), finite(n.box.hi, true)
	}
	return n.lo, n.hi
}

// maxExponent bounds the binary exponents that are worth a rational: 2^maxExponent exceeds
// 10^decimal.MaxExponent.
const maxExponent = 4 * decimal.MaxExponent

// finite returns the end x of an interval as a rational, or an outer bound of it, or nil for none.
func finite(x *big.Float, upper bool) *big.Rat {
	if x.IsInf() {
		return nil
	}
	if e := x.MantExp(nil); e > maxExponent || e < -maxExponent {
		return outward(x.Sign(), e > 0, upper)
	}
	r, _ := x.Rat(nil)
	return r
}

// outward returns the outer bound of a number of the given sign whose magnitude is at least 2^maxExponent, or at most 2^-maxExponent.
func outward(sign int, large, upper bool) *big.Rat {
	outer := upper == (sign > 0) // away from 0
	switch {
	case large && outer:
		return nil
	case large:
		return pow2(sign, maxExponent)
	case outer:
		return pow2(sign, -maxExponent)
	}
	return new(big.Rat)
}

func pow2(sign, e int) *big.Rat {
	r, _ := new(big.Float).SetMantExp(big.NewFloat(float64(sign)), e).Rat(nil)
	return r
}

// Estimate returns a number that is not rigorous, with the method that gave it. An infinite f is an
// estimate all the same. It panics if f is NaN or the method is empty.
func Estimate(f float64, method string) Number {
	if math.IsNaN(f) || method == "" {
		panic("number: an estimate needs a value and a method")
	}
	return Number{kind: estimate, estimate: f, method: method}
}

// Infinity returns +∞.
func Infinity() Number { return Number{kind: infinite} }

// IsValid reports whether n is a number, that is not the zero value.
func (n Number) IsValid() bool { return n.kind != none }

// IsInf reports whether n is +∞.
func (n Number) IsInf() bool { return n.kind == infinite }

// IsRigorous reports whether n is exact, enclosed or +∞, not an estimate.
func (n Number) IsRigorous() bool { return n.kind != none && n.kind != estimate }

// Rat returns the exact value, and whether there is one.
func (n Number) Rat() (r *big.Rat, ok bool) {
	lo, hi := n.Ends()
	if lo == nil || hi == nil || lo != hi && lo.Cmp(hi) != 0 {
		return nil, false
	}
	return new(big.Rat).Set(lo), true
}

// Lower returns the lower bound; ok is false if there is none, as for estimates and +∞.
func (n Number) Lower() (r *big.Rat, ok bool) {
	lo, _ := n.Ends()
	return bound(lo)
}

// Upper returns the upper bound; ok is false if there is none.
func (n Number) Upper() (r *big.Rat, ok bool) {
	_, hi := n.Ends()
	return bound(hi)
}

func bound(r *big.Rat) (*big.Rat, bool) {
	if r == nil {
		return nil, false
	}
	return new(big.Rat).Set(r), true
}

// Method returns the method of an estimate, and "" for other numbers.
func (n Number) Method() string { return n.method }

// Float64 returns a float near n: the middle of the bounds, the only bound, the estimate, +Inf for
// infinity, NaN for no number and for a number without bounds.
func (n Number) Float64() float64 {
	lo, hi := n.Ends()
	switch {
	case n.kind == estimate:
		return n.estimate
	case n.kind == infinite:
		return math.Inf(1)
	case lo == nil && hi == nil:
		return math.NaN()
	}
	r := lo
	switch {
	case lo == nil:
		r = hi
	case hi != nil && lo != hi:
		r = middle(lo, hi)
	}
	f, _ := r.Float64()
	return f
}

func middle(lo, hi *big.Rat) *big.Rat {
	m := new(big.Rat).Add(lo, hi)
	return m.Mul(m, big.NewRat(1, 2))
}

// minDigits is the number of significant digits of a printed bound, and maxDigits the most that a
// narrow enclosure makes of it.
const (
	minDigits = 20
	maxDigits = 60
)

// Strings returns the bounds as decimals rounded outward, "-inf" or "inf" where there is
// none. Outward rounding widens an enclosure by less than 1e-3 of its width, or by less than
// 1e-18 of its magnitude where that is more. ok is false for estimates and for no number.
func (n Number) Strings() (lower, upper string, ok bool) {
	switch n.kind {
	case none, estimate:
		return "", "", false
	case infinite:
		return "inf", "inf", true
	}
	lo, hi := n.Ends()
	lower, upper = decimals(lo, hi, digits(lo, hi))
	return lower, upper, true
}

// decimals returns decimals of so many digits around the bounds.
func decimals(lo, hi *big.Rat, digits int) (lower, upper string) {
	lower, upper = "-inf", "inf"
	if lo != nil {
		lower = decimal.Lower(lo, digits)
	}
	if hi != nil {
		upper = decimal.Upper(hi, digits)
	}
	return lower, upper
}

// digits returns the number of digits of the bounds: four more than the bounds have in common,
// within the limits.
func digits(lo, hi *big.Rat) int {
	if lo == nil || hi == nil || lo.Cmp(hi) == 0 {
		return minDigits
	}
	return min(max(commonDigits(lo, hi)+4, minDigits), maxDigits)
}

// commonDigits returns about -log10 of the relative width of [lo, hi], and 0 where that is
// not positive; lo < hi.
func commonDigits(lo, hi *big.Rat) int {
	w := new(big.Rat).Sub(hi, lo)
	m := new(big.Rat).Abs(hi)
	if a := new(big.Rat).Abs(lo); a.Cmp(m) > 0 {
		m = a
	}
	m.Quo(m, w)
	bits := m.Num().BitLen() - m.Denom().BitLen() + 1
	return max(0, int(float64(bits)*math.Log10(2))+1)
}

// The JSON forms. The pointers tell null from absent fields.
type enclosureJSON struct {
	Lower string  `json:"lower"`
	Upper string  `json:"upper"`
	Exact *string `json:"exact"`
}

type estimateJSON struct {
	Estimate string `json:"estimate"`
	Method   string `json:"method"`
}

// MarshalJSON writes the form in the package documentation.
func (n Number) MarshalJSON() ([]byte, error) {
	switch n.kind {
	case none:
		return []byte("null"), nil
	case infinite:
		return []byte(`"inf"`), nil
	case estimate:
		return json.Marshal(estimateJSON{formatFloat(n.estimate, -1), n.method})
	}
	var j enclosureJSON
	j.Lower, j.Upper, _ = n.Strings()
	if r, ok := n.Rat(); ok {
		s := r.RatString()
		j.Exact = &s
	}
	return json.Marshal(j)
}

// formatFloat returns f with the given number of significant digits, -1 for as many as tell it from
// other floats.
func formatFloat(f float64, digits int) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

// UnmarshalJSON reads what MarshalJSON writes. Bounds come back as the decimals say, exact values
// exactly. Equal bounds make it exact, whether or not
// that is said. It is an error if lower exceeds upper or if they do not enclose the exact value.
func (n *Number) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "null":
		*n = Number{}
		return nil
	case `"inf"`:
		*n = Infinity()
		return nil
	}
	var j struct {
		Lower, Upper, Exact, Estimate, Method *string
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("not a number object: %w", err)
	}
	var err error
	switch {
	case j.Estimate != nil && j.Lower == nil && j.Upper == nil && j.Exact == nil:
		*n, err = parseEstimate(*j.Estimate, j.Method)
	case j.Estimate == nil && j.Method == nil && j.Lower != nil && j.Upper != nil:
		*n, err = parseEnclosure(*j.Lower, *j.Upper, j.Exact)
	default:
		err = errors.New("a number object has lower and upper, or estimate and method")
	}
	return err
}

func parseEstimate(s string, method *string) (Number, error) {
	if method == nil || *method == "" {
		return Number{}, errors.New("an estimate has a method")
	}
	switch s {
	case "inf":
		return Estimate(math.Inf(1), *method), nil
	case "-inf":
		return Estimate(math.Inf(-1), *method), nil
	}
	if _, err := decimal.Parse(s); err != nil {
		return Number{}, fmt.Errorf("estimate: %w", err)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Number{}, fmt.Errorf("estimate: %w", err)
	}
	return Estimate(f, *method), nil
}

func parseEnclosure(lower, upper string, ratio *string) (Number, error) {
	var lo, hi *big.Rat
	var err error
	if lower != "-inf" {
		if lo, err = decimal.Parse(lower); err != nil {
			return Number{}, fmt.Errorf("lower: %w", err)
		}
	}
	if upper != "inf" {
		if hi, err = decimal.Parse(upper); err != nil {
			return Number{}, fmt.Errorf("upper: %w", err)
		}
	}
	if lo != nil && hi != nil && lo.Cmp(hi) > 0 {
		return Number{}, fmt.Errorf("lower %s exceeds upper %s", lower, upper)
	}
	if ratio == nil {
		return Bounds(lo, hi), nil
	}
	r, err := decimal.ParseFraction(*ratio)
	if err != nil {
		return Number{}, fmt.Errorf("exact: %w", err)
	}
	if lo != nil && r.Cmp(lo) < 0 || hi != nil && r.Cmp(hi) > 0 {
		return Number{}, fmt.Errorf("exact %s is not between %s and %s", *ratio, lower, upper)
	}
	return Exact(r), nil
}
