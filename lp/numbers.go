package lp

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

type exactNumbers struct{ arith.Rat }

func (exactNumbers) Max(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

type enclosedNumbers struct{ arith.Interval }

func (enclosedNumbers) Max(a, b number.Interval) number.Interval { return a.Max(b) }
