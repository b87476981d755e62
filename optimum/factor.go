package optimum

import (
	"math/big"

	"optratio/internal/table"
	"optratio/number"
)

// exactBits bounds the numerals of powers that are kept exactly.
const exactBits = 1 << 16

// power returns e^{-dε} where it is rational and not long.
func power(eps number.Epsilon, d *big.Rat) (*big.Rat, bool) {
	if d.Sign() == 0 || eps.IsZero() {
		return one, true
	}
	exp := eps.Exp()
	if exp == nil || !d.Num().IsInt64() || !d.Denom().IsInt64() {
		return nil, false // e^{dε} is transcendental for rational ε and d other than 0
	}
	a, ok := root(exp.Denom(), d.Denom().Int64())
	b, also := root(exp.Num(), d.Denom().Int64())
	if n := d.Num().Int64(); ok && also && n <= exactBits && int64(b.BitLen())*n <= exactBits {
		return new(big.Rat).SetFrac(a.Exp(a, d.Num(), nil), b.Exp(b, d.Num(), nil)), true
	}
	return nil, false
}

// root returns the n-th root of x > 0 where it is whole.
func root(x *big.Int, n int64) (*big.Int, bool) {
	if n == 1 {
		return new(big.Int).Set(x), true
	}
	low, high := big.NewInt(1), new(big.Int).Lsh(unit, uint(int64(x.BitLen())/n+1)) // low <= root < high, if there is one
	for exponent := big.NewInt(n); ; {
		middle := new(big.Int).Add(low, high)
		if middle.Rsh(middle, 1); middle.Cmp(low) == 0 {
			return low, n <= int64(x.BitLen()) && new(big.Int).Exp(low, exponent, nil).Cmp(x) == 0 || x.Cmp(unit) == 0
		}
		if n <= int64(x.BitLen()) && new(big.Int).Exp(middle, exponent, nil).Cmp(x) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
}

var unit = big.NewInt(1)

// enclose returns rationals that e^{-dε} lies between, the same one twice where it is known to be rational.
func enclose(eps number.Epsilon, d *big.Rat, prec uint) (low, high *big.Rat) {
	if z, ok := power(eps, d); ok {
		return z, z
	}
	low, high = table.Ends(eps.ExpNeg(d, prec))
	if high == nil || high.Cmp(one) > 0 {
		high = one
	}
	return low, high
}
