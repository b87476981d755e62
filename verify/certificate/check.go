package certificate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"optratio/number"
)

// Options bound the work of a check. The zero value is fit for use.
type Options struct {
	// Context ends the check early; nil means never.
	Context context.Context
	// MaxMemory in bytes is what the check may need by its own estimate; 0 means 2 GiB.
	MaxMemory int64
	// MaxPrecision in bits is up to which the precision of enclosures is raised where a claim is
	// still undecided, as far as memory allows; 0 means 4096, and less than 128 means 128.
	MaxPrecision uint
	// MaxSteps is what the check may cost by its own estimate, in steps of some nanoseconds (StepTime): the closed forms at all precisions together, an enumeration of the
	// lattice, walking the chains of proof lumped and counting its score vectors. 0 means 2^29.
	MaxSteps int
}

// StepTime is about what a step takes.
const StepTime = 4 * time.Nanosecond

func (o Options) withDefaults() Options {
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

// Report is the outcome of a check.
type Report struct {
	Valid   bool          `json:"valid"`
	Problem *Problem      `json:"problem"`          // nil if the parameters could not be read
	Optimum number.Number `json:"optimum"`          // as claimed; no number unless valid
	Proves  string        `json:"proves,omitempty"` // what the proof says of the optimum where that is only a bound
	Claims  []Claim       `json:"claims,omitempty"`
	Reason  string        `json:"reason,omitempty"` // why not valid, one line
}

// Problem is what a certificate is about.
type Problem struct {
	Kind        string         `json:"kind"`            // the section
	About       string         `json:"about,omitempty"` // the problem in one line, where what follows does not say all
	N           int            `json:"n"`
	K           int            `json:"k"`
	Step        int            `json:"step"`          // the L of scores 2Δ/L apart
	Top         int            `json:"top,omitempty"` // how many candidates are chosen, where more than one
	Eps         number.Number  `json:"eps"`
	ExpEps      number.Number  `json:"exp_eps"`
	Objective   string         `json:"objective"`
	Constraints string         `json:"constraints"`
	Delta       *number.Number `json:"delta,omitempty"` // with constraints approximate
	Proof       string         `json:"proof"`
}

// Claim is an enclosure that a certificate claims: of the optimum, of the mean error of a
// mechanism in the same unit, or of the ratio of that to the optimum; or that what a witness shows is more than 0.
type Claim struct {
	On      string        `json:"on"` // "optimum", "error pf", "error em", "ratio pf" or "ratio em"
	Value   number.Number `json:"value"`
	Follows bool          `json:"follows"`

	lower, upper *big.Rat
}

// section is what a file is about and how it is proved; docs/reference/certificate.md has all of them.
type section interface {
	// read reads all lines between the one that names the section and the last one. It refuses work out of proportion with ErrLimit.
	read(r *reader, o Options)
	// about describes the problem, after as much was read as could be, and reports whether there is anything to say of it.
	about(p *Problem) bool
	// stated returns the claims.
	stated() []Claim
	// decide sets which claims follow, and says why one does not.
	decide(o Options) (reason string, err error)
}

// sections makes one of each kind.
var sections = map[string]func() section{
	"program":       func() section { return &certificate{} },
	"lattice":       func() section { return &orbits{} },
	"interval":      func() section { return &intervalCertificate{} },
	"heterogeneous": func() section { return &heterogeneous{} },
	"table":         func() section { return &explicit{} },
	"stopping":      func() section { return &stopping{} },
	"witness":       func() section { return &witness{} },
}

// Check reads a certificate and decides whether every claim in it follows from what it holds.
//
// A certificate that is not valid is no error: the report says why. The error wraps ErrUnreadable if
// the input cannot be read or is no certificate of this format at all, ErrLimit if
// a claim is not decided with the memory, the steps and the precision that o allows, and ErrUndecided if it cannot be; it is that of the context if that ended.
func Check(in io.Reader, o Options) (*Report, error) {
	o = o.withDefaults()
	r, kind, s, err := open(in, o)
	if err != nil {
		return nil, err
	}
	rep := &Report{}
	if s != nil {
		s.read(r, o)
		r.end()
		problem := &Problem{Kind: kind, Step: 1, Proof: "lp"}
		if s.about(problem) {
			rep.Problem = problem
		}
	}
	if err = r.err; err == nil {
		rep.Reason, err = s.decide(o)
	}
	var form malformed
	if errors.As(err, &form) {
		rep.Reason, err = string(form), nil
	}
	if err != nil {
		return nil, err
	}
	if s != nil {
		rep.Claims = s.stated()
	}
	if rep.Reason == "" {
		rep.Valid, rep.Proves = true, proves[rep.Problem.Proof]
		if q := rep.Claims[0]; q.On == "optimum" {
			rep.Optimum = q.Value
		}
	}
	return rep, nil
}

// judge decides a claim by exact bounds. q.upper is nil where nothing is claimed there.
func (q *Claim) judge(lower, upper *big.Rat) string {
	switch {
	case q.lower.Cmp(lower) > 0:
		return fmt.Sprintf("claim %s: %v and more is claimed, %v is proved", q.On, exactly(q.lower), exactly(lower))
	case q.upper != nil && q.upper.Cmp(upper) < 0:
		return fmt.Sprintf("claim %s: %v and less is claimed, %v is proved", q.On, exactly(q.upper), exactly(upper))
	}
	q.Follows = true
	return ""
}

// proves says what of the optimum is proved by proofs that say what it lies between, not what it is.
var proves = map[string]string{
	"dual-closed-form": "bounds, not the optimum itself: a lower bound in closed form, and permute-and-flip's error",
	"lumped":           "bounds, not the optimum itself: a lower bound from one multiplier for each class of count vectors, and the error of a feasible point, at worst permute-and-flip",
}
