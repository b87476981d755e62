package certificate

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// heterogeneous is the best choice among candidates of which each has its own sensitivity, on a grid of score vectors (docs/results/heterogeneous.md). Inputs are the vectors
// {from, from + step, …, from + steps·step}^n in lexicographic order, cells the candidates. Two vectors are neighbors if every candidate's score differs by its
// sensitivity at most. Where mechanisms look at differences of scores only, the vectors with a score at the lower end stand for all their shifts within the grid, and
// two are neighbors if they are after some shift.
type heterogeneous struct {
	finite
	sensitivities []*big.Rat
	from, step    *big.Rat
	steps         int
	shifts        bool
	squared       bool
	vectors       [][]int
}

// maxGridCandidates bounds the candidates of a grid.
const maxGridCandidates = 64

func (h *heterogeneous) read(r *reader, o Options) error {
	zero := new(big.Rat)
	if err := r.advance(); err != nil {
		return err
	}
	var err error
	if h.sensitivities, err = r.numbers("sensitivities", 0); err != nil {
		return err
	}
	if len(h.sensitivities) > maxGridCandidates || slices.ContainsFunc(h.sensitivities, func(d *big.Rat) bool { return d.Sign() < 0 }) {
		return malformed(fmt.Sprintf("sensitivities: not 1 to %d numbers that are not negative", maxGridCandidates))
	}
	if x, err := r.numbers("from", 1); err == nil {
		h.from = x[0]
	} else {
		return err
	}
	if h.step, err = r.number("step", zero); err != nil {
		return err
	}
	if h.step.Sign() == 0 {
		return malformed("step is 0")
	}
	if h.steps, err = r.whole("steps", 1, maxDepth); err != nil {
		return err
	}
	mechanisms, err := r.word("mechanisms", "all", "shift-invariant")
	if err != nil {
		return err
	}
	loss, err := r.word("loss", "error", "mse")
	if err != nil {
		return err
	}
	prior, err := r.word("prior", "uniform", "worst")
	if err != nil {
		return err
	}
	h.shifts, h.squared, h.worst = mechanisms == "shift-invariant", loss == "mse", prior == "worst"
	if err := r.parameters(&h.e); err != nil {
		return err
	}
	n := len(h.sensitivities)
	all := math.Pow(float64(h.steps+1), float64(n))
	inputs := all
	if h.shifts {
		inputs -= math.Pow(float64(h.steps), float64(n))
	}
	if err := o.sized(64*all*float64(n) + inputs*inputs*float64(n)); err != nil {
		return err
	}
	h.enumerate()
	h.pairs = h.neighbors
	return h.body(r, len(h.vectors), h.cellsOf)
}

// enumerate lists the vectors with their weights.
func (h *heterogeneous) enumerate() {
	at := make([]int, len(h.sensitivities))
	for {
		if !h.shifts {
			h.take(at, 1)
		} else if slices.Min(at) == 0 {
			h.take(at, h.steps-slices.Max(at)+1)
		}
		r := len(at) - 1
		for ; r >= 0 && at[r] == h.steps; r-- {
			at[r] = 0
		}
		if r < 0 {
			return
		}
		at[r]++
	}
}

func (h *heterogeneous) take(at []int, shifts int) {
	h.vectors = append(h.vectors, slices.Clone(at))
	if !h.worst {
		h.weight = append(h.weight, big.NewRat(int64(shifts), 1))
	}
}

func (h *heterogeneous) cellsOf(i int) {
	best := slices.Max(h.vectors[i])
	for _, level := range h.vectors[i] {
		x := new(big.Rat).Mul(h.step, big.NewRat(int64(best-level), 1))
		if h.squared {
			x.Mul(x, x)
		}
		h.loss = append(h.loss, x)
	}
}

// neighbors visits the ordered pairs. A candidate whose level changes by c allows the shifts from c·step - Δ to c·step + Δ; two vectors are neighbors if
// some shift suits all candidates, or where no shifts are allowed if 0 does. The ends are compared by their places among all of them.
func (h *heterogeneous) neighbors(visit func(pair) error) error {
	n := len(h.sensitivities)
	lower, upper := make([][]int, n), make([][]int, n) // by candidate, then change + steps
	ends := []*big.Rat{new(big.Rat)}
	end := func(r, c, side int) *big.Rat {
		x := new(big.Rat).Mul(h.step, big.NewRat(int64(c), 1))
		return x.Add(x, new(big.Rat).Mul(h.sensitivities[r], big.NewRat(int64(side), 1)))
	}
	for r := range n {
		for c := -h.steps; c <= h.steps; c++ {
			ends = append(ends, end(r, c, -1), end(r, c, 1))
		}
	}
	slices.SortFunc(ends, (*big.Rat).Cmp)
	ends = slices.CompactFunc(ends, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	place := func(x *big.Rat) int {
		at, _ := slices.BinarySearchFunc(ends, x, (*big.Rat).Cmp)
		return at
	}
	for r := range n {
		for c := -h.steps; c <= h.steps; c++ {
			lower[r], upper[r] = append(lower[r], place(end(r, c, -1))), append(upper[r], place(end(r, c, 1)))
		}
	}
	zero := place(new(big.Rat))
	rows := make([]privacyRow, n)
	for i, p := range h.vectors {
		for j, q := range h.vectors {
			if i == j {
				continue
			}
			low, high := 0, len(ends)
			if !h.shifts {
				low, high = zero, zero
			}
			for r := range p {
				c := q[r] - p[r] + h.steps
				low, high = max(low, lower[r][c]), min(high, upper[r][c])
			}
			if low > high {
				continue
			}
			for r := range rows {
				rows[r] = privacyRow{h.first[i] + r, h.first[j] + r}
			}
			if err := visit(pair{rows: rows}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *heterogeneous) about(p *Problem) {
	p.N, p.K = len(h.sensitivities), h.steps
	p.Objective, p.Constraints = "mean", "dp"
	if h.worst {
		p.Objective = "worst"
	}
	h.e.describe(p)
	if h.step == nil {
		return
	}
	what, which := "error", "all mechanisms"
	if h.squared {
		what = "mean squared error"
	}
	if h.shifts {
		which = "shift-invariant mechanisms"
	}
	p.About = fmt.Sprintf("sensitivities %s, scores from %s in %d steps of %s, %s", list(h.sensitivities), h.from.RatString(), h.steps, h.step.RatString(), which+", "+what)
}
