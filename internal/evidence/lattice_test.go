package evidence

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"
)

// brute returns the count vectors in descending order and how many score vectors have each, by going through all
// score vectors.
func brute(n, k int) ([][]int, map[string]int64) {
	count := map[string]int64{}
	var all [][]int
	q := make([]int, n)
	for {
		m := make([]int, k+1)
		for _, d := range q {
			m[d]++
		}
		if m[0] > 0 {
			if count[fmt.Sprint(m)]++; count[fmt.Sprint(m)] == 1 {
				all = append(all, m)
			}
		}
		i := 0
		for i < n && q[i] == k {
			q[i] = 0
			i++
		}
		if i == n {
			break
		}
		q[i]++
	}
	slices.SortFunc(all, func(a, b []int) int { return slices.Compare(b, a) })
	return all, count
}

func TestEnumeration(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for k := 0; k <= 4; k++ {
			want, count := brute(n, k)
			l := NewLattice(n, k)
			i, variables := 0, 0
			for rank, m := range l.Orbits() {
				if rank != i || i >= len(want) || !slices.Equal(m, want[i]) {
					t.Fatalf("(%d, %d): count vector %d is %v", n, k, i, m)
				}
				if r := l.Rank(m); r != i {
					t.Errorf("(%d, %d): rank of %v is %d, want %d", n, k, m, r, i)
				}
				if got := l.Multiplicity(m); got.Cmp(big.NewInt(count[fmt.Sprint(m)])) != 0 {
					t.Errorf("N(%v) = %v, want %d", m, got, count[fmt.Sprint(m)])
				}
				for _, c := range m {
					if c > 0 {
						variables++
					}
				}
				i++
			}
			if i != len(want) || float64(i) != OrbitCount(n, k) {
				t.Errorf("(%d, %d): %d count vectors, want %d, orbitCount %v", n, k, i, len(want), OrbitCount(n, k))
			}
			if got := l.Number(); got != variables || float64(got) != VariableCount(n, k) {
				t.Errorf("(%d, %d): %d variables, want %d, variableCount %v", n, k, got, variables, VariableCount(n, k))
			}
		}
	}
}

// TestChains: the chains hold every variable once, and what comes before a variable is what (P) and (T) say.
func TestChains(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for k := 0; k <= 4; k++ {
			l := NewLattice(n, k)
			size := l.Number()
			seen := make([]bool, size)
			for chain := range chains(n, k) {
				after := "" // the variable that the next one should be
				for at := range chain {
					i := l.Variable(l.Rank(at.M), at.M, at.V)
					if seen[i] || at.M[at.V] == 0 {
						t.Fatalf("(%d, %d): %v, %d on two chains or no variable", n, k, at.M, at.V)
					}
					seen[i] = true
					if got := fmt.Sprint(at.M, at.V); after != "" && got != after {
						t.Errorf("(%d, %d): %s on the chain where %s comes before", n, k, got, after)
					}
					m := slices.Clone(at.M)
					switch {
					case at.V > 0:
						m[at.V]--
						m[at.V-1]++
						after = fmt.Sprint(m, at.V-1)
					case m[k] == 0:
						m = append([]int{1, m[0] - 1}, m[1:k]...)
						after = fmt.Sprint(m, 0)
					default:
						after = ""
					}
					if at.First != (after == "") {
						t.Errorf("(%d, %d): %v, %d: first = %v", n, k, at.M, at.V, at.First)
					}
				}
				if after != "" {
					t.Errorf("(%d, %d): a chain ends before %s", n, k, after)
				}
			}
			if slices.Contains(seen, false) {
				t.Errorf("(%d, %d): a variable on no chain", n, k)
			}
		}
	}
}

// chains yields every chain.
func chains(n, k int) iter.Seq[iter.Seq[position]] {
	return func(yield func(iter.Seq[position]) bool) {
		for _, others := range (&Lattice{N: n - 1, K: k}).Orbits() {
			if !yield(Chain(others)) {
				return
			}
		}
	}
}

// TestLevelRows compares the rows of the levels with all those that the definitions give, closed under
// what the generated ones imply.
func TestLevelRows(t *testing.T) {
	for _, of := range []Level{{Privacy: true}, {Monotone: true}} {
		for n := 1; n <= 4; n++ {
			for k := 0; k <= 3; k++ {
				l := NewLattice(n, k)
				size := l.Number()
				reach := make([][]bool, size)
				for i := range reach {
					reach[i] = make([]bool, size)
					reach[i][i] = true
				}
				row := func(a, b int) { reach[a][b] = true }
				for rank, m := range l.Orbits() {
					if of.Monotone {
						l.MonotoneRows(rank, m, row)
						continue
					}
					l.Neighbors(1, m, func(to []int, above int, moves []Move) {
						for _, q := range moves {
							row(l.Variable(above, to, q.V), l.Variable(rank, m, q.W))
						}
					})
				}
				if of.Monotone {
					for c := range size {
						for a := range size {
							for b := range size {
								reach[a][b] = reach[a][b] || reach[a][c] && reach[c][b]
							}
						}
					}
				}
				all, _ := brute(n, k)
				for _, m := range all {
					for v := range m {
						for _, o := range all {
							for w := range o {
								if m[v] == 0 || o[w] == 0 {
									continue
								}
								a, b := l.Variable(l.Rank(m), m, v), l.Variable(l.Rank(o), o, w)
								if want := related(of, m, o, v, w); a != b && reach[a][b] != want {
									t.Errorf("(%d, %d) %+v: %v, %d over %v, %d: %v, want %v", n, k, of, m, v, o, w, reach[a][b], want)
								}
								q := Cut{Privacy: of.Privacy, M: m, L: o, V: v, W: w}
								if got := CheckCut(q) == nil; a != b && got != related(of, m, o, v, w) {
									t.Errorf("(%d, %d) %+v: %v, %d over %v, %d: check %v", n, k, of, m, v, o, w, got)
								}
							}
						}
					}
				}
			}
		}
	}
}

// related reports whether the level has the row x[m][v] >= ρ x[l][w], by trying all assignments and shifts.
func related(of Level, m, l []int, v, w int) bool {
	k := len(m) - 1
	a, b := Spread(m, v), Spread(l, w)
	found := false
	var permute func(i int)
	permute = func(i int) {
		if i < len(a) {
			for j := i; j < len(a) && !found; j++ {
				a[i], a[j] = a[j], a[i]
				permute(i + 1)
				a[i], a[j] = a[j], a[i]
			}
			return
		}
		for c := -k; c <= k; c++ {
			ok := true
			if of.Privacy {
				for i := range a {
					d := a[i] - b[i] + c
					ok = ok && (d == 0 || d == 1)
				}
				d := v - w + c
				ok = ok && (d == 0 || d == 1)
			} else {
				for i := range a {
					ok = ok && a[i] >= b[i]+c
				}
				ok = ok && v <= w+c
			}
			found = found || ok
		}
	}
	permute(0)
	return found
}

// TestCounts compares the counts with C(n+k-1, k) + k C(n+k-2, k) in integers of any length.
func TestCounts(t *testing.T) {
	const limit = 1e18
	same := func(got float64, want *big.Int) bool {
		x, _ := new(big.Float).SetInt(want).Float64()
		return got >= limit && x >= limit || math.Abs(got-x) <= 1e-12*x
	}
	for _, n := range []int{1, 2, 3, 4, 5, 7, 10, 16, 25, 31, 32, 33, 34, 60, 1000, 1 << 20, 1<<30 - 1, 1 << 30} {
		for k := 1; k <= 70; k++ {
			orbits := new(big.Int).Binomial(int64(n+k-1), int64(k))
			variables := new(big.Int).Binomial(int64(n+k-2), int64(k))
			variables.Add(variables.Mul(variables, big.NewInt(int64(k))), orbits)
			if o, v := OrbitCount(n, k), VariableCount(n, k); !same(o, orbits) || !same(v, variables) {
				t.Errorf("(%d, %d): %v and %v, want %v and %v", n, k, o, v, orbits, variables)
			}
		}
	}
	if got := OrbitCount(1<<30, 1<<20); got < limit {
		t.Errorf("%v of the largest lattice", got)
	}
}
