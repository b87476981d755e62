package claims

import (
	"cmp"
	"fmt"
	"slices"

	"optratio/internal/secretary"
)

// reading says which transpositions d_l counts as one step. The two versions
// of the source differ: the newer one swaps elements at most l places apart,
// the older one's text says at least l, while its proofs use at most.
type reading int

const (
	// atMost swaps elements at most l places apart.
	atMost reading = iota
	// atLeast swaps elements at least l places apart.
	atLeast
)

func (r reading) String() string { return [...]string{"at most", "at least"}[r] }

func (r reading) allows(gap, l int) bool {
	if r == atLeast {
		return gap >= l
	}
	return gap <= l
}

// maxSearch bounds the orders that swapDistance searches: 9! = 362880 of them.
const maxSearch = 9

// swapDistance returns d_l between two orders of the same n candidates, the least
// number of allowed swaps that turns one into the other, by breadth-first
// search over orders of at most 9 candidates; -1 where no sequence of swaps does
// (possible for atLeast only). Orders are permutations of 1..n.
func swapDistance(sigma, rho []int, l int, swaps reading) (int, error) {
	n := len(sigma)
	if n > maxSearch {
		return 0, fmt.Errorf("%d candidates: %w, the search takes at most %d", n, secretary.ErrRange, maxSearch)
	}
	if err := cmp.Or(secretary.CheckDistance(n, l), checkOrder(sigma), checkOrder(rho)); err != nil {
		return 0, err
	}
	if len(rho) != n {
		return 0, fmt.Errorf("orders of %d and %d candidates: %w", n, len(rho), secretary.ErrRange)
	}
	var pairs [][2]int
	for i := range n {
		for j := i + 1; j < n; j++ {
			if swaps.allows(j-i, l) {
				pairs = append(pairs, [2]int{i, j})
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
			for _, swap := range pairs {
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

func checkOrder(order []int) error {
	sorted := slices.Sorted(slices.Values(order))
	for i, v := range sorted {
		if v != i+1 {
			return fmt.Errorf("order %v: %w, need each of 1 to %d once", order, secretary.ErrRange, len(order))
		}
	}
	return nil
}
