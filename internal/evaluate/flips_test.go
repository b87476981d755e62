package evaluate

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
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
	p, err := New([]int64{0, -1}, half, false)
	require.NoError(t, err)
	got, err := p.ExpectedFlips(exponential(t, "3/2"))
	require.NoError(t, err)
	holds(t, got, big.NewRat(7, 6), 0)

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
		p, err := New(scores, half, false)
		require.NoError(t, err)
		got, err := p.ExpectedFlips(exponential(t, "3/2"))
		require.NoError(t, err)
		holds(t, got, want, 0)
		monotonic, err := New(scores, big.NewRat(1, 1), true)
		require.NoError(t, err)
		got, err = monotonic.ExpectedFlips(exponential(t, "3/2"))
		require.NoError(t, err)
		holds(t, got, want, 0)
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
	p, err := New(far, big.NewRat(1, 1), false)
	require.NoError(t, err)
	got, err := p.ExpectedFlips(epsilon(t, "1"))
	require.NoError(t, err)
	holds(t, got, big.NewRat(51, 1), 1e-30)
	one, err := New([]int64{5, 5, 5}, big.NewRat(1, 1), false)
	require.NoError(t, err)
	got, err = one.ExpectedFlips(epsilon(t, "1"))
	require.NoError(t, err)
	holds(t, got, big.NewRat(1, 1), 0)

	rng := rand.New(rand.NewPCG(9, 1))
	scores := randomCounts(rng, 70, 12)
	scores[0] = 12
	want := flipsByTails(scores)
	eps := exponential(t, "3/2")
	if p, err = New(scores, half, false); assert.NoError(t, err) {
		got, err = p.ExpectedFlips(eps)
		require.NoError(t, err)
		holds(t, got, want, 1e-30)
		for head := 6; head <= len(p.counts); head++ { // also where the tail carries something
			flip := mechanisms.PermuteAndFlip().(mechanisms.Weighted)
			holds(t, encloseFlips(flip, p.weigh(half, eps, head)), want, 100)
		}
		estimate := p.estimateFlips(mechanisms.PermuteAndFlip().(mechanisms.Weighted), rate(half, eps))
		f, _ := want.Float64()
		assert.InEpsilon(t, f, estimate.Float64(), 1e-11)
	}
}

// One candidate, or several, in the tail that is bounded together.
func TestFlipsWithTail(t *testing.T) {
	flip := mechanisms.PermuteAndFlip().(mechanisms.Weighted)
	for others := range 3 {
		// The last of 2 + others is visited with probability ∫(1-t)(1-tw)^others dt, w = 16/81.
		p, err := New([][]int64{{0, -4}, {0, -4, -4}, {0, -4, -4, -4}}[others], half, false)
		require.NoError(t, err)
		w := big.NewRat(16, 81)
		want := []*big.Rat{half, new(big.Rat).Sub(half, new(big.Rat).Mul(w, big.NewRat(1, 6))), nil}[others]
		if want == nil { // 1/2 - w/3 + w²/12
			want = new(big.Rat).Mul(w, w)
			want.Mul(want, big.NewRat(1, 12)).Sub(want, new(big.Rat).Mul(w, big.NewRat(1, 3))).Add(want, half)
		}
		got := tailVisited(flip, p.weigh(half, exponential(t, "3/2"), 1))
		assert.True(t, got.Contains(want), "%v, %s", got, want)
	}
	for _, deep := range []int{1, 2, 30} {
		near := make([]int64, 80)
		for i := range near {
			near[i] = -1
		}
		for i := range deep {
			near[i] = -4 // the weight 16/81 < 1/4
		}
		near[79] = 0
		shallow, err := New(near, half, false)
		require.NoError(t, err)
		holds(t, encloseFlips(flip, shallow.weigh(half, exponential(t, "3/2"), 2)), flipsByTails(near), 100)
		scores := make([]int64, 80)
		for i := range deep {
			scores[i] = -1 << 30
		}
		for i := deep; i < 40; i++ {
			scores[i] = -1
		}
		p, err := New(scores, big.NewRat(1, 1), false)
		require.NoError(t, err)
		eps := epsilon(t, "1")
		got, err := p.ExpectedFlips(eps)
		require.NoError(t, err)
		require.True(t, got.IsRigorous())
		f := p.estimateFlips(flip, rate(big.NewRat(1, 1), eps)).Float64()
		assert.InEpsilon(t, f, got.Float64(), 1e-11)
	}
}
