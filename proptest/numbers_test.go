package proptest

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// TestNumbersOfMechanisms: floats are handed on as they are, enclosures are narrowed until they say what the nearest floats are.
func TestNumbersOfMechanisms(t *testing.T) {
	in, err := Case{Scores: []float64{0, -2}, Sensitivity: 1, Epsilon: 1}.instance(decimal)
	require.NoError(t, err)
	float := mechanisms.FromFloat(mechanisms.Info{Name: "f"}, 1e-3, func(scores []float64, _, _ float64) ([]float64, error) { return []float64{1.0 / 3, 2.0 / 3}, nil })
	p, err := numbers(float, in)
	require.NoError(t, err)
	assert.Equal(t, []float64{1.0 / 3, 2.0 / 3}, p)

	var asked []uint
	enclosed := func(width func(prec uint) float64) mechanisms.Mechanism {
		asked = nil
		return mechanisms.FromEnclosure(mechanisms.Info{Name: "e", Uniform: true}, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
			asked = append(asked, prec)
			for range in.Scores {
				lower, upper = append(lower, big.NewFloat(0.5-width(prec))), append(upper, big.NewFloat(0.5+width(prec)))
			}
			return lower, upper, nil
		})
	}
	p, err = numbers(enclosed(func(prec uint) float64 {
		if prec < 300 {
			return 1e-9
		}
		return 1e-16
	}), in)
	require.NoError(t, err)
	assert.InDelta(t, 0.5, p[0], 1e-15)
	assert.Equal(t, []uint{96, 192, 384}, asked)
	_, err = numbers(enclosed(func(prec uint) float64 { return 1e-9 }), in)
	require.NoError(t, err)
	assert.Equal(t, []uint{96, 192, 384, 768, 1536, 3072}, asked, "as narrow as they get")

	eps, err := fraction(1)
	require.NoError(t, err)
	z, ok := eps.Z()
	assert.True(t, ok && z.Cmp(big.NewRat(64, 174)) == 0, "e = 173.97/64, rounded up: %v", z)
	eps, err = decimal(0.5)
	require.NoError(t, err)
	assert.Equal(t, "1/2", eps.Eps().RatString())
}

// onlyFractions answers where e^ε is rational: with p for every candidate of two, and 1 for one.
func onlyFractions(t *testing.T, p *big.Rat) mechanisms.Mechanism {
	return mechanisms.FromRational(mechanisms.Info{Name: "fractions", Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		require.NoError(t, in.Check())
		if _, ok := in.Epsilon.Z(); !ok {
			return nil, mechanisms.ErrNotRational
		}
		out := make([]*big.Rat, len(in.Scores))
		for i := range out {
			out[i] = new(big.Rat).Mul(p, big.NewRat(1, int64(len(out))))
		}
		return out, nil
	})
}

// TestRationalMechanismsAreAskedWhereTheyAnswer: a mechanism for rational e^ε alone is not passed for want of answers.
func TestRationalMechanismsAreAskedWhereTheyAnswer(t *testing.T) {
	em, err := mechanisms.Lookup("em")
	require.NoError(t, err)
	assert.False(t, rationalOnly(em))
	assert.True(t, rationalOnly(onlyFractions(t, big.NewRat(1, 1))))
	o := Options{Properties: []verify.Property{Answers, Repeatable, sum, dp}, Cases: 20}
	failures, err := Check(Of(onlyFractions(t, big.NewRat(1, 1))), o)
	require.NoError(t, err)
	assert.Empty(t, failures)
	o.Properties = []verify.Property{sum}
	o.Cases = 5
	_, err = Check(Of(em), o)
	require.NoError(t, err)
}

// TestHowSubjectsAreCalled: the number of cases, and what counts as no answer.
func TestHowSubjectsAreCalled(t *testing.T) {
	uniformly := func(c Case) ([]float64, error) { return uniform(len(c.Scores)), nil }
	calls := 0
	count := func(o Options) int {
		calls = 0
		failures, err := Check(PMF(func(c Case) ([]float64, error) { calls++; return uniformly(c) }), o)
		require.NoError(t, err)
		require.Empty(t, failures)
		return calls
	}
	each := count(Options{Properties: []verify.Property{Answers}, Cases: 1})
	assert.Equal(t, 60*each, count(Options{Properties: []verify.Property{Answers}}))
	assert.Equal(t, 7*each, count(Options{Properties: []verify.Property{Answers}, Cases: 7}))

	for name, p := range map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1)} {
		failures, err := Check(PMF(func(c Case) ([]float64, error) { return slices.Repeat([]float64{p}, len(c.Scores)), nil }), Options{Properties: []verify.Property{Answers}})
		require.NoError(t, err)
		require.Len(t, failures, 1, name)
		assert.Contains(t, failures[0].reason, "the probability of candidate 0 is")
	}
	// Wrong once, and never again.
	for wrong := 1; wrong <= 30; wrong += 7 {
		n := 0
		failures, err := Check(PMF(func(c Case) ([]float64, error) {
			if n++; n == wrong {
				return nil, errors.New("out of sorts")
			}
			return uniformly(c)
		}), Options{Properties: []verify.Property{Answers}})
		require.NoError(t, err)
		if len(failures) > 0 { // a case is asked about twice, and this shows at the second time
			assert.Equal(t, "it failed once, and not when it was tried again", failures[0].reason)
			calls++
		}
	}
	assert.Greater(t, calls, 7*each)
	// Two answers in turn.
	turn := false
	s, err := newSuite(PMF(func(c Case) ([]float64, error) {
		turn = !turn
		if turn {
			return []float64{1, 0}, nil
		}
		return []float64{0, 1}, nil
	}), Options{})
	require.NoError(t, err)
	c := Case{Scores: []float64{0, 0}, Sensitivity: 1, Epsilon: 1}
	f, err := s.at(Repeatable, c)
	require.NoError(t, err)
	require.NotNil(t, f)
	assert.Equal(t, "the answers are [1 0] and [0 1]", f.reason)
	// What cannot be asked is an error, not a pass.
	for _, bad := range []Case{{Scores: []float64{0, 0}, Sensitivity: 1, Epsilon: -1}, {Scores: []float64{0, 1e300}, Sensitivity: 1, Epsilon: 1}, {Scores: []float64{0, 0x1p-1000}, Sensitivity: 1, Epsilon: 1}} {
		_, err := s.at(sum, bad)
		assert.Error(t, err, "%v", bad)
	}
	_, err = s.at("no such property", c)
	assert.ErrorContains(t, err, "unknown property")
}
