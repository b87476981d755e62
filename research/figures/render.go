package figures

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points; a figure is as wide as the text of a page.
const (
	width       = 6.5 * 72
	margin      = 8
	rowHeight   = 240
	titleSize   = 11.5
	textSize    = 9
	smallSize   = 8.5
	lineWidth   = 1.4
	markerSize  = 2.3
	scaleWidth  = 64 // what the colour scale takes at the right
	legendGap   = 14 // between entries of the legend
	sampleWidth = 26 // of a line in the legend
)

// tickAlign puts the middle of digits, which have nothing below the line, at a height.
const tickAlign = -0.4

func style(size float64, weight font.Weight, c color.Color) text.Style {
	return text.Style{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: plotfont.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: vg.Length(size)},
	}
}

var (
	titleStyle = style(titleSize, font.WeightBold, black)
	panelStyle = style(textSize, font.WeightBold, black)
	textStyle  = style(textSize, font.WeightNormal, black)
	smallStyle = style(smallSize, font.WeightNormal, black)
	noteStyle  = style(smallSize, font.WeightNormal, color.NRGBA{0x44, 0x44, 0x44, 0xFF})
)

// wrap breaks a text into lines of at most the given width.
func wrap(s text.Style, words string, most vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(strings.ReplaceAll(words, " = ", "\u00a0=\u00a0"), " ") {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && s.Width(next) > most {
			lines, next = append(lines, line), word
		}
		line = next
	}
	return append(lines, line)
}

// A layout is what has to be known of a figure before it is drawn.
type layout struct {
	title, note []string
	names       []string // of the legend
	looks       map[string]look
	kinds       map[string]Kind
	legend      [][]string // rows
	height      vg.Length
}

func (f *Figure) layout() *layout {
	l := &layout{title: wrap(titleStyle, f.Title, width-2*margin), note: wrap(noteStyle, f.Subtitle, width-2*margin)}
	l.names, l.looks = f.styles()
	l.kinds = f.kinds()
	x := vg.Length(0)
	for i, name := range l.names {
		w := vg.Length(sampleWidth+4+legendGap) + textStyle.Width(name)
		if i == 0 || x+w > width-2*margin {
			l.legend, x = append(l.legend, nil), 0
		}
		last := len(l.legend) - 1
		l.legend[last] = append(l.legend[last], name)
		x += w
	}
	row := f.Height
	if row == 0 {
		row = rowHeight
	}
	l.height = 2*margin + vg.Length(len(f.Panels))*vg.Length(row) + l.head() + l.foot()
	return l
}

func (l *layout) head() vg.Length {
	return vg.Length(len(l.title))*titleSize*1.25 + vg.Length(len(l.note))*smallSize*1.3 + 8
}

func (l *layout) foot() vg.Length { return vg.Length(len(l.legend)) * textSize * 1.6 }

// draw draws the figure on a canvas of the layout's size.
func (f *Figure) draw(canvas vg.CanvasSizer, l *layout) {
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	y := c.Max.Y
	for _, line := range l.title {
		y -= titleSize * 1.25
		c.FillText(titleStyle, vg.Point{X: c.Min.X, Y: y}, line)
	}
	for _, line := range l.note {
		y -= smallSize * 1.3
		c.FillText(noteStyle, vg.Point{X: c.Min.X, Y: y}, line)
	}
	l.drawLegend(c)
	c = draw.Crop(c, 0, 0, l.foot(), -l.head())
	panels := c
	if f.Scale != nil {
		panels = draw.Crop(c, 0, -scaleWidth, 0, 0)
	}
	low, high := f.drawPanels(panels, l)
	if f.Scale != nil {
		f.drawScale(c, low, high)
	}
}

// drawPanels draws the panels and returns between which heights their data are.
func (f *Figure) drawPanels(c draw.Canvas, l *layout) (low, high vg.Length) {
	columns := 0
	for _, row := range f.Panels {
		columns = max(columns, len(row))
	}
	plots := make([][]*plot.Plot, len(f.Panels))
	for i, row := range f.Panels {
		plots[i] = make([]*plot.Plot, columns)
		for j, p := range row {
			if p != nil {
				plots[i][j] = f.plotOf(p, l, columns)
			}
		}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: columns, PadX: 12, PadY: 12}
	low, high = c.Max.Y, c.Min.Y
	for i, row := range plot.Align(plots, tiles, c) {
		for j, at := range row {
			q := plots[i][j]
			if q == nil {
				continue
			}
			data := q.DataCanvas(at)
			low, high = min(low, data.Min.Y), max(high, data.Max.Y)
			// The title stands on the data, at the same height in a row, whatever labels stick out.
			if title := q.Title.Text; title != "" {
				c.FillText(q.Title.TextStyle, vg.Point{X: data.Center().X, Y: data.Max.Y + 5}, title)
				at.Max.Y -= q.Title.TextStyle.Rectangle(title).Size().Y + q.Title.Padding
				q.Title.Text = ""
			}
			q.Draw(at)
		}
	}
	return low, high
}

// plotOf makes the axes of a panel and puts its data between them.
func (f *Figure) plotOf(p *Panel, l *layout, columns int) *plot.Plot {
	q := plot.New()
	q.BackgroundColor = nil // a transparent one has no valid colour in SVG
	q.Title.Text, q.Title.Padding = p.Title, 4
	q.Title.TextStyle = panelStyle
	q.Title.TextStyle.XAlign, q.Title.TextStyle.YAlign = draw.XCenter, draw.YBottom
	want := 7
	if columns > 1 {
		want = 12 / columns
	}
	prepare(&q.X, &p.X, max(want, 3))
	prepare(&q.Y, &p.Y, 6)
	q.X.Min, q.X.Max = p.bounds(&p.X, func(s *Series) [][]float64 { return [][]float64{s.X} })
	q.Y.Min, q.Y.Max = p.bounds(&p.Y, func(s *Series) [][]float64 { return [][]float64{s.Y, s.Lower, s.Upper} })
	q.X.Tick.Label.XAlign, q.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	q.Y.Tick.Label.XAlign, q.Y.Tick.Label.YAlign = draw.XRight, tickAlign-0.2
	if p.Cells != nil {
		q.Add(cellPlot{p.Cells, p, f.Scale})
	} else {
		q.Add(grid{})
	}
	bars := 0
	for _, s := range p.Series {
		if s.Kind == Bars {
			bars++
		}
	}
	marks, bar := 0, 0
	for _, s := range p.Series {
		q.Add(seriesPlot{s, p, l.looks[s.Name], marks, bar, bars})
		if s.Kind == Bars {
			bar++
		}
		marks++
	}
	return q
}

func prepare(to *plot.Axis, a *Axis, want int) {
	to.Label.Text, to.Label.TextStyle.Font = a.Label, textStyle.Font
	to.Label.Padding = 3
	to.Tick.Label.Font = smallStyle.Font
	to.Tick.Length = 4
	to.Tick.Marker = ticks{a, want}
	to.Padding = 0
	to.LineStyle.Width, to.Tick.LineStyle.Width = 0.6, 0.6
}

// bounds returns the places of the ends of an axis: those it asks for, else those of the data with some space around.
func (p *Panel) bounds(a *Axis, of func(*Series) [][]float64) (low, high float64) {
	if a.Min != 0 || a.Max != 0 {
		return a.place(a.Min), a.place(a.Max)
	}
	low, high = math.Inf(1), math.Inf(-1)
	see := func(x float64) {
		if x = a.place(x); !math.IsNaN(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	for _, s := range p.Series {
		for _, values := range of(s) {
			for _, x := range values {
				see(x)
			}
		}
		if s.Kind == Bars && a == &p.Y && !a.Log {
			see(0)
		}
	}
	if g := p.Cells; g != nil {
		values := places(a, g.X)
		if a == &p.Y {
			values = places(a, g.Y)
		}
		n := len(values)
		if n == 1 {
			return values[0] - 0.5, values[0] + 0.5
		}
		return values[0] - (values[1]-values[0])/2, values[n-1] + (values[n-1]-values[n-2])/2
	}
	switch {
	case a.Names != nil:
		return -0.6, float64(len(a.Names)) - 0.4
	case low > high:
		return 1, 2
	case a == &p.X && !a.Whole:
		return low, high
	}
	room := (high - low) * 0.04
	if room == 0 {
		room = 0.5
	}
	if a == &p.Y && !a.Log && low >= 0 && low < 0.15*high {
		return 0, high + room // a scale that nearly starts at 0 starts there
	}
	return low - room, high + room
}

// drawLegend draws the names of series with samples, in rows at the bottom, centred.
func (l *layout) drawLegend(c draw.Canvas) {
	y := c.Min.Y + l.foot() - textSize*1.6
	for _, row := range l.legend {
		total := vg.Length(-legendGap)
		for _, name := range row {
			total += sampleWidth + 4 + legendGap + textStyle.Width(name)
		}
		x := c.Center().X - total/2
		for _, name := range row {
			l.looks[name].sample(c, x, y+textSize*0.33, l.kinds[name])
			x += sampleWidth + 4
			c.FillText(textStyle, vg.Point{X: x, Y: y}, name)
			x += textStyle.Width(name) + legendGap
		}
		y -= textSize * 1.6
	}
}

func (k look) line() draw.LineStyle {
	w := vg.Length(lineWidth)
	if k.marker == nil {
		w = 0.9
	}
	return draw.LineStyle{Color: k.color, Width: w, Dashes: k.dashes}
}

func (k look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: k.color, Radius: markerSize, Shape: k.marker}
}

// sample draws what stands for a series in the legend.
func (k look) sample(c draw.Canvas, x, y vg.Length, kind Kind) {
	box := vg.Rectangle{Min: vg.Point{X: x + 6, Y: y - 3.5}, Max: vg.Point{X: x + sampleWidth - 6, Y: y + 3.5}}
	switch kind {
	case Bars:
		c.SetColor(k.fill())
		c.Fill(box.Path())
		return
	case Area:
		box.Min.X, box.Max.X = x, x+sampleWidth
		c.SetColor(light(k.color))
		c.Fill(box.Path())
		c.StrokeLine2(k.line(), x, y, x+sampleWidth, y)
		return
	case Ranges:
		capped(c, k.color, x+sampleWidth/2, y-4, y+4)
		return
	case Points:
		if k.dashes == nil && k.color == grey {
			c.StrokeLine2(draw.LineStyle{Color: light(k.color), Width: 1.5}, x+sampleWidth/2, y-4, x+sampleWidth/2, y+4)
		}
	default:
		c.StrokeLine2(k.line(), x, y, x+sampleWidth, y)
	}
	if k.marker != nil {
		c.DrawGlyph(k.glyph(), vg.Point{X: x + sampleWidth/2, Y: y})
	}
}

// drawScale draws what colours mean, at the right of the panels, between the given heights.
func (f *Figure) drawScale(c draw.Canvas, low, high vg.Length) {
	const steps, bar = 64, 12
	s := f.Scale
	at := func(x float64) vg.Length { return low + (high-low)*vg.Length((x-s.Min)/(s.Max-s.Min)) }
	left := c.Max.X - bar
	for i := range steps {
		x := s.Min + (s.Max-s.Min)*(float64(i)+0.5)/steps
		c.SetColor(s.at(x))
		bottom, top := low+(high-low)*vg.Length(i)/steps, min(low+(high-low)*(vg.Length(i)+1.3)/steps, high)
		c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: c.Max.X, Y: top}}.Path())
	}
	label, widest := smallStyle, vg.Length(0)
	label.XAlign, label.YAlign = draw.XRight, tickAlign
	for _, t := range (ticks{&Axis{}, 6}).Ticks(s.Min, s.Max) {
		c.StrokeLine2(draw.LineStyle{Color: black, Width: 0.6}, left-3, at(t.Value), left, at(t.Value))
		c.FillText(label, vg.Point{X: left - 5, Y: at(t.Value)}, t.Label)
		widest = max(widest, label.Width(t.Label))
	}
	title := textStyle
	title.Rotation, title.XAlign, title.YAlign = math.Pi/2, draw.XCenter, draw.YBottom
	c.FillText(title, vg.Point{X: left - widest - 9, Y: (low + high) / 2}, s.Label)
}

// grid draws pale lines at the labelled ticks.
type grid struct{}

func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: pale, Width: 0.5}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() {
			c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() {
			c.StrokeLine2(line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}

// cellPlot draws coloured cells.
type cellPlot struct {
	*Cells
	panel *Panel
	scale *Scale
}

// places are those of several numbers.
func places(a *Axis, values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = a.place(x)
	}
	return out
}

// edges returns where cells around the values begin and end.
func edges(v []float64, norm func(float64) vg.Length, low, high vg.Length) []vg.Length {
	out := []vg.Length{low}
	for i := 1; i < len(v); i++ {
		out = append(out, (norm(v[i-1])+norm(v[i]))/2)
	}
	return append(out, high)
}

func (g cellPlot) Plot(c draw.Canvas, p *plot.Plot) {
	px, py := p.Transforms(&c)
	xs, ys := edges(places(&g.panel.X, g.X), px, c.Min.X, c.Max.X), edges(places(&g.panel.Y, g.Y), py, c.Min.Y, c.Max.Y)
	for i := range g.X {
		for j := range g.Y {
			z := g.Z[i][j]
			if math.IsNaN(z) {
				continue
			}
			col := g.scale.at(z)
			// A little more than the cell, so that no background shines through between neighbors.
			right, top := min(xs[i+1]+0.4, c.Max.X), min(ys[j+1]+0.4, c.Max.Y)
			c.SetColor(col)
			c.Fill(vg.Rectangle{Min: vg.Point{X: xs[i], Y: ys[j]}, Max: vg.Point{X: right, Y: top}}.Path())
			if g.Digits > 0 {
				s := smallStyle
				if s.Color = color.Color(black); dark(col) {
					s.Color = color.White
				}
				s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
				c.FillText(s, vg.Point{X: (xs[i] + xs[i+1]) / 2, Y: (ys[j]+ys[j+1])/2 + 1}, strconv.FormatFloat(z, 'f', g.Digits, 64))
			}
		}
	}
}
