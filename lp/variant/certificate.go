package variant

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/lp/table"
	"optratio/number"
)

// WriteCertificate writes what proves the optimum's enclosure, in version 2 of the format of docs/certificate.md: multipliers of
// rows for the lower bound, a table that satisfies every row for the upper one. level names the constraints. The same solution gives the
// same bytes.
func (s *Solution) WriteCertificate(w io.Writer, level string) error {
	c := &writer{w: bufio.NewWriter(w), program: s.program}
	p := s.program
	q := &p.Question
	c.line("optratio-certificate 2")
	c.line("n %d", q.N)
	c.line("k %d", q.K)
	c.line("step %d", q.L)
	prec := uint(0)
	if exp := q.Epsilon.Exp(); exp != nil {
		c.line("exp-epsilon %s", exp.RatString())
	} else {
		c.line("epsilon %s", q.Epsilon.Eps().RatString())
		// both ends of z are dyadic and of about the same length
		prec = uint(max(s.ZLow.Denom().BitLen(), s.ZHigh.Denom().BitLen()))
	}
	c.line("constraints %s", level)
	var losses []string
	for _, x := range p.losses {
		losses = append(losses, x.RatString())
	}
	c.line("loss %s", strings.Join(losses, " "))
	prior := "weights"
	switch {
	case q.Worst:
		prior = "none"
	case q.Prior.kind == "" || q.Prior.kind == "box":
		prior = q.Prior.String()
	}
	c.line("prior %s", prior)
	c.line("precision %d", prec)
	low, high := s.Optimum.Low.RatString(), s.Optimum.High.RatString()
	if !s.Optimum.Exact() {
		low, high, _ = number.Bounds(s.Optimum.Low, s.Optimum.High).Strings()
	}
	c.line("claim optimum %s %s", low, high)
	if prior == "weights" || prior == "none" {
		for i := range p.lat.Len() {
			x := new(big.Rat)
			if q.Worst {
				x.SetFrac(s.Dual.Weight[i], s.Dual.Den)
			} else {
				x.Set(p.weights[i])
			}
			if x.Sign() > 0 {
				c.line("weight %s %s", c.vector(int32(i)), value(x))
			}
		}
	}
	c.rows(s)
	for j := range p.vars.Len() {
		c.line("cell %d %s %s", p.vars.Depth[j], c.vector(p.vars.Orbit[j]), value(s.Table.At(j)))
	}
	c.line("end %d", c.lines)
	return c.w.Flush()
}

type writer struct {
	w       *bufio.Writer
	lines   int
	program *Program
	counts  []int
}

func (c *writer) line(format string, args ...any) {
	fmt.Fprintf(c.w, format+"\n", args...) // bufio keeps the first error for Flush
	c.lines++
}

// vector writes the counts of an orbit.
func (c *writer) vector(orbit int32) string {
	if c.counts == nil {
		c.counts = make([]int, c.program.lat.K()+1)
	}
	c.program.lat.Unrank(int(orbit), c.counts)
	return strings.Trim(fmt.Sprint(c.counts), "[]")
}

// rows writes the multipliers of the rows x_a >= ρ x_b: those of table, which are of rows between the masses Count·x, times Count_a, and in
// the units of the prior and the loss.
func (c *writer) rows(s *Solution) {
	p := c.program
	order := make([]int, len(s.Dual.Rows))
	for i := range order {
		order[i] = i
	}
	kind := func(r table.Row) int {
		if r.Private {
			return 1
		}
		return 0
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := s.Dual.Rows[i], s.Dual.Rows[j]
		return cmp.Or(kind(a)-kind(b), cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below))
	})
	unit := p.unit
	if !p.Question.Worst {
		unit = new(big.Rat).Mul(unit, p.mass)
	}
	for _, i := range order {
		r := s.Dual.Rows[i]
		nu := new(big.Rat).SetFrac(s.Dual.Multiplier[i], s.Dual.Den)
		nu.Mul(nu, new(big.Rat).SetInt64(int64(p.vars.Count[r.Above])))
		nu.Mul(nu, unit)
		c.line("row %c %d %s %d %s %s", "mp"[kind(r)], p.vars.Depth[r.Above], c.vector(p.vars.Orbit[r.Above]),
			p.vars.Depth[r.Below], c.vector(p.vars.Orbit[r.Below]), value(nu))
	}
}

// value writes a rational, or a dyadic one as a hexadecimal float, exactly.
func value(x *big.Rat) string {
	if d := x.Denom(); !x.IsInt() && d.TrailingZeroBits() == uint(d.BitLen()-1) {
		return decimal.Hex(x)
	}
	return x.RatString()
}
