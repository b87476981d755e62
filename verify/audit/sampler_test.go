package audit

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// softmax draws from the exponential mechanism with its exponent multiplied, by inversion of float64
// probabilities: good enough to be audited.
type softmax struct {
	eps, factor float64
	rng         *rand.Rand
	asked       int64
}

func (s *softmax) Sample(q verify.Vector, samples int64) ([]int64, string, error) {
	s.asked += samples
	weights, total := make([]float64, len(q)), 0.0
	for r, x := range q {
		weights[r] = math.Exp(s.eps * s.factor * float64(x) / 2) // Δ is one unit
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

func epsilon(t *testing.T, text string) mechanisms.Epsilon {
	t.Helper()
	e, err := mechanisms.ParseEpsilon(text)
	require.NoError(t, err)
	return e
}

func samplerOptions(t *testing.T, eps string, budget int64) Options {
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
		s := &softmax{0.5, c.factor, rand.New(rand.NewPCG(7, 7)), 0}
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
		r, err := draw("softmax", &softmax{1.0 / 1000, 1, rand.New(rand.NewPCG(3, 3)), 0}, o)
		require.NoError(t, err)
		if first == nil {
			first = r
		}
		require.Equal(t, first, r)
	}
}

func TestSmallBudgetsAreKept(t *testing.T) {
	for _, budget := range []int64{1, 10, 500, 2000} {
		s := &softmax{0.5, 8, rand.New(rand.NewPCG(7, 7)), 0}
		r, err := draw("softmax", s, samplerOptions(t, "0.5", budget))
		require.NoError(t, err)
		require.LessOrEqual(t, s.asked, budget+4, "%d", budget)
		require.True(t, r.LowerBound.IsValid())
	}
	for _, o := range []Options{samplerOptions(t, "0.5", -1), {N: 2}, {N: 2, K: 1, Domain: "ring", Sensitivity: big.NewRat(1, 1)}} {
		_, err := draw("softmax", &softmax{}, o)
		require.ErrorIs(t, err, ErrOptions)
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
		r, err := draw("softmax", &softmax{1, 1, rand.New(rand.NewPCG(7, 7)), 0}, o)
		require.NoError(t, err)
		fit := r.Find(Against)
		require.Equal(t, c.verdict, fit.Verdict, c.name)
		require.Equal(t, c.verdict == verify.Violated, fit.Witness != nil)
		if fit.Witness != nil {
			t.Log(fit.Witness)
		}
	}
}

// Over many audits of a mechanism at its exact ε, the bound exceeds ε about as rarely as the confidence
// says; here at 50 %, so that a broken correction shows.
func TestLowerBoundCovers(t *testing.T) {
	const audits = 60
	above := 0
	for seed := range uint64(audits) {
		o := samplerOptions(t, "1", 6_000)
		o.N, o.K, o.Seed, o.Confidence = 2, 1, seed, big.NewRat(1, 2)
		r, err := draw("softmax", &softmax{1, 1, rand.New(rand.NewPCG(seed, 9)), 0}, o)
		require.NoError(t, err)
		// The tight ε here is that of score differences 2 and 4, for the worse candidate.
		tight := math.Log((1 + math.Exp(2)) / (1 + math.Exp(1)))
		if r.LowerBound.Float64() > tight {
			above++
		}
	}
	require.LessOrEqual(t, above, audits/2)
	t.Logf("%d of %d bounds exceed the tight ε", above, audits)
}

// Domains of any size are audited within the budget, and not at all once there is no time.
func TestHugeDomainsOfSamplers(t *testing.T) {
	for _, c := range []struct{ n, k int }{{9, 5}, {3, 100_000}, {3, deepest}, {300, 1}} {
		o := samplerOptions(t, "0.5", 20_000)
		o.N, o.K = c.n, c.k
		s := &softmax{0.5, 1, rand.New(rand.NewPCG(7, 7)), 0}
		r, err := draw("softmax", s, o)
		require.NoError(t, err)
		require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
		require.LessOrEqual(t, s.asked, o.Budget)
		require.Positive(t, r.Find(verify.DP).Checked)
		require.Contains(t, r.Domain, "drawn from the lattice")

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r, err = Samples(ctx, "cat", o)
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
			require.ErrorIs(t, err, ErrOptions)
			require.ErrorContains(t, err, c.want)
			_, err = PMF(context.Background(), "cat", o)
			require.ErrorIs(t, err, ErrOptions)
		}
	}
	require.InDelta(t, 19, gridSize(3, 2), 1e-9)
	require.InDelta(t, 3, gridSize(2, 1), 1e-9)
	require.InEpsilon(t, 10077696-1953125, gridSize(9, 5), 1e-9)
	require.InEpsilon(t, 3e18, gridSize(3, 1_000_000_000), 1e-6)
}

// Far gaps give weights that double precision holds, or that are 0 at neighbours too.
func TestGapsAreClear(t *testing.T) {
	for _, eps := range []string{"0.05", "0.74", "1", "7.2", "20", "300", "5000", "1e12"} {
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
		p, err := parsePMF([]byte(text), 1, big.NewRat(1, 1e9))
		require.NoError(t, err)
		x := p[0].Enclose(128)
		lo, hi := x.Float64()
		require.InDelta(t, want[0], max(0, lo), 2e-323, text)
		require.InDelta(t, want[1], hi, 2e-323, text)
	}
}
