package secretary

import (
	"math/big"
	"slices"
)

// A ring is the arithmetic of the two recurrences over (time, relative rank):
// forward for the law of a rule, backward for the best rule of a payoff. Both
// only multiply by small integers, divide by the time and compare. Rational
// data run through them as integers: a value at time i is kept multiplied by
// a factorial that makes every division exact, so that over does nothing.
type ring[T any] interface {
	zero() T                          // with storage of its own
	combine(x T, a int, y T, b int) T // a·x + b·y, in the storage of x
	add(x, y T) T                     // x + y, in the storage of x
	over(x T, m int) T
	less(x, y T) bool
}

type floatRing struct{}

func (floatRing) zero() float64 { return 0 }
func (floatRing) combine(x float64, a int, y float64, b int) float64 {
	return float64(x*float64(a)) + float64(y*float64(b))
}
func (floatRing) add(x, y float64) float64      { return x + y }
func (floatRing) over(x float64, m int) float64 { return x / float64(m) }
func (floatRing) less(x, y float64) bool        { return x < y }

// intRing has room for a factor and a product.
type intRing struct{ factor, product *big.Int }

func newIntRing() ring[*big.Int] { return intRing{new(big.Int), new(big.Int)} }

func (intRing) zero() *big.Int { return new(big.Int) }
func (r intRing) combine(x *big.Int, a int, y *big.Int, b int) *big.Int {
	x.Mul(x, r.factor.SetInt64(int64(a)))
	return x.Add(x, r.product.Mul(y, r.factor.SetInt64(int64(b))))
}
func (intRing) add(x, y *big.Int) *big.Int      { return x.Add(x, y) }
func (intRing) over(x *big.Int, _ int) *big.Int { return x }
func (intRing) less(x, y *big.Int) bool         { return x.Cmp(y) < 0 }

// forward returns the law of the rule that stops at time i with relative rank
// j with probability inject(i, j)/i (jointly with that rank; times the factor
// of the integer form). Let s_j be the probability that the rule has stopped
// and its candidate ranks j-th among the first i. The arrival i+1 ranks at or
// above it with probability j/(i+1), so
//
//	s_j ← ( (i+1-j) s_j + (j-1) s_{j-1} + x[i+1][j] ) / (i+1)
//
// and after time n s is the law. In the integer form s is kept multiplied by
// i! and by the common denominator of x. Nothing is injected before time
// first. Source: the relative ranks of a uniformly random order are
// independent and uniform (Rényi 1962).
func forward[T any](r ring[T], first, n int, inject func(i, j int) T) []T {
	s := make([]T, n+1) // s[0] stays zero
	for j := range s {
		s[j] = r.zero()
	}
	for i := first - 1; i < n; i++ {
		for j := i + 1; j >= 1; j-- {
			v := r.combine(s[j], i+1-j, s[j-1], j-1)
			s[j] = r.over(r.add(v, inject(i+1, j)), i+1)
		}
	}
	return s[1:]
}

// backward walks optimal stopping for a payoff per final rank, from time n to
// 1. With g_j the expected payoff of taking relative rank j at time i,
//
//	g_j at i = ( (i+1-j) g_j + j g_{j+1} at i+1 ) / (i+1),   g_j at n = payoff_j
//	V_n = Σ_j g_j / n,   V_i = Σ_j max(g_j, V_{i+1}) / i
//
// and calls visit with g and V_{i+1} before each V_i (at i = n there is no
// V_{i+1}: the last candidate must be taken). The result is V_1. In the integer form g at
// time i is multiplied by n!/i! and V_i by n!/(i-1)!; the payoffs' storage is used up.
func backward[T any](r ring[T], payoff []T, visit func(i int, g []T, next T)) T {
	n := len(payoff)
	g := slices.Clone(payoff)
	value := r.zero()
	for i := n; i >= 1; i-- {
		if i < n {
			for j := 1; j <= i; j++ {
				g[j-1] = r.over(r.combine(g[j-1], i+1-j, g[j], j), i+1)
			}
			g = g[:i]
		}
		visit(i, g, value)
		sum := r.zero()
		for _, x := range g {
			if i < n && r.less(x, value) {
				x = value
			}
			sum = r.add(sum, x)
		}
		value = r.over(sum, i)
	}
	return value
}
