// Package lumped bounds the optimum of the optimal-mechanism program from below on lattices too large to
// enumerate.
//
// The dual of the program (McKenna & Sheldon 2020, App. D; package lp has its builders) has one number y(m) for every
// orbit m of Q(n,k), and every choice of y gives a rigorous lower bound on the optimum. This package restricts y to be constant on
// classes of orbits, the leaves of a decision tree whose questions are about single counts: is the best score shared, is anyone at depth 3, are fewer than four at
// depth 1? Chains along which privacy ties probabilities together then merge where they visit the same classes, and the weights of classes and
// chains have closed forms, so the best such y solves a program whose size is that of the partition, not of the
// lattice. Bound solves it for finer and finer partitions, dividing classes where that promises most.
//
// The solution is a proposal, found by a first-order method in floating point. What is returned is the dual function at
// those numbers, evaluated in outward-rounded arithmetic with the true e^{-ε}, which is a lower bound however good or bad the proposal is.
//
// The package proves no upper bounds, knows only the program with the constraints of the paper, and does not say how
// far its bound is from the optimum; permute-and-flip's error, which has a closed form, bounds that from above.
package lumped
