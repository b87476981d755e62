package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

// Verdicts are what a verify or audit job found.
type Verdicts struct {
	*audit.Report
	Title, Short string // what was examined, where and at which ε, and the same without where
	Units        string // what the numbers of witnesses are
	Sampler      bool   // undecided means that nothing was found, which is all that samples can say
}

// VerdictsOf are those of an answer to a question, which is nil where it is not known: one for each ε.
func VerdictsOf(a *job.Answer, question job.Question) (all []Verdicts) {
	relations := 1 // whose reports at one ε follow each other
	for i, d := range a.Documents {
		var v Verdicts
		switch d := d.(type) {
		case *verify.Report:
			v.Report = &audit.Report{Report: *d}
		case *audit.Report:
			v.Report = d
		}
		eps, precision := "ε = "+v.Claimed.String(), ""
		v.Sampler = v.Confidence != nil
		switch q := question.(type) {
		case *job.Verify:
			eps, v.Units = q.Epsilon.String(), units(&q.Domain)
			if v.Precision != nil {
				precision = fmt.Sprintf("; properties hold to the relative precision %s of its probabilities", number.Exact(v.Precision))
			}
		case *job.Audit:
			list, _ := q.Epsilon.List() // which was read
			if first := a.Documents[0].(*audit.Report); i == relations && first.Relation != "" && first.Relation != v.Relation {
				relations++
			}
			eps, v.Units, v.Sampler = list[i/relations].String(), scoreUnits("Δ = "+q.Sensitivity), q.SampleExec != ""
			if q.Inputs != "" {
				v.Units = "inputs are those of " + escape.Quoted(q.Inputs) + "; numbers after a colon are probabilities"
			}
		}
		v.Title = fmt.Sprintf("%s on %s, %s%s", v.Mechanism, v.Domain, eps, precision)
		v.Short = fmt.Sprintf("%s, %s%s", v.Mechanism, job.Choose(v.Relation == "", "", v.Relation+", "), eps)
		all = append(all, v)
	}
	return all
}

// scoreUnits says what the numbers of witnesses are, at a sensitivity.
func scoreUnits(sensitivity string) string {
	return "scores and errors are in your units, with " + sensitivity + "; other numbers after a colon are probabilities"
}

// units says what the numbers of witnesses are. A smaller witness than was given has some of the candidates.
func units(d *job.Domain) string {
	return scoreUnits(job.Choose(d.Sensitivities != "", "sensitivities out of "+d.Sensitivities, "Δ = "+d.Sensitivity))
}

// Sorted are the verdicts with those first that were asked for, and how many these are. Findings have lines of their own.
func (v Verdicts) Sorted() (sorted []verify.Result, asked int) {
	sorted = slices.Clone(v.Properties)
	slices.SortStableFunc(sorted, func(a, b verify.Result) int { return job.Choose(a.Fact, 1, 0) - job.Choose(b.Fact, 1, 0) })
	for i, r := range sorted {
		if !r.Fact {
			asked++
		}
		if r.Name == audit.Answers && len(v.Findings) > 0 {
			sorted[i].Reason = job.Choose(len(v.Findings) == 1, "see the finding below", "see the findings below")
		}
	}
	return sorted, asked
}

// WitnessLine says where a property fails.
func WitnessLine(r *verify.Result) string {
	return fmt.Sprintf("%s %s: %s", r.Name, job.Choose(r.Verdict == verify.Violated, "fails", "is undecided for"), r.Witness)
}

// closest says where a property is closest to failing, "" where that tells nothing.
func closest(r *verify.Result) string {
	if r.Attained == nil || r.Witness != nil || r.Name == verify.DP && r.TightEps.IsValid() && !r.Stopped && !inquiry.Says(r.TightEps) {
		return ""
	}
	drawn := ""
	if p, q := r.Attained.P.Method(), r.Attained.PNeighbor.Method(); p != "" && q != "" {
		drawn = fmt.Sprintf(", by %s and %s, which is not significantly more than is claimed", p, q)
	}
	return fmt.Sprintf("%s is closest to failing%s at %s%s", r.Name, job.Choose(r.Stopped, ", of what was compared,", ""), r.Attained, drawn)
}

// Notes says what an audit found beside its verdicts, a line each.
func (v Verdicts) Notes() []string { return slices.Concat(v.findings(), v.notes()) }

func (v Verdicts) findings() (lines []string) {
	for _, finding := range v.Findings {
		lines = append(lines, "finding: "+finding.String())
	}
	return lines
}

// notes says how private it is.
func (v Verdicts) notes() (lines []string) {
	note := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	independent := v.Find(audit.Independence)
	switch {
	case independent != nil && independent.Verdict == verify.Violated:
		note("no ε is concluded from %s samples that are not independent; claimed: %s", decimal.Grouped(v.Samples, ","), v.Claimed)
	case v.DeltaBound.IsValid() && !v.LowerBound.IsValid(): // the reason of approximate-dp says it
		note("%s samples", decimal.Grouped(v.Samples, ","))
	case v.LowerBound.IsValid():
		confidence, _ := v.Confidence.Float64()
		note("ε is at least %s with confidence %g, from %s samples; claimed: %s", v.LowerBound, confidence, decimal.Grouped(v.Samples, ","), v.Claimed)
	case inquiry.Says(v.TightEps), v.TightEps.IsValid() && v.Find(verify.DP).Stopped:
		dp := v.Find(verify.DP)
		note("%s; claimed: %s", v.Tight(), v.Claimed)
		if _, whole := v.DomainEps.Upper(); v.DomainEps.String() != v.TightEps.String() && (whole || !dp.Stopped) {
			note("tight ε %s on the domain alone, without the side set", v.DomainEps)
		}
		if dp.Attained != nil && dp.Witness != nil {
			note("the %s is attained at %s", job.Choose(dp.Stopped, "most so far", "tight ε"), dp.Attained)
		}
	}
	return lines
}

// ofVerdicts says the verdicts, one after the other.
func ofVerdicts(all []Verdicts, c Context) *Page {
	p := all[0].page(c)
	for _, v := range all[1:] {
		p.begin("%s", v.Title)
		p.add(v.page(c).Blocks...)
	}
	return p
}

func (v Verdicts) page(c Context) *Page {
	p := &Page{Title: v.Title}
	p.Tone, p.Word = v.headline()
	claim := v.claim()
	if claim != nil && claim.Verdict == verify.Violated && claim.Witness != nil && claim.Name == verify.DP {
		p.aside("%s", v.story(claim.Witness))
	}
	if claim != nil && !v.TightEps.IsValid() && !v.LowerBound.IsValid() && claim.Remark() != "" {
		p.aside("%s; claimed: ε = %s", claim.Remark(), v.Claimed)
	}
	notes := v.notes()
	p.add(Block{Lines: notes[:min(1, len(notes))], in: browser})
	properties, asked := v.Sorted()
	table := &Table{Head: []string{"property", "verdict", "checked", "remark"}, Apart: asked, Says: job.Choose(asked < len(properties), "beside what was asked for:", ""), headless: true}
	for _, r := range properties {
		table.add(r.Name, inquiry.Word(r.Fact, string(r.Verdict)), fmt.Sprintf("%d checked", r.Checked), wording(r.Remark()))
	}
	if !c.Terminal {
		p.add(v.pictures(c)...)
	}
	p.add(Block{Title: "All properties", in: browser}, Block{Table: table, joined: true})
	shown := false
	for _, r := range properties {
		if shown = shown || r.Witness != nil || r.Attained != nil; r.Witness != nil {
			p.say("%s", WitnessLine(&r))
		}
	}
	for _, r := range properties {
		if line := closest(&r); line != "" {
			p.say("%s", line)
		}
		if r.Name != verify.RDP {
			continue
		}
		for _, o := range r.Orders {
			alpha, _ := o[0].Rat()
			p.say("order %s: ε(α) = %s", inquiry.ScoreText(alpha), o[1])
		}
	}
	if shown && v.Units != "" {
		p.say("%s", v.Units)
	}
	p.add(Block{Lines: v.findings(), joined: true}, Block{Lines: notes, joined: true, in: terminal}, Block{Lines: notes[min(1, len(notes)):], in: browser})
	if profile := v.Profiled(); profile != nil {
		line := curve{name: "least δ"}
		for _, at := range v.Profile {
			line.to(at[0].Float64(), at[1].Float64())
		}
		c := chart{curves: []curve{line}, xTitle: "ε", yTitle: "δ"}
		figure := c.figure(fmt.Sprintf("The least δ over ε; it is %s at 0.", show(v.Profile[0][1])), "Larger ε take less δ. No pair that was looked at has more.", profile)
		p.add(Block{Title: "Privacy profile", in: browser, Figure: figure}, Block{Table: profile, in: terminal})
	}
	p.add(assumed(v.assumed()...))
	return p
}

// Profiled is the table of δ at several ε beside that of Rényi divergences; nil where these are not wanted.
func (v Verdicts) Profiled() *Table {
	t := &Table{Head: []string{"at ε", "least δ", "order", "Rényi divergence"}}
	for i := range max(len(v.Profile), len(v.Renyi)) {
		row := slices.Repeat([]any{""}, len(t.Head))
		for j, points := range [][][2]number.Number{v.Profile, v.Renyi} {
			if i < len(points) {
				row[2*j], row[2*j+1] = points[i][0], points[i][1]
			}
		}
		t.add(row...)
	}
	if t.Rows == nil {
		return nil
	}
	return t
}

// claim is the property that is the claim: ε-DP, or (ε,δ)-DP where that alone was asked for; nil where neither was.
func (v Verdicts) claim() *verify.Result {
	return cmp.Or(v.Find(verify.DP), v.Find(verify.ApproximateDP))
}

// longName says what a property is, for who never saw its name.
var longName = map[verify.Property]string{
	"dp": "ε-DP", "approximate-dp": "(ε,δ)-DP", "symmetry": "symmetry", "shift": "shift-invariance", "monotone": "monotonicity", "sum": "probabilities that sum to 1",
	"dominates-em": "being never worse than the exponential mechanism", "dominates-em-mean": "a mean error at most the exponential mechanism's",
	"bounded-range": "bounded range", "zcdp": "zero-concentrated DP", "rdp": "Rényi DP", "independence": "independence of the samples",
	"answers": "answers to every question", "against": "agreement with the named mechanism",
}

// long is the long name, with an order where the property is about one.
func long(p verify.Property) string {
	name := longName[inquiry.Kind(p)]
	if alpha, ok := inquiry.Order(p); ok && alpha != nil {
		name += " of order " + inquiry.ScoreText(alpha)
	} else if ok {
		name += " of order ∞"
	}
	return name
}

func (v Verdicts) sampled() bool { return v.Confidence != nil }

// private names the claim.
func (v Verdicts) private() string {
	if claim := v.claim(); claim != nil && claim.Name == verify.ApproximateDP {
		delta := number.Int(0)
		if claim.Target.IsValid() {
			delta = claim.Target
		}
		return fmt.Sprintf("(ε,δ)-DP at ε = %s and δ = %s", show(v.Claimed), show(delta))
	}
	if _, ok := v.Claimed.Rat(); ok {
		return show(v.Claimed) + "-DP"
	}
	return "ε-DP at ε = " + show(v.Claimed)
}

// headline sums the verdicts up.
func (v Verdicts) headline() (tone, word string) {
	dp := v.claim()
	var violated, undecided []string
	for _, r := range v.Properties {
		if r.Fact {
			continue
		}
		switch r.Verdict {
		case verify.Violated:
			violated = append(violated, long(r.Name))
		case verify.Undecided:
			undecided = append(undecided, long(r.Name))
		}
	}
	switch {
	case slices.ContainsFunc(v.Findings, func(f audit.Finding) bool { return f.Event == "different answers" }):
		return "bad", "It is not deterministic: asked twice, it states other probabilities"
	case dp != nil && dp.Verdict == verify.Violated:
		return "bad", fmt.Sprintf("No: it is not %s", v.private())
	case len(violated) > 0 && v.sampled() && v.Find(audit.Independence) != nil && v.Find(audit.Independence).Verdict == verify.Violated:
		return "bad", "Its samples are not independent, so nothing is concluded about ε"
	case len(violated) > 0 && dp != nil && dp.Verdict == verify.Proved:
		return "bad", fmt.Sprintf("It is %s here; violated: %s", v.private(), strings.Join(violated, ", "))
	case len(violated) > 0:
		return "bad", "Fails: " + strings.Join(violated, ", ")
	case v.sampled():
		return "open", fmt.Sprintf("Samples did not refute that it is %s, which proves nothing", v.private())
	case len(undecided) > 0 && dp != nil && dp.Verdict == verify.Proved:
		return "open", fmt.Sprintf("It is %s here; undecided: %s", v.private(), strings.Join(undecided, ", "))
	case len(undecided) > 0 || len(v.Properties) == 0:
		return "open", "Undecided: " + strings.Join(undecided, ", ")
	case dp != nil:
		return "good", fmt.Sprintf("Yes: it is %s on what was examined", v.private())
	}
	return "good", "Everything that was asked holds on what was examined"
}

// confidence is the confidence in percent.
func (v Verdicts) confidence() string {
	x, _ := v.Confidence.Float64()
	return strconv.FormatFloat(100*x, 'g', 6, 64) + " %"
}

// assumed lists what the verdicts rest on.
func (v Verdicts) assumed() []string {
	var out []string
	if v.sampled() {
		out = append(out,
			fmt.Sprintf("With probability at least %s over the samples no statement above is false.", v.confidence()),
			"Samples are assumed to be independent draws of the program's output on what it is given; repetitions that contradict this are searched for.",
			"Samples can refute privacy and cannot prove it.")
	} else {
		out = append(out, "Verdicts “proved” and “violated” were decided in exact or outward-rounded arithmetic, for all that was examined: "+v.Domain+".")
		if v.Questions > 0 {
			out = append(out, "The answers that were given are assumed to be the program's probabilities, also whenever else it is asked.")
		}
		out = append(out, "Nothing is said about what was not examined.")
	}
	if v.Precision != nil {
		out = append(out, "The probabilities are taken to be right to the relative precision "+number.Exact(v.Precision).String()+". A property is called proved only if all numbers within that precision have it, and violated only if none have.")
	}
	return out
}
