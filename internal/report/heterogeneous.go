package report

import (
	"fmt"
	"strings"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/verify"
)

// ofHeterogeneous makes the page of mechanisms for unequal sensitivities, beside the best one on a grid.
func ofHeterogeneous(d *document.Heterogeneous) *Page {
	var sensitivities []string
	for _, x := range d.Sensitivities {
		sensitivities = append(sensitivities, told(x))
	}
	error, unit := "expected error", "in the units of the scores"
	if d.Loss == "square" {
		error, unit = "mean squared error", "in the squares of the scores' units"
	}
	error = job.Choose(d.Objective == "worst", "largest ", "mean ") + error
	p := &Page{
		Title: fmt.Sprintf("Candidates with the sensitivities %s, scores %s, %s", strings.Join(sensitivities, ", "), d.Grid, given(d.AtEpsilon)),
		Tone:  "good", Word: fmt.Sprintf("The least %s that is possible on the grid is %s", error, told(d.Optimum)),
	}
	p.ended(d.Undecided)
	if d.Recommended != "" {
		p.say("Recommended for scores in this range, which has to be public: %s.", d.Recommended)
	}
	rows := []measured{{name: "the least possible", cells: []string{d.Optimum.String(), "1", "", ""}}}
	var violations []string
	for _, m := range d.Mechanisms {
		row := above(m.Name, "", m.Ratio, []string{m.Loss.String(), m.Ratio.String(), string(m.DP), m.TightEps.String()})
		if m.Ratio.IsValid() && !m.Ratio.IsInf() {
			row.class = job.Choose(m.DP == verify.Proved, "one", "two")
		}
		rows = append(rows, row)
		if m.Witness != nil {
			violations = append(violations, fmt.Sprintf("%s is not ε-DP there: %s.", m.Name, m.Witness))
		}
	}
	p.Sections = []Section{measures("Errors", "The "+error+", in percent above the least possible. In the table it is "+unit+".", []string{"mechanism", error, "ratio to the least possible", "ε-DP on the grid", "tight ε there"}, rows)}
	if violations != nil {
		p.Sections = append(p.Sections, Section{Title: "Where they are not private", Items: violations})
	}
	p.Sections = append(p.Sections, assumed(
		fmt.Sprintf("The grid has %s score vectors%s and %s pairs of neighbors. Other scores were not looked at.", grouped(int64(d.Vectors)), job.Choose(d.ShiftInvariant, " up to shifts", ""), grouped(int64(d.Neighbors))),
		"The least error possible is that of all ε-DP mechanisms on the grid"+job.Choose(d.ShiftInvariant, " that look at differences of scores only", "")+"; it was proved in exact or outward-rounded arithmetic.",
	))
	return p
}
