// Package verify decides which properties a private selection mechanism has on a
// finite domain: how private it is, whether it is regular (symmetric, shift-invariant and
// monotone: McKenna & Sheldon 2020, Def. 3), and whether it is at least as good as the
// exponential mechanism.
//
// Lattice checks every score vector of Q(n,k) and every pair of neighbors among them; Scores
// does the same for given vectors and a model of neighbors; Calibrate finds the parameter at
// which a mechanism is as private as wanted. Verdicts are proved, violated or undecided,
// and hold for the domain that was checked. A failed check is a value, a Witness, which is shrunk to a small one.
//
// Probabilities that are known to a relative precision only (mechanisms.Precision) violate a property where no
// numbers within it satisfy the property, and satisfy it to that precision otherwise, which the report states.
//
// Comparisons are exact where the probabilities are rational, or rational functions of a
// number whose algebraic nature is known; otherwise enclosures are refined until they decide, or
// a limit is reached and the verdict is undecided. Nothing is decided by floating-point
// arithmetic that is not rounded outward.
//
// The package trusts the probabilities that a mechanism states: whether a program
// draws from them is a statistical question (package verify/audit). It solves no linear program.
package verify
