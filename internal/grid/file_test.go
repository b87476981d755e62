package grid

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// One holder at a time has a file, also after it has been replaced.
func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	f, err := Open(path, true)
	require.NoError(t, err)
	_, err = Open(path, false)
	require.ErrorIs(t, err, ErrLocked)
	whole, err := Replace(path, text("a\n"))
	require.NoError(t, err)
	require.NoError(t, f.Close(), "what was there before")
	_, err = Open(path, false)
	require.ErrorIs(t, err, ErrLocked)
	_, err = io.WriteString(whole, "b\n")
	require.NoError(t, err)
	require.NoError(t, whole.Close())
	_, err = Open(path, true)
	require.ErrorIs(t, err, ErrExists)
	f, err = Open(path, false)
	require.NoError(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "a\nb\n", string(data))
	_, err = Open(filepath.Dir(path), false)
	assert.ErrorContains(t, err, "no regular file")
}

// What cannot be written leaves the old file and nothing else; what a kill left is written over.
func TestReplace(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "3-2.cert")
	names := func() (out []string) {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	require.NoError(t, os.WriteFile(beside(path), []byte("a long rest of what was killed"), 0o600))
	f, err := Replace(path, text("new"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	failure := errors.New("full")
	_, err = Replace(path, func(io.Writer) error { return failure })
	require.ErrorIs(t, err, failure)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
	assert.Equal(t, []string{"3-2.cert"}, names())
}

// A file that cannot be written is an error, and nothing else is done.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	kind := &Kind[string]{Columns: []string{"word"}, Fields: func(r string) []string { return []string{r} }, Key: func(r string) string { return r }}
	s := &store[string]{kind: kind, file: full, table: &Table[string]{}, have: map[string]int{}}
	assert.ErrorIs(t, s.append([]string{"a"}), ErrFile)
	assert.Empty(t, s.table.Rows)
	calls := 0
	j := &Jobs[string, string]{Answer: func(_ context.Context, at string) ([]string, func() error, error) { return []string{at}, nil, nil }}
	take := func(string, []string, func() error) error { calls++; return ErrFile }
	err = j.compute(t.Context(), 1, []string{"a", "b", "c"}, take, func() error { return nil })
	assert.ErrorIs(t, err, ErrFile)
	assert.Equal(t, 1, calls)
}

// Rows that are not kept are out of the file before anything is added, so that a run that is stopped leaves none of them.
func TestStoppedAfterDropping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.csv")
	require.NoError(t, os.WriteFile(path, []byte("word\nold\na\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	j := &Jobs[string, string]{
		Kind: &Kind[string]{
			Columns: []string{"word"}, Fields: func(r string) []string { return []string{r} }, Parse: func(f []string) (string, error) { return f[0], nil },
			Key: func(r string) string { return r }, Compare: strings.Compare, Same: func(a, b string) bool { return a == b },
		},
		Points: []string{"a", "b", "c"},
		Keys:   func(at string) []string { return []string{at} },
		Keep:   func(_ context.Context, rows []string) ([]string, error) { return rows[1:], nil },
		Answer: func(_ context.Context, at string) ([]string, func() error, error) { return []string{at}, nil, nil },
	}
	done, _, err := j.Run(ctx, Options{Path: path, Resume: true, Jobs: 1, Report: func(int, int) { cancel() }})
	require.NoError(t, err)
	assert.Equal(t, Done{All: 3, Kept: 1, Computed: 1}, done)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "word\na\nb\n", string(data))
}
