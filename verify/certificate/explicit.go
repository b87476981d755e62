package certificate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
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

func (e *explicit) read(r *reader, o Options) {
	r.long = maxSectionLine
	e.n = r.whole("inputs", 1, maxCandidates)
	e.outputs = r.whole("outputs", 1, maxCandidates)
	e.delta = r.number("delta")
	e.parameters(r)
	if e.worst = r.is("prior") && r.next == "prior worst"; e.worst {
		r.take("prior")
	} else if e.weight = r.numbers("prior", e.n); slices.ContainsFunc(e.weight, func(w *big.Rat) bool { return w.Sign() < 0 }) {
		r.failf("prior: a weight is negative")
	}
	var losses []*big.Rat
	for i := 0; i < e.n && r.err == nil; i++ {
		losses = append(losses, r.numbers("loss", e.outputs)...)
	}
	last := -1
	for r.is("forbidden") {
		s := r.fields("forbidden", 2)
		at := r.integer("forbidden", s[0], 0, e.n-1)*e.outputs + r.integer("forbidden", s[1], 0, e.outputs-1)
		if e.forbidden == nil {
			e.forbidden = make([]bool, e.n*e.outputs)
		}
		if at <= last {
			r.failf("forbidden: not after the cell of the line before")
		} else {
			last, e.forbidden[at] = at, true
		}
	}
	e.neighborhoods(r)
	r.stop(o.sized(2 * float64(len(e.near)) * float64(e.outputs)))
	e.pairs = e.neighbors
	// All cells are known; body takes those of one input after the other.
	e.body(r, e.n, func(i int) { e.loss = losses[:(i+1)*e.outputs] })
}

// neighborhoods reads the lines "pair A B D", for both directions, and "arrow A B D": Pr[M(b) ∈ S] <= e^{Dε} Pr[M(a) ∈ S] + δ. They are in the order of
// A, then B, and no direction of two inputs comes twice.
func (e *explicit) neighborhoods(r *reader) {
	known := map[string]int{}
	seen := map[[2]int]bool{}
	last := [2]int{-1, -1}
	e.distances = []*big.Rat{}
	for r.is("pair") || r.is("arrow") {
		word, _, _ := strings.Cut(r.next, " ")
		s := r.fields(word, 3)
		q := neighborhood{a: r.integer(word, s[0], 0, e.n-1), b: r.integer(word, s[1], 0, e.n-1), directed: word == "arrow"}
		at := [2]int{q.a, q.b}
		if slices.Compare(at[:], last[:]) <= 0 || q.a == q.b {
			r.failf("%s: not after the inputs of the line before, or an input with itself", word)
		}
		if back := [2]int{q.b, q.a}; seen[at] || !q.directed && seen[back] {
			r.failf("%s: the inputs %d and %d are neighbors already", word, q.a, q.b)
		} else if !q.directed {
			seen[back] = true
		}
		seen[at], last = true, at
		d, err := parseRational(s[2])
		if err != nil || d.Sign() < 0 || max(d.Num().BitLen(), d.Denom().BitLen()) > MaxEpsilonBits {
			r.failf("%s: %s is no distance", word, quote(s[2]))
		}
		var found bool
		if q.distance, found = known[s[2]]; !found {
			if q.distance = len(known); q.distance == maxDistances {
				r.stop(fmt.Errorf("%w: more than %d different distances", ErrLimit, maxDistances))
			}
			known[s[2]] = q.distance
			e.distances = append(e.distances, d)
		}
		e.near = append(e.near, q)
	}
}

func (e *explicit) neighbors(visit func(pair) error) error {
	rows := make([]part, e.outputs)
	for _, q := range e.near {
		for _, ab := range [][2]int{{q.a, q.b}, {q.b, q.a}} {
			for k := range rows {
				rows[k] = part{privacyRow{ab[0]*e.outputs + k, ab[1]*e.outputs + k}, 1}
			}
			if err := visit(pair{rows, q.distance}); err != nil {
				return err
			}
			if q.directed {
				break
			}
		}
	}
	return nil
}

func (e *explicit) about(p *Problem) bool {
	p.Objective, p.Constraints = "mean", "dp"
	if e.worst {
		p.Objective = "worst"
	}
	e.describe(p)
	p.About = fmt.Sprintf("%d inputs, %d outputs, %d pairs of neighbors", e.n, e.outputs, len(e.near))
	if e.delta != nil && e.delta.Sign() > 0 {
		p.Constraints = "approximate"
		p.About += ", δ = " + e.delta.RatString()
	}
	return true
}
