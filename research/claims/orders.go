package claims

import "gonum.org/v1/gonum/stat/combin"

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

// An order is a permutation of 1, …, n for n <= 9, and 0 beyond.
type order [9]byte

func orderOf(candidates []int) (o order) {
	for i, c := range candidates {
		o[i] = byte(c)
	}
	return o
}

// distance returns d_l between two orders of the same candidates, the least number of allowed swaps that turns one into the other, by breadth-first search; -1 where no
// sequence of swaps does, which is possible for atLeast only.
func distance(from, to []int, l int, swaps reading) int {
	places := combin.Combinations(len(from), 2)
	seen, frontier := map[order]bool{orderOf(from): true}, []order{orderOf(from)}
	for steps := 0; len(frontier) > 0; steps++ {
		var next []order
		for _, o := range frontier {
			if o == orderOf(to) {
				return steps
			}
			for _, at := range places {
				near := o
				near[at[0]], near[at[1]] = o[at[1]], o[at[0]]
				if swaps.allows(at[1]-at[0], l) && !seen[near] {
					seen[near] = true
					next = append(next, near)
				}
			}
		}
		frontier = next
	}
	return -1
}
