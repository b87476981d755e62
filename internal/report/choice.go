package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/recommend"
)

// mostCompared is the number of mechanisms that are compared in a picture.
const mostCompared = 8

// ofRecommend makes the page of a recommendation.
func ofRecommend(d *recommend.Recommendation, c Context) *Page {
	p := &Page{Title: "Which mechanism for these scores?", Tone: "good", Word: "Recommended: " + cmp.Or(d.Recommended, "none")}
	if d.Undecided != "" || d.Recommended == "" {
		p.Tone = "open"
	}
	if len(d.Mechanisms) > 0 {
		best := d.Mechanisms[0]
		p.Sentences = append(p.Sentences, fmt.Sprintf("On these scores %s has the least mean squared error, %s; its expected error is %s.", best.Name, show(best.MSE), show(best.ExpectedError)))
	}
	p.Sentences = append(p.Sentences, strings.ToUpper(d.Warning[:min(1, len(d.Warning))])+d.Warning[min(1, len(d.Warning)):]+".")
	var groups []group
	table := &Table{Head: []string{"mechanism", "mean squared error", "expected error"}}
	for _, list := range [][]recommend.Rated{d.Mechanisms, d.NotPrivate} {
		for _, m := range list {
			name := m.Name + job.Choose(m.Private, "", ", not ε-DP")
			if len(groups) < mostCompared {
				groups = append(groups, single(name, job.Choose(m.Private, "one", "two"), m.ExpectedError))
			}
			table.Rows = append(table.Rows, []string{name, m.MSE.String(), m.ExpectedError.String()})
		}
	}
	p.Sections = []Section{{Title: "Expected errors", Table: table, Figure: &Figure{
		SVG: bars(groups, "Bars of the expected errors in the table below."), Caption: "Of those with the least mean squared error, best first, in units of the scores. Digits before … are certain.",
	}}}
	if c.Curve != nil {
		p.Sections = append(p.Sections, c.Curve.section())
	}
	h := d.Heuristics
	p.Sections = append(p.Sections, Section{Title: "What predicts it", Items: append([]string{
		fmt.Sprintf("Correlation of scores and sensitivities: Spearman %s, Pearson %s, bucket-weighted %s.", show(h.Spearman), show(h.Pearson), show(h.BucketCorrelation)),
		fmt.Sprintf("Utility bounds: gem %s, noisy max %s.", show(h.Bounds.GEM), show(h.Bounds.RNM)),
	}, d.Unanswered...)})
	return p
}

// ofCheck makes the page of a checked certificate.
func ofCheck(d *document.Check) *Page {
	p := &Page{Title: "Is the certificate valid?", Tone: "bad", Word: "No: the certificate is not valid"}
	switch {
	case d.Undecided != "":
		p.Tone, p.Word = "open", "Undecided: "+d.Undecided
	case d.Valid:
		p.Tone, p.Word = "good", "Yes: every claim in it follows from the values that it holds"
	default:
		p.Sentences = append(p.Sentences, "Reason: "+d.Reason+".")
	}
	if q := d.Problem; q != nil {
		about := q.About
		if about == "" {
			about = fmt.Sprintf("n = %d candidates, depth k = %d, objective %s, constraints %s, proof %s", q.N, q.K, q.Objective, q.Constraints, q.Proof)
			if q.Step > 1 {
				about += fmt.Sprintf(", scores 2Δ/%d apart", q.Step)
			}
			if q.Delta != nil {
				about += ", δ = " + told(*q.Delta)
			}
		}
		switch _, rational := q.Eps.Rat(); {
		case rational:
			about += ", at ε = " + q.Eps.String()
		case q.ExpEps.IsValid():
			about += ", at e^ε = " + told(q.ExpEps)
		}
		p.Sentences = append(p.Sentences, "It is about "+about+".")
	}
	if d.Proves != "" {
		p.Sentences = append(p.Sentences, "Proved: "+d.Proves+".")
	}
	if len(d.Claims) > 0 {
		table := &Table{Head: []string{"claim", "value", "follows"}}
		for _, c := range d.Claims {
			table.Rows = append(table.Rows, []string{c.On, c.Value.String(), strconv.FormatBool(c.Follows)})
		}
		p.Sections = append(p.Sections, Section{Title: "What it claims", Table: table})
	}
	p.Sections = append(p.Sections, Section{Title: "What is proved, and what is assumed", Items: []string{
		"The checker enumerates the problem itself, from the parameters in the file, and shares no code with the solvers.",
	}})
	return p
}
