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
	"optratio/mechanisms"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify/audit"
)

// subjectFlags name the user's own mechanism, a program or a table that states probabilities.
type subjectFlags struct {
	exec, file, precision string
	timeout               time.Duration
	cleanEnv              bool
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
