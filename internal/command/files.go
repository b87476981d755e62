package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/strictjson"
)

// OutputFile is a file that appears whole or not at all: it is written beside its place and renamed. What is there and is no
// regular file, such as a pipe, is written to as it is.
type OutputFile struct {
	flag, Path string
	direct     bool
}

// CreateOutput looks whether an output file can be written, so that this is known before any work.
func CreateOutput(flag, path string) (*OutputFile, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, Usagef("%s %s: is a folder; name a file", flag, escape.Quoted(path))
	case err == nil && !info.Mode().IsRegular():
		return &OutputFile{flag, path, true}, nil
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, Usagef("%s %s: cannot be written: %w", flag, escape.Quoted(path), job.WithoutPath(err))
	}
	temp.Close()
	return &OutputFile{flag, path, false}, os.Remove(temp.Name())
}

// Commit fills the file and puts it in its place. Opening and writing end soon after the context does, and a pipe that nobody opens to read is
// given up after a while.
func (f *OutputFile) Commit(ctx context.Context, write func(io.Writer) error) error {
	if f == nil {
		return nil
	}
	name := f.Path
	if !f.direct {
		temp, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
		if err != nil {
			return f.failed(ctx, err)
		}
		name = temp.Name()
		temp.Close()
		defer os.Remove(name)
	}
	_, err := job.Await(ctx, f.grace(ctx), func() (any, error) {
		file, err := openToWrite(ctx, name)
		if err != nil {
			return nil, err
		}
		err = write(file)
		if !f.direct {
			err = errors.Join(err, file.Chmod(0o644))
		}
		if err = errors.Join(err, file.Close()); err != nil || f.direct {
			return nil, err
		}
		return nil, os.Rename(name, f.Path)
	})
	return f.failed(ctx, err)
}

// PipePatience is how long a pipe is waited for that has no reader.
var PipePatience = 10 * time.Second

// openToWrite opens a file that is there. To open a pipe without a reader would wait for one for ever; without waiting it fails, and is tried
// again now and then.
func openToWrite(ctx context.Context, name string) (*os.File, error) {
	end := time.Now().Add(PipePatience)
	for {
		file, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return file, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("nobody opened this pipe to read within %v", PipePatience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// grace is how long after the end of the context a file is waited for: what is left of the two seconds where the work has ended sooner, as a proof that is printed is to be
// written too. A pipe may never be read.
func (f *OutputFile) grace(ctx context.Context) time.Duration {
	switch {
	case f.direct:
		return fileGrace()
	case ctx.Err() == nil:
		return job.Grace
	}
	return max(fileGrace(), job.Grace+fileGrace()-job.SinceEnd(ctx))
}

func (f *OutputFile) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s %s: not written: %w", f.flag, escape.Quoted(f.Path), job.WithoutPath(err))
	var e *ExitError
	switch {
	case errors.Is(err, context.Cause(ctx)), errors.Is(err, job.ErrInternal):
		return err
	case errors.As(err, &e):
		return Exit(e.Code, err)
	}
	return Exit(Usage, err)
}

// input is an open file whose reading ends with an error when the context does, without the byte-order mark with which it may begin.
type input struct {
	ctx  context.Context
	file *os.File
	stop func() bool
	text *bufio.Reader // nil until it is read
}

// errUTF16 is the cause where a text cannot be read.
var errUTF16 = errors.New("it is UTF-16 text; save it as UTF-8")

// Open opens an input file. Of a pipe it waits for the writer, as long as the context lasts.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	file, err := job.Await(ctx, 0, func() (*os.File, error) { return os.Open(path) })
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return nil, fmt.Errorf("cannot be read: %w", cause)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", job.WithoutPath(err))
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(errors.New("is a folder; name a file"), file.Close())
	}
	// Only pipes, terminals and sockets know deadlines; other files do not make their reader wait.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })
	return &input{ctx: ctx, file: file, stop: stop}, nil
}

func (f *input) Read(p []byte) (int, error) {
	if f.text == nil {
		f.text = bufio.NewReader(readerFunc(f.read))
		first, _ := f.text.Peek(len(strictjson.Mark)) // an error comes again
		if strictjson.IsUTF16(first) {
			return 0, errUTF16
		}
		if string(first) == strictjson.Mark {
			_, _ = f.text.Discard(len(first))
		}
	}
	return f.text.Read(p)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (f *input) read(p []byte) (int, error) {
	if err := context.Cause(f.ctx); err != nil {
		return 0, err
	}
	n, err := f.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Cause(f.ctx)
	}
	return n, err
}

func (f *input) Close() error {
	f.stop()
	return f.file.Close()
}
