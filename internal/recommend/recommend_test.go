package recommend

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"optratio/internal/decimal"
	"optratio/mechanisms"
	"optratio/number"
)

func rats(t testing.TB, texts ...string) (out []*big.Rat) {
	for _, s := range texts {
		r, err := decimal.Parse(s)
		require.NoError(t, err)
		out = append(out, r)
	}
	return out
}

func instance(t testing.TB, eps string, scores, sensitivities []string) *mechanisms.Instance {
	e, err := number.ParseEpsilon(eps)
	require.NoError(t, err)
	return &mechanisms.Instance{Scores: rats(t, scores...), Sensitivities: rats(t, sensitivities...), Epsilon: e}
}

func TestCorrelationsByHand(t *testing.T) {
	in := instance(t, "1", []string{"1", "2", "3", "10"}, []string{"2", "4", "6", "20"})
	for name, n := range map[string]number.Number{"pearson": Pearson(in), "spearman": Spearman(in), "bucket": BucketCorrelation(in, 5)} {
		r, ok := n.Rat()
		require.True(t, ok, name)
		assert.Equal(t, "1", r.RatString(), name)
	}
	in = instance(t, "1", []string{"1", "2", "3"}, []string{"9", "2", "1"})
	r, ok := Spearman(in).Rat()
	require.True(t, ok)
	assert.Equal(t, "-1", r.RatString())
	// covariance -8, variances 2 and 38
	assert.InDelta(t, -8/math.Sqrt(76), Pearson(in).Float64(), 1e-15)
	lo, _ := Pearson(in).Lower()
	hi, _ := Pearson(in).Upper()
	square := big.NewRat(64, 76)
	assert.True(t, new(big.Rat).Mul(lo, lo).Cmp(square) >= 0 && new(big.Rat).Mul(hi, hi).Cmp(square) <= 0)
	// ranks 1.5 1.5 3 4 and 4 1 2 3: 2/√(18·20) times 2
	in = instance(t, "1", []string{"1", "1", "2", "3"}, []string{"5", "1", "2", "3"})
	assert.InDelta(t, 0.5/math.Sqrt(4.5*5), Spearman(in).Float64(), 1e-15)
	in = instance(t, "1", []string{"1", "1"}, []string{"5", "1"})
	for _, n := range []number.Number{Pearson(in), Spearman(in), BucketCorrelation(in, 5)} {
		assert.False(t, n.IsValid(), "tied scores correlate with nothing")
	}
}

// Weights from two buckets [0,1) and [1,2]: sensitivities 1, 2 and 4, 3 become 1/2, 1 and 1, 3/4.
func TestBucketCorrelationAgainstFloats(t *testing.T) {
	in := instance(t, "1", []string{"0", "0.9", "1", "2"}, []string{"1", "2", "4", "3"})
	want := stat.Correlation([]float64{0, 0.9, 1, 2}, []float64{1, 2, 4, 3}, []float64{0.5, 1, 1, 0.75})
	assert.InDelta(t, want, BucketCorrelation(in, 2).Float64(), 1e-14)
	in = instance(t, "1", []string{"0", "0.1", "1", "2"}, []string{"0", "0", "4", "3"})
	want = stat.Correlation([]float64{0, 0.1, 1, 2}, []float64{0, 0, 4, 3}, []float64{1, 1, 1, 0.75})
	assert.InDelta(t, want, BucketCorrelation(in, 2).Float64(), 1e-14)
}

func TestPearsonAgainstFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var q, d []*big.Rat
		var x, y []float64
		for range 2 + rng.IntN(10) {
			a, b := rng.NormFloat64(), rng.ExpFloat64()
			x, y = append(x, a), append(y, b)
			q, d = append(q, new(big.Rat).SetFloat64(a)), append(d, new(big.Rat).SetFloat64(b))
		}
		in := &mechanisms.Instance{Scores: q, Sensitivities: d}
		assert.InDelta(t, stat.Correlation(x, y, nil), Pearson(in).Float64(), 1e-12)
	}
}

func TestUtilityBounds(t *testing.T) {
	in := instance(t, "1", []string{"0", "1"}, []string{"1", "0.5"})
	b, err := NewUtilityBounds(in)
	require.NoError(t, err)
	assert.False(t, b.GEMWorseThanRNM, "equal bounds are not worse")
	assert.InDelta(t, 4*0.5*math.Log(40), b.GEM.Float64(), 1e-14)
	assert.InDelta(t, 2*math.Log(40), b.RNM.Float64(), 1e-14)
	assert.True(t, b.GEMVacuous)
	in = instance(t, "1", []string{"0", "100"}, []string{"1", "0.51"})
	b, err = NewUtilityBounds(in)
	require.NoError(t, err)
	assert.True(t, b.GEMWorseThanRNM)
	assert.False(t, b.GEMVacuous)
	in = instance(t, "0", []string{"0", "100"}, []string{"1", "0.5"})
	b, err = NewUtilityBounds(in)
	require.NoError(t, err)
	assert.True(t, b.GEM.IsInf() && b.RNM.IsInf() && b.GEMVacuous)
	// e^ε = 40 = n/β: the bounds are 4Δ_* and 2Δ exactly; a range of 2 is reached, not exceeded.
	in = instance(t, "0", []string{"0", "2"}, []string{"1", "0.5"})
	in.Epsilon, err = number.ParseExp("40")
	require.NoError(t, err)
	b, err = NewUtilityBounds(in)
	require.NoError(t, err)
	assert.False(t, b.GEMVacuous)
	in.Params.Beta = new(big.Rat)
	_, err = NewUtilityBounds(in)
	assert.ErrorIs(t, err, mechanisms.ErrInstance)
}

func all(t testing.TB) (out []mechanisms.Mechanism) {
	for _, name := range mechanisms.Names() {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		out = append(out, m)
	}
	return out
}

func TestRecommendation(t *testing.T) {
	in := instance(t, "1", []string{"1", "0.5", "-1"}, []string{"1.8", "1", "1"})
	r, err := For(context.Background(), in, all(t), MSE, false)
	require.NoError(t, err)
	require.Len(t, append(r.NotPrivate, r.Mechanisms...), len(mechanisms.Names()))
	for i := 1; i < len(r.Mechanisms); i++ {
		assert.LessOrEqual(t, r.Mechanisms[i-1].MSE.Float64(), r.Mechanisms[i].MSE.Float64())
	}
	assert.Equal(t, r.Mechanisms[0].Name, r.Recommended)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"bucket_correlation"`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = For(ctx, in, all(t), MSE, false)
	require.NoError(t, err)
	assert.Empty(t, r.Mechanisms)
	assert.Empty(t, r.Recommended)
	assert.Len(t, r.Unanswered, len(all(t)))
	assert.Equal(t, context.Canceled.Error(), r.Undecided)
	_, err = For(context.Background(), &mechanisms.Instance{}, all(t), MSE, false)
	assert.ErrorIs(t, err, mechanisms.ErrInstance)
}

// What never claims privacy is never recommended, however good.
func TestOnlyPrivateMechanismsAreRecommended(t *testing.T) {
	in := instance(t, "1", []string{"5", "0"}, []string{"1", "0"})
	r, err := For(context.Background(), in, all(t), MSE, false)
	require.NoError(t, err)
	assert.Less(t, r.NotPrivate[0].MSE.Float64(), r.Mechanisms[0].MSE.Float64(), "something better that is not private")
	for _, m := range append(r.Mechanisms, r.NotPrivate...) {
		assert.Equal(t, m.Private, slices.Contains(r.Mechanisms, m), m.Name)
	}
	m, err := mechanisms.Lookup(r.Recommended)
	require.NoError(t, err)
	assert.True(t, m.Info().Private)
}

// A claim that is only declared recommends nothing, however good the mechanism is.
func TestDeclaredClaimsAreNotRecommended(t *testing.T) {
	in := instance(t, "1", []string{"5", "0"}, []string{"1"})
	best := mechanisms.FromRational(mechanisms.Info{Name: "best", Claim: "ε-DP", Private: true, Source: "of mine"}, func(*mechanisms.Instance) ([]*big.Rat, error) {
		return rats(t, "1", "0"), nil
	})
	r, err := For(context.Background(), in, []mechanisms.Mechanism{best, mechanisms.PermuteAndFlip()}, Error, false)
	require.NoError(t, err)
	assert.Equal(t, "pf", r.Recommended)
	assert.Equal(t, "best", r.Mechanisms[0].Name)
	assert.Equal(t, []bool{true, false}, []bool{r.Mechanisms[0].Declared, r.Mechanisms[1].Declared})
	for _, m := range all(t) {
		assert.False(t, declared(m), m.Info().Name)
	}
}

// With monotonic scores of different sensitivities those mechanisms answer that are known to be private then, at half the largest
// sensitivity; with equal ones all do, at half of it.
func TestMonotonicScores(t *testing.T) {
	in := instance(t, "1", []string{"1", "0.5", "-1"}, []string{"1", "1", "2"})
	r, err := For(context.Background(), in, all(t), MSE, true)
	require.NoError(t, err)
	half, err := For(context.Background(), instance(t, "1", []string{"1", "0.5", "-1"}, []string{"1"}), all(t), MSE, false)
	require.NoError(t, err)
	for _, m := range r.Mechanisms {
		assert.Contains(t, half.Mechanisms, m, "at the sensitivity 2/2")
	}
	assert.Empty(t, r.NotPrivate)
	assert.Len(t, r.Unanswered, 11, "gem, mgem, combined-gem, gem-runner, two mixed, rnmh, rnmh-laplace and three of random stopping")
	for _, name := range []string{"pf-pair", "geo-pair", "pf", "em"} {
		assert.True(t, slices.ContainsFunc(r.Mechanisms, func(m Rated) bool { return m.Name == name }), name)
	}
	in.Sensitivities = in.Sensitivities[2:]
	r, err = For(context.Background(), in, all(t), MSE, true)
	require.NoError(t, err)
	r.Monotonic = false
	r.Heuristics = half.Heuristics
	assert.Equal(t, half, r)
}

// stuck is a mechanism that ends the context when it is asked, and does not answer.
type stuck struct {
	mechanisms.Mechanism
	end     func()
	release chan struct{}
}

func (s stuck) Info() mechanisms.Info { return mechanisms.Info{Name: "stuck", Private: true} }

func (s stuck) Exact(*mechanisms.Instance) ([]*big.Rat, error) {
	s.end()
	<-s.release
	return nil, mechanisms.ErrNotRational
}

// One mechanism that does not answer in time loses nothing of what others have answered, and those after it are not asked.
func TestAnswersOutliveAStuckMechanism(t *testing.T) {
	in := instance(t, "1", []string{"1", "0"}, []string{"1"})
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	list := []mechanisms.Mechanism{mechanisms.Exponential(), stuck{end: cancel, release: release}, mechanisms.PermuteAndFlip()}
	r, err := For(ctx, in, list, MSE, false)
	require.NoError(t, err)
	require.Len(t, r.Mechanisms, 1)
	assert.Equal(t, "em", r.Recommended)
	require.Len(t, r.Unanswered, 2)
	assert.Contains(t, r.Unanswered[0], "stuck: ")
	assert.Equal(t, "pf: context canceled", r.Unanswered[1])
	assert.Equal(t, "context canceled", r.Undecided)
}
