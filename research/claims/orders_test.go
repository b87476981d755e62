package claims

import "testing"

func inversionsByPairs(p []int) int {
	count := 0
	for i := range p {
		for j := i + 1; j < len(p); j++ {
			if p[i] > p[j] {
				count++
			}
		}
	}
	return count
}

func cycles(p []int) int {
	seen, count := make([]bool, len(p)), 0
	for i := range p {
		if !seen[i] {
			count++
		}
		for k := i; !seen[k]; k = p[k] - 1 {
			seen[k] = true
		}
	}
	return count
}

// d_1 is Kendall's distance (inversions), d_{n-1} Cayley's (n minus cycles).
func TestDistanceKnownMetrics(t *testing.T) {
	const n = 5
	id := span(1, n)
	for _, p := range orders(n) {
		if got := distance(id, p, 1, atMost); got != inversionsByPairs(p) {
			t.Errorf("d_1 to %v = %d, want %d inversions", p, got, inversionsByPairs(p))
		}
		for _, reading := range []reading{atMost, atLeast} {
			l := n - 1
			if reading == atLeast {
				l = 1
			}
			if got := distance(id, p, l, reading); got != n-cycles(p) {
				t.Errorf("d_%d (%v) to %v = %d, want %d", l, reading, p, got, n-cycles(p))
			}
		}
	}
}

// With swaps of elements at least l places apart every order can be reached from every other iff 2l <= n: otherwise the element in the
// middle has nobody to swap with.
func TestWhichOrdersCanBeReached(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for l := 1; l < n; l++ {
			all := true
			for i := range n - 1 { // swaps of neighbors generate all orders
				to := span(1, n)
				to[i], to[i+1] = to[i+1], to[i]
				all = all && distance(span(1, n), to, l, atLeast) >= 0
			}
			if all != (2*l <= n) {
				t.Errorf("n = %d, l = %d: all orders can be reached: %v", n, l, all)
			}
		}
	}
}
