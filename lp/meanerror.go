package lp

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/totals"
	"optratio/mechanisms"
	"optratio/number"
)

// MeanError returns a mechanism's mean expected error over the lattice Q(n,k) in steps of 2Δ, weighed by the objective: exactly where that is rational and of
// moderate size, otherwise to a relative 1e-12 where the mechanism's probabilities can be enclosed so well. It is what Ratio divides by the optimum.
// Errors are those of bad input, of the mechanism, ErrTooLarge, and the context's.
func MeanError(ctx context.Context, m mechanisms.Mechanism, n, k int, o totals.Objective, eps number.Epsilon) (number.Number, error) {
	if n < 1 || k < 1 {
		return number.Number{}, fmt.Errorf("%w: n = %d and k = %d must be at least 1", ErrRequest, n, k)
	}
	if err := fits(n, k); err != nil {
		return number.Number{}, err
	}
	if err := eps.Check(); err != nil {
		return number.Number{}, err
	}
	size := o.Total(n, k)
	for prec := uint(192) + 2*uint(bitLength(n)+bitLength(k)); ; prec *= 2 {
		v, err := total(ctx, m, n, k, o, Paper, eps, prec)
		if err != nil {
			return number.Number{}, err
		}
		if v.exact != nil || !v.rigorous() || approximate(m) || prec >= 1<<12 || narrow(v.box, big.NewRat(1, 1e12)) {
			return toNumber(v.over(size, prec)), nil
		}
	}
}
