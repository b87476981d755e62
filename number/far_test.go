package number

import (
	"math"
	"math/big"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Sums and differences of numbers whose exponents are far apart are rounded without aligning them, which would take 2^28 bytes here.
func TestFarApartOperandsAreNotAligned(t *testing.T) {
	huge := Point(new(big.Float).SetPrec(64).SetMantExp(big.NewFloat(0.75), math.MaxInt32))
	tiny := Point(new(big.Float).SetPrec(64).SetMantExp(big.NewFloat(0.75), -10))
	allocated := func(lo, hi int, f func() Interval) uint64 { // lo and hi: how the ends compare with huge
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x := f()
		runtime.ReadMemStats(&after)
		assert.Equal(t, lo, x.Lo().Cmp(huge.Lo()))
		assert.Equal(t, hi, x.Hi().Cmp(huge.Hi()))
		return after.TotalAlloc - before.TotalAlloc
	}
	assert.Less(t, allocated(-1, 0, func() Interval { return huge.Sub(tiny) }), uint64(1<<20))
	assert.Less(t, allocated(0, 1, func() Interval { return huge.Add(tiny) }), uint64(1<<20))
	assert.Less(t, allocated(-1, 0, func() Interval { return tiny.Sub(huge).Neg() }), uint64(1<<20))
}

// The logarithm is as narrow just below a power of two as elsewhere: nothing cancels there.
func TestLogarithmsBelowPowersOfTwo(t *testing.T) {
	for _, k := range []uint{2, 10, 60, 200} {
		den := new(big.Int).Lsh(big.NewInt(1), k)
		x := new(big.Rat).SetFrac(new(big.Int).Sub(den, big.NewInt(1)), den)
		for _, power := range []int64{1, 2, 8} {
			y := LogRat(new(big.Rat).Mul(x, big.NewRat(power, 1)), 64)
			assert.Less(t, y.RelWidth(), math.Ldexp(1, -60), "ln(%d (1 - 2^-%d))", power, k)
		}
	}
}

// A precision of 0 is a mistake, whatever the argument.
func TestNoPrecision(t *testing.T) {
	for _, x := range []*big.Rat{new(big.Rat), big.NewRat(1, 2), big.NewRat(1<<40, 1), big.NewRat(-1<<40, 1)} {
		assert.PanicsWithValue(t, "interval: precision 0", func() { ExpRat(x, 0) })
	}
}
