package report

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Ask asks a question for a curve and returns its documents; nil where it is not decided in the time there is.
type Ask func(job.Question) []document.Document

// curveSize is the number of orbits up to which a page has a curve over ε.
const curveSize = 200

// curveOver returns what to ask at other ε, and the document's own ε, if a curve over ε says something of a document: it is about the mean error on the lattice of
// step 2Δ, or about properties there of a mechanism, which is then compared with pf and em. The question is nil otherwise.
func curveOver(d document.Document) (q *job.Ratio, at number.Number) {
	q = job.NewRatio()
	var names []string
	switch d := d.(type) {
	case *document.Ratio:
		if d.Step != "2delta" || d.Loss != "mean" || d.Prior != "uniform" || d.Objective != "paper" || d.Monotonic || d.Delta != nil || len(d.Mechanisms) == 0 {
			return nil, at
		}
		q.Size, q.Constraints, at = job.Size{N: d.N, K: d.K}, d.Constraints, atEpsilon(d.AtEpsilon)
		for _, m := range d.Mechanisms {
			names = append(names, m.Name)
		}
	case *verify.Report:
		n, k := d.Lattice()
		if n == 0 {
			return nil, at
		}
		q.Size, q.Constraints, at, names = job.Size{N: n, K: k}, "dp", d.Claimed, []string{d.Mechanism, "pf", "em"}
	default:
		return nil, at
	}
	slices.Sort(names[1:])
	names = slices.Compact(names)
	for _, name := range names {
		if _, err := mechanisms.Lookup(name); err != nil {
			return nil, at
		}
	}
	q.Mechanism = strings.Join(names, ",")
	return q, at
}

// CurveFor computes the ratios of a job's mechanisms over ε; nil where that would take long or means nothing.
func CurveFor(d document.Document, ask Ask) *Curve {
	q, at := curveOver(d)
	if q == nil || q.N > curveSize || q.K > curveSize || lattice.Orbits(q.N, q.K).Cmp(big.NewInt(curveSize)) > 0 {
		return nil
	}
	var list []string
	for i := 1; i <= 24; i++ {
		list = append(list, strconv.FormatFloat(float64(i)*0.05*spacing(at.Float64()), 'f', 2, 64))
	}
	q.Eps = strings.Join(list, ",")
	answers := ask(q)
	if answers == nil {
		return nil
	}
	c := &Curve{At: at, Command: job.CommandText(q)}
	for _, a := range answers {
		d := a.(*document.Ratio)
		var ratios []number.Number
		c.Names = nil
		for _, m := range d.Mechanisms {
			c.Names, ratios = append(c.Names, m.Name), append(ratios, m.Ratio)
		}
		c.Eps, c.Values = append(c.Eps, atEpsilon(d.AtEpsilon)), append(c.Values, ratios)
	}
	if slices.Contains(c.Names, "pf") {
		sharp := job.NewThreshold()
		sharp.Size, sharp.Constraints = q.Size, q.Constraints
		if found := ask(sharp); found != nil {
			if upper := found[0].(*document.Threshold).Upper; upper.Float64() > 0 {
				c.Sharp = &upper
			}
		}
	}
	return c
}

// ErrorsFor computes the expected errors of the mechanisms of a recommendation over ε: of those of its picture, and of pf and em where they were
// compared. asked is its question.
func ErrorsFor(d *recommend.Recommendation, asked job.Recommend, ask Ask) *Curve {
	if len(d.Mechanisms) < 2 {
		return nil
	}
	var names, familiar []string // the first four are drawn
	for i, m := range d.Mechanisms {
		switch {
		case i < 2:
			names = append(names, m.Name)
		case m.Name == "pf" || m.Name == "em":
			familiar = append(familiar, m.Name)
		}
	}
	names = append(names, familiar...)
	for _, m := range d.Mechanisms[:min(mostCompared, len(d.Mechanisms))] {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	c := &Curve{Names: names, Errors: true, At: parameter(asked.Eps+asked.Exp, asked.Exp != "")}
	asked.Mechanism = strings.Join(names, ",")
	for i := 1; i <= 12; i++ {
		asked.Epsilon = job.Epsilon{Eps: strconv.FormatFloat(float64(i)*0.1*spacing(c.At.Float64()), 'f', 1, 64)}
		if i == 1 {
			c.Command = job.CommandText(&asked)
		}
		answer := ask(&asked)
		if answer == nil {
			return nil
		}
		found := map[string]number.Number{}
		for _, m := range answer[0].(*recommend.Recommendation).Mechanisms {
			found[m.Name] = m.ExpectedError
		}
		var values []number.Number
		for _, name := range names {
			if _, answered := found[name]; !answered {
				return nil
			}
			values = append(values, found[name])
		}
		c.Eps, c.Values = append(c.Eps, parameter(asked.Eps, false)), append(c.Values, values)
	}
	return c
}

// spacing returns how many times 0.05 the points of a curve are apart, so that the job's ε is near its middle.
func spacing(eps float64) float64 { return float64(min(max(1, int(2*eps+0.999)), 8)) }

// atEpsilon is the job's ε.
func atEpsilon(d document.AtEpsilon) number.Number {
	symbol, text := d.Given()
	return parameter(text, symbol == "e^ε")
}

// parameter is ε, of which the text says ε itself or e^ε.
func parameter(text string, exp bool) number.Number {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return number.Number{}
	}
	if !exp {
		return number.Exact(r)
	}
	f, _ := r.Float64()
	return number.Estimate(math.Log(f), "the logarithm")
}

// Curve has errors of mechanisms over ε, as ratios to the optimum or as they are.
type Curve struct {
	Names   []string // the first four are drawn
	Eps     []number.Number
	Values  [][]number.Number // for each ε, of each mechanism
	Errors  bool              // they are the expected errors on the job's scores
	At      number.Number     // the job's ε
	Command string            // prints these numbers
	Sharp   *number.Number    // the ε from which on permute-and-flip is optimal; nil where it is not known
}

// section draws the curve, with a mark at the job's ε; nothing where there is none.
func (c *Curve) section() []Block {
	if c == nil {
		return nil
	}
	drawing := chart{curves: make([]curve, min(len(c.Names), len(classes))), xTitle: "ε", yTitle: "error, over the least possible", low: 1, level: math.NaN()}
	description, caption, measure, least := "Ratio of each mechanism's error to the least possible, over ε", "Errors over the least error possible, on the same lattice.", "ratio to the least possible", 1.02
	if c.Errors {
		drawing.yTitle, drawing.low = "expected error", 0
		description, caption, measure, least = "Expected error of each mechanism over ε", "Expected errors on the same scores, in their units.", "expected error", 0
	}
	table := &Table{Head: []string{"ε", "mechanism", measure}}
	most := least
	for i, eps := range c.Eps {
		for j, r := range c.Values[i] {
			table.add(eps, c.Names[j], r)
			if j < len(drawing.curves) {
				l := &drawing.curves[j]
				l.class, l.name = classes[j], c.Names[j]
				l.x, l.y = append(l.x, eps.Float64()), append(l.y, r.Float64())
				most = math.Max(most, r.Float64())
			}
		}
	}
	drawing.high = drawing.low + float64(1.05*(most-drawing.low))
	if !c.Errors {
		drawing.high = math.Min(drawing.high, 4)
	}
	if c.At.IsValid() {
		drawing.marks = append(drawing.marks, mark{c.At.Float64(), "this job"})
	}
	if c.Sharp != nil {
		drawing.marks = append(drawing.marks, mark{c.Sharp.Float64(), "pf is optimal from here on"})
		caption += " From ε = " + c.Sharp.Format(readable) + " on permute-and-flip is optimal."
	}
	return []Block{{Title: "The same for other ε", in: browser, Figure: &Figure{
		SVG: drawing.svg(description + "; the numbers are in the table below."), Table: table, Caption: caption,
	}}, {in: browser, Lines: []string{job.Choose(c.Errors, "This command prints those of the first ε:", "This command prints the numbers:")}, Commands: []string{c.Command}}}
}
