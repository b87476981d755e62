package certificate

import (
	"fmt"
	"math/big"
	"slices"
)

// level says which rows the program has beyond those of the level paper.
type level struct{ privacy, monotone, approximate bool }

var levels = map[string]level{
	"paper": {}, "dp": {privacy: true}, "monotone": {monotone: true}, "full": {privacy: true, monotone: true},
	"approximate": {approximate: true}, // in section lattice only
}

// certificate is section program: the optimal-mechanism program with scores 2Δ apart, and what proves bounds on its optimum.
type certificate struct {
	setting
	n, k        int
	objective   string // "paper" or "box"
	constraints string // a key of levels
	proof       string // "lp", "dual-recurrence", "dual-closed-form" or "lumped"

	lat    *lattice // with proof lp only
	dual   []*big.Rat
	inject []injection
	cuts   []Cut

	lumps    *partition // with proof lumped only
	products []product  // with proof lumped only
	cost     *effort
}

// injection is s > 0 of the variable (m, v), m having the given rank.
type injection struct {
	rank, v int
	s       *big.Rat
}

// Cut is the row x[M][V] >= ρ x[L][W] with its multiplier, ρ being z for a privacy row and 1 for a row of
// the level monotone.
type Cut struct {
	Privacy bool
	M, L    []int
	V, W    int
	Mu      *big.Rat
}

func (c *certificate) read(r *reader, o Options) {
	c.cost = r.cost
	c.n = r.whole("n", 1, maxCandidates)
	c.k = r.whole("k", 0, maxDepth)
	c.epsilon(r)
	c.objective = r.word("objective", "paper", "box")
	c.constraints = r.word("constraints", "paper", "dp", "monotone", "full")
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
		c.lat = newLattice(c.n, c.k)
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
	for _, m := range c.lat.orbits() {
		f := r.fields("dual", c.k+2)
		if got := r.counts(c.lat, f); r.err == nil && !slices.Equal(got, m) {
			r.failf("dual: the count vector is not the next one, %v", brief(m))
		}
		if c.dual = append(c.dual, r.value("dual", f[c.k+1])); r.err != nil {
			return
		}
	}
	last := []int{-1, 0}
	for r.is("inject") {
		f := r.fields("inject", c.k+3)
		v, m := r.variable(c.lat, f)
		if r.err != nil {
			return
		}
		at := []int{c.lat.rank(m), v}
		switch {
		case v == 0 || m[v] == 0:
			r.failf("inject: no variable at depth %d, or none that takes an injection", v)
		case slices.Compare(at, last) <= 0:
			r.failf("inject: not after the variable of the line before")
		}
		last = at
		c.inject = append(c.inject, injection{at[0], v, r.positive("inject", f[c.k+2])})
	}
	r.cuts(c.lat, c.constraints, levels[c.constraints], func(q Cut) { c.cuts = append(c.cuts, q) })
}

// cuts reads the multipliers of rows of a level, each of an allowed kind, in order.
func (r *reader) cuts(l *lattice, name string, allowed level, take func(Cut)) {
	var last []int
	for r.is("cut") {
		f := r.fields("cut", 2*l.k+6)
		q := Cut{Privacy: f[0] == "p"}
		if !q.Privacy && f[0] != "m" || q.Privacy && !allowed.privacy || !q.Privacy && !allowed.monotone {
			r.failf("cut: kind %s is no row of level %s", quote(f[0]), name)
		}
		q.V, q.M = r.variable(l, f[1:])
		q.W, q.L = r.variable(l, f[l.k+3:])
		if r.err != nil {
			return
		}
		if err := q.check(); err != nil {
			r.failf("cut: %v", err)
		}
		key := []int{0, l.rank(q.M), q.V, l.rank(q.L), q.W}
		if q.Privacy {
			key[0] = 1
		}
		if last != nil && slices.Compare(key, last) <= 0 {
			r.failf("cut: not after the row of the line before")
		}
		last = key
		q.Mu = r.positive("cut", f[2*l.k+5])
		take(q)
	}
}

// fits returns ErrLimit if enumerating the lattice exceeds the memory or the steps allowed.
func (o Options) fits(n, k int) error {
	variables, table := variableCount(n, k), (n+1)*(k+1)
	need := float64(variables)*bytesPerVariable + float64(table)*16
	if need > float64(o.MaxMemory) {
		return fmt.Errorf("%w: n = %d, k = %d has %s variables, and takes about %.3g bytes; the limit is %d",
			ErrLimit, n, k, atLeast(variables), need, o.MaxMemory)
	}
	if steps := float64(variables)*stepsPerVariable + float64(orbitCount(n, k))*float64(k)*stepsPerDepth; steps > float64(o.MaxSteps) {
		return fmt.Errorf("%w: n = %d, k = %d has %s variables, and takes about %.3g steps; the limit is %d", ErrLimit, n, k, atLeast(variables), steps, o.MaxSteps)
	}
	return nil
}

func atLeast(count int) string {
	if count >= maxCount {
		return "more than 10^18"
	}
	return fmt.Sprint(count)
}
