package table

import (
	"context"
	"math/big"
	"slices"

	"optratio/internal/linear"
)

// Chains says that the rows Start of a program are x_j >= z x_Up[j], one for each cell with Up[j] >= 0, in the order of the cells: each cell is on one chain.
// A point near the optimum then has a table near it that satisfies all of these, and multipliers of the groups' sums have the best ones of these rows
// beside them (package chain). The first cell of a group is at the head of a chain or follows the first cell of a later group;
// all others follow cells of earlier groups.
type Chains struct {
	Up           []int32 // -1 at the head of a chain
	Start, Order []int32 // chain c is Order[Start[c]:Start[c+1]], from its head
	// Interior returns the interior table that is wanted where permute-and-flip cannot be rounded.
	Interior func() []*big.Rat
	// Lead, where not nil, goes near the optimum by a method of its own. It shows, now and then, masses of the cells and multipliers of the
	// groups' sums, in units of the loss times the weight, and learns whether their bounds are close enough. Unless they are, it returns where the simplex method goes on, or why that
	// is not to be.
	Lead func(ctx context.Context, show func(mass []float64, sums []*big.Rat) (enough bool)) (start linear.Start, undecided string)
}

// shown reads what Lead shows as a proposal.
func (p *Program) shown(mass []float64, sums []*big.Rat) *proposal {
	prop := &proposal{x: dyadic(mass), rough: true, spare: new(big.Int)}
	prop.y = dyadic(make([]float64, len(p.rows)))
	for _, y := range sums {
		n := new(big.Int).Mul(y.Num(), prop.y.Den)
		prop.sums = append(prop.sums, n.Quo(n, y.Denom()))
	}
	return prop
}

// inner makes sure of an interior table. By default it is permute-and-flip rounded, with all rows Start tight but those with a first cell above, as a table that is mixed with it
// keeps its tight rows. Where rounding breaks another row it is the caller's.
func (p *Program) inner(high factors) {
	if p.Interior != nil {
		return
	}
	prop := p.start(high)
	share := p.shares(prop.x.Num)
	var left, right big.Int
	if slices.ContainsFunc(share, func(x *big.Int) bool { return x.Sign() < 0 }) || !p.Each(func(r Row) bool {
		z := high.of(r.Private, r.Distance)
		return left.Mul(share[r.Above], z.Denom()).Cmp(right.Mul(share[r.Below], z.Num())) >= 0
	}) {
		p.Interior = p.Chains.Interior()
		return
	}
	p.Interior = make([]*big.Rat, p.cells())
	den := new(big.Int).Mul(prop.x.Den, p.common)
	for j, x := range share {
		p.Interior[j] = new(big.Rat).SetFrac(x, den)
	}
}

// flipBits is the binary precision of permute-and-flip's probabilities.
const flipBits = 192

// Above returns by how much the probability of a cell is above z times that of another one, 0 where rounding alone may be why.
func (s *Solution) Above(cell, other int32) *big.Rat {
	z, above := s.high[0], s.Table.At(int(cell))
	above.Sub(above, new(big.Rat).Mul(z, s.Table.At(int(other))))
	if s.low.equal(s.high) && s.Lower.Cmp(s.Upper) == 0 {
		return above
	}
	if least := new(big.Rat).SetFrac(big.NewInt(2), s.Table.x.Den); above.Cmp(least) < 0 {
		return above.SetInt64(0)
	}
	return above
}

// slack is what a row between first cells keeps at least, in units of 1/Den, so that it holds for a table with what rounding left of the others taken away.
var slack = big.NewInt(1 << 16)

// noise is the size, relative to a probability in floating point, below which it counts as that on its row: 2^-noise.
const noise = 46

// follow moves masses, in units of 1/Den, to a table near them that satisfies the rows Start at z as far as it can. It goes through the groups in their order,
// so that the least mass of each cell but the first is known. What its group lacks of 1 is left to the first cell. Where that is followed by the first
// cell of an earlier group, it may not be too much for it, and what is goes to the cell that is furthest above its least mass. So a row that is violated costs
// no more than the mass that it is violated by, carried to the end of a chain.
func (p *Program) follow(prop *proposal, z *big.Rat) {
	x := make([]*big.Int, p.cells())
	for j := range x {
		x[j] = new(big.Int).Set(prop.x.Num[j])
	}
	prop.x = &linear.Fractions{Num: x, Den: prop.x.Den}
	next := make([]int32, p.cells()) // of each first cell the first one that follows it
	for j := range next {
		next[j] = -1
	}
	for _, j := range p.First[:p.groups()] {
		if up := p.Chains.Up[j]; up >= 0 {
			next[up] = j
		}
	}
	var least, den, over, room, most big.Int
	bits := uint(prop.x.Den.BitLen()) + 64 // dividing by powers of 2 is quick
	num := new(big.Int).Lsh(z.Num(), bits)
	divideUp(num, z.Denom())
	for g := range p.groups() {
		first, end := p.First[g], p.First[g+1]
		rest, place := new(big.Int).Set(prop.x.Den), end-1
		most.SetInt64(0)
		for j := first + 1; j < end; j++ {
			up := p.Chains.Up[j]
			least.Mul(x[up], num)
			least.Neg(least.Rsh(least.Neg(&least), bits)) // rounded up
			least.Mul(&least, over.SetInt64(p.Count[j]))
			divideUp(&least, over.SetInt64(p.Count[up]))
			if over.Sub(x[j], &least).Cmp(room.Add(prop.spare, room.Rsh(x[j], noise+prop.sharp))) <= 0 {
				x[j].Set(&least)
			} else if over.Cmp(&most) > 0 {
				most.Set(&over)
				place = j
			}
			rest.Sub(rest, x[j])
		}
		if next := next[first]; next >= 0 && place > first {
			room.Mul(x[next], z.Denom())
			room.Mul(&room, over.SetInt64(p.Count[first]))
			room.Quo(&room, den.Mul(z.Num(), over.SetInt64(p.Count[next])))
			if over.Sub(rest, &room).Add(&over, slack).Sign() > 0 {
				x[place].Add(x[place], &over)
				rest.Sub(rest, &over)
			}
		}
		x[first].Set(rest)
	}
}

// divideUp sets a to a/b, rounded up.
func divideUp(a, b *big.Int) {
	var rest big.Int
	if a.QuoRem(a, b, &rest); rest.Sign() > 0 {
		a.Add(a, big.NewInt(1))
	}
}

// pricedBits is how many bits more multipliers have than what they are computed from.
const pricedBits = 64

// priced gives the rows Start the multipliers that fit those of the groups' sums and of the other rows: with R_j what one candidate of cell j costs more than
// its sum's multiplier, and z λ of the cell that follows it, λ_j = max(0, R_j).
func (p *Program) priced(prop *proposal, z *big.Rat) {
	finer := func(xs []*big.Int) (out []*big.Int) { // so that rounding λ takes nothing of note from what the sums' multipliers are worth
		for _, x := range xs {
			out = append(out, new(big.Int).Lsh(x, pricedBits))
		}
		return out
	}
	den := new(big.Int).Lsh(prop.y.Den, pricedBits)
	rows, sums := finer(prop.y.Num), finer(prop.sums)
	prop.y, prop.sums = &linear.Fractions{Num: rows, Den: den}, sums
	own := len(p.Start)
	extra := make([]*big.Int, p.cells())
	add := func(j int32, x *big.Int) {
		if extra[j] == nil {
			extra[j] = new(big.Int)
		}
		extra[j].Add(extra[j], x)
	}
	for i, r := range p.rows[own:] {
		if mu := rows[own+i]; mu.Sign() > 0 {
			q := r.Parts[0]
			nu := new(big.Int).Mul(mu, big.NewInt(p.unit(&r)))
			add(q.Above, new(big.Int).Neg(nu))
			if r.Private {
				nu.Mul(nu, z.Num()).Quo(nu, z.Denom())
			}
			add(q.Below, nu)
		}
	}
	at := make([]int32, p.cells()) // the row of each cell
	i := int32(0)
	for j, up := range p.Chains.Up {
		if at[j] = -1; up >= 0 {
			at[j] = i
			i++
		}
	}
	bits := uint(den.BitLen()) + 64
	num := new(big.Int).Lsh(z.Num(), bits)
	num.Quo(num, z.Denom())
	var cost, count, lambda big.Int
	start, order := p.Chains.Start, p.Chains.Order
	for c := range len(start) - 1 {
		lambda.SetInt64(0)
		for i := start[c+1] - 1; i > start[c]; i-- {
			j := order[i]
			cost.Mul(p.Weight[p.of[j]], p.Loss[j])
			cost.Mul(&cost, den)
			cost.Sub(&cost, sums[p.of[j]])
			cost.Mul(&cost, count.SetInt64(p.Count[j]))
			if extra[j] != nil {
				cost.Add(&cost, extra[j])
			}
			lambda.Rsh(lambda.Mul(&lambda, num), bits)
			if lambda.Add(&lambda, &cost).Sign() < 0 {
				lambda.SetInt64(0)
			}
			mu := new(big.Int).Quo(&lambda, &count)
			lambda.Mul(mu, &count)
			rows[at[j]] = mu
		}
	}
}
