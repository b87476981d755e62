package certificate

import (
	"fmt"
	"math/big"

	"optratio/number/interval"
)

// classes divides the count vectors of a lattice, n >= 3, for multipliers that are the same on each class. A count vector starts at depth 0 where two
// or more candidates are best, and else at the depth of the second best. Those of a class agree in the start, in the greatest depth, and in the
// counts at the depths start to start+top-1. Classes are in the order of start, greatest depth, then these counts from the start on.
type classes struct {
	n, k, top int
	index     map[string]int
	mass      []*big.Int // score vectors of each class
	// Positions, chain by chain from the deep end: the class, the sinking candidate's depth, and whether a chain ends there.
	class, depth []int
	last         []bool
}

// newClasses lists the classes of Q(n,k), at most limit of them, and the sequences in which chains visit them.
func newClasses(n, k, top, limit int, cost *effort) (*classes, error) {
	c := &classes{n: n, k: k, top: top, index: map[string]int{}}
	full := false
	price := 128 + 8*min(top, k+1) // of a name
	c.each(n, func(m []int, mass func() *big.Int) bool {
		c.index[c.name(m)] = len(c.mass)
		c.mass = append(c.mass, mass())
		full = len(c.mass) > limit
		return !full && cost.spend(price) == nil
	})
	if full {
		return nil, fmt.Errorf("%w: more than %d classes of count vectors", ErrLimit, limit)
	}
	// The classes that a chain visits depend on the class of the other candidates alone, so one example of each will do.
	c.each(n-1, func(others []int, _ func() *big.Int) bool {
		c.chain(others)
		return cost.spend(price*(2*k+1)) == nil
	})
	return c, cost.err
}

// chain adds the chain of a candidate among others.
func (c *classes) chain(others []int) {
	visit := func(m []int, v int) {
		c.class, c.depth, c.last = append(c.class, c.index[c.name(m)]), append(c.depth, v), append(c.last, false)
	}
	m := append([]int(nil), others...)
	for v := c.k; v >= 0; v-- {
		m[v]++
		visit(m, v)
		m[v]--
	}
	for down := 1; down <= c.k-deepest(others); down++ {
		clear(m)
		m[0] = 1
		copy(m[down:], others[:c.k+1-down])
		visit(m, 0)
	}
	c.last[len(c.last)-1] = true
}

// begin returns the start of a count vector.
func begin(m []int) int {
	if m[0] > 1 {
		return 0
	}
	s := 1
	for s < len(m)-1 && m[s] == 0 {
		s++
	}
	return s
}

// name tells the class of a count vector from the others.
func (c *classes) name(m []int) string {
	s, d := begin(m), deepest(m)
	return fmt.Sprint(s, d, m[s:min(s+c.top, d+1)])
}

// each visits the classes of n >= 2 candidates in their order, with a count vector of each and the number of its score vectors, until visit returns
// false.
func (c *classes) each(n int, visit func(m []int, mass func() *big.Int) bool) {
	factorials := newLattice(n, 0).facts
	m := make([]int, c.k+1)
	// fill chooses the counts from depth v on, of left candidates.
	var fill func(v, from, to, left int) bool
	fill = func(v, from, to, left int) bool {
		open := 0 // depths with any counts, if the last of them is not 0
		if v <= to && v == from+c.top {
			open = to - v + 1
		}
		switch {
		case v > to && left > 0 || open > 0 && left == 0:
			return true
		case v > to || open > 0:
			if open > 0 {
				m[to] = left
				defer func() { m[to] = 0 }()
			}
			return visit(m, func() *big.Int {
				// n!/(left! Π known!) ways to place the known, and as many words over the open depths as use the last one.
				ways := new(big.Int).Set(factorials[n])
				for u, count := range m {
					if open == 0 || u != to {
						ways.Quo(ways, factorials[count])
					}
				}
				if open == 0 {
					return ways
				}
				ways.Quo(ways, factorials[left])
				words := func(letters int) *big.Int {
					return new(big.Int).Exp(big.NewInt(int64(letters)), big.NewInt(int64(left)), nil)
				}
				return ways.Mul(ways, words(open).Sub(words(open), words(open-1)))
			})
		}
		least := 0
		if v == to {
			least = 1
		}
		if v == from {
			least = 1
			if v == 0 {
				least = 2
			}
		}
		for count := least; count <= left; count++ {
			m[v] = count
			if !fill(v+1, from, to, left-count) {
				return false
			}
		}
		return true
	}
	for from := range c.k + 1 {
		clear(m)
		left := n
		if from > 0 {
			m[0], left = 1, n-1
		}
		for to := from; to <= c.k; to++ {
			if !fill(from, from, to, left) {
				return
			}
		}
	}
}

// dualPoint is what multipliers y prove at one z.
type dualPoint struct {
	z      *big.Rat
	lambda []interval.Interval // of each position's row
	value  interval.Interval   // a lower bound on the optimum, summed over all score vectors
}

// walk evaluates the dual function, see lower, the first position's λ belonging to the row u >= 0. cost has the positions whose c_i is not their depth.
func (c *classes) walk(z *big.Rat, y []*big.Rat, cost map[int]*big.Rat, prec uint) *dualPoint {
	r := enclosing{zz: interval.FromRat(z, prec), prec: prec}
	zero := interval.FromInt(0, prec)
	d := &dualPoint{z: z, lambda: make([]interval.Interval, len(c.class)), value: zero}
	w := newWalk(r, y)
	depths := make([]interval.Interval, c.k+1)
	for v := range depths {
		depths[v] = interval.FromInt(int64(v), prec)
	}
	below := zero
	for i, class := range c.class {
		v := depths[c.depth[i]]
		if x, ok := cost[i]; ok {
			v = r.rat(x)
		}
		d.lambda[i] = w.step(class, v, below, false)
		if below = d.lambda[i]; c.last[i] {
			below = zero
		}
	}
	for i, mass := range c.mass {
		d.value = d.value.Add(r.scale(w.least[i], mass))
	}
	return d
}

// bend returns Σ N(class) max (λ_{i+1} at b - λ_{i+1} at a), or 0 where that is negative, over the positions i of each class.
func (c *classes) bend(a, b *dualPoint, prec uint) interval.Interval {
	zero := interval.FromInt(0, prec)
	most := make([]interval.Interval, len(c.mass))
	for i := range most {
		most[i] = zero
	}
	for i, class := range c.class {
		if i > 0 && !c.last[i-1] {
			most[class] = most[class].Max(b.lambda[i-1].Sub(a.lambda[i-1]))
		}
	}
	sum := zero
	for i, mass := range c.mass {
		sum = sum.Add(most[i].Mul(interval.FromBig(mass, prec)))
	}
	return sum
}
