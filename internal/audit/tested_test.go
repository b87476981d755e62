package audit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// tilted is a law that some vectors are doctored of.
func tilted(l law, change func(q, p []float64)) law {
	return func(q []float64) []float64 {
		p := l(q)
		change(q, p)
		return p
	}
}

// TestPropertiesOfSamplers: samplers that lack a property are found to, by the test of it, and those that have all are not.
func TestPropertiesOfSamplers(t *testing.T) {
	all := []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone}
	for _, c := range []struct {
		name    string
		law     law
		violate []verify.Property
	}{
		{"permute-and-flip", flipLaw(1), nil},
		{"exponential mechanism", softmaxLaw(1, 1), nil},
		{"the first candidate is preferred", tilted(flipLaw(1), func(_, p []float64) {
			p[0], p[1] = p[0]+0.2*p[1], 0.8*p[1]
		}), []verify.Property{verify.Symmetry}},
		{"uniform where the best score is positive", tilted(flipLaw(1), func(q, p []float64) {
			if max(q[0], q[1], q[2]) > 0 {
				for r := range p {
					p[r] = 1.0 / 3
				}
			}
		}), []verify.Property{verify.Shift}},
		{"the worst is the best", func(q []float64) []float64 { return flipLaw(1)([]float64{-q[0], -q[1], -q[2]}) }, []verify.Property{verify.Monotone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := [][]verify.Property{all}
			if slowtest.Enabled {
				asked = append(asked, all[1:])
			}
			for _, properties := range asked {
				o := samplerOptions(t, "1", 100_000)
				o.Properties = properties
				r, err := draw(c.name, newLawSampler(c.law, 4), o)
				require.NoError(t, err)
				require.LessOrEqual(t, r.Samples, o.Budget)
				require.Equal(t, len(properties) == len(all), r.Find(verify.DP) != nil)
				for _, p := range all[1:] {
					res := r.Find(p)
					require.NotNil(t, res)
					require.Positive(t, res.Checked)
					require.Contains(t, res.Reason, "test of samples")
					if c.violate == nil {
						assert.Equal(t, verify.Undecided, res.Verdict, "%v", res)
					}
				}
				for _, p := range c.violate {
					res := r.Find(p)
					require.Equal(t, verify.Violated, res.Verdict, "%v", res)
					require.Contains(t, res.Reason, "p <= ")
					require.NotNil(t, res.Witness.Neighbor)
				}
			}
		})
	}
	o := samplerOptions(t, "1", 1000)
	o.Outcomes, o.Properties = Labels, []verify.Property{verify.Symmetry}
	_, err := draw("labels", newLawSampler(flipLaw(1), 1), o)
	require.ErrorIs(t, err, errOptions)
}

// TestFalseAlarmsOfComparisons: of many tests of a correct sampler at 80 %, one in five may fail; fewer do.
func TestFalseAlarmsOfComparisons(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	alarms := 0
	for seed := range uint64(40) {
		o := samplerOptions(t, "1", 20_000)
		o.Seed, o.Confidence, o.Properties = seed, big.NewRat(4, 5), []verify.Property{verify.Symmetry, verify.Shift, verify.Monotone}
		r, err := draw("pf", newLawSampler(flipLaw(1), seed), o)
		require.NoError(t, err)
		for _, p := range o.Properties {
			if r.Find(p).Verdict == verify.Violated {
				alarms++
				break
			}
		}
	}
	require.LessOrEqual(t, alarms, 14) // Bin(40, 1/5) exceeds it once in 100 times or so
}

// TestBoundsOnRangeAndRho: bounds from below are below the truth, and near it; targets are violated where they are above it.
func TestBoundsOnRangeAndRho(t *testing.T) {
	for _, c := range []struct {
		law     law
		p       verify.Property
		target  *big.Rat
		verdict verify.Verdict
	}{
		// Permute-and-flip's range on neighbors reaches beyond ε; the exponential mechanism has range ε.
		{flipLaw(1), verify.BoundedRange, nil, verify.Violated},
		{softmaxLaw(1, 1), verify.BoundedRange, nil, verify.Undecided},
		{softmaxLaw(1, 1), verify.BoundedRange, big.NewRat(4, 5), verify.Violated},
		{softmaxLaw(1, 1), verify.ZCDP, big.NewRat(1, 8), verify.Undecided}, // its ρ is at most ε²/8
		{softmaxLaw(1, 1), verify.ZCDP, big.NewRat(1, 12), verify.Violated},
		{flipLaw(1), verify.ZCDP, big.NewRat(1, 8), verify.Violated},
		{softmaxLaw(1, 1), verify.ZCDP, nil, verify.Undecided},
		{softmaxLaw(1, 1), verify.ZCDP, new(big.Rat), verify.Violated},
	} {
		o := samplerOptions(t, "1", 100_000)
		o.Properties, o.Targets = []verify.Property{verify.DP, c.p}, map[verify.Property]*big.Rat{c.p: c.target}
		r, err := draw("it", newLawSampler(c.law, 4), o)
		require.NoError(t, err)
		res := r.Find(c.p)
		require.Equal(t, c.verdict, res.Verdict, "%v: %v", c, res)
		require.Contains(t, res.Reason, "test of samples")
		require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
		require.InDelta(t, o.Budget, r.Samples, 20)
	}
}

// TestConcentratedClaims: what ρ-zCDP says of an event holds wherever no order's divergence exceeds it, and for points that do exceed it, it fails at some order.
func TestConcentratedClaims(t *testing.T) {
	greatest := func(p, o float64) (most float64) {
		for alpha := 1.001; alpha < 500; alpha *= 1.02 {
			if d := math.Log(divergenceOf(p, o, alpha)) / (alpha - 1) / alpha; !math.IsNaN(d) {
				most = max(most, d)
			}
		}
		return most
	}
	rng := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		p, o, rho := rng.Float64(), rng.Float64(), math.Exp(-6*rng.Float64())
		p, o = max(p, o), min(p, o)
		rat, alpha := new(big.Rat).SetFloat64(rho), steepest(p, o)
		k := concentrated(rat, alpha, p, o)
		if math.IsInf(k.c, 1) {
			continue
		}
		require.Greater(t, greatest(p, o), 0.999*rho)
		require.Greater(t, p, k.at(o), "the estimate fails what is said")
		for i := range 41 {
			for j := range 41 {
				if x, y := (float64(i)+0.01)/41, (float64(j)+0.01)/41; x > y && greatest(x, y) < rho {
					require.LessOrEqual(t, x, k.at(y)+1e-12, "ρ = %v, claimed at (%v, %v)", rho, x, y)
				}
			}
		}
	}
	// Randomised response with ln odds 1: D_1 = tanh(1/2) is the greatest of D_α/α.
	p, o := math.E/(1+math.E), 1/(1+math.E)
	alpha := steepest(p, o)
	require.False(t, math.IsInf(concentrated(big.NewRat(45, 100), alpha, p, o).c, 1))
	require.True(t, math.IsInf(concentrated(big.NewRat(47, 100), alpha, p, o).c, 1))
}

// TestDifferencesThatWouldShow: what an audit says would show is found nearly always where it is at a single score vector, and equal laws are told apart no more often than
// the level says.
func TestDifferencesThatWouldShow(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	for _, budget := range []int64{10_000, 100_000} {
		audit := func(seed uint64, difference float64) *verify.Result {
			drawer := func(more float64, seed uint64) sampler {
				return newLawSampler(func(q []float64) []float64 {
					p := []float64{0.4, 0.5, 0.1}
					if q[0] == 0 && q[1] == 0 && q[2] == -2 {
						p[0], p[1] = p[0]+more, p[1]-more
					}
					return p
				}, seed)
			}
			o := samplerOptions(t, "1", budget)
			o.K, o.Seed, o.Properties, o.Reference = 1, seed, []verify.Property{}, "reference"
			own, other := drawer(0, seed+1), drawer(difference, seed+1000)
			o.beside = func(compared []comparison) sampler { return &sides{compared, own, other} }
			r, err := draw("it", own, o)
			require.NoError(t, err)
			return r.Find(Same)
		}
		said, alarms, found := 0.0, 0, 0
		for seed := range uint64(60) {
			if res := audit(seed, 0); res.Verdict == verify.Violated {
				alarms++
			} else if said == 0 {
				_, reason, _ := strings.Cut(res.Reason, "differ by ")
				_, err := fmt.Sscan(reason, &said)
				require.NoError(t, err)
			}
		}
		for seed := range uint64(30) {
			if audit(seed, said).Verdict == verify.Violated {
				found++
			}
		}
		t.Logf("%d samples: %v would show, and does %d of 30 times; %d of 60 false alarms", budget, said, found, alarms)
		require.GreaterOrEqual(t, found, 24)
		require.LessOrEqual(t, alarms, 8) // Bin(60, 1/20) exceeds it once in 200 times
	}
}
