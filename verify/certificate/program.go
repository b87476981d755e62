package certificate

import (
	"context"
	"math/big"
	"slices"

	"optratio/internal/evidence"
)

// program is the optimal-mechanism program with the multipliers and injections of a certificate.
type program struct {
	*evidence.Lattice
	ctx    context.Context
	box    bool
	level  evidence.Level
	dual   []*big.Rat
	inject []injection
	cuts   []evidence.Cut
	cost   *evidence.Effort
}

// factor returns f(m), the number of depths k' <= k for which m is in Q(n, k') under the objective box.
func (p *program) factor(m []int) int {
	if p.box {
		return p.K - evidence.Deepest(m) + 1
	}
	return 1
}

// certificate is section program: the optimal-mechanism program with scores 2Δ apart, and what proves bounds on its optimum.
type certificate struct {
	evidence.Setting
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

func (c *certificate) Read(r *evidence.Reader, o evidence.Options) {
	c.cost, c.ctx = r.Cost, o.Context
	c.n = r.Whole("n", 1, evidence.MaxCandidates)
	c.k = r.Whole("k", 0, evidence.MaxDepth)
	c.Epsilon(r)
	c.objective = r.Word("objective", "paper", "box")
	c.constraints = r.Word("constraints", "paper", "dp", "monotone", "full")
	c.box, c.level = c.objective == "box", evidence.Levels[c.constraints]
	c.proof = r.Word("proof", "lp", "dual-recurrence", "dual-closed-form", "lumped")
	c.Precision = r.Whole("precision", 0, 1<<30)
	c.Claim(r, "optimum")
	for _, what := range []string{"error pf", "error em", "ratio pf", "ratio em"} {
		if r.Is("claim " + what) {
			c.Claim(r, what)
		}
	}
	switch c.proof {
	case "lumped":
		r.Long = max(r.Long, evidence.MaxBodyLength+32)
		c.partition(r)
		c.readProducts(r)
	case "lp":
		evidence.Fits(o, c.n, c.k)
		r.Long = max(r.Long, evidence.MaxBodyLength+2*(c.k+3)*11+32)
		c.Lattice = evidence.NewLattice(c.n, c.k)
		c.body(r)
	}
}

func (c *certificate) About(p *evidence.Problem) bool {
	p.N, p.K, p.Objective, p.Constraints, p.Proof = c.n, c.k, c.objective, c.constraints, c.proof
	c.Describe(p)
	return c.proof != ""
}

func (c *certificate) Decide(o evidence.Options) { newChecker(c, o).decide() }

// body reads the dual, inject and cut lines.
func (c *certificate) body(r *evidence.Reader) {
	for _, m := range c.Orbits() {
		f := r.Fields("dual", c.k+2)
		if !slices.Equal(r.Counts(c.Lattice, f), m) {
			r.Failf("dual: the count vector is not the next one, %v", evidence.Brief(m))
		}
		c.dual = append(c.dual, r.Value("dual", f[c.k+1]))
	}
	var last []int
	for r.Is("inject") {
		f := r.Fields("inject", c.k+3)
		v, m := r.Variable(c.Lattice, f)
		at := []int{c.Rank(m), v}
		if v == 0 || m[v] == 0 {
			r.Failf("inject: no variable at depth %d, or none that takes an injection", v)
		}
		r.Ordered(&last, at, "inject: not after the variable of the line before")
		c.inject = append(c.inject, injection{at[0], v, r.Positive("inject", f[c.k+2])})
	}
	r.Cuts(c.Lattice, c.constraints, c.level, func(q evidence.Cut) { c.cuts = append(c.cuts, q) })
}
