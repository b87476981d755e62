// Package ratiomap proves upper bounds on permute-and-flip's ratio to the optimum of the optimal-mechanism program (see package lp) that hold for every ε, not at
// samples: with z = e^-ε it covers (0, 1] by intervals, each with a bound and a proof. research/docs/map.md has the theorems.
//
// Up to the sharp threshold permute-and-flip is optimal. From there on multipliers at finitely many z are found by the first-order method of internal/chain and rounded; nothing
// is taken from it but these numbers. At each such z they give a lower bound on the optimum (dual.go), and between two of them the mean of all multipliers gives a parabola
// below the optimum (bend), against which permute-and-flip's error, known in closed form and rising with z, is compared piece by piece in outward-rounded arithmetic
// (prove.go). Intervals are halved where the bound is too large (cover.go). From some n on, for each k, the closed form settles all n at once (ClosedForm). Each
// lattice's proof is a certificate (write.go), which package check checks with its own code.
package ratiomap
