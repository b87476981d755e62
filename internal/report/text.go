package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/escape"
)

// WriteText writes the answer for a terminal.
func (p *Page) WriteText(w io.Writer) {
	shown := slices.DeleteFunc(slices.Clone(p.Blocks), func(b Block) bool { return b.in == browser })
	if !p.untitled {
		shown = slices.Insert(shown, 0, Block{Lines: []string{p.Title}})
	}
	for i, b := range shown {
		if i > 0 && !b.joined {
			fmt.Fprintln(w)
		}
		for _, line := range b.Lines {
			fmt.Fprintln(w, escape.Line(line))
		}
		if b.Table != nil {
			b.Table.write(w)
		}
	}
}

// write writes the table in columns.
func (t *Table) write(w io.Writer) {
	var columns strings.Builder
	to := decimal.Table(&columns, 3)
	if s, ok := w.(decimal.Short); ok {
		w, to = s.To, decimal.Table(decimal.Short{To: &columns, Digits: s.Digits}, 3)
	}
	apart, rows := t.Apart, t.Rows
	if !t.headless {
		apart, rows = apart+1, slices.Insert(slices.Clone(rows), 0, t.Head)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = escape.Line(c)
		}
		fmt.Fprintln(to, strings.Join(cells, "\t"))
	}
	to.Flush()
	for i, line := range slices.Collect(strings.Lines(columns.String())) {
		if i == apart && t.Says != "" {
			fmt.Fprintln(w, t.Says)
		}
		fmt.Fprint(w, line)
	}
}
