package certificate

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/evidence"
)

// certificate is section program: the optimal-mechanism program with scores 2Δ apart, and what proves bounds on its optimum.
type certificate struct {
	evidence.Setting
	n, k        int
	objective   string // "paper" or "box"
	constraints string // a key of levels
	proof       string // "lp", "dual-recurrence", "dual-closed-form" or "lumped"
	box         bool
	cost        *evidence.Effort

	lattice *orbits // where it is enumerated: with proof lp, and for claims on em
	before  []int   // with proof lp: of each cell the one before it on its chain, or -1
	deepest []bool  // and whether it is the last one
	dual    []*big.Rat
	inject  []injection
	cuts    []evidence.Cut

	lumps *partition // with proof lumped only

	o     evidence.Options
	z     *big.Rat // e^-ε where it is rational
	spent float64  // steps of closed forms
	fixed *results // what is exact, and so does not depend on the precision
	em    *big.Rat // total error of the exponential mechanism, once known exactly
}

// injection is s > 0 of a cell (m, v), w = N(m) m_v.
type injection struct {
	cell int
	w    *big.Int
	s    *big.Rat
}

func (c *certificate) Read(r *evidence.Reader, o evidence.Options) {
	c.cost = r.Cost
	c.n = r.Whole("n", 1, evidence.MaxCandidates)
	c.k = r.Whole("k", 0, evidence.MaxDepth)
	c.Epsilon(r)
	c.objective = r.Word("objective", "paper", "box")
	c.constraints = r.Word("constraints", "paper", "dp", "monotone", "full")
	c.box = c.objective == "box"
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
	case "lp":
		c.enumerate(o)
		c.chains()
		r.Long = max(r.Long, evidence.MaxBodyLength+2*(c.k+3)*11+32)
		c.body(r, c.lattice.lat)
	}
}

func (c *certificate) About(p *evidence.Problem) bool {
	p.N, p.K, p.Objective, p.Constraints, p.Proof = c.n, c.k, c.objective, c.constraints, c.proof
	c.Describe(p)
	return c.proof != ""
}

// enumerate makes sure that the lattice can be enumerated, as a finite problem of section lattice.
func (c *certificate) enumerate(o evidence.Options) {
	if c.lattice != nil {
		return
	}
	evidence.Fits(o, c.n, c.k)
	l := &orbits{n: c.n, k: c.k, step: 1, top: 1, level: evidence.Levels[c.constraints], prior: c.objective}
	for v := range c.k + 1 {
		l.losses = append(l.losses, big.NewRat(int64(v), 1))
	}
	l.cost = c.cost
	l.lay()
	l.first = []int{0}
	for range l.lat.Start {
		l.cellsOf(0)
		l.first = append(l.first, len(l.loss))
	}
	c.lattice = l
}

// body reads the dual, inject and cut lines.
func (c *certificate) body(r *evidence.Reader, l *evidence.Lattice) {
	for _, m := range l.Orbits() {
		f := r.Fields("dual", c.k+2)
		if !slices.Equal(r.Counts(l, f), m) {
			r.Failf("dual: the count vector is not the next one, %s", evidence.Quote(fmt.Sprint(m)))
		}
		c.dual = append(c.dual, r.Value("dual", f[c.k+1]))
	}
	var last []int
	for r.Is("inject") {
		f := r.Fields("inject", c.k+3)
		v, m := r.Variable(l, f)
		at := []int{l.Rank(m), v}
		if v == 0 || m[v] == 0 {
			r.Failf("inject: no variable at depth %d, or none that takes an injection", v)
		}
		r.Ordered(&last, at, "inject: not after the variable of the line before")
		c.inject = append(c.inject, injection{l.Variable(at[0], m, v), l.Weight(m, v), r.Positive("inject", f[c.k+2])})
	}
	r.Cuts(l, c.constraints, c.lattice.level, func(q evidence.Cut) { c.cuts = append(c.cuts, q) })
}
