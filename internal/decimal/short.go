package decimal

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

// cut are leading digits of a number, as tables show them: digits that … follows, after zeros that do not count.
var cut = regexp.MustCompile(quoted + `|[0-9]+\.?[0-9]*…`)

// estimate is a number as tables show it that is not rigorous.
var estimate = regexp.MustCompile(quoted + `|≈-?[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?`)

// Shorten returns a text whose numbers have so many of their leading digits, but for what is in quotes. Digits before … are certain, and so are fewer of them.
func Shorten(text string, digits int) string {
	shorter := cut.ReplaceAllStringFunc(Settled(text, digits), func(number string) string { return shortened(number, digits) })
	return estimate.ReplaceAllStringFunc(shorter, func(number string) string {
		x, err := strconv.ParseFloat(strings.TrimPrefix(number, "≈"), 64)
		if text := "≈" + strconv.FormatFloat(x, 'g', digits, 64); err == nil && len(text) < len(number) {
			return text
		}
		return number
	})
}

// shortened keeps so many significant digits of a number that ends in "…", all those before the point, and one after it.
func shortened(number string, most int) string {
	if number[0] == '"' {
		return number
	}
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

// Short is a writer that shortens the numbers in what it is given.
type Short struct {
	To     io.Writer
	Digits int
}

// Text is a text as s writes it.
func (s Short) Text(text string) string { return Shorten(text, s.Digits) }

func (s Short) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.To, s.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Table returns a writer that aligns columns, which tabs separate, with so many spaces between them.
func Table(w io.Writer, spaces int) *TableWriter {
	s, short := w.(Short)
	if short {
		w = s.To
	}
	t := tabwriter.NewWriter(w, 0, 0, spaces, ' ', 0)
	if short {
		return &TableWriter{Short{t, s.Digits}, t}
	}
	return &TableWriter{t, t}
}

// TableWriter is a writer of cells; numbers are shortened before columns are aligned.
type TableWriter struct {
	io.Writer
	columns *tabwriter.Writer
}

// Flush writes the table.
func (t *TableWriter) Flush() error { return t.columns.Flush() }
