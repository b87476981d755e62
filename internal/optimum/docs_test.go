package optimum

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
	"optratio/verify"
)

// weighted returns the mechanism with probabilities in proportion to base^distance.
func weighted(n int, base *big.Rat, between func(x, o int) int) [][]*big.Rat {
	out := make([][]*big.Rat, n)
	for x := range out {
		sum := new(big.Rat)
		for o := range n {
			w := big.NewRat(1, 1)
			for range between(x, o) {
				w.Mul(w, base)
			}
			out[x] = append(out[x], w)
			sum.Add(sum, w)
		}
		for _, w := range out[x] {
			w.Quo(w, sum)
		}
	}
	return out
}

// product returns the mechanism that treats the two digits of an input, the one of the first table changing fastest, independently.
func product(a, b [][]*big.Rat) [][]*big.Rat {
	n := len(a) * len(b)
	out := make([][]*big.Rat, n)
	for x := range out {
		for o := range n {
			out[x] = append(out[x], new(big.Rat).Mul(a[x%len(a)][o%len(a)], b[x/len(a)][o/len(a)]))
		}
	}
	return out
}

// ring is the problem of n places in a circle.
func ring(t testing.TB, n int) *Problem {
	p := preset(t, fmt.Sprint("count:", n-1))
	p.Pairs = append(p.Pairs, Pair{From: n - 1, To: 0})
	for x := range n {
		for o := range n {
			p.Loss[x][o] = big.NewRat(int64(around(n)(x, o)), 1)
		}
	}
	return p
}

func around(n int) func(x, o int) int {
	return func(x, o int) int { return min(distance(x, o), n-distance(x, o)) }
}

// twice is the problem of counts 0 to n that one person may change by 2.
func twice(t testing.TB, n int) *Problem {
	p := preset(t, fmt.Sprint("count:", n))
	for x := range n - 1 {
		p.Pairs = append(p.Pairs, Pair{From: x, To: x + 2})
	}
	return p
}

// TestKnownMechanisms writes the table of research/docs/optimum.md again: mechanisms in use, all of them private as asked, over the optimum at e^ε = 4.
func TestKnownMechanisms(t *testing.T) {
	text, err := os.ReadFile("../../research/docs/optimum.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- table: known mechanisms -->\n")
	require.True(t, found)
	z, half := big.NewRat(1, 4), big.NewRat(1, 2)
	count, grid, square := preset(t, "count:6"), preset(t, "grid:3x3"), preset(t, "histogram:2,1")
	manhattan := func(x, o int) int { return distance(x%3, o%3) + distance(x/3, o/3) }
	for _, c := range []struct {
		problem, prior, name string
		p                    *Problem
		delta                string
		known                [][]*big.Rat
	}{
		{"counts 0 to 6, \\|x-o\\|", "uniform", "geometric, cut off", count, "0", geometric(6, z)},
		{"counts 0 to 6, \\|x-o\\|", "uniform", "exponential", count, "0", weighted(7, half, distance)},
		{"counts 0 to 6, \\|x-o\\|, δ = 1/20", "uniform", "geometric, cut off", count, "1/20", geometric(6, z)},
		{"the same, neighbors differ by 1 or 2", "worst", "geometric at ε/2, cut off", with(t, twice(t, 6), "", nil), "0", geometric(6, half)},
		{"7 places in a circle, distance", "uniform", "exponential", ring(t, 7), "0", weighted(7, half, around(7))},
		{"grid of 3×3, Manhattan", "uniform", "exponential", grid, "0", weighted(9, half, manhattan)},
		{"two bits, right or wrong", "½ on 00 and 11", "randomised response, bit by bit", with(t, square, "", rats(t, "1/2", "0", "0", "1/2")), "0",
			product(response(2, big.NewRat(4, 1), new(big.Rat)), response(2, big.NewRat(4, 1), new(big.Rat)))},
	} {
		r := rated(t, Request{Problem: c.p, Epsilon: exp(t, "4"), Delta: rat(t, c.delta)}, c.known)
		assert.Equal(t, verify.Proved, r.DP, c.name)
		show := func(n number.Number) string {
			x, ok := n.Rat()
			require.True(t, ok)
			if x.IsInt() {
				return x.RatString()
			}
			return x.FloatString(4)
		}
		a := solve(t, Request{Problem: c.p, Epsilon: exp(t, "4"), Delta: rat(t, c.delta)})
		best, _ := a.Optimum.Rat()
		value := best.RatString()
		if len(value) > 12 {
			value = best.FloatString(6)
		}
		line := fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", c.problem, c.prior, value, c.name, show(r.Ratio), show(r.RatioRemap))
		assert.Contains(t, table, line)
	}
}

func distance(a, b int) int { return max(a-b, b-a) }
