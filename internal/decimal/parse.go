// Package decimal reads exact decimals and fractions, and writes numbers as decimals that are
// rounded in a stated direction.
//
// Reading is exact: "0.1" is 1/10. Writing keeps its promise against reading it back:
//
//	Parse(Lower(x, d)) <= x <= Parse(Upper(x, d))
//
// for every finite x and every d >= 1, with two exceptions at the limits: what exceeds
// every decimal that Parse accepts is written "inf" or "-inf". The texts are also what
// Python's Decimal reads.
//
// Parse accepts no NaN, no infinities, no hexadecimal, no underscores and no spaces,
// and bounds the work that a hostile text can cause.
package decimal

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Limits of what Parse and ParseFraction accept.
const (
	MaxExponent = 10000   // the largest magnitude of a written exponent
	MaxLength   = 1 << 17 // the longest text in bytes
)

// Errors that Parse and ParseFraction wrap.
var (
	ErrSyntax = errors.New("not a decimal number")
	ErrRange  = errors.New("too long or exponent too large")
)

// Parse returns the exact value of a decimal: an optional sign, digits with an optional point
// (at least one digit), and optionally e or E with a signed exponent. The error wraps ErrSyntax, or
// ErrRange for a text beyond MaxLength or an exponent beyond MaxExponent.
func Parse(s string) (*big.Rat, error) {
	if len(s) > MaxLength {
		return nil, rangeError(s)
	}
	mantissa, exponent, hasExponent := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = s[:i], s[i+1:], true
	}
	negative, unsigned := cutSign(mantissa)
	whole, fraction, _ := strings.Cut(unsigned, ".")
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return nil, syntaxError(s)
	}
	e := 0
	if hasExponent {
		minus, digits := cutSign(exponent)
		if digits == "" || !allDigits(digits) {
			return nil, syntaxError(s)
		}
		digits = strings.TrimLeft(digits, "0")
		if len(digits) > len(strconv.Itoa(MaxExponent)) {
			return nil, rangeError(s)
		}
		if digits != "" {
			e, _ = strconv.Atoi(digits) // a few digits: cannot fail
		}
		if e > MaxExponent {
			return nil, rangeError(s)
		}
		if minus {
			e = -e
		}
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, syntaxError(s)
	}
	if negative {
		n.Neg(n)
	}
	if n.Sign() == 0 {
		return new(big.Rat), nil
	}
	if e -= len(fraction); e >= 0 {
		return new(big.Rat).SetInt(n.Mul(n, pow10(e))), nil
	}
	return new(big.Rat).SetFrac(n, pow10(-e)), nil
}

// ParseFraction returns the exact value of "p/q", q > 0, or of an integer "p": an optional sign
// and digits, without point or exponent. The fraction need not be in lowest terms. Errors are as
// for Parse.
func ParseFraction(s string) (*big.Rat, error) {
	if len(s) > MaxLength {
		return nil, rangeError(s)
	}
	num, den, hasDen := strings.Cut(s, "/")
	negative, num := cutSign(num)
	if num == "" || !allDigits(num) || hasDen && (den == "" || !allDigits(den)) {
		return nil, fmt.Errorf("%w: %s is not a fraction p/q", ErrSyntax, quote(s))
	}
	p, _ := new(big.Int).SetString(num, 10) // digits only: cannot fail
	q := big.NewInt(1)
	if hasDen {
		q.SetString(den, 10)
	}
	if q.Sign() == 0 {
		return nil, fmt.Errorf("%w: %s has denominator 0", ErrSyntax, quote(s))
	}
	if negative {
		p.Neg(p)
	}
	return new(big.Rat).SetFrac(p, q), nil
}

// ParseNumber reads a fraction "p/q" as ParseFraction does, and anything else as Parse does.
func ParseNumber(s string) (*big.Rat, error) {
	if strings.Contains(s, "/") {
		return ParseFraction(s)
	}
	return Parse(s)
}

func syntaxError(s string) error { return fmt.Errorf("%w: %s", ErrSyntax, quote(s)) }

func rangeError(s string) error { return fmt.Errorf("%w: %s", ErrRange, quote(s)) }

// quote returns s for an error message, cut to a readable length.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.Quote(strings.ToValidUTF8(s[:40], "")) + "..."
	}
	return strconv.Quote(s)
}

func cutSign(s string) (negative bool, rest string) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[0] == '-', s[1:]
	}
	return false, s
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// pow10 returns 10^n for n >= 0.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
