package lp

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/slowtest"
)

// smallDelta is the mechanism in the proof of Theorem 7 of research/docs/approximate.md, in exact numbers. Vectors are
// given by how many candidates they have at each depth.
type smallDelta struct {
	k          int
	z, g, w, b *big.Rat   // e^{-ε}, G, w = 1 + z^{k-1} - z^k, B = z + … + z^{k-1}
	powers     []*big.Rat // 1, z, …, z^k
}

func newSmallDelta(k int, e *big.Rat) smallDelta {
	m := smallDelta{k: k, z: new(big.Rat).Inv(e), b: new(big.Rat), powers: []*big.Rat{big.NewRat(1, 1)}}
	for v := 1; v <= k; v++ {
		m.powers = append(m.powers, mul(m.powers[v-1], m.z))
		if v < k {
			m.b.Add(m.b, m.powers[v])
		}
	}
	m.g = add(m.powers[0], m.b, m.powers[k-1])
	m.w = sub(add(m.powers[0], m.powers[k-1]), m.powers[k])
	return m
}

func add(terms ...*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, t := range terms {
		sum.Add(sum, t)
	}
	return sum
}
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

// weights are those of the depths for a normaliser y.
func (m smallDelta) weights(y *big.Rat) []*big.Rat {
	ws := append([]*big.Rat{}, m.powers...)
	clip := func(y, low *big.Rat) *big.Rat {
		if y.Cmp(low) < 0 {
			return low
		}
		if y.Cmp(m.g) > 0 {
			return m.g
		}
		return y
	}
	last := m.powers[m.k-1]
	top := clip(y, quo(m.g, m.w))
	ws[0] = sub(sub(top, m.b), mul(last, quo(top, m.g)))
	ws[m.k] = mul(last, quo(clip(y, mul(m.z, m.g)), m.g))
	return ws
}

// mean is F(y), the mean weight times k+1.
func (m smallDelta) mean(counts []int, y *big.Rat) *big.Rat {
	sum, n := new(big.Rat), 0
	for v, w := range m.weights(y) {
		sum.Add(sum, mul(w, big.NewRat(int64(counts[v]), 1)))
		n += counts[v]
	}
	return mul(sum, big.NewRat(int64(m.k+1), int64(n)))
}

// normaliser is the largest y with F(y) = y. F is constant above G and below zG, and linear between zG, G/w and G.
func (m smallDelta) normaliser(counts []int) *big.Rat {
	if top := m.mean(counts, m.g); top.Cmp(m.g) >= 0 {
		return top
	}
	ends := []*big.Rat{m.g, quo(m.g, m.w), mul(m.z, m.g)}
	for i := 1; i < len(ends); i++ {
		high, low := ends[i-1], ends[i]
		if at := m.mean(counts, low); at.Cmp(low) >= 0 {
			slope := quo(sub(m.mean(counts, high), at), sub(high, low))
			return quo(sub(at, mul(slope, low)), sub(big.NewRat(1, 1), slope))
		}
	}
	return m.mean(counts, ends[2])
}

// unusual has the probabilities of one candidate at each depth, times n/(k+1), of a vector that is not usual.
func (m smallDelta) unusual(counts []int) []*big.Rat {
	y := m.normaliser(counts)
	ws := m.weights(y)
	for v := range ws {
		ws[v] = quo(ws[v], y)
	}
	return ws
}

// usual has those of a usual vector: the best candidates take what the others leave.
func (m smallDelta) usual(counts []int) []*big.Rat {
	n, xs := 0, make([]*big.Rat, m.k+1)
	for _, c := range counts {
		n += c
	}
	rest := big.NewRat(int64(n), int64(m.k+1))
	for v := m.k; v > 0; v-- {
		xs[v] = quo(m.powers[v], m.g)
		rest.Sub(rest, mul(xs[v], big.NewRat(int64(counts[v]), 1)))
	}
	xs[0] = quo(rest, big.NewRat(int64(counts[0]), 1))
	return xs
}

// countVectors calls each for all counts of n candidates with at least one at the top.
func countVectors(n, k int, each func([]int)) {
	counts := make([]int, k+1)
	var fill func(v, left int)
	fill = func(v, left int) {
		if v == 0 {
			if left > 0 {
				counts[0] = left
				each(counts)
			}
			return
		}
		for counts[v] = 0; counts[v] <= left; counts[v]++ {
			fill(v-1, left-counts[v])
		}
	}
	fill(k, n)
}

// risers calls each for all neighbors of a vector in which moved[v] candidates at depth v rise to v-1. Every pair of
// neighbors is such a pair in one of its two orders.
func risers(counts []int, each func(moved, to []int)) {
	k := len(counts) - 1
	moved, to := make([]int, k+1), append([]int{}, counts...)
	var fill func(v int)
	fill = func(v int) {
		if v > k {
			each(moved, to)
			return
		}
		for moved[v] = 0; moved[v] <= counts[v]; moved[v]++ {
			fill(v + 1)
			to[v]--
			to[v-1]++
		}
		to[v] += counts[v] + 1
		to[v-1] -= counts[v] + 1
	}
	fill(1)
}

// worstEvent is the least δ of a pair, both ways: x the probabilities of the vector, y those of the one where moved[v]
// candidates have risen.
func worstEvent(e *big.Rat, counts, moved []int, x, y []*big.Rat) *big.Rat {
	n := 0
	forth, back := new(big.Rat), new(big.Rat)
	group := func(count int, a, b *big.Rat) {
		for sum, d := range map[*big.Rat]*big.Rat{forth: sub(a, mul(e, b)), back: sub(b, mul(e, a))} {
			if count > 0 && d.Sign() > 0 {
				sum.Add(sum, mul(d, big.NewRat(int64(count), 1)))
			}
		}
	}
	for v := range counts {
		n += counts[v]
		group(counts[v]-moved[v], x[v], y[v])
		if v > 0 {
			group(moved[v], x[v], y[v-1])
		}
	}
	if back.Cmp(forth) > 0 {
		forth = back
	}
	return mul(forth, big.NewRat(int64(len(counts)), int64(n)))
}

// TestSmallDeltaForManyCandidates: Theorem 7. The mechanism for unusual vectors is ε-DP, and stays so with the better
// choice at the one vector that has equally many candidates at every depth, whose expected error is the limit; with a
// little less at depth k it does not.
func TestSmallDeltaForManyCandidates(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct{ n, k int }{{4, 1}, {6, 1}, {6, 2}, {9, 2}, {8, 3}, {5, 4}} {
		for _, text := range []string{"3/2", "2", "7"} {
			e, _ := new(big.Rat).SetString(text)
			m, name := newSmallDelta(c.k, e), fmt.Sprint(c, text)
			balanced := func(counts []int) bool {
				for _, a := range counts {
					if a != counts[0] {
						return false
					}
				}
				return true
			}
			worst, less := new(big.Rat), new(big.Rat)
			check := func(counts []int, law func([]int) []*big.Rat, worst *big.Rat) {
				x := law(counts)
				risers(counts, func(moved, to []int) {
					if d := worstEvent(e, counts, moved, x, law(to)); d.Cmp(worst) > 0 {
						worst.Set(d)
					}
				})
			}
			law := func(counts []int) []*big.Rat {
				if balanced(counts) {
					return m.usual(counts)
				}
				return m.unusual(counts)
			}
			doctored := func(counts []int) []*big.Rat {
				x := law(counts)
				if balanced(counts) {
					cut := mul(x[c.k], big.NewRat(1, 100))
					x[c.k], x[0] = sub(x[c.k], cut), add(x[0], cut)
				}
				return x
			}
			countVectors(c.n, c.k, func(counts []int) {
				counts = append([]int{}, counts...)
				sum := new(big.Rat)
				for v, x := range law(counts) {
					assert.GreaterOrEqual(t, x.Sign(), 0, name)
					sum.Add(sum, mul(x, big.NewRat(int64(counts[v]*(c.k+1)), int64(c.n))))
				}
				assert.Equal(t, "1", sum.RatString(), name)
				check(counts, law, worst)
				check(counts, doctored, less)
			})
			assert.Zero(t, worst.Sign(), "%s %s", name, worst)
			if c.n%(c.k+1) == 0 {
				assert.Positive(t, less.Sign(), name)
			}
		}
	}
}

// leastAround is the least δ over all pairs of neighbors of which at least one is usual: each depth has at least each-j and
// at most each+j of the each·(k+1) candidates.
func leastAround(e *big.Rat, each, k, j int, law func(counts []int, usual bool) []*big.Rat) *big.Rat {
	usual := func(counts []int) bool {
		for _, a := range counts {
			if a > each+j || a < each-j {
				return false
			}
		}
		return true
	}
	least := new(big.Rat)
	countVectors(each*(k+1), k, func(counts []int) {
		counts = append([]int{}, counts...)
		from, x := usual(counts), []*big.Rat(nil)
		risers(counts, func(moved, to []int) {
			if !from && !usual(to) {
				return
			}
			if x == nil {
				x = law(counts, from)
			}
			if d := worstEvent(e, counts, moved, x, law(to, usual(to))); d.Cmp(least) > 0 {
				least = d
			}
		})
	})
	return least
}

// TestUsualVectorsNeedLittle: what the usual vectors of Theorem 7 need is in proportion to their width ω = j/n: between a
// tenth of (k+1)ω and all of it.
func TestUsualVectorsNeedLittle(t *testing.T) {
	e := big.NewRat(2, 1)
	for _, c := range []struct{ k, each, j int }{{1, 24, 1}, {1, 48, 3}, {2, 8, 1}, {2, 12, 2}, {3, 4, 1}} {
		m := newSmallDelta(c.k, e)
		least := leastAround(e, c.each, c.k, c.j, func(counts []int, usual bool) []*big.Rat {
			if usual {
				return m.usual(counts)
			}
			return m.unusual(counts)
		})
		bound := big.NewRat(int64(c.j), int64(c.each))
		assert.LessOrEqual(t, least.Cmp(bound), 0, "%v %s", c, least)
		assert.Positive(t, least.Cmp(mul(bound, big.NewRat(1, 10))), "%v %s", c, least)
	}
}

// TestBlindBeyondOneStep: Theorem 6's upper bound for k >= 2. Blind on unusual vectors, with what δ allows taken from the
// deepest candidates, the mechanism is (ε,δ)-DP; with a tenth less for them it is not.
func TestBlindBeyondOneStep(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct{ k, each, e int }{{2, 8, 2}, {2, 12, 5}, {3, 6, 3}} {
		e, one := big.NewRat(int64(c.e), 1), big.NewRat(1, 1)
		z, delta := quo(one, e), big.NewRat(1, int64(c.k+2))
		law := func(factor *big.Rat) func(counts []int, usual bool) []*big.Rat {
			return func(counts []int, usual bool) []*big.Rat {
				xs, rest := make([]*big.Rat, c.k+1), big.NewRat(int64(c.each), 1)
				for v := c.k; v > 0; v-- {
					xs[v] = quo(one, big.NewRat(int64(c.k+1), 1)) // times n/(k+1): a blind choice
					if usual {
						xs[v] = mul(xs[v], z)
					}
					if usual && v == c.k {
						share := big.NewRat(int64(c.each+1), int64(c.each*(c.k+1)))
						xs[v] = mul(mul(xs[v], sub(one, quo(delta, share))), factor)
					}
					rest.Sub(rest, mul(xs[v], big.NewRat(int64(counts[v]), 1)))
				}
				xs[0] = quo(rest, big.NewRat(int64(counts[0]), 1))
				return xs
			}
		}
		assert.LessOrEqual(t, leastAround(e, c.each, c.k, 1, law(one)).Cmp(delta), 0, c)
		assert.Positive(t, leastAround(e, c.each, c.k, 1, law(big.NewRat(9, 10))).Cmp(delta), c)
	}
}

// TestLeastOfTheLimit: the lower bound of Theorem 7. No law g on the depths with g_v >= z g_{v-1} for v < k makes
// Σ_{v<k} v z g_{v-1} + k z max(g_{k-1}, g_k) less than Σ v z^v/G times its sum: nondecreasing weights a_v of z^v are sums
// of steps, and at each step the quotient R_i of the proof is at least R_0, which the limit is z times.
func TestLeastOfTheLimit(t *testing.T) {
	for k := 1; k < 20; k++ {
		for _, text := range []string{"101/100", "6/5", "3/2", "2", "50"} {
			e, _ := new(big.Rat).SetString(text)
			m := newSmallDelta(k, e)
			limit := new(big.Rat)
			for v := 1; v <= k; v++ {
				limit.Add(limit, mul(big.NewRat(int64(v), 1), m.powers[v]))
			}
			limit.Quo(limit, m.g)
			if one := m.powers[0]; k > 1 && e.Cmp(big.NewRat(3, 2)) >= 0 { // the conditions of the upper bound
				least := quo(sub(one, mul(m.b, sub(m.w, one))), m.w)
				assert.Positive(t, least.Cmp(m.z))
				assert.LessOrEqual(t, quo(add(one, one, m.b), m.g).Cmp(quo(e, m.w)), 0)
			}
			for i := k - 1; i >= 0; i-- {
				over, under := new(big.Rat), new(big.Rat).Set(m.powers[k-1])
				for v := i; v < k; v++ {
					over.Add(over, mul(big.NewRat(int64(v+1), 1), m.powers[v]))
					under.Add(under, m.powers[v])
				}
				assert.GreaterOrEqual(t, mul(m.z, quo(over, under)).Cmp(limit), 0, "%d %s %d", k, text, i)
				if i == 0 {
					assert.Zero(t, mul(m.z, quo(over, under)).Cmp(limit))
				}
			}
		}
	}
}
