package job

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/heterogeneous"
)

// A grid that is accepted ends where the text says; everything else is refused.
func FuzzGrid(f *testing.F) {
	for _, s := range []string{"0:4", "0:4:1", "-1:1:0.5", "1/3:4/3:1/6", "4:0", "0:1:0.3", "::", "0:1e99:1", "0:1:0", "0:1:-1", "a:b", "0:4096", "1:2:3:4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var from, step *big.Rat
		var steps int
		if err := caught(func() { from, step, steps = parseGrid(text) }); err != nil {
			require.True(t, IsInput(err))
			return
		}
		require.Positive(t, step.Sign())
		require.GreaterOrEqual(t, steps, 1)
		require.LessOrEqual(t, steps, heterogeneous.MaxVectors)
		end := new(big.Rat).Mul(step, big.NewRat(int64(steps), 1))
		again, _, _ := parseGrid(from.RatString() + ":" + end.Add(end, from).RatString() + ":" + step.RatString())
		assert.Zero(t, again.Cmp(from))
	})
}
