package job

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
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
	subject := q.addSubject(in, &r)
	if subject != nil {
		defer subject.Close()
	}
	r.Report = func(pivots int, objective float64) { in.report("%d pivots, objective %.9g", pivots, objective) }
	begin := time.Now()
	a := settled(in, func() (*lp.Answer, error) { return rated(in.ctx, r, subject) }, func(why string) *lp.Answer { return anyRatio(r, why) })
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
