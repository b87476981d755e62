package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/cli"
	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/slowtest"
)

// The command lines of docs/results.md have flags that there are. The slow test runs each for some seconds at most: what it answers by then is an answer, if a
// wider one.
func TestResultCommands(t *testing.T) {
	text, err := os.ReadFile("docs/results.md")
	require.NoError(t, err)
	commandtest.InFolder(t)
	for program, run := range map[string]commandtest.Run{"research": run, "optratio": cli.Run} {
		lines := regexp.MustCompile("(?m)`"+program+" ([^`|]*)`[^`|\n]* \\|$").FindAllStringSubmatch(string(text), -1)
		assert.Greater(t, len(lines), map[string]int{"research": 2, "optratio": 20}[program])
		for _, line := range lines {
			args := strings.Fields(line[1])
			code, out, errs := run.Quietly(append(args, "--help")...)
			assert.Equal(t, command.Done, code, "%s: %s", line[0], errs)
			assert.Contains(t, out, "Usage:\n  "+program+" "+args[0], line[0])
			if !slowtest.Enabled {
				continue
			}
			limit := "3s"
			if args[0] == "product" {
				limit = "60s" // it takes three, and has no answer before its first point
			}
			code, out, errs = run.Quietly(append(args, "--time-limit", limit)...)
			assert.Contains(t, []int{command.Done, command.Violated, command.Undecided}, code, "%s: %s", args, errs)
			assert.True(t, out != "" || args[0] == "map", args)
			assert.LessOrEqual(t, strings.Count(errs, "\n"), 1, errs)
			if code == command.Undecided {
				assert.Regexp(t, "limit|undecided", errs, args)
			}
		}
	}
}
