package cli

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// resultCommands are the command lines of docs/results.md.
func resultCommands(t *testing.T) [][]string {
	text, err := os.ReadFile("../docs/results.md")
	require.NoError(t, err)
	var all [][]string
	for _, line := range regexp.MustCompile("(?m)`optratio ([^`|]*)`[^`|\n]* \\|$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Fields(line[1]))
	}
	require.Greater(t, len(all), 20)
	return all
}

// TestResultCommands parses the flags of every command line; the slow TestResultCommandsRun runs them.
func TestResultCommands(t *testing.T) {
	for _, args := range resultCommands(t) {
		c, rest, err := newRoot(streams{}).Find(args)
		require.NoError(t, err, args)
		assert.Equal(t, args[0], c.Name())
		assert.NoError(t, c.ParseFlags(rest), args)
	}
}

// TestResultCommandsRun runs every command line of docs/results.md. Some are ended by their own time limit.
func TestResultCommandsRun(t *testing.T) {
	slowtest.Only(t)
	all := resultCommands(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(sharedData, "testdata"))
	for _, args := range all {
		code, out, errs := quietly(args...)
		assert.Contains(t, []int{exitDone, exitViolated, exitUndecided}, code, "%s: %s", args, errs)
		assert.True(t, out != "" || args[0] == "map", args)
	}
}

// TestResultsHaveAStatus reads the second column of every table.
func TestResultsHaveAStatus(t *testing.T) {
	text, err := os.ReadFile("../docs/results.md")
	require.NoError(t, err)
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.Contains(line, "---") || strings.Contains(line, "| statement |") {
			continue
		}
		rows++
		assert.Regexp(t, `proved|certified|conjectured|refuted`, cells[2], line)
	}
	assert.Greater(t, rows, 20)
	for _, name := range regexp.MustCompile(`\]\(([a-z-]+\.md)\)`).FindAllStringSubmatch(string(text), -1) {
		_, err := os.Stat("../docs/" + name[1])
		assert.NoError(t, err)
	}

	claims, err := os.ReadFile("../docs/claims.md")
	require.NoError(t, err)
	entries, refuted := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^(\d+) entries:(?:.* (\d+) refuted)?`).FindAllStringSubmatch(string(claims), -1) {
		n, _ := strconv.Atoi(m[1])
		r, _ := strconv.Atoi(m[2])
		entries, refuted = entries+n, refuted+r
	}
	assert.Contains(t, string(text), fmt.Sprintf("has %d statements", entries))
	assert.Contains(t, string(text), fmt.Sprintf("by a computation: %d are refuted", refuted))
}
