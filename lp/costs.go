package lp

import (
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lattice"
)

// costs are what choosing a candidate costs: w(m) c(v) at depth v of a score vector of orbit m.
type costs struct {
	weight []*big.Int // w(m), of one vector of each orbit
	loss   []*big.Int // c(v), of each depth
	// unit is what 1 of the objective stands for in the answer: 1 where that is a total.
	unit *big.Rat
	pay  *big.Rat // and what it stands for in units of the prior and the loss
	// small says that the costs are integers that float64 holds exactly; otherwise floating-point programs have costs times 2^-shift.
	small bool
	shift int
	// start is what y(m)/w(m) is to begin with where two or more candidates are best; nil for that of the objective.
	start *big.Rat
}

// published returns the costs of the published program: the depth, under an objective.
func published(lat *lattice.Lattice, o totals.Objective) costs {
	c := costs{unit: big.NewRat(1, 1), small: true, weight: make([]*big.Int, lat.Len())}
	for v := range lat.K() + 1 {
		c.loss = append(c.loss, big.NewInt(int64(v)))
	}
	factor := c.loss
	if o == totals.Box {
		factor = append(factor, big.NewInt(int64(lat.K())+1))
	}
	for i, m := range lat.All() {
		c.weight[i] = factor[o.Factor(m)]
	}
	return c
}

// costsOf returns the costs of a question about a mean on the lattice of step 2Δ, whose answer is a mean loss.
func (p *Program) costsOf(q variant.Question) (c costs, err error) {
	losses, weights, err := q.Costs(p.lat)
	if err != nil {
		return c, err
	}
	for i, n := range p.mass {
		weights[i] = new(big.Rat).Quo(weights[i], new(big.Rat).SetInt(n))
	}
	var each, unit *big.Rat
	c.weight, each = arith.Multiples(weights)
	c.loss, unit = arith.Multiples(losses)
	c.pay = each.Mul(each, unit)
	total, most := new(big.Int), new(big.Int)
	var term big.Int
	for i, w := range c.weight {
		total.Add(total, term.Mul(w, p.mass[i]))
		if w.Cmp(most) > 0 {
			most = w
		}
	}
	c.unit = new(big.Rat).Quo(unit, new(big.Rat).SetInt(total))
	c.start = new(big.Rat).Quo(q.Start(losses), unit)
	deepest := c.loss[len(c.loss)-1]
	c.small = most.BitLen()+deepest.BitLen() <= 53
	c.shift = total.BitLen() - lattice.Vectors(p.N, p.K, false).BitLen() + deepest.BitLen() - big.NewInt(int64(p.K)).BitLen()
	return c, nil
}

// costIn returns the cost of each variable in an arithmetic.
func costIn[T any](p *Program, f arith.Field[T]) func(j int32) T {
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
func (p *Program) floatCosts() func(j int32) float64 {
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
func (p *Program) multiplier(y float64) *big.Rat { return ratFloat(math.Ldexp(y, p.shift)) }
