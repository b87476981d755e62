package ratiomap

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	certificate "optratio/internal/certtext"
	"optratio/lattice"
)

// WriteCertificate writes what proves the cover's bound at every ε, in the format of docs/reference/certificate.md. The same cover gives the same bytes.
func (c *Cover) WriteCertificate(w io.Writer) error {
	out := certificate.NewWriter(w, "interval")
	out.Line("n %d", c.N)
	out.Line("k %d", c.K)
	out.Line("constraints %s", c.Level)
	out.Line("claim ratio pf 0 1 %s", c.Bound().RatString())
	order := c.order()
	for _, i := range c.Intervals {
		switch i.Proof {
		case ProofThreshold:
			out.Line("threshold %s", i.To.RatString())
		case ProofClosedForm:
			out.Line("closed-form %s", i.Bound.RatString())
		}
	}
	for i, d := range c.nodes {
		if i == 0 {
			out.Line("top %d", c.form.top)
			out.Line("scale %d", 1<<multiplierBits)
		} else {
			out.Line("bound %s", c.Intervals[len(c.Intervals)-len(c.nodes)+i].Bound.RatString())
		}
		var node strings.Builder
		for _, class := range order {
			fmt.Fprintf(&node, " %d", d.y[class]>>(unitBits-multiplierBits))
		}
		out.Line("node %s%s", rational(d.z).RatString(), node.String())
		if err := c.writeCuts(out, d); err != nil {
			return err
		}
	}
	return out.End()
}

// order returns the classes in the order that certificates have them: by start, greatest depth, and the counts from the start on.
func (c *Cover) order() []int {
	if c.form == nil {
		return nil
	}
	order := make([]int, len(c.form.classes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := c.form.classes[a], c.form.classes[b]
		s, t := startOf(x), startOf(y)
		return cmp.Or(cmp.Compare(s, t), cmp.Compare(lattice.Deepest(x), lattice.Deepest(y)), slices.Compare(x[s:min(s+c.form.top, c.K+1)], y[t:min(t+c.form.top, c.K+1)]))
	})
	return order
}

var one = big.NewRat(1, 1)

// writeCuts writes the rows of monotonicity of a node with their multipliers.
func (c *Cover) writeCuts(out *certificate.Writer, d *dual) error {
	if len(d.cuts) == 0 {
		return nil
	}
	l, err := lattice.New(c.N, c.K)
	if err != nil {
		return err
	}
	vars := l.Number()
	variable := func(j int32) string {
		m := make([]int, c.K+1)
		l.Unrank(int(vars.Orbit[j]), m)
		return fmt.Sprintf("%d %s", vars.Depth[j], strings.Trim(fmt.Sprint(m), "[]"))
	}
	for _, r := range d.cuts {
		out.Line("cut m %s %s %s", variable(r.above), variable(r.below), big.NewRat(r.mu, 1<<unitBits).RatString())
	}
	return nil
}
