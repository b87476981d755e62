package figures

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of Okabe and Ito (2008), which remain different to people with any of the usual kinds of colour blindness. The yellow one is left out: it is
// too light for lines on white.
var (
	blue      = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	vermilion = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	green     = color.NRGBA{0x00, 0x9E, 0x73, 0xFF}
	purple    = color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}
	orange    = color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}
	sky       = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
	black     = color.NRGBA{0x00, 0x00, 0x00, 0xFF}
	grey      = color.NRGBA{0x77, 0x77, 0x77, 0xFF}
	pale      = color.NRGBA{0xE4, 0xE4, 0xE4, 0xFF}
)

// A look is how a series is drawn: no two differ in colour alone.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	marker draw.GlyphDrawer
}

var looks = []look{
	{blue, nil, draw.CircleGlyph{}},
	{vermilion, []vg.Length{6, 2}, draw.BoxGlyph{}},
	{green, []vg.Length{1.5, 1.5}, draw.PyramidGlyph{}},
	{purple, []vg.Length{7, 2, 1.5, 2}, draw.RingGlyph{}},
	{black, []vg.Length{3.5, 1.5}, draw.CrossGlyph{}},
	{orange, []vg.Length{9, 2}, draw.SquareGlyph{}},
	{sky, []vg.Length{9, 2, 1.5, 2, 1.5, 2}, draw.TriangleGlyph{}},
	{grey, []vg.Length{4, 2, 1, 2}, draw.PlusGlyph{}},
}

// usual are the looks of mechanisms, the same in every figure.
var usual = map[string]int{"pf": 0, "em": 1, "geo": 2, "rnm-laplace": 2, "rnm": 0, "rnmh": 1, "gem": 2, "mgem": 3, "rs": 4, "rs-log": 5, "krr": 6, "uniform": 7, "combined-gem": 1, "ucb": 5, "thompson": 1}

// references are the looks of reference lines, in order of appearance.
var references = []look{
	{black, []vg.Length{2, 2}, nil},
	{grey, []vg.Length{6, 2}, nil},
	{grey, []vg.Length{1, 1.5}, nil},
	{black, []vg.Length{6, 2, 1, 2}, nil},
}

// kinds are how the series of each name are drawn.
func (f *Figure) kinds() map[string]Kind {
	kinds := map[string]Kind{}
	for _, p := range f.each() {
		for _, s := range p.Series {
			kinds[s.Name] = s.Kind
		}
	}
	return kinds
}

// styles gives every series of a figure its look: mechanisms the usual one, others those that are left, in order of appearance.
func (f *Figure) styles() (names []string, of map[string]look) {
	of = map[string]look{}
	taken := make([]bool, len(looks))
	kind := f.kinds()
	for _, p := range f.each() {
		for _, s := range p.Series {
			if s.Name == "" || slices.Contains(names, s.Name) {
				continue
			}
			names = append(names, s.Name)
			if i, ok := usual[s.Name]; ok && !taken[i] {
				of[s.Name], taken[i] = looks[i], true
			}
		}
	}
	if slices.Contains(names, scoreSeries) {
		of[scoreSeries] = look{color: grey, marker: draw.CircleGlyph{}}
	}
	lines := 0
	for _, name := range names {
		if _, done := of[name]; done {
			continue
		}
		if kind[name] == Reference || kind[name] == Ranges {
			of[name] = references[lines%len(references)]
			lines++
			continue
		}
		i := max(slices.Index(taken, false), 0)
		of[name], taken[i] = looks[i], true
	}
	return names, of
}

// sequential and diverging are colour maps by a few colours each: cividis (Nuñez, Anderton & Renslow 2018), and blue over white to vermilion.
var (
	sequential = []color.NRGBA{{0x00, 0x22, 0x4E, 0xFF}, {0x2A, 0x3F, 0x6D, 0xFF}, {0x57, 0x5D, 0x6D, 0xFF}, {0x7D, 0x7C, 0x78, 0xFF}, {0xA5, 0x9C, 0x74, 0xFF}, {0xD2, 0xC0, 0x60, 0xFF}, {0xFE, 0xE8, 0x38, 0xFF}}
	diverging  = []color.NRGBA{{0x00, 0x45, 0x80, 0xFF}, {0x00, 0x72, 0xB2, 0xFF}, {0x8F, 0xC3, 0xE3, 0xFF}, {0xFF, 0xFF, 0xFF, 0xFF}, {0xF2, 0xB4, 0x84, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x8F, 0x3D, 0x00, 0xFF}}
)

// at returns the colour of a number; numbers beyond the ends have those of the ends.
func (s *Scale) at(x float64) color.NRGBA {
	stops := sequential
	if s.Diverging {
		stops = diverging
	}
	t := 0.0
	if s.Max > s.Min {
		t = min(max((x-s.Min)/(s.Max-s.Min), 0), 1)
	}
	t *= float64(len(stops) - 1)
	i := min(int(t), len(stops)-2)
	t -= float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + t*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}

// dark reports whether white text is easier to read on a colour than black.
func dark(c color.NRGBA) bool {
	return 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) < 140
}

// place returns where a number stands on the axis, its logarithm on a logarithmic one; NaN where it has no place. The axes that are drawn are linear
// in this.
func (a *Axis) place(x float64) float64 {
	switch {
	case math.IsInf(x, 0), a.Log && x <= 0:
		return math.NaN()
	case a.Log:
		return math.Log10(x)
	}
	return x
}

// ticks marks an axis at round numbers, about so many of them labelled.
type ticks struct {
	axis *Axis
	want int
}

func (t ticks) Ticks(low, high float64) []plot.Tick {
	switch {
	case t.axis.Names != nil:
		var out []plot.Tick
		for i, name := range t.axis.Names {
			out = append(out, plot.Tick{Value: float64(i), Label: name})
		}
		return out
	case t.axis.Log:
		marks := logTicks(math.Pow(10, low), math.Pow(10, high))
		for i := range marks {
			marks[i].Value = t.axis.place(marks[i].Value)
		}
		return marks
	}
	step := niceStep((high - low) / float64(t.want))
	if t.axis.Whole {
		if step = max(step, 1); step == 2.5 {
			step = 5
		}
	}
	decimals := 0
	for s := step; decimals < 12 && math.Abs(s-math.Round(s)) > 1e-9*s; s *= 10 {
		decimals++
	}
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		out = append(out, plot.Tick{Value: min(max(i*step, low), high), Label: tickText(i*step, decimals)})
	}
	return out
}

// niceStep returns the least of 1, 2, 2.5, 5, 10 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*scale >= x*(1-1e-9) {
			return m * scale
		}
	}
	return 10 * scale
}

func tickText(x float64, decimals int) string {
	if math.Abs(x) < 1e-12 {
		x = 0
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if math.Abs(x) >= 1e5 {
		text = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Replace(text, "-", "−", 1)
}

// logTicks labels powers of ten, and where there are fewer than three of them 2 and 5 times those as well.
func logTicks(low, high float64) []plot.Tick {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	inside := func(x float64) bool { return x >= low*(1-1e-9) && x <= high*(1+1e-9) }
	decades := 0
	for e := first; e <= last; e++ {
		if inside(math.Pow(10, e)) {
			decades++
		}
	}
	every := math.Ceil(float64(decades) / 8)
	var out []plot.Tick
	for e := first; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			x := m * math.Pow(10, e)
			if !inside(x) {
				continue
			}
			t := plot.Tick{Value: min(max(x, low), high)}
			if m == 1 && math.Mod(e, every) == 0 || decades < 3 && (m == 2 || m == 5) || decades < 1 {
				t.Label = logText(x)
			}
			if m == 1 || every == 1 {
				out = append(out, t)
			}
		}
	}
	return out
}

func logText(x float64) string {
	if e := math.Round(math.Log10(x)); math.Abs(e) >= 5 {
		return "1e" + tickText(e, 0)
	}
	return strconv.FormatFloat(roundTo(x, 6), 'g', -1, 64)
}
