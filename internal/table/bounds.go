package table

import (
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/linear"
)

// proposal is a point and multipliers that bounds are evaluated from. Nothing about it is trusted: whatever its
// numbers are, the bounds hold; if they are good, the bounds are close.
type proposal struct {
	x *linear.Fractions // a value for each cell: Count times the probability of one candidate
	y *linear.Fractions // with Worst a value for each group's loss row, then one for each generated row
	// Where rows make chains: the multipliers of the groups' sums, in units of 1/y.Den, whether x and y are to be fitted to the chains, and how
	// far x may be off: by spare, and by 2^-(noise+sharp) of each value.
	sums  []*big.Int
	rough bool
	spare *big.Int
	sharp uint
}

// proposalBits is the binary precision at which floating-point solutions are read.
const proposalBits = 96

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

// read takes a proposal from a solution of the whole program.
func (p *Program) read(x, y *linear.Fractions) *proposal {
	if p.shift > 0 {
		scaled := make([]*big.Int, len(y.Num))
		for i, n := range y.Num {
			scaled[i] = new(big.Int).Lsh(n, p.shift)
		}
		y = &linear.Fractions{Num: scaled, Den: y.Den}
	}
	return &proposal{
		x:     &linear.Fractions{Num: x.Num[:p.cells()], Den: x.Den},
		y:     &linear.Fractions{Num: y.Num[p.groups():], Den: y.Den},
		sums:  y.Num[:p.groups()],
		spare: new(big.Int),
	}
}

// positive returns max(0, x).
func positive(x *big.Int) *big.Int {
	if x.Sign() < 0 {
		return new(big.Int)
	}
	return x
}

// Dual is what a lower bound follows from: weights of the groups, and multipliers of rows, all >= 0.
type Dual struct {
	Weight     []*big.Int // of each group, in units of 1/Den
	Rows       []Cut
	Multiplier []*big.Int // of each row, in units of 1/Den, where its first part's cell Above stands for a mass: see Nu
	Den        *big.Int
	Sums       []*big.Int // of the groups' sums, in units of 1/Den, as they were proposed: the bound does without
}

// dual keeps the multipliers that are positive.
func (p *Program) dual(prop *proposal) *Dual {
	d := &Dual{Den: prop.y.Den, Weight: make([]*big.Int, p.groups()), Sums: prop.sums}
	mu := prop.y.Num
	for g := range d.Weight {
		if p.Worst {
			d.Weight[g] = positive(mu[g])
		} else {
			d.Weight[g] = new(big.Int).Mul(p.Weight[g], d.Den)
		}
	}
	if p.Worst {
		mu = mu[p.groups():]
	}
	for i, r := range p.rows {
		if mu[i].Sign() > 0 {
			d.Rows, d.Multiplier = append(d.Rows, r), append(d.Multiplier, mu[i])
		}
	}
	return d
}

// nu returns the multiplier of row i as it stands in Cut, in units of 1/Den.
func (p *Program) nu(d *Dual, i int) *big.Int {
	return new(big.Int).Mul(d.Multiplier[i], big.NewInt(p.unit(&d.Rows[i])))
}

// Nu returns the multiplier of row i as it stands in Cut, between probabilities of one candidate.
func (p *Program) Nu(d *Dual, i int) *big.Rat { return new(big.Rat).SetFrac(p.nu(d, i), d.Den) }

// price returns z Σ ν / Σ_g w_g over the private rows: by how much the bound of lowerBound falls for each unit that δ grows, whatever δ. Nil where
// all weights are 0.
func (p *Program) price(d *Dual, z factors) *big.Rat {
	sum, total := make([]big.Int, len(z)), new(big.Int)
	for i, r := range d.Rows {
		if at := &sum[r.Parts[0].Distance]; r.Private {
			at.Add(at, p.nu(d, i))
		}
	}
	for _, w := range d.Weight {
		total.Add(total, w)
	}
	if total.Sign() == 0 {
		return nil
	}
	price := new(big.Rat)
	for i, x := range z {
		price.Add(price, new(big.Rat).Mul(x, new(big.Rat).SetFrac(&sum[i], total)))
	}
	return price
}

// lowerBound returns a number that the objective of no table with the program's rows falls below, for any z >= the one given:
//
//	{ Σ_g min_{j in g} [ w_g loss_j - Σ_{parts above j} ν c/Count_j + Σ_{parts below j} ρ ν c/Count_j ] - zδ Σ_{private} ν } / Σ_g w_g,
//
// c candidates of a part, ρ = z for private rows and 1 for others, by weak duality; z' > z allows fewer tables. With Worst the largest loss is
// at least every weighted mean of the losses, so any weights serve. It returns nil where all weights are 0.
func (p *Program) lowerBound(d *Dual, z factors) *big.Rat {
	total := new(big.Int)
	for _, w := range d.Weight {
		total.Add(total, w)
	}
	if total.Sign() == 0 {
		return nil
	}
	// reduced_j is the bracket times Count_j, times the denominators of the multipliers and of all z.
	reduced := make([]*big.Int, p.cells())
	var term, each big.Int
	den := arith.CommonDenominator(z)
	num := make([]*big.Int, len(z))
	for i, x := range z {
		num[i] = arith.Times(x, den)
	}
	for j := range reduced {
		term.Mul(d.Weight[p.of[j]], p.Loss[j])
		reduced[j] = new(big.Int).Mul(term.Mul(&term, each.SetInt64(p.Count[j])), den)
	}
	for i, r := range d.Rows {
		rho := den
		if r.Private {
			rho = num[r.Parts[0].Distance]
		}
		for _, q := range r.Parts {
			each.Mul(d.Multiplier[i], each.SetInt64(p.unit(&r)))
			each.Mul(&each, term.SetInt64(q.Candidates))
			reduced[q.Above].Sub(reduced[q.Above], term.Mul(&each, den))
			reduced[q.Below].Add(reduced[q.Below], term.Mul(&each, rho))
		}
	}
	sum, least := new(big.Int), new(big.Int)
	for g := range p.groups() {
		some := false // the interior table sums to 1, so that some cell need not be 0
		for j := p.First[g]; j < p.First[g+1]; j++ {
			if p.isZero(j) {
				continue
			}
			if term.Mul(reduced[j], each.Quo(p.common, each.SetInt64(p.Count[j]))); !some || term.Cmp(least) < 0 {
				least.Set(&term)
				some = true
			}
		}
		sum.Add(sum, least)
	}
	// the rows' multipliers are in units of 1/Den, and so are the weights
	bound := new(big.Rat).SetFrac(sum, den.Mul(den, total).Mul(den, p.common))
	if p.Delta.Sign() > 0 {
		bound.Sub(bound, new(big.Rat).Mul(p.price(d, z), p.Delta))
	}
	if bound.Sign() < 0 {
		bound.SetInt64(0) // losses are not negative
	}
	return bound
}

// Table is a table that satisfies every row: cell j's candidates have the probability
// (1-θ) X_j/(Den·Count_j) + θ Interior_j each.
type Table struct {
	program *Program
	x       *linear.Fractions
	theta   *big.Rat
}

// At returns the probability of one candidate of cell j.
func (t *Table) At(j int) *big.Rat {
	x := t.x.Rat(j)
	x.Quo(x, new(big.Rat).SetInt64(t.program.Count[j]))
	if t.theta.Sign() == 0 {
		return x
	}
	x.Mul(x, new(big.Rat).Sub(big.NewRat(1, 1), t.theta))
	return x.Add(x, new(big.Rat).Mul(t.theta, t.program.Interior[j]))
}

// fill takes a group's probabilities from a proposal, and gives what they lack of 1, or have too much, to the largest. It reports false where that falls below 0.
func (t *Table) fill(g int, prop *proposal) bool {
	p := t.program
	if p.Same != nil && int(p.Same[g]) != g {
		copy(t.x.Num[p.First[g]:p.First[g+1]], t.x.Num[p.First[p.Same[g]]:])
		return true
	}
	rest, largest := new(big.Int).Set(prop.x.Den), int32(-1)
	for j := p.First[g]; j < p.First[g+1]; j++ {
		if p.isZero(j) {
			continue
		}
		t.x.Num[j] = positive(prop.x.Num[j])
		rest.Sub(rest, t.x.Num[j])
		if largest < 0 || t.x.Num[j].Cmp(t.x.Num[largest]) > 0 {
			largest = j
		}
	}
	t.x.Num[largest] = new(big.Int).Add(t.x.Num[largest], rest)
	return t.x.Num[largest].Sign() >= 0
}

// feasible repairs a proposal: entries below 0 become 0, what a group lacks of 1, or has too much, goes to its largest entry,
// and then the interior table is mixed in until every row holds at the given z >= e^{-ε}, whether it was generated or not.
// A slack s < 0 where the interior table has u >= 0 needs the share θ = -s/(u - s).
func (p *Program) feasible(prop *proposal, z factors) *Table {
	t := &Table{program: p, x: &linear.Fractions{Num: make([]*big.Int, p.cells()), Den: prop.x.Den}, theta: new(big.Rat)}
	for j := range t.x.Num {
		t.x.Num[j] = new(big.Int)
	}
	for g := range p.groups() {
		if !t.fill(g, prop) {
			t.theta.SetInt64(1) // far from a table: the interior one alone
			p.inner(z)
			return t
		}
	}
	share := p.shares(t.x.Num)
	var above, below big.Int
	p.Each(func(r Row) bool {
		rho := z.of(r.Private, r.Distance)
		if above.Mul(share[r.Above], rho.Denom()).Cmp(below.Mul(share[r.Below], rho.Num())) >= 0 {
			return true
		}
		p.inner(z)
		slack := func(a, b *big.Rat) *big.Rat {
			b = new(big.Rat).Mul(b, rho)
			return b.Sub(a, b)
		}
		s := slack(new(big.Rat).Quo(t.x.Rat(int(r.Above)), new(big.Rat).SetInt64(p.Count[r.Above])),
			new(big.Rat).Quo(t.x.Rat(int(r.Below)), new(big.Rat).SetInt64(p.Count[r.Below])))
		u := slack(p.Interior[r.Above], p.Interior[r.Below])
		if u.Sign() < 0 {
			panic("table: the interior table violates a row")
		}
		if need := u.Sub(u, s); need.Quo(s.Neg(s), need).Cmp(t.theta) > 0 {
			t.theta.Set(need)
		}
		return true
	})
	t.mixPairs(z)
	return t
}

// Value returns a table's objective.
func (t *Table) Value() *big.Rat {
	p := t.program
	losses := p.losses(t.x)
	if t.theta.Sign() > 0 {
		keep := new(big.Rat).Sub(unity, t.theta)
		for i, inside := range p.inside() {
			losses[i].Mul(losses[i], keep)
			losses[i].Add(losses[i], new(big.Rat).Mul(inside, t.theta))
		}
	}
	return slices.MaxFunc(losses, (*big.Rat).Cmp)
}

// losses returns the expected losses that masses of the cells have: of each group with Worst, else their mean alone.
func (p *Program) losses(mass *linear.Fractions) (losses []*big.Rat) {
	mean, term := new(big.Int), new(big.Int)
	for g := range p.groups() {
		own := new(big.Int)
		for j := p.First[g]; j < p.First[g+1]; j++ {
			own.Add(own, term.Mul(p.Loss[j], mass.Num[j]))
		}
		if p.Worst {
			losses = append(losses, new(big.Rat).SetFrac(own, mass.Den))
		} else {
			mean.Add(mean, own.Mul(own, p.Weight[g]))
		}
	}
	if !p.Worst {
		losses = append(losses, new(big.Rat).SetFrac(mean, term.Mul(p.total, mass.Den)))
	}
	return losses
}

// inside returns the losses of the interior table.
func (p *Program) inside() []*big.Rat {
	if p.interior == nil {
		mass := linear.NewFractions(p.Interior)
		for j, x := range mass.Num {
			x.Mul(x, big.NewInt(p.Count[j]))
		}
		p.interior = p.losses(mass)
	}
	return p.interior
}
