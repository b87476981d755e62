package lp

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/certtext"
	"optratio/internal/decimal"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// ErrNoCertificate says that an answer's proof has no certificate format.
var ErrNoCertificate = certtext.ErrNone

// WriteCertificate writes what proves the answer's enclosures of the optimum and of the errors
// and ratios of permute-and-flip and the exponential mechanism, in the format of docs/reference/certificate.md: section program for the published question, section
// lattice for others. The same answer gives the same bytes.
func (a *Answer) WriteCertificate(w io.Writer) error {
	r := a.Request
	switch {
	case r.published():
	case a.evidence == nil:
		return fmt.Errorf("%w: no program was solved; use method lp", ErrNoCertificate)
	default:
		return a.writeLattice(w)
	}
	switch {
	case a.evidence == nil && !slices.Contains([]string{ProofRecurrence, ProofClosedForm, ProofMonotone, ProofLumped}, a.Proof):
		return fmt.Errorf("%w: nothing was solved", ErrNoCertificate)
	case a.Proof == ProofMonotone:
		return fmt.Errorf("%w: proof %s", ErrNoCertificate, a.Proof)
	case a.Proof == ProofLumped && a.evidence == nil:
		return fmt.Errorf("%w: its bounds are those of two methods; set Certified", ErrNoCertificate)
	case a.Proof == ProofLumped && max(r.N, r.K) > maxLumped:
		return fmt.Errorf("%w: proof %s with n or k above %d; use method closed-form", ErrNoCertificate, a.Proof, maxLumped)
	}
	return a.writeProgram(w)
}

// maxLumped is what n and k may be in a certificate with proof lumped.
const maxLumped = 1 << 14

// writeLattice writes section lattice.
func (a *Answer) writeLattice(w io.Writer) (err error) {
	t, ok := a.evidence.(*tableProof)
	if !ok {
		if t, err = a.evidence.(*chainProof).tabulated(&a.Request); err != nil {
			return err
		}
	}
	q := &a.Request
	c := certtext.NewWriter(w, "lattice")
	c.Line("n %d", q.N)
	c.Line("k %d", q.K)
	c.Line("step %d", q.parts())
	c.Line("top 1")
	if q.Delta != nil {
		c.Line("constraints %s", Approximate)
		c.Line("delta %s", q.Delta.RatString())
	} else {
		c.Line("constraints %s", q.Level)
	}
	var losses []string
	for _, x := range q.losses() {
		losses = append(losses, x.RatString())
	}
	c.Line("loss %s", strings.Join(losses, " "))
	prior := "weights"
	var weights []*big.Rat
	switch {
	case q.Worst:
		prior = "worst"
	case q.Prior.flat():
		prior = q.Prior.String()
	default:
		weights = t.program.weights
	}
	c.Line("prior %s", prior)
	c.Epsilon(q.Epsilon.Exp(), q.Epsilon.Eps())
	c.Line("precision %d", t.Precision())
	x := t.optimum()
	c.Claim(x.Ends())
	// The multipliers are in the units of the prior and the loss.
	t.program.Write(c, t.Solution, new(big.Rat).Mul(t.program.unit, t.program.mass), weights)
	return c.End()
}

// writeProgram writes section program.
func (a *Answer) writeProgram(w io.Writer) error {
	c := &certificateWriter{Writer: certtext.NewWriter(w, "program")}
	r, prec := &a.Request, uint(0)
	switch e := a.evidence.(type) {
	case *chainProof:
		c.vars, prec = e.program.vars, e.prec
	case *lumpedProof:
		prec = e.prec
	default:
		if !a.Optimum.IsExact() {
			prec = 192
		}
	}
	objective := "paper"
	if r.Prior.box() {
		objective = "box"
	}
	c.Line("n %d", r.N)
	c.Line("k %d", r.K)
	c.Epsilon(r.Epsilon.Exp(), r.Epsilon.Eps())
	c.Line("objective %s", objective)
	c.Line("constraints %s", r.Level)
	c.Line("proof %s", a.Proof)
	c.Line("precision %d", prec)
	c.claims(a)
	switch e := a.evidence.(type) {
	case *chainProof:
		c.chains(e)
	case *lumpedProof:
		c.lumped(e)
	}
	return c.End()
}

// certificateWriter writes section program, about a numbered lattice where lines name count vectors.
type certificateWriter struct {
	*certtext.Writer
	vars  *lattice.Numbering
	exact bool // values are rationals, not dyadic floats
}

// longClaim is the length from which an exact rational is claimed as an enclosing pair of decimals.
const longClaim = 4000

// maxClaimed is the number of variables beyond which nothing is claimed of the exponential mechanism, and no program is solved for a certificate: a checker
// would have to enumerate them.
const maxClaimed = 2_000_000

// ends returns a number as the two fields of a claim.
func ends(x number.Number) (lo, hi string, ok bool) {
	if r, exact := x.Rat(); exact {
		if s := r.RatString(); len(s) < longClaim {
			return s, s, true
		}
	}
	return x.Strings()
}

// registered reports whether every mechanism of the request that bears a name is the one registered under it: the checker knows that
// one alone.
func (a *Answer) registered(name string) bool {
	own, err := mechanisms.Lookup(name)
	return err == nil && !slices.ContainsFunc(a.Request.Mechanisms, func(m mechanisms.Mechanism) bool { return m.Info().Name == name && m != own })
}

func (c *certificateWriter) claims(a *Answer) {
	claim := func(what string, x number.Number) {
		if lo, hi, ok := ends(x); ok {
			c.Line("claim %s %s %s", what, lo, hi)
		}
	}
	claim("optimum", a.Optimum)
	named := func(what string, of func(Rated) number.Number) {
		for _, name := range []string{"pf", "em"} {
			if name == "em" && a.Variables.Cmp(big.NewInt(maxClaimed)) > 0 || !a.registered(name) {
				continue
			}
			for _, m := range a.Mechanisms {
				if m.Name == name {
					claim(what+" "+name, of(m))
				}
			}
		}
	}
	named("error", func(m Rated) number.Number { return m.Error })
	named("ratio", func(m Rated) number.Number { return m.Ratio })
}

// chains writes the dual, the injections, and the cuts in the order that the format prescribes: those of monotonicity first, then by their variables.
func (c *certificateWriter) chains(e *chainProof) {
	c.exact = e.prec == 0
	prop := &e.proposal
	for i, y := range prop.Dual {
		c.Line("dual %s %s", c.orbit(i), c.value(y))
	}
	for j, s := range prop.Injection {
		if s != nil && s.Sign() > 0 && c.vars.Depth[j] > 0 {
			c.Line("inject %s %s", c.variable(int32(j)), c.value(s))
		}
	}
	kind := map[bool]int{true: 1}
	type line struct {
		table.Row
		mu *big.Rat
	}
	var lines []line
	for i, row := range prop.Cuts {
		if mu := prop.Multiplier[i]; mu != nil && mu.Sign() > 0 {
			lines = append(lines, line{row, mu})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(kind[a.Private]-kind[b.Private], cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below))
	})
	for _, l := range lines {
		c.Line("cut %c %s %s %s", "mp"[kind[l.Private]], c.variable(l.Above), c.variable(l.Below), c.value(l.mu))
	}
}

func (c *certificateWriter) lumped(e *lumpedProof) {
	y := e.classes.Multipliers
	e.classes.Tree.Visit(
		func(depth, count int) { c.Line("ask %d %d", depth, count) },
		func(class int) { c.Line("class %s", c.value(y[class])) })
	for _, q := range e.injections {
		where := "any"
		if q.Deepest {
			where = "deepest"
		}
		c.Line("product %d %d %d %s %s %s", q.Tops, q.Depth, q.Empty, where, c.value(q.Ratio), c.value(q.Amount))
	}
}

// orbit returns the counts of an orbit.
func (c *certificateWriter) orbit(i int) string {
	counts := make([]int, c.vars.Lattice.K()+1)
	c.vars.Lattice.Unrank(i, counts)
	return strings.Trim(fmt.Sprint(counts), "[]")
}

// variable returns the depth and the counts of a variable.
func (c *certificateWriter) variable(j int32) string {
	return fmt.Sprint(c.vars.Depth[j], " ", c.orbit(int(c.vars.Orbit[j])))
}

// value writes a rational, or a dyadic one as a hexadecimal float, exactly.
func (c *certificateWriter) value(x *big.Rat) string {
	if c.exact || x.Sign() == 0 {
		return x.RatString()
	}
	return decimal.Hex(x)
}
