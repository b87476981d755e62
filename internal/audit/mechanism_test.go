package audit

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/verify"
)

// Mechanisms of the same process are audited as programs are: what they should not do is a finding, and the audit goes on.
func TestMechanismsOfThisProcess(t *testing.T) {
	em := mechanisms.Exponential()
	o := Options{Epsilon: epsilon(t, "1"), N: 2, K: 1, Properties: []verify.Property{verify.DP, verify.Symmetry}}
	r, err := Mechanism(context.Background(), em, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Proved, r.Verdict(), "%s", r)
	assert.Equal(t, ownPrecision, r.Precision)
	for name, m := range map[string]mechanisms.Mechanism{
		"errors": mechanisms.FromFloat(em.Info(), 0, func(scores []float64, _, _ float64) ([]float64, error) {
			if scores[0] < scores[1] {
				return nil, errors.New("not me")
			}
			return []float64{0.5, 0.5}, nil
		}),
		"panics": mechanisms.FromRational(em.Info(), func(in *mechanisms.Instance) ([]*big.Rat, error) {
			if in.Scores[0].Cmp(in.Scores[1]) < 0 {
				panic("not me")
			}
			return []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2)}, nil
		}),
	} {
		r, err := Mechanism(context.Background(), m, o)
		require.NoError(t, err, name)
		assert.Equal(t, verify.Violated, r.Find(Answers).Verdict, name)
		assert.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, name)
		require.NotEmpty(t, r.Findings, name)
		assert.Contains(t, r.Findings[0].String(), "not me", name)
	}
	// Enclosures that do not narrow decide nothing, in whosever favour they might be read.
	wide := mechanisms.FromEnclosure(em.Info(), func(in *mechanisms.Instance, _ uint) (lower, upper []*big.Float, err error) {
		for range in.Scores {
			lower, upper = append(lower, new(big.Float)), append(upper, big.NewFloat(1))
		}
		return lower, upper, nil
	})
	r, err = Mechanism(context.Background(), wide, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	assert.Contains(t, r.Find(verify.DP).Reason, "relative precision")
	// What has no answer is undecided, not a finding.
	silent := mechanisms.FromRational(em.Info(), func(*mechanisms.Instance) ([]*big.Rat, error) { return nil, mechanisms.ErrNotRational })
	r, err = Mechanism(context.Background(), silent, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	assert.Empty(t, r.Findings)
	// A stop leaves undecided what is not refuted.
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = Mechanism(stopped, em, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Undecided, r.Verdict())
}

// Options need an ε and nothing else.
func TestZeroOptions(t *testing.T) {
	em := mechanisms.Exponential()
	for _, o := range []Options{{}, {Epsilon: epsilon(t, "1"), N: -1}, {Epsilon: epsilon(t, "1"), Sensitivity: new(big.Rat)}} {
		_, err := Mechanism(context.Background(), em, o)
		assert.ErrorIs(t, err, errOptions)
		_, err = Draws(context.Background(), em, nil, o)
		assert.ErrorIs(t, err, errOptions)
		_, err = pmfOf(context.Background(), "cat", o)
		assert.ErrorIs(t, err, errOptions)
		_, err = samplesOf(context.Background(), "cat", o)
		assert.ErrorIs(t, err, errOptions)
	}
	o := Options{Epsilon: epsilon(t, "1")}
	_, err := Mechanism(context.Background(), nil, o)
	assert.ErrorIs(t, err, errOptions)
	_, err = Draws(context.Background(), nil, nil, o)
	assert.ErrorIs(t, err, errOptions)
	r, err := Mechanism(context.Background(), em, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Proved, r.Verdict(), "%s", r)
	assert.Len(t, r.Properties, 7)
	r, err = Draws(context.Background(), em, rand.NewPCG(1, 1), Options{Epsilon: epsilon(t, "1"), Budget: 20_000})
	require.NoError(t, err)
	assert.True(t, r.LowerBound.IsValid() && r.Confidence.Cmp(big.NewRat(19, 20)) == 0)
	require.NotEmpty(t, r.History)
	for i, p := range r.History[1:] {
		assert.Greater(t, p.Eps.Float64(), r.History[i].Eps.Float64())
		assert.Greater(t, p.Samples, r.History[i].Samples)
	}
	assert.Equal(t, r.LowerBound, r.History[len(r.History)-1].Eps, "the bound that is reported is the last one")
	assert.LessOrEqual(t, r.History[len(r.History)-1].Samples, r.Samples)
	half := inquiry.Rational(big.NewRat(1, 2))
	table := &Table{Scores: [][]*big.Rat{{new(big.Rat), new(big.Rat)}}, PMF: [][]*inquiry.Value{{half, half}}}
	_, err = table.Audit(context.Background(), false, o)
	assert.NoError(t, err)
}
