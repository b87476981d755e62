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

func (e *explicit) read(r *reader, o Options) error {
	r.long = maxSectionLine
	if err := r.advance(); err != nil {
		return err
	}
	var err error
	if e.n, err = r.whole("inputs", 1, maxCandidates); err != nil {
		return err
	}
	if e.outputs, err = r.whole("outputs", 1, maxCandidates); err != nil {
		return err
	}
	if e.delta, err = r.number("delta", new(big.Rat)); err != nil {
		return err
	}
	if err := r.parameters(&e.e); err != nil {
		return err
	}
	if e.worst = !r.done && r.next == "prior worst"; e.worst {
		if err := r.advance(); err != nil {
			return err
		}
	} else if e.weight, err = r.numbers("prior", e.n); err != nil {
		return err
	} else if slices.ContainsFunc(e.weight, func(w *big.Rat) bool { return w.Sign() < 0 }) {
		return malformed("prior: a weight is negative")
	}
	var losses []*big.Rat
	for range e.n {
		x, err := r.numbers("loss", e.outputs)
		if err != nil {
			return err
		}
		losses = append(losses, x...)
	}
	if err := e.forbid(r); err != nil {
		return err
	}
	if err := e.neighborhoods(r); err != nil {
		return err
	}
	if err := o.sized(2 * float64(len(e.near)) * float64(e.outputs)); err != nil {
		return err
	}
	e.pairs = e.neighbors
	// All cells are known; body takes those of one input after the other.
	return e.body(r, e.n, func(i int) { e.loss = losses[:(i+1)*e.outputs] })
}

// forbid reads the lines of cells that must be 0, in order.
func (e *explicit) forbid(r *reader) error {
	last := -1
	for r.is("forbidden") {
		s, err := r.fields("forbidden", 2)
		if err != nil {
			return err
		}
		i, err := parseInteger(s[0], e.n-1)
		if err != nil {
			return r.badf("forbidden: %v", err)
		}
		k, err := parseInteger(s[1], e.outputs-1)
		if err != nil {
			return r.badf("forbidden: %v", err)
		}
		if e.forbidden == nil {
			e.forbidden = make([]bool, e.n*e.outputs)
		}
		if i*e.outputs+k <= last {
			return r.badf("forbidden: not after the cell of the line before")
		}
		last = i*e.outputs + k
		e.forbidden[last] = true
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// neighborhoods reads the lines "pair A B D", for both directions, and "arrow A B D": Pr[M(b) ∈ S] <= e^{Dε} Pr[M(a) ∈ S] + δ. They are in the order of
// A, then B, and no direction of two inputs comes twice.
func (e *explicit) neighborhoods(r *reader) error {
	known := map[string]int{}
	seen := map[[2]int]bool{}
	last := [2]int{-1, -1}
	for r.is("pair") || r.is("arrow") {
		word, _, _ := strings.Cut(r.next, " ")
		s, err := r.fields(word, 3)
		if err != nil {
			return err
		}
		q := neighborhood{directed: word == "arrow"}
		for i, to := range []*int{&q.a, &q.b} {
			if *to, err = parseInteger(s[i], e.n-1); err != nil {
				return r.badf("%s: %v", word, err)
			}
		}
		at := [2]int{q.a, q.b}
		if slices.Compare(at[:], last[:]) <= 0 || q.a == q.b {
			return r.badf("%s: not after the inputs of the line before, or an input with itself", word)
		}
		if back := [2]int{q.b, q.a}; seen[at] || !q.directed && seen[back] {
			return r.badf("%s: the inputs %d and %d are neighbors already", word, q.a, q.b)
		} else if !q.directed {
			seen[back] = true
		}
		seen[at], last = true, at
		d, err := parseRational(s[2])
		if err != nil || d.Sign() < 0 || max(d.Num().BitLen(), d.Denom().BitLen()) > maxEpsilonBits {
			return r.badf("%s: %s is no distance", word, quote(s[2]))
		}
		var found bool
		if q.distance, found = known[s[2]]; !found {
			if q.distance = len(known); q.distance == maxDistances {
				return fmt.Errorf("%w: more than %d different distances", ErrLimit, maxDistances)
			}
			known[s[2]] = q.distance
			e.distances = append(e.distances, d)
		}
		e.near = append(e.near, q)
		if err := r.advance(); err != nil {
			return err
		}
	}
	if e.distances == nil {
		e.distances = []*big.Rat{}
	}
	return nil
}

func (e *explicit) neighbors(visit func(pair) error) error {
	rows := make([]privacyRow, e.outputs)
	for _, q := range e.near {
		for _, ab := range [][2]int{{q.a, q.b}, {q.b, q.a}} {
			for k := range rows {
				rows[k] = privacyRow{ab[0]*e.outputs + k, ab[1]*e.outputs + k}
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

func (e *explicit) about(p *Problem) {
	p.Objective, p.Constraints = "mean", "dp"
	if e.worst {
		p.Objective = "worst"
	}
	e.e.describe(p)
	p.About = fmt.Sprintf("%d inputs, %d outputs, %d pairs of neighbors", e.n, e.outputs, len(e.near))
	if e.delta != nil && e.delta.Sign() > 0 {
		p.Constraints = "approximate"
		p.About += ", δ = " + e.delta.RatString()
	}
}
