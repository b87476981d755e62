package audit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// refutes reports whether an audit of a sampler refutes ε = 1.
func refutes(t *testing.T, w wrongSampler, n int, seed uint64, budget int64, until bool) bool {
	t.Helper()
	o := samplerOptions(t, "1", budget)
	o.N, o.Seed, o.UntilRefuted = n, seed, until
	r, err := draw(w.name, newLawSampler(w.law(n), seed+500), o)
	require.NoError(t, err)
	require.LessOrEqual(t, r.Samples, budget)
	return r.Find(verify.DP).Verdict == verify.Violated
}

// What is found with some samples is found with ten times as many, up to chance: of as many audits as there are seeds, each of other numbers of candidates, at most a tenth
// find less. With a million, of which an audit draws what it needs, all is found.
func TestMoreSamplesNeverFindLess(t *testing.T) {
	seeds, budgets, mostN := 1, []int64{10_000, 100_000}, 4
	if slowtest.Enabled {
		seeds, budgets, mostN = runs(1), []int64{10_000, 100_000, 1_000_000}, 8 // AUDIT_RUNS=20: an hour of one core
	}
	for i, w := range wrongSamplers {
		if !slowtest.Enabled && i%3 > 0 {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			lost, found := 0, make([]int, len(budgets))
			for i := range seeds {
				seed, before := firstSeed()+uint64(i), false
				n := 4 + (i+1)%(mostN-3)
				for at, budget := range budgets {
					is := refutes(t, w, n, seed, budget, budget == 1_000_000)
					if before && !is {
						lost++
						t.Logf("n = %d, seed %d: less with %d samples", n, seed, budget)
					}
					if before = is; is {
						found[at]++
					}
				}
			}
			t.Logf("found %v of %d; %d times less with more", found, seeds, lost)
			assert.LessOrEqual(t, lost, seeds/10)
			assert.GreaterOrEqual(t, found[len(budgets)-1], seeds-seeds/10)
		})
	}
}

// An audit that ends with the refutation is as strong, also where the fault is small: of 40 audits it loses two at most.
func TestUntilRefutedIsAsStrong(t *testing.T) {
	slowtest.Only(t)
	factor, found, until, seeds := 1.2, 0, 0, runs(10)
	w := wrongSampler{"more than ε", of(softmaxLaw(1, factor))}
	for i := range uint64(seeds) {
		if refutes(t, w, 4, firstSeed()+i, 100_000, false) {
			found++
		}
		if refutes(t, w, 4, firstSeed()+i, 100_000, true) {
			until++
		}
	}
	t.Logf("of %d audits %d refute at the end of the budget, %d before", seeds, found, until)
	assert.GreaterOrEqual(t, until, found-max(1, seeds/20))
}

// Right samplers are refuted in at most 5 % of the audits, also those that prefer some candidates.
func TestRightSamplersAreNotRefuted(t *testing.T) {
	slowtest.Only(t)
	refuted, audits := 0, 0 // six audits, and TestFalseAlarms has three dozen, of up to 100,000 samples
	for at, w := range rightSamplers {
		for i := range runs(1) {
			n, budget := 4+i%5, []int64{10_000, 30_000}[(at+i)%2]
			if audits++; refutes(t, w, n, firstSeed()+uint64(i), budget, i%2 == 1) {
				refuted++
				t.Logf("%s, n = %d, seed %d, %d samples", w.name, n, i, budget)
			}
		}
	}
	assert.LessOrEqual(t, refuted, max(1, audits/20), "of %d", audits)
}
