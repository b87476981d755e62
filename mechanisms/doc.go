// Package mechanisms holds the private selection mechanisms, their exact,
// enclosed and floating-point output probabilities, draws with exactly these probabilities, and the registry that
// finds them by name.
//
// A mechanism picks one of n candidates by score. Scores and sensitivities are
// in the user's units; on the lattice a score is given as a depth, the number
// of steps of 2Δ below the best. Every formula has one generic body, used with exact
// rationals, rational functions, outward-rounded intervals and, where that is accurate, float64 alike.
//
// Ask gives the best form there is: exact, enclosed, or an estimate that says so. Float is for
// instances of up to a million candidates.
//
// FromRational, FromEnclosure and FromFloat make a mechanism of a function, in any module. Registered or not, it can be rated
// (lp.Ratio), checked (verify.Lattice, verify.Scores), audited (audit.Mechanism) and tested (proptest.Run). Theorems
// about a mechanism are never applied by its name: PermuteAndFlip and Exponential are the values that they hold for.
//
// The package does not check privacy (package verify does) and solves no
// linear program (package lp does).
package mechanisms
