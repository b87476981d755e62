package mechanisms

import "slices"

// everyone returns the indices 0..n-1.
func everyone(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// classes gathers the indices 0..n-1 that compare as equal: the classes in ascending order, and the class of each index.
func classes(n int, compare func(i, j int) int) (members [][]int, class []int) {
	order := everyone(n)
	slices.SortFunc(order, compare)
	class = make([]int, n)
	for from := 0; from < n; {
		to := from
		for to < n && compare(order[from], order[to]) == 0 {
			class[order[to]] = len(members)
			to++
		}
		members = append(members, order[from:to])
		from = to
	}
	return members, class
}

// scatter gives each candidate its class's value.
func scatter[T any](class []int, values []T) []T {
	out := make([]T, len(class))
	for i, c := range class {
		out[i] = values[c]
	}
	return out
}
