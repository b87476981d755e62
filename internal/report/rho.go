package report

import (
	"fmt"

	"optratio/internal/document"
	"optratio/internal/job"
)

func ofConcentrated(d *document.Rho) *Page {
	first, base := d.Mechanisms[0].Name, job.Choose(d.Monotonic, "Δ", "2Δ")
	p := &Page{Title: fmt.Sprintf("Which errs least at equal ρ = %s? n = %d candidates, scores down to k = %d steps", show(d.Rho), d.N, d.K), Tone: "good"}
	best := d.Mechanisms[0]
	var rows []measured
	for _, m := range d.Mechanisms {
		if m.Error.Float64() < best.Error.Float64() {
			best = m
		}
		rows = append(rows, measured{name: m.Name, class: "one", value: m.Error, cells: []string{m.Parameter.String(), m.Error.String(), m.Ratio.String()}})
	}
	p.Word = fmt.Sprintf("%s: a mean expected error of %s", best.Name, show(best.Error))
	for _, m := range d.Mechanisms {
		if m.Name == best.Name {
			continue
		}
		hi, bounded := best.Error.Upper()
		if lo, ok := m.Error.Lower(); !ok || !bounded || lo.Cmp(hi) < 0 {
			p.Tone, p.Word = "open", "The errors are not known closely enough to tell which is least"
		}
	}
	where := "on the lattice of step " + base + "; other scores were not looked at"
	if d.Domain == "real" {
		where = "for all real scores and any number of candidates, by theorem"
	}
	p.say("Every mechanism runs at the largest parameter ε' at which it is %s-zCDP %s.", show(d.Rho), where)
	p.ended(d.Undecided)
	p.Sections = []Section{
		measures("Errors", "The mean expected error in steps of "+base+".", []string{"mechanism", "parameter ε'", "mean expected error", "ratio to " + first}, rows),
		assumed(
			"Errors are those at the lower ends of the parameters, at which each mechanism is certainly ρ-zCDP; at the upper ends it is not.",
			"Means are over all score vectors of the lattice of step "+base+" with these n and k.",
			"Equal ρ, not equal ε, is what counts where many private choices are composed.",
		),
	}
	return p
}
