package audit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// turning draws from one law, and from another one after so many samples.
type turning struct {
	lawSampler
	after int64
	then  law
}

func (s *turning) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	if s.asked >= s.after {
		s.law, s.known = s.then, map[string][]float64{}
	}
	return s.lawSampler.Sample(q, samples)
}

// A sampler that draws from another law later is found out, whatever it looks like: no ε is concluded. One that does not is not, more often than it may be.
func TestSamplersThatChange(t *testing.T) {
	private, other := softmaxLaw(1, 1), softmaxLaw(1, 3)
	seeds, leasts := uint64(3), map[int64]int{30_000: 2}
	if slowtest.Enabled {
		seeds, leasts = 6, map[int64]int{30_000: 4, 100_000: 6}
	}
	for budget, least := range leasts {
		found := 0
		for seed := range seeds {
			o := samplerOptions(t, "1", budget)
			o.Seed = seed
			s := &turning{*newLawSampler(private, seed), budget / 2, other}
			r, err := draw("turning", s, o)
			require.NoError(t, err)
			require.LessOrEqual(t, r.Samples, budget)
			independent := r.Find(Independence)
			if independent.Verdict == verify.Violated {
				found++
				require.Contains(t, independent.Reason, ": asked ")
				require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
				require.Equal(t, "0", r.LowerBound.String())
				require.Nil(t, r.Witness)
			}
			r, err = draw("the same", newLawSampler(private, seed), o)
			require.NoError(t, err)
			require.NotEqual(t, verify.Violated, r.Find(Independence).Verdict)
		}
		assert.GreaterOrEqual(t, found, least, "%d", budget)
	}
}

// The mean of what the bets on early and late samples pay is at most 1 for every distribution, summed over all counts of two pairs: so it exceeds x with probability
// 1/x at most.
func TestLateBetsAreFair(t *testing.T) {
	const n, more = 5, 6
	for _, p := range [][]float64{{0.5, 0.5}, {0.2, 0.3, 0.5}, {0.01, 0.09, 0.9}, {1, 0}} {
		type seen struct {
			counts []int64
			p      float64
		}
		var all []seen
		listed := func(n int64, fill func([]int64, int64, float64)) []seen {
			all = nil
			fill(nil, n, 1)
			return all
		}
		var fill func(counts []int64, left int64, p0 float64)
		fill = func(counts []int64, left int64, q float64) {
			r := len(counts)
			if r == len(p)-1 {
				counts = append(slices.Clone(counts), left)
				all = append(all, seen{counts, q * math.Pow(p[r], float64(left))})
				return
			}
			for c := range left + 1 {
				fill(append(slices.Clone(counts), c), left-c, q*math.Pow(p[r], float64(c))*math.Exp(logChoose(left, c)))
			}
		}
		type pair struct{ p, log float64 }
		var pairs []pair
		late := listed(more, fill)
		for _, a := range listed(n, fill) {
			for _, b := range late {
				d := dated{drawn: n, counts: a.counts, late: b.counts}
				pairs = append(pairs, pair{a.p * b.p, d.logPays()})
			}
		}
		mean := 0.0
		for _, a := range pairs {
			for _, b := range pairs {
				mean += a.p * b.p * worth([]float64{a.log, b.log})
			}
		}
		require.LessOrEqual(t, mean, 1.0, fmt.Sprint(p))
		require.Greater(t, mean, 0.99)
	}
}
