package report

import (
	"fmt"
	"strconv"
	"strings"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/secretary"
	"optratio/number"
)

// shownRanks is how many ranks a table for people, and a picture, have.
const shownRanks = 12

// ofStopping says how good, and how private, rules are that choose a candidate as they arrive.
func ofStopping(d *document.Stopping) *Page {
	eps := ""
	if said := d.Said(); said != "" {
		eps = ", " + said
	}
	p := &Page{Title: fmt.Sprintf("n = %d, l = %d%s, δ = %s", d.N, d.L, eps, d.Delta), Tone: "good"}
	taken := job.Choose(d.Win == 1, "takes the best", fmt.Sprintf("takes one of the best %d", d.Win))
	rule := "the secretary rule"
	if d.Threshold > 0 {
		rule = fmt.Sprintf("the secretary rule (pass %d, then take the next best so far)", d.Threshold-1)
	}
	if d.P != "1" {
		rule = fmt.Sprintf("the p-mix, p = %s, of %s and the blind choice", d.P, rule)
	}
	p.Word = fmt.Sprintf("This rule %s with probability %s", taken, d.Success)
	after := p.say
	if b := d.BestRule; b != nil {
		p.conclude("the best private rule %s with probability %s", taken, b.Optimum)
		p.say("best p-mix of the secretary rule: %s, p = %s; the best private rule is %s times as good", b.PMixBest.Success, b.PMixBest.P, b.Ratio)
		if m := b.WinMixBest; m != nil {
			p.say("best p-mix of the best rule without privacy for one of the best %d: %s, p = %s", d.Win, m.Success, m.P)
		}
		after = p.begin
	}
	after("%s %s with probability %s", rule, taken, d.Success)
	private := fmt.Sprintf("it is private for this δ from ε = %s on", d.TightEps)
	if d.TightDelta != nil {
		private += fmt.Sprintf(", for this ε from δ = %s on", d.TightDelta)
	}
	p.say("%s", private)
	p.ended(d.Undecided)
	p.add(outcomes(d))
	if d.BestRule != nil && len(d.Rule) > 0 {
		t := &Table{Head: []string{"time", "reached", "take relative ranks (with probability)"}}
		for _, r := range d.Rule {
			t.add(r.Time, plainly(r.Reach), takes(r.Take))
		}
		p.add(Block{Title: "The best private rule", Table: t})
	}
	p.add(assumed(
		"The order of the candidates' quality is the secret; they arrive in a uniformly random order, and only their ranks among those seen so far are known.",
		fmt.Sprintf("Two orders are neighbors if exchanging two candidates, of ranks at most %d apart, turns one into the other.", d.L),
		"Probabilities are exact rationals or enclosures in outward-rounded arithmetic; digits before … are certain.",
	))
	return p
}

// outcomes says the probabilities of taking the k-th best.
func outcomes(d *document.Stopping) Block {
	table := &Table{Head: []string{"rank (1 is the best)", job.Choose(d.P == "1", "secretary rule", "p-mix")}}
	columns, ranks := []int{1}, min(shownRanks, len(d.Outcome))
	if d.BestRule != nil && len(d.OptimalOutcome) >= ranks {
		table.Head, columns = append(table.Head, "best private rule"), []int{1, 2}
	}
	for k := range ranks {
		table.add(k+1, d.Outcome[k])
		if len(columns) == 2 {
			table.Rows[k] = append(table.Rows[k], d.OptimalOutcome[k])
		}
	}
	figure := table.pictured("Probability of taking the candidate of each rank, rank 1 being the best.", "", func(row []any) string { return fmt.Sprintf("rank %d", row[0]) }, columns...)
	if len(d.Outcome) > shownRanks {
		table.add("…", fmt.Sprintf("(--json has all %d)", d.N))
	}
	return Block{Title: "Which candidate is taken", Table: table, Figure: figure}
}

// plainly is a probability for a table where its digits do not matter.
func plainly(x number.Number) string { return fmt.Sprintf("%.6f", x.Float64()) }

func takes(list []secretary.Take) string {
	var parts []string
	for _, t := range list {
		part := strconv.Itoa(t.From)
		if t.To > t.From {
			part += "-" + strconv.Itoa(t.To)
		}
		if r, exact := t.Stop.Rat(); !exact || !r.IsInt() {
			part += " (" + plainly(t.Stop) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
