package arith

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
)

func TestSignNear0AgreesWithExactValues(t *testing.T) {
	f := Poly{}
	decided := 0
	for _, coefficients := range [][]int64{{1, -2}, {0, -3, 5, 1}, {7, 0, 0, -1000}, {0, 0, 1}, {-1, 1 << 40}, {5}} {
		p := f.Zero()
		for i, c := range coefficients {
			p = f.Add(p, f.Mul(f.FromInt(c), Pow(f, f.Z(), i)))
		}
		for _, d := range [][]int64{{1}, {0, 2}, {-1, 3}} {
			q := f.Zero()
			for i, c := range d {
				q = f.Add(q, f.Mul(f.FromInt(c), Pow(f, f.Z(), i)))
			}
			r := f.Quo(p, q)
			for _, shift := range []uint{1, 3, 10, 45, 200} {
				most := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), shift))
				x := new(big.Float).SetPrec(64).SetMantExp(big.NewFloat(1), -int(shift))
				s, ok := r.SignNear0(x)
				if !ok {
					continue
				}
				decided++
				for _, part := range []int64{1, 2, 3, 1000} { // at most and below
					v, defined := r.EvalRat(new(big.Rat).Mul(most, big.NewRat(1, part)))
					require.True(t, defined)
					require.Equal(t, v.Sign(), s, "%v at 2^-%d/%d", r, shift, part)
				}
			}
		}
	}
	require.Greater(t, decided, 40)
}

func TestSignUpToGivesUp(t *testing.T) {
	f := Poly{}
	wide := func(prec uint) number.Interval {
		return number.Hull(number.FromInt(-1, prec), number.FromInt(1, prec))
	}
	_, ok := f.Z().SignUpTo(1<<10, wide)
	require.False(t, ok)
	s, ok := f.FromInt(-3).SignUpTo(1<<10, wide)
	require.True(t, ok)
	require.Equal(t, -1, s)
	_, ok = f.Add(f.One(), f.Z()).SignNear0(big.NewFloat(2))
	require.False(t, ok)
}
