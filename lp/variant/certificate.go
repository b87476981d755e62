package variant

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/lattice"
	"optratio/lp/table"
	"optratio/mechanisms"
	"optratio/verify/certificate/text"
)

// WriteCertificate writes what proves the optimum's enclosure, in version 2 of the format of docs/reference/certificate.md: multipliers of
// rows for the lower bound, a table that satisfies every row for the upper one. level names the constraints. The same solution gives the
// same bytes.
func (s *Solution) WriteCertificate(w io.Writer, level string) error {
	p := s.program
	q := &p.Question
	c := NewText(w, p.vars)
	c.Line("optratio-certificate 2")
	c.Line("n %d", q.N)
	c.Line("k %d", q.K)
	c.Line("step %d", q.L)
	prec := uint(0)
	c.Epsilon(q.Epsilon)
	if q.Epsilon.Exp() == nil {
		// both ends of z are dyadic and of about the same length
		prec = uint(max(s.ZLow.Denom().BitLen(), s.ZHigh.Denom().BitLen()))
	}
	if q.Delta != nil {
		c.Line("constraints %s", Approximate)
		c.Line("delta %s", q.Delta.RatString())
	} else {
		c.Line("constraints %s", level)
	}
	var losses []string
	for _, x := range p.losses {
		losses = append(losses, x.RatString())
	}
	c.Line("loss %s", strings.Join(losses, " "))
	prior := "weights"
	switch {
	case q.Worst:
		prior = "none"
	case q.Prior.kind == "" || q.Prior.kind == "box":
		prior = q.Prior.String()
	}
	c.Line("prior %s", prior)
	c.Line("precision %d", prec)
	c.Claim(s.Optimum.Low, s.Optimum.High)
	if prior == "weights" || prior == "none" {
		for i := range p.lat.Len() {
			x := new(big.Rat)
			if q.Worst {
				x.SetFrac(s.Dual.Weight[i], s.Dual.Den)
			} else {
				x.Set(p.weights[i])
			}
			if x.Sign() > 0 {
				c.Line("weight %s %s", c.Orbit(i), text.Value(x))
			}
		}
	}
	// The multipliers are in the units of the prior and the loss.
	unit := p.unit
	if !q.Worst {
		unit = new(big.Rat).Mul(unit, p.mass)
	}
	multiplier := func(i int) string { return text.Value(new(big.Rat).Mul(p.table.Nu(s.Dual, i), unit)) }
	if q.Delta != nil {
		c.events(s.Dual.Rows, multiplier)
	} else {
		rows := make([]table.Row, len(s.Dual.Rows))
		for i, r := range s.Dual.Rows {
			rows[i] = table.Row{Above: r.Parts[0].Above, Below: r.Parts[0].Below, Private: r.Private}
		}
		c.Rows("row", rows, multiplier)
	}
	for j := range p.vars.Len() {
		c.Line("cell %s %s", c.Variable(int32(j)), text.Value(s.Table.At(j)))
	}
	return c.End()
}

// Text writes the lines of a certificate about a numbered lattice.
type Text struct {
	*text.Writer
	vars *lattice.Numbering
}

// NewText begins a certificate about a numbered lattice, which may be nil where no line names a count vector.
func NewText(w io.Writer, vars *lattice.Numbering) *Text { return &Text{text.NewWriter(w), vars} }

// Epsilon writes the line of ε, or of e^ε where that is known.
func (c *Text) Epsilon(eps mechanisms.Epsilon) { c.Writer.Epsilon(eps.Exp(), eps.Eps()) }

// Orbit returns the counts of an orbit.
func (c *Text) Orbit(i int) string {
	counts := make([]int, c.vars.Lattice.K()+1)
	c.vars.Lattice.Unrank(i, counts)
	return strings.Trim(fmt.Sprint(counts), "[]")
}

// Variable returns the depth and the counts of a variable.
func (c *Text) Variable(j int32) string {
	return fmt.Sprint(c.vars.Depth[j], " ", c.Orbit(int(c.vars.Orbit[j])))
}

// Rows writes the lines of rows with their multipliers, in the order that the format prescribes: those of monotonicity first, then by their variables.
// A row whose multiplier is "" is left out.
func (c *Text) Rows(word string, rows []table.Row, multiplier func(i int) string) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	kind := map[bool]int{true: 1}
	slices.SortFunc(order, func(i, j int) int {
		a, b := rows[i], rows[j]
		return cmp.Or(kind[a.Private]-kind[b.Private], cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below))
	})
	for _, i := range order {
		if mu := multiplier(i); mu != "" {
			c.Line("%s %c %s %s %s", word, "mp"[kind[rows[i].Private]], c.Variable(rows[i].Above), c.Variable(rows[i].Below), mu)
		}
	}
}

// events writes the lines of events with their multipliers, in the order that the format prescribes: by their count vectors, then by their parts.
func (c *Text) events(events []table.Cut, multiplier func(i int) string) {
	type line struct {
		above, below int32 // orbits
		parts        []int // depth in one, depth in the other, candidates; and so on
		end          string
	}
	lines := make([]line, len(events))
	for i, e := range events {
		at := &lines[i]
		at.above, at.below = c.vars.Orbit[e.Parts[0].Above], c.vars.Orbit[e.Parts[0].Below]
		parts := slices.SortedFunc(slices.Values(e.Parts), func(a, b table.Part) int {
			return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below))
		})
		for _, q := range parts {
			at.parts = append(at.parts, int(c.vars.Depth[q.Above]), int(c.vars.Depth[q.Below]), int(q.Candidates))
		}
		at.end = strings.Trim(fmt.Sprint(at.parts), "[]") + " " + multiplier(i)
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(a.below, b.below), slices.Compare(a.parts, b.parts))
	})
	for _, l := range lines {
		c.Line("event %s %s %s", c.Orbit(int(l.above)), c.Orbit(int(l.below)), l.end)
	}
}
