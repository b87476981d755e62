package lp

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate"
)

// The least request is the paper's with the defaults; written out it gives the same.
func TestRequestDefaults(t *testing.T) {
	ctx := context.Background()
	short, err := Ratio(ctx, Request{N: 3, K: 3, Epsilon: decimalEps(t, "0.4")})
	require.NoError(t, err)
	long, err := Ratio(ctx, Request{N: 3, K: 3, Epsilon: decimalEps(t, "0.4"), Level: Paper, Method: methodAuto,
		Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()}, Gap: big.NewRat(1, 1e9), MaxMemory: table.DefaultMemory})
	require.NoError(t, err)
	assert.Empty(t, short.Undecided)
	assert.Equal(t, long.Optimum, short.Optimum)
	assert.Equal(t, long.Mechanisms, short.Mechanisms)
	assert.Equal(t, "pf", short.Mechanisms[0].Name)

	threshold, err := Threshold(ctx, Request{N: 3, K: 3}, nil)
	require.NoError(t, err)
	assert.Empty(t, threshold.Undecided)
	assert.Equal(t, proofTheorem, threshold.Proof)
	byLP, err := Threshold(ctx, Request{N: 3, K: 2, Method: methodLP, Gap: big.NewRat(1, 100)}, nil)
	require.NoError(t, err)
	assert.Equal(t, proofLP, byLP.Proof)

	for _, method := range []string{methodAuto, methodClosedForm, methodLumped, methodLP} {
		_, err := Ratio(ctx, Request{N: 3, K: 2, Epsilon: decimalEps(t, "0.4"), Method: method})
		assert.NoError(t, err, method)
	}
	eps := decimalEps(t, "0.4")
	for _, c := range []struct {
		r    Request
		want error
	}{
		{Request{}, number.ErrEpsilon},
		{Request{N: 3, K: 3}, number.ErrEpsilon},
		{Request{N: 0, K: 3, Epsilon: eps}, lattice.ErrSize},
		{Request{N: 3, Epsilon: eps}, lattice.ErrSize},
		{Request{N: 3, K: 3, Epsilon: eps, Mechanisms: []mechanisms.Mechanism{nil}}, errRequest},
		{Request{N: 3, K: 3, Epsilon: eps, Gap: big.NewRat(-1, 2)}, errRequest},
		{Request{N: 3, K: 3, Epsilon: eps, Level: -1}, errRequest},
		{Request{N: 3, K: 3, Epsilon: eps, Method: "simplex"}, errRequest},
		{Request{N: 3, K: 3, Epsilon: eps, Step: -1}, errRequest},
	} {
		_, err := Ratio(ctx, c.r)
		assert.ErrorIs(t, err, c.want, "%+v", c.r)
	}
	for _, r := range []Request{{N: 3, K: 3, Gap: new(big.Rat)}, {N: 3, K: 3, Level: 9}} {
		_, err := Threshold(ctx, r, nil)
		assert.ErrorIs(t, err, errRequest)
	}
	_, err = Threshold(ctx, Request{}, nil)
	assert.ErrorIs(t, err, lattice.ErrSize)
}

// What a request says is answered or refused, and never left out of account.
func TestVariedRequestsIgnoreNothing(t *testing.T) {
	eps, weights := decimalEps(t, "0.4"), Box()
	few, err := Losses([]*big.Rat{new(big.Rat), big.NewRat(1, 1)})
	require.NoError(t, err)
	short, err := Product([]*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)})
	require.NoError(t, err)
	deep, err := Weighted([][]int{{0, 0, 3}, {0, 1, 2}}, []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)})
	require.NoError(t, err)
	square := Request{N: 3, K: 2, Epsilon: eps, Loss: Loss{kind: "square"}}
	for name, c := range map[string]struct {
		spoil func(r *Request)
		want  error
		says  string
	}{
		"worst and prior":         {func(r *Request) { r.Prior, r.Worst = weights, true }, errRequest, "Worst"},
		"losses of other depths":  {func(r *Request) { r.Loss = few }, errRequest, "2 losses for the depths 0, 1/1, …, 2, want 3"},
		"factors of other depths": {func(r *Request) { r.Prior = short }, errRequest, "2 factors"},
		"vectors of other depths": {func(r *Request) { r.Prior = deep }, errRequest, "1 of the prior's score vectors are not on the lattice"},
		"no such solver":          {func(r *Request) { r.Solver = "simplex" }, errMethod, "is not one of auto, clp, embedded"},
		"certified by no program": {func(r *Request) { r.Certified, r.Method = true, methodClosedForm }, errMethod, "certificate"},
	} {
		r := square
		c.spoil(&r)
		_, err := Ratio(t.Context(), r)
		require.ErrorIs(t, err, c.want, name)
		assert.ErrorContains(t, err, c.says, name)
		assert.Equal(t, err, r.Check(), name)
	}
	free, err := Ratio(t.Context(), square)
	require.NoError(t, err)
	direct := square
	direct.Solver = "embedded"
	a, err := Ratio(t.Context(), direct)
	require.NoError(t, err)
	assert.Equal(t, free.Optimum, a.Optimum)
	for _, certified := range []Request{square, {N: 3, K: 2, Epsilon: eps, Worst: true}, {N: 3, K: 2, Epsilon: eps, Prior: weights, Level: DP}, {N: 2, K: 2, Epsilon: eps, Delta: big.NewRat(1, 100)}} {
		certified.Certified = true
		a, err := Ratio(t.Context(), certified)
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, a.WriteCertificate(&text))
		report, err := certificate.Check(strings.NewReader(text.String()), certificate.Options{})
		require.NoError(t, err)
		assert.True(t, report.Valid, report.Reason)
		low, high, _ := a.Optimum.Strings()
		assert.Contains(t, text.String(), "claim optimum "+low+" "+high+"\n")
	}
}

// half is half of the exponential mechanism and half uniform, under any name.
func half(name string) mechanisms.Mechanism {
	return mechanisms.FromRational(mechanisms.Info{Name: name, Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		p, err := mechanisms.Exponential().Exact(in)
		for r := range p {
			p[r] = new(big.Rat).Add(p[r], big.NewRat(1, int64(len(p))))
			p[r].Mul(p[r], big.NewRat(1, 2))
		}
		return p, err
	})
}

// Theorems on permute-and-flip and forms of the exponential mechanism are not for others that bear their names.
func TestNamesDecideNothing(t *testing.T) {
	for _, name := range []string{"pf", "em", "lp-optimal"} {
		for _, e := range []number.Epsilon{expEps(t, 5, 4), expEps(t, 3, 1)} { // below and above the threshold
			a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: e,
				Mechanisms: []mechanisms.Mechanism{half(name), half("own"), mechanisms.Exponential()}})
			require.NoError(t, err)
			assert.Equal(t, a.Mechanisms[1].Error, a.Mechanisms[0].Error, name)
			assert.Equal(t, a.Mechanisms[1].Ratio, a.Mechanisms[0].Ratio, name)
			assert.NotEqual(t, number.Int(1), a.Mechanisms[0].Ratio)
			assert.Greater(t, a.Mechanisms[0].Ratio.Float64(), a.Mechanisms[2].Ratio.Float64())
		}
	}
}

// A certificate claims nothing about a mechanism that only bears a registered name: the checker would take it for the registered one.
func TestCertificatesOfImposters(t *testing.T) {
	for _, c := range []struct {
		name   string
		claims bool
	}{{"em", false}, {"own", true}} {
		a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: expEps(t, 5, 4), Mechanisms: []mechanisms.Mechanism{mechanisms.Exponential(), half(c.name)}})
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, a.WriteCertificate(&text))
		assert.Equal(t, c.claims, strings.Contains(text.String(), "claim ratio em"))
		report, err := certificate.Check(strings.NewReader(text.String()), certificate.Options{})
		require.NoError(t, err)
		assert.True(t, report.Valid, report.Reason)
	}
}

// lp-optimal is the optimum of the objective that is asked for.
func TestOptimalForTheObjective(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	for _, o := range []Prior{{}, Box()} {
		for level := Paper; level <= Full; level++ {
			a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: expEps(t, 3, 2), Prior: o, Level: level,
				Method: methodLP, Mechanisms: []mechanisms.Mechanism{m}})
			require.NoError(t, err)
			one, exact := a.Mechanisms[0].Ratio.Rat()
			require.True(t, exact)
			assert.Equal(t, "1", one.RatString(), "%v, %v", o, level)
		}
	}
}

// The error of approximate probabilities is enclosed to their precision. A mechanism that fails to answer is rated as such, and the others as ever.
func TestRatioOfApproximateMechanisms(t *testing.T) {
	em := mechanisms.Exponential()
	about := func(precision float64) mechanisms.Mechanism {
		return mechanisms.FromFloat(em.Info(), precision, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
			in, err := mechanisms.FromFloats(scores, []float64{sensitivity}, epsilon, mechanisms.Params{})
			if err != nil {
				return nil, err
			}
			return em.Float(in)
		})
	}
	for _, precision := range []float64{1e-6, 1e-11} {
		a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: decimalEps(t, "0.4"), Mechanisms: []mechanisms.Mechanism{about(precision), em}})
		require.NoError(t, err)
		near, exact := a.Mechanisms[0].Ratio, a.Mechanisms[1].Ratio
		lo, ok := near.Lower()
		require.True(t, ok)
		hi, ok := near.Upper()
		require.True(t, ok)
		elo, _ := exact.Lower()
		ehi, _ := exact.Upper()
		assert.True(t, lo.Cmp(elo) <= 0 && ehi.Cmp(hi) <= 0, "%s around %s", near, exact)
		width, _ := new(big.Rat).Quo(new(big.Rat).Sub(hi, lo), hi).Float64()
		assert.InEpsilon(t, 2*precision, width, 0.1)
		assert.Empty(t, a.Undecided, "the gap is about what the bounds leave open")
	}
	failing := mechanisms.FromFloat(mechanisms.Info{Name: "failing"}, 0, func([]float64, float64, float64) ([]float64, error) { return nil, nil })
	for _, step := range []int{1, 2} {
		a, err := Ratio(context.Background(), Request{N: 2, K: 2, Step: step, Epsilon: decimalEps(t, "0.4"), Mechanisms: []mechanisms.Mechanism{failing, em}})
		require.NoError(t, err)
		assert.Regexp(t, "^failing: bad answer: .*0 probabilities for 2 scores", a.Mechanisms[0].Finding)
		assert.False(t, a.Mechanisms[0].Ratio.IsValid())
		assert.True(t, a.Mechanisms[1].Ratio.IsRigorous())
	}
}

func TestRatioOfWhatIsNoDistribution(t *testing.T) {
	eps, err := number.ParseExp("2")
	require.NoError(t, err)
	half := mechanisms.FromRational(mechanisms.Info{Name: "half"}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return slices.Repeat([]*big.Rat{big.NewRat(1, int64(2*len(in.Scores)))}, len(in.Scores)), nil
	})
	low := mechanisms.FromEnclosure(mechanisms.Info{Name: "low"}, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
		return slices.Repeat([]*big.Float{big.NewFloat(0.1)}, len(in.Scores)), slices.Repeat([]*big.Float{big.NewFloat(0.2)}, len(in.Scores)), nil
	})
	for _, loss := range []Loss{Loss{}, Loss{kind: "top1"}} {
		r, err := Ratio(t.Context(), Request{N: 3, K: 2, Epsilon: eps, Loss: loss, Mechanisms: []mechanisms.Mechanism{half, low, mechanisms.PermuteAndFlip()}})
		require.NoError(t, err)
		require.Len(t, r.Mechanisms, 3)
		require.Contains(t, r.Mechanisms[0].Finding, "the probabilities of half sum to 0.5")
		require.Contains(t, r.Mechanisms[1].Finding, "the probabilities of low sum to [0.")
		require.Empty(t, r.Mechanisms[2].Finding)
	}
}
