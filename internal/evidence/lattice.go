package evidence

import (
	"iter"
	"math/big"
	"slices"
)

// Lattice enumerates the count vectors m = (m_0, …, m_k) with Σ m_v = n and m_0 >= 1, in
// descending lexicographic order, and numbers the variables (m, v), m_v >= 1, in that order
// and by ascending depth within a count vector.
type Lattice struct {
	N, K int

	// ways[j][s] = C(s+j, j) is the number of vectors of j+1 counts with sum s.
	ways  [][]int
	facts []*big.Int // factorials up to n!
	Start []int      // number of the first variable of each count vector; built by number
}

// NewLattice returns the enumerator for n >= 1 candidates and depths 0 to k >= 0. The caller has
// made sure that orbitCount(n, k) and (n+1)(k+1) are moderate.
func NewLattice(n, k int) *Lattice {
	l := &Lattice{N: n, K: k, ways: make([][]int, k+1), facts: make([]*big.Int, n+1)}
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

// First returns (n, 0, …, 0).
func (l *Lattice) First() []int {
	m := make([]int, l.K+1)
	m[0] = l.N
	return m
}

// Next replaces m by its successor, and reports whether there is one.
func (l *Lattice) Next(m []int) bool {
	i := l.K - 1
	for i > 0 && m[i] == 0 {
		i--
	}
	if i < 0 || i == 0 && m[0] == 1 {
		return false
	}
	last := m[l.K]
	m[l.K] = 0
	m[i]--
	m[i+1] = last + 1
	return true
}

// Orbits yields every count vector with its rank. The slice is reused: loop bodies may change it
// only if they restore it.
func (l *Lattice) Orbits() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		m := l.First()
		for rank := 0; yield(rank, m) && l.Next(m); rank++ {
		}
	}
}

// Rank returns the number of count vectors before m: those that agree with m up to some
// depth i < k and have more candidates there are as many as the ways to spread one candidate fewer than
// m has below i over the depths from i on.
func (l *Lattice) Rank(m []int) int {
	r, below := 0, l.N
	for i := range l.K {
		if below -= m[i]; below == 0 {
			break
		}
		r += l.ways[l.K-i][below-1]
	}
	return r
}

// Number prepares variable, and returns the number of variables.
func (l *Lattice) Number() int {
	l.Start = l.Start[:0]
	total := 0
	for _, m := range l.Orbits() {
		l.Start = append(l.Start, total)
		for _, c := range m {
			if c > 0 {
				total++
			}
		}
	}
	return total
}

// Variable returns the number of (m, v), given the rank of m.
func (l *Lattice) Variable(rank int, m []int, v int) int {
	i := l.Start[rank]
	for _, c := range m[:v] {
		if c > 0 {
			i++
		}
	}
	return i
}

// Multiplicity returns N(m) = n!/Π m_v!.
func (l *Lattice) Multiplicity(m []int) *big.Int {
	den := big.NewInt(1)
	for _, c := range m {
		if c > 1 {
			den.Mul(den, l.facts[c])
		}
	}
	return den.Quo(l.facts[l.N], den)
}

// Weight returns w = N(m) m_v, the number of pairs of a score vector and a candidate that
// the variable (m, v) stands for.
func (l *Lattice) Weight(m []int, v int) *big.Int {
	w := l.Multiplicity(m)
	return w.Mul(w, big.NewInt(int64(m[v])))
}

// Deepest returns the greatest depth of m.
func Deepest(m []int) int {
	v := len(m) - 1
	for v > 0 && m[v] == 0 {
		v--
	}
	return v
}

// position is a place on a chain: the variable (m, v). The slice is reused.
type position struct {
	M     []int
	V     int
	First bool // no position before it: nothing bounds the variable from below but 0
}

// Chain yields the positions of a candidate that sinks past others, from the deep end: from the top, where the others are as deep as k allows, it
// stands alone at depth 0 while they come nearer, and then goes through the depths 0 to k.
func Chain(others []int) iter.Seq[position] {
	return func(yield func(position) bool) {
		m := slices.Clone(others)
		k := len(m) - 1
		last := k - Deepest(others) // steps that the others can go down
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

// Counts parses a count vector.
func (r *Reader) Counts(l *Lattice, f []string) []int {
	m, left := make([]int, l.K+1), l.N
	for i := range m {
		m[i] = r.Integer("count vector", f[i], 0, left)
		left -= m[i]
	}
	if left != 0 || m[0] == 0 {
		r.Failf("count vector: not %d candidates, with one at least at depth 0", l.N)
	}
	return m
}

// Variable parses a depth and a count vector.
func (r *Reader) Variable(l *Lattice, f []string) (v int, m []int) {
	v = r.Integer("depth", f[0], 0, l.K)
	return v, r.Counts(l, f[1:])
}
