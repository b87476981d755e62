package cli

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/subject"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify"
	"optratio/verify/audit"
)

// subjectFlags name the user's own mechanism, a program or a table that states probabilities.
type subjectFlags struct {
	exec, file, precision string
	timeout               time.Duration
	symmetric, cleanEnv   bool
}

func (f *subjectFlags) add(c *cobra.Command) {
	f.addStated(c, "rate this program too, as subject: it states probabilities as for optratio audit",
		`rate this table of probabilities too, as subject: a line {"scores":[0,-2],"pmf":[0.7,0.3]} for each score vector`)
	c.Flags().BoolVar(&f.symmetric, "assume-symmetric", false, "ask the subject about one order of each score vector, as if it were symmetric, which is not checked")
}

// addStated adds the flags of what states probabilities, with what is said of programs and of tables.
func (f *subjectFlags) addStated(c *cobra.Command, program, table string) {
	fs := c.Flags()
	fs.StringVar(&f.exec, "pmf-exec", "", program)
	fs.StringVar(&f.file, "pmf-file", "", table)
	fs.StringVar(&f.precision, "pmf-precision", "1e-9", "relative precision of the subject's probabilities")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "for one answer of the subject")
	addCleanEnv(c, &f.cleanEnv)
}

// addCleanEnv adds --clean-env.
func addCleanEnv(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "clean-env", false, "start the program with an empty environment, not with that of this command")
}

func (f *subjectFlags) given() bool { return f.exec != "" || f.file != "" }

// parsePrecision reads --pmf-precision.
func parsePrecision(text string) (*big.Rat, error) {
	p, err := decimal.ParseNumber(text)
	if err != nil || p.Sign() < 0 || p.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, command.Usagef("--pmf-precision %s: give a decimal >= 0 and below 1 such as 1e-9", command.Quoted(text))
	}
	return p, nil
}

// parse returns the subject, nil where none is given.
func (f *subjectFlags) parse(ctx context.Context, eps number.Epsilon, delta *big.Rat, model verify.Neighborhood, progress func(int64)) (*subject.Stated, error) {
	switch {
	case !f.given() && f.symmetric:
		return nil, command.Usagef("--assume-symmetric: this is about --pmf-exec or --pmf-file, give one of them")
	case !f.given():
		return nil, nil
	}
	o, err := f.options(eps, progress)
	if err != nil {
		return nil, err
	}
	o.Sensitivity, o.Neighbors = delta, model
	if f.exec != "" {
		return subject.OfProgram(f.program(), f.symmetric, o)
	}
	rows, err := readTable(ctx, f.file, audit.Index, o.Precision)
	if err != nil {
		return nil, err
	}
	return subject.OfTable(f.file, rows, f.symmetric, o)
}

// rated rates the mechanisms of a request, and then asks a program again: what changes its answers is not rated.
func rated(ctx context.Context, r lp.Request, rival *subject.Stated) (*lp.Answer, error) {
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

// program is that of --pmf-exec.
func (f *subjectFlags) program() audit.Program {
	return audit.Program{Command: f.exec, Timeout: f.timeout, CleanEnv: f.cleanEnv}
}

// options are those of an audit of the subject.
func (f *subjectFlags) options(eps number.Epsilon, progress func(int64)) (o audit.Options, err error) {
	switch {
	case f.exec != "" && f.file != "":
		return o, command.Usagef("--pmf-exec and --pmf-file exclude each other: give one of them")
	case f.timeout <= 0:
		return o, command.Usagef("--timeout %s: give a positive duration such as 10s", f.timeout)
	}
	precision, err := parsePrecision(f.precision)
	o = audit.Options{Epsilon: eps, Precision: precision}
	if progress != nil {
		o.Progress = func(done, _ int64) { progress(done) }
	}
	return o, err
}

// about returns the subject as a mechanism on the inputs of a problem; nil where none is given.
func (f *subjectFlags) about(ctx context.Context, p *optimum.Problem, eps number.Epsilon) (*optimum.Table, error) {
	if !f.given() {
		return nil, nil
	}
	o, err := f.options(eps, nil)
	if err != nil {
		return nil, err
	}
	if f.exec == "" {
		rows, err := readTable(ctx, f.file, audit.Labels, o.Precision)
		if err != nil {
			return nil, err
		}
		t, err := optimum.TableOf(f.file, rows, p)
		if err != nil {
			return nil, command.Usagef("--pmf-file %w", err)
		}
		return t, nil
	}
	rows, err := f.program().Rows(ctx, p.Asked(), o)
	var t *optimum.Table
	if err == nil {
		t, err = optimum.TableOf("the program", rows, p)
	}
	if errors.Is(err, mechanisms.ErrAnswer) || errors.Is(err, optimum.ErrProblem) {
		return &optimum.Table{Finding: err.Error()}, nil
	}
	return t, err
}

// readTable reads --pmf-file.
func readTable(ctx context.Context, path, outcomes string, precision *big.Rat) ([]audit.Row, error) {
	file, err := command.OpenInput(ctx, "--pmf-file", path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := audit.ReadTable(file, path, outcomes, precision)
	if cause := context.Cause(ctx); err != nil && cause != nil { // which ended it
		return nil, fmt.Errorf("--pmf-file %s: not read to its end: %w", command.Quoted(path), cause)
	}
	return rows, err
}

func (f *subjectFlags) doc(s *subject.Stated, r *lp.Request) *document.Subject {
	if s == nil {
		return nil
	}
	d := &document.Subject{
		Source: f.exec + f.file, Asked: s.Asked(), Vectors: lattice.Vectors(r.N, r.K*max(1, r.Step), false), AssumedSymmetric: f.symmetric, Precision: number.Exact(s.Precision()),
	}
	if f.symmetric {
		d.Vectors = lattice.Orbits(r.N, r.K*max(1, r.Step))
	}
	return d
}

// subjectText says what was rated as subject.
func subjectText(d *document.Subject) string {
	return fmt.Sprintf("subject: %s, asked about %d of %s score vectors%s; its numbers stand for what is within a relative precision of %s",
		d.Source, d.Asked, decimal.Count(d.Vectors), command.Choose(d.AssumedSymmetric, " that differ by more than their order (--assume-symmetric: that it is symmetric was not checked)", ""), d.Precision)
}
