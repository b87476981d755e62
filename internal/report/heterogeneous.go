package report

import (
	"fmt"
	"strings"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

// ofHeterogeneous rates mechanisms for unequal sensitivities beside the best one on a grid.
func ofHeterogeneous(d *document.Heterogeneous) *Page {
	const error = "expected error"
	p := &Page{
		Title: fmt.Sprintf("sensitivities %s, scores %s, %s", strings.Join(texts(d.Sensitivities, fraction), ", "), d.Grid, given(d.AtEpsilon)),
		Tone:  "good", Word: fmt.Sprintf("The least %s that is possible on the grid is %s", job.Choose(d.Objective == "worst", "largest ", "mean ")+error, told(d.Optimum)),
	}
	p.say("%d score vectors%s, %d pairs of neighbors, %d rows generated", d.Vectors, job.Choose(d.ShiftInvariant, " up to shifts", ""), d.Neighbors, d.Rows)
	p.say("optimum: %s (%s)", fraction(d.Optimum), job.Choose(d.Objective == "worst", "largest "+error, error+", mean over the grid"))
	p.ended(d.Undecided)
	table := &Table{Head: []string{"mechanism", "error (units of the scores)", "ratio to the optimum", "ε-DP on the grid", "tight ε there"}}
	for _, m := range d.Mechanisms {
		tight := m.TightEps.String()
		if e := m.TightExpEps; e != nil && m.TightEps.Float64() > 0 {
			tight += ", e^ε = " + fraction(number.Exact(e))
		}
		table.add(m.Name, m.Loss, m.Ratio, string(m.DP), wording(tight))
	}
	private := func(row []any) string {
		return fmt.Sprint(row[0], job.Choose(row[3] == string(verify.Proved), "", fmt.Sprint(", ε-DP: ", row[3])))
	}
	p.add(Block{Title: "Errors", Table: table, Figure: table.excesses(error, private, 2)})
	for _, m := range d.Mechanisms {
		if m.Witness != nil {
			p.begin("%s is not ε-DP there: %s (candidates counted from 0)", m.Name, m.Witness)
		}
	}
	if d.Recommended != "" {
		p.begin("recommended for scores in this range, which has to be public: %s", d.Recommended)
	}
	p.add(assumed(
		"Other scores than those of the grid were not looked at.",
		"The least error possible is that of all ε-DP mechanisms on the grid"+job.Choose(d.ShiftInvariant, " that look at differences of scores only", "")+"; it was proved in exact or outward-rounded arithmetic.",
	))
	return p
}

// ofTopK rates choices of several candidates.
func ofTopK(d *document.TopK) *Page {
	p := &Page{
		Title: fmt.Sprintf("top %d of n = %d, k = %d, %s in all", d.Top, d.N, d.K, given(d.AtEpsilon)),
		Tone:  "good", Word: fmt.Sprintf("The least mean regret that is possible is %s", told(d.Optimum)),
	}
	if d.Orbits > 0 {
		p.say("%d orbits, %d variables, %d rows", d.Orbits, d.Cells, d.Rows)
	}
	p.say("optimum: %s (mean regret of a set, steps of 2Δ)", fraction(d.Optimum))
	p.ended(d.Undecided)
	if len(d.Mechanisms) == 0 {
		return p
	}
	table := &Table{Head: []string{"mechanism", "regret (steps of 2Δ)", "ratio to the optimum", "tight ε of lists", "tight ε of sets", "ratio at that ε"}}
	for _, m := range d.Mechanisms {
		var lists any = "-"
		if m.Lists != nil {
			lists = m.Lists
		}
		table.add(m.Name, m.Error, m.Ratio, lists, m.Sets, m.Fair)
	}
	p.add(Block{Title: "Regrets", Table: table, Figure: table.excesses("mean regret", named(0), 2)})
	for _, m := range d.Mechanisms {
		if m.Over {
			p.begin("%s goes over the budget: compare its ratio at the ε that it has", m.Name)
		}
	}
	return p
}
