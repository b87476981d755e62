package audit

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// exactTail is Pr[Bin(n, p) >= x] by its definition.
func exactTail(n, x int64, p *big.Rat) *big.Rat {
	a, b := p.Num(), p.Denom()
	c, sum := new(big.Int).Sub(b, a), new(big.Int)
	power := func(base *big.Int, e int64) *big.Int { return new(big.Int).Exp(base, big.NewInt(e), nil) }
	for i := x; i <= n; i++ {
		term := new(big.Int).Binomial(n, i)
		term.Mul(term, power(a, i)).Mul(term, power(c, n-i))
		sum.Add(sum, term)
	}
	return new(big.Rat).SetFrac(sum, power(b, n))
}

func TestUpperTailIsABoundAndTight(t *testing.T) {
	for _, c := range []struct{ n, x int64 }{{1, 1}, {10, 4}, {10, 10}, {300, 45}, {300, 290}, {600, 100}} {
		for _, p := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 3), big.NewRat(9, 10)} {
			exact := exactTail(c.n, c.x, p)
			bound := upperTail(c.n, c.x, number.FromRat(p, binomialBits))
			hi, _ := bound.Hi().Rat(nil)
			require.LessOrEqual(t, exact.Cmp(hi), 0, "%v %s", c, p)
			if big.NewRat(c.x, c.n).Cmp(p) > 0 {
				excess, _ := new(big.Rat).Quo(hi, exact).Float64()
				require.Less(t, excess, 1+1e-9, "%v %s", c, p)
			}
		}
	}
}

func TestLogFactorialAgreesAcrossItsTwoForms(t *testing.T) {
	for _, n := range []int64{256, 257, 1000} {
		exact := number.Log(arith.FromBig(new(big.Int).MulRange(1, n), 256))
		stirling := logFactorial(n)
		require.True(t, arith.Encloses(stirling, exact), n)
		require.Less(t, stirling.RelWidth(), 1e-15)
	}
}

// Limits of Clopper & Pearson: 0 of n and n of n have closed forms, α^{1/n}; others lie within the
// definition's bracket.
func TestConfidenceLimits(t *testing.T) {
	alpha := big.NewRat(1, 40)
	for _, n := range []int64{1, 10, 1000, 1_000_000} {
		low, _ := lowerLimit(n, n, alpha).Float64()
		require.InEpsilon(t, math.Pow(0.025, 1/float64(n)), low, 1e-9)
		high, _ := upperLimit(n, 0, alpha).Float64()
		require.InDelta(t, 1-math.Pow(0.025, 1/float64(n)), high, 1e-9)
		require.Zero(t, lowerLimit(n, 0, alpha).Sign())
		require.Zero(t, upperLimit(n, n, alpha).Cmp(big.NewRat(1, 1)))
	}
	for _, c := range []struct{ n, x int64 }{{20, 3}, {100, 50}, {200, 199}} {
		low := lowerLimit(c.n, c.x, alpha)
		require.LessOrEqual(t, exactTail(c.n, c.x, low).Cmp(alpha), 0, "%v", c)
		above := new(big.Rat).Mul(low, big.NewRat(1_000_001, 1_000_000))
		require.Positive(t, exactTail(c.n, c.x, above).Cmp(alpha), "%v: the limit is not the largest", c)
	}
	// An alpha that is 0 as a float64 leaves the limit that always holds.
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(400), nil))
	require.Zero(t, lowerLimit(10, 5, tiny).Sign())
	require.Zero(t, upperLimit(10, 5, tiny).Cmp(big.NewRat(1, 1)))
	// Of 750 thousand, one quarter: half a thousandth either side, about 2.24 standard errors.
	low, _ := lowerLimit(750_000, 187_500, big.NewRat(1, 80)).Float64()
	require.InDelta(t, 0.25-2.2414*math.Sqrt(0.25*0.75/750_000), low, 1e-5)
}
