package lp

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"optratio/internal/chain"
	"optratio/internal/linear"
	"optratio/lattice"
)

// From firstOrderVariables variables on, the first-order method goes before the simplex method.
const firstOrderVariables = 3000

// firstOrder is the first-order method on a program, started at permute-and-flip and at the dual point of the closed-form bound.
type firstOrder struct {
	p      *program
	ascent *chain.Ascent
	flip   float64 // permute-and-flip's mean error
	gap    float64 // wanted
	need   int     // injections of a basic solution
	found  int     // of the image, when last counted
	looks  int     // how often in a row it was settled
	proved int     // iteration of the last proof
	frugal bool    // no basis is sought: bounds are all that there will be
}

func (p *program) firstOrder(gap *big.Rat) *firstOrder {
	f := p.chainForm()
	start := chain.NewPoint(f)
	pull := 0.0 // the start's mean multiplier
	for i, r := range p.closedProposal().Dual {
		y, _ := r.Float64()
		start.Y[i] = math.Ldexp(y, -p.shift)
		pull += float64(f.Weight[i] * start.Y[i])
	}
	o := &firstOrder{p: p, need: p.orbits() - len(f.Chains)}
	o.gap, _ = gap.Float64()
	start.X = p.probabilities(p.flipped())
	for c, w := range f.Chains {
		for i := f.Start[c]; i < f.Start[c+1]; i++ {
			o.flip += float64(w * f.Cost[i] * start.X[i])
		}
	}
	if p.flat {
		pull, _ = p.start[p.K].Float64()
		pull = math.Ldexp(pull, -p.shift)
	}
	o.ascent = chain.NewAscent(f, start, math.Sqrt(float64(p.N))*cmp.Or(pull, 1))
	return o
}

// probabilities reads masses u, by variable, as probabilities of one candidate, by position.
func (p *program) probabilities(u []ball) []float64 {
	mass := p.floatMass()
	x := make([]float64, len(p.order))
	for i, j := range p.order {
		x[i] = u[j].hi / mass[p.vars.Orbit[j]] / float64(p.vars.Count[j])
	}
	return x
}

// chainForm returns the program with the rows of the paper in chain form, one class per orbit, at the float64 nearest to z.
func (p *program) chainForm() *chain.Form {
	positions := len(p.order)
	f := &chain.Form{
		N: p.N, Z: p.Epsilon.FloatZ(), Start: p.chain,
		Class: make([]int32, positions), Cost: make([]float64, positions), Share: make([]float64, positions),
		Chains: make([]float64, len(p.chain)-1), Weight: make([]float64, p.orbits()),
	}
	total := new(big.Float).SetInt(lattice.Vectors(p.N, p.K, false))
	for i, m := range p.mass {
		f.Weight[i], _ = new(big.Float).Quo(new(big.Float).SetInt(m), total).Float64()
	}
	cost := p.floatCosts()
	for i, j := range p.order {
		f.Class[i], f.Cost[i], f.Share[i] = p.vars.Orbit[j], cost(j), float64(p.vars.Count[j])
	}
	for c := range f.Chains {
		i := p.chain[c]
		f.Chains[c] = f.Weight[f.Class[i]] * f.Share[i]
	}
	f.Prepare(2*p.K + 1)
	return f
}

// Limits of the first-order method: iterations in all, before the first proof, and between two counts of injections.
const (
	firstOrderIterations = 30_000
	firstOrderProve      = 250
	firstOrderCount      = 512
)

// The image's injections have settled when their number has missed that of a basic solution, and the one before, by no more than one and one in
// settledShare, settledLooks times in a row, while the primal was infeasible by at most settledInfeasible.
const (
	settledShare      = 400
	settledLooks      = 2
	settledInfeasible = 1e-7
)

// Where the injections have not settled after balanceIterations and the gap is no less than balanceGap, bounds are what the method goes on for: both come
// nearer to the optimum at the same pace, the upper one being about balanceSpread times the infeasibility away.
const (
	balanceIterations = 1000
	balanceGap        = 1e-7
	balanceSpread     = 4
)

// run iterates until the bounds are close enough, or the image has so nearly the number of injections of a basic solution that the simplex method has
// little left to do. It calls prove, which reports whether the bounds are close enough, at growing intervals and where they may be.
func (o *firstOrder) run(ctx context.Context, report func(Progress), prove func() bool) {
	a, next, retry := o.ascent, firstOrderProve, 0
	watch := a.Until(o.gap/4, math.Inf(1), func() {
		if report != nil {
			report(Progress{Pivots: a.Iterations, Objective: a.Bound})
		}
	})
	most := firstOrderIterations
	if o.frugal {
		most = math.MaxInt
	}
	a.Run(ctx, most, func() chain.Outcome {
		due := a.Iterations >= next
		if close := math.Abs(a.Primal-a.Bound)+float64(2*balanceSpread*a.Infeasible) <= o.gap*a.Bound; due || close && a.Iterations >= retry {
			if due {
				next *= 3
			}
			retry = a.Iterations * 9 / 8
			if o.proved = a.Iterations; prove() {
				return chain.Converged
			}
		}
		switch {
		case o.flip-a.Bound <= o.gap/2*o.flip:
			return chain.Converged
		case a.Iterations >= balanceIterations && (o.gap >= balanceGap || o.frugal):
			a.Spread = balanceSpread
		case a.Iterations%firstOrderCount == firstOrderCount-1 && (o.gap < balanceGap || o.p.variables() <= promptVariables) && o.settled():
			return chain.Converged
		}
		return watch()
	})
}

// settled counts the injections and reports whether they have settled.
func (o *firstOrder) settled() bool {
	before := o.found
	o.found = len(o.injections())
	near := func(x, y int) bool { return settledShare*(max(x-y, y-x)-1) <= o.need }
	if o.looks++; !near(o.found, o.need) || !near(o.found, before) || o.ascent.Infeasible > settledInfeasible {
		o.looks = 0
	}
	return o.looks == settledLooks
}

// injection is one at a position, with its mass over that of the lattice, or what it costs.
type injection struct {
	position int32
	size     float64
}

// injections lists those of the image at positions after the first of a chain.
func (o *firstOrder) injections() []injection {
	var found []injection
	a, f := o.ascent, o.ascent.Form
	for c, w := range f.Chains {
		for i := f.Start[c] + 1; i < f.Start[c+1]; i++ {
			if s := a.Image.X[i] - float64(f.Z*a.Image.X[i-1]); s > 1e-13*a.Image.X[i] {
				found = append(found, injection{i, s * w})
			}
		}
	}
	return found
}

// start is where the simplex method goes on from the image: it takes the injections for basic, those of the largest masses first, and completes the basis
// with those of the least reduced costs.
func (o *firstOrder) start() linear.Start {
	p := o.p
	start := linear.Start{X: make([]float64, p.variables())}
	for i, j := range p.order {
		start.X[j] = o.ascent.Image.X[i] * float64(p.vars.Count[j])
		start.Off = append(start.Off, j)
	}
	row := func(s injection) int32 { return int32(p.variables()) + p.link[p.order[s.position]] }
	found := o.injections()
	slices.SortFunc(found, func(x, y injection) int {
		return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.position, y.position))
	})
	off := make([]bool, len(p.order))
	for _, s := range found {
		start.Off = append(start.Off, row(s))
		off[s.position] = true
	}
	others := slices.DeleteFunc(o.reducedCosts(), func(s injection) bool { return off[s.position] })
	slices.SortFunc(others, func(x, y injection) int {
		return cmp.Or(cmp.Compare(x.size, y.size), cmp.Compare(x.position, y.position))
	})
	for _, s := range others {
		start.Spare = append(start.Spare, row(s))
	}
	return start
}

// reducedCosts lists, for the image's dual and all positions after the first of a chain, by how much an injection there costs more than what it
// is worth: the sum of what z leaves of it further down, c - y each.
func (o *firstOrder) reducedCosts() []injection {
	var costs []injection
	a, f := o.ascent, o.ascent.Form
	for c := range f.Chains {
		rest := 0.0
		for i := f.Start[c+1] - 1; i > f.Start[c]; i-- {
			rest = f.Cost[i] - a.Image.Y[f.Class[i]] + float64(f.Z*rest)
			costs = append(costs, injection{i, rest})
		}
	}
	return costs
}

// proposal returns the best dual point so far, and a feasible point near the image.
func (o *firstOrder) proposal() *proposal {
	prop := o.p.emptyProposal()
	for i, y := range o.ascent.Best {
		prop.Dual[i] = o.p.multiplier(y)
	}
	for i := range prop.Multiplier {
		prop.Multiplier[i] = new(big.Rat)
	}
	x := make([]float64, len(o.p.order))
	for i, j := range o.p.order {
		x[j] = o.ascent.Image.X[i]
	}
	prop.Injection = o.p.repaired(x)
	return prop
}
