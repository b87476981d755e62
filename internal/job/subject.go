package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify"
)

// Stated names the user's own mechanism: a program or a table that states probabilities.
type Stated struct {
	Exec      string        `json:"pmf-exec" help:"program that states probabilities"`
	File      string        `json:"pmf-file" help:"table of probabilities"`
	Precision string        `json:"pmf-precision" help:"relative precision of these probabilities"`
	Timeout   time.Duration `json:"timeout" help:"for one answer of the program"`
	CleanEnv  bool          `json:"clean-env" help:"start the program with an empty environment, not with that of this command"`
}

func standardStated() Stated { return Stated{Precision: "1e-9", Timeout: 10 * time.Second} }

func (s *Stated) given() bool { return s.Exec != "" || s.File != "" }

// options are those of an audit of the mechanism.
func (s *Stated) options(eps number.Epsilon) (o audit.Options, err error) {
	if s.Timeout <= 0 {
		return o, refuse("{timeout} %s: give a positive duration such as 10s", s.Timeout)
	}
	precision, err := within("pmf-precision", s.Precision, "a decimal >= 0 and below 1 such as 1e-9", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(big.NewRat(1, 1)) < 0 })
	return audit.Options{Epsilon: eps, Precision: precision}, err
}

// alone refuses a program beside a table.
func (s *Stated) alone() error {
	if s.Exec != "" && s.File != "" {
		return refuse("{pmf-exec} and {pmf-file} exclude each other: give one of them")
	}
	return nil
}

// table reads the table.
func (s *Stated) table(ctx context.Context, h *Host, outcomes string, precision *big.Rat) (*audit.Table, error) {
	return read(ctx, h, "pmf-file", s.File, func(name string, text io.Reader) (*audit.Table, error) {
		return audit.ReadTable(text, name, outcomes, precision)
	})
}

// addSubject adds the user's own mechanism to a request, and returns it; nil where there is none.
func (q *Ratio) addSubject(ctx context.Context, h *Host, r *lp.Request, report func(string, ...any)) (rival *audit.Subject, err error) {
	switch {
	case !q.given() && q.AssumeSymmetric:
		return nil, refuse("{assume-symmetric}: this is about {pmf-exec} or {pmf-file}, give one of them")
	case !q.given():
		return nil, nil
	case r.Worst && !q.AssumeSymmetric:
		return nil, refuse("{objective} minimax: the largest loss of a mechanism that is not symmetric depends on the order of the scores; give {assume-symmetric} if the subject is")
	}
	if err := q.alone(); err != nil {
		return nil, err
	}
	o, err := q.Stated.options(r.Epsilon)
	if err != nil {
		return nil, err
	}
	o.Progress = func(done, _ int64) { report("the subject was asked about %d score vectors", done) }
	if o.Sensitivity, err = ParsePositive("sensitivity", q.Sensitivity); err != nil {
		return nil, err
	}
	if o.Neighbors = verify.Linf; q.Monotonic {
		o.Neighbors = verify.Monotonic
	}
	if q.Exec != "" {
		rival, err = q.Stated.rival(q.AssumeSymmetric, o)
	} else {
		var t *audit.Table
		if t, err = q.table(ctx, h, audit.Index, o.Precision); err == nil {
			rival, err = t.Subject(q.AssumeSymmetric, o)
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := Settle(ctx, func() (any, error) { return nil, rival.Try(ctx, r.N, r.K, max(1, r.Step)) }, func(string) any { return nil }); err != nil {
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

// subjectDocument says what was rated as subject.
func (q *Ratio) subjectDocument(s *audit.Subject, r *lp.Request) *document.Subject {
	if s == nil {
		return nil
	}
	d := &document.Subject{
		Source: q.Exec + q.File, Asked: s.Asked(), Vectors: lattice.Vectors(r.N, r.K*max(1, r.Step), false), AssumedSymmetric: q.AssumeSymmetric, Precision: number.Exact(s.Precision()),
	}
	if q.AssumeSymmetric {
		d.Vectors = lattice.Orbits(r.N, r.K*max(1, r.Step))
	}
	return d
}

// about returns the mechanism on the inputs of a problem.
func (s *Stated) about(ctx context.Context, h *Host, p *optimum.Problem, eps number.Epsilon) (*optimum.Table, error) {
	if err := s.alone(); err != nil {
		return nil, err
	}
	o, err := s.options(eps)
	if err != nil {
		return nil, err
	}
	if s.Exec == "" {
		rows, err := s.table(ctx, h, audit.Labels, o.Precision)
		if err != nil {
			return nil, err
		}
		t, err := p.TableOf(rows.Name, rows.Labels, rows.Inputs, rows.PMF)
		if err != nil {
			err = refuse("{pmf-file} %w", err)
		}
		return t, err
	}
	rows, err := s.rows(ctx, p.Asked(), o)
	var t *optimum.Table
	if err == nil {
		t, err = p.TableOf(rows.Name, rows.Labels, rows.Inputs, rows.PMF)
	}
	if errors.Is(err, mechanisms.ErrAnswer) || errors.Is(err, optimum.ErrProblem) {
		return &optimum.Table{Finding: fmt.Sprint(err)}, nil
	}
	return t, err
}
