package evidence

import (
	"errors"
	"math/big"
	"slices"
)

// Level says which rows the program has beyond those of the level paper.
type Level struct{ Privacy, Monotone, Approximate bool }

var Levels = map[string]Level{
	"paper": {}, "dp": {Privacy: true}, "monotone": {Monotone: true}, "full": {Privacy: true, Monotone: true},
	"approximate": {Approximate: true}, // in section lattice only
}

// Cut is certificate.Cut.
type Cut struct {
	Privacy bool
	M, L    []int
	V, W    int
	Mu      *big.Rat
}

// Cuts reads the multipliers of rows of a level, each of an allowed kind, in order.
func (r *Reader) Cuts(l *Lattice, name string, allowed Level, take func(Cut)) {
	var last []int
	for r.Is("cut") {
		f := r.Fields("cut", 2*l.K+6)
		q := Cut{Privacy: f[0] == "p"}
		if !q.Privacy && f[0] != "m" || q.Privacy && !allowed.Privacy || !q.Privacy && !allowed.Monotone {
			r.Failf("cut: kind %s is not a row of level %s", Quote(f[0]), name)
		}
		q.V, q.M = r.Variable(l, f[1:])
		q.W, q.L = r.Variable(l, f[l.K+3:])
		if err := CheckCut(q); err != nil {
			r.Failf("cut: %v", err)
		}
		key := []int{0, l.Rank(q.M), q.V, l.Rank(q.L), q.W}
		if q.Privacy {
			key[0] = 1
		}
		r.Ordered(&last, key, "cut: not after the row of the line before")
		q.Mu = r.Positive("cut", f[2*l.K+5])
		take(q)
	}
}

// Spread returns the candidates of m other than the given one, as depths in ascending order.
func Spread(m []int, given int) []int {
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
func CheckCut(q Cut) error {
	if q.M[q.V] == 0 || q.L[q.W] == 0 {
		return errors.New("a variable without a candidate")
	}
	if q.V == q.W && slices.Equal(q.M, q.L) {
		return errors.New("a variable against itself")
	}
	given := q.V - q.W
	least, most := given, given // of the others' differences
	a, b := Spread(q.M, q.V), Spread(q.L, q.W)
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
		return errors.New("the vectors are not neighbors: changes of two scores differ by more than 2Δ")
	}
	return nil
}

// Move is a number of candidates at depth w of one vector and depth v of a neighbor.
type Move struct{ V, W, Count int }

// Neighbors visits every neighbor of m with its rank and the moves that the candidates fall into: from m, candidates of each depth sink by 0 to step of
// its steps, and the depths are counted from the best one again. Changes of depth whose spread is at most step are of this kind after a shift. The
// slices are reused.
func (l *Lattice) Neighbors(step int, m []int, visit func(to []int, above int, parts []Move)) {
	var moves []Move // to depth v, before the shift
	shifted := make([]Move, 0, step*len(m))
	to := make([]int, l.K+1)
	finish := func() {
		best, worst := l.K+step, 0
		for _, q := range moves {
			best, worst = min(best, q.V), max(worst, q.V)
		}
		if worst-best > l.K {
			return
		}
		clear(to)
		shifted = shifted[:0]
		for _, q := range moves {
			to[q.V-best] += q.Count
			shifted = append(shifted, Move{q.V - best, q.W, q.Count})
		}
		visit(to, l.Rank(to), shifted)
	}
	// spreadOut decides for left candidates at depth v how many sink by t and more.
	var spreadOut func(v, t, left int)
	spreadOut = func(v, t, left int) {
		switch {
		case left == 0 && v == l.K:
			finish()
			return
		case left == 0:
			spreadOut(v+1, 0, m[v+1])
			return
		}
		count, known := 0, len(moves)
		if t == step {
			count = left
		}
		for ; count <= left; count++ {
			if count > 0 {
				moves = append(moves, Move{v + t, v, count})
			}
			spreadOut(v, t+1, left-count)
			moves = moves[:known]
		}
	}
	spreadOut(0, 0, m[0])
}

// MonotoneRows visits the rows x_a >= x_b in which one other candidate of b sinks by one step.
//
// All rows of the level follow from these. Write δ_s for the depth of candidate s below the given one, which
// may be negative. A vector is in Q if its spread max(0, δ) - min(0, δ) is at most k, and the level says that x at δ' is
// at least x at δ whenever δ <= δ' in every place. Go from δ to δ' by unit steps, always with an s that is least among
// those which have not arrived. If δ_s < max(0, δ), the step does not widen the spread. Otherwise all that have not
// arrived are at max(0, δ) >= 0, so that min(0, δ) comes from 0 or from places that have arrived, and is at least min(0, δ');
// and the step raises the maximum to at most δ'_s <= max(0, δ'). So no spread on the way exceeds that of both ends.
func (l *Lattice) MonotoneRows(rankB int, b []int, visit func(a, b int)) {
	a := make([]int, l.K+1)
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
			case s == 0 && b[0] == 1 && l.K > 0:
				// The only best one sinks: everything moves up by one.
				copy(a, b[1:])
				a[l.K] = 0
				a[0]++
				v--
			case s == l.K:
				continue
			default:
				a[s]--
				a[s+1]++
			}
			visit(l.Variable(l.Rank(a), a, v), l.Variable(rankB, b, w))
		}
	}
}
