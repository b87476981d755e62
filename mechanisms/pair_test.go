package mechanisms

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"optratio/number"
)

// With equal sensitivities it is permute-and-flip; otherwise permute-and-flip at the mean of the two largest.
func TestPairIsPermuteAndFlipAtHalfTheSum(t *testing.T) {
	e, err := number.ParseExp("3/2")
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

// In float64 too: one sensitivity for all, the two largest in either order, and a single candidate.
func TestPairFloat(t *testing.T) {
	for _, name := range []string{"pf-pair", "geo-pair"} {
		for _, c := range []struct{ scores, sensitivities []string }{
			{[]string{"0", "-1", "-2.5"}, []string{"1"}},
			{[]string{"0", "-1", "-2.5"}, []string{"0.25", "1", "2"}},
			{[]string{"0", "-1", "-2.5"}, []string{"2", "0.25", "1"}},
			{[]string{"0", "-1", "-2.5"}, []string{"2", "2", "1"}},
			{[]string{"3"}, []string{"2"}},
		} {
			in := &Instance{Scores: ratsOf(t, c.scores...), Sensitivities: ratsOf(t, c.sensitivities...), Epsilon: decimalEps(t, "0.7")}
			want, err := registry[name].Enclose(in, 80)
			require.NoError(t, err)
			got, err := registry[name].Float(in)
			require.NoError(t, err)
			for r, w := range want {
				assert.InDelta(t, w.Near(), got[r], 1e-12, "%s %v", name, c)
			}
		}
	}
}
