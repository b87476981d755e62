package mechanisms

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With equal sensitivities it is permute-and-flip; otherwise permute-and-flip at the mean of the two largest.
func TestPairIsPermuteAndFlipAtHalfTheSum(t *testing.T) {
	e, err := ParseExp("3/2")
	require.NoError(t, err)
	rats := func(x ...int64) (out []*big.Rat) {
		for _, v := range x {
			out = append(out, big.NewRat(v, 1))
		}
		return out
	}
	for _, c := range []struct{ sensitivities, pair []*big.Rat }{
		{rats(2, 2, 2), rats(2)}, {rats(1, 3, 0), rats(2)}, {rats(4, 1, 2), rats(3)}, {rats(6, 0, 0), rats(3)},
	} {
		in := &Instance{Scores: rats(0, -12, -24), Sensitivities: c.sensitivities, Epsilon: e}
		got, err := registry["pf-pair"].Exact(in)
		require.NoError(t, err)
		want, err := registry["pf"].Exact(&Instance{Scores: in.Scores, Sensitivities: c.pair, Epsilon: e})
		require.NoError(t, err)
		for i := range got {
			assert.Zero(t, got[i].Cmp(want[i]))
		}
	}
}
