package claims

import (
	"errors"
	"testing"

	"optratio/internal/secretary"
)

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
		if got := must(swapDistance(id, p, 1, atMost)); got != inversionsByPairs(p) {
			t.Errorf("d_1 to %v = %d, want %d inversions", p, got, inversionsByPairs(p))
		}
		for _, reading := range []reading{atMost, atLeast} {
			l := n - 1
			if reading == atLeast {
				l = 1
			}
			if got := must(swapDistance(id, p, l, reading)); got != n-cycles(p) {
				t.Errorf("d_%d (%v) to %v = %d, want %d", l, reading, p, got, n-cycles(p))
			}
		}
	}
}

// Example 1: from (1,…,n) to the same with 1 and n exchanged. The newer version's 2n-3 is d_1;
// the older version's n-1 is not, under its own reading (1) nor under the newer one.
// Both versions' d_{n-1} = 1 holds under both readings.
func TestExampleOne(t *testing.T) {
	for n := 3; n <= 8; n++ {
		sigma, rho := span(1, n), span(1, n)
		rho[0], rho[n-1] = n, 1
		for _, c := range []struct {
			l       int
			reading reading
			want    int
		}{{1, atMost, 2*n - 3}, {1, atLeast, 1}, {n - 1, atMost, 1}, {n - 1, atLeast, 1}} {
			got := must(swapDistance(sigma, rho, c.l, c.reading))
			if got != c.want {
				t.Errorf("n = %d, l = %d, %v: distance %d, want %d", n, c.l, c.reading, got, c.want)
			}
			if c.l == 1 && n > 3 && got == n-1 {
				t.Errorf("n = %d, %v: the older version's n-1 holds after all", n, c.reading)
			}
		}
	}
	// The older version's product of swaps, (1 2)(1 3)…(1 n) applied to rho, does not give sigma for n >= 3.
	for n := 3; n <= 8; n++ {
		order := span(1, n)
		order[0], order[n-1] = n, 1
		for c := n; c >= 2; c-- {
			swapValues(order, 1, c)
		}
		if inversionsByPairs(order) == 0 {
			t.Errorf("n = %d: the older version's product is right after all", n)
		}
	}
	// The newer version's product does, by swaps of neighbors only.
	for n := 3; n <= 8; n++ {
		order := span(1, n)
		order[0], order[n-1] = n, 1
		steps := 0
		swap := func(a, b int) {
			if gap := swapValues(order, a, b); gap != 1 {
				t.Errorf("n = %d: swap (%d %d) over %d places", n, a, b, gap)
			}
			steps++
		}
		for c := n - 1; c >= 2; c-- {
			swap(1, c)
		}
		swap(1, n)
		for c := 2; c < n; c++ {
			swap(n, c)
		}
		if inversionsByPairs(order) != 0 || steps != 2*n-3 {
			t.Errorf("n = %d: %v after %d swaps", n, order, steps)
		}
	}
}

// swapValues exchanges two values and returns how far apart they stood.
func swapValues(order []int, a, b int) int {
	var i, j int
	for k, v := range order {
		switch v {
		case a:
			i = k
		case b:
			j = k
		}
	}
	order[i], order[j] = order[j], order[i]
	return max(i-j, j-i)
}

// Fact 3 (d_l is a metric): symmetric and with the triangle inequality on all of S_4;
// under "at least" with l = n-1 most orders cannot be reached, so that reading is no metric.
func TestFactThree(t *testing.T) {
	const n = 4
	all := orders(n)
	for l := 1; l < n; l++ {
		d := make([][]int, len(all))
		for a := range all {
			d[a] = make([]int, len(all))
			for b := range all {
				d[a][b] = must(swapDistance(all[a], all[b], l, atMost))
			}
		}
		for a := range all {
			for b := range all {
				if d[a][b] != d[b][a] || (d[a][b] == 0) != (a == b) {
					t.Fatalf("l = %d: %v, %v", l, all[a], all[b])
				}
				for c := range all {
					if d[a][c] > d[a][b]+d[b][c] {
						t.Fatalf("l = %d: triangle %v %v %v", l, all[a], all[b], all[c])
					}
				}
			}
		}
	}
	if got := must(swapDistance([]int{1, 2, 3, 4}, []int{2, 1, 3, 4}, 3, atLeast)); got != -1 {
		t.Errorf("at least 3 apart: distance %d, want none", got)
	}
}

func TestDistanceRefuses(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		l    int
	}{{span(1, 3), span(1, 4), 1}, {span(1, 3), span(1, 3), 0}, {span(1, 3), span(1, 3), 3}, {[]int{1, 1, 2}, span(1, 3), 1}, {span(1, 10), span(1, 10), 1}} {
		if _, err := swapDistance(c.a, c.b, c.l, atMost); !errors.Is(err, secretary.ErrRange) {
			t.Errorf("%v, %v, l = %d: %v", c.a, c.b, c.l, err)
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
				all = all && must(swapDistance(span(1, n), to, l, atLeast)) >= 0
			}
			if all != (2*l <= n) {
				t.Errorf("n = %d, l = %d: all orders can be reached: %v", n, l, all)
			}
		}
	}
}
