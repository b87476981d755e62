// Package lp decides how far a private selection mechanism is from the best
// regular one: it builds the linear program of the optimal mechanism on the
// lattice (McKenna & Sheldon 2020, App. D), bounds its optimum rigorously, and
// compares mechanisms with it.
//
// Solvers only propose. Every bound that leaves this package is evaluated in
// exact rational or outward-rounded interval arithmetic from a proposal, by weak
// duality from below and by a feasible point from above. Where
// permute-and-flip is provably optimal, or provably close, no program is solved.
//
// Probabilities are scaled by the chain weight: u[m][v] = N(m) m_v x[m][v] is the
// mass that the orbit's N(m) score vectors together put on depth v. In these
// variables the program reads
//
//	minimise   Σ f(m) v u[m][v]            f = W/N, 1 for the paper's objective
//	(E)        Σ_v u[m][v] = N(m)          every orbit m
//	(P), (T)   u_i >= z u_{i-1}            along every chain, z = e^{-ε}
//	           u >= 0
//
// with errors in lattice steps of 2Δ.
package lp
