// Package lumped bounds the optimum of the optimal-mechanism program from below on lattices too large to
// enumerate.
//
// The dual of the program (McKenna & Sheldon 2020, App. D; package lp has its builders) has one number y(m) for every
// orbit m of Q(n,k), and every choice of y gives a rigorous lower bound on the optimum. This package restricts y to be constant on
// classes of orbits that agree in a few statistics, those that matter most to permute-and-flip: how many candidates share the
// best score, how far below the second best is, the counts near there, and the deepest depth. Chains along which
// privacy ties probabilities together then merge where they visit the same classes, and weights of classes and
// chains have closed forms, so the best such y solves a program whose size is that of the partition, not of the
// lattice. Bound solves it for finer and finer partitions.
//
// The solution is a proposal, found by a first-order method in floating point. What is returned is the dual function at
// those numbers, evaluated in outward-rounded arithmetic with the true e^{-ε}, which is a lower bound however good or bad the proposal is.
//
// The package proves no upper bounds, knows only the program with the constraints of the paper, and does not say how
// far its bound is from the optimum; permute-and-flip's error, which has a closed form, bounds that from above.
package lumped
