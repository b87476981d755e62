// Package mechanisms holds the private selection mechanisms, their exact,
// enclosed and floating-point output probabilities, samplers with exactly these probabilities, and the registry that
// finds them by name.
//
// A mechanism picks one of n candidates by score. Scores and sensitivities are
// in the user's units; on the lattice a score is given as a depth, the number
// of steps of 2Δ below the best. Every formula has one generic body, used with exact
// rationals, rational functions, outward-rounded intervals and, where that is accurate, float64 alike.
//
// Ask gives the best form there is: exact, enclosed, or an estimate that says so. FloatScorer is for
// instances of up to a million candidates, in float64.
//
// The package does not check privacy (package verify does) and solves no
// linear program (package lp does).
package mechanisms
