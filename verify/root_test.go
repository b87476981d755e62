package verify

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// e^{dε} is a rational where it is one: 4^{1/2} = 2, (8/27)^{-2/3} = 9/4.
func TestExpTimes(t *testing.T) {
	for _, c := range []struct{ exp, d, want string }{
		{"4", "1/2", "2"}, {"27/8", "2/3", "9/4"}, {"2", "3", "8"}, {"2", "1/2", ""}, {"4/3", "1/2", ""}, {"9/4", "3/2", "27/8"}, {"1", "1/7", "1"}, {"3/2", "1/64", ""}, {"16", "1/4", "2"}, {"16", "1/8", ""},
	} {
		eps, err := number.ParseExp(c.exp)
		require.NoError(t, err)
		d, _ := new(big.Rat).SetString(c.d)
		got := ExpTimes(eps, d)
		if c.want == "" {
			assert.Nil(t, got.Rat(), "%v", c)
		} else if assert.NotNil(t, got.Rat(), "%v", c) {
			assert.Equal(t, c.want, got.Rat().RatString(), "%v", c)
		}
	}
}
