package lp

import (
	"math/big"

	"optratio/number/arith"
	"optratio/number/interval"
)

// ordered is a Field whose numbers can be compared: exactly, or as enclosures of numbers
// that exact arithmetic would have produced.
type ordered[T any] interface {
	arith.Field[T]
	Max(a, b T) T
	Min(a, b T) T
	// Floor and Ceil return rationals not above and not below the number, nil where there is none.
	Floor(a T) *big.Rat
	Ceil(a T) *big.Rat
	// Negative reports whether the number may be below 0.
	Negative(a T) bool
}

type exactNumbers struct{ arith.Rat }

func (exactNumbers) Max(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

func (exactNumbers) Min(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func (exactNumbers) Floor(a *big.Rat) *big.Rat { return a }
func (exactNumbers) Ceil(a *big.Rat) *big.Rat  { return a }
func (exactNumbers) Negative(a *big.Rat) bool  { return a.Sign() < 0 }

type enclosedNumbers struct{ arith.Interval }

func (enclosedNumbers) Max(a, b interval.Interval) interval.Interval { return a.Max(b) }
func (enclosedNumbers) Min(a, b interval.Interval) interval.Interval { return a.Min(b) }
func (enclosedNumbers) Floor(a interval.Interval) *big.Rat           { return ratOf(a.Lo(), false) }
func (enclosedNumbers) Ceil(a interval.Interval) *big.Rat            { return ratOf(a.Hi(), true) }
func (enclosedNumbers) Negative(a interval.Interval) bool            { return a.Lo().Sign() < 0 }

// maxRatExponent bounds the binary exponents that are worth a rational of that length.
const maxRatExponent = 1 << 20

// ratOf returns a float as a rational, or a coarse bound of it from below (up false) or above where
// its exponent is extreme; nil stands for an infinite one.
func ratOf(x *big.Float, up bool) *big.Rat {
	switch exponent := x.MantExp(nil); {
	case x.IsInf() || exponent > maxRatExponent:
		return nil
	case exponent >= -maxRatExponent:
		r, _ := x.Rat(nil)
		return r
	case (x.Sign() > 0) != up:
		return new(big.Rat)
	}
	tiny := new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, maxRatExponent))
	if x.Sign() < 0 {
		tiny.Neg(tiny)
	}
	return tiny
}
