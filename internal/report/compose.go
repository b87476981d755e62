package report

import (
	"fmt"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

// ofCompose says what several selections cost together.
func ofCompose(d *document.Compose) *Page {
	var steps []string
	for _, st := range d.Steps {
		at := ""
		if st.Eps != "" {
			at = " at ε = " + st.Eps
		}
		steps = append(steps, fmt.Sprintf("%d %s by %s%s", st.Count, job.Choose(st.Count == 1, "selection", "selections"), st.Mechanism, at))
	}
	p := &Page{Title: strings.Join(steps, ", then ") + ", adversary: " + d.Adversary, Tone: "good"}
	if len(d.Mechanisms) > 1 {
		p.Title = fmt.Sprintf("%d selections that are (ε,δ)-DP together with ε = %s, δ = %s; adversary: %s", d.Steps[0].Count, d.EpsTotal, d.Delta, d.Adversary)
	}
	switch {
	case len(d.Mechanisms) > 1:
		p.Word = "The mechanisms, each at its largest ε"
	case d.Parameter != nil:
		p.Word = fmt.Sprintf("With ε = %s, δ = %s in total the largest ε of a selection: %s", d.EpsTotal, d.Delta, *d.Parameter)
		p.say("%s; its lower end is safe", p.Word)
	case d.Generic != nil: // δ was given
		p.conclude("ε in total at δ = %s: %s", d.Delta, bothEnds(d.EpsTotal))
	default:
		p.conclude("δ at ε = %s in total: %s", d.EpsTotal, bothEnds(d.Delta))
	}
	if d.Attack != nil {
		p.say("the lower end is attained by %s", attackOf(d.Attack))
	}
	if d.Method == "blocks" {
		blocks := job.Choose(d.Block == 1, "take the worst pair of each selection", fmt.Sprintf("adapt within blocks of at most %d selections, and take the worst of each", d.Block))
		p.say("the upper end lets the adversary %s", blocks)
	}
	p.ended(d.Undecided)
	if d.Generic != nil {
		p.add(Block{Title: "Beside it", Table: beside(d)})
	}
	if len(d.Mechanisms) > 0 {
		p.add(Block{Title: "Mechanisms", Table: ranking(d)})
	}
	p.add(Block{Title: "What is proved, and what is assumed", Lines: prefixed("assumed: ", d.Assumptions)})
	return p
}

// attackOf says what an attack asks.
func attackOf(a *document.ComposeAttack) string {
	switch {
	case a.Kind == "adaptive":
		return "an attack that chooses each query by the answers before"
	case a.Kind == "fixed":
		return "the same pair of score vectors each time"
	case a.Each == nil:
		most := job.Choose(*a.Most == 0, "never selected", fmt.Sprintf("selected at most %d times", *a.Most))
		return fmt.Sprintf("asking the same each time: two candidates %.6g steps of 2Δ apart, and %.6g the other way at the neighbor; the first to trail is %s", a.Apart, 1-a.Apart, most)
	}
	var apart []string
	for _, x := range a.Each {
		apart = append(apart, fmt.Sprintf("%.6g", x))
	}
	return fmt.Sprintf("asking the same at all selections of a step: two candidates %s steps of 2Δ apart", strings.Join(apart, " and "))
}

// beside lists what ε in total is by accounting that knows less.
func beside(d *document.Compose) *Table {
	t, g := &Table{Head: []string{"accounting that knows", "ε in total"}}, d.Generic
	for _, row := range []struct {
		name string
		eps  number.Number
	}{{"the mechanism (this)", d.EpsTotal}, {"ε, basic", g.Basic}, {"ε, optimal (Kairouz, Oh & Viswanath)", g.KOV}, {"the range (Dong, Durfee & Rogers)", g.Range}, {"tight ρ of zCDP", g.ZCDP}} {
		if row.eps.IsValid() {
			t.add(row.name, wording(bothEnds(row.eps)))
		}
	}
	return t
}

// ranking lists mechanisms, each at its largest ε.
func ranking(d *document.Compose) *Table {
	t := &Table{Head: []string{"mechanism", "largest ε of a selection"}}
	if d.N > 0 {
		t.Head = append(t.Head, fmt.Sprintf("mean error at n = %d, k = %d (steps of 2Δ)", d.N, d.K))
	}
	for _, m := range d.Mechanisms {
		row := []any{m.Name, m.Parameter}
		if d.N > 0 {
			row = append(row, m.Error)
		}
		t.add(row...)
	}
	return t
}

// bothEnds shows both ends of a number where a short decimal between them would look exact.
func bothEnds(n number.Number) string {
	text := n.String()
	if decimal.Settled(text, readable) == text {
		return text
	}
	lower, upper, _ := n.Strings()
	return "[" + lower + ", " + upper + "]"
}
