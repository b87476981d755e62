package lp

import (
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/lattice"
)

// costs are what choosing a candidate costs: w(m) c(v) at depth v of a score vector of orbit m, with w and c from the prior and the loss.
type costs struct {
	weight []*big.Int // w(m), of one vector of each orbit
	loss   []*big.Int // c(v), of each depth
	unit   *big.Rat   // what 1 of the objective stands for in the mean loss
	each   *big.Rat   // and what it stands for in units of the prior and the loss
	// small says that the costs are integers that float64 holds exactly; otherwise floating-point programs have costs times 2^-shift.
	small bool
	shift int
	// start is what y(m)/w(m) is to begin with where two or more candidates are best, by the orbit's deepest depth.
	start []*big.Rat
	flat  bool // whether the prior is
}

// costsOf returns the costs of a question about a mean on the lattice of step 2Δ.
func (p *program) costsOf(q *Request) (c costs) {
	losses := q.losses()
	each, total := big.NewRat(1, 1), lattice.Vectors(p.N, p.K, q.Prior.box())
	if q.Prior.flat() {
		c.weight = make([]*big.Int, len(p.mass))
		copies := make([]*big.Int, p.K+2)
		for i := range copies {
			copies[i] = big.NewInt(int64(i))
		}
		for i, m := range p.lat.All() {
			if c.weight[i] = copies[1]; q.Prior.box() {
				c.weight[i] = copies[lattice.Copies(m)]
			}
		}
	} else {
		var weights []*big.Rat
		of := q.Prior.weigher(q)
		for _, m := range p.lat.All() {
			weights = append(weights, of(m))
		}
		c.weight, each = arith.Multiples(weights)
		total.SetInt64(0)
		var term big.Int
		for i, w := range c.weight {
			total.Add(total, term.Mul(w, p.mass[i]))
		}
		c.shift = total.BitLen() - lattice.Vectors(p.N, p.K, false).BitLen()
	}
	most := slices.MaxFunc(c.weight, (*big.Int).Cmp)
	var unit *big.Rat
	c.loss, unit = arith.Multiples(losses)
	c.each = each.Mul(each, unit)
	c.unit = new(big.Rat).Quo(unit, new(big.Rat).SetInt(total))
	c.start, c.flat = q.dualStart(losses, unit), q.Prior.flat()
	deepest := c.loss[len(c.loss)-1]
	c.small = most.BitLen()+deepest.BitLen() <= 53
	c.shift += deepest.BitLen() - big.NewInt(int64(p.K)).BitLen()
	return c
}

// dualStart returns the multipliers, in units, of permute-and-flip's closed-form bound on the lattice of step 2Δ (research/docs/threshold.md), for each vector over its weight and by its
// deepest depth: with the factors g of a product prior, or g = 1, Σ z^u g(u) c(u) / Σ z^u g(u). Under the box prior the bound is the sum of those over
// Q(n,j), j <= k. The multipliers are rounded, and no bound by themselves.
func (q *Request) dualStart(losses []*big.Rat, unit *big.Rat) []*big.Rat {
	factors, product := q.Prior.product(q)
	z := q.Epsilon.FloatZ()
	most, power, sum, all := losses[len(losses)-1], 1.0, 0.0, 0.0
	at := make([]float64, len(losses))
	for v, c := range losses {
		g := power
		if product {
			factor, _ := new(big.Rat).Quo(factors[v], factors[0]).Float64()
			g *= factor
		}
		if c.Sign() > 0 {
			share, _ := new(big.Rat).Quo(c, most).Float64()
			sum += float64(g * share)
		}
		all += g
		power *= z
		at[v] = sum / all
	}
	last := len(losses) - 1
	if q.Prior.box() {
		for v := last - 1; v >= 0; v-- {
			at[v] += at[v+1]
		}
	}
	start := make([]*big.Rat, len(losses))
	for v := range start {
		x := at[last]
		if q.Prior.box() {
			x = at[v] / float64(last+1-v)
		}
		start[v] = ratFloat(max(x, 0))
		start[v].Mul(start[v], most).Quo(start[v], unit)
	}
	return start
}

// costIn returns the cost of each variable in an arithmetic.
func costIn[T any](p *program, f arith.Field[T]) func(j int32) T {
	if p.small {
		return func(j int32) T {
			return f.FromInt(p.weight[p.vars.Orbit[j]].Int64() * p.loss[p.vars.Depth[j]].Int64())
		}
	}
	each := func(xs []*big.Int) []T {
		out := make([]T, len(xs))
		for i, x := range xs {
			if i > 0 && x.Cmp(xs[i-1]) == 0 {
				out[i] = out[i-1]
				continue
			}
			out[i] = f.FromRat(new(big.Rat).SetInt(x))
		}
		return out
	}
	weight, loss := each(p.weight), each(p.loss)
	return func(j int32) T { return f.Mul(weight[p.vars.Orbit[j]], loss[p.vars.Depth[j]]) }
}

// floatCosts returns the cost of each variable times 2^-shift, rounded.
func (p *program) floatCosts() func(j int32) float64 {
	deepest := p.loss[len(p.loss)-1].BitLen()
	each := func(xs []*big.Int, shift int) []float64 {
		out := make([]float64, len(xs))
		for i, x := range xs {
			f := new(big.Float).SetInt(x)
			out[i], _ = f.SetMantExp(f, -shift).Float64()
		}
		return out
	}
	weight, loss := each(p.weight, p.shift-deepest), each(p.loss, deepest)
	return func(j int32) float64 { return weight[p.vars.Orbit[j]] * loss[p.vars.Depth[j]] }
}

// multiplier returns a multiplier of a floating-point program, in the unit of the costs.
func (p *program) multiplier(y float64) *big.Rat { return ratFloat(math.Ldexp(y, p.shift)) }
