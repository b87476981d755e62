package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// store is the file of a run. Rows are appended as they come to a CSV file: to the file itself, or, as Parquet files cannot be appended to, to
// a journal beside it whose name has .csv added. finish puts all rows in order and replaces the file as a whole.
type store struct {
	path    string   // of the file
	journal *os.File // locked while it is open
	parquet bool
	table   *Table
	have    map[Parameters]int // row of the table
	onDisk  []byte             // of the CSV file when it was opened; nil where it was changed since
	dirty   bool
}

// fsync waits until a file is safe from a loss of power. Tests that write thousands of files do not wait.
var fsync = (*os.File).Sync

// IsParquet reports whether a file is to be a Parquet file by its name; an error where it is neither that nor a CSV file.
func IsParquet(path string) (bool, error) {
	switch filepath.Ext(path) {
	case ".csv":
		return false, nil
	case ".parquet":
		return true, nil
	}
	return false, at(path, errors.New("the name ends neither in .csv nor in .parquet"))
}

// Load reads a file of rows, by its name a CSV or a Parquet file; with a Parquet file also its journal, if it is not finished.
func Load(path string) (*Table, error) {
	isParquet, err := IsParquet(path)
	if err != nil {
		return nil, err
	}
	name := journalName(path, isParquet)
	data, err := os.ReadFile(name)
	if isParquet && errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, at(path, fmt.Errorf("cannot be read: %w", err))
	}
	t, _, err := readRows(path, name, data)
	return t, err
}

// journalName names the CSV file that rows are appended to.
func journalName(path string, isParquet bool) string {
	if isParquet {
		return path + ".csv"
	}
	return path
}

// readRows reads a CSV file, or a journal and its Parquet file, of which one that was cut holds no rows. It returns how many bytes of data, which are those of
// the CSV file, are whole lines.
func readRows(path, name string, data []byte) (t *Table, whole int, err error) {
	if t, whole, err = ParseCSV(data); err != nil {
		return nil, 0, at(name, err)
	}
	if name == path {
		return t, whole, nil
	}
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, whole, nil
	}
	if err != nil {
		return nil, 0, at(path, fmt.Errorf("cannot be read: %w", err))
	}
	done, err := ParseParquet(file)
	switch {
	case err != nil && wasCut(file):
		return t, whole, nil
	case err != nil:
		return nil, 0, at(path, err)
	case len(t.Rows) > 0 && len(done.Rows) > 0 && t.Settings != done.Settings:
		return nil, 0, at(path, fmt.Errorf("was made with %s, its journal %s with %s; remove one of them", settingsText(done.Settings), name, settingsText(t.Settings)))
	case len(t.Rows) == 0:
		t.Settings = done.Settings
	}
	t.Rows = append(t.Rows, done.Rows...)
	return t, whole, nil
}

// wasCut reports whether a file begins as Parquet files do and does not end as they do.
func wasCut(file []byte) bool {
	const magic = "PAR1"
	if len(file) < len(magic) {
		return bytes.HasPrefix([]byte(magic), file)
	}
	return bytes.HasPrefix(file, []byte(magic)) && !bytes.HasSuffix(file[len(magic):], []byte(magic))
}

// at puts a file's name in front of an error, which then wraps ErrFile.
func at(path string, err error) error {
	var place *fs.PathError
	if errors.As(err, &place) { // its message has a name already
		err = errors.New(strings.ReplaceAll(err.Error(), place.Error(), place.Err.Error()))
	}
	return &fileError{path, err}
}

type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string {
	if rest, ok := strings.CutPrefix(e.err.Error(), ErrFile.Error()); ok {
		return e.path + rest
	}
	return e.path + ": " + e.err.Error()
}

func (e *fileError) Unwrap() []error { return []error{e.err, ErrFile} }

// openStore opens the file of a run, and reads the rows that it holds if the run resumes.
func openStore(p *Plan, o Options, points []Point) (s *store, err error) {
	s = &store{path: o.Path}
	if s.parquet, err = IsParquet(o.Path); err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = target
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return nil, at(o.Path, fmt.Errorf("cannot be written: %w", err))
	}
	if s.journal, err = openLocked(journalName(s.path, s.parquet)); err != nil {
		return nil, err
	}
	if err := s.begin(p, o, points); err != nil {
		if info, err := s.journal.Stat(); err == nil && info.Size() == 0 {
			_ = os.Remove(s.journal.Name()) // it was not there before
		}
		return nil, errors.Join(err, s.journal.Close())
	}
	return s, nil
}

// openLocked opens a regular file that no other process has locked.
func openLocked(name string) (*os.File, error) {
	for {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, at(name, errors.New("is no regular file, to which rows can be added"))
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, at(name, fmt.Errorf("cannot be written: %w", err))
		}
		if err := lock(f); err != nil {
			return nil, errors.Join(at(name, errors.New("another process is writing it; wait for that, or name another file")), f.Close())
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

// begin reads what the file holds. Without Resume it becomes empty, unless it holds some of the rows that this run is about and not all of
// them.
func (s *store) begin(p *Plan, o Options, points []Point) error {
	data, err := io.ReadAll(s.journal)
	if err != nil {
		return err
	}
	t, whole, err := readRows(s.path, s.journal.Name(), data)
	if err == nil {
		err = s.keep(p, t)
	}
	if !o.Resume {
		if missing := s.count(p, points); err == nil && len(s.have) > 0 && missing > 0 {
			return at(o.Path, fmt.Errorf("holds %d rows of this sweep already, and %d are missing; go on with --resume, or remove it", len(s.have), missing))
		}
		whole, s.have, err = 0, map[Parameters]int{}, nil
		s.table = &Table{Settings: p.Settings}
		if s.parquet {
			if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	if err := s.repair(data, whole); err != nil {
		return s.notWritten(err)
	}
	return nil
}

// keep takes the rows of a table, which must be of this grid, each once.
func (s *store) keep(p *Plan, t *Table) error {
	s.table, s.have = &Table{Settings: p.Settings}, map[Parameters]int{}
	if len(t.Rows) > 0 && t.Settings != p.Settings {
		return at(s.path, fmt.Errorf("was made with %s, not with %s; give the same flags, or another file", settingsText(t.Settings), settingsText(p.Settings)))
	}
	for _, r := range t.Rows {
		if !p.holds(&r) {
			return at(s.path, fmt.Errorf("has a row for %s, which is not in this sweep; give the same flags, or another file", r.Parameters))
		}
		if i, twice := s.have[r.Parameters]; !twice {
			s.add(r)
		} else if !s.table.Rows[i].same(r) {
			return at(s.path, fmt.Errorf("has two different rows for %s; remove both", r.Parameters))
		}
	}
	return nil
}

func settingsText(s string) string {
	if s == "" {
		return "all settings as by default"
	}
	return s
}

func (s *store) add(r Row) {
	s.have[r.Parameters] = len(s.table.Rows)
	s.table.Rows = append(s.table.Rows, r)
}

// missing returns how many rows of a point there are not.
func (s *store) missing(p *Plan, at Point) (n int) {
	for _, name := range p.names() {
		if _, ok := s.have[p.parameters(at, name)]; !ok {
			n++
		}
	}
	return n
}

func (s *store) count(p *Plan, points []Point) (n int) {
	for _, at := range points {
		n += s.missing(p, at)
	}
	return n
}

// repair cuts off what is not whole, and leaves the file ready to be appended to.
func (s *store) repair(data []byte, whole int) error {
	if whole > 0 && whole == len(data) {
		s.onDisk = data
		_, err := s.journal.Seek(0, io.SeekEnd)
		return err
	}
	s.dirty = true
	if err := s.journal.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := s.journal.Seek(int64(whole), io.SeekStart); err != nil || whole > 0 {
		return err
	}
	_, err := s.journal.Write(s.table.header())
	return err
}

// append adds those rows that the file does not hold, in one write, and returns how many.
func (s *store) append(rows []Row) (int, error) {
	rows = slices.DeleteFunc(rows, func(r Row) bool { _, ok := s.have[r.Parameters]; return ok })
	lines, err := s.table.lines(rows)
	if err != nil {
		return 0, err
	}
	s.onDisk, s.dirty = nil, true
	if _, err := s.journal.Write(lines); err != nil {
		return 0, s.notWritten(err)
	}
	for _, r := range rows {
		s.add(r)
	}
	return len(rows), nil
}

// sync makes what was written safe from a loss of power.
func (s *store) sync() error {
	if !s.dirty {
		return nil
	}
	s.dirty = false
	if err := fsync(s.journal); err != nil {
		return s.notWritten(err)
	}
	return nil
}

// finish puts the rows in order and the file in its place.
func (s *store) finish() error {
	slices.SortFunc(s.table.Rows, compare)
	var b bytes.Buffer
	write := s.table.WriteCSV
	if s.parquet {
		write = s.table.WriteParquet
	}
	if err := write(&b); err != nil {
		return err
	}
	there := s.onDisk
	if s.parquet {
		there, _ = os.ReadFile(s.path)
	}
	if !bytes.Equal(b.Bytes(), there) {
		if err := replace(s.path, b.Bytes()); err != nil {
			return s.notWritten(err)
		}
	}
	if s.parquet {
		return os.Remove(s.journal.Name())
	}
	return nil
}

// replace writes a file beside its place and renames it, so that after a kill or a loss of power there is the old one or the new one.
func replace(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new") // one name: what a kill left is overwritten
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, fsync(f), f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = fsync(folder) // not every system can
		return folder.Close()
	}
	return nil
}

// notWritten says that the system refused to write; what was written before is in the file.
func (s *store) notWritten(err error) error { return at(s.path, fmt.Errorf("not written: %w", err)) }

func (s *store) close() error {
	return errors.Join(s.sync(), s.journal.Close())
}
