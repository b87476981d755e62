package audit

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// softmax draws from the exponential mechanism with its exponent multiplied, by inversion of float64
// probabilities: good enough to be audited.
type softmax struct {
	eps, factor float64
	rng         *rand.Rand
	asked       int64
	unit        float64 // of scores to Δ
}

func (s *softmax) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	s.asked += samples
	weights, total := make([]float64, len(q)), 0.0
	for r, x := range q {
		weights[r] = math.Exp(s.eps * s.factor * float64(x-slices.Max(q)) / (2 * s.unit))
		total += weights[r]
	}
	counts := make([]int64, len(q))
	for range samples {
		u := s.rng.Float64() * total
		r := 0
		for r < len(q)-1 && u >= weights[r] {
			u -= weights[r]
			r++
		}
		counts[r]++
	}
	return counts, "", nil
}

func epsilon(t testing.TB, text string) number.Epsilon {
	t.Helper()
	e, err := number.ParseEpsilon(text)
	require.NoError(t, err)
	return e
}

func samplerOptions(t testing.TB, eps string, budget int64) Options {
	return Options{
		N: 3, K: 2, Domain: "lattice", Epsilon: epsilon(t, eps), Sensitivity: big.NewRat(1, 1), Seed: 1,
		Budget: budget, Confidence: big.NewRat(95, 100), Precision: big.NewRat(1, 1e9),
	}
}

func TestSamplerIsKeptOrRefutedByItsLowerBound(t *testing.T) {
	for _, c := range []struct {
		factor, at float64
		verdict    verify.Verdict
	}{{1, 0.4, verify.Undecided}, {2, 0.8, verify.Violated}} {
		o := samplerOptions(t, "0.5", 3_000_000)
		s := &softmax{0.5, c.factor, rand.New(rand.NewPCG(7, 7)), 0, fractions}
		r, err := draw("softmax", s, o)
		require.NoError(t, err)
		dp := r.Find(verify.DP)
		require.Equal(t, c.verdict, dp.Verdict)
		require.GreaterOrEqual(t, r.LowerBound.Float64(), c.at)
		require.LessOrEqual(t, r.LowerBound.Float64(), 0.5*c.factor)
		require.LessOrEqual(t, s.asked, o.Budget)
		require.Equal(t, s.asked, r.Samples)
		require.Equal(t, c.verdict == verify.Violated, r.Witness != nil)
		require.Equal(t, c.verdict == verify.Violated, r.Verdict() == verify.Violated)
		t.Logf("factor %v: lower bound %v, %v", c.factor, r.LowerBound, dp.Attained)
	}
}

// With the same seed an audit asks the same questions and says the same.
func TestSamplerAuditIsReproducible(t *testing.T) {
	var first *Report
	for range 2 {
		o := samplerOptions(t, "1", 100_000)
		o.N, o.Domain = 6, "random"
		r, err := draw("softmax", &softmax{1, 1, rand.New(rand.NewPCG(3, 3)), 0, fractions}, o)
		require.NoError(t, err)
		if first == nil {
			first = r
		}
		require.Equal(t, first, r)
	}
}

func TestSmallBudgetsAreKept(t *testing.T) {
	for _, budget := range []int64{1, 10, 500, 2000} {
		s := &softmax{0.5, 8, rand.New(rand.NewPCG(7, 7)), 0, fractions}
		r, err := draw("softmax", s, samplerOptions(t, "0.5", budget))
		require.NoError(t, err)
		require.LessOrEqual(t, s.asked, budget+4, "%d", budget)
		require.True(t, r.LowerBound.IsValid())
	}
	for _, o := range []Options{samplerOptions(t, "0.5", -1), {N: 2}, {N: 2, K: 1, Domain: "ring", Sensitivity: big.NewRat(1, 1)}} {
		_, err := draw("softmax", &softmax{}, o)
		require.ErrorIs(t, err, errOptions)
	}
}

func TestSamplesFitTheirMechanismOnly(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict verify.Verdict
	}{{"em", verify.Undecided}, {"pf", verify.Violated}} {
		o := samplerOptions(t, "1", 1_000_000)
		var err error
		o.Against, err = mechanisms.Lookup(c.name)
		require.NoError(t, err)
		r, err := draw("softmax", &softmax{1, 1, rand.New(rand.NewPCG(7, 7)), 0, fractions}, o)
		require.NoError(t, err)
		fit := r.Find(Against)
		require.Equal(t, c.verdict, fit.Verdict, c.name)
		require.Equal(t, c.verdict == verify.Violated, fit.Witness != nil)
		if fit.Witness != nil {
			require.Regexp(t, `^by a test of samples, p <= 0\.025: \d+ of \d+ samples, and \d+ of \d+ samples of the other side$`, fit.Reason) // half of the level
		}
	}
}

// Over many audits of a mechanism at its exact ε, the bound exceeds ε at most as often as the confidence
// says; here at 50 %, so that a broken correction shows.
func TestLowerBoundCovers(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	const audits = 40
	above := 0
	// The pair's tight ε is 1, at candidate 1.
	pair := [2][]*big.Rat{{new(big.Rat), big.NewRat(-1, 1)}, {new(big.Rat), big.NewRat(-2, 1)}}
	response := func(q []float64) []float64 {
		if q[1] == -1 {
			return []float64{1 - 0.2*math.E, 0.2 * math.E}
		}
		return []float64{0.8, 0.2}
	}
	for seed := range uint64(audits) {
		o := samplerOptions(t, "1", 6_000)
		o.Seed, o.Confidence, o.UntilRefuted, o.Pairs = seed, big.NewRat(1, 2), seed%2 == 0, [][2][]*big.Rat{pair}
		s := newLawSampler(response, seed)
		s.unit = 1
		r, err := draw("response", s, o)
		require.NoError(t, err)
		if r.Find(verify.DP).Verdict == verify.Violated || r.LowerBound.Float64() > 1 {
			above++
		}
		require.Greater(t, r.LowerBound.Float64(), 0.5)
	}
	require.LessOrEqual(t, above, audits/2)
	require.Positive(t, above)
	t.Logf("%d of %d bounds exceed the tight ε", above, audits)
}

// reseeded starts its generator afresh for every question, from what it is asked; or from a constant.
type reseeded struct {
	lawSampler
	constant bool
}

func (s *reseeded) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	seed := uint64(samples)
	for _, x := range q {
		seed = seed*31 + uint64(x)
	}
	if s.constant {
		seed = 42
	}
	s.rng = rand.New(rand.NewPCG(seed, 1))
	return s.lawSampler.Sample(q, samples)
}

// once draws one sample and repeats it, within one answer.
type once struct{ lawSampler }

func (s *once) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	counts, event, err := s.lawSampler.Sample(q, 1)
	for r := range counts {
		counts[r] *= samples
	}
	s.asked += samples - 1
	return counts, event, err
}

// Samplers that repeat themselves are named, whatever their ε looks like then; a constant one and good ones are not.
func TestRepeatedSamplesAreNoEvidence(t *testing.T) {
	constant := func(q []float64) []float64 { p := make([]float64, len(q)); p[0] = 1; return p }
	for _, c := range []struct {
		name    string
		sampler func() sampler
		repeats bool
	}{
		{"by scores", func() sampler { return &reseeded{*newLawSampler(flipLaw(1), 1), false} }, true},
		{"constant seed", func() sampler { return &reseeded{*newLawSampler(flipLaw(1), 1), true} }, true},
		{"one draw", func() sampler { return &once{*newLawSampler(flipLaw(1), 1)} }, true},
		{"good", func() sampler { return newLawSampler(flipLaw(1), 1) }, false},
		{"always the first", func() sampler { return newLawSampler(constant, 1) }, false},
		{"always the first, reseeded", func() sampler { return &reseeded{*newLawSampler(constant, 1), true} }, false},
	} {
		for _, budget := range []int64{3000, 20_000} {
			o := samplerOptions(t, "1", budget)
			o.UntilRefuted = budget == 3000
			var err error
			o.Against, err = mechanisms.Lookup("pf")
			require.NoError(t, err)
			r, err := draw(c.name, c.sampler(), o)
			require.NoError(t, err)
			require.NotEqual(t, verify.Violated, r.Find(verify.DP).Verdict, c.name)
			independent := r.Find(Independence)
			if !c.repeats {
				require.Equal(t, verify.Undecided, independent.Verdict, "%s: %s", c.name, independent.Reason)
				require.NotNil(t, r.Find(Against))
				continue
			}
			require.Equal(t, verify.Violated, independent.Verdict, c.name)
			require.Contains(t, independent.Reason, "asked twice for ")
			require.Equal(t, "0", r.LowerBound.String())
			require.Nil(t, r.Witness)
			require.Nil(t, r.Find(Against))
			require.Less(t, r.Samples, budget)
			require.Contains(t, r.Find(verify.DP).Reason, "not independent")
		}
	}
}

// slow cancels an audit after so many samples.
type slow struct {
	lawSampler
	cancel func()
	after  int64
}

func (s *slow) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	if s.asked > s.after {
		s.cancel()
	}
	return s.lawSampler.Sample(q, samples)
}

// What was drawn before the time ran out counts.
func TestStoppedAuditsKeepTheirSamples(t *testing.T) {
	o := samplerOptions(t, "0.5", 1_000_000)
	ctx, cancel := context.WithCancel(context.Background())
	space, dom, err := o.sampleDomain()
	require.NoError(t, err)
	s := &slow{*newLawSampler(softmaxLaw(0.5, 2), 3), cancel, 500_000}
	r, err := o.statistics(ctx, "slow", s, space, dom)
	require.NoError(t, err)
	require.Less(t, r.Samples, o.Budget)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
	require.Greater(t, r.LowerBound.Float64(), 0.8)
}

// An error instead of samples that a bet was on ends the bets: going on as if nothing had been staked would favour samplers that
// fail when they would lose.
func TestErrorsEndTheBets(t *testing.T) {
	o := samplerOptions(t, "1", 100_000)
	s := &failing{*newLawSampler(softmaxLaw(1, 1), 3), 60_000}
	r, err := draw("failing", s, o)
	require.NoError(t, err)
	require.Contains(t, r.Find(verify.DP).Reason, "an error came instead of samples")
	require.Less(t, r.Samples, int64(80_000))
}

type failing struct {
	lawSampler
	after int64
}

func (s *failing) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	if s.asked > s.after {
		return nil, "error", nil
	}
	return s.lawSampler.Sample(q, samples)
}

// The test of fit keeps to its level on correct samplers, though it draws more where it looks bad.
func TestFitIsNoFalseAlarm(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	pf, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	alarms, n := 0, runs(20)
	for seed := range uint64(n) {
		o := samplerOptions(t, "1", 50_000)
		o.Seed, o.Against, o.Confidence = seed, pf, big.NewRat(3, 4)
		r, err := draw("pf", newLawSampler(flipLaw(1), seed+500), o)
		require.NoError(t, err)
		require.Positive(t, r.Find(Against).Checked)
		if r.Find(Against).Verdict == verify.Violated {
			alarms++
		}
	}
	t.Logf("%d of %d correct samplers do not fit, nominal 1 in 8", alarms, n)
	require.LessOrEqual(t, alarms, n/5)
}

// Domains of any size are audited within the budget, and not at all once there is no time.
func TestHugeDomainsOfSamplers(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	for _, c := range []struct{ n, k int }{{9, 5}, {3, 100_000}, {3, deepest}, {300, 1}} {
		o := samplerOptions(t, "0.5", 20_000)
		o.N, o.K = c.n, c.k
		s := &softmax{0.5, 1, rand.New(rand.NewPCG(8, 8)), 0, fractions}
		r, err := draw("softmax", s, o)
		require.NoError(t, err)
		require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
		require.LessOrEqual(t, s.asked, o.Budget)
		require.Positive(t, r.Find(verify.DP).Checked)
		require.Contains(t, r.Domain, "drawn from the lattice")

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r, err = samplesOf(ctx, "cat", o)
		require.NoError(t, err)
		require.Equal(t, "it was stopped", r.Find(verify.DP).Reason)
		require.Zero(t, r.Samples)
	}
}

func TestSizesAreLimited(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want string
	}{{math.MaxInt, 2, "candidates"}, {mostCandidates + 1, 2, "candidates"}, {3, math.MaxInt, "k = "}} {
		o := samplerOptions(t, "0.5", 1000)
		o.N, o.K = c.n, c.k
		for _, domain := range []string{"lattice", "half-lattice", "random"} {
			o.Domain = domain
			_, err := draw("softmax", &softmax{}, o)
			require.ErrorIs(t, err, errOptions)
			require.ErrorContains(t, err, c.want)
			_, err = pmfOf(context.Background(), "cat", o)
			require.ErrorIs(t, err, errOptions)
		}
	}
}

// Far gaps give weights that double precision holds, or that are 0 at neighbors too.
func TestGapsAreClear(t *testing.T) {
	for _, eps := range []string{"0.05", "0.74", "1", "7.2", "20", "300", "5000", "8000"} {
		o := samplerOptions(t, eps, 1)
		e := o.Epsilon.Float()
		for _, gap := range []float64{1, 20, 200, 2000} {
			g := o.clearGap(gap)
			require.LessOrEqual(t, g, gap)
			near, far := e*(g-2)/2, e*(g+2)/2
			require.True(t, g == 0 || math.Exp(-far) >= 0x1p-1022 || math.Exp(-near) == 0, "ε = %s: %v for %v", eps, g, gap)
		}
	}
}

// Below the normal numbers, stated probabilities are only so accurate.
func TestDenormalAnswers(t *testing.T) {
	for text, want := range map[string][2]float64{
		`{"pmf":[4.94e-324]}`: {0, 1e-323},
		`{"pmf":[1e-320]}`:    {9.99e-321, 1.0005e-320},
		`{"pmf":["1e-320"]}`:  {1e-320, 1e-320},
		`{"pmf":[0]}`:         {0, 0},
		`{"pmf":[3e-308]}`:    {3e-308 * (1 - 1e-9), 3e-308 * (1 + 1e-9)},
	} {
		p, err := (&labelled{list: true, n: 1}).parsePMF([]byte(text), big.NewRat(1, 1e9))
		require.NoError(t, err)
		x := p[0].Enclose(128)
		lo, hi := x.Float64()
		require.InDelta(t, want[0], max(0, lo), 2e-323, text)
		require.InDelta(t, want[1], hi, 2e-323, text)
	}
}
