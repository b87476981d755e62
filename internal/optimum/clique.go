package optimum

import (
	"maps"
	"math/big"
	"slices"

	"optratio/internal/table"
)

// clique are inputs that are all neighbors of each other at one distance. With probabilities m_o between, its hub, p(o|x) >= m_o >= z^d p(o|x') for all x and x' of it
// says the same as a row for each pair, as the least p(o|x) serves. Without them 40 inputs, all neighbors, with random losses take thirty times as long.
type clique struct {
	distance int
	inputs   []int
}

// leastClique is from how many inputs on a clique has fewer rows with a hub than without: 2k instead of k(k-1) for each output.
const leastClique = 5

// cliques divides the pairs into cliques at δ = 0, where that is possible: each arc belongs to one, as in complete graphs and where neighbors differ in one attribute. It
// is not tried where cells have classes in common, which have few rows, where outputs are forbidden, or where rows are equal.
func (q *program) cliques() (all []clique) {
	n := len(q.problem.Inputs)
	if len(q.table.Count) < n*len(q.problem.Outputs) || q.problem.Forbidden != nil || q.delta.Sign() > 0 || len(q.distances) == 0 || q.distances[0].Sign() == 0 {
		return nil
	}
	free := make(map[arc]bool, len(q.arcs)) // arcs that are in no clique so far
	next := make([][]arc, n)
	for _, a := range q.arcs {
		free[a] = true
		next[a.above] = append(next[a.above], a)
	}
	for _, a := range q.arcs {
		if !free[a] {
			continue
		}
		c := clique{a.distance, []int{a.above}}
		for _, b := range next[a.above] { // greedily
			apart := func(x int) bool { return !free[arc{x, b.below, a.distance}] || !free[arc{b.below, x, a.distance}] }
			if !slices.ContainsFunc(c.inputs, apart) {
				c.inputs = append(c.inputs, b.below)
			}
		}
		if len(c.inputs) < leastClique {
			return nil
		}
		for _, x := range c.inputs {
			for _, y := range c.inputs {
				delete(free, arc{x, y, c.distance})
			}
		}
		all = append(all, c)
	}
	return all
}

// addHubs puts hubs in the place of the arcs of cliques. A hub comes after the inputs: a group of no weight and no loss, whose cells are m_o and what they lack of 1.
func (q *program) addHubs(cliques []clique) {
	if cliques == nil {
		return
	}
	q.arcs = nil
	t := q.table
	for _, c := range cliques {
		hub := len(q.cell)
		var cells []int32
		for range q.problem.Outputs {
			cells = append(cells, int32(len(t.Count)))
			t.Count = append(t.Count, 1)
		}
		t.Count = append(t.Count, 1)
		t.First = append(t.First, int32(len(t.Count)))
		q.first, q.group, q.cell, q.hubs = append(q.first, hub), append(q.group, int32(len(q.first))), append(q.cell, cells), append(q.hubs, c.distance)
		for _, x := range c.inputs {
			q.arcs = append(q.arcs, arc{x, hub, noDistance}, arc{hub, x, c.distance})
		}
	}
}

// insideHubs adds the hubs to the interior table, between the uniform one's least and most.
func (q *program) insideHubs() {
	t, outputs := q.table, int64(len(q.problem.Outputs))
	_, z := t.Factors(128)
	for _, distance := range q.hubs {
		half := new(big.Rat).Add(one, z[distance])
		half = upwards(half.Mul(half, big.NewRat(1, 2)), 64)
		for range outputs {
			t.Interior = append(t.Interior, new(big.Rat).Mul(half, big.NewRat(1, outputs)))
		}
		t.Interior = append(t.Interior, new(big.Rat).Sub(one, half))
	}
}

// multiplier is what a row between an input and a hub has, with the input's cell.
type multiplier struct {
	cell int32
	by   *big.Rat
}

// unhub turns the multipliers of the rows p >= m_o (lent) and m_o >= z^d p (owed) of the hubs' cells into those of rows between inputs, each unit that is lent going to one that
// is owed. What an input owes itself is left out, since a row p >= z^d p proves nothing, and so is what one side has beyond the other, which is nothing at an optimum.
func (q *program) unhub(s *table.Solution) (cuts []table.Cut, nu []*big.Rat) {
	lent, owed := map[int32][]multiplier{}, map[int32][]multiplier{} // of each cell of a hub
	for i, c := range s.Dual.Rows {
		part, by := c.Parts[0], q.table.Nu(s.Dual, i)
		if c.Private {
			owed[part.Above] = append(owed[part.Above], multiplier{part.Below, by})
		} else {
			lent[part.Below] = append(lent[part.Below], multiplier{part.Above, by})
		}
	}
	for _, j := range slices.Sorted(maps.Keys(lent)) {
		lent, owed := lent[j], owed[j]
		for len(lent) > 0 && len(owed) > 0 {
			a, b := lent[0], owed[0]
			by := slices.MinFunc([]*big.Rat{a.by, b.by}, (*big.Rat).Cmp)
			if a.cell != b.cell && by.Sign() > 0 {
				cuts, nu = append(cuts, single(a.cell, b.cell, int32(q.hubs[q.groupOf(j)-len(q.problem.Inputs)]))), append(nu, by)
			}
			if lent[0].by = new(big.Rat).Sub(a.by, by); lent[0].by.Sign() == 0 {
				lent = lent[1:]
			}
			if owed[0].by = new(big.Rat).Sub(b.by, by); owed[0].by.Sign() == 0 {
				owed = owed[1:]
			}
		}
	}
	return cuts, nu
}

// single is the cut that is one private row.
func single(above, below, distance int32) table.Cut {
	return table.Row{Above: above, Below: below, Private: true, Distance: distance}.Cut()
}
