package certificate

import "math/big"

// walk is the dual function at multipliers y, one for each class of variables.
type walk[T any] struct {
	ring[T]
	zero  T
	y     []T
	least []T // y'(class): the least c_i + z λ_{i+1} - λ_i so far
	known []bool
}

func newWalk[T any](r ring[T], y []*big.Rat) *walk[T] {
	w := &walk[T]{ring: r, zero: r.int(new(big.Int)), least: make([]T, len(y)), known: make([]bool, len(y))}
	for _, x := range y {
		w.y = append(w.y, r.rat(x))
	}
	return w
}

// step goes from λ = λ_{i+1} to λ_i = max(0, c_i + z λ_{i+1} - y), one position up a chain; λ = 0 at the first one.
func (w *walk[T]) step(class int, c, lambda T, first bool) T {
	reduced := w.add(c, w.z(lambda))
	left := reduced // c_i + z λ_{i+1} - λ_i
	if first {
		lambda = w.zero
	} else {
		left = w.min(reduced, w.y[class])
		lambda = w.max(w.zero, w.sub(reduced, w.y[class]))
	}
	if w.known[class] {
		left = w.min(left, w.least[class])
	}
	w.least[class], w.known[class] = left, true
	return lambda
}
