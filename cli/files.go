package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outputFile is a file that appears whole or not at all: it is written beside its place and renamed. What is there and is no
// regular file, such as a pipe, is written to as it is.
type outputFile struct {
	path   string
	direct bool
}

// createOutput looks whether an output file can be written, so that this is known before any work.
func createOutput(flag, path string) (*outputFile, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, usagef("%s %s: is a folder; name a file", flag, quoted(path))
	case err == nil && !info.Mode().IsRegular():
		return &outputFile{path, true}, nil
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var place *fs.PathError // names the temporary file, which is of no interest
		if errors.As(err, &place) {
			err = place.Err
		}
		return nil, usagef("%s %s: cannot be written: %w", flag, quoted(path), err)
	}
	temp.Close()
	return &outputFile{path, false}, os.Remove(temp.Name())
}

// commit fills the file and puts it in its place.
func (f *outputFile) commit(write func(io.Writer) error) error {
	if f.direct {
		file, err := os.OpenFile(f.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = write(file)
		return errors.Join(err, file.Close())
	}
	temp, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(temp), temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// openRegular opens an input file. A pipe is refused, since waiting for it could not be interrupted.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, usagef("%s: is not a regular file", quoted(path))
	}
	file, err := os.Open(path)
	if err != nil {
		var place *fs.PathError
		if errors.As(err, &place) {
			err = place.Err
		}
		return nil, usagef("%s: cannot be read: %w", quoted(path), err)
	}
	return file, nil
}
