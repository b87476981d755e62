package report

import (
	"fmt"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

// rules is the document of a stopping job.
type rules document.Stopping

func ofStopping(d *rules) *Page {
	p := &Page{Title: fmt.Sprintf("Choosing one of n = %d candidates as they arrive, %s, δ = %s, l = %d", d.N, given(d.AtEpsilon), d.Delta, d.L)}
	p.Tone = "good"
	what := job.Choose(d.Win == 1, "the best candidate", fmt.Sprintf("one of the best %d", d.Win))
	if p.Word = fmt.Sprintf("This rule takes %s with probability %s", what, show(d.Success)); d.BestRule != nil {
		p.Word = fmt.Sprintf("The best private rule takes %s with probability %s", what, show(d.Optimum))
		p.say("The best mixture of the secretary rule with a random choice reaches %s; the best private rule is %s times as good.", show(d.PMixBest.Success), show(d.Ratio))
	}
	tight := ""
	if d.TightDelta != nil {
		tight = fmt.Sprintf(", or δ = %s at the given ε", show(*d.TightDelta))
	}
	p.say("The optimal rule without privacy, followed with probability %s, takes %s with probability %s. Its smallest ε is %s%s.", d.P, what, show(d.Success), show(d.TightEps), tight)
	p.ended(d.Undecided)
	p.Sections = append(p.Sections, d.outcomes(), assumed(
		"The order of the candidates' quality is the secret; they arrive in a uniformly random order, and only their ranks among those seen so far are known.",
		fmt.Sprintf("Two orders are neighbors if exchanging two candidates, of ranks at most %d apart, turns one into the other.", d.L),
		"Probabilities are exact rationals or enclosures in outward-rounded arithmetic; digits before … are certain.",
	))
	return p
}

// shownRanks is how many ranks a picture has.
const shownRanks = 12

// outcomes draws the probabilities of taking the k-th best.
func (d *rules) outcomes() Section {
	laws := []struct {
		class, name string
		law         []number.Number
	}{{"one", "the optimal rule without privacy", d.Outcome}, {"two", "the best private rule", nil}}
	if d.BestRule != nil {
		laws[1].law = d.OptimalOutcome
	}
	var groups []group
	table := &Table{Head: []string{"rank", laws[0].name}}
	if laws[1].law != nil {
		table.Head = append(table.Head, laws[1].name)
	}
	for k := range min(len(d.Outcome), shownRanks) {
		g := group{heading: fmt.Sprintf("rank %d", k+1)}
		row := []string{fmt.Sprint(k + 1)}
		for _, l := range laws {
			if k < len(l.law) {
				g.bars = append(g.bars, bar{class: l.class, value: l.law[k].Float64(), number: show(l.law[k])})
				row = append(row, l.law[k].String())
			}
		}
		groups, table.Rows = append(groups, g), append(table.Rows, row)
	}
	caption := "Probability of taking the candidate of each rank, rank 1 being the best. First bars: " + laws[0].name + job.Choose(d.P == "1", "", ", mixed with probability "+d.P) + "."
	if laws[1].law != nil {
		caption += " Second bars: " + laws[1].name + "."
	}
	if len(d.Outcome) > shownRanks {
		caption += fmt.Sprintf(" The first %d of %d ranks are shown.", shownRanks, len(d.Outcome))
	}
	return Section{Title: "Which candidate is taken", Figure: &Figure{SVG: bars(groups, caption), Caption: caption, Table: table}}
}
