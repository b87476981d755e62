// Package heterogeneous finds the best ε-DP selection mechanism for candidates of different
// sensitivities on a small grid of score vectors, and says how far other mechanisms are from it.
//
// Candidate a has sensitivity Δ_a; score vectors q and q' are neighbors iff |q'_a - q_a| <= Δ_a for every
// a. A mechanism is a table x_r(q), the probability of taking candidate r at q, and the program is
//
//	minimise   Σ_q w(q) Σ_r loss(q,r) x_r(q)      or  max_q Σ_r loss(q,r) x_r(q)
//	(E)        Σ_r x_r(q) = 1                     every q of the grid
//	(P)        x_r(q') >= e^{-ε} x_r(q)           every r and all neighbors q, q' of the grid
//	           x >= 0
//
// with loss q* - q_r or its square. Neither symmetry nor monotonicity is assumed:
// the optimum bounds every mechanism that is ε-DP on the grid. On request mechanisms are
// shift-invariant, x_r(q + c) = x_r(q) for every real c; then tables are over the differences of scores.
//
// A solver finds candidates; both bounds on the optimum are evaluated from them in exact rational arithmetic:
// from below by the dual function at any nonnegative multipliers of (P), from above by a table that is
// normalised and then mixed with the uniform mechanism until it satisfies every row, those that the
// solver never saw included. Rows (P) are generated where they are violated.
//
// The package does not make mechanisms, does not treat grids beyond a few thousand vectors, and
// knows one ε-DP neighbor relation, the one above.
package heterogeneous
