package lp

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// permuteAndFlipOptimal decides whether permute-and-flip is optimal for the program on Q(n,k) at ε > 0, at
// every level of constraints. With A_j = Σ_{v=1}^j v z^v and B'_j = Σ_{v=1}^j z^v it is so iff n <= 2, or k = 1, or
//
//	B'_k <= 1                           uniform prior, and box where n >= 4
//	Σ_{j=1}^k A_j (1 - B'_j) >= 0       box where n = 3
//
// At permute-and-flip every variable is positive, and so is the slack of every (T) row and of every row that a level
// adds; complementary slackness therefore leaves one dual point, with multipliers on (E) and (P) alone. For the uniform
// prior it is y(m) = Y_{m_0}, Y_1 = 0, Y_{i+1} = A - B' Y_i, with
// λ_t = Σ_{u=t}^k z^{u-t} (u - Y_i) on a chain whose other candidates have i at depth 0; all of these are nonnegative iff
// Y_1, …, Y_n are, since z λ_1 = Y_{i+1} and u - Y_i increases in u. B' <= 1 keeps Y_i, i >= 2, in [A(1-B'), A];
// otherwise Y_3 = A(1-B') < 0 once n >= 3. The box program is the sum of the uniform programs on Q(n,j), j <= k, so its dual point is the
// sum of theirs: on a chain whose others reach down to M, λ_t = Σ_{j >= max(M,t)} λ_t^{(j)}. Where n >= 4 two others can be at depth 0
// and one at depth k, which leaves λ^{(k)} alone and the condition B'_k <= 1; where n = 3 the only chain with two others at
// depth 0 has M = 0, and the sum over all j is what counts: z λ_1 is the sum above, and λ_1 >= 0 implies λ_t >= 0 for all t
// (research/docs/threshold.md, Theorem 3).
//
// At ε = 0 every mechanism within the rows is constant along chains and permute-and-flip is optimal;
// the function then answers by the same criterion, which a caller may use as a sufficient one.
//
// The decision is exact. For rational ε > 0 the number z is transcendental, so that none of these
// polynomials in z vanishes, and enclosures are refined until they decide; for rational z rational arithmetic decides.
func permuteAndFlipOptimal(n, k int, box bool, eps number.Epsilon) bool {
	if n <= 2 || k == 1 {
		return true
	}
	z, rational := eps.Z()
	if rational && z.Cmp(big.NewRat(1, 2)) <= 0 {
		return true // Σ 2^{-v} < 1
	}
	for prec := uint(128); ; prec *= 2 {
		if s, ok := criterion(arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec), n, k, box).Sign(); ok {
			return s >= 0
		}
		// The sum of products is not known never to vanish at a rational z. 1 - B'_k cannot for k >= 2, its roots 1/z being algebraic integers other than
		// ±1; there rationals only save the last refinements.
		if rational && prec >= 512 && (box || k*z.Denom().BitLen() < exactBits) {
			return criterion(arith.Rat{}, z, n, k, box).Sign() >= 0
		}
	}
}

// criterion returns the quantity of permuteAndFlipOptimal that decides by its sign.
func criterion[T any](f arith.Field[T], z T, n, k int, box bool) T {
	if !box || n > 3 {
		_, b := arith.PowerSums(f, z, k)
		return f.Sub(f.One(), b)
	}
	a, rest, power, sum := f.Zero(), f.One(), f.One(), f.Zero()
	for j := 1; j <= k; j++ {
		power = f.Mul(power, z)
		a = f.Add(a, f.Mul(f.FromInt(int64(j)), power))
		rest = f.Sub(rest, power)
		sum = f.Add(sum, f.Mul(a, rest))
	}
	return sum
}
