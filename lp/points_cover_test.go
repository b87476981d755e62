package lp

import (
	"flag"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

var coverDepth = flag.Int("depth", 12, "greatest k up to which TestConstantOfBoundedDepth covers all n and ε")

// crowded is a ν from which on Theorem 1 bounds the ratio by 1.19, 1 + e^{-ν}/(ν-1) being less there.
var crowded = ratOf(184, 100)

// covered proves the bound most on permute-and-flip's ratio at one k, for every n and ε, and returns the number of cells of z that it takes; ok = false says that
// some cell has no proof. Cells start at multiples of 1/parts:
//
//   - up to the threshold the ratio is 1, and from ν = crowded on Theorem 1 bounds it, so that at each z so many n are left;
//   - in a cell the ratio is at most permute-and-flip's error at the end over a lower bound on the optimum at the beginning, as both rise with z. The bound is
//     the best of Theorem 1's, of cuts and of tables of counts, or that of an earlier cell.
func covered(t *testing.T, k int, most *big.Rat, parts int64) (cells int, ok bool) {
	threshold := func(at int64) bool { return newPowers(k, ratOf(at, parts)).plain[1].Cmp(ratOf(1, 1)) <= 0 }
	from := parts / 2
	for threshold(from + 1) {
		from++
	}
	require.True(t, threshold(from))
	best := map[int]*big.Rat{}
	for ; from < parts; cells++ {
		z := ratOf(from, parts)
		p := newPowers(k, z)
		last := 3 // from here on n is crowded
		for times(ratOf(int64(last), 1), p.plain[1]).Cmp(times(crowded, ratOf(int64(k), 1))) < 0 {
			last++
		}
		if last == 3 {
			return cells, true
		}
		offer := func(value func(n int) *big.Rat) {
			for n := 3; n < last; n++ {
				if v := value(n); best[n] == nil || best[n].Cmp(v) < 0 {
					best[n] = v
				}
			}
		}
		flip := func(at int64) func(n int) *big.Rat {
			return func(n int) *big.Rat { return flipTotalExact(n, k, Prior{}, ratOf(at, parts)) }
		}
		if threshold(from) {
			offer(flip(from))
		}
		offer(func(n int) *big.Rat { // Theorem 1
			excess := quotient(times(p.cost[0], raised(difference(ratOf(int64(k), 1), p.plain[1]), n)), times(p.plain[1], p.plain[0]))
			return difference(flip(from)(n), excess)
		})
		propose(t, p, last, offer)
		bounded := func(to int64) bool {
			for n := 3; n < last; n++ {
				if flip(to)(n).Cmp(times(most, best[n])) > 0 {
					return false
				}
			}
			return true
		}
		if !bounded(from + 1) {
			return cells, false
		}
		step := int64(1)
		for from+2*step <= parts && bounded(from+2*step) {
			step *= 2
		}
		for more := step / 2; more >= 1; more /= 2 {
			if from+step+more <= parts && bounded(from+step+more) {
				step += more
			}
		}
		from += step
	}
	return cells, true
}

// propose offers the values of cuts and of tables of counts that are feasible.
func propose(t *testing.T, p *powers, last int, offer func(func(n int) *big.Rat)) {
	z, _ := p.z[1].Float64()
	b, _ := p.plain[1].Float64()
	eps := -math.Log(z)
	for w := int(0.55 * b); w <= min(int(1.3*b)+1, p.k-1); w++ {
		if c := proposeCut(p.k, z, w); c.feasible(p) {
			offer(func(n int) *big.Rat { return c.value(n, p.k) })
		}
	}
	tried := map[[2]int]bool{}
	for _, n := range []int{3, 4, int(0.6 * float64(p.k) / b), int(0.95 * float64(p.k) / b), int(1.25 * float64(p.k) / b)} {
		for _, j := range []int{int(0.55/eps + 0.5), int(0.69/eps) + 1} {
			j = min(max(1, j), p.k-1)
			if at := [2]int{n, j}; n < 3 || n > last || tried[at] {
				continue
			} else {
				tried[at] = true
			}
			if f := proposeCounts(t, n, p.k, z, j, 5); f != nil && f.feasible(p) {
				offer(func(n int) *big.Rat { return f.value(n, p.k) })
			}
		}
	}
}

// Theorem 7 of research/docs/points.md, for k up to -depth with the tag slow, a few k otherwise.
func TestConstantOfBoundedDepth(t *testing.T) {
	// e^{-ν}/(ν-1) <= 0.19 at ν = crowded, by the first terms of e^ν.
	power, term := ratOf(1, 1), ratOf(1, 1)
	for i := range int64(8) {
		term = times(term, quotient(crowded, ratOf(i+1, 1)))
		power.Add(power, term)
	}
	require.GreaterOrEqual(t, times(power, plus(crowded, -1)).Cmp(ratOf(100, 19)), 0)

	deepest := 5
	if slowtest.Enabled {
		deepest = *coverDepth
	}
	for k := 2; k <= deepest; k++ {
		start := time.Now()
		cells, ok := covered(t, k, ratOf(239, 200), 4000)
		require.True(t, ok, "k = %d", k)
		t.Logf("k = %d: %d cells, %.1f s", k, cells, time.Since(start).Seconds())
	}
	_, ok := covered(t, 5, ratOf(21, 20), 4000)
	assert.False(t, ok, "these points do not prove 1.05")
}
