// Package grid runs grids of jobs and keeps what they find as rows of a file, for sweeps and for maps. A run can be stopped and resumed, and cut into shards whose files are
// merged. One process at a time writes such a file, and what takes the place of another file is whole.
package grid

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Reasons why a file is not opened.
var (
	ErrExists = errors.New("exists; remove it to begin anew")
	ErrLocked = errors.New("another process is writing it; wait for that, or name another file")
)

// Sync waits until a file is safe from a loss of power. Tests that write thousands of files do not wait.
var Sync = (*os.File).Sync

// Open opens a regular file to read and write, and locks it until it is closed or the process ends. The file is made where it is not there; where fresh is set,
// one that is there is ErrExists. It fails with ErrLocked where another process has locked it.
func Open(name string, fresh bool) (*os.File, error) { return open(name, fresh, false) }

func open(name string, fresh, wait bool) (*os.File, error) {
	how := os.O_RDWR | os.O_CREATE
	if fresh {
		how |= os.O_EXCL
	}
	for {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, errors.New("is no regular file, to which rows can be added")
		}
		f, err := os.OpenFile(name, how, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return nil, ErrExists
		}
		if err != nil {
			return nil, fmt.Errorf("cannot be written: %w", err)
		}
		if err := lock(f, wait); err != nil {
			return nil, errors.Join(ErrLocked, f.Close())
		}
		// Another process may have put its finished file in this one's place meanwhile.
		opened, err1 := f.Stat()
		there, err2 := os.Stat(name)
		if err1 == nil && err2 == nil && os.SameFile(opened, there) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// beside names the file that is written in place of another one until it is whole. There is one such name: what a kill left is overwritten.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
}

// Replace writes a file beside its place and renames it, so that after a kill or a loss of power there is the old one or the new one. The new file is returned
// open at its end and locked, so that whoever has locked the old one goes on holding the file of that name.
func Replace(path string, write func(io.Writer) error) (*os.File, error) {
	temp := beside(path)
	f, err := open(temp, false, true)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(0); err == nil {
		err = write(f)
	}
	if err = errors.Join(err, Sync(f)); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(temp))
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = Sync(folder) // not every system can
		_ = folder.Close()
	}
	return f, nil
}
