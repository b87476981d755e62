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

// add adds a row.
func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Texts are the head and the rows as text.
func (t *Table) Texts() [][]string {
	all := [][]string{slices.Clone(t.Head)}
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = fmt.Sprint(c)
		}
		all = append(all, texts)
	}
	return all
}

// write writes the table in columns.
func (t *Table) write(w io.Writer) {
	var columns strings.Builder
	to := decimal.Table(&columns, 3)
	if s, ok := w.(decimal.Short); ok {
		w, to = s.To, decimal.Table(decimal.Short{To: &columns, Digits: s.Digits}, 3)
	}
	apart, rows := t.Apart, t.Texts()
	if t.headless {
		rows = rows[1:]
	} else {
		apart++
	}
	for _, row := range rows {
		for i, c := range row {
			row[i] = escape.Line(c)
		}
		fmt.Fprintln(to, strings.Join(row, "\t"))
	}
	to.Flush()
	for i, line := range slices.Collect(strings.Lines(columns.String())) {
		if i == apart && t.Says != "" {
			fmt.Fprintln(w, t.Says)
		}
		fmt.Fprint(w, line)
	}
}
