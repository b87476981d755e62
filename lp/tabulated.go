package lp

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/table"
	"optratio/number"
)

// tabulated returns what proves an answer as a table of probabilities and multipliers of rows, which certificates of other losses and priors hold.
func (e *chainProof) tabulated(q *Request) (*tableProof, error) {
	p, prec := e.program, e.prec
	t, err := newTable(q)
	if err != nil {
		return nil, err
	}
	if prec == 0 {
		z, _ := p.Epsilon.Z()
		return tabulate(p, t, exactNumbers{}, z, z, z, &e.proposal, func(x *big.Rat) *big.Rat { return x })
	}
	prec += tablePrecision
	f, scale := enclosedNumbers{arith.Interval{Prec: prec}}, new(big.Int).Lsh(one, prec)
	low, high := table.Between(p.Epsilon, prec)
	return tabulate(p, t, f, p.Epsilon.ExpNeg(big.NewRat(1, 1), prec), low, high, &e.proposal, func(x number.Interval) *big.Rat {
		r, _ := x.Mid().Rat(nil)
		if r == nil {
			return new(big.Rat)
		}
		n := new(big.Int).Mul(r.Num(), scale)
		return r.SetFrac(n.Quo(n, r.Denom()), scale)
	})
}

// tablePrecision is how many bits more than the evaluation a table has: it is mixed with another one until every row holds, which it misses by as little.
const tablePrecision = 64

// tabulate reads a proposal as a table, mixed with permute-and-flip as upperBound does, and multipliers of all rows, as walk finds them.
func tabulate[T any](p *program, t *tableProgram, f ordered[T], z T, low, high *big.Rat, prop *proposal, rational func(T) *big.Rat) (*tableProof, error) {
	u, flip := point(p, f, z, prop.Injection), point(p, f, z, nil)
	if theta, ok := mixture(p, f, z, u, flip); !ok {
		u = flip
	} else if theta.Sign() > 0 {
		u = mixed(f, theta, u, flip)
	}
	weight := func(j int32) *big.Rat { return new(big.Rat).SetInt(p.chainWeight(j)) }
	x := make([]*big.Rat, len(u)) // of one candidate
	for j := range u {
		x[j] = rational(f.Quo(u[j], f.FromRat(weight(int32(j)))))
	}
	var cuts []table.Cut
	var multiplier []*big.Rat
	scale := new(big.Rat).Mul(t.unit, t.mass)
	scale.Quo(p.each, scale)
	add := func(r table.Row, mu *big.Rat) {
		if mu != nil && mu.Sign() > 0 {
			scaled := weight(r.Above)
			scaled.Mul(scaled, scale)
			cuts, multiplier = append(cuts, r.Cut()), append(multiplier, scaled.Mul(scaled, mu))
		}
	}
	walk(p, f, z, prop, func(j int32, lambda T) {
		add(table.Row{Above: j, Below: p.vars.Up[j], Private: true}, rational(lambda))
	})
	for i, c := range prop.Cuts {
		add(c, prop.Multiplier[i])
	}
	s, err := t.Prove(x, nil, cuts, multiplier, []*big.Rat{low}, []*big.Rat{high})
	return &tableProof{s, t}, err
}
