package inquiry

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Programs are sent a JSON number wherever a score is a decimal of moderately many digits, however small it is: one that reads numbers alone fails at "p/q".
func TestScoresAreNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-5/2": "-2.5", "1e-30": "0.000000000000000000000000000001", "1e-31": "1e-31", "-25e-36": "-25e-36", "-201e-300": "-201e-300", "1e20": "100000000000000000000",
		"1/3": `"1/3"`, "10000000000000000000000000000001e-31": `"10000000000000000000000000000001/10000000000000000000000000000000"`,
	} {
		x, ok := new(big.Rat).SetString(in)
		require.True(t, ok)
		text := ScoresJSON([]*big.Rat{x})[0]
		assert.Equal(t, want, string(text), in)
		var read any
		require.NoError(t, json.Unmarshal(text, &read), in)
		if number, ok := read.(float64); ok {
			float, _ := x.Float64()
			assert.Equal(t, float, number, in)
		}
	}
}

// Scores are whole numbers of units below 2^52; others are refused with what to do.
func TestScoresTooFar(t *testing.T) {
	space := Space{Unit: big.NewRat(1, 1)}
	_, err := space.Vector([]*big.Rat{big.NewRat(1<<52-1, 1)})
	require.NoError(t, err)
	_, err = space.Vector([]*big.Rat{big.NewRat(1<<52, 1)})
	assert.ErrorContains(t, err, "give scores that are closer to 0")
	_, err = space.Vector([]*big.Rat{big.NewRat(1, 2)})
	assert.ErrorContains(t, err, "0.5 is not a multiple of 1")
}
