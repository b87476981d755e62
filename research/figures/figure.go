// Package figures computes and draws the figures of the sources and of the project itself.
//
// A Spec says how one figure is computed: its name, its parameters with defaults, and a function that returns a Figure. A Figure is
// numbers with names: panels of curves, points, bars, areas or coloured cells, with labelled axes. Figure.Write draws it as SVG, PNG or
// PDF, and Figure.WriteData writes the same numbers as CSV. The same parameters give the same bytes.
//
// Numbers come from exact probabilities, certified enclosures or stable floating-point probabilities. Where a figure is a simulation, its title
// says so and the seed is a parameter.
package figures

import (
	"context"
	"math"
)

// Figure is what is drawn.
type Figure struct {
	Title    string
	Subtitle string // parameters and source, in a sentence or two
	Panels   [][]*Panel
	// Scale is that of the coloured cells of all panels; nil where there are none.
	Scale *Scale
	// Height of a row of panels in points; 0 for the usual one.
	Height float64
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
	Min, Max    float64 // both 0 for the range of the data
	// Names stand for the numbers 0, 1, … at their places, in place of ticks.
	Names []string
	// Whole says that only integers are values.
	Whole bool
}

// Kind says how a series is drawn.
type Kind int

const (
	Curve     Kind = iota // a line with a marker now and then
	Marked                // a line with a marker at every point
	Points                // markers alone, with bars from Lower to Upper where there are any
	Bars                  // a bar from 0 for every point, beside those of other series
	Area                  // what is between Lower and Upper, with a line
	Ranges                // a bar with caps from Lower to Upper at every point
	Reference             // a thin dashed line
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
	Log    bool        // colours go by the logarithm
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
	Name   string
	Shows  string // one line
	Source string // "McKenna & Sheldon 2020, Fig. 1a", or "" for the project's own
	Open   string // what the source leaves open, or ""
	Params []Param
	// Fast are values of parameters that make the figure quick to compute, for tests.
	Fast map[string]string
	draw func(ctx context.Context, a *Args) *Figure
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

// add appends a point.
func (s *Series) add(x, y float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
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

// sample returns the series of y = f(x).
func sample(name string, kind Kind, x []float64, f func(float64) float64) *Series {
	s := &Series{Name: name, Kind: kind}
	for _, v := range x {
		s.add(v, f(v))
	}
	return s
}

// single is a figure's only panel.
func single(p *Panel) [][]*Panel { return [][]*Panel{{p}} }
