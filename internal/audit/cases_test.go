package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// Bugs that are hard to find. Each is refuted by an audit at its defaults or with the budget that stands beside it.
func TestHardCases(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	pf := flipLaw(1)
	badAt := func(bad []float64) law {
		return func(q []float64) []float64 {
			p := softmaxLaw(1, 1)(q)
			if slices.Equal(q, bad) {
				p = make([]float64, len(q))
				p[0] = 1
			}
			return p
		}
	}
	for _, c := range []struct {
		name   string
		n, k   int
		budget int64
		law    law
	}{
		// One candidate at the top, all others tied far below: the others share too little.
		{"far ties", 10, 2, 1_000_000, func(q []float64) []float64 {
			sorted := slices.Clone(q)
			slices.Sort(sorted)
			n := len(q)
			p := softmaxLaw(1, 1)(q)
			if sorted[0] == sorted[n-2] && sorted[n-1]-sorted[0] >= 4 {
				top := slices.Index(q, sorted[n-1])
				for r := range p {
					if r != top {
						p[top] += p[r] * 0.9
						p[r] *= 0.1
					}
				}
			}
			return p
		}},
		{"one vector of 1141", 3, 19, 300_000, badAt([]float64{0, -6, -20})},
		{"a rare event", 3, 2, 10_000_000, func(q []float64) []float64 {
			p := softmaxLaw(1, 1)(q)
			if q[0] == q[1] { // takes the last candidate by mistake, now and then
				for r := range p {
					p[r] *= 1 - 1e-4
				}
				p[2] += 1e-4
			}
			return p
		}},
		{"twice the exponent", 10, 2, 100_000, softmaxLaw(1, 2)},
		{"first wins ties", 3, 2, 100_000, func(q []float64) []float64 {
			p := pf(q)
			if q[0] == q[1] {
				p[0], p[1] = p[0]+0.6*p[1], 0.4*p[1]
			}
			return p
		}},
	} {
		begin := time.Now()
		found := 0
		var needed []float64
		for i := range uint64(runs(8)) {
			seed := firstSeed() + i
			o := samplerOptions(t, "1", c.budget)
			o.N, o.K, o.Seed, o.UntilRefuted = c.n, c.k, seed, true
			r, err := draw(c.name, newLawSampler(c.law, seed), o)
			require.NoError(t, err)
			if r.Find(verify.DP).Verdict == verify.Violated {
				found++
				needed = append(needed, float64(r.Samples))
			}
			t.Logf("%s: %v %d samples, %v, %v", c.name, r.Find(verify.DP).Verdict, r.Samples, r.LowerBound, r.Find(verify.DP).Attained)
		}
		assert.GreaterOrEqual(t, 2*found, runs(8), "one vector of 1141 is found about every second time, the others nearly always")
		t.Logf("%s: refuted %d of %d, %v, %v", c.name, found, runs(8), needed, time.Since(begin))
	}
}
