// Package evidence has what all sections of certificates are read and decided with: lines, numbers and claims, what a check may cost, the lattice, its chains, and the
// dual function on them. Package verify/certificate has the sections, and says what to read. It imports arithmetic alone.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"optratio/number"
)

// Options are certificate.Options.
type Options struct {
	Context      context.Context
	MaxMemory    int64
	MaxPrecision uint
	MaxSteps     int
}

// WithDefaults fills in what is not given.
func WithDefaults(o Options) Options {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.MaxMemory <= 0 {
		o.MaxMemory = 2 << 30
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = 1 << 29
	}
	if o.MaxPrecision == 0 {
		o.MaxPrecision = 4096
	}
	return o
}

// Report is certificate.Report, but for what its claims hold.
type Report struct {
	Valid   bool
	Problem *Problem
	Optimum number.Number
	Proves  string
	Claims  []Claim
	Reason  string
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

// Claim is certificate.Claim, with what the value is claimed to lie between.
type Claim struct {
	On      string
	Value   number.Number
	Follows bool

	lower, upper *big.Rat
}

// Section is what a file is about and how it is proved; docs/reference/certificate.md has all of them.
type Section interface {
	// Read reads all lines between the one that names the section and the last one. It refuses work out of proportion with ErrLimit.
	Read(r *Reader, o Options)
	// About describes the problem, after as much was read as could be, and reports whether there is anything to say of it.
	About(p *Problem) bool
	// Stated returns the claims.
	Stated() []Claim
	// Decide sets which claims follow, and says why one does not.
	Decide(o Options) (reason string, err error)
}

// Check reads a certificate of one of the sections and decides whether every claim in it follows from what it holds; certificate.Check says what it returns.
func Check(in io.Reader, o Options, sections map[string]func() Section) (*Report, error) {
	o = WithDefaults(o)
	r, kind, s, err := Open(in, o, sections)
	if err != nil {
		return nil, err
	}
	rep := &Report{}
	if s != nil {
		s.Read(r, o)
		r.End()
		problem := &Problem{Kind: kind, Step: 1, Proof: "lp"}
		if s.About(problem) {
			rep.Problem = problem
		}
	}
	if err = r.Err; err == nil {
		rep.Reason, err = s.Decide(o)
	}
	var form Malformed
	if errors.As(err, &form) {
		rep.Reason, err = string(form), nil
	}
	if err != nil {
		return nil, err
	}
	if s != nil {
		rep.Claims = s.Stated()
	}
	if rep.Reason == "" {
		rep.Valid, rep.Proves = true, proves[rep.Problem.Proof]
		if q := rep.Claims[0]; q.On == "optimum" {
			rep.Optimum = q.Value
		}
	}
	return rep, nil
}

// NewClaim returns a claim that a value lies between two numbers, of which one may be nil.
func NewClaim(on string, shown number.Number, lower, upper *big.Rat) Claim {
	return Claim{On: on, Value: shown, lower: lower, upper: upper}
}

// Ends returns what a claim says that its value lies between.
func Ends(q *Claim) (lower, upper *big.Rat) { return q.lower, q.upper }

// Judge decides a claim by exact bounds. q.upper is nil where nothing is claimed there.
func Judge(q *Claim, lower, upper *big.Rat) string {
	switch {
	case q.lower.Cmp(lower) > 0:
		return fmt.Sprintf("claim %s: %v and more is claimed, %v is proved", q.On, number.Exact(q.lower), number.Exact(lower))
	case q.upper != nil && q.upper.Cmp(upper) < 0:
		return fmt.Sprintf("claim %s: %v and less is claimed, %v is proved", q.On, number.Exact(q.upper), number.Exact(upper))
	}
	q.Follows = true
	return ""
}

// proves says what of the optimum is proved by proofs that say what it lies between, not what it is.
var proves = map[string]string{
	"dual-closed-form": "bounds, not the optimum itself: a lower bound in closed form, and permute-and-flip's error",
	"lumped":           "bounds, not the optimum itself: a lower bound from one multiplier for each class of count vectors, and the error of a feasible point, at worst permute-and-flip",
}
