package evidence

import "math/big"

// Walk is the dual function at multipliers y, one for each class of variables.
type Walk[T any] struct {
	Ring[T]
	Zero  T
	y     []T
	Least []T // y'(class): the least c_i + z λ_{i+1} - λ_i so far
	Known []bool
}

func NewWalk[T any](r Ring[T], y []*big.Rat) *Walk[T] {
	w := &Walk[T]{Ring: r, Zero: r.Int(new(big.Int)), Least: make([]T, len(y)), Known: make([]bool, len(y))}
	for _, x := range y {
		w.y = append(w.y, r.Rat(x))
	}
	return w
}

// Step goes from λ = λ_{i+1} to λ_i = max(0, c_i + z λ_{i+1} - y), one position up a chain; λ = 0 at the first one.
func (w *Walk[T]) Step(class int, c, lambda T, first bool) T {
	reduced := w.Add(c, w.Z(lambda))
	left := reduced // c_i + z λ_{i+1} - λ_i
	if first {
		lambda = w.Zero
	} else {
		left = w.Min(reduced, w.y[class])
		lambda = w.Max(w.Zero, w.Sub(reduced, w.y[class]))
	}
	if w.Known[class] {
		left = w.Min(left, w.Least[class])
	}
	w.Least[class], w.Known[class] = left, true
	return lambda
}
