// Package lattice enumerates bounded score vectors modulo symmetry.
//
// Scores live on the lattice of step 2Δ: Q(n,k) is the set of vectors of n
// candidates whose best score is 0 and whose worst is at least -2Δk. A
// candidate's depth is the number of steps it lies below the best, 0 to k.
// Under permutations of the candidates a vector is its count vector
//
//	m = (m_0, …, m_k),  Σ m_v = n,  m_0 >= 1,
//
// m_v being the number of candidates at depth v; one count vector is one orbit.
// The package counts, orders, ranks and moves count vectors, and follows the
// chains along which privacy ties their probabilities together. It knows
// nothing of probabilities or linear programs.
//
// Orbits are ordered by descending lexicographic order of their count vectors,
// from (n, 0, …, 0) to (1, 0, …, 0, n-1), so that raising any
// candidate below the top leads to an earlier orbit.
package lattice

import (
	"fmt"
	"iter"
	"math/big"

	"optratio/number"
)

// ErrSize is wrapped by errors about a lattice that is malformed or too large.
var ErrSize error = number.InputError("lattice size")

// Lattice is Q(n,k) modulo symmetry. It is immutable and safe for concurrent use.
type Lattice struct {
	n, k   int
	orbits int
	below  [][]int // below[p][s] = C(s+p, p): count vectors of at most s candidates on p depths
}

// Orbits returns the number of count vectors, C(n+k-1, k).
func Orbits(n, k int) *big.Int {
	return new(big.Int).Binomial(int64(n)+int64(k)-1, int64(min(k, n-1)))
}

// Variables returns the number of pairs (m, v) with m_v >= 1:
// C(n+k-1, k) at depth 0 and C(n+k-2, k) at each of the k others (none for n = 1).
func Variables(n, k int) *big.Int {
	v := Orbits(n, k)
	if n > 1 {
		other := Orbits(n-1, k)
		v.Add(v, other.Mul(other, big.NewInt(int64(k))))
	}
	return v
}

// Vectors returns |Q(n,k)| = (k+1)^n - k^n, or with box the number of vectors of {-k..0}^n, (k+1)^n.
func Vectors(n, k int, box bool) *big.Int {
	size := new(big.Int).Exp(big.NewInt(int64(k)+1), big.NewInt(int64(n)), nil)
	if !box {
		size.Sub(size, new(big.Int).Exp(big.NewInt(int64(k)), big.NewInt(int64(n)), nil))
	}
	return size
}

// Multiplicity returns N(m) = n! / Π m_v!, the number of score vectors in the orbit.
func Multiplicity(m []int) *big.Int {
	product, left := big.NewInt(1), int64(0)
	var c big.Int
	for _, count := range m {
		left += int64(count)
		product.Mul(product, c.Binomial(left, int64(count)))
	}
	return product
}

// New returns Q(n,k) modulo symmetry. It fails with ErrSize where n < 1, k < 1
// or the number of orbits does not fit an int.
func New(n, k int) (*Lattice, error) {
	if n < 1 || k < 1 {
		return nil, fmt.Errorf("%w: n = %d and k = %d must both be at least 1", ErrSize, n, k)
	}
	if max(n, k) > 1<<20 {
		return nil, fmt.Errorf("%w: n = %d or k = %d is beyond what can be enumerated", ErrSize, n, k)
	}
	if v := Variables(n, k); v.BitLen() > 40 {
		return nil, fmt.Errorf("%w: n = %d and k = %d give %.4g orbits and %.4g variables, too many to enumerate",
			ErrSize, n, k, new(big.Float).SetInt(Orbits(n, k)), new(big.Float).SetInt(v))
	}
	l := &Lattice{n: n, k: k, orbits: int(Orbits(n, k).Int64())}
	l.below = make([][]int, k+1)
	for p := range l.below {
		l.below[p] = make([]int, n)
		for s := range n {
			if l.below[p][s] = 1; p > 0 && s > 0 {
				l.below[p][s] = l.below[p-1][s] + l.below[p][s-1] // at most the orbits, which New bounds by 2^40
			}
		}
	}
	return l, nil
}

// Size returns the number n of candidates and the depth k.
func (l *Lattice) Size() (n, k int) { return l.n, l.k }

// Len returns the number of orbits.
func (l *Lattice) Len() int { return l.orbits }

// rank returns the place of m in the order of orbits, 0 to Len()-1, in O(k).
func (l *Lattice) rank(m []int) int {
	left, rank := l.n-1, 0
	for v, c := range m[:l.k] {
		if v == 0 {
			c--
		}
		// Earlier are those with more at depth v: left-c-1 candidates or fewer on the k-v deeper depths.
		if s := left - c - 1; s >= 0 {
			rank += l.below[l.k-v][s]
		}
		left -= c
	}
	return rank
}

// Unrank stores the count vector of the given rank in m, of length k+1, in O(n+k).
func (l *Lattice) Unrank(rank int, m []int) {
	left := l.n - 1
	for v := range l.k {
		c := left
		for c > 0 && rank >= l.below[l.k-v][left-c] {
			c--
		}
		if s := left - c - 1; s >= 0 {
			rank -= l.below[l.k-v][s]
		}
		m[v] = c
		left -= c
	}
	m[l.k] = left
	m[0]++
}

// next advances m to the following count vector, or reports false at the last.
func (l *Lattice) next(m []int) bool {
	v := l.k - 1
	for v >= 0 && (m[v] == 0 || (v == 0 && m[0] == 1)) {
		v--
	}
	if v < 0 {
		return false
	}
	tail := m[l.k]
	m[l.k] = 0
	m[v]--
	m[v+1] = tail + 1
	return true
}

// All yields every count vector with its rank, in order. The slice is reused.
func (l *Lattice) All() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		m := make([]int, l.k+1)
		m[0] = l.n
		for i := 0; yield(i, m) && l.next(m); i++ {
		}
	}
}

// Deepest returns the greatest depth that m occupies.
func Deepest(m []int) int {
	for v := len(m) - 1; v > 0; v-- {
		if m[v] > 0 {
			return v
		}
	}
	return 0
}

// Depths writes m out as n depths, best first.
func Depths(m []int) []int {
	var d []int
	for v, c := range m {
		for range c {
			d = append(d, v)
		}
	}
	return d
}

// Count returns the count vector of the given depths, which must lie in 0..k.
func Count(depths []int, k int) []int {
	m := make([]int, k+1)
	for _, v := range depths {
		m[v]++
	}
	return m
}
