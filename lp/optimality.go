package lp

import (
	"math/big"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number/arith"
	"optratio/number/interval"
)

// PermuteAndFlipOptimal decides whether permute-and-flip is optimal for the program on Q(n,k) at ε > 0, at
// every level of constraints. With A_j = Σ_{v=1}^j v z^v and B'_j = Σ_{v=1}^j z^v it is so iff n <= 2, or k = 1, or
//
//	B'_k <= 1                                               paper's objective, and box where n >= 4
//	Σ_{u=t}^k z^{u-t} Σ_{j=u}^k (u - A_j) >= 0 for all t    box where n = 3
//
// At permute-and-flip every variable is positive, and so is the slack of every (T) row and of every row that a level
// adds; complementary slackness therefore leaves one dual point, with multipliers on (E) and (P) alone. For the paper's
// objective it is y(m) = Y_{m_0}, Y_1 = 0, Y_{i+1} = A - B' Y_i, with
// λ_t = Σ_{u=t}^k z^{u-t} (u - Y_i) on a chain whose other candidates have i at depth 0; all of these are nonnegative iff
// Y_1, …, Y_n are, since z λ_1 = Y_{i+1} and u - Y_i increases in u. B' <= 1 keeps Y_i, i >= 2, in [A(1-B'), A];
// otherwise Y_3 = A(1-B') < 0 once n >= 3. The box program is the sum of the paper's programs on Q(n,j), j <= k, so its dual point is the
// sum of theirs: on a chain whose others reach down to M, λ_t = Σ_{j >= max(M,t)} λ_t^{(j)}. Where n >= 4 two others can be at depth 0
// and one at depth k, which leaves λ^{(k)} alone and the condition B'_k <= 1; where n = 3 the only chain with two others at
// depth 0 has M = 0, and the sum over all j is what counts.
//
// At ε = 0 every mechanism within the rows is constant along chains and permute-and-flip is optimal;
// the function then answers by the same criterion, which a caller may use as a sufficient one.
//
// The decision is exact. For rational ε > 0 the number z is transcendental, so that none of these
// polynomials in z vanishes, and enclosures are refined until they decide; for rational z rationals have the last word.
func PermuteAndFlipOptimal(n, k int, o lattice.Objective, eps mechanisms.Epsilon) bool {
	if n <= 2 || k == 1 {
		return true
	}
	z, rational := eps.Z()
	if rational && z.Cmp(big.NewRat(1, 2)) <= 0 {
		return true // Σ 2^{-v} < 1
	}
	for prec := uint(128); ; prec *= 2 {
		f := arith.Interval{Prec: prec}
		if v := nonnegative(f, eps.ExpNeg(big.NewRat(1, 1), prec), n, k, o, interval.Interval.Sign); v != 0 {
			return v > 0
		}
		// A rational z can make one of them vanish: then only rationals decide.
		if rational && prec >= 512 {
			return nonnegative(arith.Rat{}, z, n, k, o, func(x *big.Rat) (int, bool) { return x.Sign(), true }) > 0
		}
	}
}

// nonnegative reports whether all multipliers of the dual point are >= 0 (1) or some is negative (-1); 0 where
// the arithmetic cannot tell.
func nonnegative[T any](f arith.Field[T], z T, n, k int, o lattice.Objective, sign func(T) (int, bool)) int {
	verdict := 1
	need := func(x T) bool {
		s, ok := sign(x)
		switch {
		case ok && s < 0:
			verdict = -1
		case !ok:
			verdict = min(verdict, 0)
		}
		return verdict >= 0
	}
	if o == lattice.Paper || n > 3 {
		_, b := powerSums(f, z, k)
		need(f.Sub(f.One(), b))
		return verdict
	}
	// tail[u] = Σ_{j=u}^k A_j, λ = g_u + z λ_{u+1} with g_u = (k-u+1) u - tail[u].
	sums := make([]T, k+1)
	a, power := f.Zero(), f.One()
	for j := 1; j <= k; j++ {
		power = f.Mul(power, z)
		a = f.Add(a, f.Mul(f.FromInt(int64(j)), power))
		sums[j] = a
	}
	tail, lambda := f.Zero(), f.Zero()
	for u := k; u >= 1; u-- {
		tail = f.Add(tail, sums[u])
		lambda = f.Add(f.Sub(f.FromInt(int64((k-u+1)*u)), tail), f.Mul(z, lambda))
		if !need(lambda) {
			break
		}
	}
	return verdict
}
