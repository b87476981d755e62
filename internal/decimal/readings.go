package decimal

import "math/big"

// Limits of double precision: the least normal number, and the distance of the numbers below it.
var (
	leastNormal   = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1022))
	denormalSteps = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1074))
)

// Readings returns the ends of what a number x stands for that was computed in double precision: any number within
// precision·|x| of it, and where 0 < |x| < 2^-1022 also within 2^-1074, as rounding there is to multiples of that, but of no other sign: an
// x that underflows stands for an interval that ends at 0. 0 stands for itself, and so does every x if precision is 0.
func Readings(x, precision *big.Rat) (lower, upper *big.Rat) {
	if x.Sign() == 0 || precision.Sign() == 0 {
		return x, x
	}
	size := new(big.Rat).Abs(x)
	slack := new(big.Rat).Mul(size, precision)
	if size.Cmp(leastNormal) < 0 && slack.Cmp(denormalSteps) < 0 {
		slack = denormalSteps
	}
	lower, upper = new(big.Rat).Sub(x, slack), new(big.Rat).Add(x, slack)
	if x.Sign() > 0 && lower.Sign() < 0 {
		lower = new(big.Rat)
	}
	if x.Sign() < 0 && upper.Sign() > 0 {
		upper = new(big.Rat)
	}
	return lower, upper
}
