package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/number"
)

// --draw runs the mechanism that --optimal writes: outputs come in the order of the inputs, and as often as its probabilities say. In 4000 draws a
// frequency is farther from its probability than 0.05 with probability below 10^-8.
func TestOptimumDraws(t *testing.T) {
	draw := func(args ...string) (drawn []document.Drawn, pmf [][]number.Number) {
		t.Helper()
		var out, problems bytes.Buffer
		require.Equal(t, command.Done, Run(t.Context(), append([]string{"optimum", "--json"}, args...), strings.NewReader(""), &out, &problems), problems.String())
		var doc document.Optimum
		require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
		return doc.Drawn, doc.Mechanism
	}
	alone := filepath.Join(t.TempDir(), "alone.json") // nobody has a neighbor: each input has its own output
	require.NoError(t, os.WriteFile(alone, []byte(`{"inputs":["a","b"],"outputs":["a","b"],"pairs":[],"loss":"zero-one","prior":"uniform"}`), 0o644))
	drawn, _ := draw(alone, "--eps", "1", "--draw", "b", "--draw", "a", "--draw", "b")
	assert.Equal(t, []document.Drawn{{Input: "b", Output: "b"}, {Input: "a", Output: "a"}, {Input: "b", Output: "b"}}, drawn)

	args := []string{"--preset", "count:2", "--exp-eps", "2"}
	for range 4000 {
		args = append(args, "--draw", "1")
	}
	drawn, pmf := draw(args...)
	require.Len(t, drawn, 4000)
	count := map[string]float64{}
	for _, d := range drawn {
		count[d.Output]++
	}
	for o, name := range []string{"0", "1", "2"} {
		p, ok := pmf[1][o].Rat()
		require.True(t, ok)
		want, _ := p.Float64()
		assert.InDelta(t, want, count[name]/4000, .05, name)
	}
	drawn, _ = draw("--preset", "count:2", "--exp-eps", "2")
	assert.Empty(t, drawn)
}
