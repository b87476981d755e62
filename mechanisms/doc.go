// Package mechanisms holds the private selection mechanisms, their exact,
// enclosed and floating-point output probabilities, and the registry that finds them by name.
//
// A mechanism picks one of n candidates by score. Scores and sensitivities are
// in the user's units; on the lattice a score is given as a depth, the number
// of steps of 2Δ below the best. Every formula has one generic body, used with exact
// rationals, outward-rounded intervals and float64 alike.
//
// The package does not check privacy (package verify does) and solves no
// linear program (package lp does).
package mechanisms
