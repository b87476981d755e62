package chain

// Dual evaluates the dual function of the program at multipliers y of the classes' rows. Chains are walked from their deep ends: with
//
//	R_i = c_i + z λ_{i+1},  λ_i = max(0, R_i - y_i),  0 at the first position,
//
// the λ are multipliers of the rows x_i >= z x_{i-1}, and y'(class), the least R_i - λ_i at any position of a class, is what its row has: R_i at a first
// position, min(R_i, y_i) at others. Σ N(class) y'(class) is at most the optimum by weak duality, whatever y is. Sums and products may be rounded, if
// nothing comes out above what is exact.
type Dual[T int64 | float64] struct {
	add, mul func(a, b T) T
	z        T
	y        []T
	Least    []T // y' of each class
	seen     []bool
}

// NewDual begins with no chain walked. z must be at most e^{-ε}.
func NewDual[T int64 | float64](add, mul func(a, b T) T, z T, y []T) *Dual[T] {
	return &Dual[T]{add, mul, z, y, make([]T, len(y)), make([]bool, len(y))}
}

// Visit takes a position of a class that costs c, given λ at the next position of its chain, 0 after the last, and returns λ there.
func (d *Dual[T]) Visit(class int32, c, next T, first bool) (lambda T) {
	reduced := d.add(c, d.mul(d.z, next))
	least := reduced
	if !first {
		lambda = max(0, d.add(reduced, -d.y[class]))
		least = min(reduced, d.y[class])
	}
	if d.seen[class] {
		least = min(least, d.Least[class])
	}
	d.Least[class], d.seen[class] = least, true
	return lambda
}
