package report

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

// ratio is the document of a ratio job.
type ratio document.Ratio

func ofRatio(d *ratio, c Context) *Page {
	p := &Page{Title: fmt.Sprintf("How far from optimal? n = %d candidates, scores down to k = %d steps, %s", d.N, d.K, given(d.AtEpsilon))}
	if d.Delta != nil {
		p.Title += ", δ = " + show(*d.Delta)
	}
	p.Tone, p.Word = d.headline()
	d.say(p)
	p.Sections = append(p.Sections, d.errors())
	if c.Curve != nil {
		p.Sections = append(p.Sections, c.Curve.section())
	}
	p.Sections = append(p.Sections, assumed(d.assumed()...))
	return p
}

// given says which ε was given, as itself or as e^ε.
func given(d document.AtEpsilon) string { return cmp.Or(d.Said(), "ε not given") }

// epsilonOf is the job's ε.
func epsilonOf(d document.AtEpsilon) number.Number {
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

// headline is about the first mechanism that was rated.
func (d *ratio) headline() (tone, word string) {
	if len(d.Mechanisms) == 0 {
		return "open", "No mechanism was rated"
	}
	m := d.Mechanisms[0]
	if m.Finding != "" {
		return "bad", fmt.Sprintf("%s cannot be rated: %s", m.Name, m.Finding)
	}
	lo, ok := m.Ratio.Lower()
	hi, bounded := m.Ratio.Upper()
	one := big.NewRat(1, 1)
	switch {
	case !ok || !m.Ratio.IsRigorous():
		return "open", fmt.Sprintf("%s: %s times the least error possible", m.Name, m.Ratio)
	case bounded && hi.Cmp(one) < 0:
		return "bad", fmt.Sprintf("%s is better than an %s mechanism of this kind can be: it is not one", m.Name, job.Choose(d.Delta == nil, "ε-DP", "(ε,δ)-DP"))
	case bounded && lo.Cmp(one) == 0 && hi.Cmp(one) == 0:
		return "good", fmt.Sprintf("%s is optimal: no such mechanism has a smaller %s", m.Name, d.measure())
	case d.Undecided != "":
		return "open", fmt.Sprintf("%s has between %s and %s times the least %s possible", m.Name, low(m.Ratio), high(m.Ratio), d.measure())
	}
	return "good", fmt.Sprintf("%s has %s times the least %s possible", m.Name, show(m.Ratio), d.measure())
}

func low(n number.Number) string {
	s, _, _ := n.Strings()
	return s
}

func high(n number.Number) string {
	_, s, _ := n.Strings()
	return s
}

// measure names what is minimised.
func (d *ratio) measure() string {
	what := job.Choose(d.Loss == "mean" || d.Loss == "", "expected error", "expected loss ("+d.Loss+")")
	return job.Choose(d.Objective == "worst", "worst-case "+what, "mean "+what)
}

func (d *ratio) say(p *Page) {
	for _, m := range d.Mechanisms[min(1, len(d.Mechanisms)):] {
		if m.Finding == "" {
			p.say("%s: %s times.", m.Name, show(m.Ratio))
		}
	}
	tone := p.Tone
	p.ended(d.Undecided)
	p.Tone = tone
	p.say("“Possible” means: for the mechanisms described at the end of this page, with scores that are multiples of %s, in the mean over all such score vectors%s.",
		strings.ReplaceAll(cmp.Or(d.Step, "2delta"), "delta", "Δ"), job.Choose(d.Objective == "worst", " replaced by the worst of them", ""))
}

// errors draws how far the errors of the mechanisms are above the optimum.
func (d *ratio) errors() Section {
	rows := []measured{{name: "the least possible", cells: []string{d.Optimum.String(), "1"}}}
	for _, m := range d.Mechanisms {
		if m.Finding == "" {
			rows = append(rows, above(m.Name, "one", m.Ratio, []string{m.Error.String(), m.Ratio.String()}))
		}
	}
	unit := job.Choose(d.Loss == "mean" || d.Loss == "", " In the table it is in steps of "+job.Choose(d.Monotonic, "Δ", "2Δ")+".", "")
	return measures("Errors", "The "+d.measure()+", in percent above the least possible."+unit, []string{"mechanism", d.measure(), "ratio to the least possible"}, rows)
}

// proofs explains how the optimum was had.
var proofs = map[string]string{
	"dual-recurrence":  "permute-and-flip's optimality follows from a theorem; no linear program was needed",
	"dual-closed-form": "a closed-form bound",
	"lumped":           "a linear program over classes of score vectors, whose multipliers bound the error of every such mechanism from below",
	"lp":               "a linear program, whose multipliers bound the error of every such mechanism from below; they were evaluated in exact or outward-rounded arithmetic",
}

func (d *ratio) assumed() []string {
	size := ""
	if d.Orbits != nil && d.Variables != nil {
		size = fmt.Sprintf(" There are %s score vectors up to their order, and %s variables.", decimal.Count(d.Orbits), decimal.Count(d.Variables))
	}
	level := map[string]string{
		"paper":       "The least error possible is a lower bound for every shift-invariant ε-DP mechanism: it asks for privacy towards the worst neighbors only, and is sometimes attained by no such mechanism (--constraints dp asks for all).",
		"dp":          "The least error possible is that of shift-invariant ε-DP mechanisms, with privacy towards all neighbors.",
		"monotone":    "The least error possible is a lower bound for mechanisms that are shift-invariant, monotone and ε-DP.",
		"approximate": "The least error possible is that of shift-invariant (ε,δ)-DP mechanisms, with privacy towards all neighbors.",
		"full":        "The least error possible is a lower bound for mechanisms that are shift-invariant, monotone and ε-DP.",
	}[d.Constraints]
	proof := proofs[d.Proof]
	if proof == "" {
		proof = d.Proof
	}
	out := []string{"How it was found: " + proof + "." + size}
	if level != "" {
		out = append(out, level)
	}
	return append(out, "A solver's own figures appear nowhere; it only proposed where to look.",
		"Neighboring score vectors differ by at most the sensitivity Δ in every score. Other lattices, other priors and other losses have other answers.")
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

// section draws the curve, with a mark at the job's ε.
func (c *Curve) section() Section {
	classes := []string{"one", "two", "three", "four"}
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
			table.Rows = append(table.Rows, []string{eps.String(), c.Names[j], r.String()})
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
	return Section{Title: "The same for other ε", Figure: &Figure{
		SVG: drawing.svg(description + "; the numbers are in the table below."), Table: table, Caption: caption,
	}, Text: []string{job.Choose(c.Errors, "This command prints those of the first ε:", "This command prints the numbers:")}, Commands: []string{c.Command}}
}
