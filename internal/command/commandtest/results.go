package commandtest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// results are the command lines of research/docs/results.md that call a program.
func results(t *testing.T, program string) (all [][]string) {
	text, err := os.ReadFile("../research/docs/results.md")
	require.NoError(t, err)
	for _, line := range regexp.MustCompile("(?m)`"+program+" ([^`|]*)`[^`|\n]* \\|$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Fields(line[1]))
	}
	return all
}

// ParseResults parses the flags of every such command line, of which there are more than least.
func ParseResults(t *testing.T, root *cobra.Command, least int) {
	all := results(t, root.Name())
	assert.Greater(t, len(all), least)
	for _, args := range all {
		c, rest, err := root.Find(args)
		require.NoError(t, err, args)
		assert.Equal(t, args[0], c.Name())
		assert.NoError(t, c.ParseFlags(rest), args)
	}
}

// RunResults runs every such command line for ten seconds at most: what it answers by then is an answer, if a wider one.
func (p Programs) RunResults(t *testing.T, program string) {
	all := results(t, program)
	InFolder(t)
	for _, args := range all {
		code, out, errs := p[program].Quietly(append(args, "--time-limit", "10s")...)
		assert.Contains(t, []int{command.Done, command.Violated, command.Undecided}, code, "%s: %s", args, errs)
		assert.True(t, out != "" || args[0] == "map", args)
		assert.LessOrEqual(t, strings.Count(errs, "\n"), 1, errs)
		if code == command.Undecided {
			assert.Regexp(t, "limit|undecided", errs, args)
		}
	}
}
