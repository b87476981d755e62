package report

import (
	"cmp"
	"fmt"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/mechanisms"
	"optratio/verify/certificate"
)

// mostCompared is the number of mechanisms that are compared in a picture.
const mostCompared = 8

// ofRecommend says which mechanism to take.
func ofRecommend(d *recommend.Recommendation, c Context) *Page {
	title := "Which mechanism for these scores?"
	if q, ok := c.Question.(*job.Recommend); ok {
		title = fmt.Sprintf("scores %s, sensitivities %s, %s", q.Scores, cmp.Or(q.Sensitivities, q.Sensitivity), q.Epsilon)
	}
	p := &Page{Title: title, Tone: "good", Word: "Recommended: " + cmp.Or(d.Recommended, "none"), untitled: true}
	if d.Undecided != "" || d.Recommended == "" {
		p.Tone = "open"
	}
	what := cmp.Or(d.Recommended, "none")
	if m, err := mechanisms.Lookup(d.Recommended); err == nil && m.Info().Summary != "" {
		what += ", " + m.Info().Summary
		p.aside("%s.", capital(m.Info().Summary))
	}
	p.aside("note: %s", d.Warning)
	lists, says := [3][]recommend.Rated{2: d.NotPrivate}, [3]string{
		1: "these claim ε-DP, which is not proved here (optratio verify asks):", 2: "not ε-DP for all sensitivities, for comparison only:",
	}
	for _, m := range d.Mechanisms {
		at := job.Choose(m.Declared, 1, 0)
		lists[at] = append(lists[at], m)
	}
	for i, list := range lists {
		t := &Table{Head: []string{"mechanism", "expected error (in units of the scores)", "mean squared error (in squared units)"}}
		for _, m := range list {
			t.add(m.Name, m.ExpectedError, m.MSE)
		}
		if len(list) > 0 {
			b := Block{Title: "Errors", Table: t}
			if i > 0 {
				b.Title, b.Lines = "", []string{says[i]}
			}
			drawn := Table{Rows: t.Rows[:min(mostCompared, len(list))]}
			b.Figure = drawn.pictured("The "+d.By()+" in units of the scores, the least first.", "", named(0), job.Choose(d.Criterion == recommend.MSE, 2, 1))
			p.add(b)
		}
	}
	p.add(Block{Lines: prefixed("no answer from ", d.Unanswered), joined: true})
	p.add(c.Curve.section()...)
	h := d.Heuristics
	p.add(Block{Title: "What predicts it"})
	p.say("recommended, by %s: %s", d.By(), what)
	if h.Pearson.IsValid() { // scores and sensitivities both differ
		p.say("correlation of scores and sensitivities: Spearman %s, Pearson %s, bucket-weighted %s", h.Spearman, h.Pearson, h.BucketCorrelation)
		p.say("bounds on the error that hold with probability 1-β: gem %s%s, noisy max %s",
			h.Bounds.GEM, job.Choose(h.Bounds.GEMVacuous, " (more than the scores differ by, so it says nothing)", ""), h.Bounds.RNM)
	}
	p.add(Block{Lines: []string{"note: " + d.Warning}, joined: true, in: terminal})
	return p
}

// prefixed puts words before each line.
func prefixed(words string, lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, words+line)
	}
	return out
}

// ofCheck says whether a certificate is valid, and of what.
func ofCheck(d *document.Check) *Page {
	p := &Page{Title: "Is the certificate valid?", Tone: "bad", Word: "No: the certificate is not valid", untitled: true}
	switch {
	case d.Undecided != "":
		p.Tone, p.Word = "open", "Undecided: "+d.Undecided
	case d.Valid:
		p.Tone, p.Word = "good", "Yes: every claim in it follows from the values that it holds"
	default:
		p.aside("reason: %s", d.Reason)
	}
	if q := d.Problem; q != nil && q.Kind == "compose" {
		p.say("%s: %s; proof: %s", q.Kind, q.About, q.Proof)
	} else if q != nil && q.About != "" {
		p.say("%s: %s, %s", q.Kind, q.About, epsilonOf(q))
	} else if q != nil {
		step := ""
		if q.Step > 1 {
			step = fmt.Sprintf(", scores 2Δ/%d apart", q.Step)
		}
		if q.Top > 1 {
			step += fmt.Sprintf(", top %d", q.Top)
		}
		if q.Delta != nil {
			step += ", δ = " + fraction(*q.Delta)
		}
		size := fmt.Sprintf("n = %d, k = %d", q.N, q.K)
		if q.N == 0 {
			size = "every n, a range of k"
		}
		p.say("%s, %s%s; proof: %s", size, epsilonOf(q), step, q.Proof)
		p.say("error: %s", meaning(q.Objective, q.Constraints))
	}
	claims := Block{Title: "What it claims", Table: &Table{Head: []string{"claim", "value", "follows"}}, in: browser}
	for _, q := range d.Claims {
		claims.Table.add(q.On, q.Value, q.Follows)
	}
	if d.Valid {
		p.add(Block{Lines: []string{"valid: every claim follows from the values in the file"}, joined: true, in: terminal})
		if d.Proves != "" {
			p.say("proved: %s", d.Proves)
		}
		claims.in, claims.joined, claims.Table.headless = everywhere, true, true
		for i, row := range claims.Table.Rows {
			claims.Table.Rows[i] = row[:2]
		}
		claims.Table.Head = claims.Table.Head[:2]
	}
	if len(d.Claims) > 0 {
		p.add(claims)
	}
	p.add(assumed("The checker enumerates the problem itself, from the parameters in the file, and shares no code with the solvers."))
	return p
}

// epsilonOf says at which ε a certificate's problem is.
func epsilonOf(p *certificate.Problem) string {
	switch _, rational := p.Eps.Rat(); {
	case rational:
		return "ε = " + p.Eps.String()
	case !p.ExpEps.IsValid():
		return "a range of z = e^-ε"
	}
	return "e^ε = " + fraction(p.ExpEps)
}
