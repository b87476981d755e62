// Package evidence has what all sections of certificates share when they are read and decided: lines, numbers and claims, what a check may cost, the lattice, its chains, and the
// dual function on them. Package verify/certificate has the sections, and says what to read. It imports arithmetic alone.
//
// Reading and deciding end early by a panic with the reason, which Check recovers: that a file is malformed, that a claim does not follow, a limit, the end of the context.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"optratio/number"
)

// Options are certificate.Options, and up to how many bits the precision of enclosures is raised where a claim is still undecided, as far as memory allows; 0 means
// 4096, and less than 128 means 128.
type Options struct {
	Context      context.Context
	MaxMemory    int64
	MaxPrecision uint
	MaxSteps     int
}

// StepTime is about what a step takes, and DefaultSteps, a few seconds, are how many a check may take where nothing else is said.
const (
	StepTime     = 4 * time.Nanosecond
	DefaultSteps = 1 << 29
)

// Mechanisms are those whose violations are decided without being told the probabilities.
var Mechanisms = []string{"em", "krr", "pf", "rnm-exponential", "rnm-gumbel"}

// WithDefaults fills in what is not given.
func WithDefaults(o Options) Options {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.MaxMemory <= 0 {
		o.MaxMemory = 2 << 30
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = DefaultSteps
	}
	if o.MaxPrecision == 0 {
		o.MaxPrecision = 4096
	}
	o.MaxPrecision = max(o.MaxPrecision, 128)
	return o
}

// Problem is certificate.Problem.
type Problem struct {
	Kind        string
	About       string
	N           int
	K           int
	Step        int
	Top         int
	Eps         number.Number
	ExpEps      number.Number
	Objective   string
	Constraints string
	Delta       *number.Number
	Proof       string
}

// Claim is certificate.Claim.
type Claim struct {
	On      string
	Value   number.Number
	Follows bool
}

// Section is what a file is about and how it is proved; docs/reference/certificate.md has all of them.
type Section interface {
	// Read reads all lines between the one that names the section and the last one.
	Read(r *Reader, o Options)
	// About describes the problem, after as much was read as could be, and reports whether there is anything to say of it.
	About(p *Problem) bool
	// Stated returns the claims.
	Stated() []Claim
	// Decide sets which claims follow. It returns if all do.
	Decide(o Options)
}

// Invalid is the reason why a certificate is not valid.
type Invalid string

func (i Invalid) Error() string { return string(i) }

// stop is what reading and deciding panic with.
type stop struct{ error }

// Stop ends a check for a reason, if there is one.
func Stop(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// Refute ends a check: the certificate is not valid.
func Refute(format string, args ...any) { Stop(Invalid(fmt.Sprintf(format, args...))) }

// Limit ends a check that would take more than Options allow.
func Limit(format string, args ...any) {
	Stop(fmt.Errorf("%w: %s", ErrLimit, fmt.Sprintf(format, args...)))
}

// Try returns why f stopped, nil where it did not.
func Try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stop:
			err = p.error
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// Check reads a certificate of one of the sections and decides whether every claim in it follows from what it holds: it says why not if there is no error. The section is
// nil where the second line names none, and the problem where there is nothing to say of it.
func Check(in io.Reader, o Options, sections map[string]func() Section) (problem *Problem, s Section, reason string, err error) {
	o = WithDefaults(o)
	err = Try(func() {
		r, kind := Open(in, o, sections)
		s = sections[kind]()
		about := &Problem{Kind: kind, Step: 1, Proof: "lp"}
		err := Try(func() {
			s.Read(r, o)
			r.End()
		})
		if s.About(about) {
			problem = about
		}
		Stop(err)
		s.Decide(o)
	})
	var why Invalid
	if errors.As(err, &why) {
		return problem, s, string(why), nil
	}
	return problem, s, "", err
}

// Judge decides a claim by exact bounds. An end that is not claimed is not judged.
func Judge(q *Claim, lower, upper *big.Rat) {
	low, high := q.Value.Ends()
	switch {
	case low.Cmp(lower) > 0:
		Refute("claim %s: %v and more is claimed, %v is proved", q.On, number.Exact(low), number.Exact(lower))
	case high != nil && high.Cmp(upper) < 0:
		Refute("claim %s: %v and less is claimed, %v is proved", q.On, number.Exact(high), number.Exact(upper))
	}
	q.Follows = true
}
