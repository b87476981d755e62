package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

// readable is how many digits of a number a sentence and a picture show.
const readable = 6

func show(n number.Number) string { return decimal.Settled(n.Format(readable), readable) }

// verdicts is the report of a verify or audit job, of which a page is drawn.
type verdicts struct{ *audit.Report }

func ofVerdicts(r *audit.Report, c Context) *Page {
	d := verdicts{r}
	p := &Page{Title: fmt.Sprintf("Is %s %s?", d.Mechanism, d.private())}
	p.Tone, p.Word = d.headline()
	p.Sentences = d.sentences()
	dp := d.Find(verify.DP)
	for _, property := range d.Properties {
		if property.Witness != nil && property.Verdict == verify.Violated {
			p.Sections = append(p.Sections, d.drawn(&property, property.Witness, "Where "+longName[property.Name]+" fails"))
		}
	}
	if claim := d.claim(); claim != nil && claim.Attained != nil && claim.Witness == nil && !claim.Stopped && (!claim.TightEps.IsValid() || inquiry.Says(claim.TightEps)) {
		p.Sections = append(p.Sections, d.drawn(claim, claim.Attained, "Where it is closest to the limit"))
	}
	p.Sections = append(p.Sections, d.tight(dp)...)
	if len(d.History) > 1 {
		p.Sections = append(p.Sections, d.course())
	}
	if c.Curve != nil {
		p.Sections = append(p.Sections, c.Curve.section())
	}
	rows := [][]string{}
	for _, r := range d.Properties {
		remark := r.Reason
		if r.Name == audit.Answers && len(d.Findings) > 0 {
			remark = "see below"
		}
		if inquiry.Says(r.TightEps) {
			remark = strings.TrimPrefix(remark+"; "+bound(&r, "ε", r.TightEps), "; ")
		}
		if r.TightDelta.IsValid() {
			remark = strings.TrimPrefix(remark+"; "+bound(&r, "δ", r.TightDelta), "; ")
		}
		rows = append(rows, []string{longName[r.Name] + job.Choose(r.Fact, " (not asked for)", ""), inquiry.Word(r.Fact, string(r.Verdict)), grouped(r.Checked), remark})
	}
	p.Sections = append(p.Sections, Section{
		Title: "All properties", Text: d.examined(),
		Table: &Table{Head: []string{"property", "verdict", "checked", "remark"}, Rows: rows},
	})
	if len(d.Findings) > 0 {
		var items []string
		for _, f := range d.Findings {
			items = append(items, fmt.Sprintf("%s on %s, %s times: %s", f.Event, place(f.Scores, f.Input), grouped(f.Times), f.Detail))
		}
		p.Sections = append(p.Sections, Section{Title: "Answers that are no probabilities", Items: items})
	}
	p.Sections = append(p.Sections, assumed(d.assumed()...))
	return p
}

// claim is the property that is the claim: ε-DP, or (ε,δ)-DP where that alone was asked for; nil where neither was.
func (d verdicts) claim() *verify.Result {
	return cmp.Or(d.Find(verify.DP), d.Find(verify.ApproximateDP))
}

// after says after how many comparisons a check was stopped.
func after(r *verify.Result) string {
	if r.Total == 0 {
		return fmt.Sprintf("after %s comparisons", grouped(r.Checked))
	}
	return fmt.Sprintf("after %s of %s comparisons", grouped(r.Checked), grouped(r.Total))
}

// bound writes a tight parameter, or the lower bound on it that was found until the check was stopped.
func bound(r *verify.Result, symbol string, x number.Number) string {
	if lo, ok := x.Lower(); ok && r.Stopped && !x.IsInf() {
		return fmt.Sprintf("%s at least %s, %s", symbol, show(number.Exact(lo)), after(r))
	}
	return "tight " + symbol + " " + x.String()
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

// examined names the domain, and explains its words.
func (d verdicts) examined() []string {
	text := []string{"Examined: " + d.Domain + "."}
	for _, word := range [][2]string{
		{"linf neighbors", "“linf neighbors” of a score vector are all in which every score is at most the sensitivity higher or lower."},
		{"monotonic neighbors", "“monotonic neighbors” of a score vector are all in which every score is at most the sensitivity higher, or every score at most that much lower."},
		{"side set", "The “side set” has further score vectors, with ties, wide gaps and fractions, on which implementations often fail."},
	} {
		if strings.Contains(d.Domain, word[0]) {
			text = append(text, word[1])
		}
	}
	return text
}

// longName says what a property is, for who never saw its name.
var longName = map[verify.Property]string{
	"dp": "ε-DP", "approximate-dp": "(ε,δ)-DP", "symmetry": "symmetry", "shift": "shift-invariance", "monotone": "monotonicity", "sum": "probabilities that sum to 1",
	"dominates-em": "being never worse than the exponential mechanism", "dominates-em-mean": "a mean error at most the exponential mechanism's",
	"bounded-range": "bounded range", "zcdp": "zero-concentrated DP", "rdp": "Rényi DP", "independence": "independence of the samples",
	"answers": "answers to every question", "against": "agreement with the named mechanism",
}

func (d verdicts) sampled() bool { return d.Confidence != nil }

// private names the claim.
func (d verdicts) private() string {
	if claim := d.claim(); claim != nil && claim.Name == verify.ApproximateDP {
		delta := number.Int(0)
		if claim.Target.IsValid() {
			delta = claim.Target
		}
		return fmt.Sprintf("(ε,δ)-DP at ε = %s and δ = %s", show(d.Claimed), show(delta))
	}
	if _, ok := d.Claimed.Rat(); ok {
		return show(d.Claimed) + "-DP"
	}
	return "ε-DP at ε = " + show(d.Claimed)
}

// headline sums the verdicts up.
func (d verdicts) headline() (tone, word string) {
	dp := d.claim()
	var violated, undecided []string
	for _, r := range d.Properties {
		if r.Fact {
			continue
		}
		switch r.Verdict {
		case verify.Violated:
			violated = append(violated, longName[r.Name])
		case verify.Undecided:
			undecided = append(undecided, longName[r.Name])
		}
	}
	switch {
	case slices.ContainsFunc(d.Findings, func(f audit.Finding) bool { return f.Event == "different answers" }):
		return "bad", "It is not deterministic: asked twice, it states other probabilities"
	case dp != nil && dp.Verdict == verify.Violated:
		return "bad", fmt.Sprintf("No: it is not %s", d.private())
	case len(violated) > 0 && d.sampled() && d.Find(audit.Independence) != nil && d.Find(audit.Independence).Verdict == verify.Violated:
		return "bad", "Its samples are not independent, so nothing is concluded about ε"
	case len(violated) > 0 && dp != nil && dp.Verdict == verify.Proved:
		return "bad", fmt.Sprintf("It is %s here; violated: %s", d.private(), strings.Join(violated, ", "))
	case len(violated) > 0:
		return "bad", "Fails: " + strings.Join(violated, ", ")
	case d.sampled():
		return "open", fmt.Sprintf("Samples did not refute that it is %s, which proves nothing", d.private())
	case len(undecided) > 0 && dp != nil && dp.Verdict == verify.Proved:
		return "open", fmt.Sprintf("It is %s here; undecided: %s", d.private(), strings.Join(undecided, ", "))
	case len(undecided) > 0 || len(d.Properties) == 0:
		return "open", "Undecided: " + strings.Join(undecided, ", ")
	case dp != nil:
		return "good", fmt.Sprintf("Yes: it is %s on what was examined", d.private())
	}
	return "good", "Everything that was asked holds on what was examined"
}

// sentences tell the headline's reason.
func (d verdicts) sentences() []string {
	var out []string
	dp := d.Find(verify.DP)
	if dp != nil && dp.Verdict == verify.Violated && dp.Witness != nil {
		out = append(out, d.story(dp.Witness))
	}
	if claim := d.claim(); claim != nil && claim.TightDelta.IsValid() {
		if claim.Witness != nil {
			out = append(out, plain(claim.Witness))
		}
		if lo, ok := claim.TightDelta.Lower(); claim.Stopped && ok {
			out = append(out, fmt.Sprintf("It was stopped %s: δ at ε = %s is at least %s.", after(claim), show(d.Claimed), show(number.Exact(lo))))
		} else {
			out = append(out, fmt.Sprintf("The smallest δ that holds there at ε = %s is %s.", show(d.Claimed), show(claim.TightDelta)))
		}
	}
	if d.DeltaBound.IsValid() && d.sampled() {
		out = append(out, fmt.Sprintf("From %s samples, δ at ε = %s is at least %s with confidence %s.", grouped(d.Samples), show(d.Claimed), show(d.DeltaBound), d.confidence()))
	}
	switch {
	case d.sampled() && d.LowerBound.IsValid():
		out = append(out, fmt.Sprintf("From %s samples, ε is at least %s with confidence %s; claimed: %s.",
			grouped(d.Samples), show(d.LowerBound), d.confidence(), show(d.Claimed)))
	case dp != nil && dp.TightEps.IsValid() && dp.Stopped && !dp.TightEps.IsInf():
		lo, _ := dp.TightEps.Lower()
		out = append(out, fmt.Sprintf("It was stopped %s: ε is at least %s; claimed: %s.", after(dp), show(number.Exact(lo)), show(d.Claimed)))
	case dp != nil && inquiry.Says(dp.TightEps):
		out = append(out, fmt.Sprintf("The smallest ε that holds there is %s; claimed: %s.", show(dp.TightEps), show(d.Claimed)))
	}
	return out
}

// confidence is the confidence in percent.
func (d verdicts) confidence() string {
	x, _ := d.Confidence.Float64()
	return strconv.FormatFloat(100*x, 'g', 6, 64) + " %"
}

// probability writes a probability, with the counts behind it where it is a frequency.
func probability(p number.Number) string {
	if r, ok := p.Rat(); ok {
		switch {
		case r.Sign() == 0:
			return "0"
		case !r.IsInt() && r.Denom().BitLen() <= 14:
			return r.RatString()
		}
	}
	if !p.IsRigorous() {
		return show(p) + job.Choose(p.Method() != "", " ("+p.Method()+")", "")
	}
	return show(p)
}

// story tells a violation of ε-DP.
func (d verdicts) story(w *verify.Witness) string {
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
		allowed := strconv.FormatFloat(d.factor(w), 'g', readable, 64)
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
func (d verdicts) factor(w *verify.Witness) float64 {
	eps := d.Claimed.Float64()
	if w.Distance != nil {
		distance, _ := w.Distance.Float64()
		eps *= distance
	}
	return math.Exp(eps)
}

// drawn is the section of a witness.
func (d verdicts) drawn(r *verify.Result, w *verify.Witness, title string) Section {
	s := Section{Title: title}
	if r.Name != verify.DP || r.Verdict != "violated" {
		s.Text = append(s.Text, plain(w))
	}
	if !compared(w) {
		return s
	}
	banded := r.Name == verify.DP
	factor := d.factor(w)
	pair := func(name, marked string, p, q number.Number) group {
		b := bar{class: "two", value: q.Float64(), number: show(q)}
		if banded {
			b.band = &[2]float64{p.Float64() / factor, math.Min(1, p.Float64()*factor)}
		}
		return group{heading: name, marked: marked, bad: marked != "" && r.Verdict == verify.Violated, bars: []bar{{class: "one", value: p.Float64(), number: show(p)}, b}}
	}
	mark := job.Choose(r.Verdict == verify.Violated, "violated", "closest to the limit")
	var groups []group
	table := &Table{Head: []string{"outcome", "probability on " + bare(here(w)), "probability on " + bare(there(w))}}
	add := func(name, marked string, p, q number.Number) {
		groups = append(groups, pair(name, marked, p, q))
		table.Rows = append(table.Rows, []string{name, p.String(), q.String()})
	}
	if len(w.PMFs[0]) == len(w.PMFs[1]) && len(w.PMFs[0]) > 0 && w.Candidate != nil {
		for i := range w.PMFs[0] {
			name := fmt.Sprintf("candidate %d", i)
			if i < len(w.Scores) && i < len(w.Neighbor) {
				name += strings.ReplaceAll(fmt.Sprintf(", score %s → %s", inquiry.ScoreText(w.Scores[i]), inquiry.ScoreText(w.Neighbor[i])), "-", "−")
			}
			add(name, job.Choose(i == *w.Candidate, mark, ""), w.PMFs[0][i], w.PMFs[1][i])
		}
	} else {
		add(event(w), mark, w.P, w.PNeighbor)
	}
	caption := fmt.Sprintf("Upper bars: probabilities on %s. Lower bars: on the neighboring %s.", here(w), there(w))
	if banded {
		caption += " The dashed frame is where the lower bar would end if this were ε-DP at the claimed ε: between e^-ε and e^ε times the upper one."
	}
	s.Figure = &Figure{SVG: bars(groups, caption+" "+plain(w)), Caption: caption, Table: table}
	return s
}

// bare is a place without the word for what it is.
func bare(place string) string {
	_, text, _ := strings.Cut(place, " ")
	return text
}

// plain tells a witness of any property.
func plain(w *verify.Witness) string {
	text := fmt.Sprintf("On %s %s has probability %s", here(w), event(w), probability(w.P))
	if w.T != nil {
		text = fmt.Sprintf("On %s the error is at least %s with probability %s", here(w), show(number.Exact(w.T)), probability(w.P))
	}
	switch {
	case compared(w):
		text += fmt.Sprintf(", on %s %s", there(w), probability(w.PNeighbor))
	case w.PExpected.IsValid() && w.Candidate == nil && w.Event == "":
		text += fmt.Sprintf("; the exponential mechanism's is %s", probability(w.PExpected))
	case w.PExpected.IsValid():
		text += fmt.Sprintf("; it should be %s", probability(w.PExpected))
	}
	return text + "."
}

// tight compares the tight ε, or its lower bound, with the claim.
func (d verdicts) tight(dp *verify.Result) []Section {
	if dp == nil {
		return nil
	}
	var found number.Number
	name := "the smallest ε that holds there"
	switch {
	case d.sampled() && d.LowerBound.IsValid():
		found, name = d.LowerBound, "at least this, by the samples"
	case inquiry.Says(dp.TightEps) && !dp.Stopped:
		found = dp.TightEps
	}
	if !found.IsValid() || found.IsInf() {
		return nil
	}
	over := dp.Verdict == verify.Violated
	return []Section{{Title: "ε, claimed and found", Figure: &Figure{
		SVG: bars([]group{
			single("claimed", "one", d.Claimed),
			single(name, job.Choose(over, "two", "three"), found),
		}, fmt.Sprintf("claimed ε %s, found %s", show(d.Claimed), show(found))),
		Caption: job.Choose(over, "More privacy was claimed than there is.", "No more than was claimed was found."),
		Table:   &Table{Head: []string{"ε", "value"}, Rows: [][]string{{"claimed", d.Claimed.String()}, {name, found.String()}}},
	}}}
}

// course draws how the lower bound grew with the samples.
func (d verdicts) course() Section {
	line := curve{class: "one", name: "lower bound on ε"}
	table := &Table{Head: []string{"samples", "ε at least"}}
	most := d.Claimed.Float64()
	for _, h := range d.History {
		line.x, line.y = append(line.x, float64(h.Samples)), append(line.y, h.Eps.Float64())
		most = math.Max(most, h.Eps.Float64())
		table.Rows = append(table.Rows, []string{grouped(h.Samples), h.Eps.String()})
	}
	line.x, line.y = append(line.x, float64(d.Samples)), append(line.y, line.y[len(line.y)-1])
	c := chart{
		curves: []curve{line}, xTitle: "samples", yTitle: "ε", low: 0, high: 1.1 * most, logX: true, steps: true,
		level: d.Claimed.Float64(), levelName: "claimed",
	}
	last := d.History[len(d.History)-1]
	return Section{Title: "What the samples showed, and when", Figure: &Figure{
		SVG:     c.svg(fmt.Sprintf("The lower bound on ε over the number of samples; it ends at %s after %s samples.", show(last.Eps), grouped(last.Samples))),
		Caption: "The bound holds with the stated confidence at every number of samples at once, so that an audit may be stopped at any time.",
		Table:   table,
	}}
}

// assumed lists what the verdicts rest on.
func (d verdicts) assumed() []string {
	var out []string
	if d.sampled() {
		out = append(out,
			fmt.Sprintf("With probability at least %s over the samples no statement above is false.", d.confidence()),
			"Samples are assumed to be independent draws of the program's output on what it is given; repetitions that contradict this are searched for.",
			"Samples can refute privacy and cannot prove it.")
	} else {
		out = append(out, "Verdicts “proved” and “violated” were decided in exact or outward-rounded arithmetic, for all that was examined: "+d.Domain+".")
		if d.Questions > 0 {
			out = append(out, "The answers that were given are assumed to be the program's probabilities, also whenever else it is asked.")
		}
		out = append(out, "Nothing is said about what was not examined.")
	}
	if d.Precision != nil {
		out = append(out, "The probabilities are taken to be right to the relative precision "+number.Exact(d.Precision).String()+". A property is called proved only if all numbers within that precision have it, and violated only if none have.")
	}
	return out
}
