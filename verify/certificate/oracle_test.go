package certificate_test

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"testing"
)

// The oracle of these tests: it writes the program down from its definition on count vectors (P, T) and on
// score vectors (the levels), in chain form, and solves it by a dense rational simplex method.

// problem is an instance with rational z.
type problem struct {
	n, k   int
	z      *big.Rat
	box    bool
	level  string
	orbits [][]int          // descending
	vars   []variable       // by orbit, then depth
	index  map[string]int   // of a variable
	before []int            // the variable before on the chain, or -1
	mult   map[string]int64 // N(m), counted over score vectors
}

type variable struct {
	m []int
	v int
}

func key(m []int, v int) string { return fmt.Sprint(m, v) }

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a rational: " + s)
	}
	return r
}

// scores yields all vectors of n depths 0..k with one at least 0.
func scores(n, k int, visit func([]int)) {
	q := make([]int, n)
	var rec func(i int)
	rec = func(i int) {
		if i == n {
			if slices.Min(q) == 0 {
				visit(q)
			}
			return
		}
		for q[i] = 0; q[i] <= k; q[i]++ {
			rec(i + 1)
		}
	}
	rec(0)
}

func countVector(q []int, k int) []int {
	m := make([]int, k+1)
	for _, d := range q {
		m[d]++
	}
	return m
}

func newProblem(n, k int, expEps string, objective, level string) *problem {
	p := &problem{n: n, k: k, z: new(big.Rat).Inv(rat(expEps)), box: objective == "box", level: level, mult: map[string]int64{}, index: map[string]int{}}
	scores(n, k, func(q []int) {
		m := countVector(q, k)
		if p.mult[fmt.Sprint(m)]++; p.mult[fmt.Sprint(m)] == 1 {
			p.orbits = append(p.orbits, m)
		}
	})
	sort.Slice(p.orbits, func(i, j int) bool { return slices.Compare(p.orbits[i], p.orbits[j]) > 0 })
	for _, m := range p.orbits {
		for v, c := range m {
			if c > 0 {
				p.index[key(m, v)] = len(p.vars)
				p.vars = append(p.vars, variable{m, v})
			}
		}
	}
	for _, x := range p.vars {
		prev, m := -1, slices.Clone(x.m)
		switch {
		case x.v > 0: // (P)
			m[x.v]--
			m[x.v-1]++
			prev = p.index[key(m, x.v-1)]
		case m[k] == 0: // (T)
			up := append([]int{1, m[0] - 1}, m[1:]...)
			prev = p.index[key(up[:k+1], 0)]
		}
		if n == 1 {
			prev = -1
		}
		p.before = append(p.before, prev)
	}
	return p
}

func (p *problem) multiplicity(m []int) *big.Rat { return new(big.Rat).SetInt64(p.mult[fmt.Sprint(m)]) }

func (p *problem) weight(i int) *big.Rat {
	x := p.vars[i]
	return new(big.Rat).Mul(p.multiplicity(x.m), big.NewRat(int64(x.m[x.v]), 1))
}

func (p *problem) cost(i int) *big.Rat {
	x, f := p.vars[i], 1
	if p.box {
		f = p.k + 1
		for v, c := range x.m {
			if c > 0 {
				f = p.k + 1 - v
			}
		}
	}
	return big.NewRat(int64(f*x.v), 1)
}

// scoreVectors returns ΣW.
func (p *problem) scoreVectors() *big.Rat {
	box, inner := big.NewInt(1), big.NewInt(1)
	for range p.n {
		box.Mul(box, big.NewInt(int64(p.k+1)))
		inner.Mul(inner, big.NewInt(int64(p.k)))
	}
	if !p.box {
		box.Sub(box, inner)
	}
	return new(big.Rat).SetInt(box)
}

// levelRow is x_a >= ρ x_b.
type levelRow struct {
	kind string
	a, b int
}

// levelRows finds all rows of the level by going through the pairs of score vectors with a given candidate, the first.
func (p *problem) levelRows() []levelRow {
	if p.level == "paper" {
		return nil
	}
	type vector struct {
		q []int
		i int
	}
	var all []vector
	scores(p.n, p.k, func(q []int) {
		all = append(all, vector{slices.Clone(q), p.index[key(countVector(q, p.k), q[0])]})
	})
	seen := map[levelRow]bool{}
	for _, a := range all {
		for _, b := range all {
			least, most, above := 1<<30, -1<<30, true
			for s := range a.q {
				d := a.q[s] - b.q[s]
				least, most = min(least, d), max(most, d)
				above = above && d >= a.q[0]-b.q[0]
			}
			if a.i == b.i {
				continue
			}
			if most-least <= 1 && (p.level == "dp" || p.level == "full") {
				seen[levelRow{"p", a.i, b.i}] = true
			}
			if above && (p.level == "monotone" || p.level == "full") {
				seen[levelRow{"m", a.i, b.i}] = true
			}
		}
	}
	var rows []levelRow
	for r := range seen {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(x, y levelRow) int {
		return slices.Compare([]int{int(x.kind[0]), x.a, x.b}, []int{int(y.kind[0]), y.a, y.b})
	})
	return rows
}

// solution is an optimal primal-dual pair: in the scaling u, with y per unit of N(m).
type solution struct {
	minimum, flip *big.Rat
	u             []*big.Rat
	y             []*big.Rat
	cuts          map[levelRow]*big.Rat
}

// points returns u for given injections.
func (p *problem) points(s []*big.Rat) []*big.Rat {
	u := make([]*big.Rat, len(p.vars))
	var at func(i int) *big.Rat
	at = func(i int) *big.Rat {
		if u[i] == nil {
			u[i] = new(big.Rat)
			if p.before[i] >= 0 {
				u[i].Mul(p.z, at(p.before[i]))
			}
			u[i].Add(u[i], s[i])
		}
		return u[i]
	}
	for i := range u {
		at(i)
	}
	return u
}

func (p *problem) row(r levelRow, u []*big.Rat) *big.Rat {
	right := new(big.Rat).Mul(u[r.b], p.weight(r.a))
	right.Quo(right, p.weight(r.b))
	if r.kind == "p" {
		right.Mul(right, p.z)
	}
	return right.Sub(u[r.a], right)
}

// solve adds the rows of the level as they are violated.
func (p *problem) solve() *solution {
	all := p.levelRows()
	var active []levelRow
	for {
		sol := p.solveWith(active)
		added := false
		for _, r := range all {
			if p.row(r, sol.u).Sign() < 0 {
				active, added = append(active, r), true
			}
		}
		if !added {
			return sol
		}
	}
}

func (p *problem) solveWith(rows []levelRow) *solution {
	nv, ne := len(p.vars), len(p.orbits)
	size := ne + len(rows)
	cols := nv + len(rows)
	unit := func(i int) []*big.Rat {
		s := make([]*big.Rat, nv)
		for j := range s {
			s[j] = new(big.Rat)
		}
		s[i].SetInt64(1)
		return p.points(s)
	}
	orbit := map[string]int{}
	for i, m := range p.orbits {
		orbit[fmt.Sprint(m)] = i
	}
	// Columns of the injections, by their effect on u.
	a := make([][]*big.Rat, size)
	for i := range a {
		a[i] = make([]*big.Rat, cols)
		for j := range a[i] {
			a[i][j] = new(big.Rat)
		}
	}
	c := make([]*big.Rat, cols)
	for j := range c {
		c[j] = new(big.Rat)
	}
	for j := range nv {
		u := unit(j)
		for i, x := range u {
			if x.Sign() != 0 {
				e := a[orbit[fmt.Sprint(p.vars[i].m)]][j]
				e.Add(e, x)
				c[j].Add(c[j], new(big.Rat).Mul(p.cost(i), x))
			}
		}
		for r, q := range rows {
			a[ne+r][j] = p.row(q, u)
		}
	}
	b := make([]*big.Rat, size)
	basis := make([]int, size)
	for i, m := range p.orbits {
		b[i] = p.multiplicity(m)
		basis[i] = p.index[key(m, 0)]
	}
	for r := range rows {
		b[ne+r] = new(big.Rat)
		a[ne+r][nv+r] = big.NewRat(-1, 1)
		basis[ne+r] = nv + r
	}
	original := make([][]*big.Rat, size)
	for i := range a {
		for _, x := range a[i] {
			original[i] = append(original[i], new(big.Rat).Set(x))
		}
	}
	rhs := make([]*big.Rat, size)
	for i := range rhs {
		rhs[i] = new(big.Rat).Set(b[i])
	}
	basis = simplex(a, b, c, basis)
	s := make([]*big.Rat, cols)
	for j := range s {
		s[j] = new(big.Rat)
	}
	for i, j := range basis {
		s[j] = b[i]
	}
	sol := &solution{minimum: new(big.Rat), flip: new(big.Rat), cuts: map[levelRow]*big.Rat{}}
	for j, x := range s {
		sol.minimum.Add(sol.minimum, new(big.Rat).Mul(c[j], x))
	}
	sol.u = p.points(s[:nv])
	// Multipliers: y B = c_B.
	transposed := make([][]*big.Rat, size)
	right := make([]*big.Rat, size)
	for i, j := range basis {
		transposed[i] = make([]*big.Rat, size)
		for t := range size {
			transposed[i][t] = new(big.Rat).Set(original[t][j])
		}
		right[i] = new(big.Rat).Set(c[j])
	}
	y := gauss(transposed, right)
	sol.y = y[:ne]
	for r, q := range rows {
		if y[ne+r].Sign() != 0 {
			sol.cuts[q] = y[ne+r]
		}
	}
	value := new(big.Rat)
	for i, x := range y {
		value.Add(value, new(big.Rat).Mul(x, rhs[i]))
	}
	if value.Cmp(sol.minimum) != 0 {
		panic("oracle: primal and dual values differ")
	}
	for i, x := range p.flipPoint() {
		sol.flip.Add(sol.flip, new(big.Rat).Mul(p.cost(i), x))
	}
	return sol
}

// flipPoint returns permute-and-flip in the scaling u, from its pmf as a sum over subsets: p_r ∫ Π_{s≠r} (1 - t p_s) dt.
func (p *problem) flipPoint() []*big.Rat {
	u := make([]*big.Rat, len(p.vars))
	for i, x := range p.vars {
		poly := []*big.Rat{big.NewRat(1, 1)} // in t
		for v, c := range x.m {
			if v == x.v {
				c--
			}
			for range c {
				next := make([]*big.Rat, len(poly)+1)
				for d := range next {
					next[d] = new(big.Rat)
				}
				for d, e := range poly {
					next[d].Add(next[d], e)
					next[d+1].Sub(next[d+1], new(big.Rat).Mul(e, power(p.z, v)))
				}
				poly = next
			}
		}
		sum := new(big.Rat)
		for d, e := range poly {
			sum.Add(sum, new(big.Rat).Mul(e, big.NewRat(1, int64(d+1))))
		}
		sum.Mul(sum, power(p.z, x.v))
		u[i] = sum.Mul(sum, p.weight(i))
	}
	return u
}

// exponential returns the total error of the exponential mechanism.
func (p *problem) exponential() *big.Rat {
	total := new(big.Rat)
	for i, x := range p.vars {
		den := new(big.Rat)
		for v, c := range x.m {
			den.Add(den, new(big.Rat).Mul(big.NewRat(int64(c), 1), power(p.z, v)))
		}
		e := new(big.Rat).Quo(power(p.z, x.v), den)
		e.Mul(e, p.weight(i))
		total.Add(total, e.Mul(e, p.cost(i)))
	}
	return total
}

func power(z *big.Rat, e int) *big.Rat {
	r := big.NewRat(1, 1)
	for range e {
		r.Mul(r, z)
	}
	return r
}

func TestOracleAgreesWithPublishedRatios(t *testing.T) {
	for _, c := range []struct {
		n, k       int
		exp, level string
		ratio      string
	}{
		{3, 3, "3/2", "paper", "40832/40581"},
		{3, 3, "3/2", "dp", "1856/1845"},
		{3, 3, "3/2", "monotone", "1856/1845"},
		{3, 3, "3/2", "full", "1856/1845"},
		{3, 4, "5/4", "paper", "600471190/597437277"},
		{3, 4, "5/4", "dp", "600471190/597437277"},
		{3, 4, "5/4", "monotone", "43670632000/43463494901"},
		{3, 4, "5/4", "full", "43670632000/43463494901"},
	} {
		sol := newProblem(c.n, c.k, c.exp, "paper", c.level).solve()
		if got := new(big.Rat).Quo(sol.flip, sol.minimum); got.RatString() != c.ratio {
			t.Errorf("(%d, %d, %s) %s: ratio %s, want %s", c.n, c.k, c.exp, c.level, got.RatString(), c.ratio)
		}
	}
}
