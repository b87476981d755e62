package audit

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// TestTieIsTheBestExplanation: of all pairs h and h/c, tie returns one that no other on a grid explains better.
func TestTieIsTheBestExplanation(t *testing.T) {
	for _, c := range []float64{1.1, 1.5, 3, 20} {
		for _, p := range []float64{0.05, 0.3, 0.6, 0.95} {
			for _, o := range []float64{0.01, 0.2, 0.5} {
				for _, r := range []ratio{{1, 1}, {1, 3}, {4, 1}} {
					likelihood := func(h float64) float64 {
						return float64(r.at)*(p*math.Log(h)+(1-p)*math.Log1p(-h)) + float64(r.near)*(o*math.Log(h/c)+(1-o)*math.Log1p(-h/c))
					}
					h := c * tie(p, o, claim{c, 0}, r)
					require.True(t, 0 < h && h <= 1, h)
					best := likelihood(min(h, 1-1e-12))
					for i := 1; i < 1000; i++ {
						require.LessOrEqual(t, likelihood(float64(i)/1000), best+1e-9, "c = %v, p = %v, o = %v, %v: %v against %v", c, p, o, r, h, float64(i)/1000)
					}
				}
			}
		}
	}
}

// TestResultOfIndependence: what is said, and from when on.
func TestResultOfIndependence(t *testing.T) {
	var s independence
	assert.Equal(t, verify.Undecided, s.result().Verdict)
	assert.Equal(t, "no question was answered twice in a way that could tell", s.result().Reason)
	times := 0
	for !s.broken {
		s.compare([]int64{30, 40, 30}, []int64{30, 40, 30}, 100, func() string { return []string{"here", "later"}[min(times, 1)] }) // the first of what is equally unlikely is the example
		if times++; times > 100 {
			t.Fatal("a sampler that repeats itself is believed")
		}
	}
	res := s.result()
	assert.Equal(t, verify.Violated, res.Verdict)
	assert.Contains(t, res.Reason, "p < 1/1000: here")
	assert.Contains(t, res.Reason, fmt.Sprintf("(%d of %d times the same counts twice)", times, times))
	assert.Equal(t, int64(times), res.Checked)
	assert.Greater(t, s.logs[repeating], math.Log(1000))
}

// TestLevelsPrintWell: a level of ε has at most four digits, and the weights of the stakes sum to 1 at most, most of it on the smallest stake
// of a patient player.
func TestLevelsPrintWell(t *testing.T) {
	for _, eps := range []string{"0.001", "0.5", "1", "7.3", "20"} {
		for _, patient := range []bool{false, true} {
			w := newWealth(epsilon(t, eps), big.NewRat(1, 20), patient)
			for _, l := range w.levels {
				if l.value == nil {
					continue
				}
				digits, exact := l.value.FloatPrec()
				require.True(t, exact)
				text := strings.Trim(strings.Replace(l.value.FloatString(digits), ".", "", 1), "0")
				require.LessOrEqual(t, len(text), 4, l.value.FloatString(digits))
			}
			sum := 0.0
			for _, x := range w.weights {
				sum += x
			}
			require.LessOrEqual(t, sum, 1.0)
			require.Greater(t, sum, 0.7)
			require.Equal(t, patient, w.weights[0] > sum/2)
		}
	}
}

// TestNoBetLeavesTheWealth: where an event is no likelier than a level allows, the level's wealth stays what it is.
func TestNoBetLeavesTheWealth(t *testing.T) {
	for _, n := range []counts{{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 1, 1}, {10, 3, 10, 9}} {
		require.Zero(t, noBet.log(n))
		require.Zero(t, noBet.enclose(n).Lo().Sign())
		require.Zero(t, noBet.enclose(n).Hi().Sign())
	}
	w := newWealth(epsilon(t, "1"), big.NewRat(1, 20), false)
	w.open(0.3, 0.3, 0, ratio{1, 1}, 100)
	var before []float64
	for _, l := range w.levels {
		before = append(before, w.total(l))
	}
	w.settle(counts{10, 3, 10, 9})
	for i, l := range w.levels {
		require.InDelta(t, before[i], w.total(l), 1e-12)
	}
}
