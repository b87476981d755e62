package evidence

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/decimal"
)

// Limits on the numbers of a certificate, so that no text causes work out of
// proportion to its length. Claims may be long: the exact error of the exponential
// mechanism has a denominator of many thousand digits already on moderate lattices.
const (
	MaxBodyLength  = 1 << 16 // bytes of a multiplier or an injection
	maxClaimLength = 1 << 18 // bytes of an end of a claim
	maxHexExponent = 1 << 14 // magnitude of a binary exponent
)

// MaxEpsilonBits is how many bits either part of ε or e^ε may have.
const MaxEpsilonBits = 1 << 12

var (
	errNumber = errors.New("not a number of the form that the format prescribes")
	errLong   = errors.New("number too long")
)

// ParseRational reads p/q in lowest terms with q > 1, or an integer p, in the one spelling that each
// rational has.
func ParseRational(s string) (*big.Rat, error) {
	num, den, fraction := strings.Cut(s, "/")
	digits := strings.TrimPrefix(num, "-")
	if !CanonicalDigits(digits) || num == "-0" || fraction && (!CanonicalDigits(den) || den == "0" || den == "1") {
		return nil, errNumber
	}
	p, _ := new(big.Int).SetString(num, 10) // digits only: cannot fail
	if !fraction {
		return new(big.Rat).SetInt(p), nil
	}
	q, _ := new(big.Int).SetString(den, 10)
	r := new(big.Rat).SetFrac(p, q)
	if r.Denom().Cmp(q) != 0 {
		return nil, fmt.Errorf("%s is not in lowest terms", Quote(s))
	}
	return r, nil
}

func CanonicalDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s == "0" || s != "" && s[0] != '0'
}

// parseDyadic reads a hexadecimal float as big.Float writes it in its formats 'x' and 'p' with
// the fewest digits.
func parseDyadic(s string) (*big.Rat, error) {
	mantissa, exponent, ok := strings.Cut(strings.TrimPrefix(s, "-"), "p")
	if !ok || !strings.HasPrefix(mantissa, "0x") {
		return nil, errNumber
	}
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return nil, errNumber
	}
	if e > maxHexExponent || e < -maxHexExponent {
		return nil, fmt.Errorf("%s has an exponent beyond ±%d", Quote(s), maxHexExponent)
	}
	f, _, err := big.ParseFloat(s, 0, uint(4*len(mantissa)), big.ToZero)
	if err != nil || f.Text('x', -1) != s && f.Text('p', -1) != s {
		return nil, errNumber
	}
	r, _ := f.Rat(nil)
	if r.Sign() == 0 && s[0] == '-' {
		return nil, errNumber
	}
	return r, nil
}

// ParseValue reads a rational or a dyadic number of at most the given length.
func ParseValue(s string, length int) (*big.Rat, error) {
	if len(s) > length {
		return nil, errLong
	}
	if strings.Contains(s, "x") {
		return parseDyadic(s)
	}
	return ParseRational(s)
}

// ParseClaimed reads an end of a claim, which may also be a decimal.
func ParseClaimed(s string) (*big.Rat, error) {
	if r, err := ParseValue(s, maxClaimLength); err == nil || !strings.ContainsAny(s, ".eE") || strings.Contains(s, "x") {
		return r, err
	}
	return decimal.Parse(s)
}

// Quote returns s for a message, cut to a readable length.
func Quote(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "..."
	}
	return strconv.Quote(s)
}

// Shown is quote for JSON, which has quotation marks of its own.
func Shown(s string) string {
	text, rest := strings.CutSuffix(Quote(s), "...")
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	if rest {
		text += "…"
	}
	return text
}

// maxCommonBits bounds common denominators.
const maxCommonBits = 1 << 17

// Common returns the numerators of numbers over a common denominator.
func (e *Effort) Common(xs []*big.Rat) (num []*big.Int, den *big.Int) {
	den = big.NewInt(1)
	for _, x := range xs {
		if e.Multiply(den.BitLen(), x.Denom().BitLen()); x.IsInt() {
			continue
		}
		if den = LCM(den, x.Denom()); den.BitLen() > maxCommonBits {
			Limit("no common denominator of at most %d bits", maxCommonBits)
		}
	}
	for _, x := range xs {
		e.Multiply(den.BitLen(), x.Num().BitLen())
		n := new(big.Int).Quo(den, x.Denom())
		num = append(num, n.Mul(n, x.Num()))
	}
	return num, new(big.Int).Set(den)
}

// LCM returns the least common multiple, a itself where that is it.
func LCM(a, b *big.Int) *big.Int {
	rest := new(big.Int)
	if rest.Rem(a, b).Sign() == 0 {
		return a
	}
	g := rest.GCD(nil, nil, a, b)
	return g.Mul(a, g.Quo(b, g))
}

// Power returns x^n.
func Power(x int, n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(n), nil)
}

// List writes rationals for people.
func List(xs []*big.Rat) string {
	var out []string
	for _, x := range xs {
		out = append(out, x.RatString())
	}
	return strings.Join(out, ", ")
}
