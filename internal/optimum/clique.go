package optimum

import (
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
func (q *program) cliques() {
	n := len(q.problem.Inputs)
	if len(q.table.Count) < n*len(q.problem.Outputs) || q.problem.Forbidden != nil || q.delta.Sign() > 0 || len(q.distances) == 0 || q.distances[0].Sign() == 0 {
		return
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
			q.hubs = nil
			return
		}
		for _, x := range c.inputs {
			for _, y := range c.inputs {
				delete(free, arc{x, y, c.distance})
			}
		}
		q.hubs = append(q.hubs, c)
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

// insideHubs adds the hubs to the interior table, between the uniform one's least and most.
func (q *program) insideHubs() {
	t, outputs := q.table, int64(len(q.problem.Outputs))
	_, z := t.Factors(128)
	for _, c := range q.hubs {
		half := new(big.Rat).Add(one, z[c.distance])
		half = upwards(half.Mul(half, big.NewRat(1, 2)), 64)
		for range outputs {
			t.Interior = append(t.Interior, new(big.Rat).Mul(half, big.NewRat(1, outputs)))
		}
		t.Interior = append(t.Interior, new(big.Rat).Sub(one, half))
	}
}

// hub returns the clique of whose hub a cell is, nil where it is an input's.
func (q *program) hub(j int32) *clique {
	at, _ := slices.BinarySearch(q.table.First, j+1)
	if i := at - 1 - len(q.first); i >= 0 {
		return &q.hubs[i]
	}
	return nil
}

// multiplier is what a row has, with the input's cell where it is one between an input and a hub.
type multiplier struct {
	cell int32
	by   *big.Rat
}

// unhub turns the multipliers of the rows p >= m_o (lent) and m_o >= z^d p (owed) of a hub's cell into those of rows between inputs, each unit that is lent going to one that
// is owed. What an input owes itself is left out, since a row p >= z^d p proves nothing, and so is what one side has beyond the other, which is nothing at an optimum.
func unhub(lent, owed []multiplier, distance int32) (cuts []table.Cut, nu []*big.Rat) {
	for len(lent) > 0 && len(owed) > 0 {
		a, b := lent[0], owed[0]
		by := slices.MinFunc([]*big.Rat{a.by, b.by}, (*big.Rat).Cmp)
		if a.cell != b.cell && by.Sign() > 0 {
			cuts, nu = append(cuts, single(a.cell, b.cell, distance)), append(nu, by)
		}
		if lent[0].by = new(big.Rat).Sub(a.by, by); lent[0].by.Sign() == 0 {
			lent = lent[1:]
		}
		if owed[0].by = new(big.Rat).Sub(b.by, by); owed[0].by.Sign() == 0 {
			owed = owed[1:]
		}
	}
	return cuts, nu
}

// single is the cut that is one private row.
func single(above, below, distance int32) table.Cut {
	return table.Cut{Parts: []table.Part{{Above: above, Below: below, Candidates: 1, Distance: distance}}, Private: true}
}
