package command

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"optratio/internal/decimal"
)

// How many significant digits the numbers of tables have, at most and where --digits does not say.
const mostDigits, usualDigits = 12, 6

// digits is the flag --digits, 0 where it is not given.
type digits int

func (d *digits) String() string {
	return strconv.Itoa(int(cmp.Or(*d, usualDigits)))
}

func (*digits) Type() string { return "int" }

func (d *digits) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostDigits {
		return errors.New("give a number of digits from 1 to " + strconv.Itoa(mostDigits) + ", such as 6")
	}
	*d = digits(n)
	return nil
}

// cut are leading digits of a number, as tables show them: digits that … follows, after zeros that do not count.
var cut = regexp.MustCompile(`([0-9]+)\.?([0-9]*)…`)

// estimate is a number as tables show it that is not rigorous.
var estimate = regexp.MustCompile(`≈-?[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?`)

// short writes what numbers it is given with fewer of their leading digits. Digits before … are certain, and so are fewer of them.
type short struct {
	w      io.Writer
	digits int
}

func (s short) Write(text []byte) (int, error) {
	shorter := cut.ReplaceAllStringFunc(decimal.Settled(string(text), s.digits), func(number string) string { return shortened(number, s.digits) })
	shorter = estimate.ReplaceAllStringFunc(shorter, func(number string) string {
		x, err := strconv.ParseFloat(strings.TrimPrefix(number, "≈"), 64)
		if text := "≈" + strconv.FormatFloat(x, 'g', s.digits, 64); err == nil && len(text) < len(number) {
			return text
		}
		return number
	})
	if _, err := io.WriteString(s.w, shorter); err != nil {
		return 0, err
	}
	return len(text), nil
}

// shortened keeps so many significant digits of a number that ends in "…", all those before the point, and one after it.
func shortened(number string, most int) string {
	significant, seenPoint := 0, false
	for i, r := range number {
		switch {
		case r == '.':
			seenPoint = true
		case r != '0' || significant > 0:
			significant++
		}
		if seenPoint && significant >= most && r != '.' && r != '…' {
			return number[:i+1] + "…"
		}
	}
	return number
}

// Table returns a writer that aligns columns, which tabs separate, with so many spaces between them.
func Table(w io.Writer, spaces int) *tableWriter {
	if s, ok := w.(short); ok {
		t := tabwriter.NewWriter(s.w, 0, 0, spaces, ' ', 0)
		return &tableWriter{short{t, s.digits}, t}
	}
	t := tabwriter.NewWriter(w, 0, 0, spaces, ' ', 0)
	return &tableWriter{t, t}
}

// tableWriter is a writer of cells; numbers are shortened before columns are aligned.
type tableWriter struct {
	io.Writer
	columns *tabwriter.Writer
}

// Flush writes the table.
func (t *tableWriter) Flush() error { return t.columns.Flush() }
