package lp

import (
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/lattice"
)

// ratFloat returns x as a rational, 0 where it is not finite.
func ratFloat(x float64) *big.Rat {
	r := new(big.Rat)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return r
	}
	return r.SetFloat64(x)
}

// emptyProposal returns a proposal for the rows in force whose numbers are still to be set.
func (p *program) emptyProposal() *proposal {
	return &proposal{
		Dual:       make([]*big.Rat, p.orbits()),
		Injection:  make([]*big.Rat, p.variables()),
		Cuts:       p.cuts,
		Multiplier: make([]*big.Rat, len(p.cuts)),
	}
}

// fromResult reads a proposal from a solver's answer to Model.
func (p *program) fromResult(r *linear.Result) *proposal {
	prop := p.emptyProposal()
	mass := p.floatMass()
	for i, n := range mass {
		prop.Dual[i] = p.multiplier(r.Duals[i] / n)
	}
	x := make([]float64, p.variables())
	for j := range x {
		x[j] = r.X[j] / float64(p.vars.Count[j])
	}
	prop.Injection = p.repaired(x)
	first := p.orbits() + p.links()
	for i, c := range p.cuts {
		prop.Multiplier[i] = p.multiplier(max(0, r.Duals[first+i]) / mass[p.vars.Orbit[c.Above]])
	}
	return prop
}

// fromValues reads a proposal from a basic solution of Rational at the rational z.
func (p *program) fromValues(b *linear.Basis, z *big.Rat, x, y func(i int) *big.Rat) *proposal {
	prop := p.emptyProposal()
	for i := range prop.Dual {
		prop.Dual[i] = y(i)
	}
	for j, link := range p.link {
		if link < 0 || p.vars.Depth[j] == 0 || b.Row[link] != linear.Basic {
			continue
		}
		s := new(big.Rat).Mul(z, x(int(p.vars.Up[j])))
		s.Sub(x(j), s)
		if s.Sign() > 0 {
			prop.Injection[j] = s
		}
	}
	for i := range p.cuts {
		prop.Multiplier[i] = y(p.orbits() + p.links() + i)
	}
	return prop
}

// fromApproximation reads a proposal from a basic solution at high precision.
func (p *program) fromApproximation(b *linear.Basis, a *linear.Approximation, z *big.Rat) *proposal {
	den := new(big.Int).Lsh(one, a.Shift)
	at := func(v []*big.Int) func(int) *big.Rat {
		return func(i int) *big.Rat { return new(big.Rat).SetFrac(v[i], den) }
	}
	return p.fromValues(b, z, at(a.X), at(a.Y))
}

// closedProposal is the first of the closed-form bound's dual points, rounded, and permute-and-flip.
func (p *program) closedProposal() *proposal {
	prop := &proposal{Dual: make([]*big.Rat, p.orbits())}
	for i, m := range p.lat.All() {
		prop.Dual[i] = new(big.Rat)
		if m[0] >= 2 {
			prop.Dual[i].Mul(p.start[lattice.Deepest(m)], prop.Dual[i].SetInt(p.weight[i]))
		}
	}
	return prop
}

// bounds holds a lower and an upper bound on the optimum.
type bounds struct{ lower, upper *big.Rat }

// enclose evaluates a proposal in outward-rounded arithmetic of the given precision. For floatPrecision that is arithmetic on balls; a small program's
// proposal is evaluated in intervals where that proves too little.
func (p *program) enclose(prop *proposal, prec uint) bounds {
	z := p.Epsilon.ExpNeg(big.NewRat(1, 1), prec)
	if prec == floatPrecision {
		if b := evaluate(p, balls{}, balls{}.fromInterval(z), prop, p.flipped()); b.lower != nil && b.upper != nil || p.variables() > promptVariables {
			return b
		}
	}
	f := enclosedNumbers{arith.Interval{Prec: prec}}
	return evaluate(p, f, z, prop, point(p, f, z, nil))
}

// evaluate returns the bounds that a proposal proves, given permute-and-flip's masses.
func evaluate[T any](p *program, f ordered[T], z T, prop *proposal, flip []T) bounds {
	b := bounds{lower: f.Floor(lowerBound(p, f, z, prop))}
	if upper, ok := upperBound(p, f, z, prop, flip); ok {
		b.upper = f.Ceil(upper)
	}
	return b
}

// flipped returns permute-and-flip's masses.
func (p *program) flipped() []ball {
	if p.flip == nil {
		p.flip = point(p, balls{}, balls{}.fromInterval(p.Epsilon.ExpNeg(big.NewRat(1, 1), floatPrecision)), nil)
	}
	return p.flip
}
