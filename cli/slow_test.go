//go:build slow

package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Blocks of documents that take long to recompute.
func TestSlowTranscripts(t *testing.T) { replayBlocks(t, "../docs/scenarios.md", "console slow") }

// TestResultCommandsRun runs every command line of docs/results.md. Some are ended by their own time limit.
func TestResultCommandsRun(t *testing.T) {
	all := resultCommands(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(sharedData, "testdata"))
	for _, args := range all {
		code, out, errs := quietly(args...)
		assert.Contains(t, []int{exitDone, exitViolated, exitUndecided}, code, "%s: %s", args, errs)
		assert.True(t, out != "" || args[0] == "map", args)
	}
}
