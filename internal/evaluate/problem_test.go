package evaluate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

var half = big.NewRat(1, 2)

func epsilon(t testing.TB, text string) number.Epsilon {
	e, err := number.ParseEpsilon(text)
	require.NoError(t, err)
	return e
}

func exponential(t testing.TB, text string) number.Epsilon {
	e, err := number.ParseExp(text)
	require.NoError(t, err)
	return e
}

// holds checks that an enclosure holds want and is narrower than rel of it.
func holds(t *testing.T, x number.Number, want *big.Rat, rel float64) {
	t.Helper()
	lo, ok := x.Lower()
	require.True(t, ok, "%v", x)
	hi, ok := x.Upper()
	require.True(t, ok, "%v", x)
	assert.True(t, lo.Cmp(want) <= 0 && want.Cmp(hi) <= 0, "%v does not hold %s", x, want.FloatString(30))
	width, _ := new(big.Rat).Sub(hi, lo).Float64()
	size, _ := want.Float64()
	assert.LessOrEqual(t, width, rel*size)
}

// Mode and median scores of small histograms: the errors are equal to the exact ones computed from definitions in O(n²). With monotonic scores, or with
// Δ = 1/2, a unit is a lattice step, so that e^ε = 3/2 makes everything rational.
func TestErrorsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	eps := exponential(t, "3/2")
	for range 60 {
		counts := randomCounts(rng, 1+rng.IntN(16), 7)
		median, err := MedianScores(counts)
		require.NoError(t, err)
		for task, scores := range [][]int64{counts, median} {
			p, err := New(scores, []*big.Rat{big.NewRat(1, 1), half}[task], task == 0)
			require.NoError(t, err)
			em, pf := errorsByExpansion(scores, big.NewRat(2, 3))
			for m, want := range map[mechanisms.Mechanism]*big.Rat{mechanisms.Exponential(): em, mechanisms.PermuteAndFlip(): pf} {
				got, err := p.ExpectedError(m, eps)
				require.NoError(t, err)
				exact, ok := got.Rat()
				require.True(t, ok)
				assert.Zero(t, exact.Cmp(want), "%s on %v: %s, want %s", m.Info().Name, scores, exact, want)
			}
		}
	}
}

// Larger ones, where classes of equal scores are enclosed; with Δ = 1 and e^ε = 9/4 a unit has the weight 2/3, which only the oracle knows.
func TestErrorsAreEnclosed(t *testing.T) {
	slowtest.Only(t)
	rng := rand.New(rand.NewPCG(4, 1))
	eps := exponential(t, "9/4")
	for _, size := range []struct{ bins, most int }{{65, 1}, {66, 2}, {303, 1}} {
		counts := randomCounts(rng, size.bins, size.most)
		median, err := MedianScores(counts)
		require.NoError(t, err)
		for task, scores := range [][]int64{counts, median} {
			if task == 1 && size.bins > 100 {
				continue // fractions of many thousand digits
			}
			p, err := New(scores, big.NewRat(1, 1), false)
			require.NoError(t, err)
			em, pf := errorsByExpansion(scores, big.NewRat(2, 3))
			for m, want := range map[mechanisms.Mechanism]*big.Rat{mechanisms.Exponential(): em, mechanisms.PermuteAndFlip(): pf} {
				got, err := p.ExpectedError(m, eps)
				require.NoError(t, err)
				holds(t, got, want, 1e-25)
			}
		}
	}
}

// The tail of deep candidates is bounded, not dropped: with a tail that carries something, enclosures are wide and still right.
func TestTailIsEnclosed(t *testing.T) {
	slowtest.Only(t)
	rng := rand.New(rand.NewPCG(5, 1))
	scores := randomCounts(rng, 66, 20)
	p, err := New(scores, half, false)
	require.NoError(t, err)
	em, pf := errorsByExpansion(scores, big.NewRat(2, 3))
	eps := exponential(t, "3/2")
	exact := map[mechanisms.Mechanism][]*big.Rat{} // the probability of one candidate of each class
	for _, m := range []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip()} {
		weights := make([]*big.Rat, len(p.counts))
		for g := range weights {
			weights[g], _ = eps.ExpNegRat(p.gap(g))
		}
		exact[m] = m.(interface {
			WeightedExact([]*big.Rat, []int) []*big.Rat
		}).WeightedExact(weights, p.counts)
	}
	for head := 5; head < len(p.counts); head++ {
		for m, want := range map[mechanisms.Mechanism]*big.Rat{mechanisms.Exponential(): em, mechanisms.PermuteAndFlip(): pf} {
			c, w := p.weigh(half, eps, head), m.(weighted)
			holds(t, p.enclose(w, c), want, 100)
			for g, x := range w.WeightedEnclose(c.weights, c.counts)[:len(c.gaps)] {
				assert.True(t, x.Contains(exact[w][g]), "%s, class %d", m.Info().Name, g)
			}
		}
	}
	c := p.weigh(half, eps, 1)
	assert.Len(t, c.gaps, len(p.counts), "the first tail weight is above e^-1: there is no tail")
}

// Estimates state their error; many different scores make one.
func TestEstimateIsAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	scores := make([]int64, 3000)
	for i := range scores {
		scores[i] = int64(rng.IntN(1 << 20))
	}
	p, err := New(scores, big.NewRat(1, 1), false)
	require.NoError(t, err)
	for _, text := range []string{"0.00001", "0.0003", "0.01"} {
		eps := epsilon(t, text)
		for _, m := range []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip()} {
			enclosed, err := p.ExpectedError(m, eps)
			require.NoError(t, err)
			require.True(t, enclosed.IsRigorous())
			estimate := p.estimate(m.(weighted), rate(p.sensitivity, eps))
			assert.False(t, estimate.IsRigorous())
			_, stated, ok := strings.Cut(estimate.Method(), "relative error below ")
			require.True(t, ok, estimate.Method())
			most, err := strconv.ParseFloat(stated, 64)
			require.NoError(t, err)
			assert.Less(t, most, 1e-10)
			assert.InEpsilon(t, enclosed.Float64(), estimate.Float64(), most, "%s at %s", m.Info().Name, text)
		}
	}
}

func TestTooManyClassesAreEstimated(t *testing.T) {
	scores := make([]int64, mostClasses+2)
	for i := range scores {
		scores[i] = -int64(i) - 1
	}
	scores[0] = 0
	p, err := New(scores, big.NewRat(1, 1), false)
	require.NoError(t, err)
	got, err := p.ExpectedError(mechanisms.PermuteAndFlip(), epsilon(t, "0.001"))
	require.NoError(t, err)
	assert.False(t, got.IsRigorous())
	// The same scores so far below the best that float64 has no weights for them, but close to each other: a bound.
	deep := slices.Clone(scores)
	for i := range deep[1:] {
		deep[i+1] -= 1 << 40
	}
	if p, err = New(deep, big.NewRat(1, 1), false); assert.NoError(t, err) {
		got, err = p.ExpectedError(mechanisms.PermuteAndFlip(), epsilon(t, "0.001"))
		require.NoError(t, err)
		assert.True(t, got.IsRigorous())
		hi, _ := got.Upper()
		assert.Less(t, new(big.Float).SetRat(hi).MantExp(nil), -30_000)
	}
}

func TestDegenerateProblems(t *testing.T) {
	eps := epsilon(t, "1")
	pf := mechanisms.PermuteAndFlip()
	same, err := New(make([]int64, 100), big.NewRat(1, 1), false)
	require.NoError(t, err)
	got, err := same.ExpectedError(pf, eps)
	require.NoError(t, err)
	holds(t, got, new(big.Rat), 0)
	// At ε = 0 the choice is uniform: (0 + 1 + … + 99)/100.
	ramp := make([]int64, 100)
	for i := range ramp {
		ramp[i] = int64(i)
	}
	uniform, err := New(ramp, big.NewRat(1, 1), false)
	require.NoError(t, err)
	got, err = uniform.ExpectedError(pf, epsilon(t, "0"))
	require.NoError(t, err)
	holds(t, got, big.NewRat(99, 2), 0)
	for _, bad := range [][]int64{nil, {math.MinInt64, 0}, {0, math.MaxInt64}} {
		_, err = New(bad, big.NewRat(1, 1), false)
		assert.ErrorAs(t, err, new(number.InputError))
	}
	_, err = New([]int64{1}, new(big.Rat), false)
	assert.ErrorAs(t, err, new(number.InputError))
	_, err = same.ExpectedError(pf, number.Epsilon{})
	assert.ErrorIs(t, err, number.ErrEpsilon)
}

// Rational scores give what the same scores times a common denominator give, with that many times the sensitivity.
func TestRationalScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	ints := randomCounts(rng, 100, 50)
	sixths := make([]*big.Rat, len(ints))
	for i, q := range ints {
		sixths[i] = big.NewRat(q, 6)
	}
	a, err := NewRational(sixths, big.NewRat(1, 6), false)
	require.NoError(t, err)
	b, err := New(ints, big.NewRat(1, 1), false)
	require.NoError(t, err)
	assert.Equal(t, b.counts, a.counts)
	assert.Equal(t, b.Classes(), a.Classes())
	eps, pf := epsilon(t, "0.3"), mechanisms.PermuteAndFlip()
	x, err := a.ExpectedError(pf, eps)
	require.NoError(t, err)
	y, err := b.ExpectedError(pf, eps)
	require.NoError(t, err)
	assert.InEpsilon(t, y.Float64(), 6*x.Float64(), 1e-14)
	assert.True(t, x.IsRigorous())
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))
	_, err = NewRational([]*big.Rat{huge, new(big.Rat)}, big.NewRat(1, 1), false)
	assert.ErrorAs(t, err, new(number.InputError))
}
