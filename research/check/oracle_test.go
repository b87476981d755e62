package check_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// The oracle of these tests: it writes the program down from its definition on count vectors (P, T) and on score vectors (the levels), in chain form, and has
// multipliers from the solver, whose own certificate the other checker checks.

// problem is an instance with rational z.
type problem struct {
	n, k   int
	z      *big.Rat
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

func newProblem(n, k int, expEps, level string) *problem {
	p := &problem{n: n, k: k, z: new(big.Rat).Inv(rat(expEps)), level: level, mult: map[string]int64{}, index: map[string]int{}}
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

func (p *problem) cost(i int) *big.Rat { return big.NewRat(int64(p.vars[i].v), 1) }

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

func power(z *big.Rat, e int) *big.Rat {
	r := big.NewRat(1, 1)
	for range e {
		r.Mul(r, z)
	}
	return r
}

// answer is the optimum at z, exactly.
func answer(n, k int, level string, z *big.Rat) *lp.Answer {
	eps, err := number.FromExp(new(big.Rat).Inv(z))
	if err != nil {
		panic(err)
	}
	l, err := lp.ParseLevel(level)
	if err != nil {
		panic(err)
	}
	a, err := lp.Ratio(context.Background(), lp.Request{
		N: n, K: k, Epsilon: eps, Method: lp.Enumerated, Level: l, Exact: true, Certified: true, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
	})
	if err != nil {
		panic(err)
	}
	return a
}

// multipliers are optimal ones at z, one for each orbit, without rows of a level.
func multipliers(n, k int, z *big.Rat) []*big.Rat {
	var b bytes.Buffer
	if err := answer(n, k, "paper", z).WriteCertificate(&b); err != nil {
		panic(err)
	}
	var y []*big.Rat
	for _, line := range split(b.String()) {
		if f := strings.Fields(line); f[0] == "dual" {
			x, _ := new(big.Rat).SetString(f[len(f)-1])
			y = append(y, x)
		}
	}
	return y
}

func counts(m []int) string { return strings.Trim(fmt.Sprint(m), "[]") }

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
