package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Ratio asks how far mechanisms are from the optimum or, with Rho, from each other. Several ε, separated by commas, have a list of answers.
type Ratio struct {
	Size
	Epsilon
	Mechanism string `json:"mechanism" default:"pf,em" help:"mechanisms to rate, by name"`
	Lattice
	Rho         string `json:"rho" help:"instead of ε: each mechanism at its largest parameter that is ρ-zCDP with this ρ"`
	Method      string `json:"method" default:"auto" help:"how the optimum is bounded: auto, closed-form, lumped or lp; {solver} clp and embedded imply lp"`
	Sensitivity string `json:"sensitivity" default:"1" help:"sensitivity Δ that the subject is told; errors are in steps of 2Δ whatever it is"`
	Exact       bool   `json:"exact" help:"-"`
	Stated
	AssumeSymmetric bool `json:"assume-symmetric" help:"ask the subject about one arrangement of each score vector, as if it treated candidates alike; this is not checked"`
}

// Request turns the question into a request.
func (q *Ratio) Request(ctx context.Context, h *Host) (lp.Request, error) {
	return read(func() lp.Request { return q.request(&reading{Host: h, ctx: ctx}) })
}

func (q *Ratio) request(in *reading) lp.Request {
	delta := positive("sensitivity", q.Sensitivity)
	r := q.Lattice.request(in, q.Size, delta)
	r.Exact, r.Certified = q.Exact, in.Certificate
	if q.Rho == "" {
		r.Epsilon = q.Epsilon.value()
	}
	refuse(q.Exact && q.Exp == "", "{exact}: exact results need a rational e^ε, give {exp-eps} instead of {eps}")
	r.Mechanisms = must(FindMechanisms(q.Mechanism, mechanisms.Lookup))
	r.Method = must(Parsed("method", q.Method, func(name string) (string, error) {
		if !slices.Contains(Choices("method"), name) {
			return "", fmt.Errorf("method %q is not one of auto, closed-form, lumped, lp", name)
		}
		return name, nil
	}))
	if q.Solver != "auto" && r.Method == "auto" {
		r.Method = "lp"
	}
	if r.Method == "lp" || q.Delta+q.Prior != "" || q.Step != "2delta" || q.Loss != "mean" || q.Worst || q.Constraints != "paper" {
		in.enclosable(r.Epsilon, nil) // closed forms have others
	}
	if q.Monotonic {
		oneWay(r.Mechanisms, delta)
	}
	return r
}

// oneWay refuses mechanisms that are not known to be private for monotonic scores in a way of their own.
func oneWay(list []mechanisms.Mechanism, delta *big.Rat) {
	for _, m := range list {
		_, err := mechanisms.MonotonicSensitivities(m, []*big.Rat{delta})
		refuse(err != nil, "{monotonic-scores}: %w", err)
	}
}

func (q *Ratio) answer(in *reading) *Answer {
	if q.Rho != "" {
		return q.atRho(in)
	}
	return in.atEach(q.Epsilon, func(eps Epsilon) *Answer { return q.at(in, eps) })
}

// at answers it at one ε.
func (q Ratio) at(in *reading, eps Epsilon) *Answer {
	q.Epsilon = eps
	r := q.request(in)
	in.begin(fmt.Sprintf("n = %d, k = %d", q.N, q.K), r.Epsilon)
	subject := q.subject(in, &r)
	if subject != nil {
		defer subject.Close()
		settled(in, func() any { return must[any](nil, subject.Try(in.ctx, r.N, r.K, max(1, r.Step))) }, func(string) any { return nil })
		r.Mechanisms = append(r.Mechanisms, subject)
	}
	r.Report = in.pivots
	begin := time.Now()
	a := settled(in, func() *lp.Answer { return rated(in.ctx, r, subject) }, func(why string) *lp.Answer { return anyRatio(r, why) })
	doc := &document.Ratio{
		N: q.N, K: q.K, AtEpsilon: document.At(q.Eps, q.Exp), Objective: q.over(), Constraints: q.level(),
		Proof: a.Proof, Solver: a.Solver, Pivots: a.Pivots, Seconds: time.Since(begin).Seconds(),
		Optimum: a.Optimum, Mechanisms: a.Mechanisms, Undecided: a.Undecided,
		Monotonic: q.Monotonic, Step: q.StepText(), Loss: q.Loss, Prior: q.priorName(), PFOptimal: a.PFOptimal, Subject: q.subjectDocument(in, subject, &r, a), Price: a.Price,
	}
	if a.Proof != notProved {
		depths := r.K * max(1, r.Step)
		doc.Orbits, doc.Variables = lattice.Orbits(r.N, depths), lattice.Variables(r.N, depths)
	}
	if r.Delta != nil {
		doc.Delta = new(number.Exact(r.Delta))
	}
	found := answered(doc, a.Undecided, a.WriteCertificate)
	for _, m := range a.Mechanisms {
		found.Violated = cmp.Or(found.Violated, m.Finding)
	}
	return found
}

// notProved is the proof of what needs none.
const notProved = "none"

// anyRatio says what is true of every ratio: errors lie between 0 and the depth. Of other losses it says nothing.
func anyRatio(r lp.Request, why string) *lp.Answer {
	a := &lp.Answer{Proof: notProved, Solver: "none", Undecided: why}
	var ratio number.Number
	if r.Loss.String() == "mean" {
		a.Optimum, ratio = number.Bounds(new(big.Rat), big.NewRat(int64(r.K), 1)), number.Bounds(new(big.Rat), nil)
	}
	for _, m := range r.Mechanisms {
		a.Mechanisms = append(a.Mechanisms, lp.Rated{Name: m.Info().Name, Error: a.Optimum, Ratio: ratio})
	}
	return a
}

// subject is the user's own mechanism; nil where there is none.
func (q *Ratio) subject(in *reading, r *lp.Request) *audit.Subject {
	refuse(!q.given() && q.AssumeSymmetric, "{assume-symmetric}: this is about {pmf-exec} or {pmf-file}, give one of them")
	if !q.given() {
		return nil
	}
	refuse(r.Worst && !q.AssumeSymmetric, "{worst}: the largest loss of a mechanism that is not symmetric depends on the order of the scores; give {assume-symmetric} if the subject is")
	refuse(q.Exec != "" && q.File != "", "{pmf-exec} and {pmf-file} exclude each other: give one of them")
	o := q.Stated.options(r.Epsilon)
	o.Progress = func(done, _ int64) { in.report("the subject was asked about %d score vectors", done) }
	o.Sensitivity, o.Monotonic = positive("sensitivity", q.Sensitivity), q.Monotonic
	if q.File != "" {
		return must(q.table(in, audit.Index, o.Precision).Subject(q.AssumeSymmetric, o))
	}
	if onPage {
		throw(errPage)
		return nil
	}
	return must(audit.Program{Command: q.Exec}.Subject(q.AssumeSymmetric, o))
}

// rated rates the mechanisms of a request, and then asks a program again: what changes its answers is not rated.
func rated(ctx context.Context, r lp.Request, subject *audit.Subject) *lp.Answer {
	a := must(lp.Ratio(ctx, r))
	if subject == nil {
		return a
	}
	err := subject.Again(ctx)
	if !errors.Is(err, mechanisms.ErrAnswer) {
		return must(a, err)
	}
	for i, m := range a.Mechanisms {
		if m.Name == subject.Info().Name && m.Finding == "" {
			a.Mechanisms[i] = lp.Rated{Name: m.Name, Finding: err.Error()}
		}
	}
	return a
}

// subjectDocument says what was rated as subject, and how private it is on the lattice where it has an error there.
func (q *Ratio) subjectDocument(in *reading, s *audit.Subject, r *lp.Request, a *lp.Answer) *document.Subject {
	if s == nil {
		return nil
	}
	parts := max(1, r.Step)
	d := &document.Subject{
		Source: q.Exec + q.File, Asked: s.Asked(), Vectors: lattice.Vectors(r.N, r.K*parts, false), AssumedSymmetric: q.AssumeSymmetric, Precision: number.Exact(s.Precision()),
	}
	if q.AssumeSymmetric {
		d.Vectors = lattice.Orbits(r.N, r.K*parts)
	}
	for _, m := range a.Mechanisms {
		if m.Finding != "" || in.ctx.Err() != nil {
			return d
		}
	}
	if private := settled(in, func() *verify.Result { return must(s.Private(in.ctx, r.N, r.K, parts, r.Delta)) }, func(string) *verify.Result { return nil }); private != nil {
		d.Privacy = private
	}
	return d
}

// withRho are the fields that go with Rho.
var withRho = strings.Fields("rho n k mechanism objective gap monotonic-scores sensitivity")

// atRho compares mechanisms at equal ρ.
func (q *Ratio) atRho(in *reading) *Answer {
	begin := time.Now()
	refuse(q.Eps != "" || q.Exp != "", "{rho} and {eps} exclude each other: with {rho} each mechanism has its own ε; give one of them")
	var others []string
	for _, f := range given(q) {
		if !slices.Contains(withRho, f.Name) {
			others = append(others, f.Name)
		}
	}
	if in.Certificate {
		others = append(others, "cert")
	}
	if len(others) > 0 {
		throw(refusal("{" + slices.Min(others) + "}: makes no sense with {rho}, which compares mechanisms with each other on the lattice of step 2Δ; leave it out"))
	}
	rho := positive("rho", q.Rho)
	r := q.request(in)
	refuse(q.N < 2, "{n} %d: with {rho} give at least 2 candidates; one makes no error at any ρ", q.N)
	in.begin(fmt.Sprintf("n = %d, k = %d", q.N, q.K), number.Epsilon{})
	doc := &document.Rho{N: q.N, K: q.K, Rho: number.Exact(rho), Domain: "lattice", Objective: q.Objective, Monotonic: q.Monotonic, Orbits: lattice.Orbits(q.N, q.K)}
	for _, m := range r.Mechanisms {
		found := settled(in, func() calibrated { return q.calibrated(in, r, m, rho) }, func(why string) calibrated {
			unknown := number.Bounds(new(big.Rat), nil)
			return calibrated{document.AtRho{Name: m.Info().Name, Proof: "none", Parameter: unknown, Error: q.anyError(), Ratio: unknown}, why}
		})
		row := found.AtRho
		doc.Undecided = cmp.Or(found.undecided, doc.Undecided)
		switch {
		case len(doc.Mechanisms) == 0:
			row.Ratio = number.Int(1)
		case !row.Ratio.IsValid():
			row.Ratio = row.Error.Over(doc.Mechanisms[0].Error)
		}
		doc.Mechanisms = append(doc.Mechanisms, row)
	}
	doc.Seconds = time.Since(begin).Seconds()
	return answered(doc, doc.Undecided, nil)
}

// calibrated is a mechanism at its largest parameter, and why that or its error is not known, "" where both are.
type calibrated struct {
	document.AtRho
	undecided string
}

// anyError is what every mean error lies between.
func (q *Ratio) anyError() number.Number {
	return number.Bounds(new(big.Rat), big.NewRat(int64(q.K), 1))
}

// calibrated calibrates one mechanism and rates it.
func (q *Ratio) calibrated(in *reading, r lp.Request, m mechanisms.Mechanism, rho *big.Rat) (found calibrated) {
	name := m.Info().Name
	cal := must(verify.Calibrate(in.ctx, verify.Claim{Mechanism: m, Monotonic: q.Monotonic}, q.N, q.K, verify.Options{
		Targets: map[verify.Property]*big.Rat{verify.ZCDP: rho}, Gap: r.Gap,
		Narrowed: func(tried int, low, _ *big.Rat) { in.report("%s at least %s", name, low.FloatString(9)) },
	}))
	if cal.Undecided != "" {
		found.undecided = name + ": " + cal.Undecided
	}
	least, _ := cal.Parameter.Lower()
	mean, err := lp.MeanError(in.ctx, m, q.N, q.K, r.Prior, must(number.FromEpsilon(least)))
	if errors.Is(err, lp.ErrTooLarge) || in.ctx.Err() != nil {
		found.undecided, mean, err = cmp.Or(context.Cause(in.ctx), err).Error(), q.anyError(), nil
	}
	throw(err)
	found.AtRho = document.AtRho{Name: name, Parameter: cal.Parameter, Proof: cal.Proof, Error: mean}
	if cal.Attained != nil {
		found.Attained = cal.Attained
	}
	return found
}
