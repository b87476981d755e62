package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
)

// The pictures are 360 units wide, the width of a small phone, so that text stays readable there. Colours are classes of page.css.
const (
	chartWidth = 360.0
	barLeft    = 8.0
	barRight   = 348.0 // where a bar of the largest value ends; its number stands above it
	barHeight  = 10.0
)

// drawing collects the elements of an SVG.
type drawing struct {
	b strings.Builder
	y float64 // where the next element goes
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *drawing) text(x, y float64, class, anchor, s string) {
	d.add(`<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`, at(x), at(y), class, anchor, escape.HTML(s))
}

func (d *drawing) rect(x, y, w, h float64, class string) {
	d.add(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`, at(x), at(y), at(w), at(h), class)
}

func (d *drawing) segment(x1, y1, x2, y2 float64, class string) {
	d.add(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, at(x1), at(y1), at(x2), at(y2), class)
}

// svg closes the drawing; description is its text alternative.
func (d *drawing) svg(description string) template.HTML {
	return template.HTML(fmt.Sprintf("<svg viewBox=\"0 0 %s %s\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
		at(chartWidth), at(d.y), escape.HTML(description), d.b.String()))
}

// at writes a coordinate, to a tenth of a unit.
func at(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

// bar is a bar of a bar chart. band, where it is not nil, is the interval in which the bar may end.
type bar struct {
	class, label string
	value        float64
	number       string
	band         *[2]float64
}

// group is a heading with its bars; a marked one is what the picture is about.
type group struct {
	heading string
	bars    []bar
	marked  string // what is said beside the heading; empty where the group is not marked
	bad     bool   // it is marked because something is wrong
}

// show writes a number for a picture.
func show(n number.Number) string { return decimal.Settled(n.Format(readable), readable) }

// groups are a bar for each number in some columns of a table, row by row, below what heading says of the row.
func (t *Table) groups(unit string, heading func(row []any) string, columns ...int) (all []group) {
	for _, row := range t.Rows {
		g := group{heading: heading(row)}
		for i, at := range columns {
			if at >= len(row) {
				break
			}
			if x, ok := row[at].(number.Number); ok {
				g.bars = append(g.bars, bar{class: classes[min(i, 2)], value: x.Float64(), number: show(x), label: unit})
			}
			if len(columns) > 1 && g.bars != nil {
				g.bars[len(g.bars)-1].label = t.Head[at]
			}
		}
		if g.bars != nil {
			all = append(all, g)
		}
	}
	return all
}

// pictured draws a table: see groups.
func (t *Table) pictured(caption, unit string, heading func(row []any) string, columns ...int) func() *Figure {
	return func() *Figure {
		svg := bars(t.groups(unit, heading, columns...), caption)
		return &Figure{SVG: svg, Caption: caption + job.Choose(strings.Contains(string(svg), "…"), " Digits before … are certain.", "")}
	}
}

// named is a heading that is the name in a column.
func named(at int) func(row []any) string {
	return func(row []any) string { return fmt.Sprint(row[at]) }
}

// classes are those of bars and lines side by side.
var classes = []string{"one", "two", "three", "four"}

// excesses draws how far the ratios to the least possible in a column are above 1: errors themselves often look the same.
func (t *Table) excesses(what string, heading func(row []any) string, column int) func() *Figure {
	var above Table
	for _, row := range t.Rows {
		if column >= len(row) {
			continue
		}
		if r := row[column].(number.Number); r.IsValid() && !r.IsInf() {
			above.add(heading(row), r.Sub(number.Int(1)).Mul(number.Int(100)))
		}
	}
	return above.pictured("The "+what+", in percent above the least possible.", "% above the least possible", named(0), 1)
}

// bars draws groups of horizontal bars on a common scale from 0.
func bars(groups []group, description string) template.HTML {
	most := 0.0
	for _, g := range groups {
		for _, b := range g.bars {
			most = math.Max(most, b.value)
			if b.band != nil {
				most = math.Max(most, b.band[1])
			}
		}
	}
	if most <= 0 || math.IsInf(most, 1) || math.IsNaN(most) {
		most = 1
	}
	length := func(v float64) float64 { return float64(math.Min(math.Max(v/most, 0), 1) * (barRight - barLeft)) }
	d := drawing{y: 4}
	for _, g := range groups {
		top := d.y
		d.text(barLeft, d.y+13, job.Choose(g.bad, "bad", job.Choose(g.marked != "", "", "soft")), "start", g.heading+job.Choose(g.marked != "", " – "+g.marked, ""))
		d.y += 18
		for _, b := range g.bars {
			d.text(barLeft, d.y+11, "", "start", b.number+job.Choose(b.label != "", " "+b.label, ""))
			d.y += 17
			d.rect(barLeft, d.y, math.Max(length(b.value), 0.5), barHeight, b.class)
			if b.band != nil {
				from, to := length(b.band[0]), length(b.band[1])
				d.rect(barLeft+from, d.y-2, math.Max(to-from, 1), barHeight+4, "band")
			}
			d.y += barHeight + 5
		}
		if g.marked != "" {
			d.rect(2, top, chartWidth-4, d.y-top, job.Choose(g.bad, "box", "plain box"))
		}
		d.y += 6
	}
	return d.svg(description)
}

// curve is a line of a line chart.
type curve struct {
	name string
	x, y []float64
}

// to draws the line on to a point.
func (l *curve) to(x, y float64) { l.x, l.y = append(l.x, x), append(l.y, y) }

// mark is a line across a line chart, which the legend names; one without a name is not drawn.
type mark struct {
	at   float64
	name string
}

// chart draws lines over a horizontal axis from 0.
type chart struct {
	curves         []curve // at most as many as there are classes
	xTitle, yTitle string
	low            float64 // of the vertical axis
	least, most    float64 // that this axis reaches to; 0 for no such bound
	level          mark    // across
	marks          []mark  // upright
	logX, steps    bool
}

// figure is the chart with its text alternative, its caption and its numbers.
func (c *chart) figure(description, caption string, numbers *Table) func() *Figure {
	return func() *Figure { return &Figure{SVG: c.svg(description), Caption: caption, Table: numbers} }
}

// high is the upper end of the vertical axis.
func (c *chart) high() float64 {
	high := c.least
	if c.level.name != "" {
		high = math.Max(high, c.level.at)
	}
	for _, l := range c.curves {
		high = math.Max(high, slices.Max(l.y))
	}
	if high <= c.low {
		return c.low + 1
	}
	return math.Min(c.low+float64(1.05*(high-c.low)), cmp.Or(c.most, math.Inf(1)))
}

func (c *chart) svg(description string) template.HTML {
	const left, right, top, bottom = 46.0, 350.0, 26.0, 220.0
	high, scale := c.high(), func(x float64) float64 { return x }
	x0, x1 := 0.0, math.Inf(-1)
	if c.logX {
		x0, scale = math.Inf(1), math.Log10
	}
	for _, l := range c.curves {
		x0, x1 = math.Min(x0, slices.Min(l.x)), math.Max(x1, slices.Max(l.x))
	}
	span := scale(x1) - scale(x0)
	if !(span > 0) {
		span = 1
	}
	px := func(x float64) float64 { return left + float64((scale(x)-scale(x0))/span*(right-left)) }
	py := func(y float64) float64 {
		return bottom - float64(math.Min(math.Max((y-c.low)/(high-c.low), 0), 1)*(bottom-top))
	}
	var d drawing
	d.text(4, 14, "soft", "start", c.yTitle)
	for _, t := range ticks(c.low, high, 5) {
		d.segment(left, py(t), right, py(t), "axis")
		d.text(left-4, py(t)+4, "soft", "end", strconv.FormatFloat(t, 'g', 5, 64))
	}
	for _, t := range xTicks(x0, x1, c.logX) {
		d.segment(px(t), bottom, px(t), bottom+4, "axis")
		d.text(px(t), bottom+17, "soft", "middle", short(t))
	}
	d.text(right, bottom+36, "soft", "end", c.xTitle)
	d.y = 256
	legend := left
	name := func(class, name string) { // names stand below the chart, where they cross nothing
		width := 36 + float64(6.5*float64(utf8.RuneCountInString(name)))
		if legend > left && legend+width > chartWidth {
			legend, d.y = left, d.y+18
		}
		d.segment(legend, d.y, legend+18, d.y, class)
		d.text(legend+22, d.y+4, "", "start", name)
		legend += width
	}
	for i, l := range c.curves {
		var path strings.Builder
		for j := range l.x {
			fmt.Fprintf(&path, job.Choose(j == 0, "M%s %s", job.Choose(c.steps, "H%s V%s", "L%s %s")), at(px(l.x[j])), at(py(l.y[j])))
		}
		d.add(`<path class="line %s" d="%s"/>`, classes[i], path.String())
		name("line "+classes[i], l.name)
	}
	if c.level.name != "" && c.level.at >= c.low && c.level.at <= high {
		d.segment(left, py(c.level.at), right, py(c.level.at), "mark")
		name("mark", c.level.name)
	}
	for i, m := range c.marks {
		if m.at >= x0 && m.at <= x1 { // not for NaN
			class := job.Choose(i == 0, "mark", "mark other")
			d.segment(px(m.at), top, px(m.at), bottom, class)
			name(class, m.name)
		}
	}
	d.y += 12
	return d.svg(description)
}

// ticks returns round numbers between two ends, about so many.
func ticks(low, high float64, about int) []float64 {
	if !(high > low) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(about))))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*factor) <= float64(about) {
			step *= factor
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-12); i++ {
		out = append(out, math.Abs(math.Round(i*step*1e12)/1e12)) // axes start at 0 or above; Abs makes -0 0
	}
	return out
}

func xTicks(low, high float64, log bool) []float64 {
	if !log {
		return ticks(low, high, 6)
	}
	var out []float64
	for e := math.Ceil(float64(math.Log10(low)) - 1e-9); math.Pow(10, e) <= high; e++ {
		out = append(out, math.Pow(10, e))
	}
	if len(out) < 2 {
		out = []float64{low, high}
	}
	return out
}

// short writes a number of an axis.
func short(x float64) string {
	switch {
	case x >= 1e6:
		return strconv.FormatFloat(x/1e6, 'g', 3, 64) + "M"
	case x >= 1e4:
		return strconv.FormatFloat(math.Round(x/100)/10, 'g', -1, 64) + "k"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
