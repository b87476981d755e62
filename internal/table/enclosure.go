package table

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

var unity = big.NewRat(1, 1)

// Between returns rationals that e^{-dε} lies between, for d >= 0, the same one twice where it is known to be rational: for rational ε it is transcendental
// unless dε = 0. Near 0 they are further apart than the ends of the enclosure, but not long.
func Between(eps number.Epsilon, d *big.Rat, prec uint) (low, high *big.Rat) {
	if z, rational := eps.Z(); rational || d.Sign() == 0 {
		if d.Cmp(unity) == 0 {
			return z, z
		}
		if exact, ok := arith.Power(z, d); ok {
			return exact, exact
		}
	}
	return Enclosed(eps, d, prec)
}

// Enclosed is Between without a look at whether the power is rational.
func Enclosed(eps number.Epsilon, d *big.Rat, prec uint) (low, high *big.Rat) {
	x := number.Enclosed(eps.ExpNeg(d, prec))
	low, ok := x.Lower()
	if !ok || low.Sign() < 0 {
		low = new(big.Rat)
	}
	if high, ok = x.Upper(); !ok || high.Cmp(unity) > 0 {
		high = unity
	}
	return low, high
}
