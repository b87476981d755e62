package certificate

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/evidence"
)

// heterogeneous is the best choice among candidates of which each has its own sensitivity, on a grid of score vectors (research/docs/heterogeneous.md). Inputs are the vectors
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

func (h *heterogeneous) Read(r *evidence.Reader, o evidence.Options) {
	h.sensitivities = r.Numbers("sensitivities", 0)
	if len(h.sensitivities) > maxGridCandidates || slices.ContainsFunc(h.sensitivities, func(d *big.Rat) bool { return d.Sign() < 0 }) {
		r.Failf("sensitivities: not 1 to %d numbers that are not negative", maxGridCandidates)
	}
	h.from = r.Value("from", r.Take("from"))
	if h.step = r.Number("step"); h.step.Sign() == 0 {
		r.Failf("step is 0")
	}
	h.steps = r.Whole("steps", 1, evidence.MaxDepth)
	h.shifts = r.Word("mechanisms", "all", "shift-invariant") == "shift-invariant"
	h.squared = r.Word("loss", "error", "mse") == "mse"
	h.worst = r.Word("prior", "uniform", "worst") == "worst"
	h.Parameters(r)
	n := len(h.sensitivities)
	all := math.Pow(float64(h.steps+1), float64(n))
	inputs := all
	if h.shifts {
		inputs -= math.Pow(float64(h.steps), float64(n))
	}
	evidence.Sized(o, float64(64*all*float64(n))+float64(inputs*inputs*float64(n)))
	h.enumerate()
	h.pairs = h.neighbors
	h.body(r, len(h.vectors), h.cellsOf)
}

// enumerate lists the vectors with their weights.
func (h *heterogeneous) enumerate() {
	at := make([]int, len(h.sensitivities))
	for r := 0; r >= 0; {
		weight := 1
		if h.shifts {
			weight = h.steps - slices.Max(at) + 1
		}
		if !h.shifts || slices.Min(at) == 0 {
			h.vectors = append(h.vectors, slices.Clone(at))
			if !h.worst {
				h.weight = append(h.weight, big.NewRat(int64(weight), 1))
			}
		}
		for r = len(at) - 1; r >= 0 && at[r] == h.steps; r-- {
			at[r] = 0
		}
		if r >= 0 {
			at[r]++
		}
	}
}

func (h *heterogeneous) cellsOf(i int) {
	best := slices.Max(h.vectors[i])
	for _, level := range h.vectors[i] {
		steps := int64(best - level)
		x := new(big.Rat)
		if h.squared {
			h.cost.Sum(x, h.step, h.step, big.NewRat(steps*steps, 1))
		} else {
			h.cost.Sum(x, h.step, big.NewRat(steps, 1))
		}
		h.loss = append(h.loss, x)
	}
}

// neighbors visits the ordered pairs. Two vectors are neighbors if some shift suits all candidates, or where no shifts are allowed if 0 does.
func (h *heterogeneous) neighbors(visit func(pair)) {
	lower, upper, zero := h.shiftsOf()
	rows := make([]part, len(h.sensitivities))
	for i, p := range h.vectors {
		for j, q := range h.vectors {
			low, high := 0, math.MaxInt
			if !h.shifts {
				low, high = zero, zero
			}
			for r := range p {
				c := q[r] - p[r] + h.steps
				low, high = max(low, lower[r][c]), min(high, upper[r][c])
			}
			if low > high || i == j {
				continue
			}
			for r := range rows {
				rows[r] = part{privacyRow{h.first[i] + r, h.first[j] + r}, 1}
			}
			visit(pair{rows: rows})
		}
	}
}

// shiftsOf returns which shifts suit a candidate, by candidate and by the change of its level plus steps: those from c·step - Δ to c·step + Δ where that
// is c. The ends are numbers for their places among all of them, and zero is that of 0.
func (h *heterogeneous) shiftsOf() (lower, upper [][]int, zero int) {
	n := len(h.sensitivities)
	bits := 0
	for _, d := range append(h.sensitivities[:n:n], h.step) {
		num, den := evidence.Length(d)
		bits = max(bits, num+den)
	}
	count := 8 * n * (h.steps + 1)
	h.cost.Keep(count * (200 + bits/2))
	h.cost.Spend(count * (64 + bits/64*(bits/64)))
	var lows, highs [][]*big.Rat
	ends := []*big.Rat{new(big.Rat)}
	for _, d := range h.sensitivities {
		var low, high []*big.Rat
		for c := -h.steps; c <= h.steps; c++ {
			x := new(big.Rat).Mul(h.step, big.NewRat(int64(c), 1))
			low, high = append(low, new(big.Rat).Sub(x, d)), append(high, new(big.Rat).Add(x, d))
		}
		lows, highs, ends = append(lows, low), append(highs, high), append(append(ends, low...), high...)
	}
	slices.SortFunc(ends, (*big.Rat).Cmp)
	places := func(of []*big.Rat) (out []int) {
		for _, x := range of {
			at, _ := slices.BinarySearchFunc(ends, x, (*big.Rat).Cmp) // the first of those that are equal
			out = append(out, at)
		}
		return out
	}
	for r := range n {
		lower, upper = append(lower, places(lows[r])), append(upper, places(highs[r]))
	}
	return lower, upper, places([]*big.Rat{new(big.Rat)})[0]
}

func (h *heterogeneous) About(p *evidence.Problem) bool {
	p.N, p.K = len(h.sensitivities), h.steps
	p.Objective, p.Constraints = "mean", "dp"
	if h.worst {
		p.Objective = "worst"
	}
	h.Describe(p)
	if len(h.Claims) == 0 {
		return false
	}
	what, which := "error", "all mechanisms"
	if h.squared {
		what = "mean squared error"
	}
	if h.shifts {
		which = "shift-invariant mechanisms"
	}
	p.About = fmt.Sprintf("sensitivities %s, scores from %s in %d steps of %s, %s", evidence.List(h.sensitivities), h.from.RatString(), h.steps, h.step.RatString(), which+", "+what)
	return true
}
