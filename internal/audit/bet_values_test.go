package audit

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var stakeCases = []struct {
	h, c float64
	r    ratio
}{{0.5, 2, ratio{1, 1}}, {0.3, 1.5, ratio{2, 1}}, {0.9, 1.2, ratio{1, 3}}, {0.01, 20, ratio{1, 1}}, {1, 3, ratio{1, 1}}, {0.6, 4, ratio{5, 2}}}

// growth is the mean of a bet's logarithm per draw at the vector where the event has probabilities p and o, by the definition.
func growth(b bet, p, o float64, r ratio) float64 {
	own := p*math.Log(b.x1) + (1-p)*math.Log(b.x0) - (b.x0 - 1)
	near := o*math.Log(b.y1) + (1-o)*math.Log(b.y0) - (b.y0 - 1)
	return own + near*float64(r.near)/float64(r.at)
}

// TestVarianceIsTheCostOfAStake by hand, and to second order: where the event has just the probabilities that a small stake is
// made for, the wealth falls by u²·variance/2 per draw; each unit of the gap adds u.
func TestVarianceIsTheCostOfAStake(t *testing.T) {
	assert.Equal(t, 1.0, variance(0.25, claim{2, 0}, ratio{1, 1}))                    // 1/4 + 4·(1/4)(3/4)
	assert.InDelta(t, 0.93, variance(0.2, claim{1.5, 0}, ratio{2, 1}), 1e-15)         // 0.3·0.7 + 2·2.25·0.2·0.8
	assert.InDelta(t, 0.09+0.0675, variance(0.75, claim{1.2, 0}, ratio{1, 4}), 1e-15) // 0.9·0.1 + 1/4·1.44·0.75·0.25
	for _, c := range stakeCases {
		const u = 1e-4
		b := newBet(u, c.h/c.c, claim{c.c, 0}, c.r)
		cost := u * u * variance(c.h/c.c, claim{c.c, 0}, c.r) / 2
		assert.InEpsilon(t, -cost, growth(b, c.h, c.h/c.c, c.r), 0.01, "%+v", c)
		const gap = 0.001
		assert.InDelta(t, u*gap-cost, growth(b, c.h, c.h/c.c-gap/c.c, c.r), 0.01*(u*gap+cost), "%+v", c)
	}
}

// TestStakes: at h and h/c the factors are 1 on average and the wealth keeps its mean, the one case of equality in the proof that it
// does not rise; the stakes are in the ratio that fairness allows, no less; and the largest leave one factor at 1 - boldest.
func TestStakes(t *testing.T) {
	for _, c := range stakeCases {
		for _, u := range []float64{0.001, 0.05, 0.3, 1e9} {
			name := fmt.Sprintf("%+v, u = %v", c, u)
			o := c.h / c.c
			b := newBet(u, o, claim{c.c, 0}, c.r)
			require.NotEqual(t, noBet, b, name)
			assert.InDelta(t, 1, c.h*b.x1+(1-c.h)*b.x0, 1e-12, name)
			assert.InDelta(t, 1, o*b.y1+(1-o)*b.y0, 1e-12, name)
			own, near := float64(c.r.at)*(b.x1-b.x0)*c.c, float64(c.r.near)*(b.y0-b.y1)
			assert.True(t, b.fair(claim{c.c, 0}, c.r), name)
			assert.InEpsilon(t, own, near, 2e-10, name)
			assert.InDelta(t, 1, expectation(b, 2*c.r.at, 2*c.r.near, c.h, o), 1e-8, name)
			if limit := largestStake(o, claim{c.c, 0}, c.r); u < limit {
				assert.InEpsilon(t, u, b.x1-b.x0, 1e-10, name)
			} else {
				assert.InDelta(t, 1-boldest, min(b.x0, b.y1), 1e-9, name)
			}
		}
	}
	assert.Equal(t, noBet, newBet(0, 0.25, claim{2, 0}, ratio{1, 1}))
	assert.Equal(t, noBet, newBet(-0.1, 0.25, claim{2, 0}, ratio{1, 1}))
	assert.Equal(t, noBet, newBet(math.NaN(), 0.25, claim{2, 0}, ratio{1, 1}))
	assert.Equal(t, noBet, newBet(0.1, 0.5, claim{math.Inf(1), 0}, ratio{1, 1}))
	assert.Equal(t, noBet, newBet(0.1, math.NaN(), claim{2, 0}, ratio{1, 1}))
}

// TestFairBetsHaveABoundary: bets whose conditions hold with equality are fair, and none of which one is off by little.
func TestFairBetsHaveABoundary(t *testing.T) {
	// 2·(5/4-3/4)·2 = 1·(5/2-1/2).
	equal := bet{x0: 0.75, x1: 1.25, y0: 2.5, y1: 0.5}
	assert.True(t, equal.fair(claim{2, 0}, ratio{2, 1}))
	assert.True(t, noBet.fair(claim{2, 0}, ratio{1, 1}))
	assert.True(t, equal.fair(claim{2, 0}, ratio{4, 2}))
	for _, change := range []func(b *bet){
		func(b *bet) { b.x1 = math.Nextafter(b.x1, 2) }, func(b *bet) { b.x0 = math.Nextafter(b.x0, 0) },
		func(b *bet) { b.y0 = math.Nextafter(b.y0, 0) }, func(b *bet) { b.y1 = math.Nextafter(b.y1, 1) },
		func(b *bet) { b.x0 = 0 }, func(b *bet) { b.x0 = -1 }, func(b *bet) { b.y1 = 0 }, func(b *bet) { b.y1 = -0.5 }, func(b *bet) { b.y0 = math.Inf(1) },
	} {
		b := equal
		change(&b)
		assert.False(t, b.fair(claim{2, 0}, ratio{2, 1}), "%+v", b)
	}
	assert.False(t, equal.fair(claim{math.Nextafter(2, 3), 0}, ratio{2, 1}))
	assert.False(t, equal.fair(claim{2, 0}, ratio{3, 1}))
	assert.False(t, equal.fair(claim{math.Inf(1), 0}, ratio{2, 1}))
	assert.False(t, bet{1, 1, 0.5, 1, 0}.fair(claim{2, 0}, ratio{1, 1}), "y0 < y1")
	assert.False(t, bet{1.1, 1, 1, 1, 0}.fair(claim{2, 0}, ratio{1, 1}), "x1 < x0")
	assert.False(t, bet{-1, -1, 1, 1, 0}.fair(claim{2, 0}, ratio{1, 1}))
	assert.False(t, bet{1, 1, -1, -1, 0}.fair(claim{2, 0}, ratio{1, 1}))
}

// TestTieOfAnExactRatio: frequencies that are in the ratio c explain themselves.
func TestTieOfAnExactRatio(t *testing.T) {
	for _, c := range stakeCases {
		assert.InEpsilon(t, c.h/c.c, tie(c.h, c.h/c.c, claim{c.c, 0}, c.r), 1e-12, "%+v", c)
	}
	// By hand, x = h/c: p = 1, o = 0 has the slope 1/x - 1/(1-x), so that x = 1/2.
	assert.InDelta(t, 0.5, tie(1, 0, claim{2, 0}, ratio{1, 1}), 1e-12)
	// p = 1/2, o = 0 at c = 2: 1/2x - 1/(1-2x) - 1/(1-x) = 0, that is 8x² - 7x + 1 = 0, x = (7-√17)/16.
	assert.InDelta(t, (7-math.Sqrt(17))/16, tie(0.5, 0, claim{2, 0}, ratio{1, 1}), 1e-12)
	// Twice as many draws at the vector: 1/x - 2/(1-2x) - 1/(1-x) = 0, that is 6x² - 6x + 1 = 0.
	assert.InDelta(t, (6-math.Sqrt(12))/12, tie(0.5, 0, claim{2, 0}, ratio{2, 1}), 1e-12)
	// With δ = 1/4 and c = 1, p = 3/4, o = 1/4 against x + 1/4 and x: by symmetry x = 3/8.
	assert.InDelta(t, 0.375, tie(0.75, 0.25, claim{1, 0.25}, ratio{1, 1}), 1e-12)
}

// TestLevelsAreClose: from a fiftieth of the claimed ε up to 30, in steps of 1 % below half the claimed ε, of 0.4 % up to four times it, and of
// 2 % beyond, but for the rounding to four digits. The constants are matters of power, stated here so that a change is deliberate.
func TestLevelsAreClose(t *testing.T) {
	for _, text := range []string{"0.001", "0.5", "1", "3"} {
		e := epsilon(t, text)
		eps := e.Float()
		w := newWealth(e, big.NewRat(1, 20), false)
		at := func(i int) float64 {
			if i == w.claimed {
				return eps
			}
			x, _ := w.levels[i].value.Float64()
			return x
		}
		require.InEpsilon(t, eps/50, at(0), 1e-3)
		last := at(len(w.levels) - 1)
		require.Less(t, last, 30.0)
		require.Greater(t, last, 30/(1+farBeyond)-0.01)
		for i := range w.levels[1:] {
			x, y := at(i), at(i+1)
			step := 0.01
			switch {
			case x > 4.02*eps:
				step = 0.02
			case x > 0.51*eps:
				step = 0.004
			}
			if x > 3.98*eps && x <= 4.02*eps || x > 0.49*eps && x <= 0.51*eps {
				continue
			}
			if i+1 == w.claimed {
				require.Less(t, y/x-1, 1.6*fine, "%v: below the claim", text) // at least half a step
				require.Greater(t, y/x-1, 0.4*fine)
				continue
			}
			require.InDelta(t, step, y/x-1, 1.01e-3, "%v: %v to %v", text, x, y)
		}
	}
	// Of a claimed ε of 0 or nearly so, the levels are those of 1/1000.
	w := newWealth(epsilon(t, "0.00000001"), big.NewRat(1, 20), false)
	x, _ := w.levels[w.claimed+1].value.Float64()
	require.InEpsilon(t, 1e-3/50*(1+fine), x, 1e-3)
}

// TestStakesOfASegment: bets are made against the levels that the frequencies seem to exceed, and those within the slack; the first two
// follow from the estimate; the third costs, over the horizon, what it takes to bring the first share of the wealth to the limit; each of the others is four times the one before.
func TestStakesOfASegment(t *testing.T) {
	for _, horizon := range []float64{0.1, 1, 1e6} {
		w := newWealth(epsilon(t, "1"), big.NewRat(1, 20), false)
		r := ratio{2, 3}
		const p, o, slack = 0.4, 0.1, 0.2
		w.open(p, o, slack, r, horizon)
		s := w.segs[0]
		require.Equal(t, r, s.ratio)
		late := newWealth(epsilon(t, "1"), big.NewRat(1, 20), false)
		late.late = true
		late.open(p, o, slack, r, horizon)
		for i, l := range w.claims(nil, p, o) {
			if math.Log(p/o)+slack <= math.Log(l.c) {
				require.Equal(t, [stakes]bet{noBet, noBet, noBet, noBet, noBet, noBet}, s.bets[i])
				continue
			}
			h := tie(p, o, l, r)
			v := variance(h, l, r)
			least := math.Sqrt(2 * math.Log(20*16.0/3) / v / max(1, horizon))
			best := (p - l.c*o) / v
			shy := best * max(0, math.Log(p/o)-slack/2-math.Log(l.c)) / max(math.Log(p/o)-math.Log(l.c), 1e-9)
			for k, want := range []float64{max(least, best), max(least, min(best, shy)), least, 4 * least, 16 * least, 64 * least} {
				b := s.bets[i][k]
				require.True(t, b.fair(l, r))
				require.InEpsilon(t, min(want, largestStake(h, l, r)), b.x1-b.x0, 1e-9, "level %d, stake %d", i, k)
				require.InEpsilon(t, min([]float64{least, least, want}[min(k, 2)], largestStake(h, l, r)), late.segs[0].bets[i][k].x1-late.segs[0].bets[i][k].x0, 1e-9)
			}
		}
	}
}

// TestWealthIsTheMeanOfItsStakes: the shares that the stakes begin with, and the logarithm of their sum; and what is refuted.
func TestWealthIsTheMeanOfItsStakes(t *testing.T) {
	patient := newWealth(epsilon(t, "1"), big.NewRat(1, 20), true)
	require.Equal(t, [stakes]float64{0.84375, 0.03125, 0.03125, 0.03125, 0.03125, 0.03125}, patient.weights)
	w := newWealth(epsilon(t, "1"), big.NewRat(1, 20), false)
	require.Equal(t, [stakes]float64{0.1875, 0.1875, 0.4375, 0.0625, 0.0625, 0.0625}, w.weights)
	require.Zero(t, w.limit.Cmp(big.NewRat(20, 1)))
	require.InDelta(t, math.Log(20), w.log, 1e-15)
	start := w.total(w.levels[0])
	require.InDelta(t, 0, start, 1e-15)
	l := w.levels[3]
	l.logs = [stakes]float64{1, -2, 3, 0.5, -700, 2}
	sum := 0.0
	for k, x := range l.logs {
		sum += math.Exp(x) * w.weights[k]
	}
	require.InDelta(t, math.Log(sum), w.total(l), 1e-14)
	l.logs = [stakes]float64{2000, 2000, 2000, 2000, 2000, 2000}
	require.InDelta(t, 2000, w.total(l), 1e-12)

	require.False(t, w.refuted())
	for i := range w.levels[:w.claimed+1] {
		w.levels[i].reached = true
	}
	require.True(t, w.refuted())
	w.levels[w.claimed].reached = false
	require.False(t, w.refuted())
	w.levels[w.claimed].reached, w.levels[0].reached = true, false
	require.False(t, w.refuted())
}

// TestWealthIsReachedWhenItIs: a level passes at the first batch after which its wealth exceeds the limit, and not before; later losses take nothing
// away. What the first bets alone cannot reach, the sum of all stakes does.
func TestWealthIsReachedWhenItIs(t *testing.T) {
	w := newWealth(epsilon(t, "0.5"), big.NewRat(1, 20), false)
	l := w.levels[w.claimed]
	for i := 1; !l.reached; i++ {
		require.Less(t, i, 50)
		require.False(t, w.certain(w.claimed))
		w.open(0.5, 0.2, 0.01, ratio{1, 1}, 1000)
		w.settle(counts{40, 20, 40, 8})
		require.Equal(t, w.total(l) > math.Log(20), l.reached)
		require.Equal(t, counts{40, 20, 40, 8}, w.segs[i-1].counts)
	}
	// The stakes are ordered by what they won.
	order := w.richest(l)
	require.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5}, order)
	won := func(k int) float64 { return l.logs[k] + math.Log(w.weights[k]) }
	for i := range order[1:] {
		require.GreaterOrEqual(t, won(order[i]), won(order[i+1]))
	}
	require.True(t, w.certain(w.claimed))
	w.settle(counts{400, 0, 400, 400})
	require.Less(t, w.total(l), 0.0)
	require.True(t, l.reached)
	require.False(t, w.certain(w.claimed), "what was lost counts, too")
	// What rounding may have lifted to the limit did not pass it.
	near := newWealth(epsilon(t, "0.5"), big.NewRat(1, 20), false)
	near.open(0.3, 0.3, 0, ratio{1, 1}, 100)
	for k := range near.levels[0].logs {
		near.levels[0].logs[k] = math.Log(20) + 5e-7
	}
	near.settle(counts{1, 0, 1, 0})
	require.False(t, near.levels[0].reached)
}

// TestStrongestEvidence: of two events, each bet on in turn, the one counts that won more at the level.
func TestStrongestEvidence(t *testing.T) {
	w := newWealth(epsilon(t, "0.5"), big.NewRat(1, 20), true)
	weak, strong := &evidence{}, &evidence{}
	for _, e := range []*evidence{weak, strong, weak, strong} {
		w.open(0.5, 0.2, 0.01, ratio{1, 1}, 1000)
		hits := int64(30)
		if e == strong {
			hits = 20
		}
		w.settle(counts{100, 50, 100, hits}).shown = e
	}
	require.Same(t, strong, w.strongest(w.claimed))
	require.Same(t, strong, w.strongest(0))
}
