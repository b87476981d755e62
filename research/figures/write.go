package figures

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

func init() {
	// A PDF says when it was made. The same figure is to be the same bytes at any time.
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
}

// Format is how a figure is written.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
	PDF Format = "pdf"
)

// FormatOf returns the format that a file's name ends in.
func FormatOf(path string) (Format, error) {
	switch f := Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")); f {
	case SVG, PNG, PDF:
		return f, nil
	}
	return "", errors.New("the file's name must end in .svg, .png or .pdf")
}

// pngResolution is in dots per inch.
const pngResolution = 200

// Write draws the figure.
func (f *Figure) Write(w io.Writer, format Format) error {
	l := f.layout()
	switch format {
	case SVG:
		c := vgsvg.New(width, l.height)
		f.draw(c, l)
		return f.writeSVG(w, c)
	case PDF:
		c := vgpdf.New(width, l.height)
		f.draw(outlined{c}, l)
		_, err := c.WriteTo(w)
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(width, l.height), vgimg.UseDPI(pngResolution))
	f.draw(c, l)
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
	text := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	const root = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	head := fmt.Sprintf(`xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>`, html.EscapeString(f.Title), html.EscapeString(f.Describe()))
	_, err := io.WriteString(w, strings.Replace(text, root, head, 1))
	return err
}

// Describe says in words what the figure shows: axes, series and their ends.
func (f *Figure) Describe() string {
	var b strings.Builder
	b.WriteString(f.Subtitle)
	for _, p := range f.each() {
		b.WriteString(" ")
		if p.Title != "" {
			fmt.Fprintf(&b, "%s: ", p.Title)
		}
		fmt.Fprintf(&b, "%s over %s.", p.Y.Label, p.X.Label)
		if g := p.Cells; g != nil {
			fmt.Fprintf(&b, " Colours show %s, from %.4g to %.4g.", f.Scale.Label, f.Scale.Min, f.Scale.Max)
		}
		for _, s := range p.Series {
			if n := len(s.X); n > 0 && s.Name != "" {
				fmt.Fprintf(&b, " %s: %.4g at %.4g to %.4g at %.4g.", s.Name, s.Y[0], s.X[0], s.Y[n-1], s.X[n-1])
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// outlined is a canvas that draws letters as shapes. The fonts that vgpdf embeds have no Greek ones.
type outlined struct{ vg.CanvasSizer }

// unitsPerEm is the size at which outlines are read.
const unitsPerEm = 2048

// FillString draws the outlines of a text at a point.
func (c outlined) FillString(face plotfont.Face, at vg.Point, s string) {
	var b sfnt.Buffer
	var path vg.Path
	ppem := fixed.I(unitsPerEm)
	scale := face.Font.Size / unitsPerEm / 64
	x, last := fixed.Int26_6(0), sfnt.GlyphIndex(0)
	for i, r := range s {
		glyph, err := face.Face.GlyphIndex(&b, r)
		if err != nil {
			continue
		}
		if kern, err := face.Face.Kern(&b, last, glyph, ppem, 0); err == nil && i > 0 {
			x += kern
		}
		segments, err := face.Face.LoadGlyph(&b, glyph, ppem, nil)
		if err != nil {
			continue
		}
		place := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: at.X + vg.Length(x+p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
		}
		for k, g := range segments {
			switch g.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(place(g.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(g.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(g.Args[0]), place(g.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(g.Args[0]), place(g.Args[1]), place(g.Args[2]))
			}
		}
		if len(segments) > 0 {
			path.Close()
		}
		if advance, err := face.Face.GlyphAdvance(&b, glyph, ppem, 0); err == nil {
			x += advance
		}
		last = glyph
	}
	if len(path) > 0 {
		c.Fill(path)
	}
}
