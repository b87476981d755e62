package verify

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
)

// Without names dp is asked for, and the other defaults are facts, which do not count.
func TestFactsDoNotCount(t *testing.T) {
	half := numbersOf(t, "0", "0.5", "0.5") // not what dominates the exponential mechanism
	report := readingsOf(t, Options{}, half, half)
	assert.Equal(t, Violated, report.Find(DominatesEM).Verdict)
	assert.Equal(t, "does not have it", inquiry.Word(true, string(report.Find(DominatesEM).Verdict)))
	assert.Equal(t, "has it", inquiry.Word(true, string(report.Find(Shift).Verdict)))
	assert.Equal(t, Proved, report.Verdict())
	text, err := json.Marshal(report.Find(DominatesEM))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"asked":false`)
	text, err = json.Marshal(report.Find(DP))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "asked")
	report = readingsOf(t, Options{Properties: []Property{DP, DominatesEM}}, half, half)
	assert.Equal(t, Violated, report.Verdict(), "it was asked for")
	assert.Len(t, report.Properties, 2)
	// The targets ask too.
	r := readingsOf(t, Options{Targets: map[Property]*big.Rat{ApproximateDP: new(big.Rat), ZCDP: one, BoundedRange: one}}, half, half)
	for i, p := range []Property{ApproximateDP, ZCDP, BoundedRange, Symmetry} {
		assert.Equal(t, p, r.Properties[i].Name)
		assert.Equal(t, i > 2, r.Properties[i].Fact, p)
	}
}

// An infinite ε of tiny probabilities alone is shown with the δ that helps, both rounded up.
func TestInfiniteOfTinyProbabilities(t *testing.T) {
	step := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 52)) // 2.22e-16
	with := func(part *big.Rat) []*inquiry.Value {
		return []*inquiry.Value{inquiry.Rational(new(big.Rat).Sub(big.NewRat(3, 4), part)), ratio64(1, 4), inquiry.Rational(part)}
	}
	plain := []*inquiry.Value{ratio64(1, 2), ratio64(1, 2), ratio64(0, 1)}
	dp := readingsOf(t, Options{Properties: []Property{DP}}, plain, with(step)).Properties[0]
	assert.Equal(t, Violated, dp.Verdict)
	assert.True(t, dp.TightEps.IsInf())
	require.NotNil(t, dp.Relaxed)
	assert.Contains(t, dp.Remark(), "with δ = 2.3e-16 the tight ε is at most 0.6932")
	assert.Nil(t, readingsOf(t, Options{Properties: []Property{DP}}, plain, with(big.NewRat(1, 1<<40))).Properties[0].Relaxed, "2^-40 is not tiny")
	assert.Nil(t, readingsOf(t, Options{Properties: []Property{DP}}, plain, []*inquiry.Value{ratio64(1, 2), ratio64(1, 2), ratio64(0, 1)}).Properties[0].Relaxed)
}
