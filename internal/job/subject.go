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
	Precision string `json:"pmf-precision" help:"relative precision of the probabilities that are stated"`
}

func standardStated() Stated { return Stated{Precision: "1e-9"} }

func (s *Stated) given() bool { return s.Exec != "" || s.File != "" }

// onPage says that this is the engine of a page. It starts no programs, and the compiler leaves out what asks them.
const onPage = runtime.GOOS == "js"

var errPage = refuse("{pmf-exec}: a page cannot start programs")

// options are those of an audit of the mechanism.
func (s *Stated) options(in *reading, eps number.Epsilon) audit.Options {
	return audit.Options{Epsilon: eps, Precision: in.within("pmf-precision", s.Precision, "a decimal >= 0 and below 1 such as 1e-9", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(one) < 0 })}
}

// alone refuses a program beside a table.
func (s *Stated) alone(in *reading) {
	in.refuse(s.Exec != "" && s.File != "", "{pmf-exec} and {pmf-file} exclude each other: give one of them")
}

// table reads the table.
func (s *Stated) table(in *reading, outcomes string, precision *big.Rat) *audit.Table {
	return file(in, "pmf-file", s.File, func(name string, text io.Reader) (*audit.Table, error) {
		return audit.ReadTable(text, name, outcomes, precision)
	})
}

// addSubject adds the user's own mechanism to a request, and returns it; nil where there is none.
func (q *Ratio) addSubject(in *reading, r *lp.Request) (rival *audit.Subject, err error) {
	in.refuse(!q.given() && q.AssumeSymmetric, "{assume-symmetric}: this is about {pmf-exec} or {pmf-file}, give one of them")
	if !q.given() {
		return nil, in.err
	}
	in.refuse(r.Worst && !q.AssumeSymmetric, "{worst}: the largest loss of a mechanism that is not symmetric depends on the order of the scores; give {assume-symmetric} if the subject is")
	q.alone(in)
	o := q.Stated.options(in, r.Epsilon)
	o.Progress = func(done, _ int64) { in.report("the subject was asked about %d score vectors", done) }
	o.Sensitivity = in.positive("sensitivity", q.Sensitivity)
	o.Monotonic = q.Monotonic
	var t *audit.Table
	if q.File != "" {
		t = q.table(in, audit.Index, o.Precision)
	}
	if in.err != nil {
		return nil, in.err
	}
	if t != nil {
		rival, err = t.Subject(q.AssumeSymmetric, o)
	} else if err = errPage; !onPage {
		rival, err = audit.Program{Command: q.Exec}.Subject(q.AssumeSymmetric, o)
	}
	if err != nil {
		return nil, err
	}
	if _, err := Settle(in.ctx, func() (any, error) { return nil, rival.Try(in.ctx, r.N, r.K, max(1, r.Step)) }, func(string) any { return nil }); err != nil {
		rival.Close()
		return nil, err
	}
	r.Mechanisms = append(r.Mechanisms, rival)
	return rival, nil
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
func (q *Ratio) subjectDocument(ctx context.Context, s *audit.Subject, r *lp.Request, a *lp.Answer) (*document.Subject, error) {
	if s == nil {
		return nil, nil
	}
	parts := max(1, r.Step)
	d := &document.Subject{
		Source: q.Exec + q.File, Asked: s.Asked(), Vectors: lattice.Vectors(r.N, r.K*parts, false), AssumedSymmetric: q.AssumeSymmetric, Precision: number.Exact(s.Precision()),
	}
	if q.AssumeSymmetric {
		d.Vectors = lattice.Orbits(r.N, r.K*parts)
	}
	for _, m := range a.Mechanisms {
		if m.Finding != "" || ctx.Err() != nil {
			return d, nil
		}
	}
	private, err := Settle(ctx, func() (*verify.Result, error) { return s.Private(ctx, r.N, r.K, parts, r.Delta) }, func(string) *verify.Result { return nil })
	if private != nil {
		d.Privacy = private
	}
	return d, err
}
