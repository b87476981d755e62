package lp

import (
	"math"
	"math/big"
)

// leastInjection is the size, relative to the mass at its position, below which an injection counts for rounding error.
const leastInjection = 1e-14

// repaired returns injections of a feasible point near given probabilities of one candidate, by variable, which may violate every row a little. It
// works orbit by orbit in the order of the lattice. Orbits that a chain passes at depths >= 1 come after those that it comes from, so that the least mass
// of each depth is known; an injection adds what is missing to the wanted mass, and depth 0 has the rest. Where a candidate stands alone at depth 0, the orbit
// that its chain goes on to comes before, and row (T) there bounds that rest from above. What is beyond that is injected at another depth, which is
// possible at any of them. So a row that is violated costs no more than the mass it is violated by, carried to the end of a chain.
//
// Left to the bounds are errors of the order of ballError, and rests below 0 where the given point is far from feasible.
func (p *program) repaired(x []float64) []*big.Rat {
	f := balls{}
	z := f.fromInterval(p.Epsilon.ExpNeg(big.NewRat(1, 1), floatPrecision))
	down := p.vars.DownAll()
	injection := make([]*big.Rat, p.variables())
	u := make([]ball, p.variables())
	inject := func(j int32, amount ball) {
		r := ratFloat(amount.hi)
		r.Add(r, ratFloat(amount.lo))
		if injection[j] != nil {
			r.Add(r, injection[j])
		}
		injection[j] = r
		amount.err = 0
		u[j] = f.Add(u[j], amount)
	}
	for i := range p.orbits() {
		first, end := p.vars.First[i], p.vars.First[i+1]
		mass := f.FromRat(new(big.Rat).SetInt(p.mass[i]))
		rest := mass
		place, most := end-1, 0.0 // the depth of the largest injection
		for j := first + 1; j < end; j++ {
			u[j] = f.Mul(z, u[p.vars.Up[j]])
			if want := x[j] * float64(p.vars.Count[j]); want > 0 && !math.IsInf(want, 0) {
				target := f.Mul(mass, ball{hi: want})
				s := f.Sub(target, u[j])
				if size := s.hi / target.hi; size > leastInjection {
					inject(j, s)
					if size *= want; size > most {
						place, most = j, size
					}
				}
			}
			rest = f.Sub(rest, u[j])
		}
		if next := down[first]; next >= 0 && p.vars.Depth[next] == 0 && place > first {
			excess := f.Sub(rest, f.Quo(u[next], z))
			if hi, lo := twoSum(excess.hi, excess.lo+float64(4*excess.err)); hi > 0 && !math.IsInf(hi, 0) {
				excess = ball{hi: hi, lo: lo} // its upper end, and a little more
				inject(place, excess)
				rest = f.Sub(rest, excess)
			}
		}
		u[first] = rest
	}
	return injection
}
