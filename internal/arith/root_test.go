package arith

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRoot(t *testing.T) {
	for a := int64(1); a < 40; a++ {
		for b := int64(1); b < 12; b++ {
			x := big.NewRat(a, b)
			for n := int64(1); n < 9; n++ {
				power := new(big.Rat).SetInt64(1)
				for range n {
					power.Mul(power, x)
				}
				assert.Equal(t, x.RatString(), Root(power, n).RatString())
				if n > 1 {
					power.Mul(power, big.NewRat(7, 1))
					assert.Nil(t, Root(power, n), "%s, %d", power, n)
				}
			}
		}
	}
	assert.Equal(t, "1", Root(big.NewRat(1, 1), 1<<40).RatString())
	assert.Nil(t, Root(big.NewRat(2, 1), 1<<40))
	assert.Nil(t, Root(big.NewRat(1, 2), 64))
}
