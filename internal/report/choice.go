package report

import (
	"cmp"
	"fmt"
	"slices"
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
		p.say("On these scores %s has the least %s. Its expected error is %s, its mean squared error %s.", best.Name, d.By(), show(best.ExpectedError), show(best.MSE))
	}
	p.say("%s.", strings.ToUpper(d.Warning[:min(1, len(d.Warning))])+d.Warning[min(1, len(d.Warning)):])
	var rows []measured
	for _, m := range slices.Concat(d.Mechanisms, d.NotPrivate) {
		row := measured{name: m.Name + job.Choose(m.Private, "", ", not ε-DP"), value: job.Choose(d.Criterion == recommend.MSE, m.MSE, m.ExpectedError), cells: []string{m.ExpectedError.String(), m.MSE.String()}}
		if len(rows) < mostCompared {
			row.class = job.Choose(m.Private, "one", "two")
		}
		rows = append(rows, row)
	}
	p.Sections = []Section{measures("Errors", "The "+d.By()+" in units of the scores, the least first.", []string{"mechanism", "expected error", "mean squared error"}, rows)}
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
		p.say("Reason: %s.", d.Reason)
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
		p.say("It is about %s.", about)
	}
	if d.Proves != "" {
		p.say("Proved: %s.", d.Proves)
	}
	if len(d.Claims) > 0 {
		table := &Table{Head: []string{"claim", "value", "follows"}}
		for _, c := range d.Claims {
			table.Rows = append(table.Rows, []string{c.On, c.Value.String(), strconv.FormatBool(c.Follows)})
		}
		p.Sections = append(p.Sections, Section{Title: "What it claims", Table: table})
	}
	p.Sections = append(p.Sections, assumed("The checker enumerates the problem itself, from the parameters in the file, and shares no code with the solvers."))
	return p
}
