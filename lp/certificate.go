package lp

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/mechanisms"
	"optratio/number"
)

// ErrNoCertificate says that an answer's proof has no certificate format.
var ErrNoCertificate = errors.New("no certificate for this answer")

// WriteCertificate writes what proves the answer's enclosures of the optimum and of the errors
// and ratios of permute-and-flip and the exponential mechanism, in the format of docs/certificate.md. The same answer gives the same bytes.
func (a *Answer) WriteCertificate(w io.Writer) error {
	if a.varied != nil {
		return a.varied.WriteCertificate(w, a.Request.Level.String())
	}
	if a.Request.Varied() {
		return fmt.Errorf("%w: no program was solved; use --method lp", ErrNoCertificate)
	}
	if a.Proof == ProofLumped || a.Proof == ProofMonotone {
		return fmt.Errorf("%w: proof %s", ErrNoCertificate, a.Proof)
	}
	c := &certificateWriter{w: bufio.NewWriter(w)}
	r := a.Request
	c.line("optratio-certificate 1")
	c.line("n %d", r.N)
	c.line("k %d", r.K)
	if exp := r.Epsilon.Exp(); exp != nil {
		c.line("exp-epsilon %s", exp.RatString())
	} else {
		c.line("epsilon %s", r.Epsilon.Eps().RatString())
	}
	c.line("objective %s", r.Objective)
	c.line("constraints %s", r.Level)
	c.line("proof %s", a.Proof)
	prec := uint(0)
	switch _, exact := a.Optimum.Rat(); {
	case a.Evidence != nil:
		prec = a.Evidence.Prec
	case !exact:
		prec = 192
	}
	c.line("precision %d", prec)
	c.claims(a)
	if a.Proof == ProofLP {
		c.evidence(a.Evidence)
	}
	c.line("end %d", c.lines)
	return c.w.Flush()
}

type certificateWriter struct {
	w     *bufio.Writer
	lines int
	exact bool // values are rationals, not dyadic floats
}

func (c *certificateWriter) line(format string, args ...any) {
	fmt.Fprintf(c.w, format+"\n", args...) // bufio keeps the first error for Flush
	c.lines++
}

// longClaim is the length from which an exact rational is claimed as an enclosing pair of decimals.
const longClaim = 4000

// maxClaimed is the number of variables beyond which nothing is claimed of the exponential mechanism: a checker
// would have to enumerate them for its error.
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
			c.line("claim %s %s %s", what, lo, hi)
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
	counts := make([]int, p.K+1)
	vector := func(i int) string {
		p.lat.Unrank(i, counts)
		return strings.Trim(fmt.Sprint(counts), "[]")
	}
	for i, y := range prop.Dual {
		c.line("dual %s %s", vector(i), c.value(y))
	}
	for j, s := range prop.Injection {
		if s != nil && s.Sign() > 0 && p.vars.Depth[j] > 0 {
			c.line("inject %d %s %s", p.vars.Depth[j], vector(int(p.vars.Orbit[j])), c.value(s))
		}
	}
	order := make([]int, 0, len(prop.Cuts))
	for i := range prop.Cuts {
		if mu := prop.Multiplier[i]; mu != nil && mu.Sign() > 0 {
			order = append(order, i)
		}
	}
	kind := func(cut Cut) int {
		if cut.Private {
			return 1
		}
		return 0
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := prop.Cuts[a], prop.Cuts[b]
		return cmp.Or(kind(x)-kind(y), cmp.Compare(x.Above, y.Above), cmp.Compare(x.Below, y.Below))
	})
	for _, i := range order {
		cut := prop.Cuts[i]
		c.line("cut %c %d %s %d %s %s", "mp"[kind(cut)], p.vars.Depth[cut.Above], vector(int(p.vars.Orbit[cut.Above])),
			p.vars.Depth[cut.Below], vector(int(p.vars.Orbit[cut.Below])), c.value(prop.Multiplier[i]))
	}
}

// value writes a rational, or a dyadic one as a hexadecimal float, exactly.
func (c *certificateWriter) value(x *big.Rat) string {
	if c.exact || x.Sign() == 0 {
		return x.RatString()
	}
	return decimal.Hex(x)
}
