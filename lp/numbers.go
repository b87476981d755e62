package lp

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// ordered is a Field whose numbers can be compared: exactly, or as enclosures of numbers
// that exact arithmetic would have produced.
type ordered[T any] interface {
	arith.Field[T]
	Max(a, b T) T
	Min(a, b T) T
	// Floor and Ceil return rationals not above and not below the number, nil where there is none, and coarse ones beyond the
	// exponents that package number states.
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

func (enclosedNumbers) Max(a, b number.Interval) number.Interval { return a.Max(b) }
func (enclosedNumbers) Min(a, b number.Interval) number.Interval { return a.Min(b) }
func (enclosedNumbers) Negative(a number.Interval) bool          { return a.Lo().Sign() < 0 }

func (enclosedNumbers) Floor(a number.Interval) *big.Rat {
	low, _ := number.Enclosed(a).Lower()
	return low
}

func (enclosedNumbers) Ceil(a number.Interval) *big.Rat {
	high, _ := number.Enclosed(a).Upper()
	return high
}
