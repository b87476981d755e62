package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
	"optratio/internal/slowtest"
)

func composed(t *testing.T, flags string) (d document.Compose) {
	_, out, errs := quietly(append([]string{"compose", "--json"}, strings.Fields(flags)...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &d), errs)
	return d
}

// TestWhatComposeSaves: what research/docs/compose.md says of accounting for the exponential mechanism as for any ε-DP mechanism.
func TestWhatComposeSaves(t *testing.T) {
	page, err := os.ReadFile("../research/docs/compose.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(page)), " ")
	at := func(mechanism, count string) float64 {
		low, _ := composed(t, "--mechanism "+mechanism+" --total-eps 1 --delta 1e-6 --gap 2e-3 -T "+count).Parameter.Ends()
		x, _ := low.Float64()
		return x
	}
	assert.Contains(t, text, "each of a hundred selections may have ε = 0.02400, and 0.0473 as em, 1.97 times as much. At ten selections it is 0.1000 and 0.1533")
	assert.InDelta(t, 0.02400, at("geo", "100"), 3e-5)
	assert.InDelta(t, 0.0473, at("em", "100"), 1e-4)
	assert.InDelta(t, 0.1000, at("geo", "10"), 3e-4)
	assert.InDelta(t, 0.1533, at("em", "10"), 3e-4)
}

// TestComposeDocument: from which number of selections on the exponential mechanism is the one to take, and the enclosure of a hundred thousand.
func TestComposeDocument(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct{ total, count, gap, first string }{
		{"1", "4", "1e-4", "pf"}, {"1", "5", "1e-4", "em"}, {"3", "5", "1e-4", "pf"}, {"3", "6", "1e-5", "em"}, {"8", "8", "1e-4", "pf"}, {"8", "9", "1e-4", "em"},
	} {
		d := composed(t, "--mechanism em,pf -n 10 -k 10 --delta 1e-6 --gap "+c.gap+" --total-eps "+c.total+" -T "+c.count)
		require.Empty(t, d.Undecided)
		assert.Equal(t, c.first, d.Mechanisms[0].Name, "%v", c)
		if c.total == "3" && c.count == "6" {
			assert.InDelta(t, 0.999484, d.Mechanisms[0].Error.Float64(), 1e-6)
			assert.InDelta(t, 0.999495, d.Mechanisms[1].Error.Float64(), 1e-6)
		}
	}
	low, high := composed(t, "--mechanism em --eps 0.01 -T 100000 --delta 1e-9").EpsTotal.Ends()
	attained, _ := low.Float64()
	bound, _ := high.Float64()
	assert.InDelta(t, 10.321197474, attained, 1e-8)
	assert.Greater(t, bound, attained)
	assert.Less(t, bound, 10.3343637*1.003)
}

// The least bound of all, ε/T, needs no certificate, and that is said.
func TestBasicCompositionHasNoCertificate(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "cert")
	code, _, said := quietly("compose", "--mechanism", "krr", "--candidates", "4", "-T", "1", "--total-eps", "1", "--delta", "1e-3", "--gap", "0.1", "--cert", cert)
	require.Zero(t, code, said)
	require.Contains(t, said, "not written: no certificate")
	require.NoFileExists(t, cert)
}
