package certificate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"optratio/number"
	"optratio/number/interval"
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

// stepsPerVariable is what a variable of an enumeration costs at the least.
const stepsPerVariable = 256

// bytesPerVariable is what the check needs for each variable, beside what long exact numbers and precisions above
// 192 bits take.
const bytesPerVariable = 500

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

// fits returns ErrLimit if enumerating the lattice exceeds the memory or the steps allowed.
func (o Options) fits(n, k int) error {
	variables, table := variableCount(n, k), (n+1)*(k+1)
	need := float64(variables)*bytesPerVariable + float64(table)*16
	if need > float64(o.MaxMemory) {
		return fmt.Errorf("%w: n = %d, k = %d has %s variables, and takes about %.3g bytes; the limit is %d",
			ErrLimit, n, k, atLeast(variables), need, o.MaxMemory)
	}
	if steps := float64(variables) * stepsPerVariable; steps > float64(o.MaxSteps) {
		return fmt.Errorf("%w: n = %d, k = %d has %s variables, and takes about %.3g steps; the limit is %d", ErrLimit, n, k, atLeast(variables), steps, o.MaxSteps)
	}
	return nil
}

func atLeast(count int) string {
	if count >= maxCount {
		return "more than 10^18"
	}
	return fmt.Sprint(count)
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
	Kind        string         `json:"kind,omitempty"`  // of version 3: the section
	About       string         `json:"about,omitempty"` // of version 3: the problem in one line
	N           int            `json:"n"`
	K           int            `json:"k"`
	Step        int            `json:"step"` // the L of scores 2Δ/L apart
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

// Check reads a certificate and decides whether every claim in it follows from what it holds.
//
// A certificate that is not valid is no error: the report says why. The error wraps ErrUnreadable if
// the input cannot be read or is no certificate of this version at all, and ErrLimit if
// a claim is not decided with the memory, the steps and the precision that o allows; it is that of the context if that ended.
func Check(in io.Reader, o Options) (*Report, error) {
	o = o.withDefaults()
	r, version, err := open(in)
	if err != nil {
		return nil, err
	}
	switch version {
	case magicTable:
		return checkTable(r, o)
	case magicInterval:
		return checkInterval(r, o)
	case magicSection:
		return checkSection(r, o)
	}
	c, err := r.read(o)
	rep := &Report{}
	if c != nil {
		rep.Problem = c.problem()
		rep.Claims = c.claims
		for i, q := range rep.Claims {
			rep.Claims[i].Value = number.Bounds(q.lower, q.upper)
		}
	}
	var form malformed
	switch {
	case errors.As(err, &form):
		rep.Reason = string(form)
		return rep, nil
	case err != nil:
		return nil, err
	}
	ck, err := newChecker(c, o)
	if err != nil {
		return nil, err
	}
	rep.Reason, err = ck.decide()
	if err != nil {
		return nil, err
	}
	if rep.Reason == "" {
		rep.Valid, rep.Optimum, rep.Proves = true, rep.Claims[0].Value, proves[c.proof]
	}
	return rep, nil
}

// proves says what of the optimum is proved by proofs that say what it lies between, not what it is.
var proves = map[string]string{
	"dual-closed-form": "bounds, not the optimum itself: a lower bound in closed form, and permute-and-flip's error",
	"lumped":           "bounds, not the optimum itself: a lower bound from one multiplier for each class of count vectors, and the error of a feasible point, at worst permute-and-flip",
}

func (c *certificate) problem() *Problem {
	p := &Problem{N: c.n, K: c.k, Step: 1, Objective: c.objective, Constraints: c.constraints, Proof: c.proof}
	const prec = 128
	switch {
	case c.eps != nil:
		p.Eps = number.Exact(c.eps)
		p.ExpEps = number.Enclosed(interval.ExpRat(c.eps, prec))
		if c.eps.Sign() == 0 {
			p.ExpEps = number.Int(1)
		}
	default:
		p.ExpEps = number.Exact(c.expEps)
		p.Eps = number.Enclosed(interval.LogRat(c.expEps, prec))
	}
	return p
}

// checker works out what a certificate proves.
type checker struct {
	*program
	cert *certificate
	o    Options
	z    *big.Rat // e^-ε where it is rational

	spent float64 // steps of closed forms

	fixed *results // what is exact, and so does not depend on the precision
	em    *big.Rat // total error of the exponential mechanism, once known exactly
}

func newChecker(c *certificate, o Options) (*checker, error) {
	ck := &checker{cert: c, o: o}
	switch {
	case c.expEps != nil:
		ck.z = new(big.Rat).Inv(c.expEps)
	case c.eps.Sign() == 0:
		ck.z = big.NewRat(1, 1)
	}
	ck.program = &program{
		ctx: o.Context, box: c.objective == "box", level: levels[c.constraints],
		dual: c.dual, inject: c.inject, cuts: c.cuts, lattice: c.lat,
	}
	if ck.lattice == nil && ck.claimsOn("em") {
		if err := o.fits(c.n, c.k); err != nil {
			return nil, fmt.Errorf("claims on em: %w", err)
		}
		ck.lattice = newLattice(c.n, c.k)
	}
	if c.proof == "lp" {
		// Two enclosures of each variable are kept, with two mantissas each.
		spare := o.MaxMemory/int64(ck.number()) - bytesPerVariable
		ck.o.MaxPrecision = min(o.MaxPrecision, 192+uint(max(spare, 0)))
	}
	return ck, nil
}

// claimsOn reports whether there are claims on a mechanism.
func (ck *checker) claimsOn(name string) bool {
	for _, q := range ck.cert.claims {
		if q.On == "error "+name || q.On == "ratio "+name {
			return true
		}
	}
	return false
}

// decide returns why the certificate is not valid, and "" if it is.
func (ck *checker) decide() (reason string, err error) {
	// Somewhat more than the writer had, so that claims that are as tight as its
	// arithmetic was are decided at the first attempt.
	prec := min(uint(min(ck.cert.precision, 960))+64, ck.o.MaxPrecision)
	for prec = max(prec, 128); ; prec = min(2*prec, ck.o.MaxPrecision) {
		res, why, err := ck.results(prec)
		if err != nil || why != "" {
			return why, err
		}
		open := res.open
		for i := range ck.cert.claims {
			q := &ck.cert.claims[i]
			v, why := ck.claim(q, res)
			if v == undecided && res.em.rat == nil && (q.On == "error em" || q.On == "ratio em") && ck.exactEM(q, prec) {
				if res.em, err = ck.emExact(); err != nil {
					return "", err
				}
				v, why = ck.claim(q, res)
			}
			switch v {
			case fails:
				return "claim " + q.On + ": " + why, nil
			case undecided:
				open = fmt.Sprintf("claim %s: not decided at %d bits: %s", q.On, prec, why)
			}
			q.Follows = v == holds
		}
		if open == "" {
			return "", nil
		}
		if prec >= ck.o.MaxPrecision {
			return "", fmt.Errorf("%w: %s", ErrLimit, open)
		}
	}
}

// claim decides whether a claim follows, and says what holds instead if not.
func (ck *checker) claim(q *Claim, r results) (verdict, string) {
	low, high := r.lower, r.upper
	switch q.On {
	case "optimum":
	case "error pf":
		low, high = r.flip, r.flip
	case "error em":
		low, high = r.em, r.em
	default:
		e := r.flip
		if q.On == "ratio em" {
			e = r.em
		}
		one := exactly(big.NewRat(1, 1))
		low, high = one, one
		if ck.cert.n == 1 || ck.cert.k == 0 {
			break // error and optimum are 0
		}
		if q.On == "ratio pf" && ck.cert.proof == "dual-recurrence" {
			break // they are the same number
		}
		switch s, ok := r.lower.sign(); {
		case !ok:
			return undecided, "the lower bound on the optimum is not known to be positive"
		case s <= 0:
			return fails, "the lower bound on the optimum is not positive"
		}
		// Either mechanism is feasible in the program, at every level, so that its ratio is at least 1.
		if s, ok := r.upper.sign(); ok && s > 0 {
			low = e.quo(r.upper).max(one)
		}
		high = e.quo(r.lower).max(one)
	}
	below, above := exactly(q.lower).lessEq(low), high.lessEq(exactly(q.upper))
	switch {
	case below != holds:
		return below.and(above), fmt.Sprintf("%v and more is claimed, %v is proved", exactly(q.lower), low)
	case above != holds:
		return above, fmt.Sprintf("%v and less is claimed, %v is proved", exactly(q.upper), high)
	}
	return holds, ""
}
