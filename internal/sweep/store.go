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
	"strings"

	files "optratio/internal/grid"
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
	open    int // rows wider than the gap
}

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

// Load reads a file of rows, by its name a CSV or a Parquet file; with a Parquet file also its journal, if it is not finished. Where the context ends before that is done,
// the error is its cause.
func Load(ctx context.Context, path string) (*Table, error) {
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
	t, _, err := readRows(ctx, path, name, data)
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
func readRows(ctx context.Context, path, name string, data []byte) (t *Table, whole int, err error) {
	if t, whole, err = ParseCSV(ctx, data); err != nil {
		return nil, 0, read(ctx, name, err)
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
	done, err := ParseParquet(ctx, file)
	switch {
	case err != nil && ctx.Err() == nil && wasCut(file):
		return t, whole, nil
	case err != nil:
		return nil, 0, read(ctx, path, err)
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

// read returns the cause of a context that ended while a file was read, or else what is wrong with the file.
func read(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return at(path, err)
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

// openStore opens the file of a run, and reads the rows that it holds if the run resumes. Without Resume a file that is there is refused. Where the context ends
// before that is done, the error is its cause.
func openStore(ctx context.Context, p *Plan, o Options) (s *store, err error) {
	s = &store{path: o.Path, table: &Table{Settings: p.Settings}, have: map[Parameters]int{}}
	if s.parquet, err = IsParquet(o.Path); err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = target
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return nil, at(o.Path, fmt.Errorf("cannot be written: %w", err))
	}
	if _, err := os.Lstat(s.path); err == nil && s.parquet && !o.Resume {
		return nil, at(o.Path, files.ErrExists)
	}
	name := journalName(s.path, s.parquet)
	if s.journal, err = files.Open(name, !o.Resume); err != nil {
		return nil, at(name, err)
	}
	if err := s.begin(ctx, p); err != nil {
		if info, err := s.journal.Stat(); err == nil && info.Size() == 0 {
			_ = os.Remove(s.journal.Name()) // it was not there before
		}
		return nil, errors.Join(err, s.journal.Close())
	}
	return s, nil
}

// begin reads what the file holds, and leaves it ready to be appended to.
func (s *store) begin(ctx context.Context, p *Plan) error {
	info, err := s.journal.Stat()
	if err != nil {
		return err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(s.journal, data); err != nil {
		return err
	}
	t, whole, err := readRows(ctx, s.path, s.journal.Name(), data)
	if err == nil {
		err = s.keep(ctx, p, t)
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
func (s *store) keep(ctx context.Context, p *Plan, t *Table) error {
	if len(t.Rows) > 0 && t.Settings != p.Settings {
		return at(s.path, fmt.Errorf("was made with %s, not with %s; give the same flags, or another file", settingsText(t.Settings), settingsText(p.Settings)))
	}
	for _, r := range t.Rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !p.holds(&r) {
			return at(s.path, fmt.Errorf("has a row for %s, which is not in this sweep; give the same flags, or another file", r.Parameters))
		}
		if i, twice := s.have[r.Parameters]; !twice {
			s.add(p, r)
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

func (s *store) add(p *Plan, r Row) {
	if p.open(&r) {
		s.open++
	}
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
func (s *store) append(p *Plan, rows []Row) (int, error) {
	rows = slices.DeleteFunc(rows, func(r Row) bool { _, ok := s.have[r.Parameters]; return ok })
	var lines bytes.Buffer
	if err := s.table.writeLines(&lines, rows); err != nil {
		return 0, err
	}
	s.onDisk, s.dirty = nil, true
	if _, err := s.journal.Write(lines.Bytes()); err != nil {
		return 0, s.notWritten(err)
	}
	for _, r := range rows {
		s.add(p, r)
	}
	return len(rows), nil
}

// sync makes what was written safe from a loss of power.
func (s *store) sync() error {
	if !s.dirty {
		return nil
	}
	s.dirty = false
	if err := files.Sync(s.journal); err != nil {
		return s.notWritten(err)
	}
	return nil
}

// finish puts the rows in order and the file in its place. Where the context ends before that, the file is left as it is and the error is the cause.
func (s *store) finish(ctx context.Context) error {
	slices.SortFunc(s.table.Rows, compare)
	var b bytes.Buffer
	write := s.table.WriteCSV
	if s.parquet {
		write = s.table.WriteParquet
	}
	if err := write(files.Writer(ctx, &b)); err != nil {
		return err
	}
	there := s.onDisk
	if s.parquet {
		there, _ = os.ReadFile(s.path)
	}
	if !bytes.Equal(b.Bytes(), there) {
		whole, err := files.Replace(s.path, func(w io.Writer) error {
			_, err := files.Writer(ctx, w).Write(b.Bytes())
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
	}
	if s.parquet {
		return os.Remove(s.journal.Name())
	}
	return nil
}

// notWritten says that the system refused to write; what was written before is in the file.
func (s *store) notWritten(err error) error { return at(s.path, fmt.Errorf("not written: %w", err)) }

func (s *store) close() error {
	return errors.Join(s.sync(), s.journal.Close())
}
