package lp

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// flipTotalExact is the total expected error of permute-and-flip, for rational z = e^{-ε}.
func flipTotalExact(n, k int, o Prior, z *big.Rat) *big.Rat {
	return flipTotal(context.Background(), arith.Rat{}, z, n, k, o.box())
}

// flipWithin and closedWithin enclose that total and the closed-form lower bound on the total optimum.
func flipWithin(n, k int, o Prior, e number.Epsilon, prec uint) number.Interval {
	return flipTotal(context.Background(), arith.Interval{Prec: prec}, e.ExpNeg(big.NewRat(1, 1), prec), n, k, o.box())
}

func closedWithin(n, k int, o Prior, e number.Epsilon, prec uint) number.Interval {
	f := arith.Interval{Prec: prec}
	return overBox(context.Background(), f, e.ExpNeg(big.NewRat(1, 1), prec), o.box(), k, func(a, b number.Interval, k int) number.Interval {
		return closedBound(f, a, b, n, k, number.Interval.Sign)
	})
}

// sizeOf is the number of vectors that a flat prior weighs alike.
func sizeOf(n, k int, o Prior) number.Number {
	return number.Exact(new(big.Rat).SetInt(lattice.Vectors(n, k, o.box())))
}

// total returns a mechanism's total expected error, by the way that Ratio takes.
func total(ctx context.Context, m mechanisms.Mechanism, n, k int, o Prior, level Level, e number.Epsilon, prec uint) (number.Number, error) {
	x, err := (&Request{N: n, K: k, Prior: o, Level: level, Epsilon: e}).objective(ctx, m, prec)
	return x.Mul(sizeOf(n, k, o)), err
}

// totalOfInstances and totalOfWeights return it by two other ways.
func totalOfInstances(ctx context.Context, m mechanisms.Mechanism, lat *lattice.Lattice, o Prior, e number.Epsilon, prec uint) (number.Number, error) {
	n, k := lat.Size()
	x, err := (&Request{N: n, K: k, Prior: o, Epsilon: e}).ofInstances(ctx, m, lat, prec)
	return x.Mul(sizeOf(n, k, o)), err
}

func totalOfWeights(ctx context.Context, w weighted, lat *lattice.Lattice, o Prior, e number.Epsilon, prec uint) (number.Number, error) {
	n, k := lat.Size()
	x, err := (&Request{N: n, K: k, Prior: o, Epsilon: e}).ofWeights(ctx, w, lat, prec)
	return x.Mul(sizeOf(n, k, o)), err
}
