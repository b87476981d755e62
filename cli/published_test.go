package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// published are programs with faults that others reported, written anew from the reports: what they answer to a question.
var published = map[string]func(input json.RawMessage, epsilon float64) any{"gaussian": gaussian}

// servePublished answers questions as a published program does.
func servePublished(answer func(json.RawMessage, float64) any) {
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var q struct {
			Input   json.RawMessage `json:"input"`
			Epsilon float64         `json:"epsilon"`
		}
		_ = json.Unmarshal(in.Bytes(), &q)
		_ = out.Encode(answer(q.Input, q.Epsilon))
	}
}

// gaussian adds normal noise of scale √(2 ln(1.25/δ))/ε to a count, at δ = 1e-5, and states the probabilities of intervals.
func gaussian(input json.RawMessage, epsilon float64) any {
	var count float64
	_ = json.Unmarshal(input, &count)
	sigma := math.Sqrt(2*math.Log(1.25e5)) / epsilon
	below := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	p := map[string]float64{}
	for i := -200; i <= 200; i++ {
		low, high := float64(i)/20-count/sigma, float64(i+1)/20-count/sigma
		switch {
		case i == -200:
			p[fmt.Sprint(i)] = below(high)
		case i == 200:
			p[fmt.Sprint(i)] = below(-low)
		case low > 0: // the right tail, without cancellation
			p[fmt.Sprint(i)] = below(-low) - below(-high)
		default:
			p[fmt.Sprint(i)] = below(high) - below(low)
		}
	}
	return map[string]any{"pmf": p}
}

// ask runs a command, with what is on its standard input.
func ask(t *testing.T, stdin string, args ...string) (out, problems string, code int) {
	t.Helper()
	var o, p bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(stdin), &o, &p)
	return o.String(), p.String(), code
}

// fileOf writes a text to a file.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSeveralEpsilons: the classical scale of Gaussian noise is private up to ε = 1 and not at 10 (opendp/smartnoise-sdk, issue 462, "Gaussian formula looks wrong
// when epsilon>1"): one run tells. Φ(1/2σ - 10σ) - e^10 Φ(-1/2σ - 10σ) = 2.27e-5.
func TestSeveralEpsilons(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "verdicts.xml")
	args := []string{"audit", "--pmf-exec", subjectCommand("gaussian"), "--inputs", fileOf(t, "0\n1\n"), "--neighbors", fileOf(t, "0,1\n"), "--outcomes", "labels", "--delta", "1e-5"}
	out, problems, code := ask(t, "", append(args, "--eps", "0.5,1,10", "--json", "--junit", junit)...)
	require.Equal(t, command.Violated, code, problems)
	var docs []struct {
		Claimed    struct{ Exact string } `json:"claimed_eps"`
		Properties []struct {
			Name, Verdict string
			TightDelta    struct{ Lower string } `json:"tight_delta"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	require.Len(t, docs, 3)
	for i, want := range []string{"1/2 proved", "1 proved", "10 violated"} {
		assert.Equal(t, "approximate-dp", docs[i].Properties[0].Name)
		assert.Equal(t, want, docs[i].Claimed.Exact+" "+docs[i].Properties[0].Verdict)
	}
	assert.True(t, strings.HasPrefix(docs[2].Properties[0].TightDelta.Lower, "0.000022"), out)
	text, err := os.ReadFile(junit)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), "<testsuite "))
	assert.Equal(t, 1, strings.Count(string(text), "<failure"))

	out, _, code = ask(t, "", append(args, "--eps", "0.5,1")...)
	assert.Equal(t, command.Done, code)
	assert.Contains(t, out, "ε = 0.5\n")
	assert.Contains(t, out, "ε = 1\n")
	for what, more := range map[string][]string{"--cert: a certificate is about one ε": {"--cert", filepath.Join(t.TempDir(), "c")}, "--html: a page is about one ε": {"--html", filepath.Join(t.TempDir(), "p")}} {
		_, problems, code = ask(t, "", append(append(args, "--eps", "0.5,1"), more...)...)
		assert.Equal(t, command.Usage, code)
		assert.Contains(t, problems, what)
	}
	// Verdicts on samples share what is left to chance: 5 % of two are 2.5 % each.
	out, problems, code = ask(t, "", "audit", "--sample-exec", `while read -r q; do s=${q##*:}; s=${s%?}; echo "{\"counts\":[$s,0]}"; done`, "--eps", "1,2", "-n", "2", "-k", "1", "--budget", "2000")
	assert.Equal(t, command.Done, code, problems)
	assert.Equal(t, 2, strings.Count(out, "with confidence 0.975"))
}
