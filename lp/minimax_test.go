package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/slowtest"
)

// tailLoss is 1 where the error is t steps of 2Δ or more, on the lattice of step 2Δ/l.
func tailLoss(t, l int) func(int) *big.Rat {
	return func(v int) *big.Rat {
		if v >= t*l {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	}
}

// worstFlip is permute-and-flip's largest Pr[error >= t]: 1 - (1 - (1-p)^n)/(np).
func worstFlip(n int, p *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	x := new(big.Rat).Sub(one, power(new(big.Rat).Sub(one, p), n))
	x.Quo(x, new(big.Rat).Mul(big.NewRat(int64(n), 1), p))
	return x.Sub(one, x)
}

// minimaxBound is the larger of (n-1)p/(2+(n-1-less)p) and 1 - 1/(np); less is 1 with monotonicity, otherwise 0.
func minimaxBound(n, less int, p *big.Rat) *big.Rat {
	x := new(big.Rat).Mul(big.NewRat(int64(n-1), 1), p)
	d := new(big.Rat).Mul(big.NewRat(int64(n-1-less), 1), p)
	x.Quo(x, d.Add(d, big.NewRat(2, 1)))
	y := new(big.Rat).Mul(big.NewRat(int64(n), 1), p)
	y.Sub(big.NewRat(1, 1), y.Inv(y))
	if y.Cmp(x) > 0 {
		return y
	}
	return x
}

// research/docs/minimax.md, Theorem 1: the bounds hold, and are the exact optima of the program on the small lattices named there.
func TestMinimaxBounds(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct {
		n, k, t int
		attains bool
	}{{2, 2, 1, false}, {3, 1, 1, true}, {3, 3, 1, true}, {3, 2, 2, false}, {3, 3, 2, false}, {4, 2, 1, true}, {5, 2, 1, true}} {
		for _, z := range []*big.Rat{big.NewRat(1, 4), big.NewRat(49659, 100000), big.NewRat(3, 5), big.NewRat(9, 10)} {
			p := power(z, c.t)
			for level := Paper; level <= Full; level++ {
				less := 0
				if level >= Monotone {
					less = 1
				}
				s := small{n: c.n, k: c.k, l: 1, level: level, loss: tailLoss(c.t, 1), worst: true}
				got, bound := s.optimum(t, z), minimaxBound(c.n, less, p)
				assert.GreaterOrEqual(t, got.Cmp(bound), 0, "%+v %v", c, level)
				if c.attains {
					assert.Equal(t, bound.RatString(), got.RatString(), "%+v %v z = %v", c, level, z)
				}
				if c.n == 2 {
					assert.Equal(t, new(big.Rat).Quo(p, big.NewRat(2, 1)).RatString(), got.RatString(), "%+v %v", c, level)
				}
				flipped := s.total(func(q []int) []*big.Rat { return flip(z, q) })
				assert.Equal(t, worstFlip(c.n, p).RatString(), flipped.RatString(), "%+v", c)
			}
		}
	}
}

// Where t is more than one step the bound need not be the optimum: at (3,2), t = 2, z = 3/5 it is 9/34, the optimum at level dp 4/15.
func TestMinimaxBoundIsNotAlwaysAttained(t *testing.T) {
	z := big.NewRat(3, 5)
	s := small{n: 3, k: 2, l: 1, level: DP, loss: tailLoss(2, 1), worst: true}
	assert.Equal(t, "4/15", s.optimum(t, z).RatString())
	assert.Equal(t, "9/34", minimaxBound(3, 0, power(z, 2)).RatString())
	s.level = Paper
	assert.Equal(t, "9/34", s.optimum(t, z).RatString())
}

// Theorem 2: the worst scores are those where all but one lie t below, on finer lattices too.
func TestWorstScoresOfPermuteAndFlip(t *testing.T) {
	root := big.NewRat(3, 4)
	for _, c := range []struct{ n, k, l, t int }{{3, 2, 3, 1}, {4, 2, 2, 1}, {3, 3, 2, 2}} {
		s := small{n: c.n, k: c.k, l: c.l, loss: tailLoss(c.t, c.l), worst: true}
		worst := s.total(func(q []int) []*big.Rat { return flip(root, q) })
		assert.Equal(t, worstFlip(c.n, power(root, c.l*c.t)).RatString(), worst.RatString(), "%+v", c)
	}
}

// Theorem 3: the factors 1 + ((n-1)/(n+1))^{n-1} <= 5/4 and 1 + e^{-2}, on a grid of exact values that meets the first and comes close to the second.
func TestMinimaxFactors(t *testing.T) {
	slowtest.Only(t)
	one := big.NewRat(1, 1)
	c, _ := new(big.Rat).SetString("1.1353353") // 1 + e^{-2} = 1.13533528…
	largest := new(big.Rat)
	for n := 3; n <= 40; n++ {
		factor := new(big.Rat).Add(one, power(big.NewRat(int64(n-1), int64(n+1)), n-1))
		for _, p := range append(fractions(40), big.NewRat(2, int64(n+1)), big.NewRat(2, int64(n))) {
			flipped := worstFlip(n, p)
			ratio := new(big.Rat).Quo(flipped, minimaxBound(n, 0, p))
			assert.LessOrEqual(t, ratio.Cmp(factor), 0, "n = %d, p = %v", n, p)
			if ratio.Cmp(largest) > 0 {
				largest = ratio
			}
			assert.Negative(t, flipped.Quo(flipped, minimaxBound(n, 1, p)).Cmp(c), "n = %d, p = %v", n, p)
			// The exponential mechanism: (n-1)p/(1+(n-1)p) is less than twice either bound.
			np := new(big.Rat).Mul(big.NewRat(int64(n-1), 1), p)
			em := np.Quo(np, new(big.Rat).Add(np, one))
			for less := range 2 {
				assert.Negative(t, em.Cmp(new(big.Rat).Mul(big.NewRat(2, 1), minimaxBound(n, less, p))))
			}
		}
		p := big.NewRat(2, int64(n+1))
		ratio := worstFlip(n, p)
		assert.Zero(t, ratio.Quo(ratio, minimaxBound(n, 0, p)).Cmp(factor), "n = %d", n)
	}
	assert.Equal(t, "5/4", largest.RatString())
	p := big.NewRat(1, 1000)
	near := worstFlip(2000, p)
	assert.Equal(t, "1.1351", cutOff(near.Quo(near, minimaxBound(2000, 1, p)), 4))
	tiny := big.NewRat(1, 1e6) // and the exponential mechanism's factor comes close to 2
	flipped := worstFlip(3, tiny)
	assert.Equal(t, "1.9999", cutOff(flipped.Quo(new(big.Rat).Quo(big.NewRat(2, 1e6), big.NewRat(1e6+2, 1e6)), flipped), 4))
}

// fractions lists 1/d, …, d/d.
func fractions(d int64) []*big.Rat {
	var all []*big.Rat
	for i := int64(1); i <= d; i++ {
		all = append(all, big.NewRat(i, d))
	}
	return all
}

// The identity in the proof of Theorem 3, Step 2, as polynomials in p: N S Q - (N+2)(1-p) Q - (3N-2+2N²p)(1-p) S = N(N+1)(N+2) p² (2-Np)
// with S = 4-(N+2)p, Q = 4+(3N-2)p+N²p². Both sides have degree at most 3 in p and at most 4 in N, so that 4 values of p and 5 of N suffice.
func TestMinimaxIdentity(t *testing.T) {
	for n := int64(0); n <= 6; n++ {
		for p := int64(-2); p <= 3; p++ {
			s, q := 4-(n+2)*p, 4+(3*n-2)*p+n*n*p*p
			assert.Equal(t, n*(n+1)*(n+2)*p*p*(2-n*p), n*s*q-(n+2)*(1-p)*q-(3*n-2+2*n*n*p)*(1-p)*s)
		}
	}
}

// The values printed for (3,3), ε = 0.7, t = 1, between rationals on either side of e^{-0.7}: all three rise with p.
func TestMinimaxExample(t *testing.T) {
	for _, z := range []*big.Rat{big.NewRat(496585303, 1e9), big.NewRat(496585304, 1e9)} {
		assert.Equal(t, "0.33181", minimaxBound(3, 0, z).FloatString(5))
		assert.Equal(t, "0.39781", minimaxBound(3, 1, z).FloatString(5))
		assert.Equal(t, "0.41439", worstFlip(3, z).FloatString(5))
	}
}
