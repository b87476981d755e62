package worst

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number"
)

type found struct{ Error, Gap number.Number }

func worst(t *testing.T, m mechanisms.Mechanism, n int) found {
	w, err := New(n, half)
	require.NoError(t, err)
	most, gap, err := w.Worst(m, epsilon(t, "1")) // 2Δ/ε = 1
	require.NoError(t, err)
	return found{most, gap}
}

// The exponential mechanism's worst error is W((n-1)/e) in units of 2Δ/ε: W e^W = (n-1)/e changes sign across the enclosure of it.
func TestWorstIsLambert(t *testing.T) {
	for _, n := range []int{2, 3, 4, 10, 1000, 1_000_000, 1_000_000_000_000} {
		w := worst(t, mechanisms.Exponential(), n)
		target := number.FromInt(int64(n)-1, 300)
		for side, end := range []func(number.Number) (*big.Rat, bool){number.Number.Lower, number.Number.Upper} {
			r, ok := end(w.Error)
			require.True(t, ok)
			x := number.FromRat(r, 300)
			sign, known := x.Mul(number.Exp(x.Add(number.FromInt(1, 300)))).Sub(target).Sign()
			assert.True(t, known && sign == []int{-1, 1}[side], "n = %d: %s", n, w.Error)
		}
		lo, _ := w.Error.Lower()
		hi, _ := w.Error.Upper()
		width, _ := new(big.Rat).Sub(hi, lo).Float64()
		assert.Less(t, width, 1e-25)
		assert.InEpsilon(t, 1+w.Error.Float64(), w.Gap.Float64(), 1e-14)
	}
}

// No gap of a fine grid has a larger error than the worst, by the mechanisms' own probabilities, and at the gap that is named it has that error.
func TestWorstIsLargest(t *testing.T) {
	eps := epsilon(t, "1")
	for _, m := range []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip()} {
		for _, n := range []int{2, 3, 5, 20} {
			w := worst(t, m, n)
			most, _ := w.Error.Lower()
			at := func(gap *big.Rat) number.Number {
				scores := []*big.Rat{new(big.Rat)}
				for range n - 1 {
					scores = append(scores, new(big.Rat).Neg(gap))
				}
				a, err := mechanisms.Ask(m, &mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{half}, Epsilon: eps})
				require.NoError(t, err)
				return a.ExpectedError
			}
			for i := range int64(120) {
				lo, _ := at(big.NewRat(i, 10)).Lower()
				assert.Negative(t, lo.Cmp(most), "%s, n = %d, gap %d/10", m.Info().Name, n, i)
			}
			gap, _ := w.Gap.Lower()
			assert.InEpsilon(t, w.Error.Float64(), at(gap).Float64(), 1e-14)
		}
	}
}

// Other vectors of three and four scores are not worse: a grid of them.
func TestWorstShape(t *testing.T) {
	eps := epsilon(t, "1")
	for _, m := range []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip()} {
		for n := 3; n <= 4; n++ {
			bound := worst(t, m, n).Error.Float64()
			vectors := [][]int64{{0}}
			for range n - 1 {
				var more [][]int64
				for _, v := range vectors {
					for d := -v[len(v)-1]; d <= 8; d++ {
						more = append(more, append(append([]int64{}, v...), -d))
					}
				}
				vectors = more
			}
			for _, v := range vectors {
				p, err := evaluate.New(v, half, false)
				require.NoError(t, err)
				e, err := p.ExpectedError(m, eps)
				require.NoError(t, err)
				assert.LessOrEqual(t, e.Float64(), bound, "%v", v)
			}
		}
	}
}

// The worst errors are a factor 1.51389 apart at n = 2 and 1.0077 at 10⁶, and between the bounds of McKenna & Sheldon 2020, Prop. 1 and 5.
func TestWorstRatio(t *testing.T) {
	for n, want := range map[int]float64{2: 1.51389, 3: 1.42160, 1_000_000: 1.00775} {
		em, pf := worst(t, mechanisms.Exponential(), n), worst(t, mechanisms.PermuteAndFlip(), n)
		assert.InDelta(t, want, evaluate.Ratio(em.Error, pf.Error).Float64(), 5e-5)
		assert.Less(t, em.Error.Float64(), math.Log(float64(n)))
		assert.Greater(t, pf.Error.Float64(), math.Log(float64(n))/4)
	}
	// Errors scale with 2Δ/ε, and halve with monotonic scores.
	pf := mechanisms.PermuteAndFlip()
	one := worst(t, pf, 3).Error.Float64()
	for sensitivity, factor := range map[int64]float64{6: 12, 3: 6} {
		w, err := New(3, big.NewRat(sensitivity, 2))
		require.NoError(t, err)
		most, err := expected(w, pf, epsilon(t, "0.5"))
		require.NoError(t, err)
		assert.InEpsilon(t, factor*one, most.Float64(), 1e-14)
	}
}

func TestWorstRefuses(t *testing.T) {
	pf, one := mechanisms.PermuteAndFlip(), big.NewRat(1, 1)
	krr, err := mechanisms.Lookup("krr")
	require.NoError(t, err)
	w, err := New(3, one)
	require.NoError(t, err)
	_, err = expected(w, krr, epsilon(t, "1"))
	assert.ErrorIs(t, err, ErrNoWorst)
	_, err = expected(w, pf, epsilon(t, "0"))
	assert.ErrorAs(t, err, new(number.InputError))
	_, err = expected(w, pf, number.Epsilon{})
	assert.ErrorIs(t, err, number.ErrEpsilon)
	_, err = New(0, one)
	assert.ErrorAs(t, err, new(number.InputError))
	_, err = New(2, new(big.Rat))
	assert.ErrorAs(t, err, new(number.InputError))
	alone, err := New(1, one)
	require.NoError(t, err)
	most, err := expected(alone, pf, epsilon(t, "0"))
	require.NoError(t, err)
	holds(t, most, new(big.Rat), 0)
}

var half = big.NewRat(1, 2)

func epsilon(t testing.TB, text string) number.Epsilon {
	e, err := number.ParseEpsilon(text)
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

func expected(w *Case, m mechanisms.Mechanism, eps number.Epsilon) (number.Number, error) {
	most, _, err := w.Worst(m, eps)
	return most, err
}

// The table of worst errors in the document, in units of 2Δ/ε, is recomputed.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/worst-case.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \|$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 3)
	for _, row := range rows {
		n, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		em, pf := worst(t, mechanisms.Exponential(), n).Error.Float64(), worst(t, mechanisms.PermuteAndFlip(), n).Error.Float64()
		assert.Equal(t, row[2:], []string{fmt.Sprintf("%.6f", em), fmt.Sprintf("%.6f", pf), fmt.Sprintf("%.5f", em/pf)})
	}
}
