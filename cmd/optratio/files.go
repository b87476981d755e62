package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outputFile is a file that appears whole or not at all: it is written beside its place and renamed.
type outputFile struct {
	path string
	temp *os.File
}

// createOutput opens an output file, so that a place that cannot be written to is found before any work.
func createOutput(flag, path string) (*outputFile, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var place *fs.PathError // names the temporary file, which is of no interest
		if errors.As(err, &place) {
			err = place.Err
		}
		return nil, usagef("%s %s: cannot be written: %w", flag, quoted(path), err)
	}
	return &outputFile{path, temp}, nil
}

// commit fills the file and puts it in its place.
func (f *outputFile) commit(write func(io.Writer) error) error {
	err := write(f.temp)
	if err == nil {
		err = f.temp.Chmod(0o644)
	}
	if err2 := f.temp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.temp.Name())
	}
	f.temp = nil
	return err
}

// discard removes the file unless it was committed.
func (f *outputFile) discard() {
	if f != nil && f.temp != nil {
		f.temp.Close()
		os.Remove(f.temp.Name())
		f.temp = nil
	}
}
