package lp

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/number"
)

// permuteAndFlipTotal returns the total expected error of permute-and-flip over
// Q(n,k), in lattice steps, in closed form:
//
//	A · { [(k+1)^n - (k+1-B)^n]/B - [k^n - (k-B')^n]/B' },  B = B' + 1.
//
// Over all vectors of {0..k}^n with best depth allowed to be any, a candidate at depth v contributes
// v z^v ∫₀¹ Π(1 - t z^{v_s}) dt, and the product sums to (k+1 - tB)^{n-1}; those without
// a candidate at depth 0 are taken away with k and B' in place of k+1 and B.
func permuteAndFlipTotal[T any](f arith.Field[T], a, b T, n, k int) T {
	top := f.FromInt(int64(k))
	return f.Mul(a, variant.FlipDifference(f, f.FromInt(int64(k)+1), top, f.Sub(top, b), n))
}

// overBox returns total(A, B', k), a total over Q(n,k), with A = Σ_{v=1}^k v z^v and B' = Σ_{v=1}^k z^v; under the box objective the sum of that
// over the greatest depths 1 to k, as {-k..0}^n consists of one shifted copy of Q(n,j) for every j <= k. Where the
// context ends such a sum is cut off.
func overBox[T any](ctx context.Context, f arith.Field[T], z T, o totals.Objective, k int, total func(a, b T, k int) T) T {
	if o == totals.Paper {
		a, b := arith.PowerSums(f, z, k)
		return total(a, b, k)
	}
	a, b, power, sum := f.Zero(), f.Zero(), f.One(), f.Zero()
	for j := 1; j <= k && ctx.Err() == nil; j++ {
		power = f.Mul(power, z)
		a, b = f.Add(a, f.Mul(f.FromInt(int64(j)), power)), f.Add(b, power)
		sum = f.Add(sum, total(a, b, j))
	}
	return sum
}

// flipTotal returns an enclosure of the total expected error of
// permute-and-flip under the objective, in lattice steps of 2Δ.
func flipTotal(ctx context.Context, n, k int, o totals.Objective, eps number.Epsilon, prec uint) number.Interval {
	f, z := arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec)
	return overBox(ctx, f, z, o, k, func(a, b number.Interval, k int) number.Interval { return permuteAndFlipTotal(f, a, b, n, k) })
}

// flipTotalExact is flipTotal as a rational, for rational z = e^{-ε}.
func flipTotalExact(n, k int, o totals.Objective, z *big.Rat) *big.Rat {
	f := arith.Rat{}
	return overBox(context.Background(), f, z, o, k, func(a, b *big.Rat, k int) *big.Rat { return permuteAndFlipTotal(f, a, b, n, k) })
}

// closedBound returns a lower bound on the optimum of the program with the paper's objective, the larger of
//
//	A/(1+B') · [(k+1)^n - k^n - n k^{n-1}]   and   A · [(k+1)^n/(1+B') - k^n/B'],
//
// from dual points that are feasible at every ε. The first is A/(1+B') where two or more candidates are best and 0 elsewhere; the bracket counts the vectors
// of Q(n,k) of that kind. The second is A/(1+B') · (1 - (k-D)/B') where the deepest candidate is at depth D, for n >= 2 (research/docs/universal.md); it is
// A k^{n-1} (n B' - k) / (B' (1+B')) more, and is looked at where B' >= 1: for less permute-and-flip is optimal.
//
// Permute-and-flip's total error is at most A times the first bracket: below j+1 tied best candidates each other one at depth v has a probability of
// at most z^v/(j+1). So permute-and-flip is within a factor of 1 + B' <= 1/(1-z) of the optimum for all n and k.
func closedBound[T any](f ordered[T], a, b T, n, k int) T {
	tied := variant.Tied(f, f.FromInt(int64(k)+1), f.FromInt(int64(k)), f.One(), n)
	more := f.Sub(f.Mul(f.FromInt(int64(n)), b), f.FromInt(int64(k)))
	if n >= 2 && !f.Negative(more) && !f.Negative(f.Sub(b, f.One())) {
		tied = f.Add(tied, f.Quo(f.Mul(arith.Pow(f, f.FromInt(int64(k)), n-1), more), b))
	}
	return f.Mul(f.Quo(a, f.Add(b, f.One())), tied)
}

// closedWithin returns an enclosure of the closed-form lower bound on the optimum,
// at every level of constraints. Under the box objective it is the sum of the bounds over Q(n,j), j <= k: a point
// that is feasible for Q(n,k) is so on each of these.
func closedWithin(ctx context.Context, n, k int, o totals.Objective, eps number.Epsilon, prec uint) number.Interval {
	f, z := enclosedNumbers{arith.Interval{Prec: prec}}, eps.ExpNeg(big.NewRat(1, 1), prec)
	return overBox(ctx, f, z, o, k, func(a, b number.Interval, k int) number.Interval { return closedBound(f, a, b, n, k) })
}

// PermuteAndFlipTotal encloses the sum over all score vectors of Q(n,k) of permute-and-flip's expected error, in lattice steps of 2Δ, by the
// closed form. It does not fall as ε does: permute-and-flip takes the candidate with the largest E_r - ε·depth_r, where E_r are independent exponential
// variables; for given E_r the maximum of these linear functions of ε is convex in ε, so that the depth of the candidate that attains it does not rise with ε.
func PermuteAndFlipTotal(n, k int, eps number.Epsilon, prec uint) number.Interval {
	return flipTotal(context.Background(), n, k, totals.Paper, eps, prec)
}
