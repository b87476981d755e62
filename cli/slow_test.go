//go:build slow

package cli

import "testing"

// Blocks of documents that take long to recompute.
func TestSlowTranscripts(t *testing.T) { replayBlocks(t, "../docs/scenarios.md", "console slow") }
