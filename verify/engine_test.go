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

	"optratio/number"
)

func ratio64(a, b int64) *Value { return Rational(big.NewRat(a, b)) }

// box is the number in [lo, hi], whatever precision it is asked for.
func box(lo, hi float64) *Value {
	return &Value{fixed: true, box: func(uint) number.Interval { return number.NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }}
}

// root2 is √2 by enclosures, as the square root's own refinement gives it.
func root2() *Value {
	return refinable(func(prec uint) number.Interval {
		lo := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).Sqrt(big.NewFloat(2))
		eps := new(big.Float).SetMantExp(big.NewFloat(4), -int(prec))
		return number.NewInterval(new(big.Float).SetPrec(prec).Sub(lo, eps), new(big.Float).SetPrec(prec).Add(lo, eps))
	})
}

// TestValuesInEveryForm compares sums, products and quotients of values in the forms that they have with exact ones.
func TestValuesInEveryForm(t *testing.T) {
	eps := parse(t, "0.5")
	r := exponentialRing(eps, 1)
	z := function(*fun(t, "z"), r) // e^{-1/2} = 0.60653…
	for _, c := range []struct {
		name     string
		v, w     *Value
		sum, dif *big.Rat // where rational
		cmp      int
	}{
		{"rationals", ratio64(1, 2), ratio64(1, 3), big.NewRat(5, 6), big.NewRat(1, 6), 1},
		{"equal rationals", ratio64(2, 4), ratio64(1, 2), big.NewRat(1, 1), new(big.Rat), 0},
		{"function and itself", z, z, nil, new(big.Rat), 0},
		{"function and its copy", z, function(*fun(t, "z"), r), nil, new(big.Rat), 0},
		{"function and rational", z, ratio64(60653, 100000), nil, nil, 1},
		{"rational and function", ratio64(60654, 100000), z, nil, nil, 1},
		{"functions", z.mul(z), z, nil, nil, -1},
		{"1-z and z", ratio64(1, 1).sub(z), z, big.NewRat(1, 1), nil, -1},
		{"enclosure", root2(), ratio64(141421356, 100000000), nil, nil, 1},
		{"enclosures", root2().mul(root2()), ratio64(19999999, 10000000), nil, nil, 1},
	} {
		sum, dif := c.v.add(c.w), c.v.sub(c.w)
		if c.sum != nil {
			s, ok := sum.Compare(Rational(c.sum))
			assert.True(t, ok && s == 0, c.name)
		}
		if c.dif != nil {
			s, ok := dif.Compare(Rational(c.dif))
			assert.True(t, ok && s == 0, c.name)
		}
		s, ok := c.v.Compare(c.w)
		assert.Equal(t, []any{c.cmp, true}, []any{s, ok}, c.name)
		s, ok = c.w.Compare(c.v)
		assert.Equal(t, []any{-c.cmp, true}, []any{s, ok}, c.name)
		s, ok = c.v.exceeds(ratio64(1, 1), c.w, 1024)
		assert.Equal(t, []any{c.cmp, true}, []any{s, ok}, c.name)
		for _, prec := range []uint{64, 200} {
			for _, q := range []struct {
				got  *Value
				want number.Interval
			}{
				{sum, c.v.Enclose(prec).Add(c.w.Enclose(prec))}, {dif, c.v.Enclose(prec).Sub(c.w.Enclose(prec))},
				{c.v.mul(c.w), c.v.Enclose(prec).Mul(c.w.Enclose(prec))}, {c.v.quo(c.w), c.v.Enclose(prec).Quo(c.w.Enclose(prec))},
			} {
				_, ok := q.got.Enclose(prec).Intersect(q.want)
				assert.True(t, ok, "%s: %v, %v", c.name, q.got.Enclose(prec), q.want)
				lo, hi := q.got.bounds()
				assert.True(t, q.want.Lo().Cmp(big.NewFloat(hi)) <= 0 && q.want.Hi().Cmp(big.NewFloat(lo)) >= 0, c.name)
				if s, ok := q.got.sign(64); !ok || s != 0 {
					assert.Less(t, q.got.narrow(128).RelWidth(), 1e-30, c.name)
				}
			}
		}
	}
	// 3/2 times 2/3 is 1, and a hair more is more.
	s, ok := ratio64(1, 1).exceeds(ratio64(3, 2), ratio64(2, 3), 64)
	assert.Equal(t, []any{0, true}, []any{s, ok})
	s, ok = Rational(rational("1.0000000000000000000000001")).exceeds(ratio64(3, 2), ratio64(2, 3), 64)
	assert.Equal(t, []any{1, true}, []any{s, ok})
	s, ok = Rational(rational("0.9999999999999999999999999")).exceeds(ratio64(3, 2), ratio64(2, 3), 64)
	assert.Equal(t, []any{-1, true}, []any{s, ok})
	for _, c := range []struct{ v, factor, w, want int64 }{{10, 2, 4, 1}, {7, 2, 4, -1}, {8, 2, 4, 0}, {0, 2, 0, 0}, {1, 2, 0, 1}, {0, 2, 1, -1}} {
		s, ok := ratio64(c.v, 1).exceeds(ratio64(c.factor, 1), ratio64(c.w, 1), 64)
		assert.Equal(t, []any{int(c.want), true}, []any{s, ok}, c)
	}
}

func rational(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// TestBoxesDecideWhatTheyCan: readings that overlap are not told apart, and say so.
func TestBoxesDecideWhatTheyCan(t *testing.T) {
	for _, c := range []struct {
		v, w *Value
		s    int
		ok   bool
	}{
		{box(1, 2), box(3, 4), -1, true}, {box(3, 4), box(1, 2), 1, true}, {box(1, 2), box(2, 3), 0, false}, {box(1, 3), box(2, 2), 0, false},
		{box(2, 2), box(2, 2), 0, true}, {box(0, 1), ratio64(0, 1), 0, false}, {box(0, 1), ratio64(-1, 1000), 1, true},
	} {
		s, ok := c.v.compare(c.w, 1<<20)
		assert.Equal(t, []any{c.s, c.ok}, []any{s, ok}, "%v, %v", c.v.Number(), c.w.Number())
	}
	same := box(0, 1)
	s, ok := same.Compare(same)
	assert.Equal(t, []any{0, true}, []any{s, ok}, "a number is equal to itself, whatever it is")
	assert.False(t, box(0, 1).zero(1024))
	assert.False(t, box(0.5, 1).zero(1024))
	assert.True(t, box(0, 0).zero(1024))
	assert.True(t, ratio64(0, 1).zero(1024))
	assert.False(t, ratio64(-1, 3).zero(1024))
	assert.False(t, root2().sub(root2()).zero(512), "two copies of √2 are not told apart")
	_, ok = root2().sub(root2()).sign(512)
	assert.False(t, ok)
	// A difference of 2^-200 needs more than 200 bits.
	near := Rational(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)))
	x := root2()
	other := refinable(func(prec uint) number.Interval { return x.Enclose(prec).Add(near.Enclose(prec)) })
	_, ok = other.compare(x, 128)
	assert.False(t, ok)
	s, ok = other.compare(x, 512)
	assert.Equal(t, []any{1, true}, []any{s, ok})
}

// TestWithin: bounds that a float64 states are kept so, rounded outward; those of extreme magnitude as they are.
func TestWithin(t *testing.T) {
	third, half := big.NewRat(1, 3), big.NewRat(1, 2)
	assert.Zero(t, Within(third, third).Rat().Cmp(third))
	v := Within(third, half)
	lo, hi := v.bounds()
	assert.Equal(t, []float64{1.0 / 3, 0.5}, []float64{lo, hi}) // the float64 is less than 1/3
	assert.True(t, v.Enclose(64).Contains(third) && v.Enclose(64).Contains(half))
	assert.False(t, v.Enclose(64).Contains(big.NewRat(332, 1000)))
	assert.Nil(t, v.Rat())
	tiny := rational("1e-300")
	v = Within(tiny, new(big.Rat).Add(tiny, tiny))
	assert.True(t, v.Enclose(64).Contains(tiny))
	s, ok := v.sign(64)
	assert.Equal(t, []any{1, true}, []any{s, ok}, "no reading of 1e-300 is 0")
	huge := rational("1e400")
	v = Within(huge, new(big.Rat).Add(huge, huge))
	lo, hi = v.bounds()
	assert.True(t, lo > 1e308 && math.IsInf(hi, 1))
	s, ok = v.compare(Rational(rational("1e399")), 64)
	assert.Equal(t, []any{1, true}, []any{s, ok})
	assert.Equal(t, 0.25, Nearly(big.NewRat(1, 4), new(big.Rat)).Number().Float64())
}

// TestRings: the number of which probabilities are functions is recognised for what it is.
func TestRings(t *testing.T) {
	for _, c := range []struct {
		eps    string
		parts  int64
		degree int
		power  string
	}{
		{"3/2", 1, 1, "2/3"}, {"9/4", 2, 1, "2/3"}, {"9/4", 4, 2, "2/3"}, {"27/8", 6, 2, "2/3"}, {"3/2", 2, 2, "2/3"}, {"64", 12, 2, "1/2"}, {"8", 3, 1, "1/2"}, {"2", 6, 6, "1/2"}, {"4/3", 2, 2, "3/4"},
	} {
		r := exponentialRing(parse(t, c.eps), c.parts)
		require.NotNil(t, r, c.eps)
		assert.Equal(t, []any{c.degree, c.power, true}, []any{r.degree, r.power.RatString(), r.positive}, "%+v", c)
		// t^degree = power, and t^parts = e^-ε.
		assert.True(t, r.at(100).Pow(r.degree).Contains(r.power))
		z, _ := parse(t, c.eps).Z()
		assert.True(t, r.at(100).Pow(int(c.parts)).Contains(z))
		// x^degree - power vanishes and nothing of less degree does.
		p := make([]*big.Int, r.degree+1)
		for i := range p {
			p[i] = new(big.Int)
		}
		p[0].Neg(r.power.Num())
		p[r.degree] = r.power.Denom()
		assert.True(t, r.vanishes(p))
		p[0] = new(big.Int).Add(p[0], big.NewInt(1))
		assert.False(t, r.vanishes(p))
	}
	r := exponentialRing(parse(t, "0.5"), 3)
	assert.Equal(t, []any{0, "1/6"}, []any{r.degree, r.exponent.RatString()})
	assert.Nil(t, exponentialRing(parse(t, "0"), 1))
	assert.Nil(t, logarithmRing(parse(t, "0")))
	assert.Nil(t, logarithmRing(parse(t, "0.5")))
	l := logarithmRing(parse(t, "3/2"))
	assert.True(t, l.at(64).Hi().Sign() < 0 && !l.positive)
	// √(2/3)² = 2/3, exactly; √(2/3) is more than 0.816 and less than 0.817.
	r = exponentialRing(parse(t, "3/2"), 2)
	root := function(*fun(t, "z"), r)
	for _, c := range []struct {
		v, w *Value
		want int
	}{{root.mul(root), ratio64(2, 3), 0}, {root, ratio64(816, 1000), 1}, {root, ratio64(817, 1000), -1}, {root.mul(root).mul(root), root.mul(ratio64(2, 3)), 0}} {
		s, ok := c.v.Compare(c.w)
		assert.Equal(t, []any{c.want, true}, []any{s, ok})
	}
}

// TestRatios: p/q with its bounds, infinite where q = 0.
func TestRatios(t *testing.T) {
	infinite := quotient(ratio64(1, 1), ratio64(0, 1), true)
	r, s := quotient(ratio64(1, 2), ratio64(1, 3), false), quotient(ratio64(4, 3), ratio64(1, 1), false)
	one := ratio64(7, 9)
	for _, c := range []struct {
		r, s ratio
		want int
	}{
		{r, s, 1}, {s, r, -1}, {r, r, 0}, {infinite, r, 1}, {r, infinite, -1}, {infinite, infinite, 0}, {infinite.times(r), infinite, 0},
		{r.times(s), quotient(ratio64(2, 1), ratio64(1, 1), false), 0}, {quotient(one, one, false), quotient(ratio64(3, 1), ratio64(3, 1), false), 0},
		{r.times(r), quotient(rat2("2.2500000000000000000000001"), ratio64(1, 1), false), -1},
		{quotient(ratio64(3, 2), ratio64(1, 1), false), r, 0},
	} {
		got, ok := c.r.compare(c.s, 64)
		assert.Equal(t, []any{c.want, true}, []any{got, ok}, "%+v", c)
	}
	assert.True(t, r.lo <= 1.5 && 1.5 <= r.hi && r.hi-r.lo < 1e-14)
	product := r.times(s)
	assert.True(t, product.lo <= 2 && 2 <= product.hi && product.hi-product.lo < 1e-14)
	wide := quotient(box(1, 2), box(0, 1), false)
	assert.True(t, wide.lo <= 1 && wide.lo > 0.99 && math.IsInf(wide.hi, 1))
	_, ok := wide.compare(r, 64)
	assert.False(t, ok)

	n, e := r.log()
	assert.Equal(t, "3/2", e.RatString())
	assert.InDelta(t, math.Log(1.5), n.Float64(), 1e-15)
	n, e = quotient(one, one, false).log()
	assert.Equal(t, []string{"0", "1"}, []string{n.String(), e.RatString()})
	n, e = infinite.log()
	assert.True(t, n.IsInf() && e == nil)
	z := function(*fun(t, "z"), exponentialRing(parse(t, "0.5"), 1))
	n, e = quotient(ratio64(1, 1), z.mul(z).mul(z), false).log()
	assert.Equal(t, "3/2", numberRat(t, n))
	assert.Nil(t, e)
	n, _ = quotient(z, ratio64(1, 1), false).log()
	assert.Equal(t, "-1/2", numberRat(t, n))
	n, _ = quotient(z.add(ratio64(1, 1)), ratio64(2, 1), false).log()
	_, exact := n.Rat()
	assert.False(t, exact)
	assert.InDelta(t, math.Log((1+math.Exp(-0.5))/2), n.Float64(), 1e-15)
	n, _ = quotient(z.mul(ratio64(2, 1)), ratio64(1, 1), false).log()
	assert.InDelta(t, math.Log(2)-0.5, n.Float64(), 1e-15)
}

func rat2(s string) *Value { return Rational(rational(s)) }

// TestGreatest: the greatest ratio shown, or an enclosure of it where some are not told apart.
func TestGreatest(t *testing.T) {
	of := func(v *Value) ratio { return quotient(v, ratio64(1, 1), false) }
	show := func(vs ...*Value) *greatest {
		g := &greatest{}
		for i, v := range vs {
			g.show(of(v), 64, func() *Witness { return &Witness{Event: fmt.Sprint(i)} })
		}
		return g
	}
	n, e := show().log()
	assert.Equal(t, []string{"0", "1"}, []string{n.String(), e.RatString()}, "nothing shown: no ratio above 1")
	g := show(ratio64(3, 2), ratio64(5, 2), ratio64(2, 1))
	n, e = g.log()
	assert.Equal(t, "5/2", e.RatString())
	assert.InDelta(t, math.Log(2.5), n.Float64(), 1e-15)
	assert.Equal(t, "1", g.witness().Event)
	n, e = show(ratio64(1, 2)).log()
	assert.Equal(t, 0.0, n.Float64(), "ε is not negative")
	assert.Equal(t, "1/2", e.RatString())
	g = show(box(2, 3), box(2.5, 2.75), box(2.25, 4), box(1, 1.5))
	n, e = g.log()
	assert.Nil(t, e)
	lo, _ := n.Lower()
	hi, _ := n.Upper()
	l, _ := lo.Float64()
	h, _ := hi.Float64()
	assert.InDelta(t, math.Log(2.5), l, 1e-9, "one of them is at least 2.5")
	assert.InDelta(t, math.Log(4), h, 1e-9, "and none above 4")
	assert.Equal(t, "1", g.witness().Event)
	g = show(ratio64(5, 2))
	g.partial = true
	n, _ = g.log()
	_, bounded := n.Upper()
	lo, _ = n.Lower()
	assert.False(t, bounded)
	l, _ = lo.Float64()
	assert.InDelta(t, math.Log(2.5), l, 1e-15)
	g = show(box(2, 3), quotientBox())
	n, _ = g.log()
	_, bounded = n.Upper()
	assert.False(t, bounded, "a rival without a bound leaves none")
}

// quotientBox is a number of which only a lower bound is known.
func quotientBox() *Value {
	return &Value{fixed: true, box: func(uint) number.Interval {
		return number.NewInterval(big.NewFloat(1), new(big.Float).SetInf(false))
	}}
}

// TestTracker: the smallest violation, the first reason, the limits.
func TestTracker(t *testing.T) {
	witness := func(s string) func() *Witness { return func() *Witness { return &Witness{Event: s} } }
	run := func(o Options) (*tracker, *Result) {
		o.MaxPrec = 1024
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

	tr, res = run(Options{Readings: true})
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
	require.NoError(t, tr.finish(fmt.Errorf("%w: no more answers", ErrUndecided)))
	assert.Equal(t, []any{Undecided, "no more answers"}, []any{res.Verdict, res.Reason})
	tr, _ = run(Options{})
	broken := errors.New("broken")
	assert.ErrorIs(t, tr.finish(broken), broken)

	assert.Equal(t, []int64{3, 9, 3, 1}, size(1, Vector{2, 0, -3}, Vector{0, 4, 0}))
	assert.Equal(t, []int64{2, 0, 0, 0}, size(0, Vector{0, 0}))
}

// TestTightIsAtMostWhatIsProved: an enclosure of the tight ε ends at the ε that was proved.
func TestTightIsAtMostWhatIsProved(t *testing.T) {
	c := &run{exp: ratio64(3, 2)} // ln 3/2 = 0.405…
	for _, x := range []struct {
		lo, hi, want string
	}{{"0.3", "0.5", "0.405"}, {"0.3", "0.4", "0.4"}, {"0.4", "0.4", "0.4"}, {"0.5", "0.6", "0.6"}} {
		got := c.atMostClaimed(number.Bounds(rational(x.lo), rational(x.hi)))
		lo, _ := got.Lower()
		hi, _ := got.Upper()
		f, _ := hi.Float64()
		want, _ := rational(x.want).Float64()
		assert.Zero(t, lo.Cmp(rational(x.lo)), "%+v", x)
		assert.InDelta(t, want, f, 1e-3, "%+v", x)
		assert.LessOrEqual(t, hi.Cmp(rational(x.hi)), 0, "%+v", x)
	}
	got := c.atMostClaimed(number.Bounds(rational("0.3"), nil))
	hi, ok := got.Upper()
	require.True(t, ok)
	f, _ := hi.Float64()
	assert.InDelta(t, math.Log(1.5), f, 1e-15)
	assert.True(t, c.atMostClaimed(number.Infinity()).IsInf())
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
		assert.Equal(t, c.want, needsShift(c.steps, c.r), c)
	}
	// Of symmetry: permuted scores have the same best one, unless a number was added as well.
	r := 0
	scores := func(xs ...int64) (out []*big.Rat) {
		for _, x := range xs {
			out = append(out, big.NewRat(x, 1))
		}
		return out
	}
	assert.False(t, (&Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(-1, 0)}).NeedsShift(Symmetry))
	assert.True(t, (&Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(0, 1)}).NeedsShift(Symmetry))
	assert.False(t, (&Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, -2)}).NeedsShift(Monotone))
	assert.True(t, (&Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, 0)}).NeedsShift(Monotone))
	assert.False(t, (&Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, 0)}).NeedsShift(DP))
}
