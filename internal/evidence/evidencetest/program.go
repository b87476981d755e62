// Package evidencetest has what the tests of both programs' checkers share: the program written down from its definition, and a forger.
package evidencetest

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
)

// Program is an instance of the optimal-mechanism program with rational z, from its definition on count vectors (P, T) and on score vectors (the levels), in chain form.
type Program struct {
	N, K   int
	Z      *big.Rat
	Box    bool
	Level  string
	Orbits [][]int          // descending
	Vars   []Variable       // by orbit, then depth
	Index  map[string]int   // of a variable
	Before []int            // the variable before on the chain, or -1
	Mult   map[string]int64 // N(m), counted over score vectors
}

// Variable is (m, v).
type Variable struct {
	M []int
	V int
}

// Key names a variable.
func Key(m []int, v int) string { return fmt.Sprint(m, v) }

// Rat reads a rational.
func Rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a rational: " + s)
	}
	return r
}

// Scores yields all vectors of n depths 0..k with one at least 0.
func Scores(n, k int, visit func([]int)) {
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

// CountVector counts the candidates of each depth.
func CountVector(q []int, k int) []int {
	m := make([]int, k+1)
	for _, d := range q {
		m[d]++
	}
	return m
}

// New returns an instance at e^ε.
func New(n, k int, expEps string, objective, level string) *Program {
	p := &Program{N: n, K: k, Z: new(big.Rat).Inv(Rat(expEps)), Box: objective == "box", Level: level, Mult: map[string]int64{}, Index: map[string]int{}}
	Scores(n, k, func(q []int) {
		m := CountVector(q, k)
		if p.Mult[fmt.Sprint(m)]++; p.Mult[fmt.Sprint(m)] == 1 {
			p.Orbits = append(p.Orbits, m)
		}
	})
	sort.Slice(p.Orbits, func(i, j int) bool { return slices.Compare(p.Orbits[i], p.Orbits[j]) > 0 })
	for _, m := range p.Orbits {
		for v, c := range m {
			if c > 0 {
				p.Index[Key(m, v)] = len(p.Vars)
				p.Vars = append(p.Vars, Variable{m, v})
			}
		}
	}
	for _, x := range p.Vars {
		prev, m := -1, slices.Clone(x.M)
		switch {
		case x.V > 0: // (P)
			m[x.V]--
			m[x.V-1]++
			prev = p.Index[Key(m, x.V-1)]
		case m[k] == 0: // (T)
			up := append([]int{1, m[0] - 1}, m[1:]...)
			prev = p.Index[Key(up[:k+1], 0)]
		}
		if n == 1 {
			prev = -1
		}
		p.Before = append(p.Before, prev)
	}
	return p
}

// Multiplicity returns N(m).
func (p *Program) Multiplicity(m []int) *big.Rat { return new(big.Rat).SetInt64(p.Mult[fmt.Sprint(m)]) }

// Weight returns N(m) m_v of a variable.
func (p *Program) Weight(i int) *big.Rat {
	x := p.Vars[i]
	return new(big.Rat).Mul(p.Multiplicity(x.M), big.NewRat(int64(x.M[x.V]), 1))
}

// Cost returns f(m) v of a variable.
func (p *Program) Cost(i int) *big.Rat {
	x, f := p.Vars[i], 1
	if p.Box {
		f = p.K + 1
		for v, c := range x.M {
			if c > 0 {
				f = p.K + 1 - v
			}
		}
	}
	return big.NewRat(int64(f*x.V), 1)
}

// ScoreVectors returns ΣW.
func (p *Program) ScoreVectors() *big.Rat {
	box, inner := big.NewInt(1), big.NewInt(1)
	for range p.N {
		box.Mul(box, big.NewInt(int64(p.K+1)))
		inner.Mul(inner, big.NewInt(int64(p.K)))
	}
	if !p.Box {
		box.Sub(box, inner)
	}
	return new(big.Rat).SetInt(box)
}

// Row is x_a >= ρ x_b.
type Row struct {
	Kind string
	A, B int
}

// Rows finds all rows of the level by going through the pairs of score vectors with a given candidate, the first.
func (p *Program) LevelRows() []Row {
	if p.Level == "paper" {
		return nil
	}
	type vector struct {
		q []int
		i int
	}
	var all []vector
	Scores(p.N, p.K, func(q []int) {
		all = append(all, vector{slices.Clone(q), p.Index[Key(CountVector(q, p.K), q[0])]})
	})
	seen := map[Row]bool{}
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
			if most-least <= 1 && (p.Level == "dp" || p.Level == "full") {
				seen[Row{"p", a.i, b.i}] = true
			}
			if above && (p.Level == "monotone" || p.Level == "full") {
				seen[Row{"m", a.i, b.i}] = true
			}
		}
	}
	var rows []Row
	for r := range seen {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(x, y Row) int {
		return slices.Compare([]int{int(x.Kind[0]), x.A, x.B}, []int{int(y.Kind[0]), y.A, y.B})
	})
	return rows
}

// FlipPoint returns permute-and-flip in the scaling u, from its pmf as a sum over subsets: p_r ∫ Π_{s≠r} (1 - t p_s) dt.
func (p *Program) FlipPoint() []*big.Rat {
	u := make([]*big.Rat, len(p.Vars))
	for i, x := range p.Vars {
		poly := []*big.Rat{big.NewRat(1, 1)} // in t
		for v, c := range x.M {
			if v == x.V {
				c--
			}
			for range c {
				next := make([]*big.Rat, len(poly)+1)
				for d := range next {
					next[d] = new(big.Rat)
				}
				for d, e := range poly {
					next[d].Add(next[d], e)
					next[d+1].Sub(next[d+1], new(big.Rat).Mul(e, Power(p.Z, v)))
				}
				poly = next
			}
		}
		sum := new(big.Rat)
		for d, e := range poly {
			sum.Add(sum, new(big.Rat).Mul(e, big.NewRat(1, int64(d+1))))
		}
		sum.Mul(sum, Power(p.Z, x.V))
		u[i] = sum.Mul(sum, p.Weight(i))
	}
	return u
}

// Power returns z^e.
func Power(z *big.Rat, e int) *big.Rat {
	r := big.NewRat(1, 1)
	for range e {
		r.Mul(r, z)
	}
	return r
}
