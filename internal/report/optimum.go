package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strings"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
)

// mostShown is how many rows and columns a table for people has.
const mostShown = 12

// ofOptimum says what the best mechanism of a problem is, and what it was compared with.
func ofOptimum(d *document.Optimum, c Context) *Page {
	private := given(d.AtEpsilon)
	if d.Delta != "0" {
		private += ", δ = " + d.Delta
	}
	loss := job.Choose(d.Objective == "worst", "largest loss of any input", "mean loss")
	p := &Page{
		Title: fmt.Sprintf("%d inputs, %d outputs, %d pairs of neighbors, %s", d.Inputs, d.Outputs, d.Pairs, private),
		Tone:  "good", Word: fmt.Sprintf("The least %s that is possible is %s", loss, told(d.Optimum)),
	}
	if d.Variables > 0 {
		p.say("%d orbits of inputs, %d variables, %d rows; proof: linear program", d.Orbits, d.Variables, d.Rows)
	}
	p.say("optimum: %s (%s)", fraction(d.Optimum), loss)
	p.ended(d.Undecided)
	_, exact := d.Optimum.Rat()
	rounded := false // what a terminal shows
	if len(d.Mechanism) > 0 {
		rounded = !exact && d.Inputs <= mostShown && d.Outputs <= mostShown
		p.add(probabilities(d, "the best", "one", d.OutputNames, d.Mechanism, everywhere))
	}
	if d.Rated != nil {
		p.rated(d, private)
	}
	if u := d.Users; u != nil {
		p.add(Block{Title: "Users"})
		for i, x := range u.Optima {
			p.say("user %d alone: %s", i, fraction(x))
		}
		p.say("one mechanism for all: %s in all", fraction(u.Joint))
		if u.BestCommonRatio.IsValid() {
			p.say("best common ratio: %s of what each could have alone", fraction(u.BestCommonRatio))
		}
	}
	if len(d.Mechanism) > 0 && !c.Terminal {
		if d.Rated != nil && len(d.Rated.Table) == d.Inputs {
			p.add(probabilities(d, "yours", "two", d.Rated.OutputNames, d.Rated.Table, browser))
		}
		p.add(lossesOf(d))
	}
	attained := told(d.Optimum) + "; the one shown attains it"
	if !exact {
		attained = fmt.Sprintf("the lower end of %s; the one shown attains the upper end", d.Optimum)
	}
	p.add(assumed(
		fmt.Sprintf("No mechanism that is private at %s has a smaller %s than %s.", private, loss, attained),
		"This is proved in exact or outward-rounded arithmetic; a certificate (--cert) holds the numbers, which optratio check verifies.",
		"The problem is taken as it is given: its inputs, pairs of neighbors, losses and prior.",
	))
	if r := d.Rounded; r != nil {
		p.add(Block{Lines: []string{fmt.Sprintf("%s: multiples of 2^-%d, private as they are written; loss given up: %s", cmp.Or(c.Optimal, job.Choose(rounded, "the table", "written with --optimal")), r.Bits, r.GivenUp)}, in: job.Choose(c.Optimal == "" && !rounded, browser, everywhere)})
	}
	return p
}

// rated says how private and how good a table is beside the best one.
func (p *Page) rated(d *document.Optimum, private string) {
	r := d.Rated
	p.aside("%s.", p.Word)
	switch {
	case r.Witness != nil:
		p.Tone, p.Word = "bad", "No: the mechanism is not private at "+private
	case r.DP == "undecided":
		p.Tone, p.Word = "open", "Whether the mechanism is private at "+private+" is undecided"
	case r.Ratio.IsValid():
		p.Word = fmt.Sprintf("Your mechanism has %s times the least loss that is possible", told(r.Ratio))
	case r.RatioRemap.IsValid():
		p.Word = fmt.Sprintf("Your mechanism has, after the best remap, %s times the least loss that is possible", told(r.RatioRemap))
	default:
		p.Word = "Your mechanism is private at " + private
	}
	p.add(Block{Title: "Your mechanism beside the best one"})
	p.say("the table is private at ε = %s; as asked: %s", r.TightEps, r.DP)
	if w := r.Witness; w != nil {
		p.say("%s at %s, and %s at %s: outputs %s", fraction(w.P), w.Input, fraction(w.PNeighbor), w.Neighbor, strings.Join(w.Outputs, ", "))
	}
	if r.Scaled {
		p.say("its rows sum to 1 nearly, and were divided by their sums")
	}
	if r.Value.IsValid() {
		p.say("loss: %s, ratio to the optimum %s", fraction(r.Value), r.Ratio)
	} else {
		p.say("it has outputs that the problem lacks, so it has a loss only after a remap")
	}
	if !r.Remapped.IsValid() {
		p.say("no remap keeps to the outputs that are allowed")
		return
	}
	p.say("loss after the best remap: %s, ratio %s", fraction(r.Remapped), r.RatioRemap)
	for _, m := range r.Remap {
		if m.Output != m.To {
			p.say("  %s becomes %s with probability %s", m.Output, m.To, fraction(m.Probability))
		}
	}
}

// mostDrawn bounds the rows and columns of a heat map.
const mostDrawn = 64

// probabilities draw a table of a mechanism; one that is small stands below its picture, and in a terminal.
func probabilities(d *document.Optimum, whose, class string, outputs []string, rows [][]number.Number, in medium) Block {
	most := max(len(rows), len(outputs))
	b := Block{Title: "Probabilities: " + whose, in: job.Choose(most > mostShown, browser, in)}
	if most > mostDrawn {
		b.Lines = []string{fmt.Sprintf("A table of more than %d rows or columns is not drawn; it is in the document below.", mostDrawn)}
		return b
	}
	write := number.Number.String
	if _, exact := d.Optimum.Rat(); exact {
		write = fraction
	}
	t := &Table{Head: append([]string{"input"}, outputs...)}
	for x, row := range rows {
		t.add(d.InputNames[x])
		for _, q := range row {
			t.Rows[x] = append(t.Rows[x], wording(write(q)))
		}
	}
	b.Figure = func() *Figure {
		return &Figure{
			SVG:     heat(d.InputNames, outputs, rows, class, "A heat map of the probabilities in the table below: a row for each input, a column for each output."),
			Caption: "A row for each input, a column for each output; the darker, the more probable, up to the largest probability of the table.",
			Table:   job.Choose(most > mostShown, t, nil),
		}
	}
	b.Table = job.Choose(most > mostShown, nil, t)
	return b
}

// heat draws a table of probabilities.
func heat(inputs, outputs []string, rows [][]number.Number, class, description string) template.HTML {
	const names = 34.0
	most := 0.0
	for _, row := range rows {
		for _, q := range row {
			most = math.Max(most, q.Float64())
		}
	}
	width := math.Min(28, (chartWidth-8-names)/float64(len(outputs)))
	height := math.Min(width, 14)
	if len(inputs) <= mostShown {
		height = math.Max(width, 14)
	}
	d := drawing{y: 22}
	for o := 0; o < len(outputs); o += int(math.Ceil(26 / width)) { // as many as have room for their names
		d.text(names+float64((float64(o)+0.5)*width), 16, "soft", "middle", brief(outputs[o]))
	}
	every := int(math.Ceil(14 / height))
	for x, row := range rows {
		if x%every == 0 {
			d.text(names-4, d.y+float64(height/2)+4, "soft", "end", brief(inputs[x]))
		}
		for o, q := range row {
			d.add(`<rect x="%s" y="%s" width="%s" height="%s" class="%s" fill-opacity="%.3f"/>`, at(names+float64(float64(o)*width)), at(d.y), at(width), at(height), class, q.Float64()/most)
		}
		d.y += height
	}
	d.rect(names, 22, width*float64(len(outputs)), d.y-22, "plain box")
	d.y += 8
	return d.svg(description)
}

// brief is a name that is short enough for a picture.
func brief(name string) string {
	if r := []rune(escape.Line(name)); len(r) > 5 {
		return string(r[:4]) + "…"
	}
	return name
}

// lossesOf draws the loss at each input.
func lossesOf(d *document.Optimum) Block {
	names, losses, columns := []string{"the best"}, [][]number.Number{d.Losses}, []int{1}
	if d.Rated != nil && len(d.Rated.Losses) == d.Inputs {
		names, losses, columns = append(names, "yours"), append(losses, d.Rated.Losses), []int{1, 2}
	}
	const caption = "The expected loss at each input."
	table := &Table{Head: append([]string{"input"}, names...)}
	lines := chart{xTitle: "input, by its place", yTitle: "expected loss", steps: true, curves: make([]curve, len(names))}
	for x, input := range d.InputNames {
		table.add(input)
		for i, l := range losses {
			table.Rows[x] = append(table.Rows[x], l[x])
			lines.curves[i].name = names[i]
			lines.curves[i].to(float64(x), l[x].Float64())
		}
	}
	b := Block{Title: "Loss by input", in: browser, Figure: lines.figure(caption, caption, table)}
	if d.Inputs <= mostShown {
		b.Table, b.Figure = table, table.pictured(caption, "", func(row []any) string { return fmt.Sprint("input ", row[0]) }, columns...)
	}
	return b
}

// texts writes numbers.
func texts(xs []number.Number, write func(number.Number) string) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = write(x)
	}
	return out
}

// fraction writes an exact number as a fraction while that is short.
func fraction(x number.Number) string {
	if r, ok := x.Rat(); ok && r.Num().BitLen()+r.Denom().BitLen() <= 96 {
		return r.RatString()
	}
	return x.String()
}

// told is a fraction where it is known and short, and else a decimal.
func told(x number.Number) string {
	if r, ok := x.Rat(); ok && len(r.RatString()) <= 15 {
		return r.RatString()
	}
	return show(x)
}
