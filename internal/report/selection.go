package report

import (
	"fmt"

	"optratio/internal/document"
)

// ofEvaluate makes the page of an evaluate job: errors of mechanisms that select from a histogram.
func ofEvaluate(d *document.Evaluate) *Page {
	eps := given(d.AtEpsilon)
	p := &Page{Title: fmt.Sprintf("The %s of a histogram of %s bins, chosen privately, %s", d.Task, grouped(int64(d.Bins)), eps), Tone: "good", Word: "Errors of the mechanisms on this histogram"}
	if d.Ratio.IsValid() {
		p.Word = fmt.Sprintf("The exponential mechanism's expected error is %s times permute-and-flip's", show(d.Ratio))
	}
	p.ended(d.Undecided)
	var rows []measured
	for _, m := range d.Mechanisms {
		same := ""
		if m.EquivalentEps.IsValid() {
			same = m.EquivalentEps.String()
		}
		rows = append(rows, measured{name: m.Name, class: "one", value: m.ExpectedError, cells: []string{m.ExpectedError.String(), same}})
	}
	p.Sections = []Section{
		measures("Expected errors", "The score of the best choice less that of the one taken, in the mean, in "+d.Unit+".", []string{"mechanism", "expected error", "ε at which it reaches permute-and-flip's error"}, rows),
		assumed("Errors are enclosures in outward-rounded arithmetic on exactly these counts.", "They are themselves computed from private data: publishing them is not private."),
	}
	return p
}

// Compare makes a page of the probabilities of one or more mechanisms on the same scores.
func Compare(scores []string, all []*document.PMF, c Context) *Page {
	eps := given(all[0].AtEpsilon)
	p := &Page{Title: "Probabilities on given scores, " + eps, Tone: "good", paragraph: c.Paragraph}
	classes := []string{"one", "two", "three"}
	table := &Table{Head: []string{"candidate", "score"}}
	errors := &Table{Head: []string{"mechanism", "expected error", "mean squared error"}}
	for i, d := range all {
		table.Head = append(table.Head, d.Mechanism)
		errors.Rows = append(errors.Rows, []string{d.Mechanism, d.ExpectedError.String(), d.MSE.String()})
		if i > 0 {
			p.Word += ", "
		}
		p.Word += fmt.Sprintf("%s: expected error %s", d.Mechanism, show(d.ExpectedError))
	}
	var groups []group
	for r, score := range scores {
		g := group{heading: fmt.Sprintf("candidate %d, score %s", r, score)}
		row := []string{fmt.Sprint(r), score}
		for i, d := range all {
			g.bars = append(g.bars, bar{class: classes[min(i, len(classes)-1)], value: d.PMF[r].Float64(), number: show(d.PMF[r]), label: d.Mechanism})
			row = append(row, d.PMF[r].String())
		}
		groups, table.Rows = append(groups, g), append(table.Rows, row)
	}
	p.Sections = []Section{
		{Title: "Probabilities", Figure: &Figure{SVG: bars(groups, "Bars of the probabilities in the table below."), Caption: "Digits before … are certain.", Table: table}},
		{Title: "Errors", Table: errors},
	}
	p.again(c.Command)
	return p
}
