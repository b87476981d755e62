package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
)

// A flag that is given without a value is refused by every command, before anything else: it must not be taken for the default.
func TestEmptyValuesAreRefused(t *testing.T) {
	seen := commandtest.RefuseEmptyValues(t, newRoot(command.Streams{}), Run, map[string]string{"check": "file.csv", "merge": "file.csv"})
	assert.Greater(t, seen, 100)
}

// A flag without its value does not take the flag behind it for one.
func TestFlagsAreNoValues(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"heterogeneous", "--sensitivities", "1,3", "--grid", "0:1", "--eps", "1", "--html", "--shift-invariant"}
	assert.Equal(t, 2, Run(t.Context(), args, strings.NewReader(""), &out, &errs))
	assert.Equal(t, "optratio: --html has no value: --shift-invariant after it is a flag; give --html its value\n", errs.String())
}

// What counts something is not negative, in any command.
func TestNegativeCountsAreRefused(t *testing.T) {
	assert.Greater(t, commandtest.RefuseNegativeCounts(t, newRoot(command.Streams{}), Run), 15)
}

// Nor does a gap in a list go unnoticed.
func TestEmptyItemsAreRefused(t *testing.T) {
	commandtest.RefuseEmptyItems(t, Run, [][]string{
		{"evaluate", "--task", "scores", "--scores", "0,1", "--eps", "1,,2"},
		{"evaluate", "--task", "scores", "--scores", "0,1", "--eps", "1,"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1,,2"},
		{"ratio", "-n", "3", "-k", "2", "--exp-eps", ",2"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1", "--mechanism", "pf,,em"},
		{"verify", "--mechanism", "pf", "-n", "3", "-k", "2", "--eps", "1", "--property", "dp,"},
		{"audit", "--pmf-exec", "true", "--eps", "1", "--property", ",dp"},
		{"sweep", "-n", "3,,4", "-k", "2", "--eps", "1", "-o", "x.csv"},
		{"sweep", "-n", "3", "-k", "2", "--eps", "1,,2", "-o", "x.csv"},
		{"pmf", "--scores", "0,,1", "--eps", "1"},
		{"pmf", "--scores", "0,1", "--sensitivities", "1,", "--eps", "1"},
		{"heterogeneous", "--sensitivities", "1,,2", "--exp-eps", "2"},
	}...)
}

// Control characters of a file's name, of a label and of what a program says do not reach the terminal as they are.
func TestControlCharactersAreShown(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a\x1b[31mb.csv")
	rows := `{"scores":[0,0],"pmf":{"x\u001b[31m":1}}` + "\n" + `{"scores":[1,0],"pmf":{"y":1}}`
	require.NoError(t, os.WriteFile(name, []byte(rows), 0o600))
	for _, args := range [][]string{
		{"sweep", "merge", "-o", filepath.Join(t.TempDir(), "x.csv"), name},
		{"check", name},
		{"verify", "--eps", "1", "--mechanism", "em", "--domain", name},
		{"audit", "--eps", "1", "--pmf-file", name},
		{"audit", "--eps", "1", "--pmf-file", name, "--outcomes", "labels"},
		{"audit", "--eps", "1", "--pmf-exec", "echo 'no\x1b[31m' >&2; exit 1", "-n", "1", "-k", "1"},
	} {
		_, out, errs := quietly(args...)
		assert.NotContains(t, out+errs, "\x1b", "%q", args)
		assert.Contains(t, out+errs, `\x1b[31m`, "%q", args)
	}
}

// A pipe that nobody reads is not waited for without end.
func TestPipeWithoutReader(t *testing.T) {
	defer func(d time.Duration) { command.PipePatience = d }(command.PipePatience)
	command.PipePatience = 30 * time.Millisecond
	code, _, errs := quietly("-n", "3", "-k", "2", "--exp-eps", "2", "--cert", commandtest.Pipe(t))
	require.Equal(t, command.Usage, code)
	assert.Contains(t, errs, "--cert")
	assert.Contains(t, errs, "nobody opened this pipe to read")
}
