package report

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawnOf is the body of the page of an audit document with the given properties.
func drawnOf(t *testing.T, properties string) string {
	t.Helper()
	p, err := New(fmt.Appendf(nil, `{"schema":"optratio.audit/1","mechanism":"m","domain":"d","claimed_eps":{"lower":"1","upper":"1","exact":"1"},"questions":2,"properties":[%s]}`, properties), Context{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.WriteBody(&b))
	return b.String()
}

// The page of a check that was stopped names no tight ε or δ and draws none; where nothing was compared, it has no number at all.
func TestStoppedOnThePage(t *testing.T) {
	const attained = `,"attained":{"scores":[0],"neighbor":[1],"candidate":0,"p":{"estimate":"0.5","method":"m"},"p_neighbor":{"estimate":"0.25","method":"m"}}`
	for _, c := range []struct{ property, want string }{
		{`{"name":"dp","verdict":"undecided","checked":1700,"total":24000,"tight_eps":{"lower":"0.25","upper":"inf","exact":null}` + attained + `}`, "after 1\u202f700 of 24\u202f000 comparisons: ε is at least 0.25; claimed: 1."},
		{`{"name":"dp","verdict":"undecided","checked":1700,"total":null,"tight_eps":{"lower":"0.25","upper":"inf","exact":null}` + attained + `}`, "after 1\u202f700 comparisons: ε is at least 0.25; claimed: 1."},
		{`{"name":"dp","verdict":"undecided","checked":0,"total":null,"tight_eps":null,"reason":"it was stopped"}`, "it was stopped"},
		{`{"name":"approximate-dp","verdict":"undecided","checked":5,"total":10,"tight_delta":{"lower":"0.25","upper":"1","exact":null}` + attained + `}`, "after 5 of 10 comparisons: δ at ε = 1 is at least 0.25."},
	} {
		body := drawnOf(t, c.property)
		require.Contains(t, body, c.want)
		for _, claim := range []string{"smallest", "tight ε", "tight δ", "<svg", "closest to the limit"} {
			require.NotContains(t, body, claim, c.property)
		}
	}
	require.Contains(t, drawnOf(t, `{"name":"dp","verdict":"proved","checked":24000,"tight_eps":{"lower":"0.25","upper":"0.25","exact":"1/4"}`+attained+`}`), "smallest ε that holds there is 0.25")
}

// The page of an audit of inputs shows them, and the multiple of ε that counts at a distance.
func TestInputsOnThePage(t *testing.T) {
	const pair = `{"input":[3,1],"neighbor_input":null,%s"candidate":"yes","p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.125","upper":"0.125","exact":"1/8"}}`
	near, far := fmt.Sprintf(pair, ""), fmt.Sprintf(pair, `"distance":{"lower":"2","upper":"2","exact":"2"},`)
	body := drawnOf(t, `{"name":"dp","verdict":"violated","checked":4,"tight_eps":null,"witness":`+near+`},{"name":"bounded-range","verdict":"violated","checked":4,"witness":`+near+`}`)
	require.Contains(t, body, "On input [3,1] the output is yes with probability 1/2. Its neighbor is input null, and there the probability is 1/8.")
	require.Contains(t, body, "at most e<sup>ε</sup> times, here 2.71828")
	require.Contains(t, body, "On input [3,1] yes has probability 1/2, on input null 1/8.")
	require.Contains(t, body, "Upper bars: probabilities on input [3,1]. Lower bars: on the neighboring input null.")
	require.NotContains(t, body, "()")
	require.NotContains(t, body, "score")
	require.Contains(t, drawnOf(t, `{"name":"dp","verdict":"violated","checked":4,"tight_eps":null,"witness":`+far+`}`), "here 7.38906, ε times the distance 2 of the two")
}
