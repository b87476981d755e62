package lp

import (
	"context"
	"math/big"
	"optratio/lattice"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/lumped"
	"optratio/internal/patience"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

// sound checks that an answer's first ratio, and its optimum, can be true.
func sound(t *testing.T, a *Answer, name string) {
	if len(a.Mechanisms) > 0 && a.Mechanisms[0].Name == "pf" {
		lo, ok := a.Mechanisms[0].Ratio.Lower()
		assert.True(t, ok && lo.Cmp(big.NewRat(1, 1)) >= 0 && lo.Cmp(big.NewRat(25, 18)) <= 0, "%s: ratio %v", name, a.Mechanisms[0].Ratio) // universal.md, Theorem 2
		hi, ok := a.Mechanisms[0].Ratio.Upper()
		assert.True(t, !ok || hi.Cmp(lo) >= 0, "%s: ratio %v", name, a.Mechanisms[0].Ratio)
	}
	lo, ok := a.Optimum.Lower()
	assert.True(t, ok && lo.Sign() >= 0, "%s: optimum %v", name, a.Optimum)
	hi, ok := a.Optimum.Upper()
	assert.True(t, ok && hi.Cmp(lo) >= 0, "%s: optimum %v", name, a.Optimum)
	assert.True(t, ok && hi.Cmp(big.NewRat(101*int64(a.request.K), 100)) <= 0, "%s: optimum %v", name, a.Optimum)
}

// Requests that would take hours or all memory: stopped at once or on the way, each has an answer that is true. How soon after the context
// the command must end is measured elsewhere.
func TestStoppedRequestsHaveAnswers(t *testing.T) {
	long := new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(2000), nil), big.NewInt(3))
	huge, err := number.FromExp(long)
	require.NoError(t, err)
	for name, r := range map[string]Request{
		"lumped, deep":         {N: 2, K: 1_000_000, Epsilon: decimalEps(t, "0.5"), Method: methodLumped},
		"lumped, tiny ε":       {N: 10, K: 1_000_000, Epsilon: decimalEps(t, "1e-20"), Method: methodLumped},
		"closed form, deep":    {N: 2, K: 1_000_000, Epsilon: expEps(t, 3, 2), Method: methodClosedForm},
		"lumped, e^ε near 1":   {N: 3, K: 100_000, Epsilon: expEps(t, 1_000_001, 1_000_000), Method: methodLumped},
		"box, deep":            {N: 100, K: 10_000, Epsilon: decimalEps(t, "0.01"), Prior: Box()},
		"long e^ε":             {N: 20, K: 20, Epsilon: huge},
		"program, long e^ε":    {N: 4, K: 4, Epsilon: huge, Method: methodLP},
		"program, large ε":     {N: 3, K: 3, Epsilon: decimalEps(t, "8192"), Method: methodLP},
		"many levels":          {N: 12, K: 12, Epsilon: decimalEps(t, "0.5"), Level: Full},
		"program of millions":  {N: 11, K: 10, Epsilon: decimalEps(t, "0.5"), Level: Full, Method: methodLP},
		"many candidates, box": {N: 1_000_000, K: 1_000, Epsilon: decimalEps(t, "0.5"), Prior: Box()},
	} {
		for _, limit := range []time.Duration{0, 60 * time.Millisecond} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				defer cancel()
				a, err := Ratio(ctx, r)
				require.NoError(t, err)
				sound(t, a, name)
			})
		}
	}
}

// What the whole program is too large for, methodAuto answers by lumping: to the gap where that is possible, otherwise as far as the
// context lets it.
func TestAutoRefusesNothingThatLumpingAnswers(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct {
		n, k int
		eps  string
	}{{14, 14, "0.5"}, {16, 20, "0.4"}} {
		a, err := Ratio(context.Background(), Request{N: c.n, K: c.k, Epsilon: decimalEps(t, c.eps), Mechanisms: pfAndEM(t)[:1], Gap: big.NewRat(1, 20)})
		require.NoError(t, err)
		assert.Empty(t, a.Undecided, "%v", c)
		assert.Equal(t, proofLumped, a.Proof)
		sound(t, a, c.eps)
	}
	for _, s := range [][2]int{{12, 12}, {13, 12}} {
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		a, err := Ratio(ctx, Request{N: s[0], K: s[1], Epsilon: decimalEps(t, "0.5"), Mechanisms: pfAndEM(t)[:1], Report: func(int, float64) {
			if reports++; reports == 20 {
				cancel()
			}
		}})
		cancel()
		require.NoError(t, err)
		assert.NotEmpty(t, a.Undecided)
		assert.Equal(t, proofLumped, a.Proof)
		hi, _ := a.Mechanisms[0].Ratio.Upper()
		assert.Negative(t, hi.Cmp(big.NewRat(11, 10)), "%v: %s", s, a.Mechanisms[0].Ratio)
		sound(t, a, "stopped")
	}
}

func outcomeOf(low, high int64, by string) outcome {
	return outcome{bounds: bounds{big.NewRat(low, 10), big.NewRat(high, 10)}, proof: by, evidence: new(proof), limit: "a limit"}
}

// The best bounds of all methods are kept; those of a proof with a certificate only together.
func TestOutcomesAddToEachOther(t *testing.T) {
	for _, c := range []struct {
		outcomes  []outcome
		low, high int64
		proof     string
	}{
		{[]outcome{outcomeOf(10, 30, proofClosedForm), outcomeOf(20, 30, proofLumped)}, 20, 30, proofLumped},
		{[]outcome{outcomeOf(10, 30, proofClosedForm), outcomeOf(20, 30, proofLumped), outcomeOf(15, 25, proofLP)}, 20, 25, proofLumped},
		{[]outcome{outcomeOf(10, 30, proofClosedForm), outcomeOf(20, 30, proofLumped), outcomeOf(22, 28, proofLP)}, 22, 28, proofLP},
		{[]outcome{outcomeOf(20, 30, proofClosedForm), outcomeOf(15, 25, proofLP)}, 20, 30, proofClosedForm},
		{[]outcome{outcomeOf(20, 30, proofMonotone), outcomeOf(15, 25, proofLP)}, 20, 25, proofMonotone},
		{[]outcome{outcomeOf(20, 30, proofClosedForm), outcomeOf(24, 24, proofLP)}, 24, 24, proofLP},
		{[]outcome{outcomeOf(24, 24, proofLP), outcomeOf(20, 30, proofLumped)}, 24, 24, proofLP},
	} {
		j := &job{Request: Request{N: 3, K: 3, Gap: big.NewRat(1, 1e9)}, answer: &Answer{}}
		for _, o := range c.outcomes {
			j.add(o)
		}
		assert.Zero(t, j.best.lower.Cmp(big.NewRat(c.low, 10)), "%+v", c)
		assert.Zero(t, j.best.upper.Cmp(big.NewRat(c.high, 10)), "%+v", c)
		assert.Equal(t, c.proof, j.answer.Proof)
		assert.Equal(t, c.low == c.high, j.answer.Undecided == "", "%+v", c)
	}
}

// With monotonicity the optimum is at least 2/n of permute-and-flip's error, which for few candidates is more than the closed form gives. It is below
// the exact optimum, and not used at the levels without monotonicity or where a certificate is wanted.
func TestMonotonicityBoundsTheOptimum(t *testing.T) {
	for _, s := range [][2]int{{3, 7}, {3, 9}, {3, 11}} {
		for _, o := range []Prior{{}, Box()} {
			e := expEps(t, 3, 2)
			r := Request{N: s[0], K: s[1], Epsilon: e, Prior: o, Level: Monotone, Method: methodClosedForm, Mechanisms: pfAndEM(t)[:1]}
			a, err := Ratio(context.Background(), r)
			require.NoError(t, err)
			assert.Equal(t, proofMonotone, a.Proof, "%v", s)
			hi, _ := a.Mechanisms[0].Ratio.Upper()
			assert.Negative(t, hi.Cmp(big.NewRat(int64(s[0])*1_000_001, 2_000_000)), "%v: %v", s, a.Mechanisms[0].Ratio)
			mean := new(big.Rat).Quo(exactOptimum(t, s[0], s[1], o, Monotone, e), new(big.Rat).SetInt(lattice.Vectors(s[0], s[1], o.box())))
			low, _ := a.Optimum.Lower()
			high, _ := a.Optimum.Upper()
			assert.True(t, low.Cmp(mean) <= 0 && mean.Cmp(high) <= 0, "%v: %v, optimum %v", s, a.Optimum, mean.FloatString(12))
			for _, level := range []Level{Monotone, DP} {
				r.Level, r.Certified = level, level == Monotone
				a, err := Ratio(context.Background(), r)
				require.NoError(t, err)
				assert.Equal(t, proofClosedForm, a.Proof)
			}
		}
	}
}

// Lumping that is told to cost little does, and its bound holds all the same; its answer does not depend on the time it took.
func TestLumpingWithinItsWork(t *testing.T) {
	slowtest.Only(t)
	e := decimalEps(t, "0.5")
	var bounds []*big.Float
	for _, work := range []int64{1, 2_000_000, 2_000_000, 0} {
		r, err := lumped.Bound(context.Background(), 6, 6, e, false, lumped.Options{MaxWork: work})
		require.NoError(t, err)
		bounds = append(bounds, r.Lower.Lo())
	}
	assert.Zero(t, bounds[1].Cmp(bounds[2]))
	assert.Negative(t, bounds[0].Cmp(bounds[1]))
	assert.LessOrEqual(t, bounds[1].Cmp(bounds[3]), 0)
	_, err := lumped.Bound(context.Background(), 6, 6, e, false, lumped.Options{MaxMemory: 1000})
	assert.ErrorIs(t, err, lumped.ErrTooMany)
	_, err = lumped.Bound(context.Background(), 2, 1_000_000, e, false, lumped.Options{MaxMemory: 1e7})
	assert.ErrorIs(t, err, lumped.ErrTooMany)
}

func TestAwait(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	release := make(chan struct{})
	_, ok := patience.Await(ended, time.Millisecond, func() int { <-release; return 1 })
	assert.False(t, ok)
	close(release)
	x, ok := patience.Await(context.Background(), 0, func() int { return 2 })
	assert.True(t, ok)
	assert.Equal(t, 2, x)

	count := 0
	report, silence := guarded(func(int, float64) { count++ })
	report(0, 0)
	silence()
	report(0, 0)
	assert.Equal(t, 1, count)
	none, silence := guarded(nil)
	assert.Nil(t, none)
	silence()
}

// A mechanism that takes its time ends with the context.
func TestOptimalMechanismEndsWithItsContext(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	in := mechanisms.OnLattice([]int{0, 1, 2, 6}, decimalEps(t, "0.123"))
	_, err = mechanisms.Within(ended, m).Enclose(in, 128)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = mechanisms.Within(context.Background(), m).Enclose(in, 128)
	assert.NoError(t, err)
	// One candidate, and two of which no program is solved by pivots.
	for _, depths := range [][]int{{0}, {0, 1}, {0, 0}} {
		p, err := m.Enclose(mechanisms.OnLattice(depths, decimalEps(t, "0.5")), 96)
		require.NoError(t, err)
		assert.Len(t, p, len(depths))
	}
}

// A mechanism whose error would need too long a sum does not take the others' answers away.
func TestMechanismsTooLargeToRateAreLeftOut(t *testing.T) {
	krr, err := mechanisms.Lookup("krr")
	require.NoError(t, err)
	a, err := Ratio(context.Background(), Request{N: 60, K: 60, Epsilon: decimalEps(t, "1"),
		Mechanisms: []mechanisms.Mechanism{krr, mechanisms.PermuteAndFlip()}})
	require.NoError(t, err)
	require.Len(t, a.Mechanisms, 1)
	assert.Equal(t, "pf", a.Mechanisms[0].Name)
	assert.Contains(t, a.Undecided, "krr")
}
