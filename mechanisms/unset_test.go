package mechanisms_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

func parseEps(t *testing.T, s string) number.Epsilon {
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func parseExp(t *testing.T, s string) number.Epsilon {
	e, err := number.ParseExp(s)
	require.NoError(t, err)
	return e
}

func ratOf(t *testing.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

func second[T any](_ T, err error) error { return err }

func TestUnsetEpsilon(t *testing.T) {
	var e number.Epsilon
	for _, name := range mechanisms.Names() {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		in := mechanisms.OnLattice([]int{0, 1}, e)
		_, err = m.Exact(in)
		assert.Error(t, err, name)
		_, err = m.Enclose(in, 64)
		assert.ErrorIs(t, err, number.ErrEpsilon, name)
		_, err = m.Float(in)
		assert.ErrorIs(t, err, number.ErrEpsilon, name)
		_, err = mechanisms.Ask(m, in)
		assert.ErrorIs(t, err, number.ErrEpsilon, name)
	}
}
