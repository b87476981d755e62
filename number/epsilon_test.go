package number

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parseEps(t *testing.T, s string) Epsilon {
	e, err := ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func parseExp(t *testing.T, s string) Epsilon {
	e, err := ParseExp(s)
	require.NoError(t, err)
	return e
}

func ratOf(t *testing.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

func TestExpBounds(t *testing.T) {
	lo, hi := parseExp(t, "3/2").ExpBounds(64)
	assert.Equal(t, "3/2 3/2", lo.RatString()+" "+hi.RatString())
	lo, hi = parseEps(t, "0").ExpBounds(64)
	assert.Equal(t, "1 1", lo.RatString()+" "+hi.RatString())
	lo, hi = parseEps(t, "0.5").ExpBounds(64)
	assert.Equal(t, "1.648721270700128146", lo.FloatString(25)[:20])
	assert.Equal(t, 1, hi.Cmp(lo))
	assert.Equal(t, -1, hi.Cmp(ratOf(t, "1.6487212707001281469")))
	lo, _ = parseEps(t, "1e-40").ExpBounds(64)
	assert.Equal(t, "1", lo.RatString(), "not below 1")
	lo, hi = parseEps(t, "8192").ExpBounds(64)
	assert.Equal(t, 11819, lo.Num().BitLen(), "bits of e^8192: 8192/ln 2 = 11818.6")
	assert.Equal(t, 1, hi.Cmp(lo))
}

// ε is at most 8192, given either way: 10^3557 is below e^8192 and 10^3558 above.
func TestLargestEpsilon(t *testing.T) {
	for text, ok := range map[string]bool{"8192": true, "8192.000001": false, "1e300": false} {
		_, err := ParseEpsilon(text)
		assert.Equal(t, ok, err == nil, text)
		assert.True(t, ok || errors.Is(err, ErrEpsilon))
	}
	for text, ok := range map[string]bool{"1e3557": true, "1e3558": false, "1e9000": false} {
		_, err := ParseExp(text)
		assert.Equal(t, ok, err == nil, text)
		assert.True(t, ok || errors.Is(err, ErrEpsilon))
	}
}

// The zero value answers without a panic, and whoever needs an ε refuses it.
func TestUnsetEpsilon(t *testing.T) {
	var e Epsilon
	assert.False(t, e.isSet())
	assert.ErrorIs(t, e.Check(), ErrEpsilon)
	assert.Equal(t, "not set", e.String())
	assert.False(t, e.IsZero())
	_, ok := e.Z()
	assert.False(t, ok)
	_, ok = e.ExpNegRat(big.NewRat(1, 1))
	assert.False(t, ok)
	assert.False(t, e.ExpNeg(big.NewRat(1, 1), 64).isFinite())
	assert.Equal(t, "[0, +Inf]", e.Value(64).String())
	assert.True(t, math.IsNaN(e.Float()))
	assert.Nil(t, e.Eps())
	assert.Nil(t, e.Exp())
	lo, hi := e.ExpBounds(64)
	assert.Nil(t, lo)
	assert.Nil(t, hi)
	for _, err := range []error{second(FromEpsilon(nil)), second(FromExp(nil)), second(ParseEpsilon("-1")), second(ParseExp("1/2"))} {
		assert.True(t, errors.Is(err, ErrEpsilon), "%v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestEpsilonFloat: the floats are the nearest ones, of ε near 0 and of large ones too.
func TestEpsilonFloat(t *testing.T) {
	tiny := new(big.Rat).Add(big.NewRat(1, 1), big.NewRat(1, 1<<62)) // its ε = 2^-62 - 2^-125 + …
	for _, c := range []struct {
		exp  *big.Rat
		want float64
	}{{big.NewRat(1, 1), 0}, {tiny, 0x1p-62}, {big.NewRat(2, 1), math.Ln2}, {big.NewRat(10, 1), math.Ln10}} {
		e, err := FromExp(c.exp)
		require.NoError(t, err)
		assert.Equal(t, c.want, e.Float())
		assert.Equal(t, c.want, e.Float(), "remembered")
	}
}
