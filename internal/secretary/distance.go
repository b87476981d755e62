package secretary

import (
	"cmp"
	"fmt"
	"slices"
)

// A Reading says which transpositions d_l counts as one step. The two versions
// of the source differ: the newer one swaps elements at most l places apart,
// the older one's text says at least l, while its proofs use at most.
type Reading int

const (
	// AtMost swaps elements at most l places apart.
	AtMost Reading = iota
	// AtLeast swaps elements at least l places apart.
	AtLeast
)

func (r Reading) String() string { return [...]string{"at most", "at least"}[r] }

func (r Reading) allows(gap, l int) bool {
	if r == AtLeast {
		return gap >= l
	}
	return gap <= l
}

// maxSearch bounds the orders that Distance searches: 9! = 362880 of them.
const maxSearch = 9

// Distance returns d_l between two orders of the same n candidates, the least
// number of allowed swaps that turns one into the other, by breadth-first
// search over orders of at most 9 candidates; -1 where no sequence of swaps does
// (possible for AtLeast only). Orders are permutations of 1..n.
func Distance(sigma, rho []int, l int, reading Reading) (int, error) {
	n := len(sigma)
	if n > maxSearch {
		return 0, fmt.Errorf("%d candidates: %w, the search takes at most %d", n, ErrRange, maxSearch)
	}
	if err := cmp.Or(CheckDistance(n, l), checkOrder(sigma), checkOrder(rho)); err != nil {
		return 0, err
	}
	if len(rho) != n {
		return 0, fmt.Errorf("orders of %d and %d candidates: %w", n, len(rho), ErrRange)
	}
	var swaps [][2]int
	for i := range n {
		for j := i + 1; j < n; j++ {
			if reading.allows(j-i, l) {
				swaps = append(swaps, [2]int{i, j})
			}
		}
	}
	type order [maxSearch]byte
	var from, goal order
	for i := range n {
		from[i], goal[i] = byte(sigma[i]), byte(rho[i])
	}
	seen := map[order]bool{from: true}
	frontier := []order{from}
	for steps := 0; len(frontier) > 0; steps++ {
		var next []order
		for _, o := range frontier {
			if o == goal {
				return steps, nil
			}
			for _, swap := range swaps {
				i, j := swap[0], swap[1]
				o[i], o[j] = o[j], o[i]
				if !seen[o] {
					seen[o] = true
					next = append(next, o)
				}
				o[i], o[j] = o[j], o[i]
			}
		}
		frontier = next
	}
	return -1, nil
}

// SwapDistance returns d_l between two orders, swaps being of elements at most l places apart, and how it was had: as the number of inversions for l = 1 (Kendall), as n less the number
// of cycles for l = n-1 (Cayley), else by the search of Distance, for at most 9 candidates.
func SwapDistance(sigma, rho []int, l int) (distance int, method string, err error) {
	n := len(sigma)
	if len(rho) != n {
		return 0, "", fmt.Errorf("orders of %d and %d candidates: %w", n, len(rho), ErrRange)
	}
	if err := cmp.Or(CheckDistance(n, l), checkOrder(sigma), checkOrder(rho)); err != nil {
		return 0, "", err
	}
	if l != 1 && l != n-1 {
		distance, err = Distance(sigma, rho, l, AtMost)
		return distance, "search", err
	}
	place, to := make([]int, n+1), make([]int, n) // to[i] is the place in rho of the element that is i-th in sigma
	for i, v := range rho {
		place[v] = i
	}
	for i, v := range sigma {
		to[i] = place[v]
	}
	if l == 1 {
		return inversions(to), "inversions", nil
	}
	cycles, seen := 0, make([]bool, n)
	for i := range to {
		if !seen[i] {
			cycles++
		}
		for k := i; !seen[k]; k = to[k] {
			seen[k] = true
		}
	}
	return n - cycles, "cycles", nil
}

// inversions counts the pairs of a permutation of 0..n-1 that are out of order, in O(n log n): a binary indexed tree counts those seen so far that are larger.
func inversions(p []int) (count int) {
	tree := make([]int, len(p)+1)
	for i, v := range p {
		smaller := 0
		for k := v + 1; k > 0; k &= k - 1 {
			smaller += tree[k]
		}
		count += i - smaller
		for k := v + 1; k < len(tree); k += k & -k {
			tree[k]++
		}
	}
	return count
}

func checkOrder(order []int) error {
	sorted := slices.Sorted(slices.Values(order))
	for i, v := range sorted {
		if v != i+1 {
			return fmt.Errorf("order %v: %w, need each of 1 to %d once", order, ErrRange, len(order))
		}
	}
	return nil
}
