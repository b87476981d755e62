package evaluate

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

func TestScoresByHand(t *testing.T) {
	// N = 5, A = 1, 1, 3, 5, B = 0, 1, 1, 3: N-2A = 3, 3, -1, -5 and 2B-N+1 = -4, -2, -2, 2.
	counts := []int64{1, 0, 2, 2}
	median, err := MedianScores(counts)
	require.NoError(t, err)
	assert.Equal(t, []int64{-3, -3, 0, -2}, median)
	// P = 3/4: aN - bA = 15-4, 15-4, 15-12, 15-20 and bB - aN + 1 = -14, -10, -10, -2, over m = 3, rounded up.
	upper, err := QuantileScores(counts, big.NewRat(3, 4))
	require.NoError(t, err)
	assert.Equal(t, []int64{-4, -4, -1, 0}, upper)
	none, err := MedianScores(make([]int64, 3))
	require.NoError(t, err)
	assert.Equal(t, []int64{-1, -1, -1}, none)
	folded, err := Fold([]int64{1, 2, 3, 4, 5, 6}, 3)
	require.NoError(t, err)
	assert.Equal(t, []int64{3, 7, 11}, folded)
}

func TestMedianIsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		counts := randomCounts(rng, 1+rng.IntN(12), 6)
		got, err := MedianScores(counts)
		require.NoError(t, err)
		assert.Equal(t, medianByCounting(counts), got, "%v", counts)
	}
}

// The sensitivities that the doc comments state: 1 for adding or removing an item, and for moving one 1 (mode) and 2 (quantiles). All are attained.
func TestSensitivity(t *testing.T) {
	quantiles := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4), big.NewRat(3, 4), big.NewRat(2, 7), big.NewRat(9, 10), big.NewRat(1, 3)}
	rng := rand.New(rand.NewPCG(2, 1))
	for q, p := range append([]*big.Rat{nil}, quantiles...) {
		scores := func(counts []int64) []int64 {
			if p == nil {
				return counts
			}
			s, err := QuantileScores(counts, p)
			require.NoError(t, err)
			return s
		}
		moved := func(a, b []int64) (most int64) {
			for i := range a {
				most = max(most, a[i]-b[i], b[i]-a[i])
			}
			return most
		}
		mostAdded, mostMoved := int64(0), int64(0)
		for range 200 {
			counts := randomCounts(rng, 2+rng.IntN(8), 5)
			before := scores(counts)
			for j := range counts {
				more := slices.Clone(counts)
				more[j]++
				added := scores(more)
				mostAdded = max(mostAdded, moved(before, added))
				if p == nil {
					for r := range added {
						assert.GreaterOrEqual(t, added[r], before[r], "the mode's scores are monotonic")
					}
				}
				for i := range counts {
					if more[i] > 0 && i != j {
						more[i]--
						mostMoved = max(mostMoved, moved(before, scores(more)))
						more[i]++
					}
				}
			}
		}
		assert.EqualValues(t, 1, mostAdded, "%v", p)
		assert.EqualValues(t, min(2, q+1), mostMoved, "%v", p)
	}
	// Why --monotonic-scores is refused for quantiles: one more item at the bottom raises one score and lowers another.
	before, _ := MedianScores([]int64{1, 1, 1})
	after, _ := MedianScores([]int64{2, 1, 1})
	assert.Equal(t, []int64{-1, 0, -2}, before)
	assert.Equal(t, []int64{0, -1, -3}, after)
}

// isQuantile reports whether r is the P-quantile, by its definition.
func isQuantile(counts []int64, r int, p *big.Rat) bool {
	total, below := int64(0), int64(0)
	for i, x := range counts {
		total += x
		if i < r {
			below += x
		}
	}
	at := new(big.Rat).Mul(p, new(big.Rat).SetInt64(total))
	return new(big.Rat).SetInt64(below).Cmp(at) < 0 && at.Cmp(new(big.Rat).SetInt64(below+counts[r])) <= 0
}

// leastEdits finds how many items must be added or removed before r is the P-quantile, by breadth-first search.
func leastEdits(counts []int64, r int, p *big.Rat) int64 {
	type node [3]int64
	start := node(counts)
	seen := map[node]bool{start: true}
	front := []node{start}
	for edits := int64(0); ; edits++ {
		var next []node
		for _, c := range front {
			if isQuantile(c[:], r, p) {
				return edits
			}
			for j := range c {
				for _, d := range []int64{1, -1} {
					to := c
					if to[j] += d; to[j] >= 0 && !seen[to] {
						seen[to] = true
						next = append(next, to)
					}
				}
			}
		}
		front = next
	}
}

// A score is minus the least number of items to add or remove, for bins that hold an item and for the median; for others it is at least that.
func TestScoresAreDistances(t *testing.T) {
	strict := 0
	for _, p := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 3), big.NewRat(3, 4)} {
		for code := range int64(5 * 5 * 5) {
			counts := []int64{code % 5, code / 5 % 5, code / 25}
			scores, err := QuantileScores(counts, p)
			require.NoError(t, err)
			for r := range counts {
				edits := leastEdits(counts, r, p)
				if counts[r] > 0 || p.Denom().Int64() == 2 {
					assert.Equal(t, -edits, scores[r], "%v %d %v", counts, r, p)
				} else {
					assert.GreaterOrEqual(t, scores[r], -edits, "%v %d %v", counts, r, p)
					if scores[r] > -edits {
						strict++
					}
				}
			}
		}
	}
	assert.Positive(t, strict, "empty bins are an exception")
}

func TestScoresRefuse(t *testing.T) {
	for _, p := range []*big.Rat{new(big.Rat), big.NewRat(1, 1), big.NewRat(-1, 2), big.NewRat(3, 2)} {
		_, err := QuantileScores([]int64{1}, p)
		assert.ErrorAs(t, err, new(number.InputError))
	}
	_, err := MedianScores([]int64{1, -1})
	assert.ErrorAs(t, err, new(number.InputError))
	_, err = MedianScores([]int64{MaxTotal, 1})
	assert.ErrorAs(t, err, new(number.InputError))
	_, err = QuantileScores([]int64{1 << 50}, big.NewRat(1, 1<<20))
	assert.ErrorAs(t, err, new(number.InputError))
	for _, bins := range []int{0, -1, 4} {
		_, err = Fold(make([]int64, 6), bins)
		assert.ErrorAs(t, err, new(number.InputError))
	}
}
