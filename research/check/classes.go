package check

import (
	"fmt"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
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
func newClasses(n, k, top, limit int, cost *evidence.Effort) *classes {
	c := &classes{n: n, k: k, top: top, index: map[string]int{}}
	price := 128 + 8*min(top, k+1) // of a name
	vectors := evidence.NewLattice(n, 0)
	c.each(n, func(m []int) {
		// The candidates at depths that the class does not tell apart are at the greatest depth of m. As many words over these depths, open of them, use the last one.
		last := evidence.Deepest(m)
		open, left := max(last-begin(m)-top+1, 1), int64(m[last])
		words := evidence.Power(open, left)
		c.index[c.name(m)] = len(c.mass)
		c.mass = append(c.mass, words.Sub(words, evidence.Power(open-1, left)).Mul(words, vectors.Multiplicity(m)))
		if len(c.mass) > limit {
			evidence.Limit("more than %d classes of count vectors", limit)
		}
		cost.Spend(price)
		cost.Multiplicity(n)
	})
	// The classes that a chain visits depend on the class of the other candidates alone, so one example of each will do.
	c.each(n-1, func(others []int) {
		for at := range evidence.Chain(others) {
			c.class, c.depth, c.last = append(c.class, c.index[c.name(at.M)]), append(c.depth, at.V), append(c.last, at.First)
		}
		cost.Spend(price * (2*k + 1))
	})
	return c
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
	s, d := begin(m), evidence.Deepest(m)
	return fmt.Sprint(s, d, m[s:min(s+c.top, d+1)])
}

// each visits the classes of n >= 2 candidates in their order, with a count vector of each.
func (c *classes) each(n int, visit func(m []int)) {
	m := make([]int, c.k+1)
	// fill chooses the counts from depth v on, of left candidates, where from is the start and to the greatest depth.
	var fill func(v, from, to, left int)
	fill = func(v, from, to, left int) {
		switch {
		case v > to && left == 0:
			visit(m)
			return
		case v <= to && v == from+c.top && left > 0:
			m[to] = left
			visit(m)
			m[to] = 0
			return
		case v > to, v == from+c.top:
			return
		}
		least := 0
		switch v {
		case 0:
			least = 2
		case from, to:
			least = 1
		}
		for m[v] = least; m[v] <= left; m[v]++ {
			fill(v+1, from, to, left-m[v])
		}
	}
	for from := range c.k + 1 {
		clear(m)
		left := n
		if from > 0 {
			m[0], left = 1, n-1
		}
		for to := from; to <= c.k; to++ {
			fill(from, from, to, left)
		}
	}
}

// dualPoint is what multipliers y prove at one z.
type dualPoint struct {
	z      *big.Rat
	lambda []number.Interval // of each position's row
	value  number.Interval   // a lower bound on the optimum, summed over all score vectors
}

// walk evaluates the dual function, see lower, the first position's λ belonging to the row u >= 0. cost has the positions whose c_i is not their depth.
func (c *classes) walk(z *big.Rat, y []*big.Rat, cost map[int]*big.Rat, prec uint) *dualPoint {
	w := evidence.NewWalk(number.FromRat(z, prec), y)
	d := &dualPoint{z: z, lambda: make([]number.Interval, len(c.class))}
	depths := make([]number.Interval, c.k+1)
	for v := range depths {
		depths[v] = number.FromInt(int64(v), prec)
	}
	below := w.Zero
	for i, class := range c.class {
		v := depths[c.depth[i]]
		if x, ok := cost[i]; ok {
			v = number.FromRat(x, prec)
		}
		d.lambda[i] = w.Step(class, v, below, false)
		if below = d.lambda[i]; c.last[i] {
			below = w.Zero
		}
	}
	d.value = w.Total(c.mass)
	return d
}

// bend returns Σ N(class) max (λ_{i+1} at b - λ_{i+1} at a), or 0 where that is negative, over the positions i of each class.
func (c *classes) bend(a, b *dualPoint, prec uint) number.Interval {
	zero := number.FromInt(0, prec)
	most := make([]number.Interval, len(c.mass))
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
		sum = sum.Add(most[i].Mul(arith.FromBig(mass, prec)))
	}
	return sum
}
