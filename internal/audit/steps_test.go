package audit

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// Vectors that are d steps apart have d-1 others between them, each the neighbor of the next in one direction; of every such pair both sides are like score vectors that are
// looked at anyway.
func TestStepsAreNeighborsInARow(t *testing.T) {
	for _, monotonic := range []bool{false, true} {
		o := samplerOptions(t, "1", 1000)
		o.N, o.Monotonic, o.Properties = 4, monotonic, []verify.Property{verify.DP}
		require.NoError(t, o.complete())
		space, dom, err := o.sampleDomain()
		require.NoError(t, err)
		f := newField(&o, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, f.collect(dom, 1000, func() error { return nil }))
		classes := len(f.classes)
		unit := new(big.Rat).Quo(o.Sensitivity, space.Unit).Num().Int64()
		f.stretch(&o, unit)
		require.Len(t, f.classes, classes)
		found := 0
		for _, e := range f.edges {
			if !e.steps {
				continue
			}
			found++
			d := e.distance.Num().Int64()
			up, down := false, false
			for r, x := range f.places[e.from].q {
				step := f.places[e.to].q[r] - x
				require.Zero(t, step%(d*unit))
				require.LessOrEqual(t, max(step, -step), d*unit)
				up, down = up || step > 0, down || step < 0
			}
			require.Equal(t, !monotonic, up && down)
		}
		require.Greater(t, found, 10)
	}
}

// The bound on ε may come from such a pair, and its witness says how far it is apart; what is said of δ, and of a claim that is refuted, comes from neighbors.
func TestBoundFromVectorsSomeStepsApart(t *testing.T) {
	slowtest.Only(t)
	audited := func(factor float64, delta *big.Rat) *Report {
		o := samplerOptions(t, "1", 30_000)
		o.Targets, o.Properties = atDelta(delta), nil
		if delta != nil {
			o.Properties = []verify.Property{verify.DP, verify.ApproximateDP}
		}
		r, err := draw("em", newLawSampler(softmaxLaw(1, factor), 3), o)
		require.NoError(t, err)
		return r
	}
	r := audited(1, nil)
	require.NotNil(t, r.Find(verify.DP).Attained.Distance)
	require.Greater(t, r.LowerBound.Float64(), 0.75)
	require.Less(t, r.LowerBound.Float64(), 1.0)
	require.Nil(t, audited(1, big.NewRat(1, 100)).Find(verify.ApproximateDP).Attained.Distance)
	dp := audited(2, nil).Find(verify.DP)
	require.Equal(t, verify.Violated, dp.Verdict)
	require.Nil(t, dp.Witness.Distance)
}
