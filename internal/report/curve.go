package report

import (
	"cmp"
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
	q = job.New[job.Ratio]()
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

// CurveFor computes what the mechanisms of an answer are like at other ε: ratios to the optimum, or their errors on the scores that were asked about; nil where
// that would take long or means nothing.
func CurveFor(d document.Document, asked job.Question, ask Ask) *Curve {
	if r, ok := d.(*recommend.Recommendation); ok {
		return errorsFor(r, *asked.(*job.Recommend), ask)
	}
	q, at := curveOver(d)
	if q == nil || q.N > curveSize || q.K > curveSize || lattice.Orbits(q.N, q.K).Cmp(big.NewInt(curveSize)) > 0 {
		return nil
	}
	c := &Curve{At: at, Names: strings.Split(q.Mechanism, ",")}
	var list []string
	known := c.fill(24, 0.05, 2, func(eps string) map[string]number.Number {
		q.Eps, list = eps, append(list, eps)
		found := map[string]number.Number{}
		for _, a := range ask(q) {
			for _, m := range a.(*document.Ratio).Mechanisms {
				found[m.Name] = m.Ratio
			}
		}
		return found
	})
	q.Eps = strings.Join(list, ",")
	c.Command = job.CommandText(q)
	if slices.Contains(c.Names, "pf") && known != nil {
		sharp := job.New[job.Threshold]()
		sharp.Size, sharp.Constraints = q.Size, q.Constraints
		if found := ask(sharp); found != nil {
			if upper := found[0].(*document.Threshold).Upper; upper.Float64() > 0 {
				c.Sharp = &upper
			}
		}
	}
	return known
}

// errorsFor computes the expected errors of the mechanisms of a recommendation over ε: of those of its picture, and of pf and em where they were
// compared. asked is its question.
func errorsFor(d *recommend.Recommendation, asked job.Recommend, ask Ask) *Curve {
	if len(d.Mechanisms) < 2 {
		return nil
	}
	var names []string
	for _, m := range d.Mechanisms {
		names = append(names, m.Name)
	}
	familiar := slices.DeleteFunc(slices.Clone(names[2:]), func(name string) bool { return name != "pf" && name != "em" })
	rest := slices.DeleteFunc(slices.Clone(names[2:min(mostCompared, len(names))]), func(name string) bool { return slices.Contains(familiar, name) })
	c := &Curve{Names: slices.Concat(names[:2], familiar, rest), Errors: true, At: parameter(asked.Eps+asked.Exp, asked.Exp != "")} // the first four are drawn
	asked.Mechanism = strings.Join(c.Names, ",")
	return c.fill(12, 0.1, 1, func(eps string) map[string]number.Number {
		asked.Epsilon = job.Epsilon{Eps: eps}
		c.Command = cmp.Or(c.Command, job.CommandText(&asked))
		found := map[string]number.Number{}
		for _, a := range ask(&asked) {
			for _, m := range a.(*recommend.Recommendation).Mechanisms {
				found[m.Name] = m.ExpectedError
			}
		}
		return found
	})
}

// fill asks for the values of its mechanisms at so many ε, a step apart times how far they are spaced; it returns nil where one is not answered.
func (c *Curve) fill(points int, step float64, digits int, at func(eps string) map[string]number.Number) *Curve {
	for i := range points {
		eps := strconv.FormatFloat(float64(i+1)*step*spacing(c.At.Float64()), 'f', digits, 64)
		found := at(eps)
		values := make([]number.Number, len(c.Names))
		for j, name := range c.Names {
			if _, answered := found[name]; !answered {
				return nil
			}
			values[j] = found[name]
		}
		c.Eps, c.Values = append(c.Eps, parameter(eps, false)), append(c.Values, values)
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
	drawing := chart{curves: make([]curve, min(len(c.Names), len(classes))), xTitle: "ε", yTitle: "error, over the least possible", low: 1, least: 1.02, most: 4}
	description, caption, measure, command := "Ratio of each mechanism's error to the least possible, over ε", "Errors over the least error possible, on the same lattice.", "ratio to the least possible", "This command prints the numbers:"
	if c.Errors {
		drawing.yTitle, drawing.low, drawing.most = "expected error", 0, 0
		description, caption, measure, command = "Expected error of each mechanism over ε", "Expected errors on the same scores, in their units.", "expected error", "This command prints those of the first ε:"
	}
	table := &Table{Head: []string{"ε", "mechanism", measure}}
	for i, eps := range c.Eps {
		for j, r := range c.Values[i] {
			if table.add(eps, c.Names[j], r); j < len(drawing.curves) {
				drawing.curves[j].name = c.Names[j]
				drawing.curves[j].to(eps.Float64(), r.Float64())
			}
		}
	}
	if c.At.IsValid() {
		drawing.marks = append(drawing.marks, mark{c.At.Float64(), "this job"})
	}
	if c.Sharp != nil {
		drawing.marks = append(drawing.marks, mark{c.Sharp.Float64(), "pf is optimal from here on"})
		caption += " From ε = " + c.Sharp.Format(readable) + " on permute-and-flip is optimal."
	}
	return []Block{
		{Title: "The same for other ε", in: browser, Figure: drawing.figure(description+"; the numbers are in the table below.", caption, table)},
		{in: browser, Lines: []string{command}, Commands: []string{c.Command}},
	}
}
