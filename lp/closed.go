package lp

import (
	"math/big"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number/arith"
	"optratio/number/interval"
)

// powerSums returns A = Σ_{v=1}^k v z^v and B' = Σ_{v=1}^k z^v.
func powerSums[T any](f arith.Field[T], z T, k int) (a, b T) {
	a, b = f.Zero(), f.Zero()
	power := f.One()
	for v := 1; v <= k; v++ {
		power = f.Mul(power, z)
		b = f.Add(b, power)
		a = f.Add(a, f.Mul(f.FromInt(int64(v)), power))
	}
	return a, b
}

// differenceQuotient returns (x^n - (x-b)^n)/b = Σ_{i+j=n-1} x^i (x-b)^j, which has
// a value at b = 0 too and, for 0 <= b <= x, no cancellation.
func differenceQuotient[T any](f arith.Field[T], x int, b T, n int) T {
	// Doubling on the pair (sum of n terms, (x-b)^n): S_{2n} = S_n (x^n + (x-b)^n).
	top, rest := f.FromInt(int64(x)), f.Sub(f.FromInt(int64(x)), b)
	sum, powerTop, powerRest := f.Zero(), f.One(), f.One()
	for bit := 62; bit >= 0; bit-- {
		sum = f.Mul(sum, f.Add(powerTop, powerRest))
		powerTop, powerRest = f.Mul(powerTop, powerTop), f.Mul(powerRest, powerRest)
		if n>>bit&1 == 1 {
			// S_{n+1} = x S_n + (x-b)^n
			sum = f.Add(f.Mul(top, sum), powerRest)
			powerTop, powerRest = f.Mul(powerTop, top), f.Mul(powerRest, rest)
		}
	}
	return sum
}

// permuteAndFlipTotal returns the total expected error of permute-and-flip over
// Q(n,k), in lattice steps, in closed form:
//
//	A · { [(k+1)^n - (k+1-B)^n]/B - [k^n - (k-B')^n]/B' },  B = B' + 1.
//
// Over all vectors of {0..k}^n with best depth allowed to be any, a candidate at depth v contributes
// v z^v ∫₀¹ Π(1 - t z^{v_s}) dt, and the product sums to (k+1 - tB)^{n-1}; those without
// a candidate at depth 0 are taken away with k and B' in place of k+1 and B.
func permuteAndFlipTotal[T any](f arith.Field[T], z T, n, k int) T {
	a, b := powerSums(f, z, k)
	all := differenceQuotient(f, k+1, f.Add(b, f.One()), n)
	return f.Mul(a, f.Sub(all, differenceQuotient(f, k, b, n)))
}

// overBox turns a total over Q(n,k) into one under the objective: {-k..0}^n
// consists of one shifted copy of Q(n,j) for every j <= k.
func overBox[T any](f arith.Field[T], o lattice.Objective, k int, total func(k int) T) T {
	if o == lattice.Paper {
		return total(k)
	}
	sum := f.Zero()
	for j := 1; j <= k; j++ {
		sum = f.Add(sum, total(j))
	}
	return sum
}

// PermuteAndFlipTotal returns an enclosure of the total expected error of
// permute-and-flip under the objective, in lattice steps of 2Δ.
func PermuteAndFlipTotal(n, k int, o lattice.Objective, eps mechanisms.Epsilon, prec uint) interval.Interval {
	f, z := arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec)
	return overBox(f, o, k, func(k int) interval.Interval { return permuteAndFlipTotal(f, z, n, k) })
}

// PermuteAndFlipTotalExact is PermuteAndFlipTotal as a rational, for rational z = e^{-ε}.
func PermuteAndFlipTotalExact(n, k int, o lattice.Objective, z *big.Rat) *big.Rat {
	return overBox(arith.Rat{}, o, k, func(k int) *big.Rat { return permuteAndFlipTotal(arith.Rat{}, z, n, k) })
}

// closedBound returns a lower bound on the optimum of the program with the paper's objective,
//
//	A/(1+B') · [(k+1)^n - k^n - n k^{n-1}],
//
// from the dual point y(m) = 0 where m_0 = 1, A/(1+B') elsewhere, which is feasible
// at every ε. The bracket counts the vectors of Q(n,k) with two or more best candidates.
func closedBound[T any](f arith.Field[T], z T, n, k int) T {
	a, b := powerSums(f, z, k)
	level := f.Quo(a, f.Add(b, f.One()))
	count := lattice.Vectors(n, k, false)
	lone := new(big.Int).Exp(big.NewInt(int64(k)), big.NewInt(int64(n)-1), nil)
	count.Sub(count, lone.Mul(lone, big.NewInt(int64(n))))
	return f.Mul(level, f.FromRat(new(big.Rat).SetInt(count)))
}

// ClosedBound returns an enclosure of the closed-form lower bound on the optimum,
// at every level of constraints. Under the box objective it is the sum of the bounds over Q(n,j), j <= k: a point
// that is feasible for Q(n,k) is so on each of these.
func ClosedBound(n, k int, o lattice.Objective, eps mechanisms.Epsilon, prec uint) interval.Interval {
	f, z := arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec)
	return overBox(f, o, k, func(k int) interval.Interval { return closedBound(f, z, n, k) })
}

// ClosedBoundExact is ClosedBound as a rational, for rational z = e^{-ε}.
func ClosedBoundExact(n, k int, o lattice.Objective, z *big.Rat) *big.Rat {
	return overBox(arith.Rat{}, o, k, func(k int) *big.Rat { return closedBound(arith.Rat{}, z, n, k) })
}
