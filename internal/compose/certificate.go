package compose

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"

	"optratio/internal/certtext"
)

// proof is what a certificate has: the profiles of 1, 2, … selections, the last ones first, and the node of the attack.
type proof struct {
	problem *Problem
	target  target
	tables  []*table
	node    int
}

// WriteCertificate writes what proves both ends, in the format of docs/reference/certificate.md.
func (a *Answer) WriteCertificate(w io.Writer) error {
	if a.proof == nil {
		return fmt.Errorf("%w: tables of so many selections would be too large, and what basic composition says needs none", certtext.ErrNone)
	}
	c := certtext.NewWriter(w, "compose")
	for _, st := range a.proof.problem.Steps {
		name := st.Mechanism
		if name == "krr" {
			name = fmt.Sprintf("krr:%d", st.Candidates)
		}
		c.Line("selections %s %d %s", name, st.Count, st.Eps.Eps().RatString())
	}
	if t := a.proof.target; t.eps {
		c.Values("delta", []*big.Rat{t.given})
	} else {
		c.Values("total", []*big.Rat{t.given})
	}
	last := a.proof.tables[len(a.proof.tables)-1]
	dyadic := func(x float64) string { return certtext.Value(new(big.Rat).SetFloat64(x)) }
	c.Line("grid %s", dyadic(last.d))
	lower, _ := a.Lower.Lo().Rat(nil)
	upper, _ := a.Upper.Hi().Rat(nil)
	c.Cost(lower, upper)
	for _, t := range a.proof.tables {
		var row []*big.Rat
		for i := 0; i <= t.n && (i < 2 || t.over[t.pad+i-1] > 0); i++ { // up to the first 0
			row = append(row, new(big.Rat).SetFloat64(t.over[t.pad+i]))
		}
		c.Values("bound", row)
	}
	for t, nodes := range a.proof.events() {
		table := a.proof.tables[t]
		for _, i := range slices.Sorted(maps.Keys(nodes)) {
			m := table.moves[i]
			c.Line("event %d %d %s %d %d", t+1, i, dyadic(m.x), i+m.a, i+m.b)
		}
	}
	return c.End()
}

// events are the nodes whose events make up the attack, after so many selections less one.
func (p *proof) events() []map[int]bool {
	all := make([]map[int]bool, len(p.tables))
	wanted := map[int]bool{p.node: true}
	for t := len(p.tables) - 1; t >= 0; t-- {
		all[t] = map[int]bool{}
		below := map[int]bool{}
		for i := range wanted {
			if i = abs(i); i > p.tables[t].n || p.tables[t].moves[i] == nil {
				continue // its event is empty
			}
			all[t][i] = true
			m := p.tables[t].moves[i]
			below[i], below[i+m.a], below[i+m.b] = true, true, true
		}
		wanted = below
	}
	return all
}
