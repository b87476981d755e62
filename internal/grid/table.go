package grid

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// ErrFile is wrapped by errors about files of rows.
var ErrFile = errors.New("file of rows")

// Kind says what rows of one kind are and how files hold them.
type Kind[R any] struct {
	Name    string   // of a grid of such rows, in messages
	Columns []string // of a file, but for the settings
	Fields  func(r R) []string
	Parse   func(fields []string) (R, error)
	Key     func(r R) string // names what tells a row from all others of its file
	Compare func(a, b R) int // is the order of finished files
	Same    func(a, b R) bool
}

// Table is what a file holds: its rows, and the settings that they have in common, which are empty where all are as by default.
type Table[R any] struct {
	Settings string
	Rows     []R
}

// SettingsColumn comes last in files of tables with settings.
const SettingsColumn = "settings"

// header returns the first line of a CSV file.
func (k *Kind[R]) header(settings bool) []byte {
	names := k.Columns
	if settings {
		names = append(slices.Clone(names), SettingsColumn)
	}
	return []byte(strings.Join(names, ",") + "\n")
}

// writeLines writes rows as lines of a CSV file.
func (k *Kind[R]) writeLines(out io.Writer, settings string, rows []R) error {
	w := csv.NewWriter(out)
	for _, r := range rows {
		fields := k.Fields(r)
		if settings != "" {
			fields = append(fields, settings)
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// WriteCSV writes a table.
func (k *Kind[R]) WriteCSV(w io.Writer, t *Table[R]) error {
	if _, err := w.Write(k.header(t.Settings != "")); err != nil {
		return err
	}
	return k.writeLines(w, t.Settings, t.Rows)
}

// ParseCSV reads a table, and returns with it how many bytes hold it. A last line that was not written to its end does not count, nor does what the loss
// of power leaves of one: a line that makes no sense and has none after it, or zeros. Where the context ends before that is done, the error is its cause.
func (k *Kind[R]) ParseCSV(ctx context.Context, data []byte) (t *Table[R], whole int, err error) {
	t = &Table[R]{}
	if zero := bytes.IndexByte(data, 0); zero >= 0 {
		data = data[:zero]
	}
	plain, long := k.header(false), k.header(true)
	switch {
	case bytes.HasPrefix(data, plain):
		whole = len(plain)
	case bytes.HasPrefix(data, long):
		whole = len(long)
	case bytes.HasPrefix(plain, data), bytes.HasPrefix(long, data):
		return t, 0, nil
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, windows(plain)), bytes.HasPrefix(data, windows(long)):
		return nil, 0, fmt.Errorf("%w:1: it was saved with a byte-order mark or with the line ends of Windows; save it as UTF-8 without a mark, its lines ended by LF", ErrFile)
	default:
		return nil, 0, fmt.Errorf("%w:1: the first line does not name the columns of a %s", ErrFile, k.Name)
	}
	settled := whole > len(plain)
	for line := 2; ; line++ {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		end := bytes.IndexByte(data[whole:], '\n') + 1
		if end == 0 {
			return t, t.length(whole), nil
		}
		row, settings, err := k.parseLine(string(data[whole:whole+end]), settled)
		if err == nil && len(t.Rows) > 0 && settings != t.Settings {
			err = fmt.Errorf("settings %q and before it %q", settings, t.Settings)
		}
		if err != nil && whole+end == len(data) {
			return t, t.length(whole), nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w:%d: %w", ErrFile, line, err)
		}
		t.Settings, t.Rows = settings, append(t.Rows, row)
		whole += end
	}
}

// windows returns a line as it ends in Windows.
func windows(line []byte) []byte { return bytes.ReplaceAll(line, []byte("\n"), []byte("\r\n")) }

// length returns the bytes that hold a table, none where there are no rows: the first line may be that of other settings.
func (t *Table[R]) length(whole int) int {
	if len(t.Rows) == 0 {
		return 0
	}
	return whole
}

// parseLine reads a line, which ends in settings or not.
func (k *Kind[R]) parseLine(line string, settled bool) (r R, settings string, err error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), ",")
	if strings.ContainsAny(line, "\"\r") {
		f, err = csv.NewReader(strings.NewReader(line)).Read()
	}
	want := len(k.Columns)
	if settled {
		want++
	}
	if err != nil || len(f) != want {
		return r, "", fmt.Errorf("not a line of %d fields", want)
	}
	if settled {
		if settings = f[want-1]; settings == "" {
			return r, "", errors.New("the settings are missing")
		}
	}
	r, err = k.Parse(f[:len(k.Columns)])
	return r, settings, err
}

// Load reads a file of rows. Where the context ends before that is done, the error is its cause.
func (k *Kind[R]) Load(ctx context.Context, path string) (*Table[R], error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, At(path, fmt.Errorf("cannot be read: %w", err))
	}
	t, _, err := k.ParseCSV(ctx, data)
	if err != nil {
		return nil, unread(ctx, path, err)
	}
	return t, nil
}

// unread returns the cause of a context that ended while a file was read, or else what is wrong with the file.
func unread(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return At(path, err)
}

// At puts a file's name in front of an error, which then wraps ErrFile.
func At(path string, err error) error {
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

func settingsText(s string) string {
	if s == "" {
		return "all settings as by default"
	}
	return s
}

// Merge returns the rows of all parts in order, each once. A row that several parts have must be the same in all of them; that of the first one is
// taken.
func (k *Kind[R]) Merge(ctx context.Context, parts []string) (*Table[R], error) {
	merged := &Table[R]{}
	type place struct{ row, part int }
	have := map[string]place{}
	first := "" // part with rows
	for i, path := range parts {
		t, err := k.Load(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(t.Rows) > 0 && first == "" {
			first, merged.Settings = path, t.Settings
		}
		if len(t.Rows) > 0 && t.Settings != merged.Settings {
			return nil, At(path, fmt.Errorf("was made with %s, %s with %s; merge files of one %s", settingsText(t.Settings), first, settingsText(merged.Settings), k.Name))
		}
		for _, r := range t.Rows {
			key := k.Key(r)
			other, twice := have[key]
			if twice && !k.Same(merged.Rows[other.row], r) {
				return nil, At(path, fmt.Errorf("differs from %s in the row for %s; merge files of one %s and one version of the program", parts[other.part], key, k.Name))
			}
			if !twice {
				have[key] = place{len(merged.Rows), i}
				merged.Rows = append(merged.Rows, r)
			}
		}
	}
	slices.SortFunc(merged.Rows, k.Compare)
	return merged, nil
}
