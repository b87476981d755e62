// Package inquiry states what is asked about a mechanism: score vectors in whole units and which of them are neighbors, whom to ask, and the
// probabilities that are answered, as numbers which can be compared exactly. Package verify decides such questions.
//
// Values are rational, or rational functions of a number whose algebraic nature is known, or enclosures that can be refined.
package inquiry
