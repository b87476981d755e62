package claims

import (
	"fmt"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/mechanisms/secretary"
)

// Statements about the metrics on orders of preference, which section 2 of the source defines.

// orders returns all orders of 1, …, n.
func orders(n int) [][]int {
	all := combin.Permutations(n, n)
	for _, order := range all {
		for i := range order {
			order[i]++
		}
	}
	return all
}

func everyOrderIsReached(reading secretary.Reading) check {
	return func(t *tally) Finding {
		for n := 2; n <= 5; n++ {
			for l := 1; l < n; l++ {
				for _, to := range orders(n) {
					d := must(secretary.Distance(span(1, n), to, l, reading))
					t.expect(d >= 0, "n = %d, l = %d: no such swaps turn %v into %v", n, l, span(1, n), to)
				}
			}
		}
		return t.finding("n = 2, …, 5 and all l, exact search", "")
	}
}

func isMetric(reading secretary.Reading) check {
	return func(t *tally) Finding {
		for n := 2; n <= 4; n++ {
			all := orders(n)
			for l := 1; l < n; l++ {
				d := make([][]int, len(all))
				for a := range all {
					d[a] = make([]int, len(all))
					for b := range all {
						d[a][b] = must(secretary.Distance(all[a], all[b], l, reading))
						t.expect(d[a][b] >= 0, "n = %d, l = %d: no distance between %v and %v", n, l, all[a], all[b])
						t.expect((d[a][b] == 0) == (a == b), "n = %d, l = %d: %d from %v to %v", n, l, d[a][b], all[a], all[b])
					}
				}
				for a := range all {
					for b := range all {
						t.expect(d[a][b] == d[b][a], "n = %d, l = %d: %d from %v to %v, and %d back", n, l, d[a][b], all[a], all[b], d[b][a])
						for c := range all {
							t.expect(d[a][c] <= d[a][b]+d[b][c], "n = %d, l = %d: triangle %v, %v, %v", n, l, all[a], all[b], all[c])
						}
					}
				}
			}
		}
		return t.finding("n = 2, 3, 4 and all l: all pairs and triples of orders, exact search", "")
	}
}

// newerProduct and olderProduct are the swaps of Example 1 in the order in which they are applied.
func newerProduct(n int) (swaps [][2]int) {
	for c := n - 1; c >= 2; c-- {
		swaps = append(swaps, [2]int{1, c})
	}
	swaps = append(swaps, [2]int{1, n})
	for c := 2; c < n; c++ {
		swaps = append(swaps, [2]int{n, c})
	}
	return swaps
}

func olderProduct(n int) (swaps [][2]int) {
	for c := n; c >= 2; c-- {
		swaps = append(swaps, [2]int{1, c})
	}
	return swaps
}

// exampleOne checks d_1, d_{n-1} and a product of swaps of neighbors from (n, 2, …, n-1, 1) to (1, …, n).
func exampleOne(reading secretary.Reading, neighbors func(n int) int, product func(n int) [][2]int) check {
	return func(t *tally) Finding {
		for n := 3; n <= 7; n++ {
			from, to := span(1, n), span(1, n)
			from[0], from[n-1] = n, 1
			near := must(secretary.Distance(to, from, 1, reading))
			far := must(secretary.Distance(to, from, n-1, reading))
			t.expect(near == neighbors(n), "n = %d: d_1 = %d, not %d", n, near, neighbors(n))
			t.expect(far == 1, "n = %d: d_{n-1} = %d", n, far)
			apart := 0
			for _, s := range product(n) {
				apart = max(apart, swap(from, s))
			}
			t.expect(fmt.Sprint(from) == fmt.Sprint(to) && apart == 1, "n = %d: the product gives %v, with swaps up to %d apart", n, from, apart)
		}
		return t.finding("n = 3, …, 7, exact search, swaps "+reading.String()+" l apart", "")
	}
}

// inSomeReading checks a statement under both readings of l apart; it is refuted if it fails under both.
func inSomeReading(of func(secretary.Reading) check) check {
	return func(t *tally) Finding {
		first := of(secretary.AtMost)(&tally{ctx: t.ctx})
		if first.Verdict != Refuted {
			return first
		}
		second := of(secretary.AtLeast)(t)
		if second.Verdict != Refuted {
			return second
		}
		return Finding{Verdict: Refuted, Domain: first.Domain + "; " + second.Domain, Witness: first.Witness + "; at least l apart: " + second.Witness}
	}
}

// swap exchanges two values and returns how far apart they stood.
func swap(order []int, values [2]int) int {
	var at [2]int
	for i, v := range order {
		for j, w := range values {
			if v == w {
				at[j] = i
			}
		}
	}
	order[at[0]], order[at[1]] = order[at[1]], order[at[0]]
	return max(at[0]-at[1], at[1]-at[0])
}

// strongest checks that under d_{n-1} all orders that differ by one swap are neighbors, and under d_1 those alone that differ by one of neighboring elements.
func strongest(reading secretary.Reading) check {
	return func(t *tally) Finding {
		for n := 3; n <= 5; n++ {
			for i := range n {
				for j := i + 1; j < n; j++ {
					to := span(1, n)
					to[i], to[j] = to[j], to[i]
					wide := must(secretary.Distance(span(1, n), to, n-1, reading))
					narrow := must(secretary.Distance(span(1, n), to, 1, reading))
					t.expect(wide == 1, "n = %d: %v is no neighbor under d_{n-1}", n, to)
					t.expect((narrow == 1) == (j == i+1), "n = %d: d_1 to %v is %d", n, to, narrow)
				}
			}
		}
		return t.finding("n = 3, 4, 5, exact search, swaps "+reading.String()+" l apart", "")
	}
}
