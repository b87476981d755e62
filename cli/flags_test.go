package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ran is what a command line printed, and its exit code.
func ran(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// eachFlag visits all flags of all commands, with the words that a command is called by.
func eachFlag(visit func(words []string, f *pflag.Flag)) {
	root := newRoot(streams{strings.NewReader(""), io.Discard, io.Discard})
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		words := strings.Fields(c.CommandPath())[1:]
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { visit(words, f) })
	}
}

// A flag that is given without a value is refused by every command, before anything else: it must not be taken for the default.
func TestEmptyValuesAreRefused(t *testing.T) {
	seen := 0
	eachFlag(func(words []string, f *pflag.Flag) {
		if f.Value.Type() != "string" || len(words) > 0 && words[0] == "completion" {
			return
		}
		seen++
		for _, value := range []string{"", " "} {
			args := append(append([]string{}, words...), flagName(f), value)
			if len(words) > 0 && words[0] == "figure" {
				args = append(args, "pf-1a")
			}
			if len(words) > 0 && (words[0] == "check" || words[0] == "cert-export" || words[0] == "merge") {
				args = append(args, "file.csv")
			}
			code, out, errs := ran(args...)
			assert.Equal(t, exitUsage, code, "%q", args)
			assert.Empty(t, out)
			assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
			assert.Contains(t, errs, "-"+f.Name, "%q", args)
			assert.Contains(t, errs, "empty", "%q", args)
		}
	})
	assert.Greater(t, seen, 100)
}

// What counts something is not negative, in any command.
func TestNegativeCountsAreRefused(t *testing.T) {
	seen := 0
	eachFlag(func(words []string, f *pflag.Flag) {
		if _, counts := f.Value.(*countFlag); !counts {
			return
		}
		seen++
		code, out, errs := ran(append(append([]string{}, words...), flagName(f), "-1")...)
		assert.Equal(t, exitUsage, code, "%q %s", words, f.Name)
		assert.Empty(t, out)
		assert.Contains(t, errs, "-"+f.Name)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	})
	assert.Greater(t, seen, 15)
}

// Nor does a gap in a list go unnoticed.
func TestEmptyItemsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"evaluate", "--task", "worst-case", "-n", "3", "--eps", "1,,2"},
		{"evaluate", "--task", "worst-case", "-n", "3", "--eps", "1,"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1,,2"},
		{"ratio", "-n", "3", "-k", "2", "--exp-eps", ",2"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1", "--mechanism", "pf,,em"},
		{"report", "-n", "3", "-k", "2", "--eps", "1,,2", "-o", "x.html"},
		{"verify", "--mechanism", "pf", "-n", "3", "-k", "2", "--eps", "1", "--property", "dp,"},
		{"audit", "--pmf-exec", "true", "--eps", "1", "--property", ",dp"},
		{"bandit", "--policy", "ucb,,krr"},
		{"bandit", "--means", "0.2,,0.8"},
		{"sweep", "-n", "3,,4", "-k", "2", "--eps", "1", "-o", "x.csv"},
		{"sweep", "-n", "3", "-k", "2", "--eps", "1,,2", "-o", "x.csv"},
		{"scenario", "1", "--eps", "1,,2"},
		{"pmf", "--scores", "0,,1", "--eps", "1"},
		{"pmf", "--scores", "0,1", "--sensitivities", "1,", "--eps", "1"},
		{"heterogeneous", "--sensitivities", "1,,2", "--exp-eps", "2"},
		{"stopping", "--asymptotic", "--boundary", "0,,1"},
	} {
		code, _, errs := ran(args...)
		assert.Equal(t, exitUsage, code, "%q: %s", args, errs)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
}

// A pipe that nobody reads is not waited for without end.
func TestPipeWithoutReader(t *testing.T) {
	defer func(d time.Duration) { pipePatience = d }(pipePatience)
	pipePatience = 30 * time.Millisecond
	code, _, errs := ran("-n", "3", "-k", "2", "--exp-eps", "2", "--cert", fifo(t))
	require.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "--cert")
	assert.Contains(t, errs, "nobody opened this pipe to read")
}
