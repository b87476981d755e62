package report

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// ofRatio says how far mechanisms are from the best one.
func ofRatio(d *document.Ratio, c Context) *Page {
	optimal, constraints := d.PFOptimal != nil && *d.PFOptimal, d.Constraints
	if optimal { // permute-and-flip is private towards all neighbors, and monotone: it attains the bound
		constraints = cmp.Or(map[string]string{"paper": "dp", "monotone": "full"}[constraints], constraints)
	}
	p := &Page{Title: fmt.Sprintf("n = %d candidates, scores 0 to k = %d steps of %s below the best, %s%s", d.N, d.K, base(d.Monotonic), given(d.AtEpsilon), asked(d, c))}
	p.Tone, p.Word = headline(d)
	p.say("error: %s", meaning(d.Objective, constraints))
	if d.Price != nil {
		p.say("price of δ: the optimum falls by at most %s for each unit that δ grows", *d.Price)
	}
	if d.Step != job.Choose(d.Monotonic, "delta", "2delta") && (d.Constraints == "paper" || d.Constraints == "monotone") {
		p.say("at this step the constraints %s leave much of privacy out: --constraints dp gives a larger lower bound", d.Constraints)
	}
	if d.Monotonic {
		p.say("every mechanism runs with 2Δ replaced by Δ, at which it has the same privacy for monotonic scores; ratios are those of the step 2Δ without them")
	}
	if d.Undecided != "" {
		p.aside("The job ended early: %s. What is stated is certified all the same.", d.Undecided)
	}
	table := &Table{Head: []string{"mechanism", unit(d), "ratio to the optimum", "above it"}}
	for _, m := range d.Mechanisms {
		if m.Finding != "" {
			table.add(m.Name, "not rated")
			continue
		}
		table.add(fullName(m.Name), m.Error, m.Ratio, above(m.Ratio))
	}
	table.add("optimum", d.Optimum)
	p.add(Block{Title: "Errors", Table: table, Figure: table.excesses(measure(d), named(0), 2)})
	p.add(c.Curve.section()...)
	p.add(Block{Title: "What is proved, and what is assumed"})
	p.say("proof of the optimum: %s (%s score vectors up to order, %s variables)", cmp.Or(proofs[d.Proof], d.Proof), decimal.Count(d.Orbits), decimal.Count(d.Variables))
	if optimal {
		p.say("permute-and-flip is optimal for this lattice, loss and prior")
	}
	if d.Subject != nil {
		p.begin("%s", subject(d.Subject))
		p.say("%s", privacy(d.Subject))
	}
	for _, m := range d.Mechanisms {
		if hi, ok := m.Ratio.Upper(); ok && hi.Cmp(big.NewRat(1, 1)) < 0 {
			p.begin("%s is better than any shift-invariant %s mechanism can be: it is not one at this ε", m.Name, job.Choose(d.Delta == nil, "ε-DP", "(ε,δ)-DP"))
		}
	}
	p.add(Block{in: browser, Items: []string{
		"A solver only proposed where to look. Multipliers bound the error of every such mechanism from below; they were evaluated in exact or outward-rounded arithmetic.",
		"Neighboring score vectors differ by at most the sensitivity Δ in every score. Other lattices, other priors and other losses have other answers.",
	}})
	return p
}

// base is the step of the lattice of which depths are counted.
func base(monotonic bool) string { return job.Choose(monotonic, "Δ", "2Δ") }

// given says which ε was given, as itself or as e^ε.
func given(d document.AtEpsilon) string { return cmp.Or(d.Said(), "ε not given") }

// What losses and priors are, with what follows a colon in the place of %s.
var (
	losses = map[string]string{"square": "the squared error", "top1": "1 unless a best candidate is taken", "tail": "1 if the error is %s·2Δ or more"}
	priors = map[string]string{
		"uniform": "all score vectors alike", "box": "uniform scores, shifted so that the best is 0", "geometric": "a step deeper is %s times as likely",
		"product": "a factor for each depth, of %s", "scores": "the score vectors of %s", "histogram": "the weighted score vectors of %s",
	}
)

// meant says what a name means, or is it where it means a file.
func meant(text string, meaning map[string]string) string {
	name, rest, _ := strings.Cut(text, ":")
	if says, ok := meaning[name]; ok {
		return strings.Replace(says, "%s", rest, 1)
	}
	return "of each depth as in " + text
}

// question says what differs from the published question.
func question(monotonic bool, step, loss, prior, objective string) (s string) {
	if monotonic {
		s += ", monotonic scores"
	}
	if step != "2delta" {
		s += ", scores " + strings.ReplaceAll(step, "delta", "Δ") + " apart"
	}
	if loss != "mean" {
		s += ", loss: " + meant(loss, losses)
	}
	if prior != "uniform" && prior != "none" && prior != objective {
		s += ", prior: " + meant(prior, priors)
	}
	return s
}

func asked(d *document.Ratio, c Context) string {
	s := question(d.Monotonic, d.Step, d.Loss, d.Prior, d.Objective)
	if q, ok := c.Question.(*job.Ratio); ok && q.Delta != "" {
		return s + ", δ = " + q.Delta
	}
	return s
}

// meaning says what an objective and constraints ask for: what the error is a mean over, and which mechanisms the optimum is the least of.
func meaning(objective, constraints string) string {
	over := map[string]string{
		"box": "mean over all score vectors of the box", "minimax": "at the worst score vector", "worst": "at the worst score vector",
	}[objective]
	const below = " mechanism has less (a lower bound; perhaps none attains it)"
	optimum := map[string]string{
		"paper":       "no shift-invariant ε-DP" + below,
		"dp":          "the least of all shift-invariant ε-DP mechanisms",
		"monotone":    "no monotone, shift-invariant ε-DP" + below,
		"full":        "the least of all monotone, shift-invariant ε-DP mechanisms",
		"approximate": "the least of all shift-invariant (ε,δ)-DP mechanisms",
	}[constraints]
	return cmp.Or(over, "mean over all score vectors") + "; optimum: " + optimum
}

// headline is about the first mechanism that was rated.
func headline(d *document.Ratio) (tone, word string) {
	if len(d.Mechanisms) == 0 {
		return "open", "No mechanism was rated"
	}
	m := d.Mechanisms[0]
	if m.Finding != "" {
		return "bad", fmt.Sprintf("%s cannot be rated: %s", m.Name, m.Finding)
	}
	lo, ok := m.Ratio.Lower()
	hi, bounded := m.Ratio.Upper()
	one := big.NewRat(1, 1)
	switch {
	case !ok || !m.Ratio.IsRigorous():
		return "open", fmt.Sprintf("%s: %s times the least error possible", m.Name, m.Ratio)
	case bounded && hi.Cmp(one) < 0:
		return "bad", fmt.Sprintf("%s is better than an %s mechanism of this kind can be: it is not one", m.Name, job.Choose(d.Delta == nil, "ε-DP", "(ε,δ)-DP"))
	case bounded && lo.Cmp(one) == 0 && hi.Cmp(one) == 0:
		return "good", fmt.Sprintf("%s is optimal: no such mechanism has a smaller %s", m.Name, measure(d))
	case d.Undecided != "":
		low, high, _ := m.Ratio.Strings()
		return "open", fmt.Sprintf("%s has between %s and %s times the least %s possible", m.Name, low, high, measure(d))
	}
	return "good", fmt.Sprintf("%s has %s times the least %s possible", m.Name, m.Ratio, measure(d))
}

// measure names what is minimised, and unit heads its column.
func measure(d *document.Ratio) string {
	what := job.Choose(d.Loss == "mean" || d.Loss == "", "expected error", "expected loss ("+d.Loss+")")
	return job.Choose(d.Objective == "worst", "worst-case "+what, "mean "+what)
}

func unit(d *document.Ratio) string {
	return job.Choose(d.Loss == "mean", "error (steps of "+base(d.Monotonic)+")", "loss")
}

// proofs explains how the optimum was had.
var proofs = map[string]string{
	"dual-recurrence":  "permute-and-flip is provably optimal, no linear program needed",
	"dual-closed-form": "closed-form bound, without a linear program",
	"monotonicity":     "bound from monotonicity in closed form, without a linear program",
	"lumped":           "linear program over classes of orbits",
	"lp":               "linear program",
}

// fullName is a mechanism's name, with what it stands for where that is short.
func fullName(name string) string {
	if m, err := mechanisms.Lookup(name); err == nil && m.Info().Summary != "" && len(m.Info().Summary) <= 24 {
		return name + " (" + m.Info().Summary + ")"
	}
	return name
}

// above says how far a ratio is above 1, rounded to two digits: 0.86 %, or from … to … where the ends round apart.
func above(ratio number.Number) string {
	percent := func(x *big.Rat, ok bool) string {
		if !ok {
			return "∞"
		}
		f, _ := new(big.Rat).Sub(x, big.NewRat(1, 1)).Float64()
		if f > 0 && f < 1e-5 {
			return "< 0.001 %"
		}
		if f >= 0.995 && f < 1e4 {
			return strconv.FormatFloat(100*f, 'f', 0, 64) + " %"
		}
		return strconv.FormatFloat(100*f, 'g', 2, 64) + " %"
	}
	low, high := percent(ratio.Lower()), percent(ratio.Upper())
	if low == high || high == "< 0.001 %" {
		return high
	}
	return low + " to " + high
}

// subject says what was rated as subject.
func subject(d *document.Subject) string {
	asked := fmt.Sprintf("%d of %s score vectors", d.Asked, decimal.Count(d.Vectors))
	if d.AssumedSymmetric {
		asked = fmt.Sprintf("one arrangement of each score vector (you said --assume-symmetric; this was not checked), %d of %s", d.Asked, decimal.Count(d.Vectors))
	}
	return fmt.Sprintf("subject: %s, asked about %s; its numbers are taken as right to within a relative %s", d.Source, asked, d.Precision)
}

// privacy says how private the subject is.
func privacy(d *document.Subject) string {
	found, ok := d.Privacy.(*verify.Result)
	if !ok {
		return "its privacy was not checked: optratio audit does that"
	}
	text := "its privacy on this lattice, if shifting all scores changes nothing: " + string(found.Verdict)
	if remark := found.Remark(); remark != "" {
		text += ", " + remark
	}
	if found.Witness != nil {
		text += ", at " + found.Witness.String()
	}
	return text + " (optratio audit asks about more)"
}

// ofRatios says the same at several ε, a line for each of them and each mechanism.
func ofRatios(all []*document.Ratio, c Context) *Page {
	first := all[0]
	p := &Page{Title: fmt.Sprintf("n = %d, k = %d%s", first.N, first.K, asked(first, c))}
	p.say("error: %s", meaning(first.Objective, first.Constraints))
	symbol, _ := first.Given()
	table := &Table{Head: []string{symbol, "mechanism", unit(first), "optimum", "ratio to the optimum", "proof"}}
	p.add(Block{Title: "Errors", Table: table})
	for i, d := range all {
		_, eps := d.Given()
		for _, m := range d.Mechanisms {
			row := []any{eps, m.Name, m.Error, d.Optimum, m.Ratio, d.Proof}
			if m.Finding != "" {
				row[2], row[4] = "not rated", ""
			}
			table.add(row...)
		}
		if d.Subject != nil {
			p.add(Block{Lines: []string{fmt.Sprintf("subject at %s: %s", d.Said(), privacy(d.Subject))}, joined: i > 0})
		}
	}
	return p
}

// ofThreshold says from which ε on permute-and-flip is optimal.
func ofThreshold(d *document.Threshold) *Page {
	step := strings.ReplaceAll(d.Step, "delta", "Δ")
	p := &Page{Title: fmt.Sprintf("n = %d, k = %d%s", d.N, d.K, question(false, d.Step, d.Loss, d.Prior, d.Objective))}
	if d.Upper.IsInf() || d.Upper.IsValid() && d.Upper.Float64() == 0 {
		p.Title += fmt.Sprintf(": on the lattice of step %s permute-and-flip is optimal at %s ε", step, job.Choose(d.Upper.IsInf(), "no", "every"))
		return p
	}
	p.Title += fmt.Sprintf(", lattice of step %s; proof: %s", step, d.Proof)
	p.say("error: %s", meaning(d.Objective, d.Constraints))
	if d.Lower.IsValid() && d.Upper.IsValid() {
		p.say("permute-and-flip is optimal from ε = %s on", number.Between(d.Lower, d.Upper))
	}
	for _, end := range []struct {
		says string
		exp  number.Number
	}{{"not optimal", d.LowerExp}, {"optimal", d.UpperExp}} {
		if r, ok := end.exp.Rat(); ok {
			p.say("it is %s at e^ε = %s", end.says, r.RatString())
		}
	}
	return p
}

// ofRho compares mechanisms at equal ρ.
func ofRho(d *document.Rho) *Page {
	base, rho := base(d.Monotonic), d.Rho
	p := &Page{Title: fmt.Sprintf("n = %d, k = %d, ρ = %s%s%s", d.N, d.K, rho, job.Choose(d.Objective == "box", ", prior box", ""), job.Choose(d.Monotonic, ", monotonic scores", "")), Tone: "good"}
	best := d.Mechanisms[0]
	table := &Table{Head: []string{"mechanism", "parameter ε'", "error (steps of " + base + ")", "ratio to " + d.Mechanisms[0].Name}}
	for _, m := range d.Mechanisms {
		if m.Error.Float64() < best.Error.Float64() {
			best = m
		}
		table.add(m.Name, m.Parameter, m.Error, m.Ratio)
	}
	p.Word = fmt.Sprintf("%s: a mean expected error of %s", best.Name, best.Error)
	for _, m := range d.Mechanisms {
		hi, bounded := best.Error.Upper()
		if lo, ok := m.Error.Lower(); m.Name != best.Name && (!ok || !bounded || lo.Cmp(hi) < 0) {
			p.Tone, p.Word = "open", "The errors are not known closely enough to tell which is least"
		}
	}
	p.say("every mechanism runs at the largest parameter ε' at which it is %s-zCDP on this lattice, of step %s; other scores were not looked at", rho, base)
	p.say("compared: mean expected errors over the lattice at the lower ends of the parameters, which are certified; the upper ends are not %s-zCDP", rho)
	p.ended(d.Undecided)
	p.add(Block{Title: "Errors", Table: table, Figure: table.pictured("The mean expected error in steps of "+base+".", "", named(0), 2)})
	if d.Undecided != "" {
		p.begin("undecided: where an upper end is inf or far from the lower one, the error is that of a parameter that may be too small")
	}
	p.add(assumed("Equal ρ, not equal ε, is what counts where many private choices are composed."))
	return p
}
