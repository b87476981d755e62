package certificate

import (
	"errors"
	"math/big"

	"optratio/number"
)

// orbits is section lattice: the optimal-mechanism program with scores 2Δ/L apart, any losses and priors, and (ε,δ)-privacy (docs/results/resolution.md, losses.md,
// minimax.md, approximate.md), as a finite problem. Inputs are the count vectors m of depths 0, 1/L, …, k in descending lexicographic order; cells are the depths v
// with m_v > 0, of which each candidate there has the probability x.
type orbits struct {
	finite
	n, k, step  int
	constraints string
	level       level
	prior       string // "uniform", "box", "weights", or "worst"
	cost        []*big.Rat
	lat         *lattice
	at          []int // that count vector
}

// maxParts bounds L, and k·L.
const maxParts = 1 << 16

func (c *orbits) read(r *reader, o Options) {
	c.n = r.whole("n", 1, maxCandidates)
	c.k = r.whole("k", 1, maxParts)
	if c.step = r.whole("step", 1, maxParts); c.k*c.step > maxParts {
		r.failf("step: k·L is more than %d", maxParts)
	}
	c.constraints = r.word("constraints", "paper", "dp", "monotone", "full", "approximate")
	if c.level = levels[c.constraints]; c.level.approximate {
		c.delta = r.number("delta", 0)
	}
	depths := c.k * c.step
	r.long = max(r.long, 64+(depths+1)*1024)
	c.cost = r.numbers("loss", depths+1)
	for i, x := range c.cost {
		if i == 0 && x.Sign() != 0 || i > 0 && x.Cmp(c.cost[i-1]) < 0 {
			r.failf("loss: not 0 at first, or falling")
		}
	}
	c.prior = r.word("prior", "uniform", "box", "weights", "worst")
	c.worst, c.weighted = c.prior == "worst", c.prior == "weights"
	c.parameters(r)
	if r.stop(o.fits(c.n, depths)); r.err != nil {
		return
	}
	c.lat = newLattice(c.n, depths)
	c.lat.number()
	c.at = c.lat.first()
	c.distances = []*big.Rat{big.NewRat(1, 1), new(big.Rat)} // of rows of privacy, and of those of monotonicity
	c.pairs = c.neighbors
	c.body(r, len(c.lat.start), c.cellsOf)
}

// cellsOf appends the cells of the next count vector.
func (c *orbits) cellsOf(int) {
	for v, count := range c.at {
		if count > 0 {
			c.count, c.loss = append(c.count, big.NewRat(int64(count), 1)), append(c.loss, c.cost[v])
		}
	}
	if !c.worst && !c.weighted {
		w := new(big.Rat).SetInt(c.lat.multiplicity(c.at))
		if c.prior == "box" {
			w.Mul(w, big.NewRat(int64(c.lat.k-deepest(c.at)+1), 1))
		}
		c.weight = append(c.weight, w)
	}
	c.lat.next(c.at)
}

// neighbors visits the rows of the level. A row of monotonicity comes before the same one of privacy, which it implies.
func (c *orbits) neighbors(visit func(pair) error) error {
	var rows []part
	one := func(distance int) func(row) error {
		return func(q row) error {
			rows = append(rows[:0], part{privacyRow{q.a, q.b}, 1})
			return visit(pair{rows, distance})
		}
	}
	for rank, m := range c.lat.orbits() {
		if c.level.monotone {
			if err := errors.Join(c.lat.monotoneRows(rank, m, one(1)), c.shifted(rank, m, -1, one(1))); err != nil {
				return err
			}
		}
		if !c.level.privacy && !c.level.approximate {
			if err := c.shifted(rank, m, c.step, one(0)); err != nil {
				return err
			}
			continue
		}
		err := c.lat.neighbors(c.step, m, func(to []int, above int, moves []move) error {
			rows = rows[:0]
			for _, q := range moves {
				rows = append(rows, part{privacyRow{c.lat.variable(above, to, q.v), c.lat.variable(rank, m, q.w)}, q.count})
			}
			return visit(pair{rows, 0})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shifted visits the rows with b = (m, w) on the right, a being where the given candidate alone has sunk by so many steps: by L at the worst neighbor; by -1, as a row of
// monotonicity, which follows from the others of its kind but may have a multiplier of its own.
func (c *orbits) shifted(rank int, m []int, by int, visit func(row) error) error {
	to := make([]int, c.lat.k+1)
	for w, count := range m {
		if count == 0 || c.n == 1 {
			continue
		}
		others := spread(m, w)
		best := min(others[0], w+by)
		if max(others[len(others)-1], w+by)-best > c.lat.k {
			continue
		}
		clear(to)
		for _, d := range others {
			to[d-best]++
		}
		v := w + by - best
		to[v]++
		if err := visit(row{a: c.lat.variable(c.lat.rank(to), to, v), b: c.lat.variable(rank, m, w)}); err != nil {
			return err
		}
	}
	return nil
}

func (c *orbits) about(p *Problem) bool {
	p.N, p.K, p.Step, p.Objective, p.Constraints = c.n, c.k, c.step, c.prior, c.constraints
	c.describe(p)
	if c.delta != nil {
		p.Delta = new(number.Exact(c.delta))
	}
	return len(c.claims) > 0
}
