package arith

import "math/big"

// newRatFunc returns num/den in lowest terms. It copies its arguments, and panics if den = 0.
func newRatFunc(num, den []*big.Int) RatFunc {
	n, d := trim(clonePoly(num)), trim(clonePoly(den))
	if len(d) == 0 {
		panic("arith: rational function with denominator 0")
	}
	if len(n) == 0 {
		return RatFunc{}.canonical()
	}
	if g := gcdPoly(n, d); !isOne(g) {
		n, d = quoPoly(n, g), quoPoly(d, g)
	}
	return signed(n, d)
}

// equal reports whether r and s are the same function.
func equal(r, s RatFunc) bool {
	r, s = r.canonical(), s.canonical()
	return equalPoly(r.Num, s.Num) && equalPoly(r.Den, s.Den)
}
