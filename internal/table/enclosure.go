package table

import (
	"math/big"

	"optratio/number"
)

// Bounds is an enclosure of a number >= 0, exact where both ends are equal. A nil High is none.
type Bounds struct{ Low, High *big.Rat }

// Exact reports whether the number is known.
func (b Bounds) Exact() bool { return b.High != nil && b.Low.Cmp(b.High) == 0 }

// Over returns the quotient, where 0/0 is 1: neither makes an error.
func (b Bounds) Over(c Bounds) number.Number {
	if b.Exact() && c.Exact() && c.Low.Sign() == 0 {
		if b.Low.Sign() == 0 {
			return number.Int(1)
		}
		return number.Infinity()
	}
	low := new(big.Rat)
	switch {
	case c.High == nil:
	case c.High.Sign() > 0:
		low.Quo(b.Low, c.High)
	case b.Low.Sign() > 0:
		return number.Infinity()
	}
	if b.High == nil || c.Low.Sign() == 0 {
		return number.Bounds(low, nil)
	}
	return number.Bounds(low, new(big.Rat).Quo(b.High, c.Low))
}

// Ends returns rationals on either side of what lies in an interval of numbers >= 0; a nil high is none. Near 0 they are
// further apart than the interval's ends, but not long.
func Ends(x number.Interval) (low, high *big.Rat) {
	n := number.Enclosed(x)
	low, ok := n.Lower()
	if !ok || low.Sign() < 0 {
		low = new(big.Rat)
	}
	high, _ = n.Upper()
	return low, high
}
