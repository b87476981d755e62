package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

// blind is the mechanism in the proof of Theorem 6 of research/docs/approximate.md for k = 1: the probabilities of a best
// candidate and of another one for each number of best candidates, with β times a factor.
func blind(n int, z, delta, omega, factor *big.Rat) (best, other []*big.Rat) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	beta := new(big.Rat).Quo(delta, new(big.Rat).Add(half, omega))
	beta.Sub(one, beta).Mul(beta, z).Mul(beta, factor)
	if beta.Sign() < 0 {
		beta.SetInt64(0)
	}
	best, other = make([]*big.Rat, n+1), make([]*big.Rat, n+1)
	for m := 1; m <= n; m++ {
		off := new(big.Rat).Sub(big.NewRat(int64(m), int64(n)), half)
		blindly := one
		if off.Abs(off).Cmp(omega) <= 0 {
			blindly = beta
		}
		other[m] = new(big.Rat).Quo(blindly, big.NewRat(int64(n), 1))
		best[m] = new(big.Rat).Sub(one, blindly)
		best[m].Quo(best[m], big.NewRat(int64(m), 1)).Add(best[m], other[m])
	}
	return best, other
}

// leastDelta is the least δ for which such a mechanism is (ε,δ)-DP: neighbors are those pairs of which the best candidates
// of one, m of them, are among those of the other, more of them.
func leastDelta(n int, e *big.Rat, best, other []*big.Rat) *big.Rat {
	least := new(big.Rat)
	for m := 1; m <= n; m++ {
		for more := m + 1; more <= n; more++ {
			groups := []struct {
				count int
				x, y  *big.Rat
			}{{m, best[m], best[more]}, {more - m, other[m], best[more]}, {n - more, other[m], other[more]}}
			forth, back := new(big.Rat), new(big.Rat)
			for _, g := range groups {
				add := func(sum, x, y *big.Rat) {
					d := new(big.Rat).Sub(x, new(big.Rat).Mul(e, y))
					if d.Sign() > 0 {
						sum.Add(sum, d.Mul(d, big.NewRat(int64(g.count), 1)))
					}
				}
				add(forth, g.x, g.y)
				add(back, g.y, g.x)
			}
			for _, d := range []*big.Rat{forth, back} {
				if d.Cmp(least) > 0 {
					least = d
				}
			}
		}
	}
	return least
}

// meanOfBlind is the mean error over Q(n,1), the number of best candidates being binomial.
func meanOfBlind(n int, other []*big.Rat) *big.Rat {
	sum, all := new(big.Rat), new(big.Int)
	for m := 1; m <= n; m++ {
		ways := new(big.Int).Binomial(int64(n), int64(m))
		all.Add(all, ways)
		term := new(big.Rat).SetInt(ways.Mul(ways, big.NewInt(int64(n-m))))
		sum.Add(sum, term.Mul(term, other[m]))
	}
	return sum.Quo(sum, new(big.Rat).SetInt(all))
}

// TestBlindOnUnusualVectors: Theorem 6 for k = 1. The mechanism is (ε,δ)-DP, so that no optimum is above its mean; with
// less of the blind choice it is not; and its mean nears z(1/2-δ), the lower bound of every n being z(U-δ).
func TestBlindOnUnusualVectors(t *testing.T) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	for _, text := range []string{"21/20", "3/2", "5"} {
		e, _ := new(big.Rat).SetString(text)
		z := new(big.Rat).Inv(e)
		share := new(big.Rat).Mul(z, new(big.Rat).Sub(one, z)) // at most 1/4
		for _, delta := range []*big.Rat{big.NewRat(1, 20), big.NewRat(1, 3), half} {
			omega := new(big.Rat).Mul(share, delta)
			for _, n := range []int{2, 9, 24} {
				best, other := blind(n, z, delta, omega, one)
				assert.LessOrEqual(t, leastDelta(n, e, best, other).Cmp(delta), 0, "%s %s %d", text, delta, n)
				if n > 20 && n%2 == 0 && delta.Cmp(half) < 0 {
					best, less := blind(n, z, delta, omega, big.NewRat(4, 5))
					assert.Positive(t, leastDelta(n, e, best, less).Cmp(delta), "%s %s %d", text, delta, n)
				}
				if n < 10 {
					s := approximately(t, Request{N: n, K: 1, Step: 1, Epsilon: exp(t, text)}, delta.RatString())
					assert.LessOrEqual(t, s.low().Cmp(meanOfBlind(n, other)), 0)
				}
			}
		}
	}
	// ω = 1/24 <= z(1-z)δ and 4.2 standard deviations: U - δ and 1/2 - δ/(1+2ω) enclose the mean over z but for the tail.
	z, delta, omega, n := half, big.NewRat(1, 6), big.NewRat(1, 24), 2500
	_, other := blind(n, z, delta, omega, one)
	mean, _ := meanOfBlind(n, other).Float64()
	assert.InDelta(t, 0.5*(0.5-(1.0/6)/(1+1.0/12)), mean, 1e-4)
	assert.InDelta(t, 0.5*(0.5-1.0/6), mean, 0.007)
}
