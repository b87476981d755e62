package table

import (
	"math/big"

	"optratio/number"
)

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
