package figures

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteData writes the plotted numbers as CSV, a line for each point: panel, series, x, y. The columns of x and y have the names of the axes
// where all panels agree, else they are x and y. Lower and upper are there where a series has them. Cells have a column of their own, named by the scale,
// with x and y before it.
func (f *Figure) WriteData(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"panel", "series", f.column("x", func(p *Panel) string { return p.X.Name }), f.column("y", func(p *Panel) string { return p.Y.Name })}
	ends := f.anySeries(func(s *Series) bool { return s.Lower != nil })
	if ends {
		head = append(head, "lower", "upper")
	}
	cells, lower := false, false
	for _, p := range f.each() {
		cells = cells || p.Cells != nil
		lower = lower || p.Cells != nil && p.Cells.Lower != nil
	}
	if cells {
		head = append(head, f.Scale.Name)
	}
	if lower {
		head = append(head, f.Scale.Name+"_lower")
	}
	_ = c.Write(head) // the error is kept until the end
	for _, p := range f.each() {
		if p.Cells != nil {
			p.Cells.write(c, p.Title, ends, lower)
		}
		for _, s := range p.Series {
			for i := range s.X {
				row := []string{p.Title, s.Name, p.X.text(s.X[i]), digits(s.Y[i])}
				if s.Lower != nil {
					row = append(row, digits(s.Lower[i]), digits(s.Upper[i]))
				}
				_ = c.Write(pad(row, len(head)))
			}
		}
	}
	c.Flush()
	return c.Error()
}

func (g *Cells) write(c *csv.Writer, panel string, ends, lower bool) {
	for i, x := range g.X {
		for j, y := range g.Y {
			row := []string{panel, "", digits(x), digits(y)}
			if ends {
				row = append(row, "", "")
			}
			row = append(row, digits(g.Z[i][j]))
			if lower {
				row = append(row, digits(g.Lower[i][j]))
			}
			_ = c.Write(row)
		}
	}
}

// text is a number of the axis as it stands in the data: by its name where it has one.
func (a *Axis) text(x float64) string {
	if a.Names != nil {
		return strings.ReplaceAll(a.Names[int(x)], "\n", ", ")
	}
	return digits(x)
}

// pad adds empty fields.
func pad(row []string, n int) []string {
	for len(row) < n {
		row = append(row, "")
	}
	return row
}

// digits prints a number so that it can be read back exactly; nothing for no number.
func digits(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// each returns the panels in reading order.
func (f *Figure) each() []*Panel {
	var all []*Panel
	for _, row := range f.Panels {
		for _, p := range row {
			if p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// column returns the name that all panels have in common, or else the given one.
func (f *Figure) column(other string, name func(*Panel) string) string {
	common := name(f.each()[0])
	for _, p := range f.each() {
		if name(p) != common {
			return other
		}
	}
	return common
}

func (f *Figure) anySeries(has func(*Series) bool) bool {
	for _, p := range f.each() {
		for _, s := range p.Series {
			if has(s) {
				return true
			}
		}
	}
	return false
}
