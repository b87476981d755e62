package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A figure that a limit ends, or whose data cannot be written, leaves no file behind.
func TestFigureIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "f.svg")
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	e := spawn(t, []string{"figure", "worst-ratio", "-n", "9", "-k", "9", "-o", out, "--data", filepath.Join(dir, "f.csv"), "--time-limit", "300ms"})
	assert.Equal(t, exitUndecided, e.code)
	assert.Equal(t, "optratio: the time limit of 300ms was reached; nothing was written\n", e.err)
	assert.Empty(t, files())

	run := func(args ...string) (int, string) {
		var errs strings.Builder
		code := Run(context.Background(), append([]string{"figure", "pf-1a", "--points", "3", "-o", out}, args...), strings.NewReader(""), &strings.Builder{}, &errs)
		return code, errs.String()
	}
	code, text := run("--data", filepath.Join(dir, "nowhere", "f.csv"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, text, "--data")
	assert.Empty(t, files())
	code, text = run("--data", out)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, text, "is the file of -o")

	code, text = run("--data", filepath.Join(dir, "f.csv"))
	assert.Equal(t, exitDone, code, text)
	assert.Equal(t, []string{"f.csv", "f.svg"}, files())
	csv, err := os.ReadFile(filepath.Join(dir, "f.csv"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(csv), "panel,series,p,error\n,em,"), string(csv))
}

// The list as JSON has what a program needs to draw every figure.
func TestListOfFigures(t *testing.T) {
	var out, errs strings.Builder
	require.Equal(t, exitDone, Run(context.Background(), []string{"figure", "--list", "--json"}, strings.NewReader(""), &out, &errs))
	var docs []figureDoc
	require.NoError(t, json.Unmarshal([]byte(out.String()), &docs))
	var names strings.Builder
	for _, d := range docs {
		names.WriteString(d.Name + "\n")
		assert.NotEmpty(t, d.Shows)
		for _, p := range d.Parameters {
			assert.NotEmpty(t, p.Usage, "%s %s", d.Name, p.Name)
		}
	}
	var plain strings.Builder
	require.Equal(t, exitDone, Run(context.Background(), []string{"figure", "--list"}, strings.NewReader(""), &plain, &errs))
	assert.Equal(t, names.String(), plain.String(), "one name a line and nothing else")
}
