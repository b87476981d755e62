package figures

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"optratio/internal/slowtest"
)

// A page records where texts are drawn, as boxes on the page: from the baseline up to the height of capitals.
type page struct {
	vg.CanvasSizer
	at    []placement // of the coordinates, the last one being current
	texts []textBox
}

// A placement takes a point to s·R(x, y) + (x, y), with R a rotation.
type placement struct{ x, y, turn float64 }

type textBox struct {
	text                     string
	left, bottom, right, top float64
}

func (p *page) Push() { p.CanvasSizer.Push(); p.at = append(p.at, p.at[len(p.at)-1]) }
func (p *page) Pop()  { p.CanvasSizer.Pop(); p.at = p.at[:len(p.at)-1] }

func (p *page) Translate(to vg.Point) {
	p.CanvasSizer.Translate(to)
	c := &p.at[len(p.at)-1]
	c.x, c.y = c.point(to)
}

func (p *page) Rotate(turn float64) {
	p.CanvasSizer.Rotate(turn)
	p.at[len(p.at)-1].turn += turn
}

func (c placement) point(at vg.Point) (x, y float64) {
	sin, cos := math.Sincos(c.turn)
	return c.x + cos*at.X.Points() - sin*at.Y.Points(), c.y + sin*at.X.Points() + cos*at.Y.Points()
}

func (p *page) FillString(face font.Face, at vg.Point, text string) {
	p.CanvasSizer.FillString(face, at, text)
	c := p.at[len(p.at)-1]
	x, y := c.point(at)
	u, v := c.point(vg.Point{X: at.X + face.Width(text), Y: at.Y + 0.7*face.Font.Size})
	p.texts = append(p.texts, textBox{text, min(x, u), min(y, v), max(x, u), max(y, v)})
}

// misplaced lists texts that leave the page or meet another one.
func (p *page) misplaced() []string {
	const edge = 1.0
	w, h := p.Size()
	var out []string
	for i, a := range p.texts {
		if a.left < edge || a.bottom < edge || a.right > w.Points()-edge || a.top > h.Points()-edge {
			out = append(out, fmt.Sprintf("%q leaves the page: %.0f to %.0f, %.0f to %.0f", a.text, a.left, a.right, a.bottom, a.top))
		}
		for _, b := range p.texts[:i] {
			if a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top {
				out = append(out, fmt.Sprintf("%q and %q overlap", a.text, b.text))
			}
		}
	}
	return out
}

func texts(f *Figure) *page {
	l := f.layout()
	p := &page{CanvasSizer: vgimg.New(width, l.height), at: []placement{{}}}
	f.draw(p, l)
	return p
}

// TestTextsHaveRoom: in no figure a text leaves the page or meets another one.
func TestTextsHaveRoom(t *testing.T) {
	slowtest.Only(t)
	for _, spec := range Specs() {
		p := texts(drawn(t, spec.Name))
		assert.Greater(t, len(p.texts), 8, spec.Name)
		assert.Empty(t, p.misplaced(), spec.Name)
	}
	// The test sees what it is to see.
	bad := drawn(t, "pf-3c")
	for i := range bad.Panels[0][0].X.Names {
		bad.Panels[0][0].X.Names[i] = "a name that is far too long to stand beside others"
	}
	assert.NotEmpty(t, texts(bad).misplaced())
}

// TestOutlinesAreTheLetters draws a figure with letters as shapes, as in a PDF, and as text: the pictures are nearly the same.
func TestOutlinesAreTheLetters(t *testing.T) {
	f := drawn(t, "stopping-5")
	l := f.layout()
	draw := func(wrap func(vg.CanvasSizer) vg.CanvasSizer) []byte {
		c := vgimg.NewWith(vgimg.UseWH(width, l.height), vgimg.UseDPI(300))
		f.draw(wrap(c), l)
		var b bytes.Buffer
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(&b)
		require.NoError(t, err)
		return b.Bytes()
	}
	one, err := png.Decode(bytes.NewReader(draw(func(c vg.CanvasSizer) vg.CanvasSizer { return c })))
	require.NoError(t, err)
	two, err := png.Decode(bytes.NewReader(draw(func(c vg.CanvasSizer) vg.CanvasSizer { return outlined{c} })))
	require.NoError(t, err)
	ink, off := 0.0, 0.0
	for y := range one.Bounds().Dy() {
		for x := range one.Bounds().Dx() {
			a, _, _, _ := one.At(x, y).RGBA()
			b, _, _, _ := two.At(x, y).RGBA()
			ink += float64(0xFFFF - a)
			off += math.Abs(float64(a) - float64(b))
		}
	}
	assert.Positive(t, ink)
	assert.Less(t, off/ink, 0.1, "share of the ink that is elsewhere")
}
