package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

// pictures are the sections of what was violated, and of what was found beside it.
func (v Verdicts) pictures(c Context) (all []Block) {
	for _, r := range v.Properties {
		if r.Witness != nil && r.Verdict == verify.Violated {
			all = append(all, v.drawn(&r, r.Witness, "Where "+long(r.Name)+" fails"))
		}
	}
	if claim := v.claim(); claim != nil && claim.Attained != nil && claim.Witness == nil && !claim.Stopped && (!claim.TightEps.IsValid() || inquiry.Says(claim.TightEps)) {
		all = append(all, v.drawn(claim, claim.Attained, "Where it is closest to the limit"))
	}
	if len(v.History) > 1 {
		all = append(all, v.course())
	}
	return append(all, c.Curve.section()...)
}

// place is what was asked about.
func place(scores []*big.Rat, input json.RawMessage) string {
	if input != nil {
		return "input " + inquiry.InputText(input)
	}
	return "scores " + vector(scores)
}

func vector(scores []*big.Rat) string {
	return strings.ReplaceAll(inquiry.ScoresText(scores), "-", "−")
}

// here and there are the two places of a witness.
func here(w *verify.Witness) string  { return place(w.Scores, w.Input) }
func there(w *verify.Witness) string { return place(w.Neighbor, w.NeighborInput) }

// compared reports whether there is a neighbor, with a probability.
func compared(w *verify.Witness) bool {
	return w.PNeighbor.IsValid() && (w.Neighbor != nil || w.NeighborInput != nil)
}

// event names what the probabilities are of.
func event(w *verify.Witness) string {
	switch {
	case len(w.Candidates) > 0:
		return job.Choose(len(w.Candidates) == 1, "candidate ", "one of the candidates ") + strings.Trim(strings.ReplaceAll(fmt.Sprint(w.Candidates), " ", ", "), "[]")
	case w.Event != "":
		return w.Event
	case w.Candidate != nil:
		return fmt.Sprintf("candidate %d", *w.Candidate)
	}
	return "the event"
}

// probability writes a probability, with the counts behind it where it is a frequency.
func probability(p number.Number) string {
	return told(p) + job.Choose(p.Method() != "", " ("+p.Method()+")", "")
}

// story tells a violation of ε-DP.
func (v Verdicts) story(w *verify.Witness) string {
	if !compared(w) {
		return ""
	}
	text := fmt.Sprintf("On %s it picks %s with probability %s. One person's data can change the scores to %s, and there the probability is %s.",
		here(w), event(w), probability(w.P), vector(w.Neighbor), probability(w.PNeighbor))
	if w.Input != nil {
		text = fmt.Sprintf("On %s the output is %s with probability %s. Its neighbor is %s, and there the probability is %s.",
			here(w), event(w), probability(w.P), there(w), probability(w.PNeighbor))
	}
	if times, ok := quotient(w.P, w.PNeighbor); ok {
		allowed := strconv.FormatFloat(v.factor(w), 'g', readable, 64)
		if w.Distance != nil {
			allowed += fmt.Sprintf(", ε times the distance %s of the two", show(number.Exact(w.Distance)))
		}
		text += fmt.Sprintf(" That is %s times less; ε-DP allows at most e^ε times, here %s.", show(times), allowed)
	} else if hi, ok := w.PNeighbor.Upper(); ok && hi.Sign() == 0 {
		text += " What can happen on one side and never on the other tells them apart: no ε suffices."
	}
	return text
}

// quotient returns p/q, and whether it is known to be finite.
func quotient(p, q number.Number) (number.Number, bool) {
	x := p.Over(q)
	_, bounded := x.Upper()
	return x, bounded || x.IsValid() && !x.IsRigorous()
}

// factor is by how much the probabilities of a witness may differ: e^ε, or e^{dε} at the distance d.
func (v Verdicts) factor(w *verify.Witness) float64 {
	eps := v.Claimed.Float64()
	if w.Distance != nil {
		distance, _ := w.Distance.Float64()
		eps *= distance
	}
	return math.Exp(eps)
}

// drawn is the section of a witness.
func (v Verdicts) drawn(r *verify.Result, w *verify.Witness, title string) Block {
	s := Block{Title: title, in: browser}
	if r.Name != verify.DP || r.Verdict != verify.Violated {
		s.Lines = append(s.Lines, w.String())
	}
	if !compared(w) {
		return s
	}
	table, marked := &Table{Head: []string{"outcome", "probability on " + bare(here(w)), "probability on " + bare(there(w))}}, 0
	if len(w.PMFs[0]) == len(w.PMFs[1]) && len(w.PMFs[0]) > 0 && w.Candidate != nil {
		for i, p := range w.PMFs[0] {
			name := fmt.Sprintf("candidate %d", i)
			if i < len(w.Scores) && i < len(w.Neighbor) {
				name += strings.ReplaceAll(fmt.Sprintf(", score %s → %s", inquiry.ScoreText(w.Scores[i]), inquiry.ScoreText(w.Neighbor[i])), "-", "−")
			}
			table.add(name, p, w.PMFs[1][i])
		}
		marked = *w.Candidate
	} else {
		table.add(event(w), w.P, w.PNeighbor)
	}
	neighboring := "the neighboring "
	if slices.Contains([]verify.Property{verify.Symmetry, verify.Shift, verify.Monotone}, r.Name) {
		neighboring = ""
	}
	caption := fmt.Sprintf("Upper bars: probabilities on %s. Lower bars: on %s%s.", here(w), neighboring, there(w))
	groups, factor := table.groups("", named(0), 1, 2), v.factor(w)
	for i := range groups {
		upper, lower := &groups[i].bars[0], &groups[i].bars[1]
		if upper.label, lower.label = "", ""; r.Name == verify.DP {
			lower.band = &[2]float64{upper.value / factor, math.Min(1, upper.value*factor)}
		}
	}
	if r.Name == verify.DP {
		caption += " The dashed frame is where the lower bar would end if this were ε-DP at the claimed ε: between e^-ε and e^ε times the upper one."
	}
	violated := r.Verdict == verify.Violated
	groups[marked].marked, groups[marked].bad = job.Choose(violated, "violated", "closest to the limit"), violated
	s.Figure = func() *Figure {
		return &Figure{SVG: bars(groups, caption+" "+w.String()), Caption: caption, Table: table}
	}
	return s
}

// bare is a place without the word for what it is.
func bare(place string) string {
	_, text, _ := strings.Cut(place, " ")
	return text
}

// course draws how the lower bound grew with the samples.
func (v Verdicts) course() Block {
	line := curve{name: "lower bound on ε"}
	table := &Table{Head: []string{"samples", "ε at least"}}
	for _, h := range v.History {
		line.to(float64(h.Samples), h.Eps.Float64())
		table.add(decimal.Grouped(h.Samples, ","), h.Eps)
	}
	last := v.History[len(v.History)-1]
	line.to(float64(v.Samples), last.Eps.Float64())
	c := chart{curves: []curve{line}, xTitle: "samples", yTitle: "ε", logX: true, steps: true, level: mark{v.Claimed.Float64(), "claimed"}}
	return Block{Title: "What the samples showed, and when", in: browser, Figure: c.figure(
		fmt.Sprintf("The lower bound on ε over the number of samples; it ends at %s after %s samples.", show(last.Eps), decimal.Grouped(last.Samples, ",")),
		"The bound holds with the stated confidence at every number of samples at once, so that an audit may be stopped at any time.", table,
	)}
}
