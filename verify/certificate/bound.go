package certificate

import (
	"math/big"

	"optratio/internal/evidence"
)

// Proof lp gives multipliers and a point of the finite problem that section lattice has for L = 1: its file has y(m) and the injections s, from which the multipliers of
// the rows along chains and the table follow. A chain is a candidate that sinks by one step after the other past the others, who keep their distances; its rows are those of
// level paper. In whole numbers over one unit everything is exact where z is rational; where z is only enclosed it is rounded to so many bits, down for multipliers, of which any
// give some bound, and up for the table, which must satisfy the rows.

// chains finds, for every cell, the one before it on its chain, -1 where there is none, and whether it is the last.
func (c *certificate) chains() {
	l := c.lattice.lat
	to := make([]int, c.k+1)
	for range c.lattice.loss {
		c.before, c.deepest = append(c.before, -1), append(c.deepest, true)
	}
	j := -1
	for _, m := range l.Orbits() {
		for v, count := range m {
			if count == 0 {
				continue
			}
			if j++; v == 0 && (m[c.k] > 0 || c.n == 1) {
				continue
			}
			if copy(to, m); v > 0 {
				to[v]--
				to[v-1]++
			} else { // it is the best alone, and the others are a step deeper
				copy(to[1:], m)
				to[0] = 1
				to[1]--
			}
			b := l.Variable(l.Rank(to), to, max(v-1, 0))
			c.before[j], c.deepest[b] = b, false
		}
	}
}

// scaled returns ⌊x·unit⌋.
func scaled(x *big.Rat, unit *big.Int) *big.Int {
	out := new(big.Int).Mul(x.Num(), unit)
	return out.Div(out, x.Denom())
}

// power returns x^n for z's denominator, or stops where that is too long for common denominators.
func (c *certificate) power(x *big.Int, n int) *big.Int {
	c.cost.Multiply(n*x.BitLen(), n*x.BitLen())
	return new(big.Int).Exp(x, big.NewInt(int64(n)), nil)
}

// multiply works out the lower bound's side: λ_a = max(0, C_a + z λ_next - count_a y(m)) along each chain from its deep end, λ = 0 at its first cell. It tells see, if there is
// one, the multipliers of all rows.
func (c *certificate) multiply(z *big.Rat, exact bool, prec uint, see func(nu *big.Rat, distance int, row privacyRow)) *dual {
	l := c.lattice
	unit := new(big.Int).Lsh(big.NewInt(1), prec)
	if exact {
		all := append([]*big.Rat{}, c.dual...)
		for _, q := range c.cuts {
			all = append(all, q.Mu)
		}
		_, unit = c.cost.Common(all)
		unit.Mul(unit, c.power(z.Denom(), 2*c.k+1))
	}
	d := l.newDual([]*big.Rat{z, big.NewRat(1, 1)}, unit)
	add := func(nu *big.Int, distance int, row privacyRow) {
		d.add(nu, distance, part{row, 1})
		if see != nil {
			see(new(big.Rat).SetFrac(nu, unit), distance, row)
		}
	}
	cell := func(m []int, v int) int { return l.lat.Variable(l.lat.Rank(m), m, v) }
	for _, q := range c.cuts {
		distance := 1
		if q.Privacy {
			distance = 0
		}
		nu := scaled(q.Mu, unit)
		add(nu.Mul(nu, l.lat.Weight(q.M, q.V)), distance, privacyRow{cell(q.M, q.V), cell(q.L, q.W)})
	}
	input := make([]int, len(l.loss))
	y := make([]*big.Int, len(c.dual)) // N(m) y(m), in the dual's units
	for i, m := range l.lat.Orbits() {
		y[i] = scaled(c.dual[i], unit)
		y[i].Mul(y[i], l.lat.Multiplicity(m)).Mul(y[i], d.zUnit)
		for j := l.first[i]; j < l.first[i+1]; j++ {
			input[j] = i
		}
	}
	for end := range c.before {
		for a := end; c.deepest[end] && c.before[a] >= 0; a = c.before[a] {
			nu := l.times(a, y[input[a]])
			if nu = new(big.Int).Sub(d.left[a], nu); nu.Sign() > 0 {
				add(nu.Div(nu, d.zUnit), 0, privacyRow{a, c.before[a]})
			}
		}
	}
	return d
}

// point returns the table that injections give, over den, in multiples of unit but at depth 0: x_a = z x_b + s/w for the b before it, and the rest of (E) at depth 0. Without
// injections it is permute-and-flip's.
func (c *certificate) point(z *big.Rat, inject []injection, den, unit *big.Int) []*big.Int {
	l := c.lattice
	x := make([]*big.Int, len(l.loss))
	roundUp := func(num, by *big.Int) *big.Int { // the least multiple of the unit that is num/by at least
		by = new(big.Int).Mul(by, unit)
		q, rest := new(big.Int).DivMod(num, by, new(big.Int))
		if rest.Sign() > 0 {
			q.Add(q, big.NewInt(1))
		}
		return q.Mul(q, unit)
	}
	for i := range l.inputs() {
		first := l.first[i]
		rest, count := new(big.Int).Set(den), big.NewInt(1)
		for j := first; j < l.first[i+1]; j++ {
			if j == first { // the cell of depth 0
				count = l.count[j]
				continue
			}
			c.cost.Multiply(den.BitLen(), 128+z.Denom().BitLen())
			x[j] = roundUp(new(big.Int).Mul(x[c.before[j]], z.Num()), z.Denom())
			if len(inject) > 0 && inject[0].cell == j {
				s := inject[0].s
				x[j].Add(x[j], roundUp(new(big.Int).Mul(s.Num(), den), new(big.Int).Mul(s.Denom(), inject[0].w)))
				inject = inject[1:]
			}
			rest.Sub(rest, l.times(j, x[j]))
		}
		x[first] = rest.Div(rest, count)
	}
	return x
}

// upper sets a feasible table and returns its value, nil where only permute-and-flip is known to be feasible. Where the point of the injections violates rows, as much of
// permute-and-flip is mixed in as makes them hold.
func (c *certificate) upper(z *big.Rat, exact bool, prec uint) *big.Rat {
	l := c.lattice
	unit := big.NewInt(1)
	if exact {
		var all []*big.Rat
		for _, q := range c.inject {
			all = append(all, q.s)
		}
		_, l.den = c.cost.Common(all)
		l.den.Mul(l.den, c.power(z.Denom(), c.n*c.k))
		l.den.Mul(l.den, new(big.Int).MulRange(1, int64(c.n)))
	} else {
		for i := range c.n {
			unit = evidence.LCM(unit, big.NewInt(int64(i+1)))
		}
		l.den = new(big.Int).Lsh(unit, prec)
	}
	c.cost.Hold(2*len(l.loss), l.den.BitLen())
	l.x = c.point(z, c.inject, l.den, unit)
	theta := c.short(z, unit)
	if theta.Sign() > 0 {
		if !exact {
			up := scaled(theta.Neg(theta), new(big.Int).Lsh(big.NewInt(1), prec))
			theta.SetFrac(up.Neg(up), new(big.Int).Lsh(big.NewInt(1), prec))
		}
		for j, y := range c.point(z, nil, l.den, unit) {
			c.cost.Multiply(y.BitLen(), 2*theta.Denom().BitLen())
			x := new(big.Int).Sub(theta.Denom(), theta.Num())
			x.Mul(x, l.x[j])
			l.x[j] = x.Add(x, new(big.Int).Mul(theta.Num(), y))
		}
		l.den = new(big.Int).Mul(l.den, theta.Denom())
		if c.short(z, unit).Sign() > 0 {
			return nil
		}
	}
	l.sums()
	return l.value()
}

// short returns the least weight of permute-and-flip in a mixture with the table that satisfies all rows; 0 if the table does.
func (c *certificate) short(z *big.Rat, unit *big.Int) *big.Rat {
	l := c.lattice
	powers := []*big.Rat{z}
	if l.level.Monotone {
		powers = append(powers, big.NewRat(1, 1))
	}
	t := l.wholeNumbers(l.x, powers)
	var flip *wholeTable
	theta := new(big.Rat)
	lack := func(slack func(*wholeTable) *big.Int) {
		if flip == nil {
			flip = l.wholeNumbers(c.point(z, nil, l.den, unit), powers)
		}
		least, missing, spare := big.NewRat(1, 1), new(big.Int).Neg(slack(t)), slack(flip)
		if spare.Sign() > 0 {
			least.SetFrac(missing, spare.Add(spare, missing))
		}
		if theta.Cmp(least) < 0 {
			theta = least
		}
	}
	for j, x := range l.x {
		if x.Sign() < 0 {
			lack(func(t *wholeTable) *big.Int { return new(big.Int).Set(t.left[0][j]) })
		}
	}
	l.pairs(func(p pair) {
		for _, row := range p.rows {
			if t.left[p.distance][row.a].Cmp(t.right[p.distance][row.b]) < 0 {
				lack(func(t *wholeTable) *big.Int {
					return new(big.Int).Sub(t.left[p.distance][row.a], t.right[p.distance][row.b])
				})
			}
		}
		c.cost.Spend(len(p.rows))
	})
	return theta
}
