package certificate_test

import (
	"fmt"
	"math/big"
	"testing"

	"optratio/internal/evidence/evidencetest"
)

// The oracle of these tests solves programs by a dense rational simplex method.

// problem is an instance that this package solves.
type problem struct{ *evidencetest.Program }

type levelRow = evidencetest.Row

var key, rat, power, scores = evidencetest.Key, evidencetest.Rat, evidencetest.Power, evidencetest.Scores

func newProblem(n, k int, expEps string, objective, level string) *problem {
	return &problem{evidencetest.New(n, k, expEps, objective, level)}
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
	u := make([]*big.Rat, len(p.Vars))
	var at func(i int) *big.Rat
	at = func(i int) *big.Rat {
		if u[i] == nil {
			u[i] = new(big.Rat)
			if p.Before[i] >= 0 {
				u[i].Mul(p.Z, at(p.Before[i]))
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
	right := new(big.Rat).Mul(u[r.B], p.Weight(r.A))
	right.Quo(right, p.Weight(r.B))
	if r.Kind == "p" {
		right.Mul(right, p.Z)
	}
	return right.Sub(u[r.A], right)
}

// solve adds the rows of the level as they are violated.
func (p *problem) solve() *solution {
	all := p.LevelRows()
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
	nv, ne := len(p.Vars), len(p.Orbits)
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
	for i, m := range p.Orbits {
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
				e := a[orbit[fmt.Sprint(p.Vars[i].M)]][j]
				e.Add(e, x)
				c[j].Add(c[j], new(big.Rat).Mul(p.Cost(i), x))
			}
		}
		for r, q := range rows {
			a[ne+r][j] = p.row(q, u)
		}
	}
	b := make([]*big.Rat, size)
	basis := make([]int, size)
	for i, m := range p.Orbits {
		b[i] = p.Multiplicity(m)
		basis[i] = p.Index[key(m, 0)]
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
	for i, x := range p.FlipPoint() {
		sol.flip.Add(sol.flip, new(big.Rat).Mul(p.Cost(i), x))
	}
	return sol
}

// exponential returns the total error of the exponential mechanism.
func (p *problem) exponential() *big.Rat {
	total := new(big.Rat)
	for i, x := range p.Vars {
		den := new(big.Rat)
		for v, c := range x.M {
			den.Add(den, new(big.Rat).Mul(big.NewRat(int64(c), 1), power(p.Z, v)))
		}
		e := new(big.Rat).Quo(power(p.Z, x.V), den)
		e.Mul(e, p.Weight(i))
		total.Add(total, e.Mul(e, p.Cost(i)))
	}
	return total
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
