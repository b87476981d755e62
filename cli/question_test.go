package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/document"
)

// answered runs a ratio job and returns its document.
func answered(t *testing.T, args ...string) (doc document.Ratio, errs string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Run(context.Background(), append([]string{"ratio", "--json", "--solver", "embedded"}, args...), strings.NewReader(""), &out, &problems)
	if code != command.Usage {
		require.NoError(t, json.Unmarshal(out.Bytes(), &doc), problems.String())
	}
	return doc, problems.String(), code
}

// A prior read from score vectors is the one of their histogram, and a prior that gives every vector of Q the same weight is the uniform one.
func TestPriorsFromFiles(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	scores, err := filepath.Abs("../testdata/priors/scores.txt")
	require.NoError(t, err)
	at := []string{"-n", "3", "-k", "2", "--exp-eps", "2", "--step", "delta", "--constraints", "dp", "--prior"}
	one, problems, code := answered(t, append(at, "scores:"+scores)...)
	require.Zero(t, code, problems)
	// its four vectors in another order of candidates and shifted
	two, problems, code := answered(t, append(at, "histogram:"+write("0,-2,-3;2\n-3,0,0;2\n1,0,0;2\n0,0,0;2\n"))...)
	require.Zero(t, code, problems)
	assert.Equal(t, one.Optimum, two.Optimum)
	assert.Equal(t, one.Mechanisms, two.Mechanisms)

	var all strings.Builder
	for _, v := range []string{"0,0", "0,-1", "-1,0", "0,-2", "-2,0"} { // Q(2,2) at Δ = 1/2
		all.WriteString(v + "\n")
	}
	uniform, _, _ := answered(t, "-n", "2", "-k", "2", "--exp-eps", "2")
	same, problems, code := answered(t, "-n", "2", "-k", "2", "--exp-eps", "2", "--sensitivity", "0.5", "--prior", "scores:"+write(all.String()))
	require.Zero(t, code, problems)
	assert.Equal(t, uniform.Optimum, same.Optimum)
	product, problems, code := answered(t, "-n", "2", "-k", "2", "--exp-eps", "2", "--prior", "product:"+write("1\n1\n1\n"))
	require.Zero(t, code, problems)
	assert.Equal(t, uniform.Optimum, product.Optimum)
	depths, problems, code := answered(t, "-n", "2", "-k", "2", "--exp-eps", "2", "--loss", write("0\n1\n2\n"))
	require.Zero(t, code, problems)
	assert.Equal(t, uniform.Optimum, depths.Optimum)

	for text, want := range map[string]string{
		"0,-1\n0,-1,-2\n": ":2: 3 scores, want -n 2",
		"0,-1/2\n":        ":1: score -1/2 is 1/2 steps of 1 below the best, not a whole number; give a finer --step",
		"0,-3\n":          ":1: score -3 is 3 steps below the best, beyond the lattice's 2; give a larger -k",
		"0,x\n":           ":1: ",
		"":                "the prior's weights are all 0",
	} {
		_, problems, code := answered(t, "-n", "2", "-k", "2", "--exp-eps", "2", "--sensitivity", "0.5", "--prior", "scores:"+write(text))
		assert.Equal(t, command.Usage, code)
		assert.Contains(t, problems, want)
	}
}
