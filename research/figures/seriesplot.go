package figures

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// seriesPlot draws a series. Nth is its number in the panel, by which markers of curves are moved apart; bar is its number among the panel's
// bars.
type seriesPlot struct {
	*Series
	panel     *Panel
	look      look
	nth       int
	bar, bars int
}

func (s seriesPlot) Plot(c draw.Canvas, p *plot.Plot) {
	switch s.Kind {
	case Bars:
		s.plotBars(c, p)
		return
	case Area:
		s.plotArea(c, p)
	case Ranges:
		s.plotEnds(c, p)
		return
	case Points:
		s.plotEnds(c, p)
		s.plotMarkers(c, s.points(c, p, s.Y), 0)
		return
	}
	line := s.look.line()
	for _, run := range s.runs(c, p) {
		c.StrokeLines(line, c.ClipLinesXY(run)...)
	}
	switch s.Kind {
	case Curve:
		s.plotMarkers(c, s.points(c, p, s.Y), (c.Max.X-c.Min.X)/7)
	case Marked:
		s.plotMarkers(c, s.points(c, p, s.Y), 0)
	}
}

// points returns the places of the series' points, with the given values for y; those without a place are NaN.
func (s seriesPlot) points(c draw.Canvas, p *plot.Plot, y []float64) []vg.Point {
	px, py := p.Transforms(&c)
	out := make([]vg.Point, len(s.X))
	for i, x := range s.X {
		out[i] = vg.Point{X: px(s.panel.X.place(x)), Y: py(s.panel.Y.place(y[i]))}
		if math.IsNaN(float64(out[i].Y)) {
			out[i].X = out[i].Y
		}
	}
	return out
}

// runs returns the longest stretches of points that have a place.
func (s seriesPlot) runs(c draw.Canvas, p *plot.Plot) [][]vg.Point {
	var out [][]vg.Point
	var run []vg.Point
	for _, pt := range s.points(c, p, s.Y) {
		if math.IsNaN(float64(pt.X)) {
			out, run = append(out, run), nil
			continue
		}
		run = append(run, pt)
	}
	return append(out, run)
}

// plotMarkers draws markers at least the given distance apart, which begin elsewhere for each series.
func (s seriesPlot) plotMarkers(c draw.Canvas, points []vg.Point, apart vg.Length) {
	glyph := s.look.glyph()
	if s.Kind == Points && len(s.X) > 50 {
		if glyph.Radius = 1.5; s.Lower != nil {
			glyph.Radius = 1
		}
	}
	next := vg.Length(math.Inf(-1))
	if apart > 0 {
		next = c.Min.X + apart*vg.Length(math.Mod(0.35+0.38*float64(s.nth), 1))
	}
	for _, pt := range points {
		if pt.X >= next && c.Contains(pt) {
			c.DrawGlyph(glyph, pt)
			if apart > 0 {
				next = pt.X + apart
			}
		}
	}
}

// plotEnds draws a bar from each point's lower to its upper end.
func (s seriesPlot) plotEnds(c draw.Canvas, p *plot.Plot) {
	if s.Lower == nil {
		return
	}
	low, high := s.points(c, p, s.Lower), s.points(c, p, s.Upper)
	for i := range low {
		if s.Kind == Ranges {
			capped(c, s.look.color, low[i].X, inside(c, low[i]).Y, inside(c, high[i]).Y)
			continue
		}
		c.StrokeLines(draw.LineStyle{Color: light(s.look.color), Width: 0.8}, c.ClipLinesXY([]vg.Point{low[i], high[i]})...)
	}
}

// capped draws a bar with caps.
func capped(c draw.Canvas, col color.Color, x, low, high vg.Length) {
	line := draw.LineStyle{Color: col, Width: 1.2}
	c.StrokeLine2(line, x, low, x, high)
	c.StrokeLine2(line, x-3.5, low, x+3.5, low)
	c.StrokeLine2(line, x-3.5, high, x+3.5, high)
}

// plotArea fills what is between Lower and Upper, clipped to the axes.
func (s seriesPlot) plotArea(c draw.Canvas, p *plot.Plot) {
	low, high := s.points(c, p, s.Lower), s.points(c, p, s.Upper)
	var ring []vg.Point
	for _, pt := range high {
		ring = append(ring, inside(c, pt))
	}
	for i := len(low) - 1; i >= 0; i-- {
		ring = append(ring, inside(c, low[i]))
	}
	if len(ring) > 2 {
		c.FillPolygon(light(s.look.color), ring)
	}
}

// inside moves a point up or down to the axes.
func inside(c draw.Canvas, pt vg.Point) vg.Point {
	return vg.Point{X: pt.X, Y: min(max(pt.Y, c.Min.Y), c.Max.Y)}
}

// fill is the colour of bars: the line's own where lines are dashed, a light one where they are not, so that neighbors differ
// without colours too.
func (k look) fill() color.NRGBA {
	if k.dashes != nil {
		return k.color
	}
	return light(k.color)
}

// light is a colour mixed with white.
func light(x color.NRGBA) color.NRGBA {
	mix := func(a uint8) uint8 { return uint8(255 - (255-int(a))*3/10) }
	return color.NRGBA{mix(x.R), mix(x.G), mix(x.B), 0xFF}
}

// plotBars draws a bar at each point, beside those of the other series, and the ends of an enclosure on it.
func (s seriesPlot) plotBars(c draw.Canvas, p *plot.Plot) {
	px, py := p.Transforms(&c)
	step := 0.8 / float64(s.bars)
	from := c.Min.Y
	if !s.panel.Y.Log {
		from = max(py(0), c.Min.Y)
	}
	for i, x := range s.X {
		left := x - 0.4 + step*float64(s.bar)
		y := s.panel.Y.place(s.Y[i])
		if math.IsNaN(y) {
			continue
		}
		a, b := px(left+0.04*step), px(left+0.96*step)
		top := min(max(py(y), c.Min.Y), c.Max.Y)
		c.SetColor(s.look.fill())
		box := vg.Rectangle{Min: vg.Point{X: a, Y: from}, Max: vg.Point{X: b, Y: top}}
		c.Fill(box.Path())
		c.StrokeLines(draw.LineStyle{Color: s.look.color, Width: 0.8}, []vg.Point{box.Min, {X: a, Y: top}, box.Max, {X: b, Y: from}, box.Min})
	}
}
