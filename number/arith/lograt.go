package arith

import (
	"math/big"

	"optratio/number/interval"
)

// LogRat is the number A + B·ln z, for a rational z > 0 that the methods take where they
// need it. All operands of one computation must mean the same z. A and B are not nil and not
// to be modified.
//
// For rational z other than 0 and 1, ln z is irrational (Lindemann 1882: e^q is transcendental
// for rational q != 0, so it is not z), hence A + B·ln z = 0 iff A = B = 0.
type LogRat struct{ A, B *big.Rat }

// NewLogRat returns a + b·ln z. It copies its arguments; nil stands for 0.
func NewLogRat(a, b *big.Rat) LogRat {
	x := LogRat{new(big.Rat), new(big.Rat)}
	if a != nil {
		x.A.Set(a)
	}
	if b != nil {
		x.B.Set(b)
	}
	return x
}

// Add returns x + y.
func (x LogRat) Add(y LogRat) LogRat {
	return LogRat{new(big.Rat).Add(x.A, y.A), new(big.Rat).Add(x.B, y.B)}
}

// Sub returns x - y.
func (x LogRat) Sub(y LogRat) LogRat {
	return LogRat{new(big.Rat).Sub(x.A, y.A), new(big.Rat).Sub(x.B, y.B)}
}

// Neg returns -x.
func (x LogRat) Neg() LogRat { return LogRat{new(big.Rat).Neg(x.A), new(big.Rat).Neg(x.B)} }

// Scale returns r · x.
func (x LogRat) Scale(r *big.Rat) LogRat {
	return LogRat{new(big.Rat).Mul(r, x.A), new(big.Rat).Mul(r, x.B)}
}

// IsZero reports whether A = B = 0, which is whether x = 0 for every rational z > 0 but 1.
func (x LogRat) IsZero() bool { return x.A.Sign() == 0 && x.B.Sign() == 0 }

// Rat returns x as a rational number, and whether it is one by its form: B = 0.
func (x LogRat) Rat() (r *big.Rat, ok bool) {
	if x.B.Sign() != 0 {
		return nil, false
	}
	return new(big.Rat).Set(x.A), true
}

// Enclose returns an interval around A + B·ln z with ends of prec bits. It panics unless
// z > 0. Its relative width is not bounded: the addends may cancel.
func (x LogRat) Enclose(z *big.Rat, prec uint) interval.Interval {
	a := interval.FromRat(x.A, prec)
	if x.B.Sign() == 0 {
		return a
	}
	return a.Add(interval.FromRat(x.B, prec).Mul(interval.LogRat(z, prec)))
}

// Sign returns the sign of A + B·ln z, decided by form where it is 0 and by ever more precise
// enclosures where it is not, so that it always ends. It panics unless z > 0.
func (x LogRat) Sign(z *big.Rat) int {
	switch {
	case z.Sign() <= 0:
		panic("arith: logarithm of a number that is not positive")
	case x.B.Sign() == 0:
		return x.A.Sign()
	}
	// For z = 1 the logarithm is enclosed by [0, 0], and A alone is left.
	return refine(func(prec uint) interval.Interval { return x.Enclose(z, prec) })
}

// mostBits is the precision at which numbers that are not told from 0 are given up.
const mostBits = 1 << 24

// refine doubles the precision until the sign of the enclosed number is decided. It ends for
// every number but 0 whose enclosures shrink to a point, and panics where mostBits are too few, as they are where
// the enclosures do not shrink.
func refine(enclose func(prec uint) interval.Interval) int {
	s, ok := refineTo(mostBits, enclose)
	if !ok {
		panic("arith: a sign that 2^24 bits do not decide")
	}
	return s
}

// refineTo is refine with at most limit bits; ok says whether they decided.
func refineTo(limit uint, enclose func(prec uint) interval.Interval) (s int, ok bool) {
	for prec := uint(64); prec <= limit; prec *= 2 {
		if s, ok = enclose(prec).Sign(); ok {
			return s, true
		}
	}
	return 0, false
}
