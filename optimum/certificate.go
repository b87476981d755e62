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

// ErrNoCertificate says that nothing was solved.
var ErrNoCertificate = fmt.Errorf("%w: nothing was solved", certtext.ErrNone)

// WriteCertificate writes what proves the enclosure of the optimum, as a section table of docs/reference/certificate.md: the problem in full, without the symmetries that
// were used, a table and multipliers. The same answer gives the same bytes.
func (a *Result) WriteCertificate(w io.Writer) error {
	if a.program == nil {
		return ErrNoCertificate
	}
	q, p := a.program, a.program.problem
	full, s, err := q.full(a.solution)
	if err != nil {
		return err
	}
	c := certtext.NewWriter(w, "table")
	c.Line("inputs %d", len(p.Inputs))
	c.Line("outputs %d", len(p.Outputs))
	c.Values("delta", []*big.Rat{q.delta})
	c.Epsilon(q.epsilon.Exp(), q.epsilon.Eps())
	c.Line("precision %d", s.Precision())
	c.Claim(new(big.Rat).Mul(s.Lower, q.unit), new(big.Rat).Mul(s.Upper, q.unit))
	if p.Prior == nil {
		c.Line("prior worst")
	} else {
		weights := make([]*big.Rat, len(full.Weight))
		for x, n := range full.Weight {
			weights[x] = new(big.Rat).SetInt(n)
		}
		c.Values("prior", weights)
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
	full.Write(c, s, q.unit, nil)
	return c.End()
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
	p := q.problem
	n, m := len(p.Inputs), len(p.Outputs)
	all := &program{problem: p, epsilon: q.epsilon, delta: q.delta, zero: make([][]bool, n)}
	all.arcs, all.distances = p.arcs()
	for x := range all.zero {
		all.zero[x] = make([]bool, m)
		for o := range m {
			all.zero[x][o] = p.forbidden(x, o)
		}
	}
	all.orbits(nil)
	all.fill()
	t := all.table
	low, high := all.stated(s)
	t.Factors = func(uint) ([]*big.Rat, []*big.Rat) { return low, high }
	x := make([]*big.Rat, n*m)
	values := q.expand(s)
	t.Interior = make([]*big.Rat, n*m)
	for i, row := range q.cell {
		for o, j := range row {
			x[i*m+o], t.Interior[i*m+o] = values[i][o], q.table.Interior[j]
		}
	}
	if all.unit.Cmp(q.unit) != 0 {
		return nil, nil, fmt.Errorf("optimum: losses are in units of %s and %s", all.unit, q.unit)
	}
	var weight []*big.Rat
	if t.Worst {
		size := make([]int64, len(q.first))
		for _, g := range q.group {
			size[g]++
		}
		for i := range n {
			g := q.group[i]
			weight = append(weight, new(big.Rat).SetFrac(s.Dual.Weight[g], new(big.Int).Mul(s.Dual.Den, big.NewInt(size[g]))))
		}
	}
	cuts, nu := q.lift(s)
	more, mu := q.bindImplied(all, weight, cuts, nu)
	restated, err := t.Restate(x, weight, append(cuts, more...), append(nu, mu...), low, high)
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
		if low[i], high[i] = table.Ends(q.epsilon.ExpNeg(d, 128)); high[i].Cmp(one) > 0 {
			high[i] = one
		}
	}
	return low, high
}

// lift spreads the multipliers of a solution over the cuts of the whole problem that they stand for, evenly.
func (q *program) lift(s *table.Solution) (cuts []table.Cut, nu []*big.Rat) {
	arcs := map[[3]int32][]arc{} // by the groups above and below and the distance
	for _, a := range q.arcs {
		key := [3]int32{q.group[a.above], q.group[a.below], int32(a.distance)}
		arcs[key] = append(arcs[key], a)
	}
	type side struct {
		hub      int32
		distance int32
	}
	lent, owing := map[side][]owed{}, map[side][]owed{} // of each cell of a hub, with the distance of its clique
	own := q.table.First[len(q.first)]                  // cells of inputs
	for i, c := range s.Dual.Rows {
		first := c.Parts[0]
		switch at := q.table.Nu(s.Dual, i); {
		case first.Below >= own:
			key := side{first.Below, int32(q.hubs[q.groupOf(first.Below)-int32(len(q.first))].distance)}
			lent[key] = append(lent[key], owed{first.Above, at})
			continue
		case first.Above >= own:
			key := side{first.Above, first.Distance}
			owing[key] = append(owing[key], owed{first.Below, at})
			continue
		}
		spread := q.standsFor(c, arcs[[3]int32{q.groupOf(first.Above), q.groupOf(first.Below), first.Distance}])
		each := q.table.Nu(s.Dual, i)
		each.Quo(each, new(big.Rat).SetInt64(int64(len(spread))))
		for _, c := range spread {
			cuts, nu = append(cuts, c), append(nu, each)
		}
	}
	for j := own; int(j) < len(q.table.Count); j++ {
		key := side{j, int32(q.hubs[q.groupOf(j)-int32(len(q.first))].distance)}
		more, mu := unhub(lent[key], owing[key], key.distance)
		cuts, nu = append(cuts, more...), append(nu, mu...)
	}
	return cuts, nu
}

// standsFor returns the cuts of the whole problem, on these arcs between two groups, that a cut of the groups stands for.
func (q *program) standsFor(c table.Cut, arcs []arc) (spread []table.Cut) {
	m := len(q.problem.Outputs)
	place := map[[2]int32]int64{} // of the parts, how many outputs each is of
	for _, part := range c.Parts {
		place[[2]int32{part.Above, part.Below}] = part.Candidates
	}
	for _, a := range arcs {
		var parts []table.Part
		count := map[[2]int32]int64{}
		for o := range m {
			cells := [2]int32{q.cell[a.above][o], q.cell[a.below][o]}
			if place[cells] > 0 {
				count[cells]++
				parts = append(parts, table.Part{Above: int32(a.above*m + o), Below: int32(a.below*m + o), Candidates: 1, Distance: c.Parts[0].Distance})
			}
		}
		if q.delta.Sign() == 0 { // each row alone
			for k := range parts {
				spread = append(spread, table.Cut{Parts: parts[k : k+1], Private: true})
			}
		} else if maps.Equal(count, place) {
			spread = append(spread, table.Cut{Parts: parts, Private: true})
		}
	}
	return spread
}

// groupOf returns the group of a cell.
func (q *program) groupOf(j int32) int32 {
	g, _ := slices.BinarySearch(q.table.First, j+1)
	return int32(g - 1)
}

// bindImplied returns rows, with multipliers, that make cells unattractive which are not forbidden but have to be 0, since rows lead to them from forbidden ones: as the
// bound of a certificate knows of forbidden cells alone. all is the program of the whole problem.
func (q *program) bindImplied(all *program, weight []*big.Rat, cuts []table.Cut, nu []*big.Rat) (more []table.Cut, mu []*big.Rat) {
	p := q.problem
	if p.Forbidden == nil || q.delta.Sign() > 0 {
		return nil, nil
	}
	n, m := len(p.Inputs), len(p.Outputs)
	low, _ := all.table.Factors(0)
	cost := all.costs(weight)
	add := func(above, below int32, z, by *big.Rat) {
		cost[above].Sub(cost[above], by)
		cost[below].Add(cost[below], new(big.Rat).Mul(z, by))
	}
	for i, c := range cuts {
		for _, part := range c.Parts { // the distances of q and of the whole are the same list
			add(part.Above, part.Below, low[part.Distance], nu[i])
		}
	}
	least := make([]*big.Rat, n) // of the cells that need not be 0
	for j, c := range cost {
		if x := j / m; !q.zero[x][j%m] && (least[x] == nil || c.Cmp(least[x]) < 0) {
			least[x] = c
		}
	}
	for _, s := range slices.Backward(all.fromForbidden()) {
		lack := new(big.Rat).Sub(least[int(s.cell)/m], cost[s.cell])
		if s.from < 0 || lack.Sign() <= 0 {
			continue
		}
		z := low[s.distance]
		by := lack.Quo(lack, z)
		add(s.from, s.cell, z, by)
		more = append(more, table.Cut{Parts: []table.Part{{Above: s.from, Below: s.cell, Candidates: 1, Distance: int32(s.distance)}}, Private: true})
		mu = append(mu, by)
	}
	return more, mu
}

// costs returns the losses of all cells, times the weights of their inputs: given ones where the largest expected loss counts.
func (q *program) costs(weight []*big.Rat) []*big.Rat {
	n, m := len(q.problem.Inputs), len(q.problem.Outputs)
	cost := make([]*big.Rat, n*m)
	for x := range n {
		w := new(big.Rat)
		if q.table.Worst {
			w.Set(weight[x])
		} else {
			w.SetInt(q.table.Weight[x])
		}
		for o := range m {
			cost[x*m+o] = new(big.Rat).Mul(w, new(big.Rat).SetInt(q.table.Loss[x*m+o]))
		}
	}
	return cost
}

// zeroStep says by which row a cell has to be 0: that from another one that has to be, at a distance; the forbidden cells themselves are from -1.
type zeroStep struct {
	cell, from int32
	distance   int
}

// fromForbidden returns the cells that have to be 0, in the order of a search from the forbidden ones.
func (q *program) fromForbidden() (steps []zeroStep) {
	n, m := len(q.problem.Inputs), len(q.problem.Outputs)
	below := make([][]arc, n)
	for _, a := range q.arcs {
		below[a.above] = append(below[a.above], a)
	}
	seen := make([]bool, n*m)
	for j := range seen {
		if q.problem.forbidden(j/m, j%m) {
			seen[j] = true
			steps = append(steps, zeroStep{cell: int32(j), from: -1})
		}
	}
	for i := 0; i < len(steps); i++ {
		at := int(steps[i].cell)
		for _, a := range below[at/m] {
			if j := a.below*m + at%m; !seen[j] {
				seen[j] = true
				steps = append(steps, zeroStep{int32(j), int32(at), a.distance})
			}
		}
	}
	return steps
}
