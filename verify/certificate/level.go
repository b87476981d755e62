package certificate

import (
	"errors"
	"math/big"
	"slices"
)

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

// check reports why the row x[m][v] >= ρ x[l][w] does not belong to the level, if it does not.
//
// Either kind asks for an assignment of the other candidates of m to those of l under which all
// differences of depth lie within bounds. Sorting both sides gives the assignment whose least difference is
// greatest and whose greatest difference is least (exchange two pairs that cross), hence
// one within the bounds if there is any.
func (q cut) check() error {
	if q.m[q.v] == 0 || q.l[q.w] == 0 {
		return errors.New("a variable without a candidate")
	}
	if q.v == q.w && slices.Equal(q.m, q.l) {
		return errors.New("a variable against itself")
	}
	given := q.v - q.w
	a, b := spread(q.m, q.v), spread(q.l, q.w)
	least, most := given, given
	for i := range a {
		d := a[i] - b[i]
		if !q.privacy && d < given {
			// Some shift c must have v <= w + c and α >= β + c for all others.
			return errors.New("the given candidate is not raised against every other")
		}
		least, most = min(least, d), max(most, d)
	}
	if q.privacy && most-least > 1 {
		// After some shift all differences must be 0 or 1.
		return errors.New("the vectors are no neighbors: scores differ by more than one step")
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

// rows calls visit for rows that imply all those which a level adds to the program. Rows (T) may be
// among them, but never rows (P). The count vectors are reused. It stops at visit's first error.
func (l *lattice) rows(of level, visit func(row) error) error {
	for rank, m := range l.orbits() {
		if of.privacy {
			if err := l.privacyRows(rank, m, visit); err != nil {
				return err
			}
		}
		if of.monotone {
			if err := l.monotoneRows(rank, m, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// privacyRows visits the rows between b and all its neighbors that come from it by some candidates sinking one
// step, at least one of those at the top staying there. Every pair of neighbors is such a pair one way
// or the other: with differences of 0 and 1 after a shift c of either both have their best at
// depth 0, so that c is 0, or it is 1 and the roles are exchanged.
func (l *lattice) privacyRows(rankB int, b []int, visit func(row) error) error {
	sinking := make([]int, l.k+1) // how many of each depth
	a := make([]int, l.k+1)
	total := 0
	var choose func(v int) error
	choose = func(v int) error {
		if v < l.k {
			most := b[v]
			if v == 0 {
				most--
			}
			for sinking[v] = 0; sinking[v] <= most; sinking[v]++ {
				if sinking[v] > 0 {
					total++
				}
				if err := choose(v + 1); err != nil {
					return err
				}
			}
			total -= most
			return nil
		}
		if total == 0 {
			return nil
		}
		copy(a, b)
		for u, s := range sinking[:l.k] {
			a[u] -= s
			a[u+1] += s
		}
		rankA := l.rank(a)
		for u, s := range sinking {
			if s < b[u] { // one that stays
				x, y := l.variable(rankA, a, u), l.variable(rankB, b, u)
				if err := both(visit, row{x, y, a, b, u, u, true}, true); err != nil {
					return err
				}
			}
			if s > 0 { // one that sinks
				x, y := l.variable(rankA, a, u+1), l.variable(rankB, b, u)
				if err := both(visit, row{x, y, a, b, u + 1, u, true}, total > 1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return choose(0)
}

// both visits a row, if wanted, and the one with its sides exchanged.
func both(visit func(row) error, r row, wanted bool) error {
	if wanted {
		if err := visit(r); err != nil {
			return err
		}
	}
	return visit(row{r.b, r.a, r.l, r.m, r.w, r.v, r.privacy})
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
		for s := range b {
			others := b[s]
			if s == w {
				others--
			}
			if b[w] == 0 || others <= 0 {
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

// ratio returns ρ w_a/w_b without its factor z: what x_a >= ρ x_b is in the scaling u = w x.
func (q cut) ratio(l *lattice) *big.Rat {
	return new(big.Rat).SetFrac(l.weight(q.m, q.v), l.weight(q.l, q.w))
}
