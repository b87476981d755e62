package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// TestSlack: --slack moves the ends of what is proved and violated, of verify and of audits of scores and of inputs alike, and without it JSON numbers have 1e-6 of ε.
func TestSlack(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	const p, q = "[0.5,0.5]", "[0.816060371384116,0.183939628615884]" // a tight ε of 1 + 5.0e-7
	scores := "audit --eps 1 --pmf-file " + write("scores", `{"scores":[0,0],"pmf":`+p+"}\n"+`{"scores":[0,-1],"pmf":`+q+"}\n")
	inputs := "audit --eps 1 --pmf-file " + write("table", `{"input":1,"pmf":`+p+"}\n"+`{"input":2,"pmf":`+q+"}\n") +
		" --inputs " + write("inputs", "1\n2\n") + " --neighbors " + write("pairs", "0,1\n")
	named := "verify --mechanism rnmh-laplace -n 2 -k 2 --exp-eps 2" // a tight ε of ln 2 + 0.34999
	for line, want := range map[string]int{
		scores: command.Done, scores + " --slack 0": command.Violated, scores + " --slack 4e-7": command.Violated, scores + " --slack 6e-7": command.Done,
		scores + " --slack 5.017e-7": command.Undecided, scores + " --pmf-precision 0": command.Violated,
		inputs: command.Done, inputs + " --slack 0": command.Violated, inputs + " --slack 6e-7": command.Done,
		named: command.Violated, named + " --slack 0.3": command.Violated, named + " --slack 0.35": command.Done,
	} {
		code, out, said := quietly(strings.Fields(line)...)
		assert.Equal(t, want, code, "%s\n%s%s", line, out, said)
	}
}
