package table

import (
	"math/big"

	"optratio/internal/arith"
)

// Objective returns the mean of the groups' expected losses by weights, whose sum is not 0, or the largest of them where weights is nil.
func Objective[T any](f arith.Field[T], larger func(a, b T) T, weights []*big.Rat, expected []T) T {
	most, sum, total := f.Zero(), f.Zero(), new(big.Rat)
	for g, x := range expected {
		if weights == nil {
			most = larger(most, x)
			continue
		}
		sum = f.Add(sum, f.Mul(f.FromRat(weights[g]), x))
		total.Add(total, weights[g])
	}
	if weights == nil {
		return most
	}
	return f.Quo(sum, f.FromRat(total))
}

// LargerRat returns the larger one of two numbers.
func LargerRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
