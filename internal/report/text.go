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

// wording is a cell whose words are ours, so that its numbers may be shortened; a string may be a name that others chose.
type wording string

// Texts are the head and the rows as text, with shorter numbers as shorten writes them.
func (t *Table) Texts(shorten func(string) string) [][]string {
	all := [][]string{slices.Clone(t.Head)}
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = fmt.Sprint(c)
			if _, named := c.(string); !named {
				texts[i] = shorten(texts[i])
			}
		}
		all = append(all, texts)
	}
	return all
}

// write writes the table in columns.
func (t *Table) write(w io.Writer) {
	var columns strings.Builder
	to, shorten := decimal.Table(&columns, 3), strings.Clone
	if s, ok := w.(decimal.Short); ok {
		w, shorten = s.To, s.Text
	}
	apart, rows := t.Apart, t.Texts(shorten)
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
