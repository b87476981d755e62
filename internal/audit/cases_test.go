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

// Bugs that are hard to find; TestFarTies has one more. Audits with the budget refute each of them.
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
		least  int // of four audits refute it
		law    law
	}{
		{"one vector of 1141", 3, 19, 300_000, 2, badAt([]float64{0, -6, -20})},
		{"a rare event", 3, 2, 10_000_000, 1, func(q []float64) []float64 {
			p := softmaxLaw(1, 1)(q)
			if q[0] == q[1] { // takes the last candidate by mistake, now and then
				for r := range p {
					p[r] *= 1 - 1e-4
				}
				p[2] += 1e-4
			}
			return p
		}},
		{"twice the exponent", 10, 2, 100_000, 3, softmaxLaw(1, 2)},
		{"first wins ties", 3, 2, 100_000, 3, func(q []float64) []float64 {
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
		for i := range uint64(runs(4)) {
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
		assert.GreaterOrEqual(t, 4*found, c.least*runs(4), c.name)
		t.Logf("%s: refuted %d of %d, %v, %v", c.name, found, runs(4), needed, time.Since(begin))
	}
}
