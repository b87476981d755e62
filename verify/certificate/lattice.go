package certificate

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"
)

// lattice enumerates the count vectors m = (m_0, …, m_k) with Σ m_v = n and m_0 >= 1, in
// descending lexicographic order, and numbers the variables (m, v), m_v >= 1, in that order
// and by ascending depth within a count vector.
type lattice struct {
	n, k int

	// ways[j][s] = C(s+j, j) is the number of vectors of j+1 counts with sum s.
	ways  [][]int
	facts []*big.Int // factorials up to n!
	start []int      // number of the first variable of each count vector; built by number
}

// newLattice returns the enumerator for n >= 1 candidates and depths 0 to k >= 0. The caller has
// made sure that orbitCount(n, k) and (n+1)(k+1) are moderate.
func newLattice(n, k int) *lattice {
	l := &lattice{n: n, k: k, ways: make([][]int, k+1), facts: make([]*big.Int, n+1)}
	for j := range l.ways {
		l.ways[j] = make([]int, n)
		for s := range l.ways[j] {
			switch {
			case j == 0 || s == 0:
				l.ways[j][s] = 1
			default:
				l.ways[j][s] = l.ways[j-1][s] + l.ways[j][s-1]
			}
		}
	}
	l.facts[0] = big.NewInt(1)
	for i := 1; i <= n; i++ {
		l.facts[i] = new(big.Int).Mul(l.facts[i-1], big.NewInt(int64(i)))
	}
	return l
}

// first returns (n, 0, …, 0).
func (l *lattice) first() []int {
	m := make([]int, l.k+1)
	m[0] = l.n
	return m
}

// next replaces m by its successor, and reports whether there is one.
func (l *lattice) next(m []int) bool {
	i := l.k - 1
	for i > 0 && m[i] == 0 {
		i--
	}
	if i < 0 || i == 0 && m[0] == 1 {
		return false
	}
	last := m[l.k]
	m[l.k] = 0
	m[i]--
	m[i+1] = last + 1
	return true
}

// orbits yields every count vector with its rank. The slice is reused: loop bodies may change it
// only if they restore it.
func (l *lattice) orbits() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		m := l.first()
		for rank := 0; yield(rank, m) && l.next(m); rank++ {
		}
	}
}

// rank returns the number of count vectors before m: those that agree with m up to some
// depth i < k and have more candidates there are as many as the ways to spread one candidate fewer than
// m has below i over the depths from i on.
func (l *lattice) rank(m []int) int {
	r, below := 0, l.n
	for i := range l.k {
		if below -= m[i]; below == 0 {
			break
		}
		r += l.ways[l.k-i][below-1]
	}
	return r
}

// number prepares variable, and returns the number of variables.
func (l *lattice) number() int {
	l.start = l.start[:0]
	total := 0
	for _, m := range l.orbits() {
		l.start = append(l.start, total)
		for _, c := range m {
			if c > 0 {
				total++
			}
		}
	}
	return total
}

// variable returns the number of (m, v), given the rank of m.
func (l *lattice) variable(rank int, m []int, v int) int {
	i := l.start[rank]
	for _, c := range m[:v] {
		if c > 0 {
			i++
		}
	}
	return i
}

// multiplicity returns N(m) = n!/Π m_v!.
func (l *lattice) multiplicity(m []int) *big.Int {
	den := big.NewInt(1)
	for _, c := range m {
		if c > 1 {
			den.Mul(den, l.facts[c])
		}
	}
	return den.Quo(l.facts[l.n], den)
}

// weight returns w = N(m) m_v, the number of pairs of a score vector and a candidate that
// the variable (m, v) stands for.
func (l *lattice) weight(m []int, v int) *big.Int {
	w := l.multiplicity(m)
	return w.Mul(w, big.NewInt(int64(m[v])))
}

// deepest returns the greatest depth of m.
func deepest(m []int) int {
	v := len(m) - 1
	for v > 0 && m[v] == 0 {
		v--
	}
	return v
}

// position is a place on a chain: the variable (m, v). The slice is reused.
type position struct {
	m     []int
	v     int
	first bool // no position before it: nothing bounds the variable from below but 0
}

// chains yields every chain as a sequence of its positions from the deep end. A chain belongs to the
// count vector of the other n-1 candidates, moved up until the best is at depth 0.
func (l *lattice) chains() iter.Seq[iter.Seq[position]] {
	return func(yield func(iter.Seq[position]) bool) {
		if l.n == 1 {
			yield(func(yield func(position) bool) { yield(position{l.first(), 0, true}) })
			return
		}
		others := &lattice{n: l.n - 1, k: l.k}
		for _, o := range others.orbits() {
			if !yield(chain(o)) {
				return
			}
		}
	}
}

// chain yields the positions of a candidate that sinks past others: from the top, where the others are as deep as k allows, it
// stands alone at depth 0 while they come nearer, and then goes through the depths 0 to k.
func chain(others []int) iter.Seq[position] {
	return func(yield func(position) bool) {
		m := slices.Clone(others)
		k := len(m) - 1
		last := k - deepest(others) // steps that the others can go down
		for v := k; v >= 0; v-- {
			m[v]++
			if !yield(position{m, v, v == 0 && last == 0}) {
				return
			}
			m[v]--
		}
		for down := 1; down <= last; down++ {
			clear(m[:down])
			copy(m[down:], others)
			m[0] = 1
			if !yield(position{m, 0, down == last}) {
				return
			}
		}
	}
}

// counts parses a count vector.
func (r *reader) counts(l *lattice, f []string) []int {
	m, left := make([]int, l.k+1), l.n
	for i := range m {
		m[i] = r.integer("count vector", f[i], 0, left)
		left -= m[i]
	}
	if r.err == nil && (left != 0 || m[0] == 0) {
		r.failf("count vector: not %d candidates, with one at least at depth 0", l.n)
	}
	return m
}

// variable parses a depth and a count vector.
func (r *reader) variable(l *lattice, f []string) (v int, m []int) {
	v = r.integer("depth", f[0], 0, l.k)
	return v, r.counts(l, f[1:])
}

// brief returns a count vector for a message.
func brief(m []int) string {
	s := strings.Trim(fmt.Sprint(m[:min(len(m), 20)]), "[]")
	if len(m) > 20 {
		s += " ..."
	}
	return s
}
