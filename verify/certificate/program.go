package certificate

import (
	"context"
	"math/big"
	"slices"
)

// program is the optimal-mechanism program with the multipliers and injections of a certificate.
type program struct {
	*lattice
	ctx    context.Context
	box    bool
	level  level
	dual   []*big.Rat
	inject []injection
	cuts   []Cut
	cost   *effort
}

// factor returns f(m), the number of depths k' <= k for which m is in Q(n, k') under the objective box.
func (p *program) factor(m []int) int {
	if p.box {
		return p.k - deepest(m) + 1
	}
	return 1
}

// certificate is section program: the optimal-mechanism program with scores 2Δ apart, and what proves bounds on its optimum.
type certificate struct {
	setting
	program
	n, k        int
	objective   string // "paper" or "box"
	constraints string // a key of levels
	proof       string // "lp", "dual-recurrence", "dual-closed-form" or "lumped"

	lumps    *partition // with proof lumped only
	products []product  // with proof lumped only
}

// injection is s > 0 of the variable (m, v), m having the given rank.
type injection struct {
	rank, v int
	s       *big.Rat
}

func (c *certificate) read(r *reader, o Options) {
	c.cost, c.ctx = r.cost, o.Context
	c.n = r.whole("n", 1, maxCandidates)
	c.k = r.whole("k", 0, maxDepth)
	c.epsilon(r)
	c.objective = r.word("objective", "paper", "box")
	c.constraints = r.word("constraints", "paper", "dp", "monotone", "full")
	c.box, c.level = c.objective == "box", levels[c.constraints]
	c.proof = r.word("proof", "lp", "dual-recurrence", "dual-closed-form", "lumped")
	c.precision = r.whole("precision", 0, 1<<30)
	if r.err != nil {
		c.n = 0 // nothing can be said of the problem
		return
	}
	c.claim(r, "optimum")
	for _, what := range []string{"error pf", "error em", "ratio pf", "ratio em"} {
		if r.is("claim " + what) {
			c.claim(r, what)
		}
	}
	switch c.proof {
	case "lumped":
		r.long = max(r.long, maxBodyLength+32)
		r.stop(c.partition(r))
		c.readProducts(r)
	case "lp":
		if r.stop(o.fits(c.n, c.k)); r.err != nil {
			return
		}
		r.long = max(r.long, maxBodyLength+2*(c.k+3)*11+32)
		c.lattice = newLattice(c.n, c.k)
		c.body(r)
	}
}

func (c *certificate) about(p *Problem) bool {
	p.N, p.K, p.Objective, p.Constraints, p.Proof = c.n, c.k, c.objective, c.constraints, c.proof
	c.describe(p)
	return c.n > 0
}

func (c *certificate) decide(o Options) (reason string, err error) {
	ck, err := newChecker(c, o)
	if err != nil {
		return "", err
	}
	return ck.decide()
}

// body reads the dual, inject and cut lines.
func (c *certificate) body(r *reader) {
	for _, m := range c.orbits() {
		f := r.fields("dual", c.k+2)
		if got := r.counts(c.lattice, f); r.err == nil && !slices.Equal(got, m) {
			r.failf("dual: the count vector is not the next one, %v", brief(m))
		}
		if c.dual = append(c.dual, r.value("dual", f[c.k+1])); r.err != nil {
			return
		}
	}
	last := []int{-1, 0}
	for r.is("inject") {
		f := r.fields("inject", c.k+3)
		v, m := r.variable(c.lattice, f)
		if r.err != nil {
			return
		}
		at := []int{c.rank(m), v}
		switch {
		case v == 0 || m[v] == 0:
			r.failf("inject: no variable at depth %d, or none that takes an injection", v)
		case slices.Compare(at, last) <= 0:
			r.failf("inject: not after the variable of the line before")
		}
		last = at
		c.inject = append(c.inject, injection{at[0], v, r.positive("inject", f[c.k+2])})
	}
	r.cuts(c.lattice, c.constraints, c.level, func(q Cut) { c.cuts = append(c.cuts, q) })
}
