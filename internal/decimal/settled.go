package decimal

import (
	"math/big"
	"regexp"
	"strings"
)

// quoted is a text in quotes, as package escape and JSON write those that others chose: what looks like a number there is none of ours.
const quoted = `"(?:[^"\\]|\\.)*"`

// between is a number m ± r.
var between = regexp.MustCompile(quoted + `|-?[0-9]+\.[0-9]+(?:e-?[0-9]+)? ± [0-9][0-9.]*(?:e-?[0-9]+)?`)

// Settled writes the numbers m ± r of a text as one decimal where a decimal of so many digits is between the ends, and these are closer than its last
// digit shows: 1 for 0.9999999999999994 ± 6e-16.
func Settled(text string, digits int) string {
	return between.ReplaceAllStringFunc(text, func(ends string) string {
		m, r, _ := strings.Cut(ends, " ± ")
		middle, ok := new(big.Rat).SetString(m)
		radius, also := new(big.Rat).SetString(r)
		if !ok || !also {
			return ends
		}
		short := Nearest(middle, digits)
		off, ok := new(big.Rat).SetString(short)
		if !ok || off.Sign() == 0 || new(big.Rat).Mul(radius, new(big.Rat).SetInt(pow10(digits))).Cmp(new(big.Rat).Abs(off)) >= 0 {
			return ends
		}
		if off.Sub(off, middle); off.Abs(off).Cmp(radius) > 0 {
			return ends
		}
		return short
	})
}
