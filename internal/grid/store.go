package grid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// store is the file of a run. Rows are appended as they come; finish puts all rows in order and replaces the file as a whole.
type store[R any] struct {
	kind   *Kind[R]
	path   string
	file   *os.File // locked while it is open
	table  *Table[R]
	have   map[string]int // row of the table with a key
	onDisk []byte         // of the file when it was opened; nil where it was changed since
	dirty  bool
}

// openStore opens the file of a run, and reads the rows that it holds if the run resumes; keep says which of them stay. Without resume a file that is there is refused. Where
// the context ends before that is done, the error is its cause.
func openStore[R any](ctx context.Context, k *Kind[R], settings, path string, resume bool, keep func([]R) ([]R, error)) (s *store[R], err error) {
	s = &store[R]{kind: k, path: path, table: &Table[R]{Settings: settings}, have: map[string]int{}}
	if target, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = target
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return nil, At(path, fmt.Errorf("cannot be written: %w", err))
	}
	if s.file, err = Open(s.path, !resume); err != nil {
		return nil, At(s.path, err)
	}
	if err := s.begin(ctx, keep); err != nil {
		if info, err := s.file.Stat(); err == nil && info.Size() == 0 {
			_ = os.Remove(s.file.Name()) // it was not there before
		}
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// begin reads what the file holds, and leaves it ready to be appended to.
func (s *store[R]) begin(ctx context.Context, keep func([]R) ([]R, error)) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(s.file, data); err != nil {
		return err
	}
	t, whole, err := s.kind.ParseCSV(ctx, data)
	if err != nil {
		return unread(ctx, s.path, err)
	}
	if len(t.Rows) > 0 && t.Settings != s.table.Settings {
		return At(s.path, fmt.Errorf("was made with %s, not with %s; give the same flags, or another file", settingsText(t.Settings), settingsText(s.table.Settings)))
	}
	kept, err := keep(t.Rows)
	if err == nil {
		err = s.fill(ctx, kept)
	}
	if err != nil {
		return unread(ctx, s.path, err)
	}
	if len(kept) < len(t.Rows) {
		err = s.rewrite()
	} else {
		err = s.repair(data, whole)
	}
	if err != nil {
		return s.notWritten(err)
	}
	return nil
}

// fill takes rows that the file holds, each once.
func (s *store[R]) fill(ctx context.Context, rows []R) error {
	for _, r := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		key := s.kind.Key(r)
		if i, twice := s.have[key]; !twice {
			s.add(key, r)
		} else if !s.kind.Same(s.table.Rows[i], r) {
			return fmt.Errorf("has two different rows for %s; remove both", key)
		}
	}
	return nil
}

func (s *store[R]) add(key string, r R) {
	s.have[key] = len(s.table.Rows)
	s.table.Rows = append(s.table.Rows, r)
}

// missing returns how many of some rows there are not.
func (s *store[R]) missing(keys []string) (n int) {
	for _, key := range keys {
		if _, ok := s.have[key]; !ok {
			n++
		}
	}
	return n
}

// rewrite puts a file of the rows that are kept in place of the one with all.
func (s *store[R]) rewrite() error {
	whole, err := Replace(s.path, func(w io.Writer) error { return s.kind.WriteCSV(w, s.table) })
	if err != nil {
		return err
	}
	old := s.file
	s.file = whole
	return old.Close()
}

// repair cuts off what is not whole, and leaves the file ready to be appended to.
func (s *store[R]) repair(data []byte, whole int) error {
	if whole > 0 && whole == len(data) {
		s.onDisk = data
		_, err := s.file.Seek(0, io.SeekEnd)
		return err
	}
	s.dirty = true
	if err := s.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := s.file.Seek(int64(whole), io.SeekStart); err != nil || whole > 0 {
		return err
	}
	_, err := s.file.Write(s.kind.header(s.table.Settings != ""))
	return err
}

// append adds those rows that the file does not hold, in one write.
func (s *store[R]) append(rows []R) error {
	rows = slices.DeleteFunc(rows, func(r R) bool { _, ok := s.have[s.kind.Key(r)]; return ok })
	var lines bytes.Buffer
	if err := s.kind.writeLines(&lines, s.table.Settings, rows); err != nil {
		return err
	}
	s.onDisk, s.dirty = nil, true
	if _, err := s.file.Write(lines.Bytes()); err != nil {
		return s.notWritten(err)
	}
	for _, r := range rows {
		s.add(s.kind.Key(r), r)
	}
	return nil
}

// sync makes what was written safe from a loss of power.
func (s *store[R]) sync() error {
	if !s.dirty {
		return nil
	}
	s.dirty = false
	if err := Sync(s.file); err != nil {
		return s.notWritten(err)
	}
	return nil
}

// finish puts the rows in order and the file in its place. Where the context ends before that, the file is left as it is and the error is the cause.
func (s *store[R]) finish(ctx context.Context) error {
	t := &Table[R]{s.table.Settings, slices.Clone(s.table.Rows)} // which is left behind where the context ends first
	slices.SortFunc(t.Rows, s.kind.Compare)
	var b bytes.Buffer
	if err := s.kind.WriteCSV(endingWriter{ctx, &b}, t); err != nil {
		return err
	}
	if bytes.Equal(b.Bytes(), s.onDisk) {
		return nil
	}
	whole, err := Replace(s.path, func(w io.Writer) error {
		_, err := endingWriter{ctx, w}.Write(b.Bytes())
		return err
	})
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		err = whole.Close()
	}
	if err != nil {
		return s.notWritten(err)
	}
	return nil
}

// notWritten says that the system refused to write; what was written before is in the file.
func (s *store[R]) notWritten(err error) error { return At(s.path, fmt.Errorf("not written: %w", err)) }

func (s *store[R]) close() error {
	return errors.Join(s.sync(), s.file.Close())
}

// endingWriter fails with the cause of a context once that has ended.
type endingWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w endingWriter) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.w.Write(p)
}
