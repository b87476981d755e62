package verify

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// TestOthersMayNotGain: the first candidate's score rises alone, and it keeps its probability; that the second gains is a violation all the same, as is
// that it would lose where all others' scores fall.
func TestOthersMayNotGain(t *testing.T) {
	q, o := inquiry.Vector{0, 0, 0}, inquiry.Vector{1, 0, 0}
	even, gained, fair := pmf("1/3", "1/3", "1/3"), pmf("1/3", "1/2", "1/6"), pmf("1/2", "1/4", "1/4")
	for _, c := range []struct {
		after *inquiry.Answer
		want  Verdict
	}{{gained, Violated}, {fair, Proved}, {even, Proved}, {pmf("1/4", "1/3", "5/12"), Violated}} {
		d, subject := asked([][2]inquiry.Vector{{q, o}}, map[string]*inquiry.Answer{"[0 0 0]": even, "[1 0 0]": c.after})
		report, err := ask(context.Background(), subject, subject, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{Monotone}})
		require.NoError(t, err)
		r := report.Find(Monotone)
		assert.Equal(t, c.want, r.Verdict, r)
		if c.after == gained {
			require.NotNil(t, r.Witness)
			assert.Equal(t, 1, *r.Witness.Candidate)
		}
	}
}

// TestWhatIsNeverChosenHasNoRatio: a candidate with the probability 0 at both neighbours adds nothing to privacy or its range, 5/4 · 6/5 = 3/2.
func TestWhatIsNeverChosenHasNoRatio(t *testing.T) {
	q, o := inquiry.Vector{0, 0, 0}, inquiry.Vector{1, 1, 1}
	d, subject := asked([][2]inquiry.Vector{{q, o}}, map[string]*inquiry.Answer{"[0 0 0]": pmf("1/2", "1/2", "0"), "[1 1 1]": pmf("2/5", "3/5", "0")})
	report, err := ask(context.Background(), subject, subject, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{DP, BoundedRange, RDP, ZCDP}})
	require.NoError(t, err)
	assert.Equal(t, Proved, report.Find(RDP).Verdict)
	assert.Equal(t, Proved, report.Find(ZCDP).Verdict)
	assert.Equal(t, Proved, report.Find(DP).Verdict)
	assert.Equal(t, "5/4", report.Find(DP).TightExpEps.RatString())
	assert.Equal(t, Proved, report.Find(BoundedRange).Verdict)
	assert.InDelta(t, 0.4054651081, report.Find(DP).Range.Float64(), 1e-9)
}

// TestStoppedIsNotProved: whatever number of comparisons a property is stopped after, it is proved only if none is left.
func TestStoppedIsNotProved(t *testing.T) {
	p := problem(t, "em", "3/2")
	for _, property := range All() {
		whole, err := Lattice(context.Background(), p, 3, 2, Options{Properties: []Property{property}})
		require.NoError(t, err)
		all := whole.Find(property).Checked
		require.Equal(t, Proved, whole.Find(property).Verdict, property)
		require.Greater(t, all, int64(3), property)
		for limit := int64(1); limit <= all; limit += 1 + limit/3 {
			r, err := Lattice(context.Background(), p, 3, 2, Options{Properties: []Property{property}, limit: limit})
			require.NoError(t, err)
			got := r.Find(property)
			if got.Checked < all {
				require.NotEqual(t, Proved, got.Verdict, "%s after %d of %d", property, got.Checked, all)
			}
		}
	}
}

// TestProvedIsNotAboveTheClaim: where ε-DP is proved at an irrational e^ε, no end of what is printed as the tight ε is above ε.
func TestProvedIsNotAboveTheClaim(t *testing.T) {
	for _, name := range []string{"pf", "em", "krr", "rnm-exponential"} {
		for _, eps := range []string{"0.3", "0.7", "1.1"} {
			p := problem(t, name, "0")
			var err error
			p.Epsilon, err = number.ParseEpsilon(eps)
			require.NoError(t, err)
			r, err := Lattice(context.Background(), p, 2, 2, Options{Properties: []Property{DP}})
			require.NoError(t, err)
			if dp := r.Find(DP); dp.Verdict == Proved {
				hi, ok := dp.TightEps.Upper()
				require.True(t, ok)
				assert.LessOrEqual(t, hi.Cmp(rational(eps)), 0, "%s at %s", name, eps)
			}
		}
	}
}

// TestRangeNamesBothCandidates: the witness of a range that is too large has the candidate of the largest ratio, here 2, and that of the least, 1/2.
func TestRangeNamesBothCandidates(t *testing.T) {
	q, o := inquiry.Vector{0, 0, 0}, inquiry.Vector{1, 1, 1}
	d, subject := asked([][2]inquiry.Vector{{q, o}}, map[string]*inquiry.Answer{"[0 0 0]": pmf("1/2", "1/4", "1/4"), "[1 1 1]": pmf("1/4", "1/4", "1/2")})
	report, err := ask(context.Background(), subject, subject, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{BoundedRange}})
	require.NoError(t, err)
	r := report.Find(BoundedRange)
	require.Equal(t, Violated, r.Verdict)
	assert.Equal(t, []int{0, 2}, []int{*r.Witness.Candidate, *r.Witness.NeighborCandidate})
}
