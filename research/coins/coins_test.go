package coins

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// flipsByEnumeration runs permute-and-flip over every order of the candidates with exact coins: the mean of Σ_k k·Pr[the k-th coin is the first heads].
func flipsByEnumeration(weights []*big.Rat) *big.Rat {
	sum, orders := new(big.Rat), int64(0)
	var visit func(rest []*big.Rat, flipped int64, reached *big.Rat)
	visit = func(rest []*big.Rat, flipped int64, reached *big.Rat) {
		if len(rest) == 0 {
			orders++
		}
		for i, p := range rest {
			others := append(append([]*big.Rat{}, rest[:i]...), rest[i+1:]...)
			heads := new(big.Rat).Mul(reached, p)
			// Every order that begins like this counts: there are (len(rest)-1)! of them.
			share := new(big.Rat).Mul(heads, big.NewRat(flipped+1, 1))
			sum.Add(sum, share.Mul(share, new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(len(others))))))
			visit(others, flipped+1, new(big.Rat).Sub(reached, heads))
		}
	}
	visit(weights, 0, big.NewRat(1, 1))
	return sum.Quo(sum, big.NewRat(orders, 1))
}

func TestFlipsAreEnumerated(t *testing.T) {
	// Two candidates of weights 1 and p: either is first half of the time, and the first coin ends it with probability 1 or p: (1 + (2-p))/2.
	holds(t, expected(t, []int64{0, -1}, half, threeHalves), big.NewRat(7, 6), 0)

	rng := rand.New(rand.NewPCG(8, 1))
	for range 40 {
		scores := make([]int64, 1+rng.IntN(6))
		for i := range scores {
			scores[i] = -int64(rng.IntN(5))
		}
		scores[0] = 0
		weights := make([]*big.Rat, len(scores))
		for i, q := range scores {
			weights[i] = big.NewRat(1, 1)
			for range -q {
				weights[i].Mul(weights[i], big.NewRat(2, 3))
			}
		}
		want := flipsByEnumeration(weights)
		holds(t, expected(t, scores, half, threeHalves), want, 0)
	}
}

// flipsByTails returns Σ_k e_k(1-p)/C(n,k), e_k the elementary symmetric polynomials: the k coins of a random set show tails with probability
// e_k/C(n,k), and then one more is flipped. The weight of a candidate d below the best is (2/3)^d.
func flipsByTails(scores []int64) *big.Rat {
	n, best := len(scores), slices.Max(scores)
	tails := []*big.Rat{big.NewRat(1, 1)}
	for _, q := range scores {
		lose := big.NewRat(1, 1)
		for range best - q {
			lose.Mul(lose, big.NewRat(2, 3))
		}
		lose.Sub(big.NewRat(1, 1), lose)
		tails = append(tails, new(big.Rat))
		for k := len(tails) - 1; k > 0; k-- {
			tails[k] = new(big.Rat).Add(tails[k], new(big.Rat).Mul(lose, tails[k-1]))
		}
	}
	mean := new(big.Rat)
	for k := range n {
		mean.Add(mean, new(big.Rat).Quo(tails[k], new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))))
	}
	return mean
}

// With n-1 candidates that never show heads the best one is reached after (n+1)/2 visits in the mean; n >= 2 tied ones end it at once. Between, enclosures by
// classes hold what flipsByTails gives exactly.
func TestFlipsOfMany(t *testing.T) {
	far := make([]int64, 101)
	far[3] = 1 << 40
	holds(t, expected(t, far, big.NewRat(1, 1), one), big.NewRat(51, 1), 1e-30)
	holds(t, expected(t, []int64{5, 5, 5}, big.NewRat(1, 1), one), big.NewRat(1, 1), 1e-30)

	rng := rand.New(rand.NewPCG(9, 1))
	scores := make([]int64, 70)
	for i := range scores {
		scores[i] = int64(rng.IntN(13))
	}
	scores[0] = 12
	holds(t, expected(t, scores, half, threeHalves), flipsByTails(scores), 1e-30)
}

// Candidates so deep that they are treated together, one or several: they are visited before the only others, 40 or so that are one step from the best, and the best.
func TestCoinsWithTail(t *testing.T) {
	for _, deep := range []int{1, 2, 30} {
		scores := make([]int64, 80)
		for i := range deep {
			scores[i] = -1 << 30
		}
		for i := deep; i < 40; i++ {
			scores[i] = -1
		}
		// A weight of 0 in place of one that small changes less than any digit: -600 is (2/3)^600.
		near := slices.Clone(scores)
		for i := range deep {
			near[i] = -600
		}
		holds(t, expected(t, scores, half, threeHalves), flipsByTails(near), 1e-20)
	}
	_, err := Expected(nil, half, one)
	assert.ErrorAs(t, err, new(number.InputError))
}

var half = big.NewRat(1, 2)

var one, threeHalves = func() (a, b number.Epsilon) {
	a, _ = number.ParseEpsilon("1")
	b, _ = number.ParseExp("3/2")
	return a, b
}()

func expected(t *testing.T, scores []int64, sensitivity *big.Rat, eps number.Epsilon) number.Number {
	t.Helper()
	list := make([]*big.Rat, len(scores))
	for i, q := range scores {
		list[i] = big.NewRat(q, 1)
	}
	x, err := Expected(list, sensitivity, eps)
	require.NoError(t, err)
	return x
}

// holds asserts that an enclosure holds a number, up to 1e-50 of it, and is as narrow as told.
func holds(t *testing.T, x number.Number, want *big.Rat, rel float64) {
	t.Helper()
	lo, _ := x.Lower()
	hi, ok := x.Upper()
	require.True(t, ok, "%v", x)
	slack := new(big.Rat).Quo(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(50), nil)))
	if rel == 0 {
		slack.SetInt64(0)
	}
	assert.True(t, new(big.Rat).Sub(lo, slack).Cmp(want) <= 0 && want.Cmp(new(big.Rat).Add(hi, slack)) <= 0, "%v does not hold %s", x, want.FloatString(30))
	width, _ := new(big.Rat).Sub(hi, lo).Float64()
	size, _ := want.Float64()
	assert.LessOrEqual(t, width, rel*size)
}
