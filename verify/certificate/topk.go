package certificate

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// topK is the best choice of T of n candidates at once, on the lattice Q(n,k) of score vectors up to symmetry (docs/results/topk.md). Inputs are the count vectors m in descending
// lexicographic order, with weight N(m). Cells are the ways to choose: t_v of the m_v candidates at each depth v, Σ t_v = T, in descending lexicographic order; such a cell
// has Π C(m_v, t_v) sets. Its loss is the sum of the chosen depths minus the least sum that T candidates have. Neighbors are the vectors of Q(n,k) whose
// depths are higher by 0 or 1 after a shift; a set has at one of them at least z times its probability at the other.
type topK struct {
	finite
	n, k, top int
	lat       *lattice
	at        []int            // the count vector of the next input
	orbits    [][]int          // of the inputs
	index     []map[string]int // of an input's cells by their t
}

func (c *topK) read(r *reader, o Options) {
	c.n = r.whole("n", 1, maxDepth)
	c.k = r.whole("k", 1, maxDepth)
	c.top = r.whole("top", 1, c.n)
	if c.parameters(r); r.err != nil {
		return
	}
	// Of a count vector: the ways to let some candidates sink, and the ways to choose among those that sink and those that do not.
	sink := math.Min(math.Pow(2, float64(c.n)), math.Pow(float64(c.n)/float64(c.k+1)+1, float64(c.k+1)))
	choose := math.Min(float64(binomial(c.n, c.top)), float64(binomial(c.top+2*c.k+1, c.top)))
	if r.stop(o.sized(16 * float64(orbitCount(c.n, c.k)) * sink * choose * float64(c.k+1))); r.err != nil {
		return
	}
	c.lat = newLattice(c.n, c.k)
	c.at = c.lat.first()
	c.pairs = c.neighbors
	c.body(r, orbitCount(c.n, c.k), c.cellsOf)
}

// cellsOf appends the cells of the next count vector.
func (c *topK) cellsOf(int) {
	m := slices.Clone(c.at)
	c.lat.next(c.at)
	least, left := 0, c.top
	for v, count := range m {
		least += v * min(count, left)
		left -= min(count, left)
	}
	cells := map[string]int{}
	chosen(m, c.top, func(t []int) error {
		count, loss := big.NewInt(1), -least
		for v, x := range t {
			count.Mul(count, new(big.Int).Binomial(int64(m[v]), int64(x)))
			loss += v * x
		}
		cells[fmt.Sprint(t)] = len(c.loss)
		c.count = append(c.count, new(big.Rat).SetInt(count))
		c.loss = append(c.loss, big.NewRat(int64(loss), 1))
		return nil
	})
	c.orbits, c.index = append(c.orbits, m), append(c.index, cells)
	c.weight = append(c.weight, new(big.Rat).SetInt(c.lat.multiplicity(m)))
}

// chosen visits all t with t_i <= m_i and a given sum, in descending lexicographic order.
func chosen(m []int, sum int, visit func(t []int) error) error {
	t := make([]int, len(m))
	rest := make([]int, len(m)+1) // Σ of m from i on
	for i := len(m) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + m[i]
	}
	var from func(i, left int) error
	from = func(i, left int) error {
		if i == len(m) {
			return visit(t)
		}
		for t[i] = min(m[i], left); t[i] >= 0 && left-t[i] <= rest[i+1]; t[i]-- {
			if err := from(i+1, left-t[i]); err != nil {
				return err
			}
		}
		t[i] = 0
		return nil
	}
	return from(0, sum)
}

// neighbors visits every vector up to symmetry with every neighbor of it: of each depth some candidates sink by one, and then all rise again
// if nobody is left at depth 0.
func (c *topK) neighbors(visit func(pair) error) error {
	for i, m := range c.orbits {
		for sinking := range c.n + 1 {
			err := chosen(m, sinking, func(sink []int) error { return c.neighbor(i, sink, visit) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// neighbor visits the pair of input i and what it becomes when sink_v candidates of each depth v sink.
func (c *topK) neighbor(i int, sink []int, visit func(pair) error) error {
	m := c.orbits[i]
	shift := 0
	if sink[0] == m[0] {
		shift = 1 // nobody is left at depth 0: those that sank are at depth 1
	}
	to := make([]int, c.k+2)
	classes := make([]int, 0, 2*len(m)) // of candidates: those that stay and those that sink, by depth
	for v, count := range m {
		classes = append(classes, count-sink[v], sink[v])
		if v-shift >= 0 {
			to[v-shift] += count - sink[v]
		}
		to[v+1-shift] += sink[v]
	}
	if to[c.k+1] > 0 {
		return nil // below the lattice
	}
	to = to[:c.k+1]
	above := c.lat.rank(to)
	var rows []part
	_ = chosen(classes, c.top, func(t []int) error {
		here, there := make([]int, c.k+1), make([]int, c.k+2)
		for j, x := range t {
			v := j / 2
			here[v] += x
			if x > 0 {
				there[v+j%2-shift] += x
			}
		}
		rows = append(rows, part{privacyRow{c.index[above][fmt.Sprint(there[:c.k+1])], c.index[i][fmt.Sprint(here)]}, 1})
		return nil
	})
	return visit(pair{rows: rows})
}

func (c *topK) about(p *Problem) bool {
	p.N, p.K, p.Objective, p.Constraints = c.n, c.k, "paper", "dp"
	c.describe(p)
	p.About = fmt.Sprintf("top %d of n = %d, k = %d, mean regret of a set in steps of 2Δ", c.top, c.n, c.k)
	return true
}
