package report

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/number"
)

// A cost that is only enclosed does not look exact.
func TestBothEnds(t *testing.T) {
	below := new(big.Rat).Sub(big.NewRat(40, 1), big.NewRat(1, 1e12))
	assert.Equal(t, "[39.999999999999, 40]", bothEnds(number.Bounds(below, big.NewRat(40, 1))))
	assert.Equal(t, "40", bothEnds(number.Exact(big.NewRat(40, 1))))
}
