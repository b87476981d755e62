package mechanisms

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// geo takes the candidate with the largest q_r + 2Δ X_r, the X_r independent with Pr[X_r >= t] = z^t for
// t = 0, 1, …, z = e^{-ε}; ties are broken uniformly. On the lattice of step 2Δ it is permute-and-flip.
//
// Write d_r for a candidate's depth in steps of 2Δ, c_r = ⌈d_r⌉ and φ_r = c_r - d_r, so that X_r - d_r is an integer plus φ_r. A
// candidate whose noise reaches c_r stands at X_r - c_r + φ_r, which is at least 0, as does the best one always; so with w_r = z^{c_r},
// the sum over the levels j = X_r - c_r >= 0, and ties as an integral over a uniform arrival time,
//
//	Pr[r] = w_r Σ_j ∫ Π_{φ_s = φ_r, s ≠ r} (1 - u w_s) du · Π_{φ_s < φ_r} (1 - z^{j+1} w_s) · Π_{φ_s > φ_r} (1 - z^j w_s),
//
// the integral from z^{j+1} to z^j. research/docs/resolution.md has the proofs.
var geo = &bodies{
	info:    epsDP("geo", "report noisy max with geometric noise, in steps of 2Δ", "research/docs/resolution.md; noise of Ghosh, Roughgarden & Sundararajan 2012"),
	rat:     geometricBody(geometricNoisyMax[*big.Rat]),
	box:     geometricBody(geometricNoisyMax[number.Interval]),
	fun:     geometricBody(geometricNoisyMax[arith.RatFunc]),
	flt:     geometricBody(geometricSums),
	guard:   func(n int) uint { return 2*uint(n) + 64 },
	most:    1000,  // the work grows with their cube
	off:     1e-11, // of sums of logarithms, which grow with the number of candidates
	offEach: 0x1p-50,
}

// level is a set of candidates of the same depth: they share φ, known by its place in ascending order, and c.
type level struct {
	fraction int      // place of φ
	whole    *big.Int // c
	count    int
}

// levels returns the distinct levels, ordered by φ and then by c, and each candidate's place among them.
func levels(in *Instance) (out []level, group []int) {
	whole, phi := in.ceilings()
	members, group := classes(len(phi), func(a, b int) int { return cmp.Or(phi[a].Cmp(phi[b]), whole[a].Cmp(whole[b])) })
	for k, alike := range members {
		l := level{whole: whole[alike[0]], count: len(alike)}
		if k > 0 {
			l.fraction = out[k-1].fraction
			if phi[members[k-1][0]].Cmp(phi[alike[0]]) != 0 {
				l.fraction++
			}
		}
		out = append(out, l)
	}
	return out, group
}

// ceilings returns c = ⌈d⌉ and φ = c - d for each candidate's depth d, which is not negative.
func (in *Instance) ceilings() (whole []*big.Int, phi []*big.Rat) {
	for _, d := range in.Depths() {
		c := new(big.Int).Add(d.Num(), new(big.Int).Sub(d.Denom(), oneInt))
		c.Quo(c, d.Denom())
		whole = append(whole, c)
		phi = append(phi, new(big.Rat).Sub(new(big.Rat).SetInt(c), d))
	}
	return whole, phi
}

// leaveOneOut calls visit for each i < n with the product of start and all factors but the i-th, by O(n log n) multiplications.
func leaveOneOut[P any](n int, start P, times func(product P, i int) P, visit func(i int, product P)) {
	var leave func(product P, from, to int)
	leave = func(product P, from, to int) {
		if to-from == 1 {
			visit(from, product)
			return
		}
		middle := (from + to) / 2
		left := product
		for s := middle; s < to; s++ {
			left = times(left, s)
		}
		leave(left, from, middle)
		for s := from; s < middle; s++ {
			product = times(product, s)
		}
		leave(product, middle, to)
	}
	if n > 0 {
		leave(start, 0, n)
	}
}

// geometricNoisyMax returns the probability of one candidate of each level, for 0 <= z < 1 and weights z^c. With
//
//	Σ_l A_l τ^l = Π_{φ_s < φ_r} (1 - τ z w_s) Π_{φ_s > φ_r} (1 - τ w_s),   Σ_m B_m u^m = Π_{φ_s = φ_r, s ≠ r} (1 - u w_s),
//
// the sum over j of Pr[r] is geometric in each power of τ = z^j:
//
//	Pr[r] = w_r Σ_m B_m (1 - z^{m+1})/(m+1) Σ_l A_l/(1 - z^{m+l+1}).
//
// The sums alternate: in intervals they lose about a bit for each candidate.
func geometricNoisyMax[T any](f arith.Field[T], z T, weights []T, levels []level, _ number.Epsilon) ([]T, error) {
	n := 0
	for _, l := range levels {
		n += l.count
	}
	powers := arith.Powers(f, z, n)
	geometricSum := make([]T, n+1) // 1/(1 - z^i)
	for i := 1; i <= n; i++ {
		geometricSum[i] = f.Quo(f.One(), f.Sub(f.One(), powers[i]))
	}
	// multiply returns the coefficients of product·(1 - u w)^count.
	multiply := func(product []T, w T, count int) []T {
		out := append(make([]T, 0, len(product)+count), product...)
		for range count {
			out = append(out, f.Zero())
			for m := len(out) - 1; m > 0; m-- {
				out[m] = f.Sub(out[m], f.Mul(w, out[m-1]))
			}
		}
		return out
	}
	var begin []int // of the levels of each fraction
	for i, l := range levels {
		if i == 0 || l.fraction != levels[i-1].fraction {
			begin = append(begin, i)
		}
	}
	begin = append(begin, len(levels))
	p := make([]T, len(levels))
	one := []T{f.One()}
	// The product over the other fractions depends on which side of r's they are; so each class is multiplied in twice, once
	// for the classes before it and once for those after it.
	above := make([][]T, len(begin)) // above[c]: Π over the levels from begin[c] on of (1 - τ w)
	above[len(begin)-1] = one
	for c := len(begin) - 2; c > 0; c-- {
		above[c] = above[c+1]
		for i := begin[c]; i < begin[c+1]; i++ {
			above[c] = multiply(above[c], weights[i], levels[i].count)
		}
	}
	below := one // Π over the levels before the class of (1 - τ z w)
	for c := range len(begin) - 1 {
		from, to := begin[c], begin[c+1]
		others := convolve(f, below, above[c+1])
		inner := make([]T, n+1-len(others)+1) // by m: (1 - z^{m+1})/(m+1) Σ_l A_l/(1 - z^{m+l+1})
		for m := range len(inner) - 1 {
			sum := f.Zero()
			for l, a := range others {
				sum = f.Add(sum, f.Mul(a, geometricSum[m+l+1]))
			}
			inner[m] = f.Mul(sum, f.Quo(f.Sub(f.One(), powers[m+1]), f.FromInt(int64(m+1))))
		}
		leaveOneOut(to-from, one,
			func(product []T, i int) []T { return multiply(product, weights[from+i], levels[from+i].count) },
			func(i int, product []T) {
				sum := f.Zero()
				for m, b := range multiply(product, weights[from+i], levels[from+i].count-1) {
					sum = f.Add(sum, f.Mul(b, inner[m]))
				}
				p[from+i] = f.Mul(weights[from+i], sum)
			})
		for i := from; i < to; i++ {
			below = multiply(below, f.Mul(z, weights[i]), levels[i].count)
		}
	}
	return p, nil
}

// convolve returns the coefficients of the product of two polynomials.
func convolve[T any](f arith.Field[T], a, b []T) []T {
	out := slices.Repeat([]T{f.Zero()}, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			out[i+j] = f.Add(out[i+j], f.Mul(x, y))
		}
	}
	return out
}

// geometricBody makes the body of a formula for the levels of an instance. At ε = 0 every candidate is as likely.
func geometricBody[T any](formula func(f arith.Field[T], z T, weights []T, levels []level, eps number.Epsilon) ([]T, error)) body[T] {
	return func(f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]T, error) {
		if in.Epsilon.IsZero() {
			return uniformly(f, power, in)
		}
		z, err := power(ratOne)
		if err != nil {
			return nil, err
		}
		all, group := levels(in)
		weights := make([]T, len(all))
		for i, l := range all {
			if weights[i], err = power(new(big.Rat).SetInt(l.whole)); err != nil {
				return nil, err
			}
		}
		p, err := formula(f, z, weights, all, in.Epsilon)
		if err != nil {
			return nil, err
		}
		return scatter(group, p), nil
	}
}
