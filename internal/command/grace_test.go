package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/job"
)

// A file whose content is known when the time limit is reached is written in what is left of the two seconds; a pipe is given up sooner.
func TestFilesAreWrittenAfterTheLimit(t *testing.T) {
	assert.LessOrEqual(t, job.Grace+fileGrace()+lastLine, 2*time.Second)
	usual, late := job.Grace, 2*fileGrace()
	defer func() { job.Grace = usual }()
	job.Grace = time.Minute // a busy machine takes longer for the rest
	path := filepath.Join(t.TempDir(), "cert")
	f, err := CreateOutput("--cert", path)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	err = f.Commit(ctx, func(w io.Writer) error {
		time.Sleep(late)
		_, err := io.WriteString(w, "whole")
		return err
	})
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "whole", string(text))
	f.direct = true
	assert.Equal(t, fileGrace(), f.grace(ctx))
}

// What a limit ends has one grace in all: after a computation that took it no other is begun.
func TestComputationsShareTheGrace(t *testing.T) {
	ctx, stop, err := (&Job{time: time.Millisecond, memory: "1G"}).start(t.Context())
	require.NoError(t, err)
	defer stop()
	trivial := func(why string) string { return why }
	release := make(chan struct{})
	defer close(release)
	first, err := job.Settle(ctx, func() (string, error) { <-release; return "late", nil }, trivial)
	require.NoError(t, err)
	assert.Contains(t, first, "time limit")
	second, err := job.Settle(ctx, func() (string, error) { return "begun", nil }, trivial)
	require.NoError(t, err)
	assert.Contains(t, second, "time limit")
}

// writerFunc is a Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A long text counts while it is written: after a signal, a command whose reader is slow is not ended in the middle of its answer.
func TestLongAnswersCountWhileTheyAreWritten(t *testing.T) {
	var o output
	var seen []int64
	var got strings.Builder
	o.w = writerFunc(func(p []byte) (int, error) {
		seen = append(seen, o.written.Load())
		return got.Write(p)
	})
	text := strings.Repeat("é\n", 100_000)
	_, err := o.Write([]byte(text))
	require.NoError(t, err)
	assert.Equal(t, text, got.String())
	assert.Greater(t, len(slices.Compact(seen)), 10)
}
