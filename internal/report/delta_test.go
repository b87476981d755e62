package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where a sampler's δ was bounded, the page says it with its confidence.
func TestDeltaOfSamplesOnThePage(t *testing.T) {
	p, err := New([]byte(`{"schema":"optratio.audit/1","mechanism":"m","domain":"d","claimed_eps":{"lower":"1","upper":"1","exact":"1"},"confidence":0.95,"samples":3000,
		"delta_lower_bound":{"lower":"0.5","upper":"0.5","exact":"1/2"},"properties":[{"name":"approximate-dp","verdict":"violated","checked":1,"reason":"r"}]}`), Context{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.WriteBody(&b))
	require.Contains(t, b.String(), "samples, δ at ε = 1 is at least 0.5 with confidence 95 %")
}
