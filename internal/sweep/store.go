package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Reasons why a file is not opened.
var (
	ErrExists = errors.New("exists; remove it to begin anew")
	ErrLocked = errors.New("another process is writing it; wait for that, or name another file")
)

// Open opens a regular file to read and write, and locks it until it is closed or the process ends. The file is made where it is not there; where fresh is set,
// one that is there is ErrExists. It fails with ErrLocked where another process has locked it.
func Open(name string, fresh bool) (*os.File, error) {
	how := os.O_RDWR | os.O_CREATE
	if fresh {
		how |= os.O_EXCL
	}
	for {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, errors.New("is not a regular file, to which rows can be added")
		}
		f, err := os.OpenFile(name, how, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return nil, ErrExists
		}
		if err != nil {
			return nil, fmt.Errorf("cannot be written: %w", err)
		}
		if err := lock(f); err != nil {
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

// store is the file of a run. Rows are appended as they come; finish puts all rows in order and replaces the file as a whole.
type store struct {
	path   string
	file   *os.File // locked while it is open
	table  *Table
	have   map[Parameters]int // row of the table
	onDisk []byte             // of the file when it was opened; nil where it was changed since
}

// openStore opens the file of a run, and reads the rows that it holds if the run resumes. Without resume a file that is there is refused, and with it one that is
// not of this grid.
func openStore(p *Plan, path string, resume bool) (*store, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, inFile(path, fmt.Errorf("cannot be written: %w", err))
	}
	file, err := Open(path, !resume)
	if err != nil {
		return nil, inFile(path, err)
	}
	s := &store{path: path, file: file, table: &Table{Settings: p.Settings}, have: map[Parameters]int{}}
	if err := s.begin(p); err != nil {
		return nil, errors.Join(inFile(path, err), s.abandon())
	}
	return s, nil
}

// abandon closes a file that nothing was written to, and removes it where it was not there before.
func (s *store) abandon() error {
	if info, err := s.file.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(s.file.Name())
	}
	return s.file.Close()
}

// begin reads what the file holds, cuts off what is not whole, and leaves it ready to be appended to.
func (s *store) begin(p *Plan) error {
	data, err := io.ReadAll(s.file)
	if err != nil {
		return err
	}
	t, whole, err := ParseCSV(data)
	if err != nil {
		return err
	}
	if len(t.Rows) > 0 && t.Settings != p.Settings {
		return fmt.Errorf("was made with %s, not with %s; give the same flags, or another file", settingsText(t.Settings), settingsText(p.Settings))
	}
	for _, r := range t.Rows {
		i, twice := s.have[r.Parameters]
		switch {
		case !p.holds(&r):
			return fmt.Errorf("has a row for %s, which is not in this sweep; give the same flags, or another file", r.Parameters)
		case twice && !s.table.Rows[i].same(r):
			return fmt.Errorf("has two different rows for %s; remove both", r.Parameters)
		case !twice:
			s.add(r)
		}
	}
	if whole > 0 && whole == len(data) {
		s.onDisk = data
		return nil
	}
	_, err = s.file.Seek(int64(whole), io.SeekStart)
	if err = errors.Join(err, s.file.Truncate(int64(whole))); err == nil && whole == 0 {
		_, err = s.file.Write(header(p.Settings != ""))
	}
	if err != nil {
		return fmt.Errorf("not written: %w", err)
	}
	return nil
}

func (s *store) add(r Row) {
	s.have[r.Parameters] = len(s.table.Rows)
	s.table.Rows = append(s.table.Rows, r)
}

// append adds those rows that the file does not hold, in one write, and returns how many these are. From the end of this process they are safe then.
func (s *store) append(rows []Row) (int, error) {
	rows = slices.DeleteFunc(rows, func(r Row) bool { _, ok := s.have[r.Parameters]; return ok })
	var lines bytes.Buffer
	err := writeLines(&lines, s.table.Settings, rows)
	if s.onDisk = nil; err == nil {
		_, err = s.file.Write(lines.Bytes())
	}
	if err != nil {
		return 0, inFile(s.path, fmt.Errorf("not written: %w", err))
	}
	for _, r := range rows {
		s.add(r)
	}
	return len(rows), nil
}

// finish puts the rows in order and the file in its place, so that after a kill or a loss of power there is the old one or the new one. Where the context ends
// before that, the file is left as it is and the error is the cause.
func (s *store) finish(ctx context.Context) error {
	t := &Table{s.table.Settings, slices.Clone(s.table.Rows)} // which is left behind where the context ends first
	slices.SortFunc(t.Rows, compare)
	var b bytes.Buffer
	if err := t.WriteCSV(&b); err != nil || bytes.Equal(b.Bytes(), s.onDisk) {
		return err
	}
	temp := beside(s.path)
	f, err := os.Create(temp)
	if err == nil {
		_, err = f.Write(b.Bytes())
		err = errors.Join(err, syncFile(f), f.Close(), context.Cause(ctx))
	}
	if err == nil {
		err = os.Rename(temp, s.path)
	}
	if err != nil {
		_ = os.Remove(temp)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return inFile(s.path, fmt.Errorf("not written: %w", err))
	}
	if folder, err := os.Open(filepath.Dir(s.path)); err == nil {
		_ = syncFile(folder) // not every system can
		_ = folder.Close()
	}
	return nil
}

// beside names the file that is written in place of another one until it is whole. There is one such name: what a kill left is overwritten.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
}

// syncFile waits until a file is safe from a loss of power. Tests that write thousands of files do not wait.
var syncFile = (*os.File).Sync
