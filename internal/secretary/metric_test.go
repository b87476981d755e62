package secretary

import (
	"errors"
	"slices"
	"testing"
)

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i + 1
	}
	return p
}

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
	id := identity(n)
	permutations(n, func(p []int) {
		if got := must(Distance(id, p, 1, AtMost)); got != inversionsByPairs(p) {
			t.Errorf("d_1 to %v = %d, want %d inversions", p, got, inversionsByPairs(p))
		}
		for _, reading := range []Reading{AtMost, AtLeast} {
			l := n - 1
			if reading == AtLeast {
				l = 1
			}
			if got := must(Distance(id, p, l, reading)); got != n-cycles(p) {
				t.Errorf("d_%d (%v) to %v = %d, want %d", l, reading, p, got, n-cycles(p))
			}
		}
	})
}

// Example 1: from (1,…,n) to the same with 1 and n exchanged. The newer version's 2n-3 is d_1;
// the older version's n-1 is not, under its own reading (1) nor under the newer one.
// Both versions' d_{n-1} = 1 holds under both readings.
func TestExampleOne(t *testing.T) {
	for n := 3; n <= 8; n++ {
		sigma, rho := identity(n), identity(n)
		rho[0], rho[n-1] = n, 1
		for _, c := range []struct {
			l       int
			reading Reading
			want    int
		}{{1, AtMost, 2*n - 3}, {1, AtLeast, 1}, {n - 1, AtMost, 1}, {n - 1, AtLeast, 1}} {
			got := must(Distance(sigma, rho, c.l, c.reading))
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
		order := identity(n)
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
		order := identity(n)
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
	var all [][]int
	permutations(n, func(p []int) { all = append(all, append([]int(nil), p...)) })
	for l := 1; l < n; l++ {
		d := make([][]int, len(all))
		for a := range all {
			d[a] = make([]int, len(all))
			for b := range all {
				d[a][b] = must(Distance(all[a], all[b], l, AtMost))
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
	if got := must(Distance([]int{1, 2, 3, 4}, []int{2, 1, 3, 4}, 3, AtLeast)); got != -1 {
		t.Errorf("at least 3 apart: distance %d, want none", got)
	}
}

func TestDistanceRefuses(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		l    int
	}{{identity(3), identity(4), 1}, {identity(3), identity(3), 0}, {identity(3), identity(3), 3}, {[]int{1, 1, 2}, identity(3), 1}, {identity(10), identity(10), 1}} {
		if _, err := Distance(c.a, c.b, c.l, AtMost); !errors.Is(err, ErrRange) {
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
				to := identity(n)
				to[i], to[i+1] = to[i+1], to[i]
				all = all && must(Distance(identity(n), to, l, AtLeast)) >= 0
			}
			if all != (2*l <= n) {
				t.Errorf("n = %d, l = %d: all orders can be reached: %v", n, l, all)
			}
		}
	}
}

// The formulas agree with the search, from every order of up to 6 candidates to a fixed one, and to one drawn for 7.
func TestSwapDistance(t *testing.T) {
	for n := 1; n <= 6; n++ {
		to := identity(n)
		if n > 3 {
			to[0], to[1], to[3] = to[3], to[0], to[1]
		}
		for _, l := range []int{1, 2, n - 1} {
			if CheckDistance(n, l) != nil {
				continue
			}
			permutations(n, func(p []int) {
				got, method, err := SwapDistance(p, to, l)
				if want := must(Distance(p, to, l, AtMost)); err != nil || got != want {
					t.Errorf("d_%d of %v and %v = %d by %s, want %d (%v)", l, p, to, got, method, want, err)
				}
			})
		}
	}
	from, to := []int{5, 3, 7, 1, 2, 6, 4}, []int{2, 7, 1, 6, 5, 4, 3}
	for l := 1; l <= 6; l++ {
		if got, _, _ := SwapDistance(from, to, l); got != must(Distance(from, to, l, AtMost)) {
			t.Errorf("l = %d: %d", l, got)
		}
	}
	// Reversed, 1000 candidates: all pairs, and 500 swaps.
	long := identity(1000)
	slices.Reverse(long)
	for l, want := range map[int]int{1: 499500, 999: 500} {
		if got, _, err := SwapDistance(long, identity(1000), l); got != want || err != nil {
			t.Errorf("l = %d: %d, %v", l, got, err)
		}
	}
	for _, c := range []struct {
		a, b []int
		l    int
	}{{identity(3), identity(4), 1}, {identity(3), identity(3), 3}, {[]int{1, 1, 2}, identity(3), 1}, {identity(3), []int{0, 1, 2}, 2}, {identity(10), identity(10), 2}} {
		if _, _, err := SwapDistance(c.a, c.b, c.l); !errors.Is(err, ErrRange) {
			t.Errorf("%v, %v, l = %d: %v", c.a, c.b, c.l, err)
		}
	}
}
