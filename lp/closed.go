package lp

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/lattice"
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
	return f.Mul(a, flipDifference(f, f.FromInt(int64(k)+1), top, f.Sub(top, b), n))
}

// overBox returns total(A, B', k), a total over Q(n,k), with A = Σ_{v=1}^k v z^v and B' = Σ_{v=1}^k z^v; under the box prior the sum of that
// over the greatest depths 1 to k, as {-k..0}^n consists of one shifted copy of Q(n,j) for every j <= k. Where the
// context ends such a sum is cut off.
func overBox[T any](ctx context.Context, f arith.Field[T], z T, box bool, k int, total func(a, b T, k int) T) T {
	if !box {
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

// flipTotal returns the total expected error of permute-and-flip over the score vectors of Q(n,k) or of the box, in lattice steps of 2Δ.
func flipTotal[T any](ctx context.Context, f arith.Field[T], z T, n, k int, box bool) T {
	return overBox(ctx, f, z, box, k, func(a, b T, k int) T { return permuteAndFlipTotal(f, a, b, n, k) })
}

// vectors is the number of score vectors that a flat prior weighs alike.
func (q *Request) vectors() number.Number {
	return number.Exact(new(big.Rat).SetInt(lattice.Vectors(q.N, q.depths(), q.Prior.box())))
}

// exactBits bounds the size of permute-and-flip's closed form as a rational.
const exactBits = 1 << 19

// flipError returns the mean expected error of permute-and-flip, exactly where that is rational and of moderate size. The error is the context's.
func (q *Request) flipError(ctx context.Context, prec uint) (number.Number, error) {
	size := q.vectors()
	if z, ok := q.Epsilon.Z(); ok && float64(q.N)*float64(q.K)*float64(z.Denom().BitLen()+1) < exactBits {
		return number.Exact(flipTotal(context.Background(), arith.Rat{}, z, q.N, q.K, q.Prior.box())).Quo(size), nil
	}
	x := flipTotal(ctx, arith.Interval{Prec: prec}, q.Epsilon.ExpNeg(big.NewRat(1, 1), prec), q.N, q.K, q.Prior.box())
	if q.Prior.box() && ctx.Err() != nil { // the sum may have been cut off
		return number.Number{}, context.Cause(ctx)
	}
	return number.Enclosed(x).Quo(size), nil
}

// closedBound returns a lower bound on the optimum of the program with the uniform prior, the larger of
//
//	A/(1+B') · [(k+1)^n - k^n - n k^{n-1}]   and   A · [(k+1)^n/(1+B') - k^n/B'],
//
// from dual points that are feasible at every ε. The first is A/(1+B') where two or more candidates are best and 0 elsewhere; the bracket counts the vectors
// of Q(n,k) of that kind. The second is A/(1+B') · (1 - (k-D)/B') where the deepest candidate is at depth D, for n >= 2 (research/docs/universal.md); it is
// A k^{n-1} (n B' - k) / (B' (1+B')) more, and is looked at where B' >= 1: for less permute-and-flip is optimal.
//
// Permute-and-flip's total error is at most A times the first bracket: below j+1 tied best candidates each other one at depth v has a probability of
// at most z^v/(j+1). So permute-and-flip is within a factor of 1 + B' <= 1/(1-z) of the optimum for all n and k.
func closedBound[T any](f arith.Field[T], a, b T, n, k int, sign func(T) (int, bool)) T {
	both := tied(f, f.FromInt(int64(k)+1), f.FromInt(int64(k)), f.One(), n)
	more := f.Sub(f.Mul(f.FromInt(int64(n)), b), f.FromInt(int64(k)))
	positive := func(x T) bool {
		s, ok := sign(x)
		return ok && s >= 0
	}
	if n >= 2 && positive(more) && positive(f.Sub(b, f.One())) {
		both = f.Add(both, f.Quo(f.Mul(arith.Pow(f, f.FromInt(int64(k)), n-1), more), b))
	}
	return f.Mul(f.Quo(a, f.Add(b, f.One())), both)
}

// published evaluates what is known of the published question: permute-and-flip's error, which is the optimum where that is decided, and the closed-form lower
// bound at every level of constraints. Under the box prior the bound is the sum of those over Q(n,j), j <= k: a point that is feasible for Q(n,k) is so on each of these.
// Only the methods methodAuto and methodClosedForm ask whether permute-and-flip is optimal. Where the context ends, bounds are good all the same: each term of a sum that is cut off is a
// lower bound by itself.
func (c *theorems) published(ctx context.Context, q *Request, prec uint) {
	flip, err := q.flipError(ctx, prec)
	if err != nil {
		return
	}
	c.flip = flip
	c.attain(flip)
	optimal := permuteAndFlipOptimal(q.N, q.K, q.Prior.box(), q.Epsilon)
	if !q.Epsilon.IsZero() {
		c.pfOptimal = &optimal
	}
	if optimal && (q.Method == methodAuto || q.Method == methodClosedForm) {
		c.low, _ = c.flip.Lower()
		c.proof = proofRecurrence
		return
	}
	f, z := arith.Interval{Prec: prec}, q.Epsilon.ExpNeg(big.NewRat(1, 1), prec)
	total := overBox(ctx, f, z, q.Prior.box(), q.K, func(a, b number.Interval, k int) number.Interval {
		return closedBound(f, a, b, q.N, k, number.Interval.Sign)
	})
	bound := number.Enclosed(total)
	c.raise(bound.Quo(q.vectors()))
	c.raise(number.Bounds(bound.Ends()).Quo(q.vectors())) // exactly at ε = 0; totals beyond what is worth a rational say nothing here
	if q.Level.monotone() && !q.Certified {
		low := c.low
		if c.raise(c.flip.Mul(number.Exact(big.NewRat(2, int64(q.N))))); c.low != low {
			c.proof = proofMonotone
		}
	}
}

// PermuteAndFlipTotal encloses the sum over all score vectors of Q(n,k) of permute-and-flip's expected error, in lattice steps of 2Δ, by the
// closed form. It does not fall as ε does: permute-and-flip takes the candidate with the largest E_r - ε·depth_r, where E_r are independent exponential
// variables; for given E_r the maximum of these linear functions of ε is convex in ε, so that the depth of the candidate that attains it does not rise with ε.
func PermuteAndFlipTotal(n, k int, eps number.Epsilon, prec uint) number.Interval {
	return flipTotal(context.Background(), arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec), n, k, false)
}
