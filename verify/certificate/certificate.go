package certificate

import (
	"context"
	"io"

	"optratio/internal/evidence"
	"optratio/number"
)

// Options bound the work of a check. The zero value is fit for use.
type Options struct {
	// Context ends the check early; nil means never.
	Context context.Context
	// MaxMemory in bytes is what the check may need by its own estimate; 0 means 2 GiB.
	MaxMemory int64
	// MaxSteps is what the check may cost by its own estimate, in steps of some nanoseconds: the closed forms at all precisions together, an enumeration of the
	// lattice, walking the chains of proof lumped and counting its score vectors. 0 means 2^29.
	MaxSteps int
}

// Report is the outcome of a check.
type Report struct {
	Valid   bool          `json:"valid"`
	Problem *Problem      `json:"problem"`          // nil if the parameters could not be read
	Optimum number.Number `json:"optimum"`          // as claimed; no number unless valid
	Proves  string        `json:"proves,omitempty"` // what the proof says of the optimum where that is only a bound
	Claims  []Claim       `json:"claims,omitempty"`
	Reason  string        `json:"reason,omitempty"` // why not valid, one line

	section evidence.Section
	limits  evidence.Options
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
}

// Errors that Check wraps.
var (
	ErrUnreadable = evidence.ErrUnreadable // the input cannot be read or is not a certificate of this format
	ErrLimit      = evidence.ErrLimit      // the check would take more than Options allow
	ErrUndecided  = evidence.ErrUndecided  // the check cannot tell, whatever the limits are
)

// sections makes one of each kind.
var sections = map[string]func() evidence.Section{
	"program":       func() evidence.Section { return &certificate{} },
	"lattice":       func() evidence.Section { return &orbits{} },
	"heterogeneous": func() evidence.Section { return &heterogeneous{} },
	"table":         func() evidence.Section { return &explicit{} },
	"stopping":      func() evidence.Section { return &stopping{} },
	"compose":       func() evidence.Section { return &composed{} },
	"witness":       func() evidence.Section { return &witness{} },
	"private":       func() evidence.Section { return &private{} },
}

// Check reads a certificate and decides whether every claim in it follows from what it holds.
//
// A certificate that is not valid is no error: the report says why. The error wraps ErrUnreadable if
// the input cannot be read or is not a certificate of this format at all, ErrLimit if
// a claim is not decided with the memory and the steps that o allows, at 4096 bits, and ErrUndecided if it cannot be; it is that of the context if that ended.
func Check(in io.Reader, o Options) (*Report, error) {
	return check(in, evidence.Options{Context: o.Context, MaxMemory: o.MaxMemory, MaxSteps: o.MaxSteps})
}

func check(in io.Reader, o evidence.Options) (*Report, error) {
	limits := evidence.WithDefaults(o)
	problem, s, reason, err := evidence.Check(in, limits, sections)
	if err != nil {
		return nil, err
	}
	rep := &Report{Valid: reason == "", Problem: (*Problem)(problem), Reason: reason, section: s, limits: limits}
	if s != nil {
		for _, q := range s.Stated() {
			rep.Claims = append(rep.Claims, Claim(q))
		}
	}
	if rep.Valid {
		rep.Proves = proves[problem.Proof]
		if q := rep.Claims[0]; q.On == "optimum" {
			rep.Optimum = q.Value
		}
	}
	return rep, nil
}

// proves says what of the optimum is proved by proofs that say what it lies between, not what it is.
var proves = map[string]string{
	"dual-closed-form": "bounds, not the optimum itself: a lower bound in closed form, and permute-and-flip's error",
	"lumped":           "bounds, not the optimum itself: a lower bound from one multiplier for each class of count vectors, and permute-and-flip's error",
}
