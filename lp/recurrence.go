package lp

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// flipOptimal decides whether permute-and-flip is optimal for the program's prior and loss; decided is false at ε = 0, and where enclosures of up to 4096 bits do not tell.
//
// At permute-and-flip every probability is positive, and so is the slack of every row but those between the positions of one
// candidate that sinks while the others stay. Complementary slackness therefore leaves one dual point, whatever the weights: with f the
// weight of one vector of an orbit and c the loss, on the chain of one sinking candidate
//
//	λ_v = f(m) c_v + z λ_{v+1} - y(m),  v = k, …, 1,    y(m) = z λ_1 at the chain's position of depth 0 where somebody else is at
//	depth 0 as well, and y(m) = 0 where nobody is.
//
// The orbit at depth 0 has one candidate more there than the others of the chain, so y follows by induction on that
// number, in time proportional to the variables. Permute-and-flip is optimal iff every λ >= 0 (research/docs/threshold.md).
func (p *program) flipOptimal() (optimal, decided bool) {
	switch {
	case p.question.Epsilon.IsZero():
		return false, false
	case p.question.N == 1:
		return true, true
	}
	if z, ok := p.question.Epsilon.Z(); ok {
		s := nonnegative(p, arith.Rat{}, z, func(x *big.Rat) (int, bool) { return x.Sign(), true })
		return s > 0, true
	}
	for prec := uint(128); prec <= 4096; prec *= 2 {
		s := nonnegative(p, arith.Interval{Prec: prec}, p.question.Epsilon.ExpNeg(big.NewRat(1, 1), prec), number.Interval.Sign)
		if s != 0 {
			return s > 0, true
		}
	}
	return false, false
}

// costs returns f(m) c_v of all variables.
func costs[T any](p *program, f arith.Field[T]) []T {
	vars, of := p.vars, p.question.Prior.weigher(p.question)
	var losses []T
	for _, c := range p.question.losses() {
		losses = append(losses, f.FromRat(c))
	}
	cost := make([]T, 0, len(vars.Orbit))
	for i, m := range p.lat.All() {
		weight := f.FromRat(of(m))
		for j := vars.First[i]; j < vars.First[i+1]; j++ {
			cost = append(cost, f.Mul(weight, losses[vars.Depth[j]]))
		}
	}
	return cost
}

// nonnegative reports whether all multipliers λ are >= 0 (1) or some is negative (-1); 0 where the arithmetic cannot tell.
func nonnegative[T any](p *program, f arith.Field[T], z T, sign func(T) (int, bool)) int {
	vars, cost := p.vars, costs(p, f)
	tops := make([][]int, p.question.N+1)
	for i, m := range p.lat.All() {
		tops[m[0]] = append(tops[m[0]], i)
	}
	down := slices.Repeat([]int32{-1}, len(vars.Up)) // the variable one step below each on its chain
	for j, up := range vars.Up {
		if up >= 0 {
			down[up] = int32(j)
		}
	}
	lambda := make([]T, len(vars.Orbit))
	verdict := 1
	for _, orbits := range tops {
		y := make([]T, len(orbits))
		for k, i := range orbits {
			y[k] = f.Zero()
			// The variable at depth 0 comes first; below it on its chain the orbit has one candidate less there.
			if j := vars.First[i]; vars.Count[j] > 1 && down[j] >= 0 {
				y[k] = f.Mul(z, lambda[down[j]])
			}
		}
		// Sinking a candidate leads to a later orbit, so that the later ones come first.
		for i := len(orbits) - 1; i >= 0; i-- {
			for j := vars.First[orbits[i]] + 1; j < vars.First[orbits[i]+1]; j++ {
				x := cost[j]
				if down[j] >= 0 {
					x = f.Add(x, f.Mul(z, lambda[down[j]]))
				}
				lambda[j] = f.Sub(x, y[i])
				s, ok := sign(lambda[j])
				switch {
				case ok && s < 0:
					return -1
				case !ok:
					verdict = 0
				}
			}
		}
	}
	return verdict
}
