package verify

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// byHand is the Rényi divergence of two laws of two outcomes.
func byHand(t *testing.T, p, o [2]float64, alpha float64) float64 {
	t.Helper()
	switch {
	case alpha == 1:
		return p[0]*math.Log(p[0]/o[0]) + p[1]*math.Log(p[1]/o[1])
	case math.IsInf(alpha, 1):
		return math.Log(max(p[0]/o[0], p[1]/o[1]))
	}
	return math.Log(math.Pow(p[0], alpha)*math.Pow(o[0], 1-alpha)+math.Pow(p[1], alpha)*math.Pow(o[1], 1-alpha)) / (alpha - 1)
}

// TestProfileByHand: the profile of randomised response of two candidates, whose neighbors on Q(2,1) are (1/2, 1/2) and (3/4, 1/4).
func TestProfileByHand(t *testing.T) {
	report, err := Lattice(t.Context(), problem(t, "krr", "3"), 2, 1, Options{Profile: true})
	require.NoError(t, err)
	p, q := [2]float64{0.5, 0.5}, [2]float64{0.75, 0.25}
	require.Len(t, report.Profile, len(quarters))
	for _, at := range report.Profile {
		most := 0.0
		for _, w := range [][2][2]float64{{p, q}, {q, p}} {
			sum := 0.0
			for i := range w[0] {
				sum += max(0, w[0][i]-math.Exp(at[0].Float64())*w[1][i])
			}
			most = max(most, sum)
		}
		assert.InDelta(t, most, at[1].Float64(), 1e-15, "%s", at[0])
	}
	// The total variation is exact, and δ at ε is 0, as e^ε = 3 and the tight one is 2.
	half, ok := report.Profile[0][1].Rat()
	require.True(t, ok)
	assert.Equal(t, "1/4", half.String())
	none, ok := report.Profile[4][1].Rat()
	require.True(t, ok)
	assert.Zero(t, none.Sign())
	require.Len(t, report.Renyi, len(profileOrders))
	for _, at := range report.Renyi {
		alpha := at[0].Float64()
		assert.InEpsilon(t, max(byHand(t, p, q, alpha), byHand(t, q, p, alpha)), at[1].Float64(), 1e-12, "%s", at[0])
	}
	few, err := Lattice(t.Context(), problem(t, "krr", "3"), 2, 1, Options{Properties: []Property{DP, "rdp:3"}, Profile: true})
	require.NoError(t, err)
	require.Len(t, few.Renyi, 1)
	assert.Equal(t, few.Find("rdp:3").Orders, few.Renyi)
}

// TestProfileAgreesWithProperties: the profile has the δ of approximate-dp, the least ε of dp as its order ∞, and none of it is below that of fewer pairs.
func TestProfileAgreesWithProperties(t *testing.T) {
	for _, name := range []string{"pf", "em", "geo", "rnm-laplace"} {
		var before *Report
		for k := 1; k <= 3; k++ {
			p := problem(t, name, "0.5")
			r, err := Lattice(t.Context(), p, 2, k, Options{Properties: []Property{DP, ApproximateDP, RDP}, Targets: map[Property]*big.Rat{ApproximateDP: one}, Profile: true})
			require.NoError(t, err)
			at := r.Profile[4]
			assert.Equal(t, r.Claimed, at[0])
			assert.True(t, overlap(at[1], r.Find(ApproximateDP).TightDelta), "%s: %s", name, at[1])
			assert.True(t, overlap(r.Renyi[7][1], r.Find(DP).TightEps), name)
			assert.True(t, overlap(r.Renyi[1][1], r.Find(RDP).Orders[0][1]), name)
			for i := range r.Profile {
				if before != nil {
					assert.GreaterOrEqual(t, r.Profile[i][1].Float64(), before.Profile[i][1].Float64())
				}
				assert.True(t, r.Profile[i][1].Within(big.NewRat(1, 1e15)) || r.Profile[i][1].Float64() < 1e-30, "%s: %s", name, r.Profile[i][1])
			}
			before = r
		}
	}
}

func overlap(x, y number.Number) bool {
	less, known := x.Cmp(y)
	return !known || less == 0
}

// TestClaimsOfOrders: a claim that is met by a hair is proved, and one that is missed by a hair violated, at every order, and by equality where that can be decided.
func TestClaimsOfOrders(t *testing.T) {
	for _, order := range []Property{"rdp:1", "rdp:1.5", "rdp:2", "rdp:17/3", "rdp:64", "rdp:inf"} {
		p := problem(t, "pf", "0.5")
		free, err := Lattice(t.Context(), p, 3, 2, Options{Properties: []Property{order}})
		require.NoError(t, err)
		lo, hi := free.Properties[0].Orders[0][1].Ends()
		assert.Equal(t, Proved, free.Verdict())
		hair := big.NewRat(1, 1e15)
		for target, want := range map[*big.Rat]Verdict{new(big.Rat).Add(hi, hair): Proved, new(big.Rat).Sub(lo, hair): Violated, big.NewRat(1, 2): Proved, new(big.Rat): Violated} {
			r, err := Lattice(t.Context(), p, 3, 2, Options{Properties: []Property{order}, Targets: map[Property]*big.Rat{order: target}})
			require.NoError(t, err)
			assert.Equal(t, want, r.Verdict(), "%s: %s", order, r)
			w := r.Properties[0].Witness
			require.Equal(t, want == Violated, w != nil)
			if w != nil {
				assert.NotEmpty(t, w.PMFs[0])
			}
		}
	}
	// Of a pair without any difference the divergence is 0, and a claim of that is met.
	same := problem(t, "uniform", "0.5")
	r, err := Lattice(t.Context(), same, 2, 2, Options{Properties: []Property{"rdp:2", "rdp:inf", "rdp:1"}, Targets: map[Property]*big.Rat{"rdp:2": new(big.Rat), "rdp:inf": new(big.Rat), "rdp:1": new(big.Rat)}})
	require.NoError(t, err)
	assert.Equal(t, Proved, r.Verdict(), "%s", r)
	for _, bad := range []Property{"rdp:", "rdp:0.5", "rdp:x", "rdp:-inf", "rdp", "dp:2"} {
		_, ok := inquiry.Order(bad)
		assert.False(t, ok, bad)
	}
}

// TestClaimOfAutodp: autodp's exponential mechanism (mechanism_zoo.py, commits 29b221d to 7da4761, 2022) had, beside ρ = ε²/8, the Rényi divergences of an
// (ε/2)-DP mechanism, rdp_bank.RDP_pureDP({'eps': eps/2.}): ln((sinh αη - sinh (α-1)η)/sinh η)/(α-1) at η = ε/2. That ρ holds; none of the divergences does.
func TestClaimOfAutodp(t *testing.T) {
	for _, eps := range []string{"0.5", "1", "2"} {
		mechanism := problem(t, "em", "2")
		var err error
		mechanism.Epsilon, err = number.ParseEpsilon(eps)
		require.NoError(t, err)
		e := mechanism.Epsilon.Float()
		targets := map[Property]*big.Rat{ZCDP: new(big.Rat).SetFloat64(e * e / 8)}
		claimed := func(alpha float64) float64 {
			return math.Log((math.Sinh(alpha*e/2)-math.Sinh((alpha-1)*e/2))/math.Sinh(e/2)) / (alpha - 1)
		}
		for order, alpha := range map[Property]float64{"rdp:1.5": 1.5, "rdp:2": 2, "rdp:4": 4, "rdp:8": 8, "rdp:16": 16, "rdp:32": 32, "rdp:64": 64} {
			targets[order] = new(big.Rat).SetFloat64(claimed(alpha))
		}
		targets["rdp:inf"] = new(big.Rat).SetFloat64(e / 2)
		opts := Options{Targets: targets}
		for p := range targets {
			opts.Properties = append(opts.Properties, p)
		}
		opts.Step = 8
		r, err := Lattice(t.Context(), mechanism, 2, 3, opts)
		require.NoError(t, err)
		for _, p := range r.Properties {
			if p.Name == ZCDP {
				assert.Equal(t, Proved, p.Verdict, "%s", p)
				continue
			}
			assert.Equal(t, Violated, p.Verdict, "%s", p)
		}
	}
}
