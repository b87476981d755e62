//go:build unix

package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/verify"
)

// Where nothing is answered, whatever comes instead, nothing is proved and no tight ε is named: not by a program, nor by a mechanism of this process.
func TestNothingAnsweredIsNothingProved(t *testing.T) {
	o := tableOptions(t)
	o.Properties = verify.All()
	o.N, o.program.Timeout = 1, time.Minute
	undecided := func(r *Report, err error) {
		t.Helper()
		require.NoError(t, err)
		for _, p := range r.Properties {
			if p.Name == Answers {
				require.Equal(t, verify.Violated, p.Verdict)
				continue
			}
			require.Equal(t, verify.Undecided, p.Verdict, "%v", p)
		}
		require.False(t, r.TightEps.IsValid(), "%v", r)
		require.Zero(t, r.Find(verify.DP).Checked)
	}
	for _, answer := range []string{`{"error":"no"}`, `{"pmf":[NaN]}`, `{"pmf":[1,0,0,0]}`} {
		undecided(pmfOf(context.Background(), fmt.Sprintf("while read q; do echo '%s'; done", answer), o))
	}
	em := mechanisms.Exponential()
	undecided(Mechanism(context.Background(), mechanisms.FromRational(em.Info(), func(*mechanisms.Instance) ([]*big.Rat, error) {
		return nil, errors.New("never")
	}), o))
}

// uniformly answers about two candidates, but for what a shell pattern for the question says.
func uniformly(pattern, instead string) string {
	return fmt.Sprintf(`while read q; do case $q in %s) %s;; *,*,*,*,*) echo '{"pmf":["1/2","1/2"]}';; *) echo '{"pmf":[1]}';; esac; done`, pattern, instead)
}

// A failure that comes again at one of two neighbors, and not at the other, violates dp, whatever it is; one that does not come again
// leaves it undecided, at once or later.
func TestFailuresAsEvents(t *testing.T) {
	here := "*[[]0,0]*"
	o := tableOptions(t)
	o.N, o.K, o.program.Timeout, o.Properties = 2, 1, time.Minute, []verify.Property{verify.DP}
	for instead, verdict := range map[string]verify.Verdict{
		`echo '{"error":"ties"}'`:      verify.Violated,
		`echo '{"pmf":[NaN,NaN]}'`:     verify.Violated,
		`exit 3`:                       verify.Violated,
		`exec sleep 100`:               verify.Violated,
		`echo '{"pmf":["1/2","1/2"]}'`: verify.Proved,
		// Each of these fails so many times and answers then: when it is asked at once, by another pair, when everything else was asked.
		`failing 1`: verify.Undecided,
		`failing 2`: verify.Undecided,
		`failing 3`: verify.Undecided,
	} {
		t.Run(instead, func(t *testing.T) {
			t.Parallel()
			patience := []time.Duration{time.Minute}
			if instead == `exec sleep 100` {
				patience = []time.Duration{200 * time.Millisecond, time.Second, 10 * time.Second} // longer where a busy machine is late with other answers, too
			}
			command := uniformly(here, instead)
			var times int
			if n, _ := fmt.Sscanf(instead, "failing %d", &times); n == 1 {
				count := filepath.Join(t.TempDir(), "count")
				command = uniformly(here, fmt.Sprintf(
					`if test $(cat %[1]s 2>/dev/null | wc -l) -lt %[2]d; then echo >>%[1]s; echo '{"error":"busy"}'; else echo '{"pmf":["1/2","1/2"]}'; fi`, count, times))
			}
			o := o
			var r *Report
			var dp *verify.Result
			for _, o.program.Timeout = range patience {
				var err error
				r, err = pmfOf(context.Background(), command, o)
				require.NoError(t, err)
				if dp = r.Find(verify.DP); dp.Verdict == verdict {
					break
				}
			}
			require.Equal(t, verdict, dp.Verdict, "%s: %v", instead, r)
			switch verdict {
			case verify.Violated:
				require.True(t, r.TightEps.IsInf())
				require.Equal(t, "error", dp.Witness.Event)
				require.Equal(t, "(0, 0)", inquiry.ScoresText(dp.Witness.Scores))
				require.NotEqual(t, "(0, 0)", inquiry.ScoresText(dp.Witness.Neighbor))
			case verify.Undecided:
				require.Nil(t, dp.Witness)
				require.Equal(t, verify.Violated, r.Find(Answers).Verdict, "%s", instead)
			}
		})
	}
}

// What a program answers about fewer candidates than the domain has is no part of the domain where it never answers that.
func TestOtherNumbersOfCandidatesAreNoEvents(t *testing.T) {
	o := tableOptions(t)
	o.N, o.K, o.program.Timeout, o.Properties = 2, 1, time.Minute, []verify.Property{verify.DP}
	command := `while read q; do case $q in *,*,*,*,*) echo '{"pmf":["1/2","1/2"]}';; *) echo '{"error":"two, please"}';; esac; done`
	r, err := pmfOf(context.Background(), command, o)
	require.NoError(t, err)
	require.Equal(t, verify.Proved, r.Find(verify.DP).Verdict, "%v", r)
	require.Empty(t, r.Findings)
}

// refusing draws from the exponential mechanism with a factor in its exponent, and does not answer with a probability that depends on the scores and on how often it was asked.
type refusing struct {
	lawSampler
	refuses func(q inquiry.Vector, asked int64) float64
}

func (s *refusing) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	if s.asked++; s.rng.Float64() < s.refuses(q, s.asked) {
		return nil, "no", nil
	}
	return s.lawSampler.Sample(q, samples)
}

// What a sampler does not answer is an event as likely at one of two neighbors as it is seen to be, in questions for one sample: a refusal on one side violates dp and every
// δ below 1, one that comes and goes, comes everywhere, or is for ever after a while does not, and nothing is silently in order.
func TestSamplersThatDoNotAnswer(t *testing.T) {
	leads := func(q inquiry.Vector) bool { return q[0] > max(q[1], q[2]) }
	audited := func(seed uint64, until bool, delta *big.Rat, refuses func(q inquiry.Vector, asked int64) float64) *Report {
		o := samplerOptions(t, "1", 3000)
		o.Seed, o.UntilRefuted, o.Targets = seed, until, atDelta(delta)
		s := &refusing{*newLawSampler(softmaxLaw(1, 0.1), seed), refuses}
		r, err := draw("refusing", s, o)
		require.NoError(t, err)
		require.LessOrEqual(t, r.Samples, o.Budget)
		return r
	}
	oneSided := func(q inquiry.Vector, _ int64) float64 {
		if leads(q) {
			return 1
		}
		return 0
	}
	for _, until := range []bool{false, true} {
		r := audited(1, until, nil, oneSided)
		dp := r.Find(verify.DP)
		require.Equal(t, verify.Violated, dp.Verdict, "%v: %v, %d", until, dp, r.Samples)
		require.Equal(t, "error", dp.Witness.Event)
		require.Greater(t, r.LowerBound.Float64(), 1.0)
	}
	r := audited(1, false, big.NewRat(9, 10), oneSided)
	require.Equal(t, verify.Violated, r.Find(verify.ApproximateDP).Verdict)
	require.Greater(t, r.DeltaBound.Float64(), 0.9)
	alarms, seeds := 0, uint64(4)
	if slowtest.Enabled {
		seeds = 20
	}
	for seed := range seeds {
		// The refusal is as likely as ε = 1 allows where candidate 0 leads.
		if audited(seed, seed%2 == 0, nil, func(q inquiry.Vector, _ int64) float64 {
			if leads(q) {
				return 0.6
			}
			return 0.6 / 2.7182818
		}).Find(verify.DP).Verdict == verify.Violated {
			alarms++
		}
	}
	require.LessOrEqual(t, alarms, int(max(1, seeds/7)))
	for name, refuses := range map[string]func(q inquiry.Vector, asked int64) float64{
		"now and then":  func(inquiry.Vector, int64) float64 { return 0.3 },
		"always":        func(inquiry.Vector, int64) float64 { return 1 },
		"after a while": func(_ inquiry.Vector, asked int64) float64 { return float64(min(1, asked/100)) },
	} {
		for seed := range uint64(6) {
			dp := audited(seed, seed%2 == 0, nil, refuses).Find(verify.DP)
			require.Equal(t, verify.Undecided, dp.Verdict, name)
			require.Contains(t, dp.Reason, "score vectors were not answered", name)
		}
	}
}

// A program that says of every question that it failed is why nothing is decided, whatever is asked for.
func TestOnlyFailures(t *testing.T) {
	for _, p := range []verify.Property{verify.DP, verify.ZCDP, verify.RDP, verify.Symmetry} {
		o := Options{Epsilon: epsilon(t, "1"), N: 2, K: 1, Properties: []verify.Property{p}}
		r, err := pmfOf(context.Background(), `while read -r q; do echo '{"error":"no"}'; done`, o)
		require.NoError(t, err)
		found := r.Find(p)
		require.Equal(t, verify.Undecided, found.Verdict)
		require.Equal(t, "the program failed 10 times and never answered with probabilities", found.Reason)
		require.Equal(t, verify.Violated, r.Find(Answers).Verdict)
	}
}

// TestOverflowsAreExplained: what exp of far scores comes to is told with its remedy, and nothing else is.
func TestOverflowsAreExplained(t *testing.T) {
	o := tableOptions(t)
	for _, c := range []struct {
		best   int64
		detail string
		want   bool
	}{
		{3000, `said error: "OverflowError('math range error')"`, true},
		{-3000, "exit status 1: ZeroDivisionError: float division by zero", true},
		{3000, `answered "{\"pmf\":[NaN]}", which holds NaN`, true},
		{3000, "the question was not answered", false},
		{0, "which holds NaN", false},
	} {
		f := Finding{Detail: c.detail, Scores: []*big.Rat{big.NewRat(c.best-5000, 1), big.NewRat(c.best, 1)}}
		require.Equal(t, c.want, o.overflows(f), c.detail)
	}
	require.False(t, o.overflows(Finding{Detail: "NaN"}))
	o.N, o.K, o.program.Timeout, o.Properties = 2, 1, time.Minute, []verify.Property{verify.DP}
	o.Vectors = [][]*big.Rat{{big.NewRat(3000, 1), big.NewRat(2999, 1)}}
	r, err := pmfOf(context.Background(), uniformly("*[[]3000*", `echo '{"error":"OverflowError"}'`), o)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(r.Findings), "; subtract the best score before exp")
}
