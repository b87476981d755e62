package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
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
	if len(d.Mechanism) > 0 && d.Inputs <= mostShown && d.Outputs <= mostShown {
		show := number.Number.String
		if _, exact := d.Optimum.Rat(); exact {
			show = fraction
		}
		t := &Table{Head: append([]string{"input"}, d.OutputNames...)}
		for x, row := range d.Mechanism {
			cells := []any{d.InputNames[x]}
			for _, q := range row {
				cells = append(cells, wording(show(q)))
			}
			t.add(cells...)
		}
		p.add(Block{Table: t, in: terminal})
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
		p.add(tablesOf(d), lossesOf(d))
	}
	p.add(assumed(
		fmt.Sprintf("No mechanism that is private at %s has a smaller %s than the lower end of %s; the one shown attains the upper end.", private, loss, d.Optimum),
		"Both are proved in exact or outward-rounded arithmetic; a certificate (--cert) holds the numbers, which optratio check verifies.",
		"The problem is taken as it is given: its inputs, pairs of neighbors, losses and prior.",
	))
	if r := d.Rounded; r != nil {
		p.add(Block{Lines: []string{fmt.Sprintf("%s: multiples of 2^-%d, private as they are written; loss given up: %s", cmp.Or(c.Optimal, "written with --optimal"), r.Bits, r.GivenUp)}, in: job.Choose(c.Optimal == "", browser, everywhere)})
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

// panel is a table of probabilities in a heat map.
type panel struct {
	title, class    string
	inputs, outputs []string
	table           [][]number.Number
}

// tablesOf draws the best table, and the user's beside it.
func tablesOf(d *document.Optimum) Block {
	panels := []panel{{"the best", "one", d.InputNames, d.OutputNames, d.Mechanism}}
	if d.Rated != nil && len(d.Rated.Table) == d.Inputs {
		panels = append(panels, panel{"yours", "two", d.InputNames, d.Rated.OutputNames, d.Rated.Table})
	}
	s := Block{Title: "Probabilities", in: browser}
	numbers := &Table{Head: []string{"input", "output"}}
	outputs := map[[2]string][]any{}
	for i, p := range panels {
		if max(len(p.inputs), len(p.outputs)) > mostDrawn {
			s.Lines = []string{fmt.Sprintf("A table of more than %d rows or columns is not drawn; it is in the document below.", mostDrawn)}
			return s
		}
		numbers.Head = append(numbers.Head, p.title)
		for x, row := range p.table {
			for o, q := range row {
				key := [2]string{p.inputs[x], p.outputs[o]}
				if len(outputs[key]) == 0 {
					outputs[key] = append([]any{key[0], key[1]}, slices.Repeat([]any{0}, len(panels))...)
					numbers.add(outputs[key]...)
				}
				outputs[key][2+i] = q
			}
		}
	}
	s.Figure = drawn(&Figure{
		SVG:     heat(panels, "A heat map of the probabilities in the table below: a row for each input, a column for each output."),
		Caption: "A row for each input, a column for each output; the darker, the more probable, up to the largest probability of all.",
		Table:   numbers,
	})
	return s
}

// heat draws tables of probabilities side by side.
func heat(panels []panel, description string) template.HTML {
	const gap, names = 12.0, 34.0
	most := 0.0
	for _, p := range panels {
		for _, row := range p.table {
			for _, q := range row {
				most = math.Max(most, q.Float64())
			}
		}
	}
	width := (chartWidth - 8 - names - float64(gap*float64(len(panels)-1))) / float64(len(panels))
	size := 28.0
	for _, p := range panels {
		size = math.Min(size, width/float64(max(1, len(p.outputs))))
	}
	height := math.Min(size, 14)
	if len(panels[0].inputs) <= 12 {
		height = math.Max(size, 14)
	}
	every := max(1, int(math.Ceil(14/height))) // of the rows have their name
	d := drawing{y: 40}
	left := names
	for i, p := range panels {
		d.text(left, 14, "", "start", p.title)
		step := max(1, int(math.Ceil(26/size)))
		for o := 0; o < len(p.outputs); o += step {
			d.text(left+float64((float64(o)+0.5)*size), 34, "soft", "middle", brief(p.outputs[o]))
		}
		for x, row := range p.table {
			y := d.y + float64(float64(x)*height)
			if i == 0 && x%every == 0 {
				d.text(names-4, y+float64(height/2)+4, "soft", "end", brief(p.inputs[x]))
			}
			for o, q := range row {
				share := 0.0
				if most > 0 {
					share = q.Float64() / most
				}
				d.add(`<rect x="%s" y="%s" width="%s" height="%s" class="%s" fill-opacity="%.3f"/>`, at(left+float64(float64(o)*size)), at(y), at(size), at(height), p.class, share)
			}
		}
		d.rect(left, d.y, size*float64(len(p.outputs)), height*float64(len(p.inputs)), "plain box")
		left += width + gap
	}
	d.y += float64(height*float64(len(panels[0].inputs))) + 8
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
	table := &Table{Head: append([]string{"input"}, names...)}
	for x, input := range d.InputNames {
		row := []any{input}
		for _, l := range losses {
			row = append(row, l[x])
		}
		table.add(row...)
	}
	s := Block{Title: "Loss by input", in: browser}
	const caption = "The expected loss at each input."
	if d.Inputs <= mostShown {
		figure := table.pictured(caption, "", func(row []any) string { return fmt.Sprint("input ", row[0]) }, columns...)()
		figure.Table = table
		s.Figure = drawn(figure)
		return s
	}
	c := chart{xTitle: "input, by its place", yTitle: "expected loss", level: math.NaN(), steps: true}
	for i, l := range losses {
		line := curve{class: classes[i], name: names[i]}
		for x := range l {
			line.x, line.y = append(line.x, float64(x)), append(line.y, l[x].Float64())
			c.high = math.Max(c.high, 1.05*l[x].Float64())
		}
		c.curves = append(c.curves, line)
	}
	if c.high == 0 {
		c.high = 1
	}
	s.Figure = drawn(&Figure{SVG: c.svg(caption), Caption: caption, Table: table})
	return s
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
