package heterogeneous

import (
	"math"
	"math/big"

	"optratio/lp/linear"
)

// proposal is a point and multipliers that bounds are evaluated from. Nothing about it is trusted:
// whatever its numbers are, the bounds hold; if they are good, the bounds are close.
type proposal struct {
	x *linear.Fractions // the table, a value per variable
	y *linear.Fractions // multipliers: of Worst's rows, a value per vector, then of (P)
}

// proposalBits is the binary precision at which floating-point solutions are read.
const proposalBits = 96

// fromFloats reads a proposal from a floating-point solution.
func (p *program) fromFloats(r *linear.Result) *proposal {
	return &proposal{dyadic(r.X[:p.variables()]), dyadic(r.Duals[p.vectors():])}
}

// dyadic rounds numbers to multiples of 2^-proposalBits; what is not finite counts as 0.
func dyadic(xs []float64) *linear.Fractions {
	out := &linear.Fractions{Num: make([]*big.Int, len(xs)), Den: new(big.Int).Lsh(big.NewInt(1), proposalBits)}
	for i, x := range xs {
		out.Num[i] = new(big.Int)
		if x = math.Ldexp(x, proposalBits); !math.IsNaN(x) && !math.IsInf(x, 0) {
			big.NewFloat(x).Int(out.Num[i])
		}
	}
	return out
}

// fromVectors reads a proposal from a solution of the whole program, of linear's Exact or Approximation.
func (p *program) fromVectors(x, y *linear.Fractions) *proposal {
	return &proposal{
		&linear.Fractions{Num: x.Num[:p.variables()], Den: x.Den},
		&linear.Fractions{Num: y.Num[p.vectors():], Den: y.Den},
	}
}

// lowerBound returns a number that no mechanism private for e^{-ε} >= z falls below: for any nonnegative
// weights w of the vectors and μ of rows (P),
//
//	Σ_q min_r [ w(q) loss(q,r) - Σ_{rows above (q,r)} μ + z Σ_{rows below (q,r)} μ ] / Σ_q w(q)
//
// by weak duality. Mean has the grid's weights; Worst takes them from the proposal, since the largest
// loss is at least every weighted mean. Negative multipliers count as 0. It returns nil where all weights are 0.
func (p *program) lowerBound(prop *proposal, z *big.Rat) *big.Rat {
	weights, mu := prop.y.Num, prop.y.Num
	if p.criterion == Worst {
		mu = mu[p.vectors():]
	}
	total, w := new(big.Int), make([]*big.Int, p.vectors())
	for q := range w {
		if p.criterion == Mean {
			w[q] = new(big.Int).Mul(big.NewInt(p.weight[q]), prop.y.Den)
		} else {
			w[q] = positive(weights[q])
		}
		total.Add(total, w[q])
	}
	if total.Sign() == 0 {
		return nil
	}
	// Everything times y's denominator times z's.
	reduced := make([]*big.Int, p.variables())
	for q := range w {
		for r := range p.n {
			c := new(big.Int).Mul(w[q], p.lossAt(q, r))
			reduced[p.column(q, r)] = c.Mul(c, z.Denom())
		}
	}
	var term big.Int
	for i, row := range p.rows {
		m := positive(mu[i])
		if m.Sign() == 0 {
			continue
		}
		a, b := reduced[p.upperColumn(row)], reduced[p.lowerColumn(row)]
		a.Sub(a, term.Mul(m, z.Denom()))
		b.Add(b, term.Mul(m, z.Num()))
	}
	sum := new(big.Int)
	for q := range w {
		least := reduced[p.column(q, 0)]
		for _, c := range reduced[p.column(q, 0):p.column(q+1, 0)] {
			if c.Cmp(least) < 0 {
				least = c
			}
		}
		sum.Add(sum, least)
	}
	bound := new(big.Rat).SetFrac(sum, total.Mul(total, z.Denom()))
	if bound.Sign() < 0 {
		bound.SetInt64(0) // losses are not negative
	}
	return bound
}

// positive returns max(0, x).
func positive(x *big.Int) *big.Int {
	if x.Sign() < 0 {
		return new(big.Int)
	}
	return x
}

// table is a feasible mechanism: x_r(q) = (1-θ) x.Num/x.Den + θ/n.
type table struct {
	x     *linear.Fractions
	theta *big.Rat
}

// feasible repairs a proposal: entries below 0 become 0, what a vector lacks of 1, or has too much, goes to its largest
// entry, and then the uniform mechanism is mixed in until every row (P) of the grid holds at the given
// z >= e^{-ε}, whether the program has the row or not. With s < 0 the least slack and u = (1-z)/n that of
// the uniform mechanism, θ = -s/(u - s) is enough.
func (p *program) feasible(prop *proposal, z *big.Rat) *table {
	t := &table{x: &linear.Fractions{Num: make([]*big.Int, p.variables()), Den: prop.x.Den}, theta: new(big.Rat)}
	for q := range p.levels {
		own := t.x.Num[p.column(q, 0):p.column(q+1, 0)]
		rest, largest := new(big.Int).Set(prop.x.Den), 0
		for r := range own {
			own[r] = positive(prop.x.Num[p.column(q, r)])
			rest.Sub(rest, own[r])
			if own[r].Cmp(own[largest]) > 0 {
				largest = r
			}
		}
		own[largest] = new(big.Int).Add(own[largest], rest)
		if own[largest].Sign() < 0 {
			return &table{x: p.uniform().x, theta: new(big.Rat)} // far from a mechanism
		}
	}
	// Slacks are over x's denominator times z's.
	least, slack, term := new(big.Int), new(big.Int), new(big.Int)
	for q, near := range p.neighbors {
		for r := range p.n {
			above := t.x.Num[p.column(q, r)]
			var most *big.Int
			for _, o := range near {
				if x := t.x.Num[p.column(int(o), r)]; most == nil || x.Cmp(most) > 0 {
					most = x
				}
			}
			if most == nil {
				continue
			}
			slack.Sub(slack.Mul(above, z.Denom()), term.Mul(most, z.Num()))
			if slack.Cmp(least) < 0 {
				least.Set(slack)
			}
		}
	}
	if least.Sign() < 0 {
		room := new(big.Rat).SetFrac(new(big.Int).Sub(z.Denom(), z.Num()), big.NewInt(int64(p.n)))
		room.Mul(room, new(big.Rat).SetInt(t.x.Den))
		s := new(big.Rat).SetInt(least)
		t.theta.Quo(s, room.Sub(s, room)) // s/(s-u) = -s/(u-s)
	}
	return t
}

// at returns x_r(q).
func (p *program) at(t *table, q, r int) *big.Rat {
	keep := new(big.Rat).Sub(big.NewRat(1, 1), t.theta)
	x := keep.Mul(keep, t.x.Rat(p.column(q, r)))
	share := new(big.Rat).Mul(t.theta, big.NewRat(1, int64(p.n)))
	return x.Add(x, share)
}

// value returns a table's mean or largest expected loss, in (squared) steps.
func (p *program) value(t *table) *big.Rat {
	keep := new(big.Rat).Sub(big.NewRat(1, 1), t.theta)
	sum, most := new(big.Rat), new(big.Rat)
	var term big.Int
	for q := range p.levels {
		own, blind := new(big.Int), new(big.Int)
		for r := range p.n {
			loss := p.lossAt(q, r)
			blind.Add(blind, loss)
			own.Add(own, term.Mul(loss, t.x.Num[p.column(q, r)]))
		}
		at := new(big.Rat).SetFrac(own, t.x.Den)
		uniform := new(big.Rat).SetFrac(blind, big.NewInt(int64(p.n)))
		at.Add(at.Mul(at, keep), uniform.Mul(uniform, t.theta))
		if at.Cmp(most) > 0 {
			most.Set(at)
		}
		sum.Add(sum, at.Mul(at, big.NewRat(p.weight[q], 1)))
	}
	if p.criterion == Worst {
		return most
	}
	return sum.Quo(sum, big.NewRat(p.total, 1))
}
