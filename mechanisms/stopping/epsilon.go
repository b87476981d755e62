package stopping

import (
	"fmt"
	"math/big"

	"optratio/number"
	"optratio/number/interval"
)

// Epsilon is a privacy parameter ε >= 0, known as the exact rational ε (then
// e^ε is transcendental unless ε = 0) or by the exact rational e^ε >= 1.
type Epsilon struct {
	eps *big.Rat // nil where e^ε is the rational one
	exp *big.Rat // nil where it is transcendental
}

// maxEpsilon keeps e^ε printable; far larger values say nothing about privacy.
const maxEpsilon = 10_000

// Eps returns the Epsilon with the given exact ε, 0 <= ε <= 10000.
func Eps(eps *big.Rat) (Epsilon, error) {
	if eps.Sign() < 0 || eps.Cmp(big.NewRat(maxEpsilon, 1)) > 0 {
		return Epsilon{}, fmt.Errorf("ε: %w, need 0 to %d", ErrRange, maxEpsilon)
	}
	e := Epsilon{eps: new(big.Rat).Set(eps)}
	if eps.Sign() == 0 {
		e.exp = big.NewRat(1, 1)
	}
	return e, nil
}

// ExpEps returns the Epsilon with the given exact e^ε >= 1.
func ExpEps(exp *big.Rat) (Epsilon, error) {
	if exp.Cmp(big.NewRat(1, 1)) < 0 {
		return Epsilon{}, fmt.Errorf("e^ε: %w, need at least 1", ErrRange)
	}
	return Epsilon{exp: new(big.Rat).Set(exp)}, nil
}

// Rational returns e^ε where it is known to be rational, nil otherwise.
func (e Epsilon) Rational() *big.Rat { return e.exp }

// Bounds returns rational bounds for e^ε of about prec bits, equal where e^ε is rational.
func (e Epsilon) Bounds(prec uint) (lo, hi *big.Rat) {
	if e.exp != nil {
		return e.exp, e.exp
	}
	x := interval.ExpRat(e.eps, prec)
	lo, _ = x.Lo().Rat(nil)
	hi, _ = x.Hi().Rat(nil)
	if one := big.NewRat(1, 1); lo.Cmp(one) < 0 {
		lo = one
	}
	return lo, hi
}

// Sign returns the sign of a - e^ε·b. It always ends: where e^ε is
// transcendental (Lindemann 1882) the difference of rationals a, b with
// b != 0 is never 0, so some enclosure of e^ε shows the sign.
func (e Epsilon) Sign(a, b *big.Rat) int {
	if b.Sign() == 0 {
		return a.Sign()
	}
	if a.Sign() != b.Sign() {
		return a.Cmp(b)
	}
	ratio := new(big.Rat).Quo(a, b) // a - e^ε b has the sign of b·(a/b - e^ε)
	for prec := uint(64); ; prec *= 2 {
		lo, hi := e.Bounds(prec)
		switch {
		case ratio.Cmp(hi) > 0:
			return b.Sign()
		case ratio.Cmp(lo) < 0:
			return -b.Sign()
		case lo.Cmp(hi) == 0:
			return 0
		}
	}
}

// String returns "ε = …" or "e^ε = …".
func (e Epsilon) String() string {
	if e.eps != nil {
		return "ε = " + e.eps.RatString()
	}
	return "e^ε = " + e.exp.RatString()
}

// logBits is the precision of printed logarithms and of e^ε in printed enclosures.
const logBits = 192

// logBetween returns the number object for ln x, where lo <= x <= hi and lo >= 1; nil stands for +∞.
func logBetween(lo, hi *big.Rat) number.Number {
	if lo == nil {
		return number.Infinity()
	}
	one := big.NewRat(1, 1)
	if hi != nil && hi.Cmp(one) == 0 {
		return number.Exact(new(big.Rat))
	}
	a := interval.LogRat(lo, logBits)
	b := a
	if hi == nil {
		b = interval.New(a.Hi(), new(big.Float).SetInf(false))
	} else if hi.Cmp(lo) != 0 {
		b = interval.LogRat(hi, logBits)
	}
	return number.Enclosed(interval.Hull(a, b))
}
