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
	"optratio/number"
)

// From firstOrderVariables variables on, the first-order method goes before the simplex method.
const firstOrderVariables = 3000

// firstOrder is the first-order method on a program of chains, started at permute-and-flip and at the dual point of the closed-form bound. Its losses are such that
// the deepest one is K, and its weights are over the mean weight of a score vector.
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
	o := &firstOrder{p: p, need: p.lat.Len() - len(f.Chains)}
	o.gap, _ = gap.Float64()
	dual, pull := p.dualStart()
	start := chain.Point{X: p.flipped(), Y: dual}
	if !p.question.Prior.flat() {
		pull = 0
		for i, y := range start.Y {
			pull += float64(f.Weight[i] * y)
		}
	}
	for c, w := range f.Chains {
		for i := f.Start[c]; i < f.Start[c+1]; i++ {
			o.flip += float64(w * f.Cost[i] * start.X[i])
		}
	}
	o.ascent = chain.NewAscent(f, start, math.Sqrt(float64(f.N))*cmp.Or(pull, 1))
	return o
}

// flipped returns permute-and-flip's probabilities, by position.
func (p *program) flipped() []float64 {
	z, x := floatZ(p.question.Epsilon), make([]float64, len(p.vars.Orbit))
	for i := range p.lat.Len() {
		first, rest := p.vars.First[i], 1.0
		for j := first + 1; j < p.vars.First[i+1]; j++ {
			x[j] = z * x[p.vars.Up[j]]
			rest -= float64(x[j] * float64(p.vars.Count[j]))
		}
		x[first] = rest / float64(p.vars.Count[first])
	}
	out := make([]float64, 0, len(x))
	for _, j := range p.Chains.Order {
		out = append(out, x[j])
	}
	return out
}

// losses returns those of the depths, the deepest being K where there is one, and what 1 of these is of the program's.
func (p *program) depthLosses() (losses []float64, scale *big.Rat) {
	all := p.question.losses()
	scale = new(big.Rat).Quo(all[len(all)-1], big.NewRat(int64(p.question.K), 1))
	if scale.Sign() == 0 {
		scale.SetInt64(1)
	}
	for _, c := range all {
		x, _ := c.Quo(c, scale).Float64()
		losses = append(losses, x)
	}
	return losses, scale.Quo(scale, p.unit)
}

// shares returns for each orbit its part of all score vectors, and its weight over that, which is 1 on average.
func (p *program) shares() (vectors, weight []float64) {
	all := new(big.Float).SetInt(lattice.Vectors(p.question.N, p.question.K, false))
	total := new(big.Int)
	for _, w := range p.Weight {
		total.Add(total, w)
	}
	sum := new(big.Float).SetInt(total)
	for i, n := range p.vectors {
		part := new(big.Float).SetInt(n)
		part.Quo(part, all)
		w := new(big.Float).SetInt(p.Weight[i])
		w.Quo(w, sum).Quo(w, part)
		share, _ := part.Float64()
		each, _ := w.Float64()
		vectors, weight = append(vectors, share), append(weight, each)
	}
	return vectors, weight
}

// chainForm returns the program with the rows of the paper in chain form, one class per orbit, at the float64 nearest to z.
func (p *program) chainForm() *chain.Form {
	positions := len(p.vars.Orbit)
	f := &chain.Form{
		N: p.question.N, Z: floatZ(p.question.Epsilon), Start: p.Chains.Start,
		Class: make([]int32, positions), Cost: make([]float64, positions), Share: make([]float64, positions),
		Chains: make([]float64, len(p.Chains.Start)-1),
	}
	losses, _ := p.depthLosses()
	var weight []float64
	f.Weight, weight = p.shares()
	for i, j := range p.Chains.Order {
		orbit := p.vars.Orbit[j]
		f.Class[i], f.Cost[i], f.Share[i] = orbit, weight[orbit]*losses[p.vars.Depth[j]], float64(p.vars.Count[j])
	}
	for c := range f.Chains {
		i := f.Start[c]
		f.Chains[c] = f.Weight[f.Class[i]] * f.Share[i]
	}
	f.Prepare(2*p.question.K + 1)
	return f
}

// dualStart returns the multipliers of permute-and-flip's closed-form bound (research/docs/threshold.md), by orbit: 0 where one candidate alone is best, else
// for a vector over its weight, by its deepest depth, with the factors g of a product prior, or g = 1, Σ z^u g(u) c(u) / Σ z^u g(u). Under the box prior the bound is the sum of those over
// Q(n,j), j <= k. The multipliers are rounded, and no bound by themselves. deepest is that of the deepest depth.
func (p *program) dualStart() (start []float64, deepest float64) {
	q := p.question
	factors, product := q.Prior.product(q)
	losses, _ := p.depthLosses()
	z, power, sum, all := floatZ(q.Epsilon), 1.0, 0.0, 0.0
	at := make([]float64, len(losses))
	for v, c := range losses {
		g := power
		if product {
			factor, _ := new(big.Rat).Quo(factors[v], factors[0]).Float64()
			g *= factor
		}
		sum += float64(g * c)
		all += g
		power *= z
		at[v] = sum / all
	}
	last := len(losses) - 1
	if q.Prior.box() {
		for v := last - 1; v >= 0; v-- {
			at[v] += at[v+1]
		}
		for v := range at {
			at[v] /= float64(last + 1 - v)
		}
	}
	_, weight := p.shares()
	start = make([]float64, p.lat.Len())
	for i, m := range p.lat.All() {
		v := last
		if q.Prior.box() {
			v = lattice.Deepest(m)
		}
		if x := weight[i] * at[v]; m[0] >= 2 && x > 0 && !math.IsInf(x, 0) {
			start[i] = x
		}
	}
	return start, at[last]
}

// Limits of the first-order method: iterations in all, before the first proof, and from one look at the injections to the next.
const (
	firstOrderIterations = 30_000
	firstOrderProve      = 250
	firstOrderCount      = 512
)

// A basic solution has a known number of injections. The image is close to one when its own number of injections differs from that, and from what the look
// before found, by at most one and one in settledShare of it, and when it misses the rows by at most settledInfeasible in all. After settledLooks such looks
// in a row the simplex method takes over.
const (
	settledShare      = 400
	settledLooks      = 2
	settledInfeasible = 1e-7
)

// promptVariables is the size up to which proofs take little time.
const promptVariables = 150_000

// From balanceIterations on, if a gap of at least balanceGap is wanted, the method aims at two close bounds and no longer at a basis. Then a restart sets the
// primal weight so that both bounds come nearer to the optimum at the same pace; the upper one is about balanceSpread times the infeasibility above it.
const (
	balanceIterations = 1000
	balanceGap        = 1e-7
	balanceSpread     = 4
)

// run iterates until the bounds are close enough, or the image has so nearly the number of injections of a basic solution that the simplex method has
// little left to do. It calls prove, which reports whether the bounds are close enough, where they may be, and at growing intervals on a program that is too large
// for a proof when time is up.
func (o *firstOrder) run(ctx context.Context, report func(int, float64), prove func() bool) {
	a, next, retry := o.ascent, firstOrderProve, 0
	watch := a.Until(o.gap/4, math.Inf(1), func() {
		if report != nil {
			report(a.Iterations, a.Bound)
		}
	})
	most := firstOrderIterations
	if o.frugal {
		most = math.MaxInt
	}
	a.Run(ctx, most, func() chain.Outcome {
		due := !o.prompt() && a.Iterations >= next
		if due || o.near() && a.Iterations >= retry {
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
		case a.Iterations%firstOrderCount == firstOrderCount-1 && (o.gap < balanceGap || o.prompt()) && o.settled():
			return chain.Converged
		}
		return watch()
	})
}

// near reports whether the bounds that a proof would find may be close enough.
func (o *firstOrder) near() bool {
	a := o.ascent
	return math.Abs(a.Primal-a.Bound)+float64(2*balanceSpread*a.Infeasible) <= o.gap*a.Bound || o.flip-a.Bound <= o.gap/2*o.flip
}

// prompt reports whether a proof takes little time.
func (o *firstOrder) prompt() bool { return len(o.p.vars.Orbit) <= promptVariables }

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
	start := linear.Start{X: o.masses(), Off: slices.Clone(p.Chains.Order)}
	link, row := make([]int32, len(p.vars.Orbit)), int32(len(p.vars.Orbit)+p.lat.Len())
	for i, r := range p.Start {
		link[r.Above] = row + int32(i)
	}
	found := o.injections()
	slices.SortFunc(found, func(x, y injection) int {
		return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.position, y.position))
	})
	off := make([]bool, len(p.vars.Orbit))
	for _, s := range found {
		start.Off = append(start.Off, link[p.Chains.Order[s.position]])
		off[s.position] = true
	}
	others := slices.DeleteFunc(o.reducedCosts(), func(s injection) bool { return off[s.position] })
	slices.SortFunc(others, func(x, y injection) int {
		return cmp.Or(cmp.Compare(x.size, y.size), cmp.Compare(x.position, y.position))
	})
	for _, s := range others {
		start.Spare = append(start.Spare, link[p.Chains.Order[s.position]])
	}
	return start
}

// masses are those of the image, by variable.
func (o *firstOrder) masses() []float64 {
	x := make([]float64, len(o.p.vars.Orbit))
	for i, j := range o.p.Chains.Order {
		x[j] = o.ascent.Image.X[i] * float64(o.p.vars.Count[j])
	}
	return x
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

// sums returns the best multipliers of the orbits' sums so far, in the program's units.
func (o *firstOrder) sums() []*big.Rat {
	p := o.p
	_, unit := p.depthLosses()
	total := new(big.Int)
	for _, w := range p.Weight {
		total.Add(total, w)
	}
	unit.Mul(unit, new(big.Rat).SetFrac(total, lattice.Vectors(p.question.N, p.question.K, false)))
	sums := make([]*big.Rat, 0, p.lat.Len())
	for i, n := range p.vectors {
		y := new(big.Rat)
		if x := o.ascent.Best[i]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			y.SetFloat64(x)
		}
		sums = append(sums, y.Mul(y, unit).Mul(y, new(big.Rat).SetInt(n)))
	}
	return sums
}

// lead is table.Chains.Lead: it goes on until the bounds are as close as asked or the simplex method has little left to do.
func (o *firstOrder) lead(ctx context.Context, show func(mass []float64, sums []*big.Rat) bool) (linear.Start, string) {
	prove := func() bool { return show(o.masses(), o.sums()) }
	o.run(ctx, o.p.question.Report, prove)
	if o.proved < o.ascent.Iterations && prove() {
		return linear.Start{}, ""
	}
	switch {
	case ctx.Err() != nil:
		return linear.Start{}, context.Cause(ctx).Error()
	case o.frugal:
		return linear.Start{}, "the first-order method comes no closer, and there is no memory for more; raise the limit of memory"
	}
	return o.start(), ""
}

// floatZ returns z = e^{-ε} rounded to a float64, which is the same on every machine.
func floatZ(eps number.Epsilon) float64 { return eps.ExpNeg(big.NewRat(1, 1), 96).Near() }
