package check

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// constantCertificate is section constant: a bound on permute-and-flip's ratio at level paper for every n, every k from one on and every z = e^-ε up to one. research/docs/points.md
// has the theorem, and what a point is.
type constantCertificate struct {
	evidence.Setting
	first, to, most *big.Rat
	from            int      // the least k
	crowded         *big.Rat // ν from which on the closed form gives the bound
	cells           []constantCell
	cost            *evidence.Effort
}

// constantCell has low <= z <= high: points are feasible at low, and neither the optimum nor permute-and-flip's error falls as z rises.
type constantCell struct {
	low, high *big.Rat
	ranges    []constantRange
}

// constantRange has from <= k <= to, or k >= from where to is 0.
type constantRange struct {
	from, to int
	points   []constantPoint
}

// constantPoint has y/scale[i][r] for each top and each distance r of the deepest from k, up to reach.
type constantPoint struct {
	best, depth, reach int
	most               int // the largest n that it is for, 0 for all
	scale              int64
	tops               [][]int
	y                  [][]int64
	difference, power  [][]number.Interval // by how many are chosen and by cut
}

// Limits on what a certificate of this section may ask for.
const (
	maxConstantDepth = 64
	maxConstantTops  = 1 << 12
	maxConstantRange = 1 << 12 // the largest finite k
	constantBits     = 96
	constantTied     = 12 // how many candidates beyond the s-th may share its depth in what is counted
	maxConstantParts = 40 // how often a box is halved
	stepsPerTerm     = 100
)

func (c *constantCertificate) About(p *evidence.Problem) bool {
	p.Objective, p.Constraints, p.Proof = "paper", "paper", "constant"
	return len(c.Claims) > 0
}

func (c *constantCertificate) Read(r *evidence.Reader, _ evidence.Options) {
	c.cost = r.Cost
	c.from = r.Whole("k", 1, maxConstantRange)
	c.first, c.to, c.most = rangeClaim(r)
	on := fmt.Sprintf("ratio pf for every n, every k >= %d and %s <= z <= %s", c.from, c.first.RatString(), c.to.RatString())
	c.Claims = []evidence.Claim{{On: on, Value: number.Bounds(big.NewRat(1, 1), c.most)}}
	for r.Is("cell") {
		f := r.Fields("cell", 2)
		cell := constantCell{low: share(r, f[0], false), high: share(r, f[1], false)}
		for r.Is("range") {
			cell.ranges = append(cell.ranges, c.stretch(r))
		}
		c.cells = append(c.cells, cell)
	}
}

func (c *constantCertificate) stretch(r *evidence.Reader) (q constantRange) {
	f := r.Fields("range", 2)
	q.from = r.Integer("range", f[0], 1, maxConstantRange)
	if f[1] != "inf" {
		q.to = r.Integer("range", f[1], q.from, maxConstantRange)
	}
	for r.Is("point") {
		f := r.Fields("point", 5)
		p := constantPoint{
			best: r.Integer("point", f[0], 2, 8), depth: r.Integer("point", f[1], 1, maxConstantDepth), reach: r.Integer("point", f[2], 1, maxConstantDepth),
			most: r.Integer("point", f[3], 0, maxConstantRange), scale: int64(r.Integer("point", f[4], 1, maxScale)),
		}
		if p.depth+p.reach-1 > q.from {
			r.Failf("point: depth + reach - 1 is more than the least k of the range, %d", q.from)
		}
		if q.to == 0 && p.depth+p.reach >= q.from {
			r.Failf("point: depth + reach is not below %d, where the last range begins", q.from)
		}
		for top := make([]int, p.best-1); top != nil; top = nextTop(top, p.depth) {
			if len(p.tops) == maxConstantTops {
				evidence.Limit("a point has more than %d tops", maxConstantTops)
			}
			p.tops = append(p.tops, top)
			row := make([]int64, p.reach+1)
			if top[0] < p.depth {
				for i, s := range r.Fields("top", len(row)) {
					row[i] = int64(r.Integer("top", s, 0, maxScale))
				}
			}
			c.cost.Keep(8*(len(row)+len(top)) + 100)
			p.y = append(p.y, row)
		}
		q.points = append(q.points, p)
	}
	return q
}

// nextTop returns the nondecreasing sequence of numbers up to most that follows in lexicographic order, nil after the last one.
func nextTop(top []int, most int) []int {
	next := slices.Clone(top)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i] < most {
			v := next[i] + 1
			for ; i < len(next); i++ {
				next[i] = v
			}
			return next
		}
	}
	return nil
}

// Decide makes sure that the cells follow each other and that each proves the bound. Up to z = 1/2 permute-and-flip is optimal.
func (c *constantCertificate) Decide(evidence.Options) {
	c.crowded = c.crowding()
	reached := c.first
	if half := big.NewRat(1, 2); reached.Cmp(half) < 0 {
		reached = half
	}
	for i := range c.cells {
		cell := &c.cells[i]
		if cell.low.Cmp(reached) > 0 {
			evidence.Refute("no proof from z = %s to %s", reached.RatString(), cell.low.RatString())
		}
		if cell.low.Sign() == 0 || cell.low.Cmp(cell.high) >= 0 || cell.high.Cmp(big.NewRat(1, 1)) >= 0 {
			evidence.Refute("from z = %s to %s there is no cell", cell.low.RatString(), cell.high.RatString())
		}
		c.cell(cell)
		reached = cell.high
	}
	if reached.Cmp(c.to) < 0 {
		evidence.Refute("no proof from z = %s to %s", reached.RatString(), c.to.RatString())
	}
	c.Claims[0].Follows = true
}

// crowding returns a ν > 1 with 1 + e^-ν/(ν-1) at most the bound, which then holds for all larger ν (research/docs/universal.md, Theorem 1).
func (c *constantCertificate) crowding() *big.Rat {
	one := big.NewRat(1, 1)
	excess := number.Exact(new(big.Rat).Sub(c.most, one))
	for nu := big.NewRat(101, 100); nu.Cmp(big.NewRat(40, 1)) < 0; nu.Add(nu, big.NewRat(1, 100)) {
		e := number.ExpRat(new(big.Rat).Neg(nu), constantBits).Quo(number.FromRat(new(big.Rat).Sub(nu, one), constantBits))
		if evidence.AtMost(number.Enclosed(e), excess) == evidence.Holds {
			return nu
		}
	}
	evidence.Refute("a bound of %s is too small for this section", c.most.RatString())
	return nil
}

// cell makes sure that the ranges of k follow each other and prove the bound for all n.
func (c *constantCertificate) cell(cell *constantCell) {
	next := c.from
	for i := range cell.ranges {
		q := &cell.ranges[i]
		if next == 0 || q.from > next {
			evidence.Refute("z = %s: no proof for k = %d", cell.low.RatString(), next)
		}
		for j := range q.points {
			if p := &q.points[j]; !c.feasible(p, cell.low, q.from) {
				evidence.Refute("z = %s, k = %d: a point is not feasible", cell.low.RatString(), q.from)
			}
			q.points[j].count(c.cost)
		}
		if q.to > 0 {
			for k := q.from; k <= q.to; k++ {
				c.depth(cell, q, k)
			}
			next = q.to + 1
			continue
		}
		(&constantBoxes{c: c, cell: cell, q: q}).decide()
		next = 0
	}
	if next != 0 {
		evidence.Refute("z = %s: no proof for k = %d", cell.low.RatString(), next)
	}
}

// feasible decides in whole numbers whether a point is dual feasible at z and k, and so at all larger k, for every n that it is for.
func (c *constantCertificate) feasible(p *constantPoint, z *big.Rat, k int) bool {
	f := &feasibility{p: p, k: k, index: map[string]int{}}
	bits := (k + p.depth) * max(z.Num().BitLen(), z.Denom().BitLen())
	f.cost, f.price = c.cost, 1+bits/64
	c.cost.Spend((k + p.depth) * f.price * f.price)
	for i, top := range p.tops {
		f.index[fmt.Sprint(top)] = i
	}
	shift := p.depth // power[u+shift] is z^u times a common factor, from u = -shift to k
	for i := 0; i <= k+shift; i++ {
		x := new(big.Int).Exp(z.Num(), big.NewInt(int64(i)), nil)
		f.power = append(f.power, x.Mul(x, new(big.Int).Exp(z.Denom(), big.NewInt(int64(k+shift-i)), nil)))
	}
	f.after, f.plain = make([]*big.Int, k+2), make([]*big.Int, k+2)
	f.after[k+1], f.plain[k+1] = new(big.Int), new(big.Int)
	for u := k; u >= 0; u-- {
		f.plain[u] = new(big.Int).Add(f.plain[u+1], f.z(u))
		f.after[u] = new(big.Int).Mul(f.z(u), big.NewInt(int64(u)))
		f.after[u].Add(f.after[u], f.after[u+1])
	}
	for _, others := range p.tops {
		near := slices.IndexFunc(append(others[:len(others):len(others)], p.depth), func(o int) bool { return o == p.depth })
		if p.most > 0 && near > p.most-2 {
			continue // more others, beside a best one, than there are
		}
		if !f.chains(others) {
			return false
		}
	}
	for i := range p.tops {
		if !f.ends(i, z) {
			return false
		}
	}
	return true
}

// feasibility decides the conditions of one point.
type feasibility struct {
	p            *constantPoint
	k            int
	index        map[string]int
	power        []*big.Int // of z, times a common factor
	after, plain []*big.Int // Σ_{v>=u} v z^v and Σ_{v>=u} z^v, times the same
	cost         *evidence.Effort
	price        int
}

func (f *feasibility) z(u int) *big.Int { return f.power[u+f.p.depth] }

// y returns the row of the first best-1 of some depths, in ascending order.
func (f *feasibility) y(depths []int) []int64 {
	top := make([]int, f.p.best-1)
	for i := range top {
		top[i] = min(depths[i], f.p.depth)
	}
	return f.p.y[f.index[fmt.Sprint(top)]]
}

// most says whether a sum of terms is at most scale times a cost.
func (f *feasibility) most(cost *big.Int, terms ...*big.Int) bool {
	f.cost.Spend(len(terms) * f.price * 4)
	left := new(big.Int).Mul(cost, big.NewInt(f.p.scale))
	for _, t := range terms {
		left.Sub(left, t)
	}
	return left.Sign() >= 0
}

// chains decides conditions (a) and (b) for the chains whose others, beside a best one, have these depths, ascending, with the point's depth for those that are deeper or not there.
func (f *feasibility) chains(others []int) bool {
	j := f.p.depth
	at := make([][]int64, j) // where the candidate is at depth u
	for u := range at {
		at[u] = f.y(sorted(others, u))
	}
	last := f.y(others)
	for e := 0; e <= f.p.reach; e++ {
		rest := []*big.Int{times(new(big.Int).Sub(f.plain[j], f.plain[f.k-e+1]), last[e])} // J <= u <= k-e
		for i := range e {
			rest = append(rest, times(f.z(f.k-i), last[i]))
		}
		for u := j; u >= 1; u-- { // (b) with p = u
			if u < j {
				rest = append(rest, times(f.z(u), at[u][e]))
			}
			if !f.most(f.after[u], rest...) {
				return false
			}
		}
		rest = append(rest, times(f.z(0), at[0][e]))
		from, to := e, e
		if e == f.p.reach {
			to = e + j - 1
		}
		for r := from; r <= to; r++ {
			if !f.most(f.after[0], append(f.ahead(others, r), rest...)...) {
				return false
			}
		}
	}
	return true
}

// ahead are the terms of (a) where the candidate of the chain is ahead of all others, by u; the deepest of them is at k - r when it is level with the best.
func (f *feasibility) ahead(others []int, r int) (terms []*big.Int) {
	for u := 1; u <= min(r, f.p.depth-1); u++ {
		depths := []int{u}
		for _, o := range others {
			depths = append(depths, min(o+u, f.p.depth))
		}
		terms = append(terms, times(f.z(-u), f.y(depths)[min(r-u, f.p.reach)]))
	}
	return terms
}

func times(z *big.Int, y int64) *big.Int { return new(big.Int).Mul(z, big.NewInt(y)) }

func sorted(others []int, u int) []int {
	at, _ := slices.BinarySearch(others, u)
	return slices.Insert(slices.Clone(others), at, u)
}

// ends decides for one top the conditions (T) and (L).
func (f *feasibility) ends(top int, z *big.Rat) bool {
	y, scale := f.p.y[top], big.NewRat(f.p.scale, 1)
	cost, usage, larger, power := new(big.Rat), new(big.Rat), new(big.Rat), big.NewRat(1, 1)
	most := new(big.Rat).Mul(scale, big.NewRat(int64(f.k+1), 1))
	f.cost.Spend(len(y) * f.price * 64)
	for i, v := range y {
		if i > 0 {
			power = new(big.Rat).Quo(power, z)
		}
		step := v
		if i > 0 {
			step -= y[i-1]
		}
		times := func(x int64) *big.Rat { return new(big.Rat).Mul(power, big.NewRat(x, 1)) }
		cost.Add(cost, new(big.Rat).Mul(scale, times(int64(f.k-i))))
		usage.Add(usage, times(v))
		larger.Add(larger, times(step))
		if usage.Cmp(cost) > 0 || larger.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// count sets how often the point's numbers are in its value, Σ y over Q(n,k) =
//
//	Σ_{c,x} n!/(n-c)! { difference[c][x] ((k-x)^{n-c} - (k-x-1)^{n-c}) + power[c][x] (k-x)^{n-c} },
//
// leaving out vectors with more than constantTied candidates beyond the s-th at its depth.
func (p *constantPoint) count(cost *evidence.Effort) {
	rows, columns := p.best+constantTied+1, p.depth+p.reach+1
	difference, power := make([][]*big.Rat, rows), make([][]*big.Rat, rows)
	for i := range rows {
		for range columns {
			difference[i], power[i] = append(difference[i], new(big.Rat)), append(power[i], new(big.Rat))
		}
	}
	add := func(chosen, cut int, ways *big.Int, y []int64) {
		for r, v := range y {
			to := difference
			if r == p.reach {
				to = power
			}
			x := to[chosen][cut+r]
			x.Add(x, new(big.Rat).SetFrac(big.NewInt(v), new(big.Int).Mul(ways, big.NewInt(p.scale))))
		}
		cost.Spend(stepsPerTerm * len(y))
	}
	for i, top := range p.tops {
		if top[0] == p.depth {
			continue
		}
		// above are those before the last depth, ways! the orders of those that share a depth there.
		last, above, ways := top[len(top)-1], 1, big.NewInt(1)
		for v := 0; v < last; v++ {
			here := len(slices.DeleteFunc(slices.Clone(top), func(u int) bool { return u != v }))
			above += here
			if v == 0 {
				here++
			}
			ways.Mul(ways, new(big.Int).MulRange(1, int64(here)))
		}
		if last == 0 {
			above = 0
		}
		if last == p.depth {
			add(above, p.depth-1, ways, p.y[i])
			continue
		}
		for tied := p.best - above; tied <= p.best-above+constantTied; tied++ {
			add(above+tied, last, new(big.Int).Mul(ways, new(big.Int).MulRange(1, int64(tied))), p.y[i])
		}
	}
	p.difference, p.power = enclosed(difference), enclosed(power)
}

func enclosed(table [][]*big.Rat) (list [][]number.Interval) {
	for _, row := range table {
		var line []number.Interval
		for _, x := range row {
			line = append(line, number.FromRat(x, constantBits))
		}
		list = append(list, line)
	}
	return list
}

// value encloses from below the sum of the point over Q(n,k), of what is counted.
func (p *constantPoint) value(n, k int) number.Interval {
	sum, falling := number.FromInt(0, constantBits), number.FromInt(1, constantBits)
	chosen := min(len(p.power)-1, n)
	parts := make([]number.Interval, chosen+1)
	for c := range parts {
		parts[c] = number.FromInt(0, constantBits)
	}
	for x := 0; x < len(p.power[0]) && x <= k; x++ {
		at, below := number.FromInt(int64(k-x), constantBits), number.FromInt(int64(max(0, k-x-1)), constantBits)
		power, less := at.Pow(n-chosen), below.Pow(n-chosen)
		for c := chosen; c >= 0; c-- {
			parts[c] = parts[c].Add(p.difference[c][x].Mul(power.Sub(less))).Add(p.power[c][x].Mul(power))
			power, less = power.Mul(at), less.Mul(below)
		}
	}
	for c, part := range parts {
		sum = sum.Add(falling.Mul(part))
		falling = falling.Mul(number.FromInt(int64(n-c), constantBits))
	}
	return sum
}

// depth makes sure of the bound at one k, for all n from 3 to where the closed form takes over.
func (c *constantCertificate) depth(cell *constantCell, q *constantRange, k int) {
	field, most := arith.Interval{Prec: constantBits}, number.FromRat(c.most, constantBits)
	a, sum := arith.PowerSums(field, number.FromRat(cell.low, constantBits), k)
	weighted, plain := arith.PowerSums(field, number.FromRat(cell.high, constantBits), k)
	c.cost.Spend(4 * stepsPerTerm * k)
	if plain.Hi().Cmp(big.NewFloat(1)) <= 0 {
		return // permute-and-flip is optimal
	}
	end, _ := number.FromRat(c.crowded, constantBits).Mul(number.FromInt(int64(k), constantBits)).Quo(sum).Hi().Int64()
	likely := 0
	for n := int(end) + 1; n >= 3; n-- {
		c.cost.Spend(8 * stepsPerTerm * evidence.Bits(n))
		flip := evidence.FlipAt(field, weighted, plain, n, k)
		proves := func(value number.Interval) bool { return flip.Hi().Cmp(most.Mul(value).Lo()) <= 0 }
		if proves(evidence.DualAt(field, evidence.MayBeNegative, a, sum, n, k)) {
			continue
		}
		found := slices.IndexFunc(append(q.points[likely:len(q.points):len(q.points)], q.points[:likely]...), func(p constantPoint) bool {
			c.cost.Spend(stepsPerTerm * len(p.power) * len(p.power[0]))
			return (p.most == 0 || n <= p.most) && proves(p.value(n, k))
		})
		if found < 0 {
			evidence.Refute("z = %s: no point proves the bound for n = %s, k = %d", cell.low.RatString(), strconv.Itoa(n), k)
		}
		likely = (likely + found) % len(q.points)
	}
}
