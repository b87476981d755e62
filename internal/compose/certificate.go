package compose

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/certtext"
)

// proof is what a certificate has.
type proof struct {
	problem *Problem
	target  target
	plan    *plan // whose tables have the upper end
	ranges  bool  // the upper end is that of all equal queries, which the checker divides into ranges
	events  *plan // whose tables have the attack that chooses by the answers before, at a node
	node    int
	asked   *asked  // the attack otherwise
	refuted *Answer // that of an ε which is too large, where the largest is claimed
	total   *big.Rat
}

// asked is the attack that asks the same at all selections of a step. Outcomes count for so many nodes of distance d; its event is that they come to more than a node.
type asked struct {
	d       float64
	node    int
	queries []query
}

// query is two candidates' x, and what the outcomes A and B count.
type query struct {
	x    float64
	a, b int
}

// asked counts how often B is selected.
func (e *Equal) asked() *asked {
	x := min(e.X, down(e.Kind.eps()))
	apart := e.Kind.loss(exact(x)).Add(e.Kind.loss(e.Kind.eps().Sub(exact(x))))
	return &asked{apart.Near(), -e.Most - 1, []query{{x, 0, -1}}}
}

var errNone = fmt.Errorf("%w: what basic composition says needs none, and there are no tables of so many selections", certtext.ErrNone)

// WriteCertificate writes what proves both ends, in the format of docs/reference/certificate.md.
func (a *Answer) WriteCertificate(w io.Writer) error {
	if a == nil {
		return errNone
	}
	lower := a // that has the attack
	if a.refuted != nil {
		lower = a.refuted
	}
	if a.total != nil && a.refuted == nil || a.plan == nil && !a.ranges || lower.events == nil && lower.asked == nil && lower.Lower.Lo().Sign() > 0 {
		return errNone
	}
	c := certtext.NewWriter(w, "compose")
	for _, st := range a.problem.Steps {
		name := st.Mechanism
		if name == "krr" {
			name = fmt.Sprintf("krr:%d", st.Candidates)
		}
		c.Line("selections %s %d %s", name, st.Count, st.Eps.Eps().RatString())
	}
	if a.target.eps {
		c.Values("delta", []*big.Rat{a.target.given})
	} else {
		c.Values("total", []*big.Rat{a.target.given})
	}
	if a.total != nil {
		c.Values("total", []*big.Rat{a.total})
	}
	switch {
	case a.ranges:
		c.Line("adversary equal")
	case a.plan.block < a.plan.count:
		c.Line("grid %s", dyadic(a.plan.d))
		c.Line("stride %d", a.plan.stride)
	default:
		c.Line("grid %s", dyadic(a.plan.d))
	}
	if a.refuted != nil {
		c.Claimed("parameter", a.problem.Steps[0].Eps.Eps(), a.refuted.problem.Steps[0].Eps.Eps())
	} else {
		low, _ := a.Lower.Lo().Rat(nil)
		high, _ := a.Upper.Hi().Rat(nil)
		c.Claimed("cost", low, high)
	}
	if !a.ranges {
		for _, r := range a.plan.tables {
			r.write(c)
		}
	}
	lower.writeAttack(c)
	return c.End()
}

func dyadic(x float64) string { return certtext.Value(new(big.Rat).SetFloat64(x)) }

func (r *row) write(c *certtext.Writer) {
	var values []string
	for i := 0; i <= r.n && (i < 2 || r.over[r.pad+i-1] > 0); i++ { // up to the first 0
		values = append(values, dyadic(r.over[r.pad+i]))
	}
	c.Line("bound %s", strings.Join(values, " "))
	if m := r.losses; m != nil {
		values = []string{dyadic(m.inf)}
		for _, x := range m.p {
			values = append(values, dyadic(x))
		}
		c.Line("losses %d %s", r.blocks, strings.Join(values, " "))
	}
}

func (p *proof) writeAttack(c *certtext.Writer) {
	switch {
	case p.asked != nil:
		c.Line("attack %s %d", dyadic(p.asked.d), p.asked.node)
		for _, q := range p.asked.queries {
			c.Line("query %s %d %d", dyadic(q.x), q.a, q.b)
		}
	case p.events != nil:
		for t, nodes := range p.wanted() {
			table := p.events.tables[t]
			for _, i := range slices.Sorted(maps.Keys(nodes)) {
				m := table.moves[i]
				c.Line("event %d %d %s %d %d", t+1, i, dyadic(m.x), i+m.a, i+m.b)
			}
		}
	}
}

// wanted are the nodes whose events make up the attack, after so many selections less one.
func (p *proof) wanted() []map[int]bool {
	tables := p.events.tables
	all := make([]map[int]bool, len(tables))
	wanted := map[int]bool{p.node: true}
	for t := len(tables) - 1; t >= 0; t-- {
		all[t] = map[int]bool{}
		below := map[int]bool{}
		for i := range wanted {
			if i = abs(i); i > tables[t].n || tables[t].moves[i] == nil {
				continue // its event is empty
			}
			all[t][i] = true
			m := tables[t].moves[i]
			below[i], below[i+m.a], below[i+m.b] = true, true, true
		}
		wanted = below
	}
	return all
}
