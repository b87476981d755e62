package lp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exact is the table in rational numbers.
func (f *longTable) exact() countTable {
	var table countTable
	for _, row := range f.rows {
		for range f.w {
			var values []*big.Rat
			for _, x := range row {
				values = append(values, times(ratFloat(x), ratFloat(f.scale)))
			}
			table = append(table, values)
		}
	}
	return table
}

// exact is the cut at one k in rational numbers.
func (c *longCut) exact(k int) *cutTable {
	table := &cutTable{w: c.w}
	for d := range k + 1 {
		phi := new(big.Rat)
		if k-d < len(c.phi) {
			phi = ratFloat(c.phi[k-d])
		}
		table.phi = append(table.phi, phi)
	}
	return table
}

func randomLongTable(r *rand.Rand, rows, most, w int) *longTable {
	f := &longTable{w: w, scale: 1}
	for range rows {
		row := []float64{0}
		for range most - 1 {
			row = append(row, r.Float64()-.2)
		}
		f.rows = append(f.rows, row)
	}
	return f
}

// A table that was fitted passes the exact path test and holds on every chain, at the k of the fit and at greater ones; one a little larger mostly does not.
func TestLongTablesAreFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 25))
	tight := 0
	for range 60 {
		w, rows := 1+r.IntN(2), 1+r.IntN(2)
		k, z := w*rows+1+r.IntN(3), float64(8+r.IntN(7))/16
		f := randomLongTable(r, rows, 2+r.IntN(3), w)
		if !f.fit(at(z), k) {
			continue
		}
		table := f.exact()
		for more := range 3 {
			require.True(t, table.feasible(newPowers(k+more, ratFloat(z))), "%v at %v, k = %d", f, z, k+more)
		}
		for n := 3; n <= 4; n++ {
			more := r.IntN(3)
			require.True(t, feasible(n, k+more, ratFloat(z), errorLoss, table.at), "%v at %v, n = %d, k = %d", f, z, n, k+more)
		}
		f.scale *= 1 + 1e-9
		if !f.exact().feasible(newPowers(k, ratFloat(z))) {
			tight++
		}
	}
	assert.Greater(t, tight, 30)
}

// A cut that passes the test for a range of k holds on every chain at each of them.
func TestLongCutsAreFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 25))
	passed, failed := 0, 0
	for range 200 {
		k1 := 3 + r.IntN(3)
		k2, z := k1+r.IntN(3), float64(8+r.IntN(7))/16
		w := 1 + r.IntN(2)
		c := proposeLongCut(z, k1, []int{k1, k2}[r.IntN(2)], w, min(k1, 1+r.IntN(6)), 1-.1*float64(r.IntN(3)))
		if r.IntN(3) == 0 {
			for i := range c.phi {
				c.phi[i] *= .9 + .2*r.Float64()
			}
		}
		ok, end := c.feasible(at(z), k1, k2), k2
		if r.IntN(3) == 0 {
			ok, end = c.feasible(at(z), k1, -1), k1+4
		}
		really := true
		for k := k1; k <= end; k++ {
			really = really && feasible(3, k, ratFloat(z), errorLoss, c.exact(k).at) && (k > 5 || feasible(4, k, ratFloat(z), errorLoss, c.exact(k).at))
		}
		require.False(t, ok && !really, "%v at %v, k in [%d,%d]", c, z, k1, end)
		if ok {
			passed++
		} else if !really {
			failed++
		}
	}
	assert.Greater(t, passed, 30)
	assert.Greater(t, failed, 15)
}

// The bounds on a strip are bounds for random n and k in it, by the exact totals, and close ones where the strip is a point.
func TestStripsBoundTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 25))
	unit := func(x *big.Rat, n, k int) *big.Rat {
		return quotient(x, times(ratOf(int64(n*(n-1)), 1), raised(ratOf(int64(k), 1), n-2)))
	}
	above := func(bound float64, x *big.Rat, close bool, what ...any) {
		require.LessOrEqual(t, x.Cmp(ratFloat(bound)), 0, "%v", what)
		require.False(t, close && times(ratFloat(bound), ratOf(99, 100)).Cmp(x) > 0, "%v", what)
	}
	for round := range 80 {
		n, k := 3+r.IntN(12), 10+r.IntN(40)
		k1, k2, point := k, k, round%4 == 0
		z1, z2 := float64(500+r.IntN(400))/1024, 0.0
		mu := span{below(float64(n-2) / float64(k)), math.Nextafter(float64(n-2)/float64(k), 9)}
		if z2 = z1; !point {
			k1, k2, z2 = k-r.IntN(k/3), k+r.IntN(k), z1+float64(r.IntN(16))/1024
			mu = span{mu.lo * (1 - r.Float64()/4), mu.hi * (1 + r.Float64()/4)}
			if round%4 == 1 {
				k2 = -1
			}
		}
		c := &longCut{w: 1 + r.IntN(3)}
		for range 1 + r.IntN(k1) {
			c.phi = append(c.phi, r.Float64())
		}
		f := randomLongTable(r, 1+r.IntN(2), 2+r.IntN(4), 1+r.IntN(3))
		b := newRectangle(z1, z2, k1, k2, len(c.phi)+c.w+6)
		s := b.strip(mu.lo, mu.hi)

		flip := unit(flipTotalExact(n, k, Prior{}, ratFloat(z2)), n, k)
		above(s.flip(), flip, point, n, k, z2)
		for _, v := range []struct {
			bound float64
			exact *big.Rat
		}{{s.cut(c), unit(c.exact(k).value(n, k), n, k)}, {s.table(f), unit(f.exact().value(n, k), n, k)}} {
			require.LessOrEqual(t, ratFloat(v.bound).Cmp(v.exact), 0, "n = %d, k = %d in [%d,%d], %v, %v", n, k, k1, k2, c, f)
			off, _ := difference(v.exact, ratFloat(v.bound)).Float64()
			require.False(t, point && off > 1e-6, "n = %d, k = %d: %v", n, k, v)
		}
		p := newPowers(k, ratFloat(z1))
		one, top := ratOf(1, 1), quotient(p.cost[0], p.plain[0])
		deepest := difference(raised(ratOf(int64(k+1), 1), n), times(raised(ratOf(int64(k), 1), n), plusRat(one, quotient(one, p.plain[1]))))
		if bound := s.deepest(); bound > 0 {
			above(-bound, new(big.Rat).Neg(unit(times(top, deepest), n, k)), false, n, k, z1)
		}
	}
}

// The refined bounds on permute-and-flip's error hold on random finer lattices.
func TestRefinedFlips(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 25))
	closest := map[int]float64{}
	for range 40 {
		n, coarse, i := 3+r.IntN(4), 47+r.IntN(60), 6+r.IntN(35)
		zf, w := ratOf(int64(8192-i), 8192), int(math.Ceil(finest/-math.Log1p(-float64(i)/8192)))
		z, _ := raised(zf, w).Float64()
		b := newRectangle(below(z)-1e-6, math.Nextafter(z, 1), coarse-4*r.IntN(2), coarse+4*r.IntN(2), 1)
		b.refinedFlips()
		s := b.strip(below(float64(n-2)/float64(coarse)), math.Nextafter(float64(n-2)/float64(coarse), 1))
		k := w*(coarse+1) - 1 + []int{r.IntN(w), w - 1}[r.IntN(2)]
		flip := quotient(flipTotalExact(n, k, Prior{}, zf), times(ratOf(int64(n*(n-1)), 1), raised(ratOf(int64(coarse), 1), n-2), raised(ratOf(int64(w), 1), n)))
		require.LessOrEqual(t, flip.Cmp(ratFloat(s.flip())), 0, "n = %d, k = %d, w = %d, z = %v", n, k, w, zf)
		share, _ := quotient(flip, ratFloat(s.flip())).Float64()
		closest[min(w, 5)] = max(closest[min(w, 5)], share)
	}
	for w := 2; w <= 5; w++ {
		assert.Greater(t, closest[w], .95)
	}
}
