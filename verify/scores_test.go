package verify

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

func rats(t *testing.T, texts ...string) []*big.Rat {
	t.Helper()
	out := make([]*big.Rat, len(texts))
	for i, s := range texts {
		r, ok := new(big.Rat).SetString(s)
		require.True(t, ok, s)
		out[i] = r
	}
	return out
}

// Remark 1 of McKenna & Sheldon 2020: where all scores can only rise, permute-and-flip with its noise
// for ε is ε/2-DP. Here e^{ε/2} is 3/2, then the root of 3/2, where probabilities are algebraic.
func TestMonotonicScoresHalveEpsilon(t *testing.T) {
	vectors := [][]*big.Rat{rats(t, "0", "0", "0"), rats(t, "0", "-1", "-2"), rats(t, "0", "-3", "-3"), rats(t, "-1/2", "0", "-4")}
	for _, name := range []string{"pf", "em"} {
		report, err := Scores(context.Background(), problem(t, name, "9/4"), vectors[:3], true, Options{})
		require.NoError(t, err)
		require.Equal(t, Proved, report.Verdict(), "%s", name)
		dp := report.Find(DP)
		if name == "pf" {
			require.Equal(t, "3/2", dp.TightExpEps.RatString())
		}
		third, err := number.FromEpsilon(big.NewRat(1, 3))
		require.NoError(t, err)
		for _, eps := range []number.Epsilon{parse(t, "3/2"), parse(t, "0.4"), third} {
			p := problem(t, name, "0")
			p.Epsilon = eps
			report, err = Scores(context.Background(), p, vectors, false, Options{})
			require.NoError(t, err)
			for _, r := range report.Properties {
				require.Equal(t, Proved, r.Verdict, "%s at %s: %s: %s %v", name, eps, r.Name, r.Reason, r.Witness)
			}
		}
	}
	report, err := Scores(context.Background(), problem(t, "pf", "3/2"), vectors, true, Options{})
	require.NoError(t, err)
	require.InDelta(t, math.Log(1.5)/2, report.Find(DP).TightEps.Float64(), 1e-15)
}

// Where scores are monotonic, a shift-invariant mechanism run with Δ/2 has, at neighbors that rise by up to Δ, exactly the privacy that it
// has with Δ/2 at neighbors that move by Δ/2 either way. Not halving would leave ε/2, halving twice 2ε.
func TestMonotonicScoresAtTheirParameter(t *testing.T) {
	vectors := [][]*big.Rat{rats(t, "0", "0", "0"), rats(t, "0", "-1", "-2"), rats(t, "0", "-3", "-3"), rats(t, "0", "-2", "-2"), rats(t, "0", "0", "-1")}
	for _, name := range []string{"pf", "em", "geo", "krr", "rnm-laplace", "pf-pair"} {
		p := problem(t, name, "3/2")
		p.Monotonic = true
		rising, err := Scores(context.Background(), p, vectors, false, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		either := problem(t, name, "3/2")
		either.Sensitivities = rats(t, "1/2")
		moving, err := Scores(context.Background(), either, vectors, false, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		require.Equal(t, Proved, rising.Verdict(), name)
		require.Equal(t, moving.Find(DP).TightExpEps, rising.Find(DP).TightExpEps, name)
		require.InDelta(t, moving.Find(DP).TightEps.Float64(), rising.Find(DP).TightEps.Float64(), 1e-15, name)
		require.InDelta(t, moving.Find(DP).Range.Float64(), rising.Find(DP).Range.Float64(), 1e-15, name)
		if name == "pf" {
			require.Equal(t, "3/2", rising.Find(DP).TightExpEps.RatString())
		}

		fine, err := Lattice(context.Background(), p, 3, 2, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		coarse, err := Lattice(context.Background(), problem(t, name, "3/2"), 3, 2, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		require.InDelta(t, coarse.Find(DP).TightEps.Float64(), fine.Find(DP).TightEps.Float64(), 1e-15, name)
		if name == "pf" {
			require.Equal(t, "(0, 0, -1)", inquiry.ScoresText(fine.Find(DP).Attained.Neighbor), "in steps of Δ = 1")
		}
	}
}

// With different sensitivities, half the largest is what the mechanisms need that look at pairs: less would not do.
func TestMonotonicScoresOfDifferentSensitivities(t *testing.T) {
	vectors := [][]*big.Rat{rats(t, "0", "0", "0"), rats(t, "0", "-2", "-2"), rats(t, "-2", "0", "-4"), rats(t, "-3", "-2", "0")}
	for _, name := range []string{"pf-pair", "geo-pair", "pf"} {
		p := problem(t, name, "3/2")
		p.Monotonic, p.Sensitivities = true, rats(t, "1", "2", "1")
		report, err := Scores(context.Background(), p, vectors, false, Options{Properties: []Property{DP}})
		require.NoError(t, err)
		require.Equal(t, Proved, report.Verdict(), name)
		require.Equal(t, "3/2", report.Find(DP).TightExpEps.RatString(), name)
	}
	p := problem(t, "gem", "3/2")
	p.Monotonic, p.Sensitivities = true, rats(t, "1", "2", "1")
	_, err := Scores(context.Background(), p, vectors, false, Options{})
	require.ErrorIs(t, err, mechanisms.ErrInstance)
	require.ErrorContains(t, err, "which parameter makes gem private")
	p.Mechanism = mechanisms.FromRational(mechanisms.Info{Name: "mine", Private: true, Uniform: true}, nil)
	_, err = Scores(context.Background(), p, vectors, false, Options{})
	require.ErrorContains(t, err, "not known to be shift-invariant")
}

// Each candidate by its own sensitivity: permute-and-flip at the largest is private for all.
func TestPerCandidateSensitivities(t *testing.T) {
	p := problem(t, "pf", "9/4")
	p.Sensitivities = rats(t, "1", "1/2", "0")
	vectors := [][]*big.Rat{rats(t, "0", "-1", "-1"), rats(t, "0", "0", "-2")}
	report, err := Scores(context.Background(), p, vectors, false, Options{Properties: []Property{DP, Sum}})
	require.NoError(t, err)
	require.Equal(t, Proved, report.Verdict())
	// Declaring half of what a score can change doubles ε.
	declared := doctored{name: "declares half", t: t, pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		wrong := *in
		wrong.Sensitivities = rats(t.(*testing.T), "1/2")
		return exactly(t, "pf", &wrong)
	}}
	p = Claim{Mechanism: declared, Epsilon: parse(t, "9/4"), Sensitivities: []*big.Rat{one}}
	report, err = Scores(context.Background(), p, [][]*big.Rat{rats(t, "5", "4", "2", "7")}, false, Options{Properties: []Property{DP}})
	require.NoError(t, err)
	dp := report.Find(DP)
	require.Equal(t, Violated, dp.Verdict)
	require.Equal(t, "81/16", dp.TightExpEps.RatString())
	require.Equal(t, "scores (0, 0) and (-1, 1), candidate 0: 0.5 and 0.0987654320987…, a ratio of e^1.622", dp.Witness.String())
}

func TestScoresRefusesNonsense(t *testing.T) {
	p := problem(t, "pf", "0.5")
	for _, vectors := range [][][]*big.Rat{
		nil,
		{rats(t, "0", "1"), rats(t, "0")},
		{{}},
		{rats(t, "100000000000000000000", "1/3")},
	} {
		_, err := Scores(context.Background(), p, vectors, false, Options{})
		require.Error(t, err)
	}
}
