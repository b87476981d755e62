package lp

import (
	"math/big"

	"optratio/internal/chain"
)

// proposal is a candidate solution that bounds are evaluated from. Nothing about it is trusted: whatever
// its numbers are, the bounds hold; if they are good, the bounds are close.
type proposal struct {
	// Dual holds a multiplier of each orbit's (E) row, per unit of its mass N(m).
	Dual []*big.Rat
	// Injection holds u_i - z u_{i-1} >= 0 for each variable of depth >= 1; nil and negative entries count as 0.
	// Entries of depth 0 are not used: the (E) rows determine those variables.
	Injection []*big.Rat
	// Cuts are rows of the program's level beyond the paper's, in the scaling of cut, with a
	// multiplier each; negative ones count as 0.
	Cuts       []cut
	Multiplier []*big.Rat
}

// lowerBound evaluates the dual function at the proposal: for any y on the (E) rows and any nonnegative multipliers of the cuts Σ N(m) y'(m) is at
// most the optimum, with y' as chain.Dual has it. c_i = w(m) c(v), plus the cuts' part.
func lowerBound[T any](p *program, f ordered[T], z T, prop *proposal) T {
	return walk(p, f, z, prop, func(int32, T) {})
}

// walk is lowerBound, which tells the multiplier λ of each row (P) and (T), by the variable that the row bounds from below.
func walk[T any](p *program, f ordered[T], z T, prop *proposal, multiplier func(j int32, lambda T)) T {
	y := make([]T, p.orbits())
	for i := range y {
		y[i] = f.FromRat(prop.Dual[i])
	}
	dual, extra, cost := chain.NewDual(f, z, y), cutCosts(p, f, z, prop), costIn(p, f)
	for c := range len(p.chain) - 1 {
		positions := p.order[p.chain[c]:p.chain[c+1]]
		lambda := f.Zero()
		for i := len(positions) - 1; i >= 0; i-- {
			j := positions[i]
			at := cost(j)
			if e, ok := extra[j]; ok {
				at = f.Add(at, e)
			}
			if lambda = dual.Visit(p.vars.Orbit[j], at, lambda, i == 0); i > 0 {
				multiplier(j, lambda)
			}
		}
	}
	sum := f.Zero()
	for i, b := range dual.Least {
		sum = f.Add(sum, f.Mul(f.FromRat(new(big.Rat).SetInt(p.mass[i])), b))
	}
	return sum
}

// point computes every u[m][v] from injections s on depths >= 1 (nil: none): there u_i = z u_{i-1} + s_i, and
// the (E) row leaves the rest of the orbit's mass to depth 0. Such a point satisfies (E) and (P)
// identically; without injections it is permute-and-flip.
func point[T any](p *program, f ordered[T], z T, injection []*big.Rat) []T {
	u := make([]T, p.variables())
	for i := range p.orbits() {
		first, end := p.vars.First[i], p.vars.First[i+1]
		rest := f.FromRat(new(big.Rat).SetInt(p.mass[i]))
		for j := first + 1; j < end; j++ {
			u[j] = f.Mul(z, u[p.vars.Up[j]])
			if injection != nil && injection[j] != nil && injection[j].Sign() > 0 {
				u[j] = f.Add(u[j], f.FromRat(injection[j]))
			}
			rest = f.Sub(rest, u[j])
		}
		u[first] = rest
	}
	return u
}

// objective returns Σ w(m) c(v) u[m][v].
func objective[T any](p *program, f ordered[T], u []T) T {
	sum, cost := f.Zero(), costIn(p, f)
	for j := range u {
		if p.weight[p.vars.Orbit[j]].Sign() > 0 && p.loss[p.vars.Depth[j]].Sign() > 0 {
			sum = f.Add(sum, f.Mul(cost(int32(j)), u[j]))
		}
	}
	return sum
}

// mixture returns how much of permute-and-flip a point needs to satisfy (T), u >= 0 and the level's further rows. Every
// such row is strictly slack at permute-and-flip for ε > 0, so a small violation needs little. It reports false where
// the arithmetic cannot show that slack, as at ε = 0.
func mixture[T any](p *program, f ordered[T], z T, u, flip []T) (theta *big.Rat, ok bool) {
	theta = new(big.Rat)
	ok = p.strict(func(c cut) bool {
		slack := slackOf(p, f, z, u, c)
		if !f.Negative(slack) {
			return true
		}
		low, room := f.Floor(slack), f.Floor(slackOf(p, f, z, flip, c))
		if low == nil || room == nil || room.Sign() <= 0 {
			return false
		}
		// (1-θ)·low + θ·room >= 0 from θ = -low/(room-low) on.
		need := new(big.Rat).Sub(room, low)
		need.Quo(low, need).Neg(need)
		if need.Cmp(theta) > 0 {
			theta = need
		}
		return true
	})
	return theta, ok
}

// mixed returns (1-θ) u + θ v.
func mixed[T any](f ordered[T], theta *big.Rat, u, v []T) []T {
	share, out := f.FromRat(theta), make([]T, len(u))
	for j := range u {
		out[j] = f.Add(f.Mul(f.Sub(f.One(), share), u[j]), f.Mul(share, v[j]))
	}
	return out
}

// upperBound evaluates a feasible point near the proposal's: the point of its injections, mixed with
// permute-and-flip just enough. It reports false where there is none. Without injections it is permute-and-flip, which satisfies every row.
func upperBound[T any](p *program, f ordered[T], z T, prop *proposal, flip []T) (T, bool) {
	if prop.Injection == nil {
		return objective(p, f, flip), true
	}
	u := point(p, f, z, prop.Injection)
	value := objective(p, f, u)
	theta, ok := mixture(p, f, z, u, flip)
	if ok && theta.Sign() > 0 {
		mix := f.FromRat(theta)
		value = f.Add(f.Mul(f.Sub(f.One(), mix), value), f.Mul(mix, objective(p, f, flip)))
	}
	return value, ok
}
