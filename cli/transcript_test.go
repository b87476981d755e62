package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

var update = flag.Bool("update", false, "rewrite the transcripts with what the commands print now")

// A transcript is a text of commands and what they print: a line "$ optratio …", then its standard output, its standard
// error with "[stderr] " before each line, and "[exit N]" where the code is not 0. Words may be quoted with single quotes.
// A line that starts with # is a comment before a command.

var unstable = regexp.MustCompile(`("seconds": )[0-9.e+-]+`)

// perform runs one command line in process and returns its part of a transcript.
func perform(t *testing.T, line string) string {
	var out, errs bytes.Buffer
	code := Run(context.Background(), words(t, line)[1:], strings.NewReader(""), &out, &errs)
	var b strings.Builder
	b.WriteString("$ " + line + "\n")
	b.WriteString(unstable.ReplaceAllString(out.String(), "${1}0"))
	for _, l := range strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n") {
		if l != "" {
			b.WriteString("[stderr] " + l + "\n")
		}
	}
	if code != exitDone {
		fmt.Fprintf(&b, "[exit %d]\n", code)
	}
	return b.String()
}

func words(t *testing.T, line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(w, "'"))
	}
	require.NotEmpty(t, out)
	return out
}

// sharedData is the repository's folder testdata, found before any test changes the working directory.
var sharedData, _ = filepath.Abs("../testdata")

// replay performs every command of a transcript, in a fresh working directory that has the repository's folder testdata.
func replay(t *testing.T, text string) string {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(sharedData, "testdata"))
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			b.WriteString(perform(t, command))
		}
	}
	return b.String()
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		path, err := filepath.Abs(file)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			got := replay(t, string(want))
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			assert.Equal(t, string(want), got)
		})
	}
}

// The console blocks of the README and of documents made of them are what the commands print.
func TestTranscriptsOfDocuments(t *testing.T) {
	for _, file := range []string{"../README.md", "../docs/scenarios.md", "../docs/tutorial-choose.md", "../docs/tutorial-audit.md"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if file != "../README.md" {
				slowtest.Only(t)
			}
			if _, err := exec.LookPath("python3"); err != nil && strings.HasSuffix(file, "audit.md") {
				t.Skip("the mechanisms of this tutorial are in Python")
			}
			replayBlocks(t, file, "console")
		})
	}
}

// Blocks of documents that take long to recompute.
func TestSlowTranscripts(t *testing.T) {
	slowtest.Only(t)
	replayBlocks(t, "../docs/scenarios.md", "console slow")
}

// replayBlocks performs the commands of a document's code blocks of one kind.
func replayBlocks(t *testing.T, file, kind string) {
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		got := replay(t, block[1])
		text = bytes.Replace(text, []byte(block[1]), []byte(got), 1)
		if !*update {
			assert.Equal(t, block[1], got)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
}

// TestTranscriptOfSamples runs the commands whose output depends on how fast a program answers, and compares what does not.
func TestTranscriptOfSamples(t *testing.T) {
	slowtest.Only(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the mechanisms of this tutorial are in Python")
	}
	text, err := os.ReadFile("../docs/tutorial-audit.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```console sampled\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 1)
	got := replay(t, blocks[0][1])
	for _, line := range strings.Split(blocks[0][1], "\n") {
		for _, part := range []string{"$ optratio", "dp             violated", "[stderr]", "[exit "} {
			if strings.HasPrefix(line, part) {
				assert.Contains(t, got, part)
			}
		}
	}
	assert.Contains(t, got, "[exit 1]")
}
