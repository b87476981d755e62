package arith

import (
	"math/big"

	"optratio/number"
)

// LogRat is the number A + B·ln z, for a rational z > 0 that is known from the context. A and B are not nil and not
// to be modified.
//
// For rational z other than 0 and 1, ln z is irrational (Lindemann 1882: e^q is transcendental
// for rational q != 0, so it is not z), hence A + B·ln z = 0 iff A = B = 0.
type LogRat struct{ A, B *big.Rat }

// Rat returns x as a rational number, and whether it is one by its form: B = 0.
func (x LogRat) Rat() (r *big.Rat, ok bool) {
	if x.B.Sign() != 0 {
		return nil, false
	}
	return new(big.Rat).Set(x.A), true
}

// Enclose returns an interval around A + B·ln z with ends of prec bits. It panics unless
// z > 0. Its relative width is not bounded: the addends may cancel.
func (x LogRat) Enclose(z *big.Rat, prec uint) number.Interval {
	return number.FromRat(x.A, prec).Add(number.FromRat(x.B, prec).Mul(number.LogRat(z, prec)))
}
