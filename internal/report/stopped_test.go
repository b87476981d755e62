package report

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
	"optratio/verify"
)

// drawnOf is the body of the page of an audit with the given properties.
func drawnOf(t *testing.T, properties ...verify.Result) string {
	t.Helper()
	r := reported(properties...)
	r.Claimed, r.Questions = num("1"), 2
	head, rest := said(r, Context{}).Parts(1)
	return head + rest
}

// Where a sampler's δ was bounded, the page says it with its confidence.
func TestDeltaOfSamplesOnThePage(t *testing.T) {
	r := reported(verify.Result{Name: verify.ApproximateDP, Verdict: verify.Violated, Checked: 1, Reason: "δ is at least 0.5 with confidence 0.95"})
	r.Claimed, r.Confidence, r.Samples, r.DeltaBound = num("1"), rat("0.95"), 3000, num("1/2")
	head, _ := said(r, Context{}).Parts(1)
	require.Contains(t, head, "<p>δ is at least 0.5 with confidence 0.95; claimed: ε = 1.</p>\n<p>3,000 samples.</p>")
}

// The page of a check that was stopped names no tight ε or δ and draws none; where nothing was compared, it has no number at all.
func TestStoppedOnThePage(t *testing.T) {
	attained := &verify.Witness{Scores: rats("0"), Neighbor: rats("1"), Candidate: new(0), P: number.Estimate(0.5, "m"), PNeighbor: number.Estimate(0.25, "m")}
	atLeast := number.Bounds(rat("1/4"), nil)
	for _, c := range []struct {
		property verify.Result
		want     string
	}{
		{verify.Result{Name: verify.DP, Verdict: verify.Undecided, Checked: 1700, Stopped: true, Total: 24000, TightEps: atLeast, Attained: attained}, "ε at least 0.25, after 1700 of 24000 comparisons; claimed: ε = 1"},
		{verify.Result{Name: verify.DP, Verdict: verify.Undecided, Checked: 1700, Stopped: true, TightEps: atLeast, Attained: attained}, "ε at least 0.25, after 1700 comparisons; claimed: ε = 1"},
		{verify.Result{Name: verify.DP, Verdict: verify.Undecided, Stopped: true, Reason: "it was stopped"}, "it was stopped"},
		{verify.Result{Name: verify.ApproximateDP, Verdict: verify.Undecided, Checked: 5, Stopped: true, Total: 10, TightDelta: number.Bounds(rat("1/4"), rat("1")), Attained: attained}, "δ at least 0.25, after 5 of 10 comparisons; claimed: ε = 1"},
	} {
		body := drawnOf(t, c.property)
		require.Contains(t, body, c.want)
		for _, claim := range []string{"tight ε", "tight δ", "<svg", "closest to the limit"} {
			require.NotContains(t, body, claim, c.property)
		}
	}
	require.Contains(t, drawnOf(t, verify.Result{Name: verify.DP, Verdict: verify.Proved, Checked: 24000, TightEps: num("1/4"), Attained: attained}), "Tight ε 0.25; claimed: ε = 1.")
}

// The page of an audit of inputs shows them, and the multiple of ε that counts at a distance.
func TestInputsOnThePage(t *testing.T) {
	near := verify.Witness{Input: json.RawMessage("[3,1]"), NeighborInput: json.RawMessage("null"), Event: "yes", P: num("1/2"), PNeighbor: num("1/8")}
	far := near
	far.Distance = rat("2")
	body := drawnOf(t, verify.Result{Name: verify.DP, Verdict: verify.Violated, Checked: 4, Witness: &near}, verify.Result{Name: verify.BoundedRange, Verdict: verify.Violated, Checked: 4, Witness: &near})
	require.Contains(t, body, "On input [3,1] the output is yes with probability 1/2. Its neighbor is input null, and there the probability is 1/8.")
	require.Contains(t, body, "at most e<sup>ε</sup> times, here 2.71828")
	require.Contains(t, body, "bounded-range fails: inputs [3,1] and null, output &#34;yes&#34;: 0.5 and 0.125")
	require.Contains(t, body, "Upper bars: probabilities on input [3,1]. Lower bars: on the neighboring input null.")
	require.NotContains(t, body, "()")
	require.NotContains(t, body, "score")
	require.Contains(t, drawnOf(t, verify.Result{Name: verify.DP, Verdict: verify.Violated, Checked: 4, Witness: &far}), "here 7.38906, ε times the distance 2 of the two")
}

// Only neighbors are called so: of a shift, the lower bars are on other scores.
func TestOnlyNeighborsAreCalledSo(t *testing.T) {
	w := verify.Witness{Scores: []*big.Rat{rat("3")}, Neighbor: []*big.Rat{rat("0")}, Event: "error", P: num("1"), PNeighbor: num("0")}
	body := drawnOf(t, verify.Result{Name: verify.Shift, Verdict: verify.Violated, Fact: true, Checked: 4, Witness: &w})
	require.Contains(t, body, "Upper bars: probabilities on scores (3). Lower bars: on scores (0).")
}
