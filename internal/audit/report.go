package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Properties that only audits have.
const (
	// Answers: every question was answered, by an answer, and the same way when it was asked again.
	Answers verify.Property = "answers"
	// Against: the probabilities are those of a named mechanism.
	Against verify.Property = "against"
	// Same: the outcomes are distributed as those of a reference program.
	Same verify.Property = "same"
)

// Report is the outcome of an audit.
type Report struct {
	verify.Report
	TightEps   number.Number // of stated probabilities, over all that was looked at
	DomainEps  number.Number // the tight ε of the domain alone, without the side set
	LowerBound number.Number // on ε, of samples, at the confidence
	DeltaBound number.Number // on δ at the claimed ε, likewise
	Confidence *big.Rat      // of statistical verdicts; nil where there are none
	Relation   string        // that pairs of inputs have, where there are several
	Questions  int64
	Samples    int64
	Findings   []Finding
	History    []Progress      // of an audit of samples: how the lower bound grew
	Witness    *verify.Witness // the one that says most: of dp, else of the first property that is violated

	kept *Kept // with Options.Keep, where dp or approximate-dp was proved
}

// Schema names the form of the JSON document.
func (*Report) Schema() string { return "optratio.audit/1" }

// Progress says that so many samples sufficed for a lower bound on ε.
type Progress struct {
	Samples int64         `json:"samples"`
	Eps     number.Number `json:"eps_lower_bound"`
}

// MarshalJSON writes the report.
func (r *Report) MarshalJSON() ([]byte, error) {
	type finding struct {
		Event  string            `json:"event"`
		Detail string            `json:"detail"`
		Scores []json.RawMessage `json:"scores"`
		Input  json.RawMessage   `json:"input,omitempty"`
		Times  int64             `json:"times"`
	}
	findings := make([]finding, len(r.Findings))
	for i, f := range r.Findings {
		findings[i] = finding{f.Event, f.Detail, inquiry.ScoresJSON(f.Scores), f.Input, f.Times}
	}
	var confidence float64
	if r.Confidence != nil {
		confidence, _ = r.Confidence.Float64()
	}
	var precision number.Number
	if r.Precision != nil {
		precision = number.Exact(r.Precision)
	}
	profile, renyi := inquiry.Profiled(r.Profile, r.Renyi)
	return json.Marshal(struct {
		Mechanism  string          `json:"mechanism"`
		Domain     string          `json:"domain"`
		Relation   string          `json:"relation,omitempty"`
		Claimed    number.Number   `json:"claimed_eps"`
		TightEps   number.Number   `json:"tight_eps"`
		DomainEps  number.Number   `json:"tight_eps_domain,omitzero"`
		LowerBound number.Number   `json:"eps_lower_bound,omitzero"`
		DeltaBound number.Number   `json:"delta_lower_bound,omitzero"`
		Confidence float64         `json:"confidence,omitempty"`
		Precision  number.Number   `json:"precision,omitzero"`
		Questions  int64           `json:"questions"`
		Samples    int64           `json:"samples,omitempty"`
		History    []Progress      `json:"history,omitempty"`
		Properties []verify.Result `json:"properties"`
		Findings   []finding       `json:"findings"`
		Witness    *verify.Witness `json:"witness"`

		Profile []inquiry.DeltaAt      `json:"profile,omitempty"`
		Renyi   []inquiry.DivergenceOf `json:"renyi,omitempty"`
	}{
		r.Mechanism, r.Domain, r.Relation, r.Claimed, r.TightEps, r.DomainEps, r.LowerBound, r.DeltaBound, confidence, precision,
		r.Questions, r.Samples, r.History, r.Properties, findings, r.Witness, profile, renyi,
	})
}

// account adds what happened while a program was asked. Of answers that may belong to other questions nothing is
// concluded but that.
func (r *Report) account(a *asker) {
	if a.child.confused != "" && len(a.findings) == 0 { // it happened at a question outside the domain
		a.findings = addFinding(nil, Finding{Event: "error", Detail: a.child.confused})
	}
	r.Questions, r.Findings = a.questions, a.findings
	if a.child.confused != "" {
		r.unsettled(func(*verify.Witness) string { return confusion(a.child) })
	}
	r.answers(a.record)
}

// unsettled leaves everything undecided, for a reason that may depend on the witness of what was a violation.
func (r *Report) unsettled(reason func(violated *verify.Witness) string) {
	for i := range r.Properties {
		p := &r.Properties[i]
		*p = verify.Result{Name: p.Name, Fact: p.Fact, Verdict: verify.Undecided, Checked: p.Checked, Reason: reason(p.Witness)}
	}
	r.TightEps, r.DomainEps, r.Witness, r.Profile, r.Renyi = number.Number{}, number.Number{}, nil, nil, nil
	if r.LowerBound.IsValid() {
		r.LowerBound = number.Int(0)
	}
}

// nameOutcomes puts labels into the witnesses, in place of their numbers.
func (r *Report) nameOutcomes(names []string) {
	for _, p := range r.Properties {
		for _, w := range []*verify.Witness{p.Witness, p.Attained} {
			switch {
			case w == nil || w.Event != "":
				continue
			case w.Candidates != nil:
				var set []string
				for _, r := range w.Candidates {
					set = append(set, names[r])
				}
				w.Event, w.Outcomes, w.Candidates = oneOf(set), set, nil
			case w.Candidate == nil:
				continue
			case w.NeighborCandidate != nil:
				w.Event = fmt.Sprintf("%s, and %s the other way", oneOf(names[*w.Candidate:*w.Candidate+1]), oneOf(names[*w.NeighborCandidate:*w.NeighborCandidate+1]))
			default:
				w.Outcomes = names[*w.Candidate : *w.Candidate+1]
				w.Event = oneOf(w.Outcomes)
			}
			w.Candidate, w.NeighborCandidate = nil, nil
		}
	}
}

// Compared reports whether anything was compared, of any property but the answers themselves.
func (r *Report) Compared() bool {
	return slices.ContainsFunc(r.Properties, func(p verify.Result) bool { return p.Name != Answers && p.Name != Independence && p.Checked > 0 })
}

// answers adds the verdict on whether there was an answer to every question, the same one each time. Of a program whose answers change nothing else is concluded.
func (r *Report) answers(record *record) {
	if record != nil && len(record.changed) > 0 {
		changes := record.changed[0].String()
		r.unsettled(func(w *verify.Witness) string {
			if w == nil {
				return changes
			}
			return fmt.Sprintf("%s; so it is not sure that it fails at %s", changes, w)
		})
		r.Findings = slices.Concat(record.changed, r.Findings)
	}
	res := verify.Result{Name: Answers, Verdict: verify.Proved, Checked: r.Questions, Reason: "every question was answered"}
	switch {
	case record == nil: // of a table
		res.Reason = "every row is a distribution"
	case len(record.asked) > 0:
		res.Reason += ", and the same way where it was asked again"
	}
	if record != nil && record.unasked != "" {
		res.Verdict, res.Reason = verify.Undecided, "not all was asked again: "+record.unasked
	}
	if len(r.Findings) > 0 {
		res.Verdict, res.Reason = verify.Violated, r.Findings[0].String()
		if len(r.Findings) > 1 {
			res.Reason = fmt.Sprintf("%d kinds of findings, the first: %s", len(r.Findings), res.Reason)
		}
	}
	r.Properties = append(r.Properties, res)
}

// somethingChecked leaves undecided what was not compared with anything.
func (r *Report) somethingChecked() {
	for i := range r.Properties {
		p := &r.Properties[i]
		if p.Verdict != verify.Proved || p.Checked > 0 {
			continue
		}
		*p = verify.Result{Name: p.Name, Fact: p.Fact, Verdict: verify.Undecided, Reason: inquiry.Nothing(p.Name)}
		if p.Name == verify.DP {
			r.TightEps, r.DomainEps = number.Number{}, number.Number{}
		}
	}
}

// Tight writes the tight ε, or the lower bound on it, and after how many comparisons the check was stopped.
func (r *Report) Tight() string {
	dp := r.Find(verify.DP)
	text := inquiry.Tight("tight ε", "ε", r.TightEps, dp.Stopped)
	if dp.Stopped && !r.TightEps.IsInf() {
		text += ", after " + inquiry.Comparisons(dp.Checked, dp.Total)
	}
	return text
}

// String returns what was audited, the verdicts, and the findings.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nclaimed ε %s", r.Report.String(), r.Claimed)
	dp := r.Find(verify.DP)
	if dp != nil && r.TightEps.IsValid() {
		fmt.Fprintf(&b, ", %s", r.Tight())
	}
	if r.DomainEps.IsValid() && !dp.Stopped {
		fmt.Fprintf(&b, ", on the domain alone %s", r.DomainEps)
	}
	if r.LowerBound.IsValid() {
		fmt.Fprintf(&b, ", ε at least %s", r.LowerBound)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n%s", f)
	}
	return b.String()
}

// chooseWitness takes dp's witness, or the first that there is of what was asked for.
func (r *Report) chooseWitness() {
	for _, p := range r.Properties {
		if p.Witness != nil && !p.Fact && (r.Witness == nil || p.Name == verify.DP) {
			r.Witness = p.Witness
		}
	}
}

// examine checks stated probabilities, on a domain and on what side adds to it: first what is asked for, then the facts, so that a limit that ends the facts
// leaves the rest whole. Then come the references, on the domain. retry gives a subject for smaller cases, on a space of its own; nil where only the domain can be asked about, and side is nil where there is none.
func examine(ctx context.Context, name string, main *inquiry.Question, o *Options, references []reference, retry func(*inquiry.Space) inquiry.Subject,
	side func(*Report) (*inquiry.Question, error)) (*Report, error) {
	options := verify.Options{Properties: o.Properties, Facts: o.facts, Slack: o.Slack, Targets: o.Targets, Profile: o.Profile}
	if o.meter == nil && o.Progress != nil { // there are no questions: of a table
		options.Progress = func(_ verify.Property, checked, total int64) { o.Progress(checked, total) }
	}
	options.Complete()
	order, asked := slices.Concat(options.Properties, options.Facts), len(options.Properties)
	if o.Properties != nil && len(o.Properties) == 0 { // nothing but the references
		asked = 0
	}
	later := options.Facts
	options.Facts = nil
	if at := slices.Index(later, verify.BoundedRange); at >= 0 && slices.Contains(options.Properties, verify.DP) { // dp finds it on the way
		options.Facts, later = later[at:at+1], slices.Delete(slices.Clone(later), at, at+1)
	}
	r, err := o.decided(ctx, main, options, retry)
	if err != nil {
		return nil, err
	}
	r.Precision, r.Mechanism, r.Claimed = o.Precision, name, o.Epsilon.Number()
	if dp := r.Find(verify.DP); dp != nil {
		r.TightEps, r.DomainEps = dp.TightEps, dp.TightEps
	}
	var aside *inquiry.Question
	if side != nil {
		if aside, err = side(r); err != nil {
			return nil, err
		}
	}
	if aside != nil {
		o.meter.more(aside.Domain)
		r.Domain += "; and " + aside.Domain.Name
		if err := r.add(o.decided(ctx, aside, options, retry)); err != nil {
			return nil, err
		}
	}
	var compared []verify.Result
	for _, c := range references {
		res, err := c.against(main)
		if err != nil {
			return nil, err
		}
		compared = append(compared, res)
	}
	if len(later) > 0 {
		facts := verify.Options{Properties: later, Slack: options.Slack, Progress: options.Progress}
		f, err := o.decided(ctx, main, facts, retry)
		if err == nil && aside != nil {
			err = f.add(o.decided(ctx, aside, facts, retry))
		}
		if err != nil {
			return nil, err
		}
		r.Properties = append(r.Properties, f.Properties...)
	}
	found := r.Properties
	r.Properties = nil
	for i, p := range order {
		res := (&verify.Report{Properties: found}).Find(p)
		res.Fact = i >= asked
		r.Properties = append(r.Properties, *res)
	}
	r.Properties = append(r.Properties, compared...)
	r.chooseWitness()
	r.kept = o.kept
	return r, nil
}

// decided checks properties on one set of questions, and shrinks the witnesses.
func (o *Options) decided(ctx context.Context, q *inquiry.Question, options verify.Options, retry func(*inquiry.Space) inquiry.Subject) (*Report, error) {
	report, err := o.decide(ctx, q, options)
	if err != nil {
		return nil, err
	}
	for i := range report.Properties {
		res := &report.Properties[i]
		if res.Verdict != verify.Violated || retry == nil {
			continue
		}
		only := options
		only.Properties, only.Facts, only.Profile, only.Targets = []verify.Property{res.Name}, nil, false, map[verify.Property]*big.Rat{res.Name: options.Targets[res.Name]}
		start := inquiry.Case{Scores: res.Witness.Scores, Sensitivities: q.Domain.Space.Sensitivities}
		res.Witness = inquiry.Shrink(ctx, start, res.Witness, func(c inquiry.Case) *verify.Witness {
			return o.around(ctx, c, only, retry)
		})
	}
	out := &Report{Report: *report}
	if o.Keep && slices.ContainsFunc(report.Properties, func(p verify.Result) bool {
		return p.Verdict == verify.Proved && (p.Name == verify.DP || p.Name == verify.ApproximateDP)
	}) {
		o.kept = o.keep(o.kept, q)
	}
	return out, nil
}

// around checks one property around one score vector and returns its witness.
func (o *Options) around(ctx context.Context, c inquiry.Case, options verify.Options, retry func(*inquiry.Space) inquiry.Subject) *verify.Witness {
	a, err := inquiry.Listed(inquiry.Space{Sensitivities: c.Sensitivities, Epsilon: o.Epsilon}, [][]*big.Rat{c.Scores}, c.Sensitivities)
	if err != nil {
		return nil
	}
	a.Monotonic, a.Seed, a.Far = o.Monotonic, o.Seed, o.far(a.Space)
	report, err := verify.Check(ctx, inquiry.Stated(inquiry.Remember(retry(a.Space)), a.Domain(), true), options)
	if err != nil {
		return nil
	}
	return report.Properties[0].Witness
}

// named is the space of the mechanism that answers are compared with, run as it is private for monotonic scores where these are.
func (o *Options) named(space *inquiry.Space) (*inquiry.Space, error) {
	at := *space
	if o.Monotonic {
		half, err := mechanisms.MonotonicSensitivities(o.Against, space.Sensitivities)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errOptions, err)
		}
		at.Sensitivities = slices.Repeat(half, len(space.Sensitivities))
	}
	return &at, nil
}

// reference is what answers are compared with.
type reference struct {
	property verify.Property
	name     string
	subject  inquiry.Subject
}

// references are those of a mechanism that is named.
func (o *Options) references(space *inquiry.Space) ([]reference, error) {
	if o.Against == nil {
		return nil, nil
	}
	at, err := o.named(space)
	return []reference{{Against, o.Against.Info().Name, inquiry.ForMechanism(o.Against, at)}}, err
}

// against compares the answers with those of a named mechanism or a reference, one by one.
func (r reference) against(asked *inquiry.Question) (verify.Result, error) {
	space := asked.Domain.Space
	res := verify.Result{Name: r.property, Verdict: verify.Proved, Reason: "compared with " + r.name}
	answered := func(a *inquiry.Answer) bool {
		fault, _, _ := a.Fault()
		return fault == "" && a.Event == ""
	}
	for q := range asked.Domain.Vectors {
		got, err := asked.Subject.Answer(q)
		var want *inquiry.Answer
		if err == nil {
			want, err = r.subject.Answer(q)
		}
		if errors.Is(err, inquiry.ErrUndecided) {
			res.Verdict, res.Reason = verify.Undecided, reason(err)
			break
		}
		if err != nil {
			return res, err
		}
		if !answered(got) || !answered(want) {
			res.Verdict, res.Reason = verify.Undecided, "not every question was answered with probabilities that are a distribution"
			continue
		}
		outcomes := max(len(got.P), len(want.P))
		got, want = got.Padded(outcomes), want.Padded(outcomes)
		for i := range got.P {
			res.Checked++
			switch s, ok := got.P[i].Compare(want.P[i], 1024); {
			case !ok && vague(got.P[i]):
				res.Verdict, res.Reason = verify.Undecided, "the numbers are not known well enough"
			case ok && s != 0:
				res.Verdict, res.Reason = verify.Violated, "compared with "+r.name
				res.Witness = &verify.Witness{Scores: space.Scores(q), Candidate: &i, P: got.P[i].Number(), PExpected: want.P[i].Number()}
				return res, nil
			}
		}
	}
	return res, nil
}

// vague reports whether the readings of a number differ by more than a part of 1e-6, so that it equals no other for certain.
func vague(v *inquiry.Value) bool {
	low, high := v.Readings()
	return high.Cmp(new(big.Rat).Mul(low, big.NewRat(1_000_001, 1_000_000))) > 0
}
