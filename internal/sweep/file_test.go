package sweep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One holder at a time has a file.
func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	f, err := Open(path, true)
	require.NoError(t, err)
	_, err = Open(path, false)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, f.Close())
	_, err = Open(path, true)
	require.ErrorIs(t, err, ErrExists)
	f, err = Open(path, false)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = Open(filepath.Dir(path), false)
	assert.ErrorContains(t, err, "not a regular file")
}

// What cannot be put in its place leaves the old file and nothing else; what a kill left is written over.
func TestFinish(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "rows.csv")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(beside(path), []byte("a long rest of what was killed"+text(line, line, line)), 0o600))
	s := &store{path: path, table: written(t, line)}
	failing := syncFile
	syncFile = func(*os.File) error { return os.ErrInvalid }
	defer func() { syncFile = failing }()
	require.ErrorIs(t, s.finish(t.Context()), ErrFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	syncFile = failing
	require.NoError(t, s.finish(t.Context()))
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text(line), string(data))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// A file that cannot be written is an error, and nothing else is done.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	s := &store{file: full, table: &Table{}, have: map[Parameters]int{}}
	_, err = s.append(written(t, line).Rows)
	assert.ErrorIs(t, err, ErrFile)
	assert.Empty(t, s.table.Rows)
	calls := 0
	p := small(t)
	err = p.compute(t.Context(), 1, p.deal(Shard{}), func([]Row) error { calls++; return ErrFile })
	assert.ErrorIs(t, err, ErrFile)
	assert.Equal(t, 1, calls)
}
