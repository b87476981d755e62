// Package commandtest tests command lines: by transcripts of what they print, by processes of their own that signals and limits end, and by
// what holds of the flags of every command.
package commandtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// Run executes a command line in process and returns its exit code.
type Run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Quietly runs a command line and returns its code and streams.
func (run Run) Quietly(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// Programs are the programs that transcripts call, by name. A transcript is a text of commands and what they print: a line
// "$ optratio …", then its standard output, its standard error with "[stderr] " before each line, and "[exit N]" where the code is not 0.
// Words may be quoted with single quotes. A line that starts with # is a comment before a command.
type Programs map[string]Run

var update = flag.Bool("update", false, "rewrite the transcripts with what the commands print now")

// Unstable is what differs from run to run.
var Unstable = regexp.MustCompile(`("seconds": )[0-9.e+-]+`)

// perform runs one command line in process and returns its part of a transcript.
func (p Programs) perform(t *testing.T, line string) string {
	var words []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	require.NotEmpty(t, words)
	require.Contains(t, p, words[0], line)
	code, out, errs := p[words[0]].Quietly(words[1:]...)
	var b strings.Builder
	b.WriteString("$ " + line + "\n")
	b.WriteString(Unstable.ReplaceAllString(out, "${1}0"))
	for _, l := range strings.Split(strings.TrimSuffix(errs, "\n"), "\n") {
		if l != "" {
			b.WriteString("[stderr] " + l + "\n")
		}
	}
	if code != command.Done {
		fmt.Fprintf(&b, "[exit %d]\n", code)
	}
	return b.String()
}

// Data is the repository's folder testdata, found before any test changes the working directory.
var Data, _ = filepath.Abs("../testdata")

// InFolder makes a fresh folder with the repository's folder testdata in it the working directory.
func InFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(Data, "testdata"))
}

// Replay performs every command of a transcript, in a working directory of its own.
func (p Programs) Replay(t *testing.T, text string) string {
	InFolder(t)
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			b.WriteString(p.perform(t, command))
		}
	}
	return b.String()
}

// Transcripts compares every file of testdata/transcripts with what its commands print.
func (p Programs) Transcripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		path, err := filepath.Abs(file)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			got := p.Replay(t, string(want))
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			assert.Equal(t, string(want), got)
		})
	}
}

// Blocks returns the code blocks of a document that are of one kind.
func Blocks(t *testing.T, file, kind string) (blocks []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// Document compares a document's code blocks of one kind with what their commands print.
func (p Programs) Document(t *testing.T, file, kind string) {
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, block := range Blocks(t, path, kind) {
		got := p.Replay(t, block)
		text = bytes.Replace(text, []byte(block), []byte(got), 1)
		if !*update {
			assert.Equal(t, block, got)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
}
