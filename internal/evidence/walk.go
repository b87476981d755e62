package evidence

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Walk is the dual function at multipliers y, one for each class of variables, enclosed.
type Walk struct {
	Z, Zero number.Interval
	y       []number.Interval
	Least   []number.Interval // y'(class): the least c_i + z λ_{i+1} - λ_i so far
	Known   []bool
}

func NewWalk(z number.Interval, y []*big.Rat) *Walk {
	w := &Walk{Z: z, Zero: number.FromInt(0, z.Prec()), Least: make([]number.Interval, len(y)), Known: make([]bool, len(y))}
	for _, x := range y {
		w.y = append(w.y, number.FromRat(x, z.Prec()))
	}
	return w
}

// Step goes from λ = λ_{i+1} to λ_i = max(0, c_i + z λ_{i+1} - y), one position up a chain; λ = 0 at the first one.
func (w *Walk) Step(class int, c, lambda number.Interval, first bool) number.Interval {
	reduced := c.Add(lambda.Mul(w.Z))
	left := reduced // c_i + z λ_{i+1} - λ_i
	if first {
		lambda = w.Zero
	} else {
		left = reduced.Min(w.y[class])
		lambda = w.Zero.Max(reduced.Sub(w.y[class]))
	}
	if w.Known[class] {
		left = left.Min(w.Least[class])
	}
	w.Least[class], w.Known[class] = left, true
	return lambda
}

// Total returns Σ mass y'(class).
func (w *Walk) Total(mass []*big.Int) number.Interval {
	total := w.Zero
	for c, n := range mass {
		if !w.Known[c] {
			panic("certificate: a class is on no chain")
		}
		total = total.Add(w.Least[c].Mul(arith.FromBig(n, w.Z.Prec())))
	}
	return total
}
