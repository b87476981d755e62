package optimum

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/table"
	"optratio/number"
)

var unit = big.NewInt(1)

// exactBits bounds the numerals of powers that are kept exactly.
const exactBits = 1 << 16

// power returns x^d for x > 0 and d >= 0 where it is rational and not long.
func power(x, d *big.Rat) (*big.Rat, bool) {
	if d.Sign() == 0 || x.Cmp(one) == 0 {
		return one, true
	}
	n := d.Num().Int64()
	if !d.Num().IsInt64() || !d.Denom().IsInt64() || n > exactBits {
		return nil, false
	}
	r := arith.Root(x, d.Denom().Int64())
	if r == nil || int64(max(r.Num().BitLen(), r.Denom().BitLen()))*n > exactBits {
		return nil, false
	}
	return new(big.Rat).SetFrac(new(big.Int).Exp(r.Num(), d.Num(), nil), new(big.Int).Exp(r.Denom(), d.Num(), nil)), true
}

// enclose returns rationals that e^{-dε} lies between, the same one twice where it is known to be rational: for rational ε it is transcendental unless dε = 0.
func enclose(eps number.Epsilon, d *big.Rat, prec uint) (low, high *big.Rat) {
	if z, rational := eps.Z(); rational || d.Sign() == 0 {
		if exact, ok := power(z, d); ok {
			return exact, exact
		}
	}
	low, high = table.Ends(eps.ExpNeg(d, prec))
	if high == nil || high.Cmp(one) > 0 {
		high = one
	}
	return low, high
}
