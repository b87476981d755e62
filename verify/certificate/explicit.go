package certificate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/evidence"
)

// explicit is a finite problem that the file itself states: inputs, outputs, the loss of each output at each input, a prior or none, δ, what may not be answered, and which
// inputs are neighbors at which distance. Cells are input by input, output by output.
type explicit struct {
	finite
	n, outputs int
	near       []neighborhood
}

// neighborhood says that the inputs a and b are neighbors: rows x_a >= z^d x_b, and the reverse unless it is directed.
type neighborhood struct {
	a, b     int
	distance int
	directed bool
}

// maxDistances bounds how many different distances a problem may have.
const maxDistances = 1 << 10

func (e *explicit) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	e.n = r.Whole("inputs", 1, evidence.MaxCandidates)
	e.outputs = r.Whole("outputs", 1, evidence.MaxCandidates)
	e.delta = r.Number("delta")
	e.Parameters(r)
	if e.worst = r.Is("prior") && r.Next == "prior worst"; e.worst {
		r.Take("prior")
	} else if e.weight = r.Numbers("prior", e.n); slices.ContainsFunc(e.weight, func(w *big.Rat) bool { return w.Sign() < 0 }) {
		r.Failf("prior: a weight is negative")
	}
	var losses []*big.Rat
	for range e.n {
		losses = append(losses, r.Numbers("loss", e.outputs)...)
	}
	var last []int
	for r.Is("forbidden") {
		s := r.Fields("forbidden", 2)
		at := r.Integer("forbidden", s[0], 0, e.n-1)*e.outputs + r.Integer("forbidden", s[1], 0, e.outputs-1)
		if e.forbidden == nil {
			e.forbidden = make([]bool, e.n*e.outputs)
		}
		r.Ordered(&last, []int{at}, "forbidden: not after the cell of the line before")
		e.forbidden[at] = true
	}
	e.neighborhoods(r)
	evidence.Sized(o, 2*float64(len(e.near))*float64(e.outputs))
	e.pairs = e.neighbors
	// All cells are known; body takes those of one input after the other.
	e.body(r, e.n, func(i int) { e.loss = losses[:(i+1)*e.outputs] })
}

// neighborhoods reads the lines "pair A B D", for both directions, and "arrow A B D": Pr[M(b) ∈ S] <= e^{Dε} Pr[M(a) ∈ S] + δ. They are in the order of
// A, then B, and no direction of two inputs comes twice.
func (e *explicit) neighborhoods(r *evidence.Reader) {
	known := map[string]int{}
	seen := map[[2]int]bool{}
	var last []int
	e.distances = []*big.Rat{}
	for r.Is("pair") || r.Is("arrow") {
		word, _, _ := strings.Cut(r.Next, " ")
		s := r.Fields(word, 3)
		q := neighborhood{a: r.Integer(word, s[0], 0, e.n-1), b: r.Integer(word, s[1], 0, e.n-1), directed: word == "arrow"}
		at := [2]int{q.a, q.b}
		if q.a == q.b {
			r.Failf("%s: an input with itself", word)
		}
		r.Ordered(&last, at[:], "%s: not after the inputs of the line before", word)
		if back := [2]int{q.b, q.a}; seen[at] || !q.directed && seen[back] {
			r.Failf("%s: the inputs %d and %d are neighbors already", word, q.a, q.b)
		} else if !q.directed {
			seen[back] = true
		}
		seen[at] = true
		d, err := evidence.ParseRational(s[2])
		if err != nil || d.Sign() < 0 || max(d.Num().BitLen(), d.Denom().BitLen()) > evidence.MaxEpsilonBits {
			r.Failf("%s: %s is not a distance", word, evidence.Quote(s[2]))
		}
		var found bool
		if q.distance, found = known[s[2]]; !found {
			if q.distance = len(known); q.distance == maxDistances {
				evidence.Limit("more than %d different distances", maxDistances)
			}
			known[s[2]] = q.distance
			e.distances = append(e.distances, d)
		}
		e.near = append(e.near, q)
	}
}

func (e *explicit) neighbors(visit func(pair)) {
	rows := make([]part, e.outputs)
	for _, q := range e.near {
		for _, ab := range [][2]int{{q.a, q.b}, {q.b, q.a}} {
			for k := range rows {
				rows[k] = part{privacyRow{ab[0]*e.outputs + k, ab[1]*e.outputs + k}, 1}
			}
			visit(pair{rows, q.distance})
			if q.directed {
				break
			}
		}
	}
}

func (e *explicit) About(p *evidence.Problem) bool {
	p.Objective, p.Constraints = "mean", "dp"
	if e.worst {
		p.Objective = "worst"
	}
	e.Describe(p)
	p.About = fmt.Sprintf("%d inputs, %d outputs, %d pairs of neighbors", e.n, e.outputs, len(e.near))
	if e.delta != nil && e.delta.Sign() > 0 {
		p.Constraints = "approximate"
		p.About += ", δ = " + e.delta.RatString()
	}
	return true
}
