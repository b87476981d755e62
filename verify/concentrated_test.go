package verify

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// laws returns two distributions of the given weights as values, which are rational.
func laws(p, o []int64) (a, b []*inquiry.Value) {
	sum := func(xs []int64) (s int64) {
		for _, x := range xs {
			s += x
		}
		return s
	}
	for i := range p {
		a, b = append(a, inquiry.Rational(big.NewRat(p[i], sum(p)))), append(b, inquiry.Rational(big.NewRat(o[i], sum(o))))
	}
	return a, b
}

// cold encloses the supremum for one ordered pair without a proposal.
func cold(p, o []*inquiry.Value) *supremum {
	zero := number.FromInt(0, renyiBits)
	u := &supremum{least: zero, most: zero}
	forth := (&run{}).contrasts(direction{a: &inquiry.Answer{P: p}, b: &inquiry.Answer{P: o}}, renyiBits, maxPrec)[0]
	u.raise(forth, func() *Witness { return nil })
	return u
}

// onGrid is the greatest D_α/α on a dense grid of α > 1, at one point of which D_α is computed by its definition.
func onGrid(p, o []*inquiry.Value) (most float64) {
	for s := 1e-5; s < 1e4; s *= 1.01 {
		sum := 0.0
		for i := range p {
			x, _ := p[i].Rat().Float64()
			y, _ := o[i].Rat().Float64()
			sum += x * math.Expm1(s*math.Log(x/y))
		}
		if !math.IsInf(sum, 0) {
			most = max(most, math.Log1p(sum)/(s*(1+s)))
		}
	}
	return most
}

func enclosed(u *supremum) number.Number {
	return (&divergence{rho: u, whole: true}).upTo(u.least, u.most)
}

func lowHigh(t *testing.T, x number.Number) (lo, hi float64) {
	t.Helper()
	low, ok := x.Lower()
	require.True(t, ok)
	high, ok := x.Upper()
	require.True(t, ok)
	lo, _ = low.Float64()
	hi, _ = high.Float64()
	return lo, hi
}

// TestRhoAgainstGrid: the enclosure over all orders holds what a dense grid of them finds, and is narrow. Distributions with one rare outcome of a
// large ratio have a second maximum at a large order.
func TestRhoAgainstGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cases := [][2][]int64{
		{{1_000_000, 1_100_000, 30}, {1_100_000, 1_000_000, 1}}, // two maxima: at order 1 and at a large one
		{{1, 1}, {1, 3}}, {{1, 3}, {1, 1}}, {{9, 1}, {1, 9}},
		{{1, 1_000_000}, {1_000_000, 1}},
	}
	for range 60 {
		var p, o []int64
		for range 2 + rng.IntN(4) {
			p, o = append(p, 1+int64(math.Exp(12*rng.Float64()))), append(o, 1+int64(math.Exp(12*rng.Float64())))
		}
		cases = append(cases, [2][]int64{p, o})
	}
	later := 0
	for _, c := range cases {
		p, o := laws(c[0], c[1])
		u := cold(p, o)
		lo, hi := lowHigh(t, enclosed(u))
		grid := onGrid(p, o)
		require.LessOrEqual(t, grid, hi*(1+1e-9), "%v", c)
		require.GreaterOrEqual(t, grid, lo*(1-1e-3), "%v", c)
		require.LessOrEqual(t, hi, lo*(1+2e-9), "%v", c)
		if u.at > 0 {
			later++
		}
		// The order that is named attains the lower end.
		forth := (&run{}).contrasts(direction{a: &inquiry.Answer{P: p}, b: &inquiry.Answer{P: o}}, renyiBits, maxPrec)[0]
		at := forth.per(u.at)
		_, ok := at.Intersect(u.least)
		require.True(t, ok, "%v", c)
	}
	assert.Greater(t, later, 10)
	assert.Less(t, later, len(cases)-10)
}

// TestRhoOfSeveralPairs: what is known from one pair spares work on the next, and no pair is missed for it.
func TestRhoOfSeveralPairs(t *testing.T) {
	p, o := laws([]int64{5, 3, 2}, []int64{3, 3, 6})
	for _, other := range [][2][]int64{{{50, 30, 19}, {30, 30, 62}}, {{50, 30, 21}, {30, 30, 61}}, {{1, 1}, {1, 3}}, {{4, 1}, {1, 1}}, {{10, 10, 1}, {10, 10, 8}}} {
		a, b := laws(other[0], other[1])
		both := cold(p, o)
		forth := (&run{}).contrasts(direction{a: &inquiry.Answer{P: a}, b: &inquiry.Answer{P: b}}, renyiBits, maxPrec)[0]
		both.raise(forth, func() *Witness { return nil })
		lo, hi := lowHigh(t, enclosed(both))
		first, _ := lowHigh(t, enclosed(cold(p, o)))
		second, _ := lowHigh(t, enclosed(cold(a, b)))
		require.InEpsilon(t, max(first, second), lo, 2e-9)
		require.LessOrEqual(t, hi, lo*(1+2e-9))
	}
}

// TestRhoOfWideReadings: probabilities that are known to a few digits give an enclosure that holds the truth and is about as wide.
func TestRhoOfWideReadings(t *testing.T) {
	for _, c := range []struct {
		p, o      []int64
		precision string
	}{
		{[]int64{5, 3, 2}, []int64{3, 3, 6}, "1e-3"}, {[]int64{5, 3, 2}, []int64{3, 3, 6}, "1e-6"}, {[]int64{3, 3, 6}, []int64{5, 3, 2}, "1e-9"},
		{[]int64{9, 1}, []int64{1, 9}, "1e-2"}, {[]int64{9, 1}, []int64{1, 9}, "1e-6"}, // the supremum is the limit α → 1
	} {
		p, o := laws(c.p, c.o)
		truth, _ := lowHigh(t, enclosed(cold(p, o)))
		wide := func(vs []*inquiry.Value) (out []*inquiry.Value) {
			for _, v := range vs {
				out = append(out, inquiry.Nearly(v.Rat(), rats(t, c.precision)[0]))
			}
			return out
		}
		lo, hi := lowHigh(t, enclosed(cold(wide(p), wide(o))))
		require.Less(t, lo, truth)
		require.Greater(t, hi, truth)
		eps, _ := rats(t, c.precision)[0].Float64()
		require.Less(t, hi/lo-1, 40*math.Sqrt(eps))
		// The reading with the largest divergence of order 1 is below the upper end.
		least, most := rats(t, c.precision)[0], new(big.Rat)
		most.Add(big.NewRat(1, 1), least)
		kl := 0.0
		f, _ := most.Float64()
		for r := range p {
			x, _ := p[r].Rat().Float64()
			y, _ := o[r].Rat().Float64()
			if x < y {
				kl += x / f * math.Log(x/f/(y*f))
			} else {
				kl += x * f * math.Log(x*f/(y/f))
			}
		}
		require.GreaterOrEqual(t, hi, kl*(1-1e-12))
	}
}

// TestRhoOnLattices: the closed form for two candidates, and what the report says beside the enclosure.
func TestRhoOnLattices(t *testing.T) {
	claim := problem(t, "pf", "0")
	var err error
	claim.Epsilon, err = number.ParseEpsilon("1")
	require.NoError(t, err)
	report, err := Lattice(context.Background(), claim, 2, 3, Options{Properties: []Property{ZCDP}})
	require.NoError(t, err)
	r := report.Find(ZCDP)
	lo, hi := lowHigh(t, r.Rho)
	// The pair (1/2, 1/2) and (1-1/(2e), 1/(2e)); the greatest value of its closed form, over a grid of step 1e-5 around it.
	most := 0.0
	q := math.Exp(-1) / 2
	for alpha := 1.4; alpha < 1.6; alpha += 1e-5 {
		most = max(most, math.Log(0.5*math.Pow(2*q, 1-alpha)+0.5*math.Pow(2*(1-q), 1-alpha))/(alpha*(alpha-1)))
	}
	assert.InEpsilon(t, most, lo, 2e-9)
	assert.Less(t, hi/lo, 1+2e-9)
	require.Len(t, r.Orders, 1)
	alpha := r.Orders[0][0].Float64()
	assert.InDelta(t, 1.485, alpha, 0.005) // the maximum is flat
	assert.InEpsilon(t, alpha*lo, r.Orders[0][1].Float64(), 1e-8)
	require.NotNil(t, r.Attained)
	assert.Contains(t, r.Remark(), " at order 1.4")

	// Stopped at once, nothing is known but that ρ is not negative; after a while, the lower end stands.
	stopped, err := Lattice(context.Background(), claim, 3, 3, Options{Properties: []Property{ZCDP}, limit: 2})
	require.NoError(t, err)
	z := stopped.Find(ZCDP)
	assert.Equal(t, Undecided, z.Verdict)
	least, ok := z.Rho.Lower()
	require.True(t, ok)
	assert.Positive(t, least.Sign())
	_, bounded := z.Rho.Upper()
	assert.False(t, bounded)
}
