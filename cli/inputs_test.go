package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// What is wrong with files of inputs and pairs is said in one line, with the place.
func TestInputFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	table := write("table", `{"input":[1,2],"pmf":["1/2","1/2"]}`+"\n"+`{"input":[1],"pmf":["2/3","1/3"]}`+"\n")
	good, pairs := write("good", "# data\n[1, 2]\n\n[1]\n"), write("pairs", "0,1\n")
	run := func(inputs, neighbors string, more ...string) (string, string, int) {
		var out, problems bytes.Buffer
		args := []string{"audit", "--pmf-file", table, "--eps", "0.5", "--inputs", inputs}
		if neighbors != "" {
			args = append(args, "--neighbors", neighbors)
		}
		code := Run(context.Background(), append(args, more...), strings.NewReader(""), &out, &problems)
		return out.String(), problems.String(), code
	}
	out, problems, code := run(good, pairs)
	assert.Zero(t, code, problems)
	assert.Contains(t, out, "tight ε 0.405465…")
	assert.Contains(t, out, "inputs [1, 2] and [1], candidate 1") // 1/2 : 1/3
	rows := write("rows1", "[1, 2]\n")
	_, problems, _ = run(rows, "remove-row") // [2] and [1], of which the table has one
	assert.Contains(t, problems, "no row for the input [2]")
	out, _, code = run(good, pairs, "--eps", "0.4")
	assert.Equal(t, command.Violated, code, out)

	for name, c := range map[string]struct {
		inputs, neighbors, want string
		more                    []string
	}{
		"no neighbors":     {good, "", "--inputs: give --neighbors remove-row or replace-row, where inputs are lists of rows, or FILE", nil},
		"no such file":     {filepath.Join(dir, "none"), pairs, "--inputs", nil},
		"malformed JSON":   {write("json", "[1]\n{1}\n"), pairs, "json:2: not JSON: invalid character '1'", nil},
		"empty":            {write("empty", "\n"), pairs, "the file has no inputs; give one JSON value per line", nil},
		"no pairs":         {good, write("nopairs", "\"oneway\"\n"), "no pairs", nil},
		"an unknown line":  {good, write("line", "0,1\n0,2\n"), "line:2: there is no input \"2\"; they are numbered from 0 to 1", nil},
		"an unknown value": {good, write("value", "[[1],[3]]\n"), "value:1: \"[3]\" is not among the inputs", nil},
		"one number":       {good, write("one", "1\n"), "one:1: 1 fields; give two line numbers", nil},
		"a distance of 0":  {good, write("zero", "0,1,0\n"), "zero:1: \"0\" is not a distance", nil},
		"no number":        {good, write("text", "a,b\n"), "text:1: \"a\" is not a line number", nil},
		"late oneway":      {good, write("late", "0,1\n\"oneway\"\n"), "late:2: \"oneway\" is about the whole file", nil},
		"no rows":          {write("rows", "[1]\n{\"x\":[1]}\n"), "remove-row", "with --neighbors remove-row: \"{\\\"x\\\":[1]}\" is not a list of rows", nil},
		"only one row":     {write("alone", "[1]\n[1,1]\n"), "replace-row", "no input has a neighbor; give inputs with more rows", nil},
		"no row":           {write("more", "[1]\n[1,2]\n[7]\n"), pairs, "no row for the input [7]", nil},
		"candidates":       {good, pairs, `--property "shift": shift is about candidates and scores`, []string{"--property", "shift"}},
		"a domain":         {good, pairs, "--inputs and --domain", []string{"--domain", "random"}},
		"a mechanism":      {good, pairs, "--against", []string{"--against", "em"}},
	} {
		_, problems, code := run(c.inputs, c.neighbors, c.more...)
		assert.Equal(t, command.Usage, code, "%s: %s", name, problems)
		assert.Contains(t, problems, c.want, name)
		assert.Equal(t, 1, strings.Count(problems, "\n"), "%s: %s", name, problems)
	}
	var none, said bytes.Buffer
	code = Run(context.Background(), []string{"audit", "--pmf-file", table, "--eps", "1"}, strings.NewReader(""), &none, &said)
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, said.String(), "give them with --inputs FILE")
}
