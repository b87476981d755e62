package audit

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// halfLogTwoPi encloses ½ ln 2π, π being between two decimals of 50 digits.
var halfLogTwoPi = func() number.Interval {
	const digits = "314159265358979323846264338327950288419716939937510"
	lo, _ := new(big.Int).SetString(digits, 10)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(50), nil)
	hi := new(big.Int).Add(lo, big.NewInt(1))
	pi := number.Hull(
		number.FromRat(new(big.Rat).SetFrac(lo, scale), betBits),
		number.FromRat(new(big.Rat).SetFrac(hi, scale), betBits))
	half := number.FromRat(big.NewRat(1, 2), betBits)
	return number.Log(pi.Mul(number.FromInt(2, betBits))).Mul(half)
}()

// logFactorial encloses ln n!: exactly up to 255, then by Stirling's series
//
//	(n+½) ln n - n + ½ ln 2π + 1/12n - 1/360n³ + [0, 1/1260n⁵],
//
// whose error has the sign of the first term left out and is smaller (DLMF 5.11(ii)).
func logFactorial(n int64) number.Interval {
	if n < 256 {
		return number.Log(arith.FromBig(new(big.Int).MulRange(1, max(1, n)), betBits))
	}
	rat := func(p int64, power int) number.Interval {
		d := new(big.Int).Exp(big.NewInt(n), big.NewInt(int64(power)), nil)
		return number.FromRat(new(big.Rat).SetFrac(big.NewInt(1), d.Mul(d, big.NewInt(p))), betBits)
	}
	s := number.FromRat(big.NewRat(2*n+1, 2), betBits).Mul(number.Log(number.FromInt(n, betBits)))
	s = s.Sub(number.FromInt(n, betBits)).Add(halfLogTwoPi)
	s = s.Add(rat(12, 1)).Sub(rat(360, 3))
	return s.Add(number.Hull(number.FromInt(0, betBits), rat(1260, 5)))
}

func TestLogFactorialAgreesAcrossItsTwoForms(t *testing.T) {
	for _, n := range []int64{256, 257, 1000} {
		exact := number.Log(arith.FromBig(new(big.Int).MulRange(1, n), 256))
		stirling := logFactorial(n)
		require.True(t, arith.Encloses(stirling, exact), n)
		require.Less(t, stirling.RelWidth(), 1e-15)
	}
}
