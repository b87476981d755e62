package optimum

import (
	"math/big"
	"slices"

	"optratio/internal/table"
)

// clique are inputs that are all neighbors of each other at one distance.
type clique struct {
	distance int
	inputs   []int
}

// leastClique is from how many inputs on a clique has fewer rows with a hub than without: 2k instead of k(k-1) for each output.
const leastClique = 5

// cliques finds cliques among the pairs at δ = 0, and notes which arcs they cover: with probabilities m_o between, p(o|x) >= m_o >= z^d p(o|x') for all x and x' of a clique
// says the same as a row for each pair, as the least p(o|x) serves. Each clique is extended greedily from a pair that none covers so far. There are none where
// symmetries were found, whose orbits have few rows, where outputs are forbidden, or where rows are equal.
func (q *program) cliques(generators []symmetry) {
	if len(generators) > 0 || q.problem.Forbidden != nil || q.delta.Sign() > 0 || len(q.distances) == 0 || q.distances[0].Sign() == 0 {
		return
	}
	n := len(q.problem.Inputs)
	has := make(map[arc]bool, len(q.arcs))
	for _, a := range q.arcs {
		has[a] = true
	}
	joined := func(x, y, d int) bool { return has[arc{x, y, d}] && has[arc{y, x, d}] }
	next := make([][]int, n)
	for _, a := range q.arcs {
		next[a.above] = append(next[a.above], a.below)
	}
	q.covered = map[arc]bool{}
	for _, a := range q.arcs {
		if a.above > a.below || q.covered[a] || !joined(a.above, a.below, a.distance) {
			continue
		}
		c := clique{a.distance, []int{a.above, a.below}}
		for _, y := range next[a.above] {
			if !slices.Contains(c.inputs, y) && !slices.ContainsFunc(c.inputs, func(x int) bool { return !joined(x, y, a.distance) }) {
				c.inputs = append(c.inputs, y)
			}
		}
		if len(c.inputs) < leastClique {
			continue
		}
		q.hubs = append(q.hubs, c)
		q.cover(c)
	}
}

// cover notes the arcs of a clique.
func (q *program) cover(c clique) {
	for _, x := range c.inputs {
		for _, y := range c.inputs {
			if x != y {
				q.covered[arc{x, y, c.distance}] = true
			}
		}
	}
}

// addHubs adds a group for each clique, of no weight, whose cells are m_o and what they lack of 1, and returns its rows.
func (q *program) addHubs() (rows []table.Row) {
	t, m := q.table, int32(len(q.problem.Outputs))
	for _, c := range q.hubs {
		first, d := int32(len(t.Count)), int32(c.distance)
		for range m + 1 {
			t.Count, t.Loss, t.Zero = append(t.Count, 1), append(t.Loss, new(big.Int)), append(t.Zero, false)
		}
		t.First = append(t.First, int32(len(t.Count)))
		if t.Weight != nil {
			t.Weight = append(t.Weight, new(big.Int))
		}
		for _, x := range c.inputs {
			for o := range m {
				rows = append(rows, table.Row{Above: q.cell[x][o], Below: first + o}, table.Row{Above: first + o, Below: q.cell[x][o], Private: true, Distance: d})
			}
		}
	}
	return rows
}

// insideHubs sets the interior table of hubs, between the uniform one's least and most.
func (q *program) insideHubs() {
	t, outputs := q.table, int64(len(q.problem.Outputs))
	_, z := t.Factors(128)
	for i, c := range q.hubs {
		half := new(big.Rat).Add(one, z[c.distance])
		half = upwards(half.Mul(half, big.NewRat(1, 2)), 64)
		cells := t.Interior[t.First[len(q.first)+i]:t.First[len(q.first)+i+1]]
		for o := range cells {
			cells[o] = new(big.Rat).Mul(half, big.NewRat(1, outputs))
		}
		cells[outputs] = new(big.Rat).Sub(one, half)
	}
}

// owed is the multiplier of a row between an input's cell and a hub's.
type owed struct {
	cell int32
	by   *big.Rat
}

// unhub turns the multipliers of the rows p >= m_o (lent) and m_o >= z^d p (owing) of a hub's cell into those of rows between inputs, each unit that is lent going to one that
// is owed. What an input owes itself is left out, since a row p >= z^d p proves nothing, and so is what one side has beyond the other, which is nothing at an optimum.
func unhub(lent, owing []owed, distance int32) (cuts []table.Cut, nu []*big.Rat) {
	for i, j := 0, 0; i < len(lent) && j < len(owing); {
		a, b := &lent[i], &owing[j]
		by := a.by
		if b.by.Cmp(by) < 0 {
			by = b.by
		}
		if a.cell != b.cell && by.Sign() > 0 {
			cuts = append(cuts, table.Cut{Parts: []table.Part{{Above: a.cell, Below: b.cell, Candidates: 1, Distance: distance}}, Private: true})
			nu = append(nu, by)
		}
		a.by, b.by = new(big.Rat).Sub(a.by, by), new(big.Rat).Sub(b.by, by)
		if a.by.Sign() == 0 {
			i++
		} else {
			j++
		}
	}
	return cuts, nu
}
