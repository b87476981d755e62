// Package lp decides how far a private selection mechanism is from the best
// one on the lattice of step 2Δ: it builds the linear program of the optimal
// mechanism (McKenna & Sheldon 2020, App. D), bounds its optimum rigorously, and
// compares mechanisms with it. research/docs/levels.md says which mechanisms the optimum bounds.
//
// A solver's floating-point answer is only a starting point, called a proposal. Every bound that leaves
// this package is evaluated from a proposal in exact rational or outward-rounded interval arithmetic, by weak
// duality from below and by a feasible point from above. Where
// permute-and-flip is provably optimal, or provably close, no program is solved.
//
// The program has a variable x[m][v] for every orbit m and every depth v at which m has candidates: the probability of one
// of these candidates. With N(m) the number of score vectors in the orbit and z = e^{-ε} its rows are
//
//	(E)  Σ_v m_v x[m][v] = 1                  at every orbit m.
//	(P)  x[m][v] >= z x[m'][v-1], v >= 1      A candidate that is not the best rises by one step: m' has it at depth v-1, all others
//	                                          where they were. Its probability may grow by e^ε at most.
//	(T)  x[m][0] >= z x[m'][0]                A best candidate rises by one step: m' has it alone at depth 0 and all others one step deeper, none
//	                                          beyond depth k. Again its probability may grow by e^ε at most.
//
// Both are privacy towards the neighbor in which one candidate is raised by 2Δ against all others; they differ in whose depth changes, since
// depths count from the best score. Following one candidate from where it is far above all others down to depth k, each of its variables
// is bounded below by z times the one before: such a sequence is a chain, and every variable lies on one chain.
//
// The code uses u[m][v] = N(m) m_v x[m][v], the mass that the orbit's N(m) score vectors together put on depth v. In these
// variables the program reads
//
//	minimise   Σ f(m) v u[m][v]            f = W/N, 1 for the paper's objective
//	(E)        Σ_v u[m][v] = N(m)          every orbit m
//	(P), (T)   u_i >= z u_{i-1}            along every chain
//	           u >= 0
//
// with errors in lattice steps of 2Δ.
package lp
