package lp

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/certtext"
	"optratio/internal/lumped"
	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

// The enclosure that lumping gives holds the optimum, at every level and for both objectives.
func TestLumpedEnclosesTheOptimum(t *testing.T) {
	for _, s := range [][2]int{{3, 3}, {4, 4}, {5, 3}} {
		for _, o := range []Prior{{}, Box()} {
			for _, level := range []Level{Paper, Full} {
				r := Request{N: s[0], K: s[1], Epsilon: decimalEps(t, "0.4"), Prior: o, Level: level, Mechanisms: pfAndEM(t),
					Method: methodLumped, Gap: big.NewRat(1, 1e9)}
				wide, err := Ratio(context.Background(), r)
				require.NoError(t, err)
				assert.Equal(t, proofLumped, wide.Proof)
				r.Method = methodLP
				exact, err := Ratio(context.Background(), r)
				require.NoError(t, err)
				for i := range wide.Mechanisms {
					lo, _ := wide.Mechanisms[i].Ratio.Lower()
					hi, _ := wide.Mechanisms[i].Ratio.Upper()
					truth, _ := exact.Mechanisms[i].Ratio.Lower()
					above, _ := exact.Mechanisms[i].Ratio.Upper()
					assert.LessOrEqual(t, lo.Cmp(above), 0)
					assert.LessOrEqual(t, truth.Cmp(hi), 0)
				}
			}
		}
	}
}

// pressed is a context that says its deadline is past and goes on all the same.
type pressed struct{ context.Context }

func (pressed) Deadline() (time.Time, bool) { return time.Now(), true }

// With a limit of work the clock has no say in what lumping finds, by itself or within methodAuto.
func TestMaxWorkIsNoMatterOfTime(t *testing.T) {
	slowtest.Only(t)
	for name, r := range map[string]Request{
		"lumped":                {N: 6, K: 6, Method: methodLumped},
		"auto, past the memory": {N: 7, K: 7, MaxMemory: 1e6},
	} {
		r.Epsilon, r.MaxWork = decimalEps(t, "0.5"), 5_000_000
		calm, err := Ratio(context.Background(), r)
		require.NoError(t, err)
		hasty, err := Ratio(pressed{context.Background()}, r)
		require.NoError(t, err)
		assert.Equal(t, proofLumped, calm.Proof, name)
		assert.Equal(t, calm.Mechanisms, hasty.Mechanisms, name)
		assert.Equal(t, calm.Pivots, hasty.Pivots, name)
		r.MaxWork /= 10
		less, err := Ratio(context.Background(), r)
		require.NoError(t, err)
		assert.Less(t, less.Pivots, calm.Pivots, name)
		r.MaxWork = 0
		timed, err := Ratio(pressed{context.Background()}, r)
		require.NoError(t, err)
		assert.Less(t, timed.Pivots, calm.Pivots, "%s: the test's context does not press", name)
	}
}

// Check refuses what Ratio refuses, and nothing else.
func TestCheckRequest(t *testing.T) {
	good := Request{N: 3, K: 2, Epsilon: decimalEps(t, "0.5")}
	require.NoError(t, good.Check())
	for name, spoil := range map[string]func(*Request){
		"n":              func(r *Request) { r.N = 0 },
		"k":              func(r *Request) { r.K = -1 },
		"too large":      func(r *Request) { r.N, r.K = 1<<30, 1<<19 },
		"too fine":       func(r *Request) { r.Step = 1 << 20 },
		"exact":          func(r *Request) { r.Exact = true },
		"work":           func(r *Request) { r.MaxWork = -1 },
		"lumped variant": func(r *Request) { r.Step, r.Method = 2, methodLumped },
	} {
		r := good
		spoil(&r)
		want := r.Check()
		assert.Error(t, want, name)
		_, err := Ratio(context.Background(), r)
		assert.Equal(t, want, err, name)
	}
	r := Request{N: 4, K: 4, Epsilon: good.Epsilon} // 95 variables
	memory := func() int64 {
		_, most := r.Memory()
		return most
	}
	whole, _ := r.Memory()
	assert.Equal(t, big.NewInt(95*bytesPerVariable), whole)
	assert.Equal(t, int64(95*bytesPerVariable), memory())
	r.MaxMemory = 200_000
	assert.Equal(t, int64(95*bytesByFirstOrder), memory(), "bounds by the first-order method")
	r.MaxMemory = 50_000
	assert.Equal(t, int64(50_000), memory(), "lumping within the limit")
	r.N, r.K, r.MaxMemory = 30, 30, 0
	assert.Equal(t, int64(lumped.DefaultMaxMemory), memory())
}

// Certificates of lumped bounds are valid, also of lattices that cannot be enumerated, and say what the answer says.
func TestLumpedCertificates(t *testing.T) {
	slowtest.Only(t)
	for _, r := range []Request{
		{N: 4, K: 4, Epsilon: decimalEps(t, "0.5")},
		{N: 5, K: 3, Epsilon: expEps(t, 3, 2), Prior: Box(), Level: Full},
		{N: 3, K: 5, Epsilon: decimalEps(t, "0.3"), Level: Monotone},
		{N: 20, K: 25, Epsilon: decimalEps(t, "0.4"), Method: methodAuto, Certified: true},
		{N: 10, K: 8, Epsilon: expEps(t, 3, 2), Prior: Box()},
		{N: 2, K: 4, Epsilon: decimalEps(t, "0.01")},
	} {
		if !r.Certified {
			r.Method = methodLumped
		}
		r.MaxWork = 3_000_000
		a, err := Ratio(context.Background(), r)
		require.NoError(t, err)
		require.Equal(t, proofLumped, a.Proof, "%d,%d", r.N, r.K)
		var file strings.Builder
		require.NoError(t, a.WriteCertificate(&file))
		rep, err := certificate.Check(strings.NewReader(file.String()), certificate.Options{})
		require.NoError(t, err)
		require.True(t, rep.Valid, "%d,%d: %s", r.N, r.K, rep.Reason)
		assert.Equal(t, "lumped", rep.Problem.Proof)
		assert.NotEmpty(t, rep.Proves)
		// A lower end that is higher by one part in 10^9 is not proved.
		lines := strings.Split(file.String(), "\n")
		i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "claim optimum ") })
		f := strings.Fields(lines[i])
		claimed, ok := new(big.Rat).SetString(f[2])
		require.True(t, ok)
		f[2] = claimed.Mul(claimed, big.NewRat(1e9+1, 1e9)).RatString()
		lines[i] = strings.Join(f, " ")
		rep, err = certificate.Check(strings.NewReader(strings.Join(lines, "\n")), certificate.Options{})
		require.NoError(t, err)
		assert.False(t, rep.Valid, "%d,%d", r.N, r.K)
	}
}

// What is taken from two methods, or is beyond the checker, has no certificate, and says so.
func TestNoLumpedCertificate(t *testing.T) {
	r := Request{N: 4, K: 4, Epsilon: decimalEps(t, "0.5"), Method: methodLumped}
	a, err := Ratio(context.Background(), r)
	require.NoError(t, err)
	a.evidence = nil
	assert.ErrorIs(t, a.WriteCertificate(&strings.Builder{}), certtext.ErrNone)
	a, err = Ratio(context.Background(), r)
	require.NoError(t, err)
	a.request.K = maxLumped + 1
	assert.ErrorIs(t, a.WriteCertificate(&strings.Builder{}), certtext.ErrNone)
}
