package certificate

import (
	"errors"
	"math/big"
	"slices"
)

// level says which rows the program has beyond those of the level paper.
type level struct{ privacy, monotone, approximate bool }

var levels = map[string]level{
	"paper": {}, "dp": {privacy: true}, "monotone": {monotone: true}, "full": {privacy: true, monotone: true},
	"approximate": {approximate: true}, // in section lattice only
}

// Cut is the row x[M][V] >= ρ x[L][W] with its multiplier, ρ being z for a privacy row and 1 for a row of
// the level monotone.
type Cut struct {
	Privacy bool
	M, L    []int
	V, W    int
	Mu      *big.Rat
}

// shift returns (w_a/w_b) μ.
func (q Cut) shift(l *lattice) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetFrac(l.weight(q.M, q.V), l.weight(q.L, q.W)), q.Mu)
}

// cuts reads the multipliers of rows of a level, each of an allowed kind, in order.
func (r *reader) cuts(l *lattice, name string, allowed level, take func(Cut)) {
	var last []int
	for r.is("cut") {
		f := r.fields("cut", 2*l.k+6)
		q := Cut{Privacy: f[0] == "p"}
		if !q.Privacy && f[0] != "m" || q.Privacy && !allowed.privacy || !q.Privacy && !allowed.monotone {
			r.failf("cut: kind %s is no row of level %s", quote(f[0]), name)
		}
		q.V, q.M = r.variable(l, f[1:])
		q.W, q.L = r.variable(l, f[l.k+3:])
		if r.err != nil {
			return
		}
		if err := q.check(); err != nil {
			r.failf("cut: %v", err)
		}
		key := []int{0, l.rank(q.M), q.V, l.rank(q.L), q.W}
		if q.Privacy {
			key[0] = 1
		}
		if last != nil && slices.Compare(key, last) <= 0 {
			r.failf("cut: not after the row of the line before")
		}
		last = key
		q.Mu = r.positive("cut", f[2*l.k+5])
		take(q)
	}
}

// spread returns the candidates of m other than the given one, as depths in ascending order.
func spread(m []int, given int) []int {
	var depths []int
	for v, c := range m {
		if v == given {
			c--
		}
		depths = append(depths, slices.Repeat([]int{v}, max(c, 0))...)
	}
	return depths
}

// check reports why the row x[m][v] >= ρ x[l][w] does not belong to the program, if it does not.
//
// Every kind asks for an assignment of the other candidates of m to those of l under which all
// differences of depth lie within bounds. Sorting both sides gives the assignment whose least difference is
// greatest and whose greatest difference is least (exchange two pairs that cross), hence
// one within the bounds if there is any.
func (q Cut) check() error {
	if q.M[q.V] == 0 || q.L[q.W] == 0 {
		return errors.New("a variable without a candidate")
	}
	if q.V == q.W && slices.Equal(q.M, q.L) {
		return errors.New("a variable against itself")
	}
	given := q.V - q.W
	least, most := given, given // of the others' differences
	a, b := spread(q.M, q.V), spread(q.L, q.W)
	for i := range a {
		d := a[i] - b[i]
		if i == 0 {
			least, most = d, d
		}
		least, most = min(least, d), max(most, d)
	}
	switch {
	case !q.Privacy && least < given:
		// Some shift c must have v <= w + c and α >= β + c for all others.
		return errors.New("the given candidate is not raised against every other")
	case q.Privacy && max(most, given)-min(least, given) > 1:
		// After some shift all differences must be 0 or 1.
		return errors.New("the vectors are no neighbors: changes of two scores differ by more than 2Δ")
	}
	return nil
}

// row is a row of the level: x[m][v] >= z x[l][w] where it is one of privacy, and x[m][v] >= x[l][w]
// otherwise. Its variables have the numbers a and b.
type row struct {
	a, b    int
	m, l    []int
	v, w    int
	privacy bool
}

// rows calls visit for rows that imply all those which a level adds to section program. Rows (T) may be
// among them, but never rows (P), which hold identically at the points that they are asked of. The count vectors are reused. It stops
// at visit's first error.
func (l *lattice) rows(of level, visit func(row) error) error {
	for rank, m := range l.orbits() {
		var err error
		if of.privacy {
			err = l.neighbors(1, m, func(to []int, above int, moves []move) error {
				for _, q := range moves {
					r := row{l.variable(above, to, q.v), l.variable(rank, m, q.w), to, m, q.v, q.w, true}
					if r.a == r.b || r.chained() {
						continue
					}
					if err := visit(r); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if of.monotone && err == nil {
			err = l.monotoneRows(rank, m, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chained reports whether the row is one of (P): the given candidate of l alone sinks by a step.
func (q row) chained() bool {
	if q.v != q.w+1 {
		return false
	}
	for u, c := range q.l {
		switch u {
		case q.w:
			c--
		case q.v:
			c++
		}
		if q.m[u] != c {
			return false
		}
	}
	return true
}

// move is a number of candidates at depth w of one vector and depth v of a neighbor.
type move struct{ v, w, count int }

// neighbors visits every neighbor of m with its rank and the moves that the candidates fall into: from m, candidates of each depth sink by 0 to step of
// its steps, and the depths are counted from the best one again. Changes of depth whose spread is at most step are of this kind after a shift. The
// slices are reused.
func (l *lattice) neighbors(step int, m []int, visit func(to []int, above int, parts []move) error) error {
	var moves []move // to depth v, before the shift
	shifted := make([]move, 0, step*len(m))
	to := make([]int, l.k+1)
	finish := func() error {
		best, worst := l.k+step, 0
		for _, q := range moves {
			best, worst = min(best, q.v), max(worst, q.v)
		}
		if worst-best > l.k {
			return nil
		}
		clear(to)
		shifted = shifted[:0]
		for _, q := range moves {
			to[q.v-best] += q.count
			shifted = append(shifted, move{q.v - best, q.w, q.count})
		}
		return visit(to, l.rank(to), shifted)
	}
	// spreadOut decides for left candidates at depth v how many sink by t and more.
	var spreadOut func(v, t, left int) error
	spreadOut = func(v, t, left int) error {
		switch {
		case left == 0 && v == l.k:
			return finish()
		case left == 0:
			return spreadOut(v+1, 0, m[v+1])
		}
		count, known := 0, len(moves)
		if t == step {
			count = left
		}
		for ; count <= left; count++ {
			if count > 0 {
				moves = append(moves, move{v + t, v, count})
			}
			err := spreadOut(v, t+1, left-count)
			if moves = moves[:known]; err != nil {
				return err
			}
		}
		return nil
	}
	return spreadOut(0, 0, m[0])
}

// monotoneRows visits the rows x_a >= x_b in which one other candidate of b sinks by one step.
//
// All rows of the level follow from these. Write δ_s for the depth of candidate s below the given one, which
// may be negative. A vector is in Q if its spread max(0, δ) - min(0, δ) is at most k, and the level says that x at δ' is
// at least x at δ whenever δ <= δ' in every place. Go from δ to δ' by unit steps, always with an s that is least among
// those which have not arrived. If δ_s < max(0, δ), the step does not widen the spread. Otherwise all that have not
// arrived are at max(0, δ) >= 0, so that min(0, δ) comes from 0 or from places that have arrived, and is at least min(0, δ');
// and the step raises the maximum to at most δ'_s <= max(0, δ'). So no spread on the way exceeds that of both ends.
func (l *lattice) monotoneRows(rankB int, b []int, visit func(row) error) error {
	a := make([]int, l.k+1)
	for w := range b {
		if b[w] == 0 {
			continue
		}
		for s, others := range b {
			if s == w {
				others--
			}
			if others <= 0 {
				continue
			}
			v := w
			copy(a, b)
			switch {
			case s == 0 && b[0] == 1 && l.k > 0:
				// The only best one sinks: everything moves up by one.
				copy(a, b[1:])
				a[l.k] = 0
				a[0]++
				v--
			case s == l.k:
				continue
			default:
				a[s]--
				a[s+1]++
			}
			r := row{l.variable(l.rank(a), a, v), l.variable(rankB, b, w), a, b, v, w, false}
			if err := visit(r); err != nil {
				return err
			}
		}
	}
	return nil
}
