package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// TestGreatest: the greatest ratio shown, or an enclosure of it where some are not told apart.
func TestGreatest(t *testing.T) {
	c := &run{}
	show := func(vs ...*inquiry.Value) *divergence {
		g := c.logarithm(DP, "ε", 2)
		for i, v := range vs {
			g.consider(v, nil, func() *Witness { return &Witness{Event: fmt.Sprint(i)} })
		}
		return g
	}
	n, e := show().top()
	assert.Equal(t, []string{"0", "1"}, []string{n.String(), e.RatString()}, "nothing shown: no ratio above 1")
	g := show(ratio64(3, 2), ratio64(5, 2), ratio64(2, 1))
	n, e = g.top()
	assert.Equal(t, "5/2", e.RatString())
	assert.InDelta(t, math.Log(2.5), n.Float64(), 1e-15)
	assert.Equal(t, "1", g.greatest.witness().Event)
	n, e = show(ratio64(1, 2)).top()
	assert.Equal(t, 0.0, n.Float64(), "ε is not negative")
	assert.Equal(t, "1/2", e.RatString())
	g = show(box(2, 3), box(2.5, 2.75), box(2.25, 4), box(1, 1.5))
	n, e = g.top()
	assert.Nil(t, e)
	lo, _ := n.Lower()
	hi, _ := n.Upper()
	l, _ := lo.Float64()
	h, _ := hi.Float64()
	assert.InDelta(t, math.Log(2.5), l, 1e-9, "one of them is at least 2.5")
	assert.InDelta(t, math.Log(4), h, 1e-9, "and none above 4")
	assert.Equal(t, "1", g.greatest.witness().Event)
	g = show(ratio64(5, 2))
	g.conclude(false)
	n = g.tight
	_, bounded := n.Upper()
	lo, _ = n.Lower()
	assert.False(t, bounded)
	l, _ = lo.Float64()
	assert.InDelta(t, math.Log(2.5), l, 1e-15)
	g = show(box(2, 3), quotientBox())
	n, _ = g.top()
	_, bounded = n.Upper()
	assert.False(t, bounded, "a rival without a bound leaves none")
}

// quotientBox is a number of which only a lower bound is known.
func quotientBox() *inquiry.Value {
	return inquiry.Refinable(func(uint) number.Interval {
		return number.NewInterval(big.NewFloat(1), new(big.Float).SetInf(false))
	})
}

// TestTracker: the smallest violation, the first reason, the limits.
func TestTracker(t *testing.T) {
	witness := func(s string) func() *Witness { return func() *Witness { return &Witness{Event: s} } }
	run := func(o Options) (*tracker, *Result) {
		res := &Result{Name: DP}
		return &tracker{run: &run{ctx: context.Background(), opts: o}, res: res}, res
	}
	tr, res := run(Options{})
	require.NoError(t, tr.finish(nil))
	assert.Equal(t, Proved, res.Verdict)
	assert.Nil(t, res.Witness)

	tr, res = run(Options{})
	tr.unclear()
	assert.Equal(t, uint(64), tr.precision(), "refining is given up once it was in vain")
	tr.undecide("second")
	require.NoError(t, tr.finish(nil))
	assert.Equal(t, []any{Undecided, "enclosures of 1024 bits do not tell two numbers apart"}, []any{res.Verdict, res.Reason})

	tr, res = run(Options{readings: true})
	tr.unclear()
	assert.Equal(t, uint(64), tr.precision())
	require.NoError(t, tr.finish(nil))
	assert.Equal(t, []any{Undecided, openReading}, []any{res.Verdict, res.Reason}, "some readings refute it, or may")

	tr, res = run(Options{})
	tr.fail([]int64{3, 1}, witness("first"))
	tr.fail([]int64{2, 9}, witness("smaller"))
	tr.fail([]int64{2, 9}, witness("as small"))
	tr.fail([]int64{3, 0}, witness("greater"))
	tr.undecide("something else")
	require.NoError(t, tr.finish(nil))
	assert.Equal(t, []any{Violated, "smaller"}, []any{res.Verdict, res.Witness.Event})

	var progress []int64
	tr, res = run(Options{limit: 600, Progress: func(p Property, n, _ int64) { progress = append(progress, n) }})
	steps := 0
	for tr.step() == nil {
		steps++
	}
	assert.Equal(t, 600, steps)
	assert.Equal(t, []int64{0, 256, 512}, progress)
	assert.Equal(t, int64(600), res.Checked)
	require.NoError(t, tr.finish(errStop))
	assert.Equal(t, []any{Undecided, "the limit of 600 comparisons was reached"}, []any{res.Verdict, res.Reason})

	ctx, cancel := context.WithCancel(context.Background())
	tr, res = run(Options{})
	tr.run.ctx = ctx
	require.NoError(t, tr.step())
	cancel()
	for range 255 {
		require.NoError(t, tr.step())
	}
	require.ErrorIs(t, tr.step(), errStop)
	require.NoError(t, tr.finish(errStop))
	assert.Equal(t, []any{Undecided, "it was stopped"}, []any{res.Verdict, res.Reason})

	tr, _ = run(Options{})
	tr.proofOnly = true
	require.NoError(t, tr.step())
	tr.undecide("reason")
	require.ErrorIs(t, tr.step(), errStop)
	tr, _ = run(Options{})
	tr.proofOnly = true
	tr.fail(nil, witness("x"))
	require.ErrorIs(t, tr.step(), errStop)

	tr, res = run(Options{})
	require.NoError(t, tr.finish(fmt.Errorf("%w: no more answers", inquiry.ErrUndecided)))
	assert.Equal(t, []any{Undecided, "no more answers"}, []any{res.Verdict, res.Reason})
	tr, _ = run(Options{})
	broken := errors.New("broken")
	assert.ErrorIs(t, tr.finish(broken), broken)

	assert.Equal(t, []int64{3, 9, 3, 1}, size(1, inquiry.Vector{2, 0, -3}, inquiry.Vector{0, 4, 0}))
	assert.Equal(t, []int64{2, 0, 0, 0}, size(0, inquiry.Vector{0, 0}))
}

// TestTightIsAtMostWhatIsProved: an enclosure of the tight ε ends at the ε that was proved.
func TestTightIsAtMostWhatIsProved(t *testing.T) {
	most := rational("0.405")
	for _, x := range []struct {
		lo, hi, want string
	}{{"0.3", "0.5", "0.405"}, {"0.3", "0.4", "0.4"}, {"0.4", "0.4", "0.4"}, {"0.5", "0.6", "0.6"}} {
		got := atMost(number.Bounds(rational(x.lo), rational(x.hi)), most)
		lo, _ := got.Lower()
		hi, _ := got.Upper()
		assert.Zero(t, lo.Cmp(rational(x.lo)), "%+v", x)
		assert.Zero(t, hi.Cmp(rational(x.want)), "%+v", x)
	}
	got := atMost(number.Bounds(rational("0.3"), nil), most)
	hi, ok := got.Upper()
	require.True(t, ok)
	assert.Equal(t, most, hi)
	assert.True(t, atMost(number.Infinity(), most).IsInf())
}

// A witness of monotonicity is one of the property alone where the candidate's score moves one way, if at all, and all others the other way.
func TestNeedsShift(t *testing.T) {
	for _, c := range []struct {
		steps []int64
		r     int
		want  int64
	}{
		{[]int64{1, -1, -2}, 0, 0}, {[]int64{-1, 1, 2}, 0, 0}, {[]int64{0, -1, -1}, 0, 0}, {[]int64{0, 1, 1}, 0, 0}, {[]int64{3, 0, 0}, 0, 0},
		{[]int64{-1, -1, 1}, 2, 0}, {[]int64{1, 1}, 0, 1}, {[]int64{-1, -1}, 1, 1}, {[]int64{0, 1, -1}, 0, 1}, {[]int64{0, -1, 1}, 0, 1},
	} {
		assert.Equal(t, c.want, inquiry.NeedsShift(c.steps, c.r), c)
	}
}

func ratio64(a, b int64) *inquiry.Value { return inquiry.Rational(big.NewRat(a, b)) }

func rational(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func ratList(xs ...string) []*big.Rat {
	var out []*big.Rat
	for _, x := range xs {
		out = append(out, rational(x))
	}
	return out
}

// box is a number that is known to lie between lo and hi.
func box(lo, hi float64) *inquiry.Value {
	return inquiry.Within(new(big.Rat).SetFloat64(lo), new(big.Rat).SetFloat64(hi))
}

// TestMetExactly: a range that is as large as wanted is proved at rational ε, one that is wanted a hair less is violated, and a parameter at which the target is
// met exactly is met.
func TestMetExactly(t *testing.T) {
	claim := problem(t, "em", "0")
	var err error
	claim.Epsilon, err = number.ParseEpsilon("0.5")
	require.NoError(t, err)
	for wanted, verdict := range map[string]Verdict{"1/2": Proved, "0.4999999999999999999999999999999999999999999999": Violated} {
		r, err := Lattice(context.Background(), claim, 3, 2, Options{Targets: map[Property]*big.Rat{BoundedRange: rational(wanted)}})
		require.NoError(t, err)
		assert.Equal(t, verdict, r.Find(BoundedRange).Verdict, wanted)
	}
	d, err := (&calibrator{Claim: claim, N: 2, K: 1}).decide(context.Background(), &Calibration{}, claim.Epsilon)
	require.NoError(t, err)
	assert.Equal(t, Proved, d.verdict)
	// One candidate has no neighbors, and meets the target at every parameter.
	alone, err := calibrator{Claim: problem(t, "krr", "3/2"), N: 1, K: 2}.calibrate(context.Background())
	require.NoError(t, err)
	low, _ := alone.Parameter.Lower()
	assert.Positive(t, low.Cmp(big.NewRat(1000, 1)))
	assert.NotEmpty(t, alone.Undecided)
}

// TestRivalsAreJudged: of two ratios that are not told apart the one above the limit counts.
func TestRivalsAreJudged(t *testing.T) {
	d := (&run{}).logarithm(BoundedRange, "range", 1)
	d.late, d.limit = true, ratio64(3, 1)
	d.consider(box(2, 2.5), nil, nil)
	d.consider(box(1, 4), nil, nil)
	require.Len(t, d.tops(), 2)
	for _, x := range d.tops() {
		d.judge(x, maxPrec, nil, nil)
	}
	assert.NotEmpty(t, d.undecided)
}
