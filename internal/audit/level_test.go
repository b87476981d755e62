package audit

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// All verdicts share what the confidence leaves to chance: each gets its part, and the bound on δ is the one at that part.
func TestVerdictsShareTheLevel(t *testing.T) {
	slowtest.Only(t)
	pf, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	for _, c := range []struct {
		properties []verify.Property
		against    mechanisms.Mechanism
		parts      int64
	}{
		{nil, nil, 1}, // δ alone
		{[]verify.Property{verify.DP}, nil, 1},
		{[]verify.Property{verify.DP, verify.ApproximateDP}, nil, 2},
		{[]verify.Property{verify.Symmetry, verify.Shift, verify.ApproximateDP}, nil, 3},
		{[]verify.Property{verify.DP, verify.Monotone, verify.ZCDP, verify.BoundedRange, verify.ApproximateDP}, pf, 6},
	} {
		o := samplerOptions(t, "0.5", 20_000)
		o.Properties, o.Against, o.Targets = c.properties, c.against, atDelta(big.NewRat(1, 100))
		require.Equal(t, c.parts, o.parts(), "%v", c.properties)
		r, err := draw("em", newLawSampler(softmaxLaw(0.5, 4), 1), o)
		require.NoError(t, err)
		if res := r.Find(verify.ApproximateDP); res != nil {
			alpha := big.NewRat(1, 20*c.parts)
			e := above(inquiry.ExpEpsilon(o.Epsilon).Enclose(binomialBits))
			require.Equal(t, floored(deltaLimit(countsOf(t, res.Attained), e, alpha)), r.DeltaBound, "%v", c.properties)
		}
	}
}

// countsOf returns the counts that a witness shows.
func countsOf(t *testing.T, w *verify.Witness) (c counts) {
	t.Helper()
	require.NotNil(t, w)
	scan := func(n number.Number, hits, drawn *int64) {
		_, err := fmt.Sscanf(n.Method(), "%d of %d samples", hits, drawn)
		require.NoError(t, err)
	}
	scan(w.P, &c.hits, &c.drawn)
	scan(w.PNeighbor, &c.hitsNear, &c.drawnNear)
	return c
}

// The test of what is not answered has a sixteenth of the level, half of it for either limit: the bound on ε is the one at that.
func TestFailuresHaveTheirPartOfTheLevel(t *testing.T) {
	o := samplerOptions(t, "1", 3000)
	leads := func(q inquiry.Vector, _ int64) float64 {
		if q[0] > max(q[1], q[2]) {
			return 1
		}
		return 0
	}
	r, err := draw("refusing", &refusing{*newLawSampler(softmaxLaw(1, 0.1), 1), leads}, o)
	require.NoError(t, err)
	c := countsOf(t, r.Find(verify.DP).Witness)
	each := big.NewRat(1, 20*2*16)
	limit := new(big.Rat).Quo(lowerLimit(c.drawn, c.hits, each), upperLimit(c.drawnNear, c.hitsNear, each))
	var want *big.Rat // the greatest level below the quotient of the limits
	for _, l := range newWealth(o.Epsilon, big.NewRat(1, 20), true).levels {
		if l.epsilon != nil && new(big.Rat).SetFloat64(l.c).Cmp(limit) < 0 {
			want = l.epsilon
		}
	}
	bound, ok := r.LowerBound.Rat()
	require.True(t, ok)
	require.Zero(t, bound.Cmp(want), "%v, want %v", bound, want)
}
