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

// neighbors visits the ordered pairs. Two vectors are neighbors if some shift t suits all candidates, |c·step - t| <= Δ for the change c of its level, or where no shifts
// are allowed if 0 does.
func (h *heterogeneous) neighbors(visit func(pair)) {
	lower, upper := h.shiftsOf()
	rows := make([]part, len(lower))
	for i, p := range h.vectors {
		for j, q := range h.vectors {
			var low, high *big.Int
			for r := range p {
				c := q[r] - p[r] + h.steps
				if low == nil || low.Cmp(lower[r][c]) < 0 {
					low = lower[r][c]
				}
				if high == nil || high.Cmp(upper[r][c]) > 0 {
					high = upper[r][c]
				}
			}
			if i == j || low.Cmp(high) > 0 || !h.shifts && (low.Sign() > 0 || high.Sign() < 0) {
				continue
			}
			for r := range rows {
				rows[r] = part{privacyRow{h.first[i] + r, h.first[j] + r}, 1}
			}
			visit(pair{rows: rows})
		}
	}
}

// shiftsOf returns the least and the greatest shift that suits a candidate, by candidate and by c + steps, over a common denominator.
func (h *heterogeneous) shiftsOf() (lower, upper [][]*big.Int) {
	n := len(h.sensitivities)
	whole, _ := h.cost.Common(append(h.sensitivities[:n:n], h.step))
	h.cost.Hold(4*n*(h.steps+1), whole[n].BitLen()+32)
	lower, upper = make([][]*big.Int, n), make([][]*big.Int, n)
	for r, d := range whole[:n] {
		for c := -h.steps; c <= h.steps; c++ {
			h.cost.Multiply(whole[n].BitLen(), 128)
			x := new(big.Int).Mul(whole[n], big.NewInt(int64(c)))
			lower[r], upper[r] = append(lower[r], new(big.Int).Sub(x, d)), append(upper[r], x.Add(x, d))
		}
	}
	return lower, upper
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
