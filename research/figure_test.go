package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
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
	e := commandtest.Spawn(t, []string{"figure", "worst-ratio", "-n", "9", "-k", "9", "-o", out, "--data", filepath.Join(dir, "f.csv"), "--time-limit", "300ms"})
	assert.Equal(t, command.Undecided, e.Code)
	assert.Equal(t, "research: the time limit of 300ms was reached; nothing was written\n", e.Err)
	assert.Empty(t, files())

	draw := func(args ...string) (int, string) {
		code, _, errs := run.Quietly(append([]string{"figure", "pf-1a", "--points", "3", "-o", out}, args...)...)
		return code, errs
	}
	code, text := draw("--data", filepath.Join(dir, "nowhere", "f.csv"))
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, text, "--data")
	assert.Empty(t, files())
	code, text = draw("--data", out)
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, text, "is the file of -o")

	code, text = draw("--data", filepath.Join(dir, "f.csv"))
	assert.Equal(t, command.Done, code, text)
	assert.Equal(t, []string{"f.csv", "f.svg"}, files())
	csv, err := os.ReadFile(filepath.Join(dir, "f.csv"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(csv), "panel,series,p,error\n,em,"), string(csv))
}

// The list as JSON has what a program needs to draw every figure.
func TestListOfFigures(t *testing.T) {
	code, out, errs := run.Quietly("figure", "--list", "--json")
	require.Equal(t, command.Done, code, errs)
	var docs []figureDoc
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	var names strings.Builder
	for _, d := range docs {
		names.WriteString(d.Name + "\n")
		assert.NotEmpty(t, d.Shows)
		for _, p := range d.Params {
			assert.NotEmpty(t, p.Usage, "%s %s", d.Name, p.Name)
		}
	}
	_, plain, _ := run.Quietly("figure", "--list")
	assert.Equal(t, names.String(), plain, "one name a line and nothing else")
}
