package variant

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/certtext"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/number"
)

// WriteCertificate writes what proves the optimum's enclosure, as section lattice of the format of docs/reference/certificate.md. level names the constraints. The
// same solution gives the same bytes.
func (s *Solution) WriteCertificate(w io.Writer, level string) error {
	p := s.program
	q := &p.Question
	c := certtext.NewWriter(w, "lattice")
	c.Line("n %d", q.N)
	c.Line("k %d", q.K)
	c.Line("step %d", q.L)
	c.Line("top 1")
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
	prior, weights := "weights", p.weights
	switch {
	case q.Worst:
		prior = "worst"
	case q.Prior.kind == "" || q.Prior.kind == "box":
		prior, weights = q.Prior.String(), nil
	}
	c.Line("prior %s", prior)
	c.Epsilon(q.Epsilon.Exp(), q.Epsilon.Eps())
	c.Line("precision %d", s.Precision())
	c.Claim(s.Optimum.Low, s.Optimum.High)
	// The multipliers are in the units of the prior and the loss.
	unit := p.unit
	if !q.Worst {
		unit = new(big.Rat).Mul(unit, p.mass)
	}
	p.table.Write(c, s.Solution, unit, weights)
	return c.End()
}

// Text writes the lines of a certificate about a numbered lattice.
type Text struct {
	*certtext.Writer
	vars *lattice.Numbering
}

// NewText begins section program of a certificate, about a numbered lattice, which may be nil where no line names a count vector.
func NewText(w io.Writer, vars *lattice.Numbering) *Text {
	return &Text{certtext.NewWriter(w, "program"), vars}
}

// Epsilon writes the line of ε, or of e^ε where that is known.
func (c *Text) Epsilon(eps number.Epsilon) { c.Writer.Epsilon(eps.Exp(), eps.Eps()) }

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
