package report

import (
	"cmp"
	"fmt"
	"slices"

	"optratio/internal/document"
	"optratio/internal/inquiry"
	"optratio/internal/job"
)

// ofEvaluate says which errors mechanisms have that select from a histogram, or on scores, at each ε.
func ofEvaluate(all []*document.Evaluate) *Page {
	d := all[0]
	what := fmt.Sprintf("%d candidates with %d different scores", d.Bins, d.Classes)
	if d.Items != nil {
		what = fmt.Sprintf("%d bins with %d items and %d different scores", d.Bins, *d.Items, d.Classes)
	}
	p := &Page{
		Title: fmt.Sprintf("task %s, %s, Δ = %s%s", d.Task, what, d.Sensitivity, job.Choose(d.Monotonic, ", monotonic scores", "")),
		Tone:  "good", Word: "Errors of the mechanisms on this histogram",
	}
	if d.Ratio.IsValid() {
		p.Word = fmt.Sprintf("The exponential mechanism's expected error is %s times permute-and-flip's", d.Ratio)
	}
	p.ended(d.Undecided)
	if symbol, _ := d.Given(); symbol != "" {
		oneWay := slices.ContainsFunc(d.Mechanisms, func(m document.Evaluated) bool { return m.OneWayError != nil })
		table := &Table{Head: []string{symbol, "mechanism", "expected error (" + d.Unit + ")", "times pf's", "ε for pf's error"}}
		if oneWay {
			table.Head = append(table.Head, "error with --monotonic-scores")
		}
		for _, d := range all {
			_, eps := d.Given()
			for _, m := range d.Mechanisms {
				row := []any{eps, m.Name, m.ExpectedError, m.Ratio, m.EquivalentEps}
				if m.OneWayError != nil {
					row = append(row, m.OneWayError)
				}
				table.add(row...)
			}
		}
		p.add(Block{Title: "Expected errors", Table: table, Figure: table.pictured("The score of the best choice less that of the one taken, in the mean, in "+d.Unit+".", "", named(1), 2)})
		if oneWay {
			p.begin("scores of counts are monotonic where neighbors add or remove an item: --monotonic-scores then gives the errors of the last column, at the same ε")
		}
	}
	if d.TargetError != nil {
		table := &Table{Head: []string{"mechanism", fmt.Sprintf("ε for the error %s (%s)", *d.TargetError, d.Unit)}}
		for _, m := range d.Mechanisms {
			table.add(m.Name, m.TargetEps)
		}
		p.add(Block{Title: "ε for an error", Table: table})
	}
	p.add(assumed("Errors are enclosures in outward-rounded arithmetic on exactly these counts.", "They are themselves computed from private data: publishing them is not private."))
	return p
}

// ofPMF says the probabilities of one or more mechanisms on the same scores, a column for each.
func ofPMF(all []*document.PMF, c Context) *Page {
	q := c.Question.(*job.PMF)
	p := &Page{Title: "Probabilities on the scores " + q.Scores + ", " + given(all[0].AtEpsilon), Tone: "good", untitled: true}
	scores := q.Vector
	table := &Table{Head: []string{"candidate (from 0)", "score"}}
	errors := &Table{Head: []string{"", ""}, Rows: [][]any{{"expected error, in units of the scores", ""}, {"mean squared error, in their squares", ""}}, headless: true}
	rows, columns := 0, []int{}
	for i, d := range all {
		p.Word += job.Choose(i > 0, ", ", "") + fmt.Sprintf("%s: expected error %s", d.Mechanism, d.ExpectedError)
		table.Head = append(table.Head, job.Choose(len(all) == 1, "probability", d.Mechanism))
		errors.Head = append(errors.Head, d.Mechanism)
		errors.Rows[0], errors.Rows[1] = append(errors.Rows[0], d.ExpectedError), append(errors.Rows[1], d.MSE)
		rows, columns = max(rows, min(job.MostRows, len(d.PMF))), append(columns, 2+i)
	}
	for i := range rows {
		row := []any{i, inquiry.ScoreText(scores[i])}
		for _, d := range all {
			if i < len(d.PMF) {
				row = append(row, d.PMF[i])
			} else {
				row = append(row, "-") // nothing is known of so many
			}
		}
		table.add(row...)
	}
	figure := table.pictured("Probabilities of the candidates.", "", func(row []any) string { return fmt.Sprintf("candidate %d, score %s", row[0], row[1]) }, columns...)
	if slices.ContainsFunc(all, func(d *document.PMF) bool { return len(d.PMF) > job.MostRows }) {
		table.add("…", fmt.Sprintf("(--json has all %d)", len(scores)))
	}
	p.add(Block{Title: "Probabilities", Table: table, Figure: figure}, Block{Title: "Errors", Table: errors})
	return p
}

// ofCalibration says the largest parameter at which a mechanism is private.
func ofCalibration(d *document.Calibration, c Context) *Page {
	q := c.Question.(*job.Calibrate)
	p := &Page{
		Title: fmt.Sprintf("%s, target %s, on %s", d.Mechanism, job.Choose(q.Rho != "", q.Rho+"-zCDP", "ε-DP with "+q.Epsilon.String()), d.Domain),
		Tone:  "good", Word: "The largest parameter is " + d.Parameter.String(),
	}
	switch theorem := d.Proof == "theorem"; {
	case theorem && q.Rho != "":
		p.say("parameter ε' = %s: by theorem the target is met for all scores at the lower end, and missed at the upper end", d.Parameter)
		return p
	case theorem:
		p.say("parameter ε' = %s: by theorem the target is met there then, and at no larger parameter", d.Parameter)
	default:
		p.say("parameter ε' = %s, from %d parameters that were decided", d.Parameter, d.Tried)
		p.say("at the lower end the target is met on this domain; other scores were not looked at")
		if d.Attained != nil {
			p.say("closest to missing it there: %s", d.Attained)
		}
		if d.Violated != nil {
			p.say("at the upper end it is missed at %s", d.Violated)
		}
		if cmp.Or(d.Attained, d.Violated) != nil {
			p.say("%s", units(&q.Domain))
		}
	}
	if d.AllScores.IsValid() {
		p.say("for all real scores: parameter ε' = %s, by theorem", d.AllScores)
	}
	return p
}
