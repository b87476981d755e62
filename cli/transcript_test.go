package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command/commandtest"
	"optratio/internal/slowtest"
)

const tutorial = "../docs/use/tutorial.md"

var programs = commandtest.Programs{"optratio": Run}

func TestTranscripts(t *testing.T) { programs.Transcripts(t) }

// The console blocks of the README, the tutorial and the how-to are what the commands print.
func TestTranscriptsOfDocuments(t *testing.T) {
	for _, file := range []string{"../README.md", tutorial, "../docs/use/how-to.md"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if file != "../README.md" {
				slowtest.Only(t)
			}
			if _, err := exec.LookPath("python3"); err != nil {
				t.Skip("the mechanisms under audit are in Python")
			}
			programs.Document(t, file, "console")
		})
	}
}

// TestTranscriptOfSamples runs the commands whose output depends on how fast a program answers, and compares what does not.
func TestTranscriptOfSamples(t *testing.T) {
	slowtest.Only(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the mechanism under audit is in Python")
	}
	blocks := commandtest.Blocks(t, tutorial, "console sampled")
	require.Len(t, blocks, 1)
	got := programs.Replay(t, blocks[0])
	steady := func(text string) string { // without the numbers, the space that they take, and the witness
		text = regexp.MustCompile(`(?m)^(dp fails: ).*$`).ReplaceAllString(text, "$1")
		return regexp.MustCompile(` +`).ReplaceAllString(regexp.MustCompile(`\d[\d.,]*`).ReplaceAllString(text, "#"), " ")
	}
	assert.Equal(t, steady(blocks[0]), steady(got))
}

// The datasets of the how-to are what its program writes.
func TestTutorialDatasets(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	folder, err := filepath.Abs("../testdata/tutorial")
	require.NoError(t, err)
	c := exec.Command(python, filepath.Join(folder, "datasets.py"))
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range []string{"datasets.jsonl", "sizes.jsonl", "one-more.txt"} {
		want, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(c.Dir, name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
	}
}
