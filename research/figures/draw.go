package figures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

func init() {
	plot.DefaultFont.Variant, plotter.DefaultFont.Variant = "Sans", "Sans"
	plotutil.DefaultColors = plotutil.DarkColors
	// A PDF says when it was made. The same figure is to be the same bytes at any time.
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
}

// Sizes in points; a figure is as wide as the text of a page.
const (
	width         = 6.5 * vg.Inch
	margin        = 8
	rowHeight     = 240
	textSize      = 10
	lineHeight    = 13
	scaleWidth    = 85
	pngResolution = 200 // dots per inch
)

// sequential is cividis (Nuñez, Anderton & Renslow 2018), which people with any kind of colour blindness can read, by a few of its colours.
var sequential = []color.Color{color.NRGBA{0x00, 0x22, 0x4E, 0xFF}, color.NRGBA{0x2A, 0x3F, 0x6D, 0xFF}, color.NRGBA{0x57, 0x5D, 0x6D, 0xFF}, color.NRGBA{0x7D, 0x7C, 0x78, 0xFF}, color.NRGBA{0xA5, 0x9C, 0x74, 0xFF}, color.NRGBA{0xD2, 0xC0, 0x60, 0xFF}, color.NRGBA{0xFE, 0xE8, 0x38, 0xFF}}

// FormatOf returns the format that a file's name ends in: svg, png or pdf.
func FormatOf(path string) (string, error) {
	if f := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."); f == "svg" || f == "png" || f == "pdf" {
		return f, nil
	}
	return "", errors.New("the file's name must end in .svg, .png or .pdf")
}

// Write draws the figure as svg, png or pdf.
func (f *Figure) Write(w io.Writer, format string) error {
	head, names := wrap(f.Title+"\n"+f.Subtitle), f.names()
	height := 2*margin + vg.Length(len(f.Panels))*cmp.Or(f.Height, rowHeight) + vg.Length(len(head)+(len(names)+1)/2+1)*lineHeight
	if format == "svg" {
		c := vgsvg.New(width, height)
		f.draw(draw.New(c), head, names)
		return f.writeSVG(w, c)
	}
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngResolution))
	f.draw(draw.New(c), head, names)
	if format == "pdf" { // as a picture: the fonts that vgpdf embeds have no Greek letters
		page := vgpdf.New(width, height)
		page.DrawImage(vg.Rectangle{Max: vg.Point{X: width, Y: height}}, c.Image())
		_, err := page.WriteTo(w)
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// writeSVG adds a title and a description for those who cannot see the figure, and names fonts of the same widths for machines that
// do not have the one the text was set in.
func (f *Figure) writeSVG(w io.Writer, c *vgsvg.Canvas) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	const root = `xmlns:xlink="http://www.w3.org/1999/xlink"`
	head := fmt.Sprintf("%s role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>", root, html.EscapeString(f.Title), html.EscapeString(f.Subtitle))
	svg := strings.Replace(b.String(), root+">", head, 1)
	_, err := io.WriteString(w, strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return err
}

func style() text.Style {
	return text.Style{Color: color.Black, Handler: plot.DefaultTextHandler, Font: plotfont.From(plot.DefaultFont, textSize)}
}

// wrap breaks the lines of a text that are wider than the figure.
func wrap(words string) (lines []string) {
	for paragraph := range strings.SplitSeq(words, "\n") {
		line := ""
		for word := range strings.SplitSeq(paragraph, " ") {
			next := strings.TrimSpace(line + " " + word)
			if line != "" && style().Width(next) > width-2*margin {
				lines, next = append(lines, line), word
			}
			line = next
		}
		lines = append(lines, line)
	}
	return lines
}

// names are those of all series, in order of appearance: their places there are their colours, dashes and markers.
func (f *Figure) names() (names []string) {
	for _, p := range f.each() {
		for _, s := range p.Series {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// draw draws the head, the panels with the scale of colours at their right, and a legend of two columns.
func (f *Figure) draw(c draw.Canvas, head, names []string) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	note := style()
	note.YAlign = draw.YTop
	for i, line := range head {
		c.FillText(note, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i)*lineHeight}, line)
	}
	rows := (len(names) + 1) / 2
	panels := draw.Crop(c, 0, 0, vg.Length(rows)*lineHeight, -vg.Length(len(head)+1)*lineHeight)
	var colours palette.ColorMap = moreland.SmoothBlueRed()
	if f.Scale != nil {
		if !f.Scale.Diverging {
			colours = must(moreland.NewLuminance(sequential))
		}
		colours.SetMin(f.Scale.Min)
		colours.SetMax(max(f.Scale.Max, f.Scale.Min+1e-9))
		bar := plot.New()
		bar.Add(&plotter.ColorBar{ColorMap: colours, Vertical: true})
		bar.HideX()
		(&Axis{Label: f.Scale.Label}).prepare(&bar.Y, nil)
		bar.Draw(draw.Crop(panels, panels.Max.X-panels.Min.X-scaleWidth, 0, 0, 0))
		panels = draw.Crop(panels, 0, -scaleWidth-margin, 0, 0)
	}
	thumbs := map[string][]plot.Thumbnailer{}
	plots := make([][]*plot.Plot, len(f.Panels))
	for i, row := range f.Panels {
		plots[i] = make([]*plot.Plot, len(f.Panels[0]))
		for j, p := range row {
			plots[i][j] = p.plot(names, colours, thumbs)
		}
	}
	for i, row := range plot.Align(plots, draw.Tiles{Rows: len(plots), Cols: len(plots[0]), PadX: 12, PadY: 12}, panels) {
		for j, at := range row {
			if plots[i][j] != nil {
				plots[i][j].Draw(at)
			}
		}
	}
	for column := range 2 {
		l := plot.NewLegend()
		l.Left, l.TextStyle, l.Padding = true, style(), 2
		for i := column * rows; i < min((column+1)*rows, len(names)); i++ {
			l.Add(names[i], thumbs[names[i]]...)
		}
		l.Draw(draw.Crop(c, (c.Max.X-c.Min.X)/2*vg.Length(column), 0, 0, 0))
	}
}

// plot makes the axes of a panel and puts its data between them.
func (p *Panel) plot(names []string, colours palette.ColorMap, thumbs map[string][]plot.Thumbnailer) *plot.Plot {
	q := plot.New()
	q.Title.Text = p.Title
	q.Title.TextStyle.Font.Size = textSize
	q.BackgroundColor = nil // a transparent one has no valid colour in SVG
	if p.Cells != nil {
		p.Cells.add(q, colours)
	} else {
		q.Add(plotter.NewGrid())
	}
	var bars []*Series
	for _, s := range p.Series {
		if s.Kind == Bars {
			bars = append(bars, s)
		}
	}
	for _, s := range p.Series {
		thumbs[s.Name] = s.draw(q, p, slices.Index(names, s.Name), slices.Index(bars, s), len(bars))
	}
	var x, y []float64
	if p.Cells != nil {
		x, y = p.Cells.X, p.Cells.Y
	}
	p.X.prepare(&q.X, x)
	p.Y.prepare(&q.Y, y)
	if p.X.Names != nil {
		q.NominalX(p.X.Names...)
		q.X.Min, q.X.Max = -0.6, float64(len(p.X.Names))-0.4
	}
	if p.Y.Names != nil {
		q.NominalY(p.Y.Names...)
	}
	return q
}

// prepare sets an axis up, with a few labels: of integers alone where those of cells are.
func (a *Axis) prepare(to *plot.Axis, cells []float64) {
	whole := cells != nil && !slices.ContainsFunc(cells, func(v float64) bool { return v != math.Trunc(v) })
	to.Tick.Marker = plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
		for i := 0; (high-low)/step > 5 || whole && step < 1; i++ {
			step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, …
		}
		for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
			ticks = append(ticks, plot.Tick{Value: i * step, Label: digits(roundTo(i*step, 9))})
		}
		return ticks
	})
	to.Label.Text = a.Label
	to.Label.TextStyle.Font.Size, to.Tick.Label.Font.Size = textSize, textSize-1
	if a.Min != 0 || a.Max != 0 {
		to.Min, to.Max = a.Min, a.Max
	}
	if a.Log {
		to.Scale, to.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
}

// points are those of a series that have a place between the axes, with the given values for y.
func (s *Series) points(p *Panel, y []float64) (out plotter.XYs) {
	for i, x := range s.X {
		if v := x + y[i]; !math.IsNaN(v) && !math.IsInf(v, 0) && (x > 0 || !p.X.Log) && (y[i] > 0 || !p.Y.Log) {
			out = append(out, plotter.XY{X: x, Y: y[i]})
		}
	}
	return out
}

// barred are points with bars from Lower to Upper.
type barred struct {
	plotter.XYs
	plotter.YErrors
}

// draw draws the series and returns what stands for it in the legend.
func (s *Series) draw(q *plot.Plot, p *Panel, nth, bar, bars int) (thumbs []plot.Thumbnailer) {
	points := s.points(p, s.Y)
	if len(points) == 0 {
		return nil
	}
	line := draw.LineStyle{Color: plotutil.Color(nth), Width: 1.2, Dashes: plotutil.Dashes(nth)}
	use := func(x interface {
		plot.Plotter
		plot.Thumbnailer
	}) {
		q.Add(x)
		thumbs = append(thumbs, x)
	}
	switch s.Kind {
	case Bars:
		values := make(plotter.Values, len(s.Y))
		copy(values, s.Y)
		chart := must(plotter.NewBarChart(values, 320/vg.Length(bars*len(values))))
		chart.Offset, chart.Color = chart.Width*(vg.Length(bar)+0.5-vg.Length(bars)/2), line.Color
		use(chart)
		return thumbs
	case Area:
		ring := s.points(p, s.Upper)
		for _, low := range slices.Backward(s.points(p, s.Lower)) {
			ring = append(ring, low)
		}
		area := must(plotter.NewPolygon(ring))
		area.Color, area.LineStyle.Width = color.NRGBA{0xDD, 0xDD, 0xDD, 0xFF}, 0
		use(area)
	case Points, Ranges:
		if s.Lower != nil && len(points) == len(s.X) {
			errs := make(plotter.YErrors, len(s.X))
			for i, y := range s.Y {
				errs[i].Low, errs[i].High = y-s.Lower[i], s.Upper[i]-y
			}
			bars := must(plotter.NewYErrorBars(barred{points, errs}))
			if s.Kind == Points {
				bars.CapWidth, bars.LineStyle.Color = 0, color.Gray{0xBB}
			}
			q.Add(bars)
		}
	}
	if s.Kind != Points && s.Kind != Ranges {
		l := must(plotter.NewLine(points))
		l.LineStyle = line
		use(l)
	}
	if s.Kind == Marked || s.Kind == Points || s.Kind == Ranges {
		dots := must(plotter.NewScatter(points))
		dots.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: 2, Shape: plotutil.Shape(nth)}
		use(dots)
	}
	return thumbs
}

// heat is Cells as gonum/plot has them.
type heat struct{ cells *Cells }

func (g heat) Dims() (c, r int)   { return len(g.cells.X), len(g.cells.Y) }
func (g heat) X(c int) float64    { return g.cells.X[c] }
func (g heat) Y(r int) float64    { return g.cells.Y[r] }
func (g heat) Z(c, r int) float64 { return g.cells.Z[c][r] }

func (g *Cells) add(q *plot.Plot, colours palette.ColorMap) {
	h := plotter.NewHeatMap(heat{g}, colours.Palette(64))
	h.Min, h.Max = colours.Min(), colours.Max()
	q.Add(h)
	if g.Digits == 0 {
		return
	}
	var labels plotter.XYLabels
	for i, x := range g.X {
		for j, y := range g.Y {
			labels.XYs = append(labels.XYs, plotter.XY{X: x, Y: y})
			labels.Labels = append(labels.Labels, strconv.FormatFloat(g.Z[i][j], 'f', g.Digits, 64))
		}
	}
	l := must(plotter.NewLabels(labels))
	for i := range l.TextStyle {
		l.TextStyle[i].XAlign, l.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		if l.TextStyle[i].Font.Size = 8.5; g.Z[i/len(g.Y)][i%len(g.Y)] < (h.Min+h.Max)/2 {
			l.TextStyle[i].Color = color.White // on the darker half of the scale
		}
	}
	q.Add(l)
}
