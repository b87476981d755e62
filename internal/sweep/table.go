package sweep

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strings"
)

// ErrFile is wrapped by errors about files of rows.
var ErrFile = errors.New("file of rows")

// Table is what a file holds: its rows, and the settings that they have in common, empty where all are at their defaults.
type Table struct {
	Settings string
	Rows     []Row
}

// header returns the first line of a CSV file, which has a last column for settings or not.
func header(settings bool) []byte {
	names := strings.Join(columns, ",")
	if settings {
		names += ",settings"
	}
	return []byte(names + "\n")
}

// writeLines writes rows as lines of a CSV file.
func writeLines(out io.Writer, settings string, rows []Row) error {
	w := csv.NewWriter(out)
	for _, r := range rows {
		fields := r.fields()
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
func (t *Table) WriteCSV(w io.Writer) error {
	_, err := w.Write(header(t.Settings != ""))
	return errors.Join(err, writeLines(w, t.Settings, t.Rows))
}

// ParseCSV reads a table, and returns with it how many bytes hold it, none where there are no rows: the first line may be that of other settings. A last line that
// was not written to its end does not count, nor does what the loss of power leaves of one: a line that makes no sense and has none after it, or zeros.
func ParseCSV(data []byte) (t *Table, whole int, err error) {
	t = &Table{}
	if zero := bytes.IndexByte(data, 0); zero >= 0 {
		data = data[:zero]
	}
	plain, long := header(false), header(true)
	at := len(plain)
	switch {
	case bytes.HasPrefix(data, plain):
	case bytes.HasPrefix(data, long):
		at = len(long)
	case bytes.HasPrefix(plain, data), bytes.HasPrefix(long, data):
		return t, 0, nil
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, windows(plain)), bytes.HasPrefix(data, windows(long)):
		return nil, 0, fmt.Errorf("%w:1: it was saved with a byte-order mark or with the line ends of Windows; save it as UTF-8 without a mark, its lines ended by LF", ErrFile)
	default:
		return nil, 0, fmt.Errorf("%w:1: the first line does not name the columns of a sweep", ErrFile)
	}
	settled := at > len(plain)
	for line := 2; ; line++ {
		end := bytes.IndexByte(data[at:], '\n') + 1
		if end == 0 {
			return t, whole, nil
		}
		row, settings, err := parseLine(string(data[at:at+end]), settled)
		if err == nil && len(t.Rows) > 0 && settings != t.Settings {
			err = fmt.Errorf("settings %q and before it %q", settings, t.Settings)
		}
		at += end
		if err != nil && at == len(data) {
			return t, whole, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w:%d: %w", ErrFile, line, err)
		}
		t.Settings, t.Rows, whole = settings, append(t.Rows, row), at
	}
}

// windows returns a line as it ends in Windows.
func windows(line []byte) []byte { return bytes.ReplaceAll(line, []byte("\n"), []byte("\r\n")) }

// parseLine reads a line, which ends in settings or not.
func parseLine(line string, settled bool) (r Row, settings string, err error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), ",")
	if strings.ContainsAny(line, "\"\r") {
		f, err = csv.NewReader(strings.NewReader(line)).Read()
	}
	want := len(columns)
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
	r, err = parseRow(f)
	return r, settings, err
}

// Load reads a file of rows.
func Load(path string) (*Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, inFile(path, fmt.Errorf("cannot be read: %w", err))
	}
	t, _, err := ParseCSV(data)
	if err != nil {
		return nil, inFile(path, err)
	}
	return t, nil
}

// inFile puts a file's name in front of an error, which then wraps ErrFile.
func inFile(path string, err error) error {
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
		return "all settings at their defaults"
	}
	return s
}

// Merge returns the rows of all parts in order, each once. A row that several parts have must be the same in all of them; that of the first one is
// taken.
func Merge(parts []string) (*Table, error) {
	merged := &Table{}
	type place struct{ row, part int }
	have := map[Parameters]place{}
	first := "" // part with rows
	for i, path := range parts {
		t, err := Load(path)
		if err != nil {
			return nil, err
		}
		if len(t.Rows) > 0 && first == "" {
			first, merged.Settings = path, t.Settings
		}
		if len(t.Rows) > 0 && t.Settings != merged.Settings {
			return nil, inFile(path, fmt.Errorf("was made with %s, %s with %s; merge files of one sweep", settingsText(t.Settings), first, settingsText(merged.Settings)))
		}
		for _, r := range t.Rows {
			other, twice := have[r.Parameters]
			if twice && !merged.Rows[other.row].same(r) {
				return nil, inFile(path, fmt.Errorf("differs from %s in the row for %s; merge files of one sweep and one version of the program", parts[other.part], r.Parameters))
			}
			if !twice {
				have[r.Parameters] = place{len(merged.Rows), i}
				merged.Rows = append(merged.Rows, r)
			}
		}
	}
	slices.SortFunc(merged.Rows, compare)
	return merged, nil
}

// Missing returns the rows that the table lacks of the grid that its rows span: every n with every k, ε, objective, level of constraints and mechanism that
// occurs. It returns at most so many, and the number of all.
func (t *Table) Missing(most int) (some []Parameters, all int) {
	have := map[Parameters]bool{}
	n, k, kinds := map[int]bool{}, map[int]bool{}, map[Parameters]bool{}
	eps := map[[2]string]*big.Rat{}
	for _, r := range t.Rows {
		have[r.Parameters] = true
		n[r.N], k[r.K], eps[[2]string{r.Eps, r.ExpEps}] = true, true, r.value
		kinds[Parameters{Objective: r.Objective, Constraints: r.Constraints, Mechanism: r.Mechanism}] = true
	}
	all = len(n)*len(k)*len(eps)*len(kinds) - len(have)
	if all == 0 {
		return nil, 0
	}
	var lacking []Row
	for n := range n {
		for k := range k {
			for text, value := range eps {
				for p := range kinds {
					p.N, p.K, p.Eps, p.ExpEps = n, k, text[0], text[1]
					if !have[p] {
						lacking = append(lacking, Row{Parameters: p, value: value})
					}
				}
			}
		}
	}
	slices.SortFunc(lacking, compare)
	for _, r := range lacking[:min(most, len(lacking))] {
		some = append(some, r.Parameters)
	}
	return some, all
}
