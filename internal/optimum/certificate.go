package optimum

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"

	"optratio/internal/certtext"
	"optratio/internal/table"
)

// WriteCertificate writes what proves the enclosure of the optimum, as a section of docs/reference/certificate.md: the problem, a table and multipliers,
// of all inputs and outputs and not of their classes. The same answer gives the same bytes.
func (a *Result) WriteCertificate(w io.Writer) error {
	if a.program == nil {
		return fmt.Errorf("%w: nothing was solved", certtext.ErrNone)
	}
	q, p := a.program, a.program.problem
	full, s, err := q.full(a.solution)
	if err != nil {
		return err
	}
	state := a.request.Statement
	inFull := state == nil || q.delta.Sign() > 0
	if inFull {
		state = []string{"table", fmt.Sprint("inputs ", len(p.Inputs)), fmt.Sprint("outputs ", len(p.Outputs)), "delta " + certtext.Value(q.delta)}
	}
	c := certtext.NewWriter(w, state[0])
	for _, line := range state[1:] {
		c.Line("%s", line)
	}
	c.Epsilon(q.epsilon.Exp(), q.epsilon.Eps())
	c.Line("precision %d", s.Precision())
	c.Claim(new(big.Rat).Mul(s.Lower, q.unit), new(big.Rat).Mul(s.Upper, q.unit))
	if inFull {
		writeProblem(c, p, full.Weight)
	}
	full.Write(c, s, q.unit, nil)
	return c.End()
}

// writeProblem writes the problem in full. weights are those of the prior.
func writeProblem(c *certtext.Writer, p *Problem, weights []*big.Int) {
	if p.Prior == nil {
		c.Line("prior worst")
	} else {
		prior := make([]*big.Rat, len(weights))
		for x, n := range weights {
			prior[x] = new(big.Rat).SetInt(n)
		}
		c.Values("prior", prior)
	}
	for _, row := range p.Loss {
		c.Values("loss", row)
	}
	for x := range p.Inputs {
		for o := range p.Outputs {
			if p.forbidden(x, o) {
				c.Line("forbidden %d %d", x, o)
			}
		}
	}
	writePairs(c, p)
}

// writePairs writes the pairs: both directions in one line where they have one distance.
func writePairs(c *certtext.Writer, p *Problem) {
	arcs, distances := p.arcs()
	at := map[[2]int]int{}
	for _, a := range arcs {
		at[[2]int{a.above, a.below}] = a.distance
	}
	for _, a := range arcs { // sorted
		back, both := at[[2]int{a.below, a.above}]
		switch {
		case !both || back != a.distance:
			c.Line("arrow %d %d %s", a.above, a.below, distances[a.distance].RatString())
		case a.above < a.below:
			c.Line("pair %d %d %s", a.above, a.below, distances[a.distance].RatString())
		}
	}
}

// full returns the problem's program with all inputs, outputs and pairs, in which only forbidden cells have to be 0, and what the solution says of it.
func (q *program) full(s *table.Solution) (*table.Program, *table.Solution, error) {
	all := &program{problem: q.problem, epsilon: q.epsilon, delta: q.delta}
	all.arcs, all.distances = q.problem.arcs()
	all.zeros = slices.DeleteFunc(slices.Clone(q.zeros), func(z zero) bool { return z.from != isForbidden })
	all.number(all.apart())
	all.fill()
	t := all.table
	low, high := all.stated(s)
	t.Factors = func(uint) ([]*big.Rat, []*big.Rat) { return low, high }
	var x, weight []*big.Rat
	for _, row := range q.inputs() {
		for _, j := range row {
			x, t.Interior = append(x, s.Table.At(int(j))), append(t.Interior, q.table.Interior[j])
		}
	}
	if t.Worst {
		size := make([]int64, len(q.first))
		groups := q.group[:len(q.inputs())]
		for _, g := range groups {
			size[g]++
		}
		for _, g := range groups {
			weight = append(weight, new(big.Rat).SetFrac(s.Dual.Weight[g], new(big.Int).Mul(s.Dual.Den, big.NewInt(size[g]))))
		}
	}
	cuts, nu := q.spreadMultipliers(s)
	more, mu := q.bindZeros(all, weight, cuts, nu)
	restated, err := t.Prove(x, weight, append(cuts, more...), append(nu, mu...), low, high)
	return t, restated, err
}

// stated returns the factors as a certificate has them: exact only where e^ε is rational and the distance is whole, as its format knows no roots.
func (q *program) stated(s *table.Solution) (low, high []*big.Rat) {
	low, high = q.table.Factors(max(128, uint(s.Precision())))
	for i, d := range q.distances {
		if exp := q.epsilon.Exp(); exp == nil || d.Sign() == 0 || q.epsilon.IsZero() ||
			d.IsInt() && d.Num().IsInt64() && float64(max(exp.Num().BitLen(), exp.Denom().BitLen()))*float64(d.Num().Int64()) <= 1<<13 {
			continue
		}
		low[i], high[i] = table.Enclosed(q.epsilon, d, 128)
	}
	return low, high
}

// spreadMultipliers spreads the multipliers of a solution over the cuts of the whole problem that they stand for, evenly.
func (q *program) spreadMultipliers(s *table.Solution) (cuts []table.Cut, nu []*big.Rat) {
	if q.hubs != nil {
		return q.unhub(s)
	}
	arcs := map[[3]int][]arc{} // by the groups above and below and the distance
	for _, a := range q.arcs {
		key := [3]int{int(q.group[a.above]), int(q.group[a.below]), a.distance}
		arcs[key] = append(arcs[key], a)
	}
	for i, c := range s.Dual.Rows {
		part, by := c.Parts[0], q.table.Nu(s.Dual, i)
		spread := q.standsFor(c, arcs[[3]int{q.groupOf(part.Above), q.groupOf(part.Below), int(part.Distance)}])
		by.Quo(by, new(big.Rat).SetInt64(int64(len(spread))))
		for _, c := range spread {
			cuts, nu = append(cuts, c), append(nu, by)
		}
	}
	return cuts, nu
}

// standsFor returns the cuts of the whole problem, on these arcs between two groups, that a cut of the groups stands for.
func (q *program) standsFor(c table.Cut, arcs []arc) (spread []table.Cut) {
	m := int32(len(q.problem.Outputs))
	place := map[[2]int32]int64{} // of the parts, how many outputs each is of
	for _, part := range c.Parts {
		place[[2]int32{part.Above, part.Below}] = part.Candidates
	}
	for _, a := range arcs {
		var event []table.Part
		count := map[[2]int32]int64{}
		for o := range m {
			cells := [2]int32{q.cell[a.above][o], q.cell[a.below][o]}
			if place[cells] == 0 {
				continue
			}
			count[cells]++
			cut := single(int32(a.above)*m+o, int32(a.below)*m+o, int32(a.distance))
			if event = append(event, cut.Parts...); q.delta.Sign() == 0 { // each row alone
				spread = append(spread, cut)
			}
		}
		if q.delta.Sign() > 0 && maps.Equal(count, place) {
			spread = append(spread, table.Cut{Parts: event, Private: true})
		}
	}
	return spread
}

// bindZeros returns rows, with multipliers, that make cells unattractive which are not forbidden but have to be 0, since rows lead to them from forbidden ones: as the
// bound of a certificate knows of forbidden cells alone. all is the program of the whole problem.
func (q *program) bindZeros(all *program, weight []*big.Rat, cuts []table.Cut, nu []*big.Rat) (more []table.Cut, mu []*big.Rat) {
	n, m := len(q.problem.Inputs), len(q.problem.Outputs)
	if len(q.zeros) == 0 || q.zeros[len(q.zeros)-1].from == isForbidden { // those come first
		return nil, nil
	}
	low, _ := all.table.Factors(0)
	if weight == nil {
		for _, w := range all.table.Weight {
			weight = append(weight, new(big.Rat).SetInt(w))
		}
	}
	cost := make([]*big.Rat, n*m) // losses times weights, and what multipliers make of them
	for j, l := range all.table.Loss {
		cost[j] = new(big.Rat).Mul(weight[j/m], new(big.Rat).SetInt(l))
	}
	add := func(c table.Cut, by *big.Rat) {
		for _, part := range c.Parts {
			cost[part.Above].Sub(cost[part.Above], by)
			cost[part.Below].Add(cost[part.Below], new(big.Rat).Mul(low[part.Distance], by))
		}
	}
	for i, c := range cuts {
		add(c, nu[i])
	}
	least, isZero := make([]*big.Rat, n), make([]bool, n*m)
	for _, z := range q.zeros {
		isZero[z.input*m+z.output] = true
	}
	for j, c := range cost {
		if x := j / m; !isZero[j] && (least[x] == nil || c.Cmp(least[x]) < 0) {
			least[x] = c
		}
	}
	for _, z := range slices.Backward(q.zeros) {
		at := z.input*m + z.output
		if lack := new(big.Rat).Sub(least[z.input], cost[at]); z.from != isForbidden && lack.Sign() > 0 {
			c := single(int32(z.from*m+z.output), int32(at), int32(z.distance))
			by := lack.Quo(lack, low[z.distance])
			add(c, by)
			more, mu = append(more, c), append(mu, by)
		}
	}
	return more, mu
}
