package number

import (
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/decimal"
)

// boundsBelow is the number of certain digits below which both bounds say more than the digits do.
const boundsBelow = 6

// tableDigits is the number of significant digits in tables.
const tableDigits = 12

// String returns n for a table, with up to 12 significant digits. See Format.
func (n Number) String() string { return n.Format(tableDigits) }

// Format returns n for people:
//
//	0.75              exactly
//	1.00858032288…    these are the leading digits, more are left out or unknown
//	1.25…e-30         likewise, times 10^-30
//	1.0000000 ± 3e-8  between the two
//	[1, 1.00941]      the bounds, where they have few digits in common
//	≈0.25             an estimate
//	inf               +∞
//
// Decimals, leading digits and estimates have at most the given number of significant digits, and no leading digit is
// shown that is not certain. The other forms do not depend on that number: integers of up to 63 bits are shown in full, bounds in up
// to 6 digits, and m ± r, which stands where no leading digits would tell what is known, up to the digit of r.
//
// It returns "-" for no number.
func (n Number) Format(digits int) string {
	switch n.kind {
	case none:
		return "-"
	case infinite:
		return "inf"
	case estimate:
		return "≈" + formatFloat(n.estimate, digits)
	}
	lo, hi := n.Ends()
	if r, ok := n.Rat(); ok {
		if r.IsInt() && r.Num().BitLen() < 64 {
			return r.RatString()
		}
		if s := decimal.Lower(r, digits); s == decimal.Upper(r, digits) {
			return s
		}
		if extreme(r) {
			return bounds(r, r)
		}
		return truncated(r, digits)
	}
	if lo == nil || hi == nil || lo.Sign()*hi.Sign() <= 0 || extreme(lo) || extreme(hi) {
		return bounds(lo, hi)
	}
	want := commonDigits(lo, hi)
	if want < min(digits, boundsBelow) {
		return bounds(lo, hi)
	}
	for d := min(digits, want); d > 0 && d >= min(digits, want)-2; d-- {
		if s := truncated(lo, d); s == truncated(hi, d) {
			return s
		}
	}
	return plusMinus(lo, hi)
}

// extreme reports whether x != 0 is beyond the exponents of package decimal.
func extreme(x *big.Rat) bool {
	a := new(big.Rat).Abs(x)
	return decimal.Lower(a, 1) == "0" || decimal.Upper(a, 1) == "inf"
}

// truncated returns x cut after so many significant digits, towards 0, followed by an ellipsis:
// "1.25…", "-1.25…e-30". No digit is shown that is not one of them.
func truncated(x *big.Rat, digits int) string {
	s := decimal.Lower(new(big.Rat).Abs(x), digits)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	switch {
	case scientific:
		s = pad(mantissa, digits) + "…e" + exponent
	case !strings.Contains(s, ".") && len(s) > digits:
		// The digits end before the decimal point.
		mantissa := s[:1]
		if digits > 1 {
			mantissa += "." + s[1:digits]
		}
		s = mantissa + "…e" + strconv.Itoa(len(s)-1)
	default:
		s = pad(s, digits) + "…"
	}
	if x.Sign() < 0 {
		return "-" + s
	}
	return s
}

// pad appends the zeros that package decimal leaves out, so that s shows so many significant
// digits.
func pad(s string, digits int) string {
	mantissa, exponent := s, ""
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		mantissa, exponent = s[:i], s[i:]
	}
	shown := strings.TrimLeft(strings.Replace(strings.TrimLeft(mantissa, "-"), ".", "", 1), "0")
	if missing := digits - len(shown); missing > 0 && mantissa != "0" {
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		mantissa += strings.Repeat("0", missing)
	}
	return mantissa + exponent
}

// plusMinus returns "m ± r" with lo >= m - r and hi <= m + r, where m has its last digit where r has
// its first one.
func plusMinus(lo, hi *big.Rat) string {
	m, ok := new(big.Rat).SetString(decimal.Nearest(middle(lo, hi), commonDigits(lo, hi)+1))
	if !ok {
		panic("number: a decimal that does not parse")
	}
	r := new(big.Rat).Sub(hi, m)
	if below := new(big.Rat).Sub(m, lo); below.Cmp(r) > 0 {
		r = below
	}
	return pad(decimal.Nearest(m, 1+commonDigits(lo, hi)), commonDigits(lo, hi)+1) + " ± " + decimal.Upper(r, 1)
}

func bounds(lo, hi *big.Rat) string {
	lower, upper := decimals(lo, hi, boundsBelow)
	return "[" + lower + ", " + upper + "]"
}
