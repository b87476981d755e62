package quadrature

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// sum is the rule's value for f on [0,1].
func sum(r *Rule, f func(number.Interval) number.Interval) number.Interval {
	total := number.FromInt(0, r.X[0].Prec())
	for i, x := range r.X {
		total = total.Add(r.Weight[i].Mul(f(x)))
	}
	return total
}

// plusMinus returns [-e, e].
func plusMinus(e number.Interval) number.Interval { return number.Hull(e.Neg(), e) }

// A rule of n nodes integrates polynomials up to degree 2n-1 exactly, ∫_0^1 x^d dx = 1/(d+1), and no further.
func TestRules(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 16, 40, 91} {
		const prec = 200
		r := Legendre(n, prec)
		require.Len(t, r.X, n)
		for d := 0; d <= 2*n; d++ {
			got := sum(r, func(x number.Interval) number.Interval { return x.Pow(d) })
			if d < 2*n || n <= 40 { // beyond that the error of one degree too many is below 2^-200
				assert.Equal(t, d < 2*n, got.Contains(big.NewRat(1, int64(d+1))), "%d nodes, degree %d: %v", n, d, got)
			}
			assert.Less(t, got.RelWidth(), 1e-55)
		}
		for i, x := range r.X {
			assert.True(t, x.Add(r.Rest[i]).Contains(big.NewRat(1, 1)))
			assert.Less(t, r.Rest[i].RelWidth(), 1e-55)
			assert.True(t, i == 0 || r.X[i-1].Hi().Cmp(x.Lo()) < 0, "ascending and disjoint")
		}
	}
	assert.Same(t, Legendre(7, 200), Legendre(7, 200))
	assert.Panics(t, func() { Legendre(0, 64) })
}

// The rules of Abramowitz & Stegun 1964, table 25.4, moved from [-1,1]: nodes ±1/√3, and 0, ±√(3/5) with weights 8/9, 5/9.
func TestSmallRules(t *testing.T) {
	onSymmetric := func(x number.Interval) number.Interval {
		return x.Mul(number.FromInt(2, x.Prec())).Sub(number.FromInt(1, x.Prec()))
	}
	two, three := Legendre(2, 100), Legendre(3, 100)
	assert.True(t, onSymmetric(two.X[1]).Pow(2).Contains(big.NewRat(1, 3)))
	assert.True(t, onSymmetric(three.X[0]).Pow(2).Contains(big.NewRat(3, 5)))
	assert.True(t, three.X[1].Contains(big.NewRat(1, 2)))
	assert.True(t, three.Weight[1].Contains(big.NewRat(4, 9)))
	assert.True(t, three.Weight[0].Contains(big.NewRat(5, 18)))
}

// With so few nodes that it matters, the rule alone misses the integral and the rule with its error holds it. The
// functions are 1/(c+x), at most 1/(c-s) on the ellipse that reaches s to the left of 0, and e^{ax}, at most e^{a(1+s)}.
func TestErrorTermIsNeededAndEnough(t *testing.T) {
	const prec = 160
	whole := func(i int64) number.Interval { return number.FromInt(i, prec) }
	for n := 1; n <= 12; n++ {
		r := Legendre(n, prec)
		for _, rho := range []int64{2, 3, 4, 6} {
			// s = ((ρ+1/ρ)/2 - 1)/2
			s := new(big.Rat).SetFrac64((rho-1)*(rho-1), 4*rho)
			for _, c := range []*big.Rat{big.NewRat(1, 8), big.NewRat(1, 2), big.NewRat(3, 1)} {
				if c.Cmp(s) <= 0 {
					continue
				}
				exact := number.Log(number.FromRat(new(big.Rat).Quo(new(big.Rat).Add(c, big.NewRat(1, 1)), c), prec))
				most := number.FromRat(new(big.Rat).Inv(new(big.Rat).Sub(c, s)), prec)
				f := func(x number.Interval) number.Interval { return whole(1).Quo(number.FromRat(c, prec).Add(x)) }
				checkError(t, r, f, exact, r.Error(most, int(rho)), fmt.Sprintf("1/(%s+x), %d nodes, ρ=%d", c, n, rho))
			}
			for _, a := range []int64{1, 10, 40} {
				exact := number.Expm1(whole(a)).Quo(whole(a))
				most := number.Exp(whole(a).Mul(number.FromRat(s, prec).Add(whole(1))))
				f := func(x number.Interval) number.Interval { return number.Exp(whole(a).Mul(x)) }
				checkError(t, r, f, exact, r.Error(most, int(rho)), fmt.Sprintf("e^%dx, %d nodes, ρ=%d", a, n, rho))
			}
		}
	}
	assert.Panics(t, func() { Legendre(2, 64).Error(whole(1), 1) })
}

func checkError(t *testing.T, r *Rule, f func(number.Interval) number.Interval, exact, e number.Interval, msg string) {
	t.Helper()
	value := sum(r, f)
	_, holds := value.Intersect(exact)
	assert.False(t, holds, "%s: the rule alone must miss", msg)
	_, holds = value.Add(plusMinus(e)).Intersect(exact)
	assert.True(t, holds, "%s: with its error it must hold the integral", msg)
}

// The Chebyshev polynomial T_{2n} comes within a small factor of the bound: moved to [0,1] it is at most (ρ^{2n}+ρ^{-2n})/2 on
// the ellipse and its integral is -1/(4n²-1). The bound is at most twice what the rule misses of it, and 4/π times for large n.
func TestErrorTermIsNearlyReached(t *testing.T) {
	const prec, rho = 200, 24
	for n := 1; n <= 20; n++ {
		r := Legendre(n, prec)
		value := sum(r, func(x number.Interval) number.Interval {
			y := x.Mul(number.FromInt(2, prec)).Sub(number.FromInt(1, prec))
			before, p := number.FromInt(1, prec), y
			for range 2*n - 1 {
				before, p = p, y.Mul(p).Mul(number.FromInt(2, prec)).Sub(before)
			}
			return p
		})
		missed := arith.Abs(number.FromRat(big.NewRat(-1, int64(4*n*n-1)), prec).Sub(value))
		power := number.FromInt(rho, prec).Pow(2 * n)
		most := power.Add(number.FromInt(1, prec).Quo(power)).Quo(number.FromInt(2, prec))
		bound := r.Error(most, rho)
		assert.LessOrEqual(t, missed.Hi().Cmp(bound.Lo()), 0, "%d nodes: %v against %v", n, missed, bound)
		ratio, _ := bound.Quo(missed).Float64()
		assert.Less(t, ratio, 1.28+0.8/float64(n), "%d nodes", n)
	}
}
