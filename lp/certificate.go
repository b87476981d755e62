package lp

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"optratio/internal/certtext"
	"optratio/internal/decimal"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// ErrNoCertificate says that an answer's proof has no certificate format.
var ErrNoCertificate = certtext.ErrNone

// WriteCertificate writes what proves the answer's enclosures of the optimum and of the errors
// and ratios of permute-and-flip and the exponential mechanism, in the format of docs/reference/certificate.md. The same answer gives the same bytes.
func (a *Answer) WriteCertificate(w io.Writer) error {
	if a.Request.Varied() && a.Evidence != nil {
		t, err := a.tabulated()
		if err != nil {
			return err
		}
		return t.WriteCertificate(w, a.Request.Level.String())
	}
	if a.Request.Varied() {
		return fmt.Errorf("%w: no program was solved; use method lp", ErrNoCertificate)
	}
	r := a.Request
	switch {
	case a.Evidence == nil && !slices.Contains([]string{ProofRecurrence, ProofClosedForm, ProofMonotone, ProofLumped}, a.Proof):
		return fmt.Errorf("%w: nothing was solved", ErrNoCertificate)
	case a.Proof == ProofMonotone:
		return fmt.Errorf("%w: proof %s", ErrNoCertificate, a.Proof)
	case a.Proof == ProofLumped && a.Evidence == nil:
		return fmt.Errorf("%w: its bounds are those of two methods; set Certified", ErrNoCertificate)
	case a.Proof == ProofLumped && max(r.N, r.K) > maxLumped:
		return fmt.Errorf("%w: proof %s with n or k above %d; use method closed-form", ErrNoCertificate, a.Proof, maxLumped)
	}
	var vars *lattice.Numbering
	if a.Proof == ProofLP {
		vars = a.Evidence.Program.vars
	}
	c := &certificateWriter{Text: variant.NewText(w, vars)}
	c.Line("n %d", r.N)
	c.Line("k %d", r.K)
	c.Epsilon(r.Epsilon)
	c.Line("objective %s", r.Objective)
	c.Line("constraints %s", r.Level)
	c.Line("proof %s", a.Proof)
	prec := uint(0)
	switch _, exact := a.Optimum.Rat(); {
	case a.Evidence != nil:
		prec = a.Evidence.Prec
	case !exact:
		prec = 192
	}
	c.Line("precision %d", prec)
	c.claims(a)
	switch a.Proof {
	case ProofLP:
		c.evidence(a.Evidence)
	case ProofLumped:
		y := a.Evidence.Classes.Multipliers
		a.Evidence.Classes.Tree.Visit(
			func(depth, count int) { c.Line("ask %d %d", depth, count) },
			func(class int) { c.Line("class %s", c.value(y[class])) })
		for _, q := range a.Evidence.Injections {
			where := "any"
			if q.Deepest {
				where = "deepest"
			}
			c.Line("product %d %d %d %s %s %s", q.Tops, q.Depth, q.Empty, where, c.value(q.Ratio), c.value(q.Amount))
		}
	}
	return c.End()
}

// maxLumped is what n and k may be in a certificate with proof lumped.
const maxLumped = 1 << 14

type certificateWriter struct {
	*variant.Text
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

func (c *certificateWriter) evidence(e *Evidence) {
	c.exact = e.Prec == 0
	p, prop := e.Program, e.Proposal
	for i, y := range prop.Dual {
		c.Line("dual %s %s", c.Orbit(i), c.value(y))
	}
	for j, s := range prop.Injection {
		if s != nil && s.Sign() > 0 && p.vars.Depth[j] > 0 {
			c.Line("inject %s %s", c.Variable(int32(j)), c.value(s))
		}
	}
	c.Rows("cut", prop.Cuts, func(i int) string {
		if mu := prop.Multiplier[i]; mu != nil && mu.Sign() > 0 {
			return c.value(mu)
		}
		return ""
	})
}

// value writes a rational, or a dyadic one as a hexadecimal float, exactly.
func (c *certificateWriter) value(x *big.Rat) string {
	if c.exact || x.Sign() == 0 {
		return x.RatString()
	}
	return decimal.Hex(x)
}
