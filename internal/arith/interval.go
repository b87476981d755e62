package arith

import (
	"math/big"

	"optratio/number"
)

// FromBig returns the tightest interval around x with ends of prec bits.
func FromBig(x *big.Int, prec uint) number.Interval {
	return number.FromRat(new(big.Rat).SetInt(x), prec)
}

// IsPoint reports whether both ends are equal, that is whether the value is known exactly.
func IsPoint(x number.Interval) bool { return x.Lo().Cmp(x.Hi()) == 0 }

// IsFinite reports whether both ends are finite.
func IsFinite(x number.Interval) bool { return !x.Lo().IsInf() && !x.Hi().IsInf() }

// Encloses reports whether every number in y lies in x.
func Encloses(x, y number.Interval) bool {
	return x.Lo().Cmp(y.Lo()) <= 0 && y.Hi().Cmp(x.Hi()) <= 0
}

// Abs returns |x|.
func Abs(x number.Interval) number.Interval {
	return x.Max(x.Neg()).Max(number.FromInt(0, x.Prec()))
}

// IsExact reports whether the value of n is known: whether its bounds are equal.
func IsExact(n number.Number) bool {
	_, ok := n.Rat()
	return ok
}
