package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
)

// ErrFile is wrapped by errors about files of rows.
var ErrFile = errors.New("file of rows")

// Parameters tell a row from all others of its file.
type Parameters struct {
	N           int    `json:"n" parquet:"n"`
	K           int    `json:"k" parquet:"k"`
	Eps         string `json:"eps" parquet:"eps,optional"`         // a decimal, or empty
	ExpEps      string `json:"exp_eps" parquet:"exp_eps,optional"` // a fraction, or empty
	Objective   string `json:"objective" parquet:"objective"`
	Constraints string `json:"constraints" parquet:"constraints"`
	Mechanism   string `json:"mechanism" parquet:"mechanism"`
}

// String names the parameters in a message.
func (p Parameters) String() string {
	eps := "ε = " + p.Eps
	if p.ExpEps != "" {
		eps = "e^ε = " + p.ExpEps
	}
	return fmt.Sprintf("n = %d, k = %d, %s, objective %s, constraints %s, %s", p.N, p.K, eps, p.Objective, p.Constraints, p.Mechanism)
}

// Row is a mechanism's error and ratio at one point. Bounds are decimals rounded outward, "inf" or "-inf"; or fractions, where results were asked to be
// exact.
type Row struct {
	Parameters
	ErrorLower string  `parquet:"error_lower"`
	ErrorUpper string  `parquet:"error_upper"`
	RatioLower string  `parquet:"ratio_lower"`
	RatioUpper string  `parquet:"ratio_upper"`
	Proof      string  `parquet:"proof"`
	Solver     string  `parquet:"solver"`
	Seconds    float64 `parquet:"seconds"`

	value *big.Rat // of ε or e^ε
}

// same reports whether two rows are the same apart from their seconds.
func (r Row) same(other Row) bool {
	r.Seconds, r.value = other.Seconds, other.value
	return r == other
}

// compare orders rows: by n, k, ε, objective, constraints and the mechanism's name.
func compare(a, b Row) int {
	return cmp.Or(
		cmp.Compare(a.N, b.N), cmp.Compare(a.K, b.K), strings.Compare(a.kind(), b.kind()), a.value.Cmp(b.value),
		strings.Compare(a.Objective, b.Objective), strings.Compare(a.Constraints, b.Constraints), strings.Compare(a.Mechanism, b.Mechanism),
	)
}

func (p Parameters) kind() string {
	if p.ExpEps != "" {
		return "exp"
	}
	return ""
}

var columns = []string{
	"n", "k", "eps", "exp_eps", "objective", "constraints", "mechanism",
	"error_lower", "error_upper", "ratio_lower", "ratio_upper", "proof", "solver", "seconds",
}

// settingsColumn comes last in files of sweeps that are not as by default.
const settingsColumn = "settings"

// Table is what a file holds: its rows, and the settings that they have in common.
type Table struct {
	Settings string
	Rows     []Row
}

// header returns the first line of a CSV file.
func (t *Table) header() []byte {
	names := columns
	if t.Settings != "" {
		names = append(slices.Clone(names), settingsColumn)
	}
	return []byte(strings.Join(names, ",") + "\n")
}

// writeLines writes rows as lines of the table's CSV file.
func (t *Table) writeLines(out io.Writer, rows []Row) error {
	w := csv.NewWriter(out)
	for _, r := range rows {
		fields := []string{
			strconv.Itoa(r.N), strconv.Itoa(r.K), r.Eps, r.ExpEps, r.Objective, r.Constraints, r.Mechanism,
			r.ErrorLower, r.ErrorUpper, r.RatioLower, r.RatioUpper, r.Proof, r.Solver, strconv.FormatFloat(r.Seconds, 'f', 6, 64),
		}
		if t.Settings != "" {
			fields = append(fields, t.Settings)
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// WriteCSV writes the table.
func (t *Table) WriteCSV(w io.Writer) error {
	if _, err := w.Write(t.header()); err != nil {
		return err
	}
	return t.writeLines(w, t.Rows)
}

// ParseCSV reads a table, and returns with it how many bytes hold it. A last line that was not written to its end does not count, nor does what the loss
// of power leaves of one: a line that makes no sense and has none after it, or zeros. Where the context ends before that is done, the error is its cause.
func ParseCSV(ctx context.Context, data []byte) (t *Table, whole int, err error) {
	t = &Table{}
	if zero := bytes.IndexByte(data, 0); zero >= 0 {
		data = data[:zero]
	}
	plain := t.header()
	long := (&Table{Settings: "any"}).header()
	switch {
	case bytes.HasPrefix(data, plain):
		whole = len(plain)
	case bytes.HasPrefix(data, long):
		whole = len(long)
	case bytes.HasPrefix(plain, data), bytes.HasPrefix(long, data):
		return t, 0, nil
	default:
		return nil, 0, fmt.Errorf("%w:1: the first line does not name the columns of a sweep", ErrFile)
	}
	want := bytes.Count(data[:whole], []byte(",")) + 1
	for line := 2; ; line++ {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		end := bytes.IndexByte(data[whole:], '\n') + 1
		if end == 0 {
			return t, t.length(whole), nil
		}
		row, settings, err := parseLine(string(data[whole:whole+end]), want)
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

// length returns the bytes that hold a table, none where there are no rows: the first line may be that of other settings.
func (t *Table) length(whole int) int {
	if len(t.Rows) == 0 {
		return 0
	}
	return whole
}

// parseLine reads a line of so many fields.
func parseLine(line string, want int) (r Row, settings string, err error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), ",")
	if strings.ContainsAny(line, "\"\r") {
		f, err = csv.NewReader(strings.NewReader(line)).Read()
	}
	if err != nil || len(f) != want {
		return r, "", fmt.Errorf("not a line of %d fields", want)
	}
	n, err1 := strconv.Atoi(f[0])
	k, err2 := strconv.Atoi(f[1])
	seconds, err3 := strconv.ParseFloat(f[13], 64)
	if errors.Join(err1, err2, err3) != nil {
		return r, "", fmt.Errorf("n = %q, k = %q or seconds = %q is no number", f[0], f[1], f[13])
	}
	r = Row{
		Parameters: Parameters{n, k, f[2], f[3], f[4], f[5], f[6]},
		ErrorLower: f[7], ErrorUpper: f[8], RatioLower: f[9], RatioUpper: f[10], Proof: f[11], Solver: f[12], Seconds: seconds,
	}
	if want > len(columns) {
		if settings = f[14]; settings == "" {
			return r, "", errors.New("the settings are missing")
		}
	}
	return r, settings, r.complete()
}

// complete checks a row that was read and fills in its value.
func (r *Row) complete() error {
	text := r.Eps + r.ExpEps
	value, err := decimal.ParseNumber(text)
	switch {
	case r.N < 1 || r.K < 1:
		return fmt.Errorf("n = %d and k = %d, want at least 1", r.N, r.K)
	case err != nil || (r.Eps == "") == (r.ExpEps == ""):
		return fmt.Errorf("eps = %q and exp_eps = %q, want a number and nothing", r.Eps, r.ExpEps)
	case r.ExpEps != "" && value.RatString() != text || r.Eps != "" && (strings.Contains(text, "/") || decimal.Text(value) != text):
		return fmt.Errorf("%s is not written as a sweep writes it", text)
	case r.Objective == "" || r.Constraints == "" || r.Mechanism == "" || r.Proof == "" || r.Solver == "":
		return errors.New("an empty field")
	}
	for _, ends := range [][2]string{{r.ErrorLower, r.ErrorUpper}, {r.RatioLower, r.RatioUpper}} {
		lower, upper := bound(ends[0]), bound(ends[1])
		if lower == nil && !isInfinite(ends[0]) || upper == nil && ends[1] != "inf" || lower != nil && upper != nil && lower.Cmp(upper) > 0 {
			return fmt.Errorf("%q and %q are no bounds", ends[0], ends[1])
		}
	}
	r.value = value
	return nil
}

func isInfinite(text string) bool { return text == "inf" || text == "-inf" }

// bound reads a bound, nil where it is infinite or none.
func bound(text string) *big.Rat {
	x, err := decimal.ParseNumber(text)
	if err != nil {
		return nil
	}
	return x
}
