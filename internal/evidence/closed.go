package evidence

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// MaxClosedBits is the limit of exact evaluation in a closed form, whose numbers are reduced to lowest terms again and again; beyond it there are only
// enclosures.
const MaxClosedBits = 1 << 17

// totals are sums over the score vectors of the lattice, known in closed form.
type totals[T any] struct {
	Flip T // error of permute-and-flip
	Dual T // the value of the dual point of proof dual-closed-form
	All  T // number of score vectors, or of pairs of one and a box around it: ΣW
	Sum  T // B' = Σ_{v=1}^k z^v
}

// ClosedForms returns the totals for n candidates and depths 0 to k.
//
// With A = Σ v z^v, B' = Σ_{v>=1} z^v and y = k - B', permute-and-flip's total error over Q(n,k) is
// A {[(k+1)^n - y^n]/(B'+1) - [k^n - y^n]/B'}, where (k+1) - y = B'+1 and k - y = B', so that either quotient is a
// sum of n products without cancellation. The dual point y(m) = A/(1+B') for m_0 >= 2 has the value
// A/(1+B') [(k+1)^n - k^n - n k^{n-1}]. The dual point y(m) = A/(1+B') (1 - (k-D)/B'), D being the depth of the deepest, has the value A [(k+1)^n/(1+B') - k^n/B'] for n >= 2
// (research/docs/universal.md). It is taken where B' >= 1 and n B' > k: then its value is the larger one. Under the objective box all are summed over the depths 1 to k, a restriction
// of a feasible point to score vectors of lesser depth being feasible there. below reports whether a number may be negative.
func ClosedForms[T any](f arith.Field[T], below func(T) bool, z T, n, k int, box bool) totals[T] {
	t := totals[T]{Flip: f.Zero(), Dual: f.Zero(), Sum: f.Zero()}
	a, power := f.Zero(), f.One()
	num := func(i int) T { return f.FromInt(int64(i)) }
	for j := 1; j <= k; j++ {
		power = f.Mul(power, z)
		t.Sum = f.Add(t.Sum, power)
		a = f.Add(a, f.Mul(num(j), power))
		if j < k && !box {
			continue
		}
		t.Flip, t.Dual = f.Add(t.Flip, FlipAt(f, a, t.Sum, n, j)), f.Add(t.Dual, DualAt(f, below, a, t.Sum, n, j))
	}
	t.All = arith.Pow(f, num(k+1), n)
	if !box {
		t.All = f.Sub(t.All, arith.Pow(f, num(k), n))
	}
	return t
}

// FlipAt returns the total Flip of ClosedForms over Q(n,k), given A and B'.
func FlipAt[T any](f arith.Field[T], a, sum T, n, k int) T {
	num := func(i int) T { return f.FromInt(int64(i)) }
	y := f.Sub(num(k), sum)
	return f.Mul(a, f.Sub(powerQuotient(f, num(k+1), y, n), powerQuotient(f, num(k), y, n)))
}

// DualAt returns the total Dual.
func DualAt[T any](f arith.Field[T], below func(T) bool, a, sum T, n, k int) T {
	num := func(i int) T { return f.FromInt(int64(i)) }
	upper, lower := arith.Pow(f, num(k+1), n), arith.Pow(f, num(k), n)
	// n k^{n-1} is what n vectors with a single best one are.
	single := f.Mul(num(n), arith.Pow(f, num(k), n-1))
	vectors := f.Sub(f.Sub(upper, lower), single)
	if crowded(f, below, sum, n, k) {
		vectors = f.Sub(upper, f.Quo(f.Mul(f.Add(f.One(), sum), lower), sum))
	}
	return f.Mul(f.Quo(a, f.Add(f.One(), sum)), vectors)
}

// crowded reports whether B' >= 1 and n B' >= k for sure.
func crowded[T any](f arith.Field[T], below func(T) bool, sum T, n, k int) bool {
	num := func(i int) T { return f.FromInt(int64(i)) }
	return n >= 2 && !below(f.Sub(sum, f.One())) && !below(f.Sub(f.Mul(num(n), sum), num(k)))
}

// Negative reports whether a rational is below 0, mayBeNegative whether a number in an enclosure can be.
func Negative(x *big.Rat) bool             { return x.Sign() < 0 }
func MayBeNegative(x number.Interval) bool { return x.Lo().Sign() < 0 }

// powerQuotient returns (x^n - y^n)/(x - y) = Σ_{i<n} x^{n-1-i} y^i, which is n x^{n-1} where x = y, for n >= 1. It doubles the number of terms: that for 2m is that for m times x^m + y^m.
func powerQuotient[T any](f arith.Field[T], x, y T, n int) T {
	q, xm, ym := f.One(), x, y
	for i := Bits(n) - 2; i >= 0; i-- {
		q = f.Mul(q, f.Add(xm, ym))
		xm, ym = f.Mul(xm, xm), f.Mul(ym, ym)
		if n>>i&1 == 1 {
			q = f.Add(f.Mul(x, q), ym)
			xm, ym = f.Mul(xm, x), f.Mul(ym, y)
		}
	}
	return q
}

// Bits returns the number of binary digits of n >= 1.
func Bits(n int) int { return big.NewInt(int64(n)).BitLen() }
