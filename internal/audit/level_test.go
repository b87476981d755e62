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
		if r.Find(verify.ApproximateDP) != nil {
			require.Greater(t, r.DeltaBound.Float64(), 0.2, "%v", c.properties)
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

// What is not answered is bet on like any other event, at the whole level: the bound on ε is about the one that such a bet reaches alone.
func TestFailuresAreBetOn(t *testing.T) {
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
	w := newWealth(o.Epsilon, big.NewRat(1, 20), true)
	var e edge
	e.estimate(failureFirst, 0, failureFirst, failureFirst)
	w.openAt(nil, e.p, e.o, e.slack, ratio{1, 1}, float64(c.drawn))
	w.settle(c)
	require.InDelta(t, w.value(w.bound()).Float64(), r.LowerBound.Float64(), 0.1)
}
