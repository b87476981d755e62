// Package figures computes and draws the figures of the sources and of the project itself.
//
// A Spec says how one figure is computed: its name, its parameters with defaults, and a function that returns a Figure. A Figure is
// numbers with names: panels of curves, points, bars, areas or coloured cells, with labelled axes. Figure.Write draws it as SVG, PNG or
// PDF by gonum/plot, and Figure.WriteData writes the same numbers as CSV. The same parameters give the same bytes.
//
// Numbers come from exact probabilities, certified enclosures or stable floating-point probabilities.
package figures

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Figure is what is drawn.
type Figure struct {
	Title    string
	Subtitle string // parameters and source, in a sentence or two
	Panels   [][]*Panel
	Scale    *Scale    // of the coloured cells of all panels; nil where there are none
	Height   vg.Length // of a row of panels in points; 0 for the usual one
}

// Panel is one pair of axes.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []*Series
	Cells  *Cells // drawn below the series
}

// Axis is an axis of a panel. Name is its column in the data, Label what stands beside it, with the unit.
type Axis struct {
	Name, Label string
	Log         bool
	Min, Max    float64  // both 0 for the range of the data
	Names       []string // for the numbers 0, 1, … at their places, in place of ticks
}

// Kind says how a series is drawn.
type Kind int

const (
	Curve  Kind = iota // a line
	Marked             // a line with a marker at every point
	Points             // markers alone, with bars from Lower to Upper where there are any
	Bars               // a bar from 0 for every point, beside those of other series
	Area               // what is between Lower and Upper, with a line
	Ranges             // a bar with caps from Lower to Upper at every point
)

// Series is a sequence of points. Lower and Upper, where there are any, are ends of an enclosure or of an area. Series of the same name have
// the same style in all panels.
type Series struct {
	Name         string
	Kind         Kind
	X, Y         []float64
	Lower, Upper []float64
}

// Cells are numbers over a grid: Z[i][j] belongs to X[i], Y[j], NaN for none.
type Cells struct {
	X, Y   []float64
	Z      [][]float64
	Lower  [][]float64 // a certified lower bound of each, nil for none
	Digits int         // decimals of the number printed in each cell, 0 for none
}

// Scale is the meaning of colours.
type Scale struct {
	Name, Label string
	Min, Max    float64
	Diverging   bool // white is the middle
}

// Report is told how far a computation is: done of total steps.
type Report func(done, total int)

// Spec is a figure that can be drawn.
type Spec struct {
	Name   string            `json:"name"`
	Shows  string            `json:"shows"`  // one line
	Source string            `json:"source"` // "McKenna & Sheldon 2020, Fig. 1a", or "" for the project's own
	Open   string            `json:"open"`   // what the source leaves open, or ""
	Params []Param           `json:"parameters"`
	Fast   map[string]string `json:"-"` // values of parameters that make the figure quick to compute, for tests
	draw   func(ctx context.Context, a *Args) *Figure
}

// Draw computes the figure. The first error, of a parameter or of a computation, ends it.
func (s *Spec) Draw(ctx context.Context, a *Args) (f *Figure, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			panic(p)
		}
	}()
	return s.draw(ctx, a), nil
}

// failure is what a draw function panics with where it cannot go on, so that it reads as a list of steps. Draw returns its error.
type failure struct{ err error }

// must returns x, and ends the figure where there is an error.
func must[T any](x T, err error) T {
	ensure(err)
	return x
}

// ensure ends the figure where there is an error.
func ensure(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// ErrUndecided is wrapped where a number of a figure could not be certified.
var ErrUndecided = errors.New("undecided")

// settled ends the figure where a computation says why it is undecided.
func settled(ctx context.Context, why string) {
	if why != "" {
		ensure(cmp.Or(context.Cause(ctx), fmt.Errorf("%w: %s", ErrUndecided, why)))
	}
}

// specs are all figures, in the order in which they are listed.
var specs = slices.Concat(pfSpecs, hetSpecs, stoppingSpecs, ownSpecs)

// Specs returns all figures that can be drawn, in the order in which they are listed.
func Specs() []Spec { return specs }

// Impossible are the figures of the sources that cannot be drawn again, with the reason.
var Impossible = map[string]string{
	"pf-3":   "it needs DPBench's histograms, which are not ours to ship; optratio evaluate has the errors on a histogram",
	"pf-5":   "as pf-3",
	"pf-6":   "as pf-3",
	"pf-7":   "as pf-3",
	"het-3":  "a sketch without numbers: its candidates, sensitivities and t are not given",
	"het-4":  "its candidates are not listed in the source",
	"het-8":  "it needs a recommender trained on Netflix, MovieLens and Amazon data, which are not given",
	"het-16": "it needs a recommender trained on Amazon data, which are not given",
	"het-18": "it shows the candidates of Fig. 4, which are not listed in the source",
}

// Lookup finds a figure.
func Lookup(name string) (*Spec, error) {
	if i := slices.IndexFunc(specs, func(s Spec) bool { return s.Name == name }); i >= 0 {
		return &specs[i], nil
	}
	if why, known := Impossible[strings.TrimRight(name, "abc")]; known {
		return nil, fmt.Errorf("%w: figure %s cannot be drawn again: %s", ErrParameter, name, why)
	}
	return nil, fmt.Errorf("%w: there is no figure %q; research figure --list lists all", ErrParameter, name)
}

// add appends a point.
func (s *Series) add(x, y float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
}

// sample returns the series of y = f(x).
func sample(name string, kind Kind, x []float64, f func(float64) float64) *Series {
	s := &Series{Name: name, Kind: kind}
	for _, v := range x {
		s.add(v, f(v))
	}
	return s
}

// level is a horizontal line over an axis.
func level(name string, x []float64, y float64) *Series {
	return sample(name, Curve, []float64{x[0], x[len(x)-1]}, func(float64) float64 { return y })
}

// single is a figure's only panel.
func single(x, y Axis, series ...*Series) [][]*Panel {
	return [][]*Panel{{{X: x, Y: y, Series: series}}}
}

// evenly returns n numbers from a to b, both included.
func evenly(a, b float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = a + (b-a)*float64(i)/float64(max(n-1, 1))
	}
	return x
}

// geometrically returns n numbers from a to b with constant quotients, rounded to six digits so that they are short decimals.
func geometrically(a, b float64, n int) []float64 {
	x := evenly(math.Log(a), math.Log(b), n)
	for i := range x {
		x[i] = roundTo(math.Exp(x[i]), 6)
	}
	return x
}

// roundTo rounds to so many significant digits.
func roundTo(x float64, digits int) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func asFloats(values []int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// digits prints a number so that it can be read back exactly; nothing for no number.
func digits(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// each returns the panels in reading order.
func (f *Figure) each() []*Panel { return slices.Concat(f.Panels...) }

// WriteData writes the plotted numbers as CSV, a line for each point: panel, series, x, y. The columns of x and y have the names of the axes
// where all panels agree, else they are x and y. Lower and upper are there where a series has them. Cells have a column of their own, named by the scale,
// with x and y before it.
func (f *Figure) WriteData(w io.Writer) error {
	head := []string{"panel", "series", f.each()[0].X.Name, f.each()[0].Y.Name}
	ends, cells, lower := false, false, false
	for _, p := range f.each() {
		for i, name := range []string{p.X.Name, p.Y.Name} {
			if name != head[2+i] {
				head[2+i] = []string{"x", "y"}[i]
			}
		}
		ends = ends || slices.ContainsFunc(p.Series, func(s *Series) bool { return s.Lower != nil })
		cells, lower = cells || p.Cells != nil, lower || p.Cells != nil && p.Cells.Lower != nil
	}
	if ends {
		head = append(head, "lower", "upper")
	}
	before := len(head)
	if cells {
		head = append(head, f.Scale.Name)
	}
	if lower {
		head = append(head, f.Scale.Name+"_lower")
	}
	c := csv.NewWriter(w)
	_ = c.Write(head) // the error is kept until the end
	for _, p := range f.each() {
		for _, row := range slices.Concat(p.Cells.rows(before), p.rows()) {
			row[0] = p.Title
			_ = c.Write(append(row, make([]string, len(head)-len(row))...))
		}
	}
	c.Flush()
	return c.Error()
}

// rows are the lines of cells, whose numbers stand in the columns from one on.
func (g *Cells) rows(column int) (out [][]string) {
	if g == nil {
		return nil
	}
	for i, x := range g.X {
		for j, y := range g.Y {
			row := append([]string{"", "", digits(x), digits(y)}, make([]string, column-4)...)
			row = append(row, digits(g.Z[i][j]))
			if g.Lower != nil {
				row = append(row, digits(g.Lower[i][j]))
			}
			out = append(out, row)
		}
	}
	return out
}

// rows are the lines of a panel's series.
func (p *Panel) rows() (out [][]string) {
	for _, s := range p.Series {
		for i, x := range s.X {
			name := digits(x)
			if p.X.Names != nil {
				name = strings.ReplaceAll(p.X.Names[int(x)], "\n", ", ")
			}
			row := []string{"", s.Name, name, digits(s.Y[i])}
			if s.Lower != nil {
				row = append(row, digits(s.Lower[i]), digits(s.Upper[i]))
			}
			out = append(out, row)
		}
	}
	return out
}
