package certificate

import (
	"iter"
	"math/big"

	"optratio/internal/evidence"
	"optratio/number"
)

// orbits is section lattice: the optimal-mechanism program with scores 2Δ/L apart, any losses and priors, (ε,δ)-privacy, and the choice of T candidates at once
// (research/docs/resolution.md, threshold.md, minimax.md, approximate.md, topk.md), as a finite problem. Inputs are the count vectors m of depths 0, 1/L, …, k in
// descending lexicographic order. Cells are the ways t to choose: t_v of the m_v candidates at each depth v, Σ t_v = T, in descending lexicographic order; such a cell
// has Π C(m_v, t_v) sets, of which each has the probability x. Its loss is the sum of the chosen depths' losses less the least sum that T candidates have. With T = 1
// the cells are the depths v with m_v > 0, and their loss is that of v.
type orbits struct {
	finite
	n, k, step, top int
	constraints     string
	level           evidence.Level
	prior           string // "uniform", "box", "weights", or "worst"
	losses          []*big.Rat
	lat             *evidence.Lattice
	at              []int // the count vector of the next input
}

// Limits of section lattice.
const (
	maxParts    = 1 << 16 // of L, and of k·L
	stepsPerRow = 32      // that a row of privacy costs for each candidate, at the least
)

func (c *orbits) Read(r *evidence.Reader, o evidence.Options) {
	c.n = r.Whole("n", 1, evidence.MaxCandidates)
	c.k = r.Whole("k", 1, maxParts)
	if c.step = r.Whole("step", 1, maxParts); c.k*c.step > maxParts {
		r.Failf("step: k·L is more than %d", maxParts)
	}
	c.top = r.Whole("top", 1, max(c.n, 1))
	c.constraints = r.Word("constraints", "paper", "dp", "monotone", "full", "approximate")
	if c.level = evidence.Levels[c.constraints]; c.level.Approximate {
		c.delta = r.Number("delta")
	}
	everybody := c.level.Privacy || c.level.Approximate
	if c.top > 1 && c.constraints != "dp" {
		r.Failf("top: more than one with constraints dp only")
	}
	depths := c.k * c.step
	r.Long = max(r.Long, 64+(depths+1)*1024)
	c.losses = r.Numbers("loss", depths+1)
	for i, x := range c.losses {
		if i == 0 && x.Sign() != 0 || i > 0 && x.Cmp(c.losses[i-1]) < 0 {
			r.Failf("loss: not 0 at first, or falling")
		}
	}
	c.prior = r.Word("prior", "uniform", "box", "weights", "worst")
	c.worst, c.weighted = c.prior == "worst", c.prior == "weights"
	c.Parameters(r)
	evidence.Fits(o, c.n, depths)
	if everybody {
		// A row says for each candidate of a count vector at which depth it is, by how much it sinks, and whether it is chosen.
		ways := (depths + 1) * (c.step + 1)
		rows := evidence.Binomial(c.top+ways-1, c.top) * evidence.Binomial(c.n-c.top+ways-1, c.n-c.top)
		evidence.Sized(o, rows*stepsPerRow)
	}
	c.lay()
	c.body(r, len(c.lat.Start), c.cellsOf)
}

// lay begins the enumeration of the lattice.
func (c *orbits) lay() {
	c.lat = evidence.NewLattice(c.n, c.k*c.step)
	c.lat.Number()
	c.at = c.lat.First()
	c.distances = []*big.Rat{big.NewRat(1, 1), new(big.Rat)} // of rows of privacy, and of those of monotonicity
	c.pairs = c.neighbors
}

// cellsOf appends the cells of the next count vector.
func (c *orbits) cellsOf(int) {
	least, left := new(big.Rat), c.top
	for v, count := range c.at {
		if best := min(count, left); best > 0 {
			c.cost.Sum(least, c.losses[v], big.NewRat(int64(best), 1))
			left -= best
		}
	}
	for t := range chosen(c.at, c.top) {
		c.cost.Spend(evidence.StepsPerDepth * len(t))
		count, loss := big.NewInt(1), new(big.Rat).Neg(least)
		for v, x := range t {
			if x > 0 {
				count.Mul(count, new(big.Int).Binomial(int64(c.at[v]), int64(x)))
				c.cost.Sum(loss, c.losses[v], big.NewRat(int64(x), 1))
			}
		}
		c.count, c.loss = append(c.count, count), append(c.loss, loss)
	}
	if !c.worst && !c.weighted {
		w := new(big.Rat).SetInt(c.lat.Multiplicity(c.at))
		if c.prior == "box" {
			w.Mul(w, big.NewRat(int64(c.lat.K-evidence.Deepest(c.at)+1), 1))
		}
		c.weight = append(c.weight, w)
	}
	c.lat.Next(c.at)
}

// chosen yields all t with t_i <= m_i and a given sum, in descending lexicographic order. The slice is reused.
func chosen(m []int, sum int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		t, left := make([]int, len(m)), sum
		// As many as possible of what is left from i on.
		fill := func(i int) {
			for ; i < len(m); i++ {
				t[i] = min(m[i], left)
				left -= t[i]
			}
		}
		for fill(0); left == 0; {
			if !yield(t) {
				return
			}
			// The last place that can give one to those after it.
			i, room := len(m)-1, 0
			for ; i >= 0 && (t[i] == 0 || room <= left); i-- {
				room += m[i]
				left += t[i]
			}
			if i < 0 {
				return
			}
			t[i]--
			left++
			fill(i + 1)
		}
	}
}

// cell returns the number of cell t of count vector m. Those before it choose as many down to some depth, and more there.
func (c *orbits) cell(rank int, m, t []int) int {
	ways := make([]int, c.top+1) // to choose so many below depth v
	ways[0] = 1
	at, left := c.first[rank], 0
	for v := len(m) - 1; v >= 0; v-- {
		left += t[v]
		for x := t[v] + 1; x <= min(m[v], left); x++ {
			at += ways[left-x]
		}
		for sum := c.top; sum > 0; sum-- {
			for x := 1; x <= min(m[v], sum); x++ {
				ways[sum] += ways[sum-x]
			}
		}
	}
	return at
}

// neighbors visits the rows of the level. A row of monotonicity comes before the same one of privacy, which it implies.
func (c *orbits) neighbors(visit func(pair)) {
	var rows []part
	one := func(distance int) func(a, b int) {
		return func(a, b int) {
			rows = append(rows[:0], part{privacyRow{a, b}, 1})
			c.cost.Spend(evidence.StepsPerDepth * (c.lat.K + 1))
			visit(pair{rows, distance})
		}
	}
	for rank, m := range c.lat.Orbits() {
		if c.level.Monotone {
			c.lat.MonotoneRows(rank, m, one(1))
			c.shifted(rank, m, -1, one(1))
		}
		if c.level.Privacy || c.level.Approximate {
			c.lat.Neighbors(c.step, m, func(to []int, above int, moves []evidence.Move) {
				rows = c.sets(rows[:0], rank, above, m, to, moves)
				visit(pair{rows, 0})
			})
		} else {
			c.shifted(rank, m, c.step, one(0))
		}
	}
}

// sets appends the rows of two neighbors, of which each chooses the same candidates.
func (c *orbits) sets(rows []part, rank, above int, m, to []int, moves []evidence.Move) []part {
	if c.top == 1 {
		for _, q := range moves {
			rows = append(rows, part{privacyRow{c.lat.Variable(above, to, q.V), c.lat.Variable(rank, m, q.W)}, q.Count})
		}
		return rows
	}
	here, there := make([]int, len(m)), make([]int, len(m)) // chosen at the count vector and at its neighbor
	var counts []int
	for _, q := range moves {
		counts = append(counts, q.Count)
	}
	for t := range chosen(counts, c.top) {
		clear(here)
		clear(there)
		times := 1
		for i, x := range t {
			here[moves[i].W] += x
			there[moves[i].V] += x
			times *= int(new(big.Int).Binomial(int64(moves[i].Count), int64(x)).Int64())
		}
		rows = append(rows, part{privacyRow{c.cell(above, to, there), c.cell(rank, m, here)}, times})
	}
	return rows
}

// shifted visits the rows with b = (m, w) on the right, a being where the given candidate alone has sunk by so many steps: by L at the worst neighbor; by -1, as a row of
// monotonicity, which follows from the others of its kind but may have a multiplier of its own.
func (c *orbits) shifted(rank int, m []int, by int, visit func(a, b int)) {
	to := make([]int, c.lat.K+1)
	for w, count := range m {
		if count == 0 || c.n == 1 {
			continue
		}
		others := evidence.Spread(m, w)
		best := min(others[0], w+by)
		if max(others[len(others)-1], w+by)-best > c.lat.K {
			continue
		}
		clear(to)
		for _, d := range others {
			to[d-best]++
		}
		v := w + by - best
		to[v]++
		visit(c.lat.Variable(c.lat.Rank(to), to, v), c.lat.Variable(rank, m, w))
	}
}

func (c *orbits) About(p *evidence.Problem) bool {
	p.N, p.K, p.Step, p.Objective, p.Constraints = c.n, c.k, c.step, c.prior, c.constraints
	c.Describe(p)
	if c.top > 1 {
		p.Top = c.top
	}
	if c.delta != nil {
		p.Delta = new(number.Exact(c.delta))
	}
	return len(c.Claims) > 0
}
