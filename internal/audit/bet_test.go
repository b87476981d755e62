package audit

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
)

// choose returns the probability of k hits in n draws.
func choose(n, k int64, p float64) float64 {
	b, _ := new(big.Float).SetInt(new(big.Int).Binomial(n, k)).Float64()
	return b * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

// expectation is the mean of what a bet makes of a wealth of 1, by enumeration of all counts.
func expectation(b bet, na, nb int64, p, o float64) float64 {
	sum := 0.0
	for x := range na + 1 {
		for y := range nb + 1 {
			sum += choose(na, x, p) * choose(nb, y, o) * math.Exp(b.log(counts{na, x, nb, y}))
		}
	}
	return sum
}

// The wealth does not rise on average under any mechanism that is ε-private, whatever the bet is made for.
func TestBetsAreFair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	highest := 0.0
	for range 3000 {
		r := ratio{1 + rng.Int64N(4), 1 + rng.Int64N(4)}
		times := 1 + rng.Int64N(3)
		c := math.Exp(3 * rng.Float64() * rng.Float64())
		k := claim{c, 0.5 * rng.Float64() * float64(rng.IntN(2))}
		b := newBet(math.Exp(4*rng.Float64()-3), rng.Float64()*(1-k.delta)/c, k, r)
		if b == noBet {
			continue
		}
		require.True(t, b.fair(k, r))
		o := rng.Float64()
		for _, p := range []float64{min(1, k.at(o)), rng.Float64() * min(1, k.at(o))} {
			e := expectation(b, times*r.at, times*r.near, p, o)
			require.LessOrEqual(t, e, 1+1e-9, "%+v c = %v, p = %v, o = %v, %v", b, c, p, o, r)
			highest = max(highest, e)
		}
	}
	require.Greater(t, highest, 0.99) // and where it can be fair it nearly is
	// One that stakes too little at the neighbor is found out.
	b := newBet(0.5, 0.15, claim{2, 0}, ratio{1, 1})
	b.y0, b.y1 = 1+(b.y0-1)/1.01, 1-(1-b.y1)/1.01
	require.False(t, b.fair(claim{2, 0}, ratio{1, 1}))
	require.Greater(t, expectation(b, 5, 5, 0.3, 0.15), 1.0)
	b = newBet(0.5, 0.15, claim{2, 0.1}, ratio{1, 1})
	b.delta = 0.09 // it pays for less than is claimed
	require.False(t, b.fair(claim{2, 0.1}, ratio{1, 1}))
	require.Greater(t, expectation(b, 5, 5, 0.4, 0.15), 1.0)
	for _, bad := range []bet{{0, 1, 1, 1, 0}, {1, 0.5, 0.5, 1, 0}, {1, 1, 0.5, 1, 0}, {1, math.Inf(1), 1, 0.5, 0}, {1, math.NaN(), 1, 0.5, 0}, {1, 1, 1, 1, -1}, {1, 1, 1, 1, math.NaN()}} {
		require.False(t, bad.fair(claim{1, 0}, ratio{1, 1}))
	}
}

// A whole process on two batches, whose second bet depends on what the first one showed, against the worst private
// mechanism, by enumeration: the mean wealth is at most 1, and so it is at the first time that it reaches the limit.
func TestWealthIsASupermartingale(t *testing.T) {
	for _, eps := range []string{"0.3", "1"} {
		e := epsilon(t, eps)
		c := math.Exp(e.Float())
		only := newWealth(e, big.NewRat(1, 3), false)
		only.levels, only.claimed = only.levels[only.claimed:only.claimed+1], 0
		for _, o := range []float64{0.02, 0.2, 0.99 / c} {
			p := c * o
			const n = 4
			mean, stopped := 0.0, 0.0
			for x := range int64(n + 1) {
				for y := range int64(2*n + 1) {
					chance := choose(n, x, p) * choose(2*n, y, o)
					first := newWealthLike(only)
					first.open(1.2*p, o, 2, ratio{1, 2}, 1e5)
					first.settle(counts{n, x, 2 * n, y})
					at := first.total(first.levels[first.claimed])
					for x2 := range int64(n + 1) {
						for y2 := range int64(n + 1) {
							w := newWealthLike(first)
							// The next bet is on the same event if it came often, otherwise on the opposite one.
							pp, oo := p, o
							if x <= 1 {
								pp, oo = 1-p, 1-o
								w.open(0.7, 0.4, 2, ratio{1, 1}, 1e5)
							} else {
								w.open(float64(x+1)/(n+2), float64(y+1)/(2*n+2), 2, ratio{1, 1}, 1e5)
							}
							w.settle(counts{n, x2, n, y2})
							total := w.total(w.levels[w.claimed])
							weight := chance * choose(n, x2, pp) * choose(n, y2, oo)
							mean += weight * math.Exp(total)
							if at > w.log {
								stopped += weight * math.Exp(at)
							} else {
								stopped += weight * math.Exp(total)
							}
						}
					}
				}
			}
			require.LessOrEqual(t, mean, 1.0)
			require.LessOrEqual(t, stopped, 1.0)
			require.Greater(t, mean, 0.1) // so that there is something to it
		}
	}
}

// newWealthLike returns a copy that can go on by itself.
func newWealthLike(w *wealth) *wealth {
	out := *w
	out.levels = nil
	for _, l := range w.levels {
		m := *l
		out.levels = append(out.levels, &m)
	}
	out.segs = append([]*segment(nil), w.segs...)
	for i, s := range out.segs {
		copied := *s
		out.segs[i] = &copied
	}
	return &out
}

// What is claimed to have been reached was, by an enclosure; and doctored stakes are not believed.
func TestReachedIsRigorous(t *testing.T) {
	w := newWealth(epsilon(t, "0.5"), big.NewRat(1, 20), true)
	for range 5 {
		w.open(0.5, 0.2, 0.01, ratio{1, 1}, 1000)
		w.settle(counts{100, 50, 100, 20})
	}
	at := w.bound()
	require.Greater(t, at, w.claimed)
	require.Less(t, w.value(at).Float64(), math.Log(2.5)) // the frequencies' own ratio
	require.False(t, w.levels[len(w.levels)-1].reached)
	for _, s := range w.segs {
		for k := range s.bets[w.claimed] {
			s.bets[w.claimed][k].x1 *= 1.0001 // the stake is a little too high
		}
	}
	require.False(t, w.certain(w.claimed))
	w.levels[w.claimed].reached = false
	require.Equal(t, w.claimed-1, w.bound())
	require.False(t, w.refuted())

	b := newBet(0.3, 0.4/1.5, claim{1.5, 0.01}, ratio{2, 1})
	n := counts{2000, 901, 1000, 333}
	lo, hi := b.enclose(n).Float64()
	require.InDelta(t, b.log(n), lo, 1e-8)
	require.LessOrEqual(t, hi-lo, 1e-12)
}

func TestLevels(t *testing.T) {
	for _, eps := range []string{"0.001", "0.5", "1", "5", "40", "8000"} {
		w := newWealth(epsilon(t, eps), big.NewRat(1, 20), false)
		require.Nil(t, w.levels[w.claimed].value)
		claims := w.claims(nil, 0.5, 0.5)
		sum := 0.0
		for _, x := range w.weights {
			sum += x
		}
		require.LessOrEqual(t, sum, 1.0)
		for i, l := range w.levels {
			c := claims[i].c
			if i > 0 && !math.IsInf(c, 1) {
				require.Less(t, claims[i-1].c, c, "%d of %v", i, eps)
			}
			if l.value != nil && !math.IsInf(c, 1) {
				exact := number.ExpRat(l.value, 128)
				holds, ok := exact.LessEq(number.FromFloat(c, 128))
				require.True(t, ok && holds)
				require.InEpsilon(t, exactFloat(exact), c, 1e-14)
			}
		}
		require.Less(t, len(w.levels), 3000)
	}
}

func exactFloat(x number.Interval) float64 { f, _ := x.Mid().Float64(); return f }

// The test of independence is a bet too: given the sums of the counts of both halves, its mean is at most 1.
func TestIndependenceBetsAreFair(t *testing.T) {
	for _, sums := range [][]int64{{4, 4}, {2, 6}, {1, 7}, {0, 8}, {2, 2, 4}, {1, 3, 4}} {
		n := int64(4)
		mean := [2]float64{}
		var walk func(a []int64, left int64)
		walk = func(a []int64, left int64) {
			r := len(a)
			if r == len(sums) {
				if left != 0 {
					return
				}
				b := make([]int64, r)
				h := 1 / choose(2*n, n, 0.5) * math.Pow(0.5, float64(2*n))
				for i := range a {
					b[i] = sums[i] - a[i]
					h *= choose(sums[i], a[i], 0.5) / math.Pow(0.5, float64(sums[i]))
				}
				var test independence
				test.compare(a, b, n, func() string { return "" })
				for i := range mean {
					mean[i] += h * math.Exp(test.logs[i])
				}
				return
			}
			for x := max(0, sums[r]-n); x <= min(left, sums[r], n); x++ {
				walk(append(append([]int64(nil), a...), x), left-x)
			}
		}
		walk(nil, n)
		for _, m := range mean {
			require.LessOrEqual(t, m, 1.0, "%v", sums)
			require.Greater(t, m, 0.5, "%v", sums) // where the players can bet at all
		}
	}
	// An answer is one of those before it with a probability that the bet on that makes up for, at most.
	for _, p := range []float64{0.05, 0.3, 0.5, 1} {
		for _, before := range [][][]int64{{{3, 5}}, {{0, 8}, {8}}, {{4, 4}, {4, 4}, {1, 7}}} {
			mean, last := 0.0, 0.0
			for x := range int64(9) {
				var test independence
				test.again([]int64{x, 8 - x}, before, func() string { return "" })
				mean += choose(8, x, p) * math.Exp(test.logs[anyBefore])
				last += choose(8, x, p) * math.Exp(test.logs[anyBefore+1])
			}
			require.LessOrEqual(t, mean, 1.0, "%v %v", p, before)
			require.LessOrEqual(t, last, 1.0, "%v %v", p, before)
		}
	}
	total := childrenPart
	for player := range players {
		_, weight := courage(player)
		total += weight
	}
	require.LessOrEqual(t, total, 1+1e-12)
	// The logarithms it rests on are good to what it takes off for rounding.
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		n := 1 + rng.Int64N(1<<uint(1+rng.IntN(24)))
		k := rng.Int64N(n + 1)
		exact := logFactorial(n).Sub(logFactorial(k)).Sub(logFactorial(n - k))
		require.InDelta(t, exactFloat(exact), logChoose(n, k), 1e-7)
	}
}

// open is openAt for neighbors at distance 1.
func (w *wealth) open(p, o, slack float64, r ratio, horizon float64) {
	w.openAt(nil, p, o, slack, r, horizon)
}
