package job

import (
	"context"
	"errors"
	"io"
	"math/big"
	"runtime"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Stated names the user's own mechanism: a program or a table that states probabilities.
type Stated struct {
	Exec      string `json:"pmf-exec" help:"program that states probabilities"`
	File      string `json:"pmf-file" help:"table of probabilities"`
	Precision string `json:"pmf-precision" default:"1e-9" help:"relative precision of the probabilities that are stated"`
}

func (s *Stated) given() bool { return s.Exec != "" || s.File != "" }

// onPage says that this is the engine of a page. It starts no programs, and the compiler leaves out what asks them.
const onPage = runtime.GOOS == "js"

var errPage = refusal("{pmf-exec}: a page cannot start programs")

// options are those of an audit of the mechanism.
func (s *Stated) options(eps number.Epsilon) audit.Options {
	return audit.Options{Epsilon: eps, Precision: within("pmf-precision", s.Precision, "a decimal >= 0 and below 1 such as 1e-9", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(one) < 0 })}
}

// table reads the table.
func (s *Stated) table(in *reading, outcomes string, precision *big.Rat) *audit.Table {
	return file(in, "pmf-file", s.File, func(name string, text io.Reader) (*audit.Table, error) {
		return audit.ReadTable(text, name, outcomes, precision)
	})
}

// addSubject adds the user's own mechanism to a request, and returns it; nil where there is none.
func (q *Ratio) addSubject(in *reading, r *lp.Request) (rival *audit.Subject) {
	refuse(!q.given() && q.AssumeSymmetric, "{assume-symmetric}: this is about {pmf-exec} or {pmf-file}, give one of them")
	if !q.given() {
		return nil
	}
	refuse(r.Worst && !q.AssumeSymmetric, "{worst}: the largest loss of a mechanism that is not symmetric depends on the order of the scores; give {assume-symmetric} if the subject is")
	refuse(q.Exec != "" && q.File != "", "{pmf-exec} and {pmf-file} exclude each other: give one of them")
	o := q.Stated.options(r.Epsilon)
	o.Progress = func(done, _ int64) { in.report("the subject was asked about %d score vectors", done) }
	o.Sensitivity = positive("sensitivity", q.Sensitivity)
	o.Monotonic = q.Monotonic
	if q.File != "" {
		rival = must(q.table(in, audit.Index, o.Precision).Subject(q.AssumeSymmetric, o))
	} else if onPage {
		throw(errPage)
	} else {
		rival = must(audit.Program{Command: q.Exec}.Subject(q.AssumeSymmetric, o))
	}
	if _, err := Settle(in.ctx, func() (any, error) { return nil, rival.Try(in.ctx, r.N, r.K, max(1, r.Step)) }, func(string) any { return nil }); err != nil {
		rival.Close()
		throw(err)
	}
	r.Mechanisms = append(r.Mechanisms, rival)
	return rival
}

// rated rates the mechanisms of a request, and then asks a program again: what changes its answers is not rated.
func rated(ctx context.Context, r lp.Request, rival *audit.Subject) (*lp.Answer, error) {
	a, err := lp.Ratio(ctx, r)
	if err != nil || rival == nil {
		return a, err
	}
	if err = rival.Again(ctx); !errors.Is(err, mechanisms.ErrAnswer) {
		return a, err
	}
	for i, m := range a.Mechanisms {
		if m.Name == rival.Info().Name && m.Finding == "" {
			a.Mechanisms[i] = lp.Rated{Name: m.Name, Finding: err.Error()}
		}
	}
	return a, nil
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
	private := settled(in, func() (*verify.Result, error) { return s.Private(in.ctx, r.N, r.K, parts, r.Delta) }, func(string) *verify.Result { return nil })
	if private != nil {
		d.Privacy = private
	}
	return d
}
