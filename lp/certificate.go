package lp

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/arith"
	"optratio/internal/certtext"
	"optratio/internal/decimal"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// WriteCertificate writes what proves the answer's enclosures of the optimum and of the errors
// and ratios of permute-and-flip and the exponential mechanism, in the format of docs/reference/certificate.md: section program for the published question, section
// lattice for others. The same answer gives the same bytes.
func (a *Answer) WriteCertificate(w io.Writer) error {
	r := a.request
	switch {
	case r.published():
	case a.evidence == nil:
		return fmt.Errorf("%w: no program was solved; use method lp", certtext.ErrNone)
	default:
		return a.writeLattice(w)
	}
	switch {
	case a.evidence == nil && !slices.Contains([]string{proofRecurrence, proofClosedForm, proofMonotone, proofLumped}, a.Proof):
		return fmt.Errorf("%w: nothing was solved", certtext.ErrNone)
	case a.Proof == proofMonotone:
		return fmt.Errorf("%w: proof %s", certtext.ErrNone, a.Proof)
	case a.Proof == proofLumped && a.evidence == nil:
		return fmt.Errorf("%w: its bounds are those of two methods; set Certified", certtext.ErrNone)
	case a.Proof == proofLumped && max(r.N, r.K) > maxLumped:
		return fmt.Errorf("%w: proof %s with n or k above %d; use method closed-form", certtext.ErrNone, a.Proof, maxLumped)
	}
	return a.writeProgram(w)
}

// maxLumped is what n and k may be in a certificate with proof lumped.
const maxLumped = 1 << 14

// writeLattice writes section lattice.
func (a *Answer) writeLattice(w io.Writer) error {
	t, q := a.evidence.(*proof), &a.request
	c := certtext.NewWriter(w, "lattice")
	c.Line("n %d", q.N)
	c.Line("k %d", q.K)
	c.Line("step %d", q.parts())
	c.Line("top 1")
	if q.Delta != nil {
		c.Line("constraints approximate")
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
	r, prec := &a.request, uint(0)
	switch e := a.evidence.(type) {
	case *proof:
		c.vars, prec = e.program.vars, e.precision()
	case *lumpedProof:
		prec = e.prec
	default:
		if !arith.IsExact(a.Optimum) {
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
	case *proof:
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
	return err == nil && !slices.ContainsFunc(a.request.Mechanisms, func(m mechanisms.Mechanism) bool { return m.Info().Name == name && m != own })
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
			if name == "em" && a.request.hasMore(maxClaimed) || !a.registered(name) {
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
func (c *certificateWriter) chains(s *proof) {
	c.exact = s.precision() == 0
	for i := range s.program.lat.Len() {
		c.Line("dual %s %s", c.orbit(i), c.value(s.sum(i)))
	}
	if !s.flip {
		s.injections(func(j int32, amount *big.Rat) { c.Line("inject %s %s", c.variable(j), c.value(amount)) })
	}
	type line struct {
		table.Row
		mu *big.Rat
	}
	var lines []line
	s.cuts(func(r table.Row, mu *big.Rat) { lines = append(lines, line{r, mu}) })
	kind := map[bool]int{true: 1}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(kind[a.Private]-kind[b.Private], cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below))
	})
	for _, l := range lines {
		c.Line("cut %c %s %s %s", "mp"[kind[l.Private]], c.variable(l.Above), c.variable(l.Below), c.value(l.mu))
	}
}

// precision is that of the evaluation in bits, 0 for exact.
func (s *proof) precision() uint {
	if s.Lower.Cmp(s.Upper) == 0 && s.Precision() == 0 {
		return 0
	}
	return max(uint(s.Precision()), 128)
}

// dyadic rounds what is not exact to 2p bits, p the precision, downwards.
func (s *proof) dyadic(x *big.Rat) *big.Rat {
	bits := int(2 * s.precision())
	if bits == 0 {
		return x
	}
	bits = max(0, bits+x.Denom().BitLen()-x.Num().BitLen())
	n := new(big.Int).Lsh(x.Num(), uint(bits))
	return x.SetFrac(n.Div(n, x.Denom()), new(big.Int).Lsh(one, uint(bits)))
}

var one = big.NewInt(1)

// sum returns the multiplier of an orbit's row (E) per unit of its mass.
func (s *proof) sum(orbit int) *big.Rat {
	y := new(big.Rat).SetFrac(s.Dual.Sums[orbit], s.Dual.Den)
	y.Mul(y, s.program.unit).Mul(y, s.program.mass)
	return s.dyadic(y.Quo(y, new(big.Rat).SetInt(s.program.vectors[orbit])))
}

// cuts visits the rows that the bound uses beside the paper's, with their multipliers in the scaling u_above - ρ (w_above/w_below) u_below >= 0 where w = N(m) m_v.
func (s *proof) cuts(visit func(r table.Row, mu *big.Rat)) {
	p := s.program
	for i, c := range s.Dual.Rows {
		q := c.Parts[0]
		if c.Private && p.vars.Up[q.Above] == q.Below {
			continue
		}
		mu := s.program.Nu(s.Dual, i)
		mu.Mul(mu, p.unit).Mul(mu, p.mass)
		w := big.NewInt(int64(p.vars.Count[q.Above]))
		w.Mul(w, p.vectors[p.vars.Orbit[q.Above]])
		visit(table.Row{Above: q.Above, Below: q.Below, Private: c.Private}, s.dyadic(mu.Quo(mu, new(big.Rat).SetInt(w))))
	}
}

// injections visits what the variables have above the least values that their rows (P) allow, in units u.
func (s *proof) injections(visit func(j int32, amount *big.Rat)) {
	p := s.program
	for i := range p.lat.Len() {
		w := new(big.Rat).SetInt(p.vectors[i])
		for j := p.vars.First[i] + 1; j < p.vars.First[i+1]; j++ {
			if amount := s.Above(j, p.vars.Up[j]); amount.Sign() > 0 {
				amount.Mul(amount, w)
				visit(j, s.dyadic(amount.Mul(amount, big.NewRat(int64(p.vars.Count[j]), 1))))
			}
		}
	}
}

func (c *certificateWriter) lumped(e *lumpedProof) {
	y := e.classes.Multipliers
	e.classes.Tree.Visit(
		func(depth, count int) { c.Line("ask %d %d", depth, count) },
		func(class int) { c.Line("class %s", c.value(y[class])) })
}

// orbit returns the counts of an orbit.
func (c *certificateWriter) orbit(i int) string {
	_, k := c.vars.Lattice.Size()
	counts := make([]int, k+1)
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
